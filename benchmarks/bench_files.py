"""The files that `bench.py` times processes on.

    python benchmarks/bench_files.py WORDS FOLDER

WORDS are a case of `main`. Run in a process of its own: a child's peak memory counts that of the process
that started it.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench_jobs import (
    CLASSES,
    COLUMNS,
    CSV_COLUMNS,
    FILES,
    GROUPS,
    ROWS_OF_A_FILE,
    ROWS_OF_A_GROUP,
    ROWS_OF_CLASSES,
    ROWS_OF_SCORES,
    SCORES,
    SEGMENT_ROWS,
    WIDE_COLUMNS,
)
from processes import CALIBCLI, make_scores
from pyarrow import csv
from segments import TRUTH, pairs


def scores(path: Path, rows: int, columns: int = 2) -> pa.Table:
    """Write scores and labels, and return them."""
    make_scores(path, rows, columns)
    return pq.read_table(path)


def with_artifact(at: Path, name: str, rows: int, *, columns: int = 2, text: bool = False) -> None:
    """Write rows, as CSV too if asked, and an artifact for them."""
    make_scores(at / f"{name}.parquet", rows, columns)
    if text:
        csv.write_csv(pq.read_table(at / f"{name}.parquet"), at / f"{name}.csv")
    make_scores(at / "calibration.parquet", 50_000, 2)
    fit = [*CALIBCLI, "fit", str(at / "calibration.parquet"), *COLUMNS, "-m", "scaling-binning"]
    subprocess.run([*fit, "-o", str(at / "cal.json"), "--force"], check=True, capture_output=True)


def groups(at: Path, counts: tuple[int, ...] = GROUPS) -> None:
    """Write rows in so many groups, one after the other."""
    for count in counts:
        rows = scores(at / f"{count}.parquet", count * ROWS_OF_A_GROUP)
        group = pa.array(np.arange(rows.num_rows) // ROWS_OF_A_GROUP)
        pq.write_table(rows.append_column("group", group), at / f"{count}.parquet")


def classes(at: Path) -> None:
    """Write probabilities of so many classes, and labels that follow them."""
    for count in CLASSES:
        generator = np.random.default_rng(1)
        chances = generator.dirichlet(np.full(count, 0.1), ROWS_OF_CLASSES)
        label = (chances.cumsum(axis=1) < generator.random((ROWS_OF_CLASSES, 1))).sum(axis=1)
        columns = {f"p{k}": chances[:, k] for k in range(count)}
        table = pa.table(columns | {"label": np.minimum(label, count - 1)})
        pq.write_table(table, at / f"{count}.parquet")


def columns_of_scores(at: Path) -> None:
    """Write so many scores near one."""
    one = scores(at / "one.parquet", ROWS_OF_SCORES)
    near = np.random.default_rng(1).normal(0.0, 0.02, (max(SCORES), ROWS_OF_SCORES))
    score = np.clip(one["score"].to_numpy() + near, 0.0, 1.0)
    for count in SCORES:
        columns = {f"s{k}": score[k] for k in range(count)}
        pq.write_table(pa.table(columns | {"label": one["label"]}), at / f"{count}.parquet")


def files(at: Path, counts: tuple[int, ...] = FILES) -> None:
    """Write rows in so many files, a folder for each number of them."""
    rows = scores(at / "all.parquet", max(counts) * ROWS_OF_A_FILE)
    for count in counts:
        (at / str(count)).mkdir()
        for number in range(count):
            part = rows.slice(number * ROWS_OF_A_FILE, ROWS_OF_A_FILE)
            pq.write_table(part, at / str(count) / f"{number:05}.parquet")


def for_dask(at: Path) -> None:
    """Write many files, and ten with rows of every group."""
    files(at, FILES[-1:])
    groups(at, (1_000,))
    (at / "groups").mkdir()
    rows = pq.read_table(at / "1000.parquet")
    for number in range(10):
        part = rows.take(pa.array(range(number, rows.num_rows, 10)))
        pq.write_table(part, at / "groups" / f"{number}.parquet")


def columns_of_csv(at: Path) -> None:
    """Write three rows of a million columns."""
    names = ",".join(["score", "label", *(f"x{k}" for k in range(CSV_COLUMNS - 2))])
    rest = "".join(f",{k % 997 / 997:.3f}" for k in range(CSV_COLUMNS - 2))
    (at / "wide.csv").write_text(f"{names}\n0.1,0{rest}\n0.2,1{rest}\n0.3,0{rest}\n", encoding="utf-8")


def segments(at: Path) -> None:
    """Write rows whose errors lie in pairs of values of five columns."""
    rows = pairs(np.random.default_rng(2), SEGMENT_ROWS)
    rows.drop(columns=TRUTH).to_parquet(at / "segments.parquet", index=False)


def main(what: str, *words: str) -> None:
    """Write the files of one kind."""
    at = Path(words[-1])
    match what:
        case "few":
            with_artifact(at, "few", 1_000, text=True)
        case "rows":
            with_artifact(at, "scores", int(words[0]))
        case "text":
            with_artifact(at, "wide", 1_000_000, columns=WIDE_COLUMNS, text=True)
        case "wide":
            with_artifact(at, "wide", 10_000_000, columns=WIDE_COLUMNS)
        case _:
            kinds = {"groups": groups, "classes": classes, "scores": columns_of_scores, "files": files}
            (kinds | {"columns": columns_of_csv, "segments": segments, "dask": for_dask})[what](at)


if __name__ == "__main__":
    main(*sys.argv[1:])
