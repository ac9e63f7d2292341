"""Which processes `bench.py` runs for each number of rows, and the files that they read."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fits import PEERS as FIT_PEERS
from fits import READ
from measures import PEERS as MEASURE_PEERS
from measures import Entrant
from processes import CALIBCLI, REENCODE, make_scores
from processes import READ as STREAM

from calibcli.names import RecalibratorName

WIDE_COLUMNS = 12
MOST_WIDE_ROWS = 10_000_000
MOST_TEXT_ROWS = 1_000_000
# Groups, classes and scores are counted at one size of files of their own.
MANY_ROWS = 10_000
# Of so many rows each.
ROWS_OF_A_GROUP = 20
MANY_GROUPS = 1_000
MANY_CLASSES, ROWS_OF_CLASSES = 1_000, 2_000
MANY_SCORES, ROWS_OF_SCORES = 100, 1_000
# Beyond it the peer that holds every row several times would take the memory of others.
MOST_MEMORY_KIB = 20 << 20
COLUMNS = ("-s", "score", "-y", "label")
READING = "read"
# The same beside the fits: a ratio is of processes that ran in turn.
READING_TO_FIT = "read, beside fits"
SMALL = "1,000 rows of CSV"
FITS = (
    RecalibratorName.PLATT,
    RecalibratorName.TEMPERATURE,
    RecalibratorName.BETA,
    RecalibratorName.SCALING_BINNING,
    RecalibratorName.ISOTONIC,
    RecalibratorName.VENN_ABERS,
)
REWRITE_CSV = """
import sys, pyarrow.csv as csv
reader = csv.open_csv(sys.argv[1])
with csv.CSVWriter(sys.argv[2], reader.schema) as out:
    for batch in reader:
        out.write_batch(batch)
"""
PANDAS_CSV = "import sys, pandas as pd\npd.read_csv(sys.argv[1]).to_csv(sys.argv[2], index=False)"
STREAM_CSV = """
import sys, pyarrow.csv as csv
rows = sum(batch.num_rows for batch in csv.open_csv(
    sys.argv[1], csv.ReadOptions(use_threads=False),
    convert_options=csv.ConvertOptions(include_columns=["score", "label"])))
