"""Rows without a score: `apply --on-missing null` gives them no probability, and all others what they had."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import calibcli
from command_line import Run

ROWS = 600
GAPS = np.arange(ROWS) % 7 == 3
MAPS = ["platt", "isotonic", "venn-abers", "scaling-binning", "groups", "classes", "lists"]
FORMATS = ["csv", "tsv", "jsonl", "parquet", "arrow"]


def rows_of(kind: str, *, gaps: bool) -> pd.DataFrame:
    """Return rows, some without a score, or with any other score in its place."""
    rng = np.random.default_rng(8)
    score, group = rng.random(ROWS), rng.choice(["a", "b"], ROWS)
    label = rng.random(ROWS) < score**2
    if kind not in ("classes", "lists"):
        values = np.where(GAPS, np.nan if gaps else 0.5, score)
        return pd.DataFrame({"id": np.arange(ROWS), "score": values, "g": group, "label": label.astype(int)})
    first = np.where(GAPS, 0.25, score)
    probs = np.column_stack((first, 0.75 * (1 - first), 0.25 * (1 - first)))
    names = pd.Series(np.where(label, "x", rng.choice(["y", "z"], ROWS)))
    if kind == "lists":
        lists: list[Any] = [
            None if gaps and gap else one.tolist() for one, gap in zip(probs, GAPS, strict=True)
        ]
        return pd.DataFrame({"id": np.arange(ROWS), "p": lists, "label": names})
    probs[:, 1] = np.where(GAPS & gaps, np.nan, probs[:, 1])
    return pd.DataFrame(
        {"id": np.arange(ROWS)}
        | {f"p_{name}": probs[:, at] for at, name in enumerate("xyz")}
        | {"label": names}
    )


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write rows in the format of a name."""
    match path.suffix:
        case ".csv" | ".tsv":
            frame.to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case ".parquet":
            frame.to_parquet(path)
        case _:
            frame.to_feather(path, compression="uncompressed")


def read(path: Path) -> pd.DataFrame:
    """Read them back."""
    match path.suffix:
        case ".csv" | ".tsv":
            separator = "," if path.suffix == ".csv" else "\t"
            return pd.read_csv(path, sep=separator, engine="pyarrow")
        case ".jsonl":
            return pd.read_json(path, lines=True, precise_float=True)
        case ".parquet":
            return pd.read_parquet(path)
        case _:
            return pd.read_feather(path)


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a fitted map of each kind."""
    folder = tmp_path_factory.mktemp("maps")
    for kind in MAPS:
        how: dict[str, Any] = {
            "groups": {"method": "platt", "score": "score", "by": "g"},
            "classes": {"multiclass": "temperature", "probs": "p_*"},
            "lists": {"multiclass": "temperature", "probs": "p", "classes": ["x", "y", "z"]},
        }.get(kind, {"method": kind, "score": "score"})
        calibcli.fit(rows_of(kind, gaps=False), label="label", **how).save(folder / f"{kind}.json")
    return folder


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        *((kind, "parquet") for kind in MAPS),
        *((kind, suffix) for kind in ("platt", "lists") for suffix in FORMATS if suffix != "parquet"),
    ],
)
def test_rows_without_a_score_get_null_and_others_what_they_had(
    run: Run, maps: Path, kind: str, suffix: str
) -> None:
    """Whatever stands in a gap, no other row's probability changes by a bit; the report counts the gaps."""
    if kind == "lists" and suffix in ("csv", "tsv"):
        pytest.skip("text has no lists")
    of = ["--probs", "p_*" if kind == "classes" else "p"] if kind in ("classes", "lists") else ["-s", "score"]
    found = {}
    for gaps in (False, True):
        source, output = Path(f"{gaps}.{suffix}"), Path(f"{gaps}_out.{suffix}")
        write(rows_of(kind, gaps=gaps), source)
        line = ["apply", str(maps / f"{kind}.json"), str(source), *of, "-o", str(output)]
        ended = run(*line, *(["--on-missing", "null"] if gaps else []), code=0)
        assert (f"{GAPS.sum()} rows got no probability, as requested" in ended.err) is gaps
        found[gaps] = read(output)
    added = [name for name in found[True].columns if name.startswith("calibrated")]
    assert added
    assert found[True][added].isna().to_numpy()[GAPS].all()
    pd.testing.assert_frame_equal(found[True][added][~GAPS], found[False][added][~GAPS], check_exact=True)


def test_frames_and_arrays_have_gaps_of_their_own_kind(maps: Path) -> None:
    """NaN in numpy and pandas, null in polars and Arrow, and NaN for every class of a row without one."""
    frame, path = rows_of("platt", gaps=True), maps / "platt.json"
    requested = {"on_missing": "null"}
    values = calibcli.apply(path, frame["score"].to_numpy(), **requested)
    assert np.array_equal(np.isnan(values), GAPS)
    of_pandas = calibcli.apply(path, frame, score="score", **requested)["calibrated"]
    np.testing.assert_array_equal(of_pandas, values)
    of_polars = calibcli.apply(path, pl.from_pandas(frame), score="score", **requested)["calibrated"]
    assert of_polars.null_count() == GAPS.sum()
    of_arrow = calibcli.apply(path, pa.Table.from_pandas(frame), score="score", **requested)["calibrated"]
    assert of_arrow.null_count == GAPS.sum()
    probs = rows_of("classes", gaps=True)[["p_x", "p_y", "p_z"]]
    of_classes = calibcli.load(maps / "classes.json").predict(probs.to_numpy(), **requested)
    assert np.array_equal(np.isnan(of_classes).all(axis=1), GAPS)
    assert np.isfinite(of_classes[~GAPS]).all()
    with pytest.raises(calibcli.InputProblem, match="values are missing"):
        calibcli.apply(path, frame["score"].to_numpy())


