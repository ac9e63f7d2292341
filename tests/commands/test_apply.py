"""Files with a recalibrated column."""

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calibcli.ahead import Progress, unseen
from calibcli.commands import apply
from calibcli.commands.fit import fit_files
from calibcli.commands.predicting import ApplyRequest
from calibcli.commands.reading import read_evaluation
from calibcli.data import records
from calibcli.data.fragments import list_fragments
from calibcli.documents.artifact import Artifact, read_artifact
from calibcli.documents.sealed import sealed_text
from calibcli.errors import InputProblem, OutputProblem, UsageProblem
from calibcli.names import OnMissing, OnRange, RecalibratorName, Scale
from calibcli.options.fitting import FitOptions, MapOptions, Shape
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.stats.recalibrators.logits import Identity
from calibcli.stats.table import ScoreTable

WIDE = 'id,score,note,code\r\n007,0.10,"a, b",01234\n'
WIDE += '008,0.5,"say ""hi""\nthere",12345678901234567890\n\n009,1,,0.10'


class Halved(Identity):
    """Half of each score."""

    def predict(self, scores: Any) -> Any:
        """Return it."""
        return scores / 2


def apply_file(
    artifact: Any,
    inputs: list[str],
    *,
    output: str,
    force: bool = False,
    progress: Progress = unseen,
    **requested: Any,
) -> Any:
    path = artifact if isinstance(artifact, str) else "cal.json"
    loaded = read_artifact(artifact) if isinstance(artifact, str) else artifact
    request = ApplyRequest(path, loaded, **requested)
    return apply.apply_file(request, inputs, output, force=force, progress=progress)


def run(source: Path | str, output: Path | str, *, name: str = "calibrated", **requested: Any) -> Any:
    columns = Columns(**{"scale": Scale.PROB} | requested)
    halved = Artifact(Halved(), None)
    return apply_file(halved, [str(source)], output=str(output), columns=columns, name=name, force=True)


def rows_of(path: Path) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline="")) if row]


def test_other_columns_of_csv_survive_byte_for_byte() -> None:
    """Leading zeros, long integers, quotes and line ends are nobody's business."""
    Path("a.csv").write_bytes(WIDE.encode())
    output = "b.csv"
    report = run("a.csv", output)
    assert Path("b.csv").read_bytes().decode() == (
        'id,score,note,code,calibrated\r\n007,0.10,"a, b",01234,0.05\n'
        '008,0.5,"say ""hi""\nthere",12345678901234567890,0.25\n\n009,1,,0.10,0.5'
    )
    assert (report.files, report.score, report.output) == (("a.csv",), "score", output)
    assert (report.columns, report.rows, report.lowest, report.highest) == (("calibrated",), 3, 0.05, 0.5)


def test_blocks_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of many blocks gives what a file of one does."""
    rng = np.random.default_rng(0)
    lines = [
        f'{i},{score!r},"x{"" if i % 5 else chr(10)}y"' for i, score in enumerate(rng.random(3000).tolist())
    ]
    Path("a.csv").write_text("\n".join(["id,score,t", *lines]) + "\n")
    run("a.csv", "b.csv")
    monkeypatch.setattr(records, "_BLOCK", 997)
    run("a.csv", "c.csv")
    assert Path("b.csv").read_bytes() == Path("c.csv").read_bytes()
    for row in rows_of(Path("c.csv"))[1:]:
        assert float(row[3]) == float(row[1]) / 2


def test_other_formats() -> None:
    """The output's suffix decides; CSV columns become text in Parquet, which is said."""
    Path("a.csv").write_bytes(WIDE.encode())
    report = run("a.csv", "b.parquet")
    written = pq.read_table("b.parquet")
    assert written["id"].to_pylist() == ["007", "008", "009"]
    assert written["note"].to_pylist() == ["a, b", 'say "hi"\nthere', ""]
    assert written["calibrated"].to_pylist() == [0.05, 0.25, 0.5]
    assert "columns other than 'score' and 'calibrated' were written as text" in report.notes
    run("b.parquet", "c.tsv", name="again")
    assert Path("c.tsv").read_text().splitlines()[1] == '"007"\t0.1\t"a, b"\t"01234"\t0.05\t0.05'
    run("a.csv", "d.txt")
    assert Path("d.txt").read_bytes().startswith(b"id,score,note,code,calibrated\r\n")