"""


@dataclass(frozen=True)
class Contest:
    """
    Processes that are timed in turn.

    Args:
        title: What they are about.

        rows: How many rows they see.

        field: The processes. Ratios called "ours" are to the first of calibcli.

        base: The process that ratios are taken to, by name, and what it is called in the head of a column.
    """

    title: str
    rows: int
    field: tuple[Entrant, ...]
    base: tuple[str, str]


def prepare(folder: Path, rows: int) -> None:
    """Make the files for one number of rows."""
    import pyarrow.parquet as pq
    from pyarrow import csv

    folder.mkdir(parents=True, exist_ok=True)
    make_scores(folder / "scores.parquet", rows, 2)
    make_scores(folder / "calibration.parquet", 50_000, 2)
    make_scores(folder / "few.parquet", 1_000, 2)
    csv.write_csv(pq.read_table(folder / "few.parquet"), folder / "few.csv")
    if rows <= MOST_WIDE_ROWS:
        make_scores(folder / "wide.parquet", rows, WIDE_COLUMNS)
    if rows <= MOST_TEXT_ROWS:
        for name in ("scores", "wide"):
            csv.write_csv(pq.read_table(folder / f"{name}.parquet"), folder / f"{name}.csv")
    if rows == MANY_ROWS:
        _prepare_many(folder)
    fit = [*CALIBCLI, "fit", str(folder / "calibration.parquet"), *COLUMNS]
    fit += ["--method", "scaling-binning", "-o", str(folder / "cal.json"), "--force"]
    subprocess.run(fit, check=True, capture_output=True)


def _prepare_many(folder: Path) -> None:
    """Make files of many groups, classes and scores."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    generator = np.random.default_rng(1)
    make_scores(folder / "rows.parquet", MANY_GROUPS * ROWS_OF_A_GROUP, 2)
    rows = pq.read_table(folder / "rows.parquet")
    group = pa.array(np.arange(rows.num_rows) // ROWS_OF_A_GROUP)
    pq.write_table(rows.append_column("group", group), folder / "groups.parquet")
    chances = generator.dirichlet(np.full(MANY_CLASSES, 0.1), ROWS_OF_CLASSES)
    label = (chances.cumsum(axis=1) < generator.random((ROWS_OF_CLASSES, 1))).sum(axis=1)
    columns = {f"p{k}": chances[:, k] for k in range(MANY_CLASSES)}
    pq.write_table(pa.table(columns | {"label": label}), folder / "classes.parquet")
    score, label = (rows[name].to_numpy()[:ROWS_OF_SCORES] for name in ("score", "label"))
    near = generator.normal(0.0, 0.02, (MANY_SCORES, ROWS_OF_SCORES))
    columns = {f"s{k}": np.clip(score + near[k], 0.0, 1.0) for k in range(MANY_SCORES)}
    pq.write_table(pa.table(columns | {"label": label}), folder / "many.parquet")


def contests(folder: Path, rows: int, *, peers: str, there: frozenset[str]) -> Iterator[Contest]:
    """
    Yield what is raced for one number of rows.

    Args:
        folder: Where `prepare` put the files.

        rows: How many rows they have.

        peers: A Python that has the other packages.

        there: The modules that it has.
    """
    yield _measures(folder, rows, peers=peers, there=there)
    yield _fits(folder, rows, peers=peers, there=there)
    if rows <= MOST_WIDE_ROWS:
        yield _apply(folder, rows)
    if rows <= MOST_TEXT_ROWS:
        yield _apply_text(folder, rows)
        yield _measure_text(folder, rows)
    if rows == MANY_ROWS:
        yield _many(folder, rows)


def _measures(folder: Path, rows: int, *, peers: str, there: frozenset[str]) -> Contest:
    data, python = str(folder / "scores.parquet"), sys.executable
    measure = [*CALIBCLI, "measure", data, *COLUMNS]
    gate = [*CALIBCLI, "verify", data, *COLUMNS, "--artifact", str(folder / "cal.json"), "--max-ece", "0.9"]
    gate += ["--inconclusive", "pass"]
    drawn = [*CALIBCLI, "plot", data, *COLUMNS, "--force", "-o", str(folder / "r.png")]
    few = [*CALIBCLI, "measure", str(folder / "few.csv"), *COLUMNS]
    field = [
        Entrant("bare python", "nothing", [python, "-c", "pass"]),
        Entrant("--help", "the help", [*CALIBCLI, "--help"]),
        Entrant(SMALL, "the default measures", few),
        Entrant(READING, "streams the two columns", [python, "-c", STREAM, data]),
        Entrant("measure", "the default measures with intervals, tests, diagram", measure),
        Entrant("measure -j 1", "the same on one thread", [*measure, "-j", "1"]),
        Entrant("verify", "a gate on recalibrated scores", gate),
        Entrant("plot", "the reliability diagram as PNG", drawn),
    ]
    field += [
        Entrant(one.name, one.computes, _within_memory([peers, "-c", READ + one.code, data]))
        for one in MEASURE_PEERS
        if one.needs in there
    ]
    return Contest("Measures", rows, tuple(field), (READING, "reads"))


def _fits(folder: Path, rows: int, *, peers: str, there: frozenset[str]) -> Contest:
    data = str(folder / "scores.parquet")
    field = [Entrant(READING_TO_FIT, "streams the two columns", [sys.executable, "-c", STREAM, data])]
    for method in FITS:
        ours = [*CALIBCLI, "fit", data, *COLUMNS, "-m", method.value, "-o", str(folder / "fitted.json")]
        field.append(Entrant(f"fit {method.value}", "an artifact", [*ours, "--force"]))
        field += [
            Entrant(
                one.name, f"{method.value} or the like", _within_memory([peers, "-c", READ + one.code, data])
            )
            for one in FIT_PEERS[method][:1]
            if one.needs in there
        ]
    return Contest("Fits", rows, tuple(field), (READING_TO_FIT, "reads"))


def _apply(folder: Path, rows: int) -> Contest:
    wide, copy = str(folder / "wide.parquet"), str(folder / "copy.parquet")
    ours = [*CALIBCLI, "apply", str(folder / "cal.json"), wide, "-s", "score", "-o", copy, "--force"]
    field = (
        Entrant("cp", "copies the bytes", ["cp", wide, copy]),
        Entrant("re-encode", "reads and writes with pyarrow", [sys.executable, "-c", REENCODE, wide, copy]),
        Entrant("apply", f"a column more than the {WIDE_COLUMNS} there are", ours),
    )
    return Contest("Apply, Parquet", rows, field, ("re-encode", "re-encodes"))


def _apply_text(folder: Path, rows: int) -> Contest:
    python, wide, copy = sys.executable, str(folder / "wide.csv"), str(folder / "copy.csv")
    ours = [*CALIBCLI, "apply", str(folder / "cal.json"), wide, "-s", "score", "-o", copy, "--force"]
    rewrite = [python, "-c", REWRITE_CSV, wide, copy]
    field = (
        Entrant("cp, CSV", "copies the bytes", ["cp", wide, copy]),
        Entrant("rewrite, CSV", "reads typed columns and writes them with pyarrow", rewrite),
        Entrant("apply, CSV", f"a column more than the {WIDE_COLUMNS} there are", ours),
        Entrant("pandas, CSV", "reads and writes", [python, "-c", PANDAS_CSV, wide, copy]),
    )
    return Contest("Apply, CSV", rows, field, ("rewrite, CSV", "rewrites"))


def _measure_text(folder: Path, rows: int) -> Contest:
    data = str(folder / "scores.csv")
    field = (
        Entrant("read, CSV", "streams two columns", [sys.executable, "-c", STREAM_CSV, data]),
        Entrant("measure, CSV", "the default measures", [*CALIBCLI, "measure", data, *COLUMNS]),
    )
    return Contest("Measure, CSV", rows, field, ("read, CSV", "reads"))


def _many(folder: Path, rows: int) -> Contest:
    names = ("rows.parquet", "groups.parquet", "classes.parquet", "many.parquet")
    whole, groups, classes, scores = ([*CALIBCLI, "measure", str(folder / name)] for name in names)
    groups += [*COLUMNS, "--by", "group", "--min-group-rows", "1"]
    scores += [word for k in range(MANY_SCORES) for word in ("-s", f"s{k}")]
    in_groups = f"{MANY_GROUPS:,} groups of {ROWS_OF_A_GROUP} rows"
    field = (
        Entrant("rows together", "the same rows without groups", [*whole, *COLUMNS]),
        Entrant(in_groups, "a table", groups),
        Entrant(f"{in_groups}, JSON", "all that is known of each", [*groups, "--json"]),
        Entrant(
            f"{MANY_CLASSES:,} classes, {ROWS_OF_CLASSES:,} rows", "a table", [*classes, "--probs", "p*"]
        ),
        Entrant(f"{MANY_SCORES} scores, {ROWS_OF_SCORES:,} rows", "each and its differences", scores),
    )
    return Contest("Many groups, classes and scores", rows, field, ("rows together", "rows together"))


def _within_memory(command: list[str]) -> list[str]:
    return ["sh", "-c", f'ulimit -v {MOST_MEMORY_KIB}; exec "$@"', "sh", *command]
