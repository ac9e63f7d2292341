"""Files to tables."""

import gzip
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands.gathering import Gathered, choose_columns, gather
from calibcli.data import fragments
from calibcli.data.columns import ResolvedColumns
from calibcli.data.engines import ThreadEngine
from calibcli.data.readers import parquet
from calibcli.data.tally import GatherRequest, Signals, Tally, TallyWork
from calibcli.errors import InputProblem
from calibcli.names import OnMissing, OnRange, Scale, WeightMeaning
from calibcli.options.rows import Columns
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.running import RunningTable
from command_line import in_csv

ASKED = Columns("score", "label")
SCORES = st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 5e-324]), st.floats(0, 1))
ROWS = st.lists(st.tuples(SCORES, st.booleans()), min_size=1, max_size=60)


def read(
    paths: Sequence[Path | str], columns: Columns = ASKED, *, workers: int = 1, limit: int | None = None
) -> Gathered:
    return gather([str(path) for path in paths], columns, engine=ThreadEngine(workers), limit=limit)


def write_csv(path: Path | str, rows: Sequence[tuple[float, bool]]) -> Path:
    return in_csv(path, {"score": [row[0] for row in rows], "label": [row[1] for row in rows]})


def write_parquet(path: Path | str, rows: Sequence[tuple[float, bool]], group: int = 7) -> Path:
    scores, labels = [row[0] for row in rows], [row[1] for row in rows]
    table = pa.table({"score": pa.array(scores, pa.float64()), "label": pa.array(labels, pa.bool_())})
    pq.write_table(table, path, row_group_size=group)
    return Path(path)