@pytest.mark.parametrize("suffix", ["gz", "gzip", "GZ", "zst", "zstd", "bz2", "lz4"])
def test_compressed_output(suffix: str) -> None:
    """A suffix on the output compresses it, the same bytes each time; compressed input is read anyway."""
    Path("a.csv").write_text("score\n0.5\n")
    for name in ("b", "c"):
        run("a.csv", f"{name}.csv.{suffix}")
    packed = Path(f"b.csv.{suffix}").read_bytes()
    assert packed == Path(f"c.csv.{suffix}").read_bytes()
    assert b"calibrated" not in packed[:8]
    assert list_fragments([f"b.csv.{suffix}"])[0].compression is not None
    run(f"b.csv.{suffix}", "d.csv", name="again", score="score")
    assert Path("d.csv").read_text() == "score,calibrated,again\n0.5,0.25,0.25\n"


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("score\n0.5\n\n", "column 'score': 1 of the first 2 values is missing; the first is at row 2",
            ("`apply --on-missing null` leaves their probability empty; "
            "`plan` and `drift` take --on-missing drop")),
        ("score,x\n0.5,1\n7,1\n",
            "column 'score': 1 of the first 2 values lies outside [0, 1]; the first is 7.0 at row 2",
            "pass --scale percent, or --scale logit; `apply --on-range null` leaves their probability empty"),
        ("score,x\n0.5,1\n1.2,1\n",
            "column 'score': 1 of the first 2 values lies outside [0, 1]; the first is 1.2 at row 2",
            ("they were read with --scale prob: is that their scale, and is the column right? "
            "`apply --on-range null` leaves their probability empty")),
        ("score,x\n0.5,1\nabc,1\n", "column 'score': 'abc' at row 2 is not a number",
            ("nothing, NA, N/A, NaN, null and the like count as missing, other text does not: "
            "is it the right column? --score-map abc=NUMBER gives words a number; "
            "`apply --on-missing null` leaves the probability of such rows empty")),
        ("score,x\n0.5\n", ": row 1 (line 2) has 1 field where the header has 2",
            "fields that contain the separator must be quoted, and quotes must be closed"),
    ],
)  # fmt: skip
def test_bad_input_leaves_no_output(content: str, message: str, hint: str, tmp_path: Path) -> None:
    """What was there stays, and nothing new appears."""
    Path("a.csv").write_text(content)
    for output in ("b.csv", "b.parquet"):
        Path(output).write_text("old")
        with pytest.raises(InputProblem) as caught:
            run("a.csv", Path(output))
        assert caught.value.message.endswith(message)
        assert caught.value.hint == hint
        assert Path(output).read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 3


def test_damaged_parquet_leaves_no_output() -> None:
    """One line, exit code 3."""
    pq.write_table(
        pa.table({"score": np.random.default_rng(0).random(50_000)}), "a.parquet", compression="gzip"
    )
    content = bytearray(Path("a.parquet").read_bytes())
    content[5000:9000] = b"\x55" * 4000
    Path("a.parquet").write_bytes(content)
    with pytest.raises(InputProblem, match=r"a.parquet cannot be copied: ") as caught:
        run("a.parquet", "b.parquet")
    assert "\n" not in caught.value.message
    assert not Path("b.parquet").exists()


