"""Files that pandas writes, with types that are traps."""

import importlib.util
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from inputs_cases import Case, Drawn
from inputs_of_tools import PROBS


def _is_there(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _frame(rows: Drawn, **columns: Any) -> Any:
    return pd.DataFrame({"score": rows.score, "label": rows.label.astype(int), "g": rows.group, **columns})


def _case(
    kind: str, trap: str, name: str, write: Callable[[Any, Path], object], *words: str, **more: Any
) -> Case:
    columns = more.pop("columns", lambda _: {})

    def written(folder: Path, rows: Drawn) -> str:
        write(_frame(rows, **columns(rows)), folder / name)
        return name

    return Case("pandas", kind, trap, written, words, **more)


def _words(rows: Drawn) -> Any:
    """Labels in words, as categories."""
    return {"label": pd.Categorical(np.where(rows.label, "yes", "no"))}


def _nullable(rows: Drawn) -> Any:
    """Types of pandas' own that know missing values."""
    return {"label": pd.array(rows.label.astype(int), "Int64"), "score": pd.array(rows.score, "Float64")}


def _with_gaps(one: Any, path: Path) -> None:
    """Write rows again without score, and some without label."""
    gaps = pd.concat([one, one.head(7).assign(score=np.nan), one.head(5).assign(label=pd.NA)])
    gaps.to_parquet(path)


def _by_group(one: Any, path: Path) -> None:
    """Write a directory for each group, one with letters that paths must encode."""
    one.assign(g=one.g.replace("g0", "a b/é%")).to_parquet(path, partition_cols=["g"])


def _both(one: Any, path: Path) -> None:
    """Write files that hold the column of their path too."""
    for name, part in one.groupby("g"):
        (path / f"g={name}").mkdir(parents=True)
        part.to_csv(path / f"g={name}" / "part.csv", index=False)


def _disagreeing(one: Any, path: Path) -> None:
    """Write a file that holds another value than its path."""
    (path / "g=g9").mkdir(parents=True)
    one.to_csv(path / "g=g9" / "part.csv", index=False)


def _lacking(one: Any, path: Path) -> None:
    """Write two files, one without labels."""
    path.mkdir()
    one.to_parquet(path / "1.parquet")
    one.drop(columns="label").to_parquet(path / "2.parquet")


CASES = [
    _case("CSV", "index as a first column without name", "a.csv", lambda one, path: one.to_csv(path)),
    _case(
        "CSV",
        "labels True and False",
        "a.csv",
        lambda one, path: one.astype({"label": bool}).to_csv(path),
    ),
    _case("CSV", "gz", "a.csv.gz", lambda one, path: one.to_csv(path, index=False)),
    _case("CSV", "zst", "a.csv.zst", lambda one, path: one.to_csv(path, index=False, compression="zstd"))
    if _is_there("zstandard")
    else _case("CSV", "bz2", "a.csv.bz2", lambda one, path: one.to_csv(path, index=False)),
    _case("CSV", "labels 1.0 and 0.0", "a.csv", lambda one, path: one.astype({"label": float}).to_csv(path)),
    _case(
        "JSONL",
        "lines=True",
        "a.jsonl",
        lambda one, path: one.to_json(path, orient="records", lines=True, double_precision=15),
    ),
    _case(
        "JSONL",
        "lines=True, gz, labels true",
        "a.jsonl.gz",
        lambda one, path: one.astype({"label": bool}).to_json(
            path, orient="records", lines=True, double_precision=15
        ),
    ),
    _case(
        "JSON",
        "orient='records'",
        "a.json",
        lambda one, path: one.to_json(path, orient="records"),
        refused=True,
    ),
    _case("JSON", "to_json as it is by default", "a.json", lambda one, path: one.to_json(path), refused=True),
    _case(
        "Feather",
        "category labels",
        "a.feather",
        lambda one, path: one.to_feather(path),
        "--positive",
        "yes",
        columns=_words,
    ),
    _case(
        "Parquet",
        "category labels",
        "a.parquet",
        lambda one, path: one.to_parquet(path),
        "--positive",
        "yes",
        columns=_words,
    ),
    _case(
        "Parquet",
        "nullable Int64 and Float64",
        "a.parquet",
        lambda one, path: one.to_parquet(path),
        columns=_nullable,
    ),
    _case("Parquet", "7 NaN scores and 5 missing labels", "a.parquet", _with_gaps, "--on-missing", "drop"),
    _case("Parquet", "the same, not dropped", "a.parquet", _with_gaps, refused=True),
    _case("Parquet", "partition_cols, with 'a b/é%'", "d", _by_group, "--by", "g"),
    _case("CSV", "column both in the file and its path", "d", _both, "--by", "g"),
    _case("CSV", "the same, which do not agree", "d", _disagreeing, "--by", "g", refused=True),
    _case("Parquet", "a file of a directory lacks the label", "d", _lacking, refused=True),
    _case(
        "Parquet",
        "a list of numpy arrays",
        "a.parquet",
        lambda one, path: one.to_parquet(path),
        *PROBS,
        columns=lambda rows: {"probs": list(rows.probs), "label": rows.right},
        classes=True,
    ),
    _case(
        "Parquet",
        "Decimal objects",
        "a.parquet",
        lambda one, path: one.to_parquet(path),
        columns=lambda rows: {"score": [Decimal(str(one)) for one in rows.score]},
    ),
    _case("pickle", "to_pickle", "a.pkl", lambda one, path: one.to_pickle(path), refused=True),
]