@given(
    rows=ROWS,
    cuts=st.lists(st.integers(0, 60), max_size=3),
    order=st.randoms(),
    limit=st.sampled_from([None, 3]),
    small=st.sampled_from([0, 1 << 16]),
)
def test_shuffled_and_split_rows_give_the_same_table(
    rows: list[tuple[float, bool]],
    cuts: list[int],
    order: "st.random.Random",
    limit: int | None,
    small: int,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither order, nor files, nor formats, nor workers change a bit, exact or grid, read ahead or not."""
    monkeypatch.setattr("calibcli.data.readers._SMALL", small)
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 20)
    monkeypatch.setattr("calibcli.data.readers._BATCH_ROWS", 5)
    folder = tmp_path_factory.mktemp("split")
    whole = read([write_csv(folder / "whole.csv", rows)], limit=limit)
    shuffled = list(rows)
    order.shuffle(shuffled)
    edges = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    parts = [shuffled[a:b] for a, b in pairwise(edges)]
    paths: list[Path] = []
    for index, part in enumerate(parts):
        write = write_parquet if index % 2 else write_csv
        paths.append(write(folder / f"{index}.{'parquet' if index % 2 else 'csv'}", part))
    split = read(paths, workers=2, limit=limit)
    assert split.tables["raw"] == whole.tables["raw"]
    assert split.input.rows == len(rows)
    if limit is None:
        scores, labels = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        assert whole.tables["raw"] == ScoreTable.from_rows(scores, labels)


def test_workers_never_change_a_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importance weights are floats: their sums are added in the order of the fragments."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 1000)
    rng = np.random.default_rng(0)
    columns = {
        "score": rng.random(20_000).round(2),
        "label": rng.random(20_000) < 0.5,
        "w": rng.random(20_000),
    }
    pq.write_table(pa.table(columns), "a.parquet", row_group_size=500)
    weighted = Columns("score", "label", weight="w")
    one, four = (read([Path("a.parquet")], weighted, workers=n).tables["raw"] for n in (1, 4))
    assert one == four
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301 - our own table


def test_transforms_are_tabled_beside_each_other() -> None:
    """One pass gives the raw and the recalibrated table."""
    path = write_csv("a.csv", [(0.2, True), (0.4, False), (0.4, True)])
    halved = GatherRequest({"raw": None, "half": lambda score: score / 2})
    found = gather([str(path)], ASKED, engine=ThreadEngine(1), gather_request=halved)
    assert found.tables["raw"].score.tolist() == [0.2, 0.4]
    assert found.tables["half"].score.tolist() == [0.1, 0.2]
    assert found.tables["half"].positive_rows.tolist() == [1, 1]


def test_formats_agree() -> None:
    """CSV, TSV with CRLF and BOM, quoted, compressed and Parquet of the same rows give one table."""
    rows = [(0.25, True), (1e-7, False), (0.25, False), (1.0, True)]
    expected = read([write_csv("a.csv", rows)]).tables["raw"]
    text = Path("a.csv").read_text()
    variants = {
        "crlf.csv": text.replace("\n", "\r\n").encode(),
        "bom.csv": b"\xef\xbb\xbf" + text.encode(),
        "bom_quoted.csv": b"\xef\xbb\xbf" + text.replace("score", '"score"').encode(),
        "tabs.tsv": text.replace(",", "\t").encode(),
        "quoted.csv": "".join(
            f'"{line.replace(",", chr(34) + "," + chr(34))}"\n' for line in text.split()
        ).encode(),
        "open.csv": text.rstrip("\n").encode(),
        "blank.csv": text.replace("\n", "\n\n").encode(),
        "squeezed.csv.gz": gzip.compress(text.encode()),
        "squeezed.csv": gzip.compress(text.encode()),
        "blanks.csv": text.replace(",", " , ").encode(),
        "more.csv": text.replace(",", ',"a\nb""c",').replace('score,"a\nb""c"', "score,x").encode(),
    }
    for name, content in variants.items():
        Path(name).write_bytes(content)
        assert read([Path(name)]).tables["raw"] == expected, name
    assert read([write_parquet(Path("a.parquet"), rows)]).tables["raw"] == expected
    with pa.CompressedOutputStream("a.csv.zst", "zstd") as stream:
        stream.write(text.encode())
    assert read([Path("a.csv.zst")]).tables["raw"] == expected


def test_scales_agree() -> None:
    """The same probabilities as logits and log-probabilities."""
    p = np.array([0.1, 0.5, 0.9])
    for scale, column in ((Scale.LOGIT, np.log(p / (1 - p))), (Scale.LOGPROB, np.log(p))):
        write_csv("a.csv", [(float(x), True) for x in column])
        found = read([Path("a.csv")], Columns("score", "label", scale=scale)).tables["raw"]
        assert found.score == pytest.approx(p, abs=1e-15)


def test_frequencies_are_counted_over_the_whole_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Below 2^53 rows are exact; more are refused in whatever file or fragment they come to light."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 2)
    half = 1 << 52
    requested = Columns("score", "label", weight="w", weights_are=WeightMeaning.FREQUENCY)
    for name, weights in (("0", [half, 0]), ("1", [0, half - 1]), ("2", [0, 0, 1, 0]), ("3", [half] * 150)):
        table = pa.table({"score": [0.5] * len(weights), "label": [1] * len(weights), "w": weights})
        pq.write_table(table, f"{name}.parquet", row_group_size=2)
    first, second, third, many = (Path(f"{name}.parquet") for name in range(4))
    assert read([first, second], requested).tables["raw"].total_rows == (1 << 53) - 1
    for last in (third, many):
        with pytest.raises(InputProblem, match=f"{last.name}, column 'w': frequency weights add up to 9,007"):
            read([first, second, last], requested)


def test_a_shard_without_rows_is_no_error(tmp_path: Path) -> None:
    """Only the whole input must have rows."""
    write_csv("0.csv", [])
    write_csv("1.csv", [(0.5, True)])
    found = read([tmp_path])
    assert found.input.rows == 1
    assert found.input.files == (f"{tmp_path}/0.csv", f"{tmp_path}/1.csv")


def test_faults_are_counted_over_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message speaks of the file, not of the fragment with the first fault, and no other file is blamed."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 10)
    scores = [0.5] * 100
    scores[17], scores[18], scores[95] = 1.04, -2.0, 3.0
    labels = [True, False] * 50
    write_parquet(Path("0.parquet"), [(0.5, True)])
    write_parquet(Path("1.parquet"), list(zip(scores, labels, strict=True)))
    write_parquet(Path("2.parquet"), [(9.0, True)])
    for workers in (1, 3):
        with pytest.raises(InputProblem) as caught:
            read([tmp_path], workers=workers)
        assert caught.value.message == (
            f"{tmp_path}/1.parquet, column 'score': 3 of 100 values lie outside [0, 1]; "
            "the first is 1.04 at row 18"
        )


def test_labels_of_all_fragments_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The label 0 was only in fragments before the fault."""
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 2)
    table = pa.table({"score": [0.5] * 6, "label": [0, 1, 1, 1, 2, 1]})
    pq.write_table(table, "a.parquet", row_group_size=2)
    with pytest.raises(InputProblem, match=r"there are '0', '1' and '2'$"):
        read([Path("a.parquet")])


