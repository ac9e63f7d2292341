"""What `bench.py` times: contests of whole processes."""

import sys
from dataclasses import dataclass
from pathlib import Path

from fits import PEERS as FIT_PEERS
from fits import READ as READ_WHOLE
from measures import PEERS as MEASURE_PEERS
from measures import Entrant
from processes import CALIBCLI, READ, REENCODE

from calibcli.names import RecalibratorName

HERE = Path(__file__).parent
ROWS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
FILES = (10, 100, 1_000, 10_000)
GROUPS = (10, 100, 1_000, 10_000, 100_000)
CLASSES = (10, 100, 1_000, 10_000)
SCORES = (20, 200, 2_000)
# Of so many rows each.
ROWS_OF_A_GROUP, ROWS_OF_A_FILE, ROWS_OF_CLASSES, ROWS_OF_SCORES = 20, 100, 2_000, 1_000
WIDE_COLUMNS, CSV_COLUMNS = 12, 1_000_000
SEGMENT_ROWS, SEGMENT_COLUMNS = 1_000_000, "c0,c1,c2,c3,c4"
# Beyond it a peer that holds every row several times would take the memory of others.
MOST_MEMORY_KIB = 20 << 20
COLUMNS = ("-s", "score", "-y", "label")
GROWING = ("measure", "verify", "fit platt", "fit beta", "fit isotonic")
IMPORTS, BARE, READING = "imports", "bare Python", "read"
# What peers are raced with at ten million rows; the method of a peer's fit.
FITS = (
    RecalibratorName.PLATT,
    RecalibratorName.BETA,
    RecalibratorName.ISOTONIC,
    RecalibratorName.SCALING_BINNING,
)
CSV_REWRITE = """
import sys, pyarrow.csv as csv
reader = csv.open_csv(sys.argv[1])
with csv.CSVWriter(sys.argv[2], reader.schema) as out:
    for batch in reader:
        out.write_batch(batch)
"""
CSV_PANDAS = "import sys, pandas as pd\npd.read_csv(sys.argv[1]).to_csv(sys.argv[2], index=False)"
SEGMENTS_MCGRAD = """
import sys, pandas as pd
from mcgrad.metrics import MulticalibrationError
rows = pd.read_parquet(sys.argv[1])
found = MulticalibrationError(
    rows, "label", "score", categorical_segment_columns=sys.argv[2].split(","), max_depth=2,
    max_values_per_segment_feature=10, min_samples_per_segment=100,
)
found.mce_sigma, found.mce_pvalue
"""


@dataclass(frozen=True)
class Contest:
    """Processes that are timed in turn.

    Args:
        title: What they are about.

        files: What `bench_files.py` makes for them: words of its command line.

        field: The processes.

        base: The process that ratios are taken to, by name.

        rounds: Times each.

        warm: Rounds before those that count.

        patience: Seconds until a process is stopped.

        on_dask: Whether a cluster of Dask is there meanwhile.
    """

    title: str
    files: str
    field: tuple[Entrant, ...]
    base: str
    rounds: int = 5
    warm: int = 0
    patience: float = 60.0
    on_dask: bool = False


def contests(at: Path, peers: str) -> list[Contest]:
    """Return what is timed, the quick first, with files in a folder and a Python that has the peers."""
    larger = [_rows(at, rows) for rows in ROWS]
    return [
        _small(at),
        *_inside(at, peers),
        *larger[:3],
        _groups(at),
        _classes(at),
        _scores(at),
        _files(at),
        _wide_csv(at),
        larger[3],
        _text(at),
        _segments(at, peers),
        _peers(at, peers, "measure"),
        _peers(at, peers, "fit"),
        _apply(at),
        larger[4],
        _dask(at),
    ]


def _small(at: Path) -> Contest:
    few, python = str(at / "few.csv"), sys.executable
    keep = ["--artifact", str(at / "cal.json")]
    field = (
        Entrant(
            IMPORTS, "numpy, pyarrow.parquet, typer", [python, "-c", "import numpy, pyarrow.parquet, typer"]
        ),
        Entrant(BARE, "nothing", [python, "-c", "pass"]),
        Entrant("--help", "the help", [*CALIBCLI, "--help"]),
        _ours("measure", few, *COLUMNS),
        _ours("verify", few, *COLUMNS, *keep, "--max-ece", "0.9", "--inconclusive", "pass"),
        _ours("apply", str(at / "cal.json"), few, "-s", "score", "-o", str(at / "out.csv"), "--force"),
        _ours("fit", few, *COLUMNS, "-m", "platt", "-o", str(at / "new.json"), "--force"),
    )
    return Contest("1,000 rows of CSV", "few", field, IMPORTS, rounds=11, warm=1)


