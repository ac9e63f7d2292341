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
            return pd.read_csv(path, sep="," if path.suffix == ".csv" else "\t")
        case ".jsonl":
            return pd.read_json(path, lines=True)
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
    run: Run, maps: Path, tmp_path: Path, kind: str, suffix: str
) -> None:
    """Whatever stands in a gap, no other row's probability changes by a bit; the report counts the gaps."""
    if kind == "lists" and suffix in ("csv", "tsv"):
        pytest.skip("text has no lists")
    of = ["--probs", "p_*" if kind == "classes" else "p"] if kind in ("classes", "lists") else ["-s", "score"]
    found = {}
    for gaps in (False, True):
        source, output = tmp_path / f"{gaps}.{suffix}", tmp_path / f"{gaps}_out.{suffix}"
        write(rows_of(kind, gaps=gaps), source)
        line = ["apply", str(maps / f"{kind}.json"), str(source), *of, "-o", str(output)]
        ended = run(*line, *(["--on-missing", "null"] if gaps else []))
        assert ended.code == 0, ended.err
        assert (f"{GAPS.sum()} rows without a score got no probability" in ended.err) is gaps
        found[gaps] = read(output)
    added = [name for name in found[True].columns if name.startswith("calibrated")]
    assert added
    assert found[True][added].isna().to_numpy()[GAPS].all()
    pd.testing.assert_frame_equal(found[True][added][~GAPS], found[False][added][~GAPS], check_exact=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            ["apply", "{map}", "{rows}"],
            [
                "86 of the first 600 values are missing",
                "--on-missing null leaves their probability empty (apply)",
            ],
        ),
        (
            ["apply", "{map}", "{rows}", "--on-missing", "drop"],
            ["apply writes every row", "--on-missing null"],
        ),
        (["measure", "{rows}", "-y", "label", "--on-missing", "null"], ["which only apply does", "drop"]),
        (
            ["plan", "--like", "{rows}", "--max-ece", "0.05", "--on-missing", "null"],
            ["which only apply does"],
        ),
    ],
)
def test_other_answers_to_missing_scores_are_refused(
    run: Run, maps: Path, tmp_path: Path, line: list[str], words: list[str]
) -> None:
    """Nobody drops rows by apply, or keeps rows without a score elsewhere; each says what to pass."""
    rows = tmp_path / "rows.csv"
    write(rows_of("platt", gaps=True), rows)
    said = [one.format(map=maps / "platt.json", rows=rows) for one in line]
    output = ["-o", str(tmp_path / "out.csv")] if line[0] == "apply" else []
    ended = run(*said, "-s", "score", *output)
    assert ended.code in (2, 3)
    assert all(word in " ".join(ended.err.split()) for word in words), ended.err
    assert not (tmp_path / "out.csv").exists()


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