def test_damage_in_the_middle_is_one_line() -> None:
    """Pages that do not decompress are the input's fault."""
    path = Path("a.parquet")
    rng = np.random.default_rng(0)
    table = pa.table({"score": rng.random(50_000), "label": rng.random(50_000) < 0.5})
    pq.write_table(table, path, compression="gzip")
    content = bytearray(path.read_bytes())
    content[2000:9000] = b"\x55" * 7000
    path.write_bytes(content)
    with pytest.raises(InputProblem, match=r"a.parquet cannot be read as Parquet: ") as caught:
        read([path])
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("small", [0, 1 << 16])
def test_what_is_read_ahead_is_counted_up_to_the_break(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem comes in its turn, after the rows before it, and no thread goes on reading."""
    monkeypatch.setattr("calibcli.data.readers._SMALL", small)
    monkeypatch.setattr("calibcli.data.readers._BATCH_ROWS", 5)
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 10)
    path = write_parquet(Path("a.parquet"), [(0.5, True)] * 40, group=10)
    original = parquet.ParquetReader.batches

    def breaks(reader: parquet.ParquetReader, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        broken = reader.fragment.first_row == 20
        yield from islice(original(reader, resolved), 1 if broken else None)
        if broken:
            message = "broken"
            raise InputProblem(message)

    monkeypatch.setattr(parquet.ParquetReader, "batches", breaks)
    pieces = fragments.list_fragments([str(path)])
    chosen = choose_columns(pieces, ASKED)
    onto = {"raw": RunningTable()}
    *tallies, problem = TallyWork(None, Signals(), onto).each(fragments.pieces_of(pieces, chosen))
    assert [one.findings.rows for one in tallies if isinstance(one, Tally)] == [10, 10]
    assert isinstance(problem, InputProblem)
    assert onto["raw"].table().total_rows == 25
    assert not [one for one in threading.enumerate() if one.name.startswith("calibcli-ahead")]


def test_an_earlier_fault_wins_over_later_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first problem in the order of the input is told."""
    path = Path("a.csv")
    path.write_text("score,label\n" + "7,1\n" * 200_000 + "abc,1\n")
    with pytest.raises(InputProblem, match="'abc' at row 200,001 is not a number"):
        read([path])
    monkeypatch.setattr(fragments, "FRAGMENT_ROWS", 10)
    write_parquet(Path("b.parquet"), [(7.0, True)] * 20, group=10)
    original = parquet.ParquetReader.batches

    def breaks(reader: parquet.ParquetReader, resolved: object) -> object:
        if reader.fragment.first_row:
            message = "broken"
            raise InputProblem(message)
        return original(reader, resolved)

    monkeypatch.setattr(parquet.ParquetReader, "batches", breaks)
    with pytest.raises(InputProblem, match="10 of the first 10 values lie outside"):
        read([Path("b.parquet")])


def test_a_stopped_tally_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that Ctrl-C need not wait for a file to be read to its end."""
    monkeypatch.setattr("calibcli.data.readers._BATCH_ROWS", 10)
    path = write_parquet(Path("a.parquet"), [(0.5, True)] * 200, group=200)
    (fragment,) = fragments.list_fragments([str(path)])
    resolved = choose_columns([fragment], ASKED)[str(path)]
    found = TallyWork(None, Signals(stopped=True))(fragments.Piece(fragment, resolved))
    assert isinstance(found, Tally)
    # The batch looked at and those ahead of it, of ten each.
    assert found.findings.rows <= 90


def test_an_interrupt_leaves_no_thread_running(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers see that nobody waits and stop."""
    paths = [write_parquet(Path(f"{i}.parquet"), [(0.5, True)]) for i in range(4)]

    def endless(reader: parquet.ParquetReader, _: object) -> object:
        if reader.fragment.index == 0:
            raise KeyboardInterrupt
        while True:
            yield pa.RecordBatch.from_pydict({"score": [0.5], "label": [True]})

    monkeypatch.setattr(parquet.ParquetReader, "batches", endless)
    with pytest.raises(KeyboardInterrupt):
        read(paths, workers=2)
    for thread in threading.enumerate():
        if thread.name.startswith("calibcli"):
            thread.join(5)
            assert not thread.is_alive()


def test_the_summary_states_what_was_chosen() -> None:
    """Guesses and default meanings are said."""
    Path("a.csv").write_text("p,y,w\n0.5,1,2\n1.5,0,1\n,0,1\n")
    requested = Columns(weight="w", on_missing=OnMissing.DROP, on_range=OnRange.CLIP)
    source = read([Path("a.csv")], requested).input
    assert (source.score, source.label, source.weight) == ("p", "y", "w")
    assert (source.rows, source.dropped, source.clipped) == (2, 1, 1)
    assert source.notes == (
        "column 'p' was taken as the score; --score names another",
        "column 'y' was taken as the label; --label names another",
        "weights were taken as importance weights; --weights-are frequency for repeated rows",
    )
    counted = Columns(
        "p",
        "y",
        weight="w",
        weights_are=WeightMeaning.FREQUENCY,
        on_missing=OnMissing.DROP,
        on_range=OnRange.CLIP,
    )
    assert read([Path("a.csv")], counted).input.notes == ()


PANDAS = """
import sys
from calibcli.data.engines import ThreadEngine
from calibcli.options.rows import Columns
from calibcli.commands.gathering import gather
gather(sys.argv[1:], Columns(), engine=ThreadEngine(2))
heavy = ("pandas", "scipy", "pyarrow.dataset", "pyarrow.csv", "pyarrow.parquet", "calibcli.data.values")
print([name for name in heavy if name in sys.modules])
"""


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_threads_of_arrow_hold_nothing_of_python(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that let go of bytes of Python while the interpreter shut down aborted one script in twenty."""
    sources: list[Any] = []
    made = pa.BufferReader
    monkeypatch.setattr(pa, "BufferReader", lambda content: sources.append(content) or made(content))
    path = Path(f"a.{suffix}")
    lines = {"csv": "score,label\n0.5,1\n0.25,0\n", "jsonl": '{"score": 0.5, "label": 1}\n' * 2}
    path.write_text(lines[suffix])
    assert read([path]).input.rows == 2
    assert sources
    # What Arrow has allocated may be written to, unlike bytes of Python.
    assert all(isinstance(one, pa.Buffer) and one.is_mutable for one in sources)


@pytest.mark.parametrize(
    ("suffix", "loaded"), [("csv", "['pyarrow.csv']"), ("parquet", "['pyarrow.parquet']")]
)
def test_reading_imports_no_pandas(suffix: str, loaded: str) -> None:
    """Nor the reader of the other format: each would cost every command its time."""
    rows = [(0.5, True), (0.25, False)]
    path = write_csv("a.csv", rows) if suffix == "csv" else write_parquet(Path("a.parquet"), rows)
    done = subprocess.run(
        [sys.executable, "-c", PANDAS, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == loaded