def test_scores_are_clipped_and_scaled_as_asked() -> None:
    """Clipped scores are counted."""
    Path("a.csv").write_text("score\n1.5\n-1\n0.5\n")
    assert run("a.csv", "b.csv", on_range=OnRange.CLIP).clipped == 2
    assert Path("b.csv").read_text() == "score,calibrated\n1.5,0.5\n-1,0\n0.5,0.25\n"
    Path("c.csv").write_text("score\n0\n-1000\n")
    run("c.csv", "d.csv", scale=Scale.LOGIT)
    assert Path("d.csv").read_text() == "score,calibrated\n0,0.25\n-1000,0\n"


def test_a_header_alone_is_copied() -> None:
    """An empty shard stays an empty shard."""
    Path("a.csv").write_text("id,score\n")
    report = run("a.csv", "b.csv")
    assert Path("b.csv").read_text() == "id,score,calibrated\n"
    assert (report.rows, report.lowest, report.highest) == (0, None, None)


SCRIPT = """
import sys
from calibcli.commands.apply import apply_file
from calibcli.commands.predicting import ApplyRequest
from calibcli.documents.artifact import Artifact
from calibcli.names import Scale
from calibcli.options.rows import Columns
from calibcli.stats.recalibrators.logits import Identity
class Halved(Identity):
    def predict(self, scores):
        return scores / 2
halved = Artifact(Halved(), None)
apply_file(ApplyRequest("cal.json", halved, Columns(scale=Scale.PROB)), [sys.argv[1]], sys.argv[2])
print("pandas" in sys.modules, file=sys.stderr)
"""


def test_from_standard_input_to_standard_output() -> None:
    """Text as it streams by, and Parquet; pandas is never imported."""
    pq.write_table(pa.table({"score": [0.5]}), "a.parquet")
    command = [sys.executable, "-c", SCRIPT, "-", "-"]
    for content, expected in (
        (WIDE.encode(), b"id,score,note,code,calibrated\r\n"),
        (Path("a.parquet").read_bytes(), b"PAR1"),
    ):
        done = subprocess.run(command, input=content, capture_output=True, check=True)
        assert done.stdout.startswith(expected)
        assert done.stderr.strip() == b"False"