def _inside(at: Path, peers: str) -> list[Contest]:
    script = str(HERE / "bench_inside.py")

    def step(name: str, computes: str, *, python: str = sys.executable) -> Entrant:
        return Entrant(name, computes, [python, script, name, str(at / "scores.parquet")], inside=True)

    smece = (
        step("smECE", "ours"),
        step("smECE, read", "ours, with reading the file"),
        step("relplot", "its smECE", python=peers),
    )
    marginal = (
        step("marginal ECE", "ours with its interval and a table of each class"),
        step("uncertainty-calibration", "its marginal ECE", python=peers),
    )
    few = tuple(
        step(f"{kind}, {what}", computes)
        for kind in ("rare", "saturated")
        for what, computes in (("one test", "Kuiper's test"), ("report", "the default report"))
    )
    return [
        Contest("Within a process: few scores", "few", few, few[0].name),
        Contest("Within a process: smECE of 10 million rows", "rows 10000000", smece, "smECE", 3),
        Contest("Within a process: 50,000 rows of 1,000 classes", "few", marginal, "marginal ECE", 3),
    ]


def _rows(at: Path, rows: int) -> Contest:
    data = str(at / "scores.parquet")
    verify = [*COLUMNS, "--artifact", str(at / "cal.json"), "--max-ece", "0.9", "--inconclusive", "pass"]
    reading = Entrant(READING, "streams the two columns", [sys.executable, "-c", READ, data])
    measure = _ours("measure", data, *COLUMNS, what="the default measures, intervals and tests, a diagram")
    gate = _ours("verify", data, *verify, what="a gate on recalibrated scores")
    fitted = [_fit(at, name.split()[1]) for name in GROWING[2:]]
    rounds = 3 if rows > 10_000_000 else 7 if rows == 10_000_000 else 5
    return Contest(_of(rows, "rows"), f"rows {rows}", (reading, measure, gate, *fitted), READING, rounds)


def _groups(at: Path) -> Contest:
    def groups(count: int, *more: str, name: str, what: str = "a table") -> Entrant:
        words = ("--by", "group", "--min-group-rows", "1", *more)
        return _ours("measure", str(at / f"{count}.parquet"), *COLUMNS, *words, name=name, what=what)

    one = _ours(
        "measure", str(at / "1000.parquet"), *COLUMNS, name="rows together", what="1,000 groups as one"
    )
    field = [
        # Bounds that allow for 50,000 groups and more need it.
        groups(count, *(("--confidence", "0.9") if count > 10_000 else ()), name=_of(count, "groups"))
        for count in GROUPS
    ]
    every = groups(1_000, "--json", name="1,000 groups, JSON", what="all that is known of each")
    return Contest(
        f"Groups of {ROWS_OF_A_GROUP} rows", "groups", (one, *field, every), one.name, 3, patience=300.0
    )


def _classes(at: Path) -> Contest:
    field = tuple(
        _ours(
            "measure",
            str(at / f"{count}.parquet"),
            "--probs",
            "p*",
            "-y",
            "label",
            name=_of(count, "classes"),
        )
        for count in CLASSES
    )
    title = f"Classes, {ROWS_OF_CLASSES:,} rows"
    return Contest(title, "classes", field, field[0].name, rounds=3, patience=120.0)


def _scores(at: Path) -> Contest:
    field = tuple(
        _ours("measure", str(at / f"{count}.parquet"), "-s", "s*", "-y", "label", name=_of(count, "scores"))
        for count in SCORES
    )
    return Contest(f"Columns of scores, {ROWS_OF_SCORES:,} rows", "scores", field, field[0].name, rounds=3)


def _files(at: Path) -> Contest:
    field = tuple(
        _ours("measure", str(at / str(count)), *COLUMNS, name=_of(count, "files")) for count in FILES
    )
    return Contest(f"Files of {ROWS_OF_A_FILE} rows", "files", field, field[0].name, rounds=3)