BAD = [0.2, None, "abc", 1.5, 0.7, "n/a", "abc", -0.25]
# What the SQL of a map writes NULL for: no score, no number, and what is out of range.
HOLES = [False, True, True, True, False, True, True, True]


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl"])
def test_every_row_that_has_no_probability_is_counted_and_named(
    run: Run, maps: Path, suffix: str, to: str
) -> None:
    """Texts, gaps and scores out of range get null on request, the others what they have by themselves."""
    frame = pd.DataFrame({"score": pd.Series(BAD, dtype=object), "id": range(len(BAD))})
    source, output = Path(f"bad.{suffix}"), Path(f"out.{to}")
    write(frame, source)
    line = ["apply", str(maps / "platt.json"), str(source), "-s", "score", "-o", str(output)]
    assert run(*line).code == 3
    assert run(*line, "--on-missing", "null").code == 3
    assert not output.exists()
    said = " ".join(run(*line, "--on-missing", "null", "--on-range", "null", code=0).err.split())
    assert "6 rows got no probability, as requested" in said
    assert "score: 4 missing or no number, the first at row 2" in said
    assert "score: 2 out of range, the first at row 4" in said
    assert "'abc' (2, first at row 3)" in said
    found = read(output)["calibrated"]
    assert found.isna().tolist() == HOLES
    alone = calibcli.apply(maps / "platt.json", np.array([0.2, 0.7]))
    np.testing.assert_array_equal(found[~np.array(HOLES)], alone)


@pytest.mark.parametrize("kind", ["classes", "lists"])
def test_rows_of_classes_out_of_range_or_with_another_sum_get_null(run: Run, maps: Path, kind: str) -> None:
    """Each on its own request, as in SQL, and every other row keeps what it had."""
    frame = rows_of(kind, gaps=False)
    probs = np.stack(frame["p"].to_numpy()) if kind == "lists" else np.array(frame[["p_x", "p_y", "p_z"]])
    whole = calibcli.load(maps / f"{kind}.json").predict(probs)
    probs[5] *= 1.25
    probs[9] = [1.5, -0.25, -0.25]
    found = calibcli.load(maps / f"{kind}.json").predict(probs, on_sum="null", on_range="null")
    gone = np.isin(np.arange(ROWS), (5, 9))
    assert np.array_equal(np.isnan(found).all(axis=1), gone)
    np.testing.assert_array_equal(found[~gone], whole[~gone])
    frame = frame.drop(columns=[name for name in frame if name.startswith("p")])
    columns = {"p": list(probs)} if kind == "lists" else {f"p_{x}": probs[:, i] for i, x in enumerate("xyz")}
    frame.assign(**columns).to_parquet("rows.parquet")
    line = ["apply", str(maps / f"{kind}.json"), "rows.parquet", "--probs"]
    line += ["p" if kind == "lists" else "p_*", "-o", "out.parquet"]
    assert run(*line, "--on-sum", "null").code == run(*line, "--on-range", "null").code == 3
    ended = run(*line, "--on-sum", "null", "--on-range", "null", code=0)
    assert "2 rows got no probability" in ended.err
    assert "1 with another sum than 1, the first at row 6" in ended.err
    assert np.array_equal(pd.read_parquet("out.parquet")["calibrated_confidence"].isna(), gone)


def test_all_bad_files_are_named_in_one_go(run: Run, maps: Path) -> None:
    """Good ones are written, and what is wrong with each of the others stands in one error."""
    folder = Path("rows")
    folder.mkdir()
    for name, text in (("a", "0.5"), ("b", "oops"), ("c", "7"), ("d", "0.25"), ("e", "")):
        (folder / f"{name}.csv").write_text(f"score,id\n{text},1\n0.5,2\n")
    line = ["apply", str(maps / "platt.json"), str(folder), "--out-dir", "out"]
    ended = run(*line, code=3)
    assert "3 files cannot be used" in ended.err
    assert all(f"{name}.csv, column 'score'" in ended.err for name in "bce")
    assert "2 other files are written: --skip-existing goes on from there" in ended.err
    ended = run(*line, "--skip-existing", "--on-missing", "null", "--on-range", "null", code=0)
    assert "3 rows got no probability" in ended.err
    assert all(f"{name}.csv, score: 1" in ended.err for name in "bce")
    for name in "fgh":
        (folder / f"{name}.csv").write_text("other,id\n0.5,1\n")
    ended = run(*line, "--force", code=3)
    assert "3 files cannot be used" in ended.err
    assert all(f"{name}.csv: there is no column 'score'" in ended.err for name in "fgh")


@pytest.mark.parametrize("source", ["csv", "tsv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("to", ["csv", "tsv"])
def test_a_missing_probability_alone_is_a_row(source: str, to: str, run: Run) -> None:
    """Readers pass over a blank line, and rows would no longer be those of the input."""
    rows, cal, output = Path(f"rows.{source}"), Path("cal.json"), Path(f"out.{to}")
    write(pd.DataFrame({"score": [0.25, np.nan, 0.5, np.nan], "label": [0, 0, 1, 1]}), rows)
    assert run("fit", rows, "-m", "identity", "-o", cal, "--on-missing", "drop", "-q").code == 0
    assert run("apply", cal, rows, "--on-missing", "null", "--keep", "none", "-o", output, "-q").code == 0
    assert output.read_text().splitlines()[1:] == ["0.25", '""', "0.5", '""']
    assert read(output)["calibrated"].isna().tolist() == [False, True, False, True]