def test_rows_come_out_before_the_input_ends() -> None:
    """A stream that never ends is served line by line."""
    command = [sys.executable, "-c", SCRIPT, "-", "/dev/stdout"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as job:
        job.stdin.write(b"score\n0.5\n")
        job.stdin.flush()
        assert job.stdout.readline() == b"score,calibrated\n"
        assert job.stdout.readline() == b"0.5,0.25\n"
        job.stdin.write(b"0.25\n")
        job.stdin.close()
        assert job.stdout.read() == b"0.25,0.125\n"


TEXT = st.text(st.sampled_from('ab ,"\n\r\té0.'), max_size=5)


@given(
    table=st.lists(st.tuples(TEXT, st.floats(0, 1), TEXT), min_size=1, max_size=8),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
    size=st.integers(1, 50),
)
def test_pyarrow_and_the_splice_agree_on_records(
    table: list[tuple[str, float, str]],
    ending: str,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever text stands around the score: the same fields, and its own new value on each row."""
    monkeypatch.setattr(records, "_BLOCK", size)
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows([("l", "score", "r"), *table])
    # Only after \r\n does the writer quote both of its characters; fields hold none unquoted.
    parts = re.split(r'("(?:[^"]|"")*")', out.getvalue())
    text = "".join(part if part.startswith('"') else part.replace("\r\n", ending) for part in parts)
    Path("a.csv").write_bytes(text.encode())
    try:
        run("a.csv", "b.csv", score="score")
    except InputProblem as problem:
        # Text in quotes that is like rows of the file is refused.
        assume("looks like a row" not in str(problem))
        raise
    expected = [[left, repr(score), right, score / 2] for left, score, right in table]
    assert [[*row[:3], float(row[3])] for row in rows_of(Path("b.csv"))[1:]] == expected


def test_an_artifact_is_applied() -> None:
    """From the artifact on disk to the new column, with the scale of the fit."""
    document = Path(__file__).parents[2] / "sample_data" / "breast_cancer_calibration.csv"
    report, text = fit_files(
        RowRequest([str(document)], Columns()), MapOptions(RecalibratorName.PLATT), FitOptions()
    )
    Path("cal.json").write_text(text)
    Path("a.csv").write_text("score\n0.25\n0.75\n")
    requested = {"output": "b.csv", "name": "p"}
    applied = apply_file("cal.json", ["a.csv"], **requested)
    assert (applied.rows, applied.columns, report.method) == (2, ("p",), RecalibratorName.PLATT)
    low, high = (float(row[1]) for row in rows_of(Path("b.csv"))[1:])
    assert low < high
    with pytest.raises(OutputProblem, match="exists already"):
        apply_file("cal.json", ["a.csv"], **requested)
    for path in (Path("a.csv"), Path("cal.json")):
        with pytest.raises(OutputProblem, match="is also an input"):
            apply_file("cal.json", ["a.csv"], output=str(path), force=True)


LABELLED = Path(__file__).parents[2] / "sample_data" / "breast_cancer_calibration.csv"


def artifact(path: Path, method: RecalibratorName, columns: Columns | None = None, **requested: Any) -> str:
    """Fit to the sample rows, and return where the artifact is."""
    _, text = fit_files(
        RowRequest([str(LABELLED)], columns or Columns()), MapOptions(method), FitOptions(**requested)
    )
    path.write_text(text)
    return str(path)


def spread(folder: Path, rows: int = 2000) -> Any:
    """Write one column of scores as CSV and as Parquet in row groups of several sizes; return the scores."""
    scores = np.random.default_rng(0).random(rows)
    table = pa.table({"score": scores, "label": scores > 0.4})
    for name, size in (("a", 300), ("b", rows)):
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=size)
    (folder / "a.csv").write_text("\n".join(["score", *map(repr, scores.tolist())]) + "\n")
    return scores


def test_venn_abers_adds_both_ends(tmp_path: Path) -> None:
    """Three columns, the same whichever way a file is written, and clashes with any of them are refused."""
    scores = spread(tmp_path)
    cal = artifact(Path("cal.json"), RecalibratorName.VENN_ABERS)
    names = ["p", "p_lower", "p_upper"]
    for source, output in (("a.csv", "c.csv"), ("a.csv", "c.parquet"), ("a.parquet", "d.parquet")):
        report = apply_file(cal, [source], output=output, name="p")
        assert report.columns == ("p", "p_lower", "p_upper")
    assert "other than 'score', 'p', 'p_lower' and" not in report.notes
    fitted = read_artifact(cal).recalibrator
    assert fitted.brackets
    expected = [fitted.predict(scores), *fitted.ends(scores)]
    for output in ("c.parquet", "d.parquet"):
        written = pq.read_table(Path(output))
        assert written.column_names[-3:] == names
        np.testing.assert_array_equal([written[name].to_numpy() for name in names], expected)
    header, *rows = rows_of(Path("c.csv"))
    assert header == ["score", *names]
    np.testing.assert_array_equal(np.array(rows, dtype=float).T[1:], expected)
    Path("e.csv").write_text("score,p_upper\n0.5,1\n")
    with pytest.raises(UsageProblem, match="has a column 'p_upper' already"):
        apply_file(cal, ["e.csv"], output="f.csv", name="p")


def test_columns_written_as_text_are_told_from_the_new_ones(tmp_path: Path) -> None:
    """By name."""
    spread(tmp_path, rows=5)
    cal = artifact(Path("cal.json"), RecalibratorName.VENN_ABERS)
    report = apply_file(cal, ["a.csv"], output="b.parquet", force=True)
    others = "'score', 'calibrated', 'calibrated_lower' and 'calibrated_upper'"
    assert f"columns other than {others} were written as text" in report.notes


def test_noise_depends_on_the_row_alone(tmp_path: Path) -> None:
    """CSV, conversions, small and large row groups: the same bits; equal scores get different values."""
    scores = spread(tmp_path)
    cal = artifact(Path("cal.json"), RecalibratorName.SMOOTH, randomised=True, seed=5)
    found = []
    pairs = (("a.csv", "c.csv"), ("a.csv", "c.parquet"), ("a.parquet", "d.parquet"), ("b.parquet", "e.csv"))
    for source, output in (*pairs, ("b.parquet", "f.parquet")):
        apply_file(cal, [source], output=output, name="p")
        if output.endswith("csv"):
            found.append([float(row[-1]) for row in rows_of(Path(output))[1:]])
        else:
            found.append(pq.read_table(Path(output))["p"].to_pylist())
    fitted = read_artifact(cal).recalibrator
    assert found == [fitted.predict_at(scores, np.arange(scores.size)).tolist()] * len(found)
    assert found[0] != fitted.predict(scores).tolist()


@pytest.mark.parametrize("source", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_measuring_through_noise_is_measuring_what_apply_wrote(source: str, jobs: int) -> None:
    """The same rows get the same noise while they are tallied, whatever is dropped in between."""
    rng = np.random.default_rng(1)
    scores, label = rng.random(3000), rng.random(3000) < 0.3
    pq.write_table(pa.table({"score": scores, "label": label}), "whole.parquet", row_group_size=700)
    missing = pa.array([None if i % 7 == 3 else int(one) for i, one in enumerate(label)])
    table = pa.table({"score": scores, "label": missing})
    pq.write_table(table, "a.parquet", row_group_size=400)
    pa_csv.write_csv(table, "a.csv")
    cal = artifact(Path("cal.json"), RecalibratorName.SMOOTH, randomised=True, seed=5)
    apply_file(cal, ["whole.parquet"], output="b.parquet", name="p")
    values = pq.read_table("b.parquet")["p"].to_numpy()
    kept = np.arange(3000) % 7 != 3
    columns = Columns("score", "label", on_missing=OnMissing.DROP)
    evaluation = read_evaluation(
        RowRequest([source], columns, artifact=cal, reading=Reading(jobs=jobs, exact=True))
    )
    assert evaluation.table == ScoreTable.from_rows(values[kept], label[kept])


@pytest.mark.parametrize("method", [RecalibratorName.PLATT, RecalibratorName.VENN_ABERS])
def test_another_base_rate_shifts_every_column(method: RecalibratorName, tmp_path: Path) -> None:
    """Odds are multiplied by the ratio of the base odds; the report says from where to where."""
    spread(tmp_path)
    cal = artifact(Path("cal.json"), method)
    rate = read_artifact(cal).fit.base_rate
    fit = read_artifact(cal).fit
    assert rate == fit.positive / fit.rows
    source = ["a.parquet"]
    plain = apply_file(cal, source, output="plain.parquet")
    moved = apply_file(cal, source, output="moved.parquet", prior=0.02)
    same = apply_file(cal, source, output="same.parquet", prior=rate)
    assert (plain.prior, plain.fitted_rate) == (None, None)
    assert (moved.prior, moved.fitted_rate, same.prior) == (0.02, rate, rate)
    tables = [pq.read_table(f"{name}.parquet") for name in ("plain", "moved", "same")]
    for name in moved.columns:
        before, after, again = (table[name].to_numpy() for table in tables)
        np.testing.assert_array_equal(again, before)
        inside = (before > 0) & (before < 1)
        ratio = (after / (1 - after))[inside] / (before / (1 - before))[inside]
        np.testing.assert_allclose(ratio, 0.02 / 0.98 / (rate / (1 - rate)), rtol=1e-9)
        np.testing.assert_array_equal(after[~inside], before[~inside])
    assert not any("base rate" in one for one in moved.notes)


def test_an_impossible_or_unknown_base_rate_is_a_usage_error(tmp_path: Path) -> None:
    """0, 1, and artifacts of calibcli 0.1, which do not say the base rate of their fit rows."""
    spread(tmp_path, rows=5)
    cal = artifact(Path("cal.json"), RecalibratorName.PLATT)
    requested = {"output": "x.csv", "inputs": ["a.csv"]}
    for prior in (0.0, 1.0, -1.0):
        with pytest.raises(UsageProblem, match="a base rate of"):
            apply_file(cal, prior=prior, **requested)
    document = json.loads(Path("cal.json").read_text())
    del document["fit"]["base_rate"]
    Path("cal.json").write_text(sealed_text(document))
    del document["digest"]
    assert read_artifact(cal).to_dict() == document
    apply_file(cal, **requested)
    with pytest.raises(UsageProblem, match="does not say the base rate of its fit rows"):
        apply_file(cal, prior=0.5, **requested | {"force": True})


def test_the_base_rate_of_importance_weights_is_the_weighted_one() -> None:
    """Recorded by the fit."""
    Path("w.csv").write_text("score,label,w\n0.1,0,3\n0.4,1,1\n0.6,0,1\n0.9,1,1\n")
    columns = Columns("score", "label", weight="w")
    _, text = fit_files(RowRequest(["w.csv"], columns), MapOptions(RecalibratorName.ISOTONIC), FitOptions())
    assert json.loads(text)["fit"]["base_rate"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("source", "output", "parts"),
    [("a.parquet", "c.parquet", 7), ("a.csv", "c.csv", 1), ("a.csv", "c.jsonl", 1), ("a.csv", "c.arrow", 1)],
)
def test_progress_is_told_of_every_row(source: str, output: str, parts: int, tmp_path: Path) -> None:
    """By row groups where there are some, and by blocks."""
    spread(tmp_path)
    told: list[int] = []

    @contextmanager
    def progress(count: int) -> Iterator[Callable[[int], None]]:
        assert count == parts
        yield told.append

    cal = artifact(Path("cal.json"), RecalibratorName.PLATT)
    apply_file(cal, [source], output=output, progress=progress)
    assert sum(told) == 2000
    assert output != "c.parquet" or len(told) == 7


def test_the_sorting_of_row_groups_is_that_of_columns_that_stay() -> None:
    """Up to the first that does not; codecs stay with their columns, and the score is read all the same."""
    rows = pa.table({"a.b": [1, 2], "score": [0.25, 0.5], "b": [1, 1], "c": [[1], [2]]})
    sorting = [pq.SortingColumn(2, descending=True), pq.SortingColumn(0), pq.SortingColumn(1)]
    codecs = {"a.b": "gzip", "score": "snappy", "b": "zstd", "c.list.element": "none"}
    pq.write_table(rows, "a.parquet", sorting_columns=sorting, compression=codecs)
    cal = artifact(Path("cal.json"), RecalibratorName.PLATT)
    for keep, indices, names in (
        ("a.b,b,c", [1, 0], ["a.b", "b", "c"]),
        ("b", [0], ["b"]),
        ("a.b,c", [], ["a.b", "c"]),
    ):
        to, shape = "b.parquet", Shape(keep=keep)
        apply_file(cal, ["a.parquet"], output=to, shape=shape, force=True)
        with pq.ParquetFile("b.parquet") as file:
            assert file.schema_arrow.names == [*names, "calibrated"]
            group = file.metadata.row_group(0)
            assert [one.column_index for one in group.sorting_columns] == indices
            found = {
                group.column(at).path_in_schema: group.column(at).compression for at in range(len(names))
            }
        assert found == {
            name: {"a.b": "GZIP", "b": "ZSTD", "c.list.element": "UNCOMPRESSED"}[name] for name in found
        }


def test_a_second_stream_of_dictionaries_is_one_in_a_file() -> None:
    """Row groups of Parquet may each have their own."""
    rows = pa.table({"score": [0.25, 0.5, 0.75], "k": pa.array(["b", "a", "c"]).dictionary_encode()})
    pq.write_table(rows, "a.parquet", row_group_size=1)
    run("a.parquet", "b.arrow")
    with pa.ipc.open_file(Path("b.arrow")) as file:
        assert file.read_all()["k"].to_pylist() == ["b", "a", "c"]