def _wide_csv(at: Path) -> Contest:
    field = (
        Entrant("cat", "the bytes", ["cat", str(at / "wide.csv")]),
        _ours("inspect", str(at / "wide.csv"), what="a line for each column"),
    )
    return Contest(f"CSV of {CSV_COLUMNS:,} columns", "columns", field, "cat", rounds=3)


def _text(at: Path) -> Contest:
    wide, copy = str(at / "wide.csv"), str(at / "copy.csv")
    field = (
        _apply_to(at, wide, copy),
        Entrant("pandas", "reads and writes", [sys.executable, "-c", CSV_PANDAS, wide, copy]),
        Entrant(
            "pyarrow", "reads typed columns and writes them", [sys.executable, "-c", CSV_REWRITE, wide, copy]
        ),
        Entrant("cp", "copies the bytes", ["cp", wide, copy]),
    )
    return Contest(f"Apply, CSV of a million rows and {WIDE_COLUMNS} columns", "text", field, "apply")


def _apply(at: Path) -> Contest:
    wide, copy = str(at / "wide.parquet"), str(at / "copy.parquet")
    field = (
        _apply_to(at, wide, copy),
        Entrant("re-encode", "reads and writes with pyarrow", [sys.executable, "-c", REENCODE, wide, copy]),
        Entrant("cp", "copies the bytes", ["cp", wide, copy]),
    )
    return Contest(f"Apply, Parquet of 10 million rows and {WIDE_COLUMNS} columns", "wide", field, "apply", 3)


def _segments(at: Path, peers: str) -> Contest:
    data, on = str(at / "segments.parquet"), SEGMENT_COLUMNS
    field = (
        _ours("segments", data, *COLUMNS, "--on", on, what="every segment, tested jointly"),
        Entrant("MCGrad", "its multicalibration error", [peers, "-c", SEGMENTS_MCGRAD, data, on]),
    )
    return Contest("Segments of a million rows by 5 columns", "segments", field, "segments")


def _peers(at: Path, peers: str, what: str) -> Contest:
    data, rows = str(at / "scores.parquet"), "10 million rows"

    def theirs(name: str, computes: str, code: str) -> Entrant:
        limited = ["sh", "-c", f'ulimit -v {MOST_MEMORY_KIB}; exec "$@"', "sh"]
        return Entrant(name, computes, [*limited, peers, "-c", READ_WHOLE + code, data])

    if what == "measure":
        ours = _ours("measure", data, *COLUMNS, what="the default measures, intervals and tests, a diagram")
        others = [theirs(one.name, one.computes, one.code) for one in MEASURE_PEERS]
        return Contest(f"Other packages measure {rows}", "rows 10000000", (ours, *others), "measure", 3)
    field = []
    for method in FITS:
        field.append(_fit(at, method.value))
        field += [theirs(one.name, f"{method.value} or the like", one.code) for one in FIT_PEERS[method][:1]]
    return Contest(f"Other packages fit {rows}", "rows 10000000", tuple(field), "fit platt", 3)


def _dask(at: Path) -> Contest:
    place = ("--engine", "dask", "--engine-address", str(at / "scheduler.json"))
    groups = ("--by", "group", "--min-group-rows", "1")
    field = (
        _ours("measure", str(at / "10000"), *COLUMNS, name="10,000 files, here"),
        _ours("measure", str(at / "10000"), *COLUMNS, *place, name="10,000 files, Dask"),
        _ours("measure", str(at / "groups"), *COLUMNS, *groups, name="1,000 groups in 10 files, here"),
        _ours(
            "measure", str(at / "groups"), *COLUMNS, *groups, *place, name="1,000 groups in 10 files, Dask"
        ),
    )
    return Contest("On two workers of Dask", "dask", field, field[0].name, rounds=2, on_dask=True)


def _ours(command: str, *words: str, name: str = "", what: str = "a table") -> Entrant:
    return Entrant(name or command, what, [*CALIBCLI, command, *words])


def _fit(at: Path, method: str) -> Entrant:
    words = (*COLUMNS, "-m", method, "-o", str(at / f"{method}.json"), "--force")
    return _ours("fit", str(at / "scores.parquet"), *words, name=f"fit {method}", what="an artifact")


def _apply_to(at: Path, data: str, out: str) -> Entrant:
    words = (str(at / "cal.json"), data, "-s", "score", "-o", out, "--force")
    return _ours("apply", *words, what=f"a column more than the {WIDE_COLUMNS} there are")


def _of(count: int, things: str) -> str:
    return f"{count:,} {things}"
