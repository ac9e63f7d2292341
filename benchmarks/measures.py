"""Time and memory of all measures and tests together, against the packages that measure calibration.

    python benchmarks/measures.py [--rows 1000000 10000000] [--rounds 3] [--peers PYTHON] [--write]

Whole processes from a Parquet file to the result, in turn; then every measure by itself, in one process, from
one table. `--peers` names a Python that has the other packages; what it lacks is left out, and the page says
so. `--write` stores benchmarks/MEASURES.md. The data are those of `processes.py`: every score is another one.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fits import READ, missing, versions
from processes import CALIBCLI, Spent, machine, make_scores

if TYPE_CHECKING:
    from calibcli.stats.table.grid import Table

HERE = Path(__file__).parent
OURS = "calibcli, all"


@dataclass(frozen=True)
class Entrant:
    """A process to time.

    Args:
        name: What the table calls it.

        computes: What comes out of it.

        command: The command line.

        inside: Whether it prints the processor seconds of its step, which count instead of its own.
    """

    name: str
    computes: str
    command: list[str]
    inside: bool = False


@dataclass(frozen=True)
class Peer:
    """Another package.

    Args:
        name: What the table calls it.

        needs: The module that must be there.

        computes: What comes out of it.

        code: What it does after reading `f` and `y`.
    """

    name: str
    needs: str
    computes: str
    code: str


PEERS = (
    Peer(
        "scikit-learn",
        "sklearn",
        "reliability curve of 15 bins, Brier score, log loss, both skills",
        """
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, d2_brier_score, d2_log_loss_score, log_loss
calibration_curve(y, f, n_bins=15)
brier_score_loss(y, f), log_loss(y, f), d2_brier_score(y, f), d2_log_loss_score(y, f)
""",
    ),
    Peer("relplot", "relplot", "smECE", "import relplot\nrelplot.smECE(f, y)"),
    Peer(
        "uncertainty-calibration",
        "calibration",
        "ECE of equal-width and of equal-mass bins, debiased l2 error",
        "import calibration as c\nc.get_ece(f, y), c.get_ece_em(f, y), c.get_calibration_error(f, y)",
    ),
    Peer(
        "MAPIE",
        "mapie",
        "p-values of KS, Kuiper and Spiegelhalter's test",
        """
from mapie.metrics import calibration as c
c.kolmogorov_smirnov_p_value(y, f), c.kuiper_p_value(y, f), c.spiegelhalter_p_value(y, f)
""",
    ),
    Peer(
        "calzone",
        "calzone",
        "ECE, MCE and Hosmer-Lemeshow of both binnings, Spiegelhalter, Cox",
        """
from calzone.metrics import CalibrationMetrics
names = ["SpiegelhalterZ", "ECE-H", "MCE-H", "HL-H", "ECE-C", "MCE-C", "HL-C", "COX"]
both = np.column_stack([1.0 - f, f])
CalibrationMetrics(class_to_calculate=1).calculate_metrics(y_true=y, y_proba=both, metrics=names)
""",
    ),
    Peer(
        "netcal",
        "netcal",
        "ECE, MCE, ACE",
        "from netcal.metrics import ACE, ECE, MCE\n[kind(15).measure(f, y) for kind in (ECE, MCE, ACE)]",
    ),
    Peer(
        "torchmetrics",
        "torchmetrics",
        "calibration error in l1, l2 and maximum norm",
        """
import torch
from torchmetrics.functional.classification import binary_calibration_error as error
[error(torch.from_numpy(f), torch.from_numpy(y), n_bins=15, norm=norm) for norm in ("l1", "l2", "max")]
""",
    ),
)
PACKAGES = (
    "scikit-learn",
    "relplot",
    "uncertainty-calibration",
    "mapie",
    "calzone-tool",
    "netcal",
    "torchmetrics",
)


@dataclass(frozen=True)
class Rules:
    """How often processes run.

    Args:
        rounds: Times each, in turn with the others.

        patience: Seconds until one is stopped.

        once: A process that took this many seconds is not run again.

        warm: Rounds before those that count.
    """

    rounds: int
    patience: float
    once: float
    warm: int = 0


def spend_within(command: Sequence[str], patience: float, *, inside: bool = False) -> Spent | str:
    """Run a process and say what it took, or the step whose seconds it prints, or why it gave no result."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            command, stdout=out if inside else subprocess.DEVNULL, stderr=errors, env=environment
        ) as process,
    ):
        clock = threading.Timer(patience, process.kill)
        clock.start()
        _, status, usage = os.wait4(process.pid, 0)
        late = not clock.is_alive()
        clock.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        out.seek(0)
        step = out.read()
    if late:
        return f"stopped after {patience:g} s"
    if process.returncode:
        return f"failed: {' '.join(last)[:120]}"
    if inside:
        return Spent(float(step), float(step), usage.ru_maxrss / 1024)
    return Spent(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def entrants(data: str, result: str, rows: int, *, peers: str, there: Sequence[Peer]) -> list[Entrant]:
    """Return the processes that read one file."""
    ours = [*CALIBCLI, "measure", data, "-s", "score", "-y", "label", "--json", "-o", result, "--force"]
    every = [*ours, "--metric", "all"]
    computes = "every measure with its interval, every test, reliability curves with bands"
    found = [Entrant(OURS, computes, every)]
    if rows > 1_000_000:
        found.append(
            Entrant("calibcli, all, --exact", "the same without a grid of scores", [*every, "--exact"])
        )
    found.append(Entrant("calibcli, default", "the default measures and tests", ours))
    found.append(Entrant("pyarrow", "nothing: reads the columns", [peers, "-c", READ, data]))
    return found + [Entrant(one.name, one.computes, [peers, "-c", READ + one.code, data]) for one in there]


def race(field: Sequence[Entrant], rules: Rules) -> dict[str, list[Spent] | str]:
    """Run processes in turn; one that fails or is stopped is told by why and not run again."""
    found: dict[str, list[Spent] | str] = {one.name: [] for one in field}
    for turn in range(-rules.warm, rules.rounds):
        for one in field:
            runs = found[one.name]
            if isinstance(runs, str) or (runs and runs[-1].wall > rules.once):
                continue
            spent = spend_within(one.command, rules.patience, inside=one.inside)
            if isinstance(spent, str):
                found[one.name] = spent
            elif turn >= 0:
                runs.append(spent)
            sys.stderr.write(f"{one.name}: {spent}\n")
    return found


def table_of(field: Sequence[Entrant], found: Mapping[str, list[Spent] | str], against: str = OURS) -> str:
    """Return a race as a Markdown table: medians, and their ratio to those of one process."""
    lines = ["| process | computes | wall s | cpu s | peak MiB | wall ratio |", "|---|---|---|---|---|---|"]
    ours = found.get(against, "absent")
    whole = None if isinstance(ours, str) else statistics.median(run.wall for run in ours)
    for one in field:
        runs = found[one.name]
        if isinstance(runs, str):
            lines.append(f"| {one.name} | {one.computes} | {runs} | | | |")
            continue
        wall, cpu, peak = (
            statistics.median(column)
            for column in zip(*((run.wall, run.cpu, run.peak) for run in runs), strict=True)
        )
        ratio = "" if whole is None else f"{wall / whole:.2f}"
        lines.append(f"| {one.name} | {one.computes} | {wall:.2f} | {cpu:.2f} | {peak:.0f} | {ratio} |")
    return "\n".join(lines)


def times_inside(path: str) -> dict[str, float]:
    """Return the processor seconds of reading a file into a table, and of each measure and test of it."""
    import numpy as np

    from calibcli.commands.reading import read_tables
    from calibcli.options.rows import Columns, RowRequest
    from calibcli.stats.table import ScoreTable

    # Modules are imported at first use, which is not what is timed.
    times_of(ScoreTable.from_rows(np.arange(40) / 40, np.arange(40) % 3 == 0))
    began = time.process_time()
    (table,) = read_tables(RowRequest([path], Columns("score", "label"))).tables.values()
    return {"reading into a table": time.process_time() - began} | times_of(table)


def times_of(table: "Table") -> dict[str, float]:
    """Return the processor seconds of each measure and test of a table."""
    from calibcli.names import DEFAULT_BINS, DEFAULT_CONFIDENCE, Binning, MeasureName, Purpose, TestName
    from calibcli.stats.measures import measure_named
    from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings
    from calibcli.stats.measures.tests import calibration_tests
    from calibcli.stats.numerics import stream
    from calibcli.stats.table.bins import binned, bins_of

    began = time.process_time()
    sums, mass = (
        binned(table, bins_of(how, DEFAULT_BINS, table=table))
        for how in (Binning.EQUAL_WIDTH, Binning.EQUAL_MASS)
    )
    generators = stream(0, Purpose.MONTE_CARLO), stream(0, Purpose.SMECE_NULL)
    drawn = CalibratedDraws(
        table, partitions=(sums, mass), generator=generators[0], smece_generator=generators[1]
    )
    len(drawn.drawn.parts)
    found = {"bins, and labels drawn from the scores": time.process_time() - began}
    settings = Settings(sums, mass, DEFAULT_CONFIDENCE, drawn)
    for measure in MeasureName:
        began = time.process_time()
        measure_named(measure, table, settings=settings)
        found[measure.value] = time.process_time() - began
    for test in TestName:
        began = time.process_time()
        calibration_tests((test,), table, bins=sums, calibrated=drawn, seed=0)
        found[test.value] = time.process_time() - began
    return found


def shares_of(sizes: Mapping[int, Mapping[str, float]]) -> str:
    """Return what each measure took as a Markdown table, the longest first, those below 10 ms together."""
    largest = sizes[max(sizes)]
    columns = " | ".join(f"{rows:,} rows, cpu s" for rows in sizes)
    lines = [f"| step | {columns} |", "|" + "---|" * (len(sizes) + 1)]
    slow = [name for name in largest if max(times[name] for times in sizes.values()) >= 0.01]
    lines += [
        f"| {name} | {' | '.join(f'{times[name]:.3f}' for times in sizes.values())} |"
        for name in sorted(slow, key=lambda one: -largest[one])
    ]
    rest = [name for name in largest if name not in slow]
    if rest:
        sums = (f"{sum(times[name] for name in rest):.3f}" for times in sizes.values())
        lines.append(f"| {', '.join(rest)}, together | {' | '.join(sums)} |")
    lines.append(f"| sum | {' | '.join(f'{sum(times.values()):.3f}' for times in sizes.values())} |")
    return "\n".join(lines)


def compete(folder: Path, asked: argparse.Namespace) -> str:
    """Run everything and return the page."""
    why = {peer.name: missing(asked.peers, peer.needs) for peer in PEERS}
    there = [peer for peer in PEERS if why[peer.name] is None]
    rules = Rules(asked.rounds, asked.patience, asked.once)
    parts = [
        f"{machine()}; {versions(asked.peers, PACKAGES)}.",
        f"Median of {asked.rounds} interleaved rounds.",
        f"What took over {asked.once:g} s ran once; after {asked.patience:g} s it was stopped.",
    ]
    inside = {}
    for rows in sorted(asked.rows):
        data = folder / f"{rows}.parquet"
        # In processes of their own: a child's peak memory counts that of the process that started it.
        within([__file__, "--prepare", str(data), "--rows", str(rows)])
        field = entrants(str(data), str(folder / "r.json"), rows, peers=asked.peers, there=there)
        parts += [f"\n## {rows:,} rows, all scores distinct\n", table_of(field, race(field, rules))]
        inside[rows] = json.loads(within([__file__, "--inside", str(data)]))
    left_out = [f"- {name}: {reason}" for name, reason in why.items() if reason is not None]
    if left_out:
        parts += ["\nNot measured:\n", *left_out]
    return "\n".join([*parts, "\n## Measure by measure, in one process\n", shares_of(inside)]) + "\n"


def within(arguments: Sequence[str], *, python: str = sys.executable) -> str:
    """Run a Python, this one by default, and return what it prints."""
    ran = subprocess.run([python, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return ran.stdout


def parser_of(description: str, *, patience: float, once: float) -> argparse.ArgumentParser:
    """Return the options of every race; of the seconds by their defaults."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=patience, metavar="SECONDS")
    parser.add_argument("--once", type=float, default=once, metavar="SECONDS")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="has the other packages")
    parser.add_argument("--prepare", metavar="FILE", help="only make the rows")
    parser.add_argument("--write", action="store_true", help="store the page")
    return parser


def publish(
    compete: Callable[[Path, argparse.Namespace], str], asked: argparse.Namespace, *, page: Path, head: str
) -> None:
    """Run everything in a folder of its own, print what comes out, and store it if that is asked."""
    folder = Path(tempfile.mkdtemp(prefix="calibcli-race-"))
    try:
        text = compete(folder, asked)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(text)
    if asked.write:
        page.write_text(head + text, encoding="utf-8")


def main() -> None:
    """Run everything and print the page."""
    parser = parser_of("Time all measures together against other packages.", patience=120.0, once=12.0)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--inside", metavar="FILE", help="only time measure by measure, as JSON")
    asked = parser.parse_args()
    if asked.prepare:
        make_scores(Path(asked.prepare), asked.rows[0], 2)
        return
    if asked.inside:
        sys.stdout.write(json.dumps(times_inside(asked.inside)))
        return
    publish(compete, asked, page=HERE / "MEASURES.md", head=HEAD)


HEAD = """# All measures together

Made by `python benchmarks/measures.py --write --peers PYTHON`, PYTHON being one that has the packages
compared with. Whole processes from start to end, from the same Parquet file with two columns; data as in
`processes.py`. The ratio is a process's wall time over that of calibcli with everything it can measure: above
1, calibcli computes all that in less time than the other takes for what its line says.

The two sides are not alike. A peer holds all rows, is called for the numbers its line names, and gives no
interval for any of them; beyond a million distinct scores calibcli works on a grid of 720,720 cells, 1.4e-6
apart at most, unless `--exact` asks it not to. "pyarrow" is what reading alone costs a peer. Times measure by
measure are those of the processor, in one process that has imported everything: the second of several
measures that share a fit finds it made.

"""


if __name__ == "__main__":
    main()
