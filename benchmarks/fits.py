"""Time of fits, each against the packages that fit the same: whole processes, interleaved in one run.

    python benchmarks/fits.py [--rows 100000 1000000 10000000] [--rounds 3] [--peers PYTHON] [--write]

`--peers` names a Python that has the other packages; what it lacks is left out, and the page says why.
`--write` stores benchmarks/FITS.md. Data as in `processes.py`. A peer reads the two columns with pyarrow
and fits; calibcli reads, fits and writes its artifact. A process that takes longer than `--patience` seconds
is stopped and not tried again.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from processes import CALIBCLI, machine, make_scores

from calibcli.names import RecalibratorName

HERE = Path(__file__).parent
FIT_ROWS, APPLY_ROWS = 100_000, 1_000_000
PACKAGES = (
    "scikit-learn",
    "scipy",
    "venn-abers",
    "betacal",
    "uncertainty-calibration",
    "netcal",
    "relplot",
)
READ = """
import sys, warnings
import numpy as np
import pyarrow.parquet as pq
warnings.filterwarnings("ignore")
table = pq.read_table(sys.argv[1], columns=["score", "label"])
f, y = table["score"].to_numpy(), table["label"].to_numpy()
"""
LOGIT = """
z = np.log(np.clip(f, 2.0**-53, 1 - 2.0**-53)); z -= np.log1p(-np.clip(f, 2.0**-53, 1 - 2.0**-53))
"""
LOGISTIC = "from sklearn.linear_model import LogisticRegression\n"


@dataclass(frozen=True)
class Peer:
    """Another way to fit the same.

    Args:
        name: What the table calls it.

        needs: The module that must be there.

        code: What it does after reading `f` and `y`.
    """

    name: str
    needs: str
    code: str


SKLEARN_PLATT = LOGIT + LOGISTIC + "LogisticRegression(C=np.inf).fit(z[:, None], y)"
SKLEARN_QUADRATIC = LOGIT + LOGISTIC + "LogisticRegression(C=np.inf).fit(np.column_stack([z, z * z]), y)"
SKLEARN_SPLINE = f"""{LOGIT}{LOGISTIC}
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
spline = SplineTransformer(n_knots=5, knots="quantile", extrapolation="linear")
make_pipeline(spline, LogisticRegression(C=np.inf)).fit(z[:, None], y)
"""
SCIPY_SHIFT = f"""{LOGIT}
from scipy.optimize import minimize_scalar
minimize_scalar(lambda b: (np.logaddexp(0.0, z + b) - y * (z + b)).mean())
"""
SCIPY_TEMPERATURE = f"""{LOGIT}
from scipy.optimize import minimize_scalar
minimize_scalar(lambda s: (np.logaddexp(0.0, s * z) - y * s * z).mean())
"""
SIGMOID = LOGIT + "from sklearn.calibration import _SigmoidCalibration as S\nS().fit(z, y)"
PEERS = {
    RecalibratorName.IDENTITY: (),
    RecalibratorName.INTERCEPT: (Peer("scipy minimize_scalar", "scipy", SCIPY_SHIFT),),
    RecalibratorName.TEMPERATURE: (
        Peer("scipy minimize_scalar", "scipy", SCIPY_TEMPERATURE),
        Peer(
            "netcal TemperatureScaling",
            "netcal",
            "from netcal.scaling import TemperatureScaling as T\nT().fit(f, y)",
        ),
    ),
    RecalibratorName.PLATT: (
        Peer("scikit-learn LogisticRegression", "sklearn", SKLEARN_PLATT),
        Peer("scikit-learn _SigmoidCalibration", "sklearn", SIGMOID),
        Peer(
            "netcal LogisticCalibration",
            "netcal",
            "from netcal.scaling import LogisticCalibration as L\nL().fit(f, y)",
        ),
    ),
    RecalibratorName.BETA: (
        Peer(
            "betacal abm", "betacal", "from betacal import BetaCalibration\nBetaCalibration('abm').fit(f, y)"
        ),
        Peer(
            "netcal BetaCalibration",
            "netcal",
            "from netcal.scaling import BetaCalibration as B\nB().fit(f, y)",
        ),
    ),
    RecalibratorName.QUADRATIC: (
        Peer("scikit-learn LogisticRegression on z, z²", "sklearn", SKLEARN_QUADRATIC),
    ),
    RecalibratorName.SPLINE: (
        Peer("scikit-learn SplineTransformer, LogisticRegression", "sklearn", SKLEARN_SPLINE),
    ),
    RecalibratorName.HISTOGRAM: (
        Peer(
            "uncertainty-calibration HistogramCalibrator",
            "calibration",
            "import calibration\ncalibration.HistogramCalibrator(f.size, 10).train_calibration(f, y)",
        ),
        Peer(
            "netcal HistogramBinning",
            "netcal",
            "from netcal.binning import HistogramBinning as H\nH(bins=10, equal_intervals=False).fit(f, y)",
        ),
    ),
    RecalibratorName.SCALING_BINNING: (
        Peer(
            "uncertainty-calibration PlattBinnerCalibrator",
            "calibration",
            "import calibration\ncalibration.PlattBinnerCalibrator(f.size, 10).train_calibration(f, y)",
        ),
    ),
    RecalibratorName.ISOTONIC: (
        Peer(
            "scikit-learn IsotonicRegression",
            "sklearn",
            "from sklearn.isotonic import IsotonicRegression as I\nI(out_of_bounds='clip').fit(f, y)",
        ),
    ),
    RecalibratorName.CENTRED_ISOTONIC: (),
    RecalibratorName.VENN_ABERS: (
        Peer(
            "venn-abers VennAbers",
            "venn_abers",
            "from venn_abers import VennAbers\nVennAbers().fit(np.column_stack([1 - f, f]), y)",
        ),
    ),
    RecalibratorName.SMOOTH: (
        Peer(
            "relplot prepare_rel_diagram, no bootstrap",
            "relplot",
            "import relplot\n"
            "relplot.prepare_rel_diagram(f, y, plot_confidence_band=False, report_CE_std=False)",
        ),
    ),
}
VENN_ABERS_APPLY = f"""{READ}
import pyarrow as pa
from venn_abers import VennAbers
fitted = VennAbers()
fitted.fit(np.column_stack([1 - f, f]), y)
table = pq.read_table(sys.argv[2])
test = table["score"].to_numpy()
point, ends = fitted.predict_proba(np.column_stack([1 - test, test]))
for name, column in (("", point[:, 1]), ("_lower", ends[:, 0]), ("_upper", ends[:, 1])):
    table = table.append_column("calibrated" + name, pa.array(column))
pq.write_table(table, sys.argv[3], compression="snappy")
"""
OURS_APPLY = """
import subprocess, sys
cal, test, out, artifact = sys.argv[1:]
run = [sys.executable, "-m", "calibcli"]
fit = [*run, "fit", cal, "-s", "score", "-y", "label", "-m", "venn-abers", "-o", artifact, "--force"]
subprocess.run(fit, check=True)
subprocess.run([*run, "apply", artifact, test, "-s", "score", "-o", out, "--force"], check=True)
"""


@dataclass(frozen=True)
class Race:
    """Processes that do the same work.

    Args:
        title: What is done.

        rows: To how many rows.

        commands: By name; calibcli's is first.

        absent: Peers that are not there, and why.
    """

    title: str
    rows: int
    commands: dict[str, list[str]]
    absent: dict[str, str]


@dataclass(frozen=True)
class Rules:
    """How often processes run.

    Args:
        rounds: Times each, in turn with the others of its race.

        patience: Seconds until one is stopped.

        once: A process that took this many seconds is not run again.
    """

    rounds: int
    patience: float
    once: float


class Track:
    """Runs races and remembers who was stopped.

    Args:
        rules: How often processes run.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.stopped: dict[tuple[str, str], str] = {}

    def run(self, race: Race) -> dict[str, list[float]]:
        """Return the wall seconds of every process, interleaved; none of those that were stopped."""
        wall: dict[str, list[float]] = {name: [] for name in race.commands}
        for _ in range(self.rules.rounds):
            for name, command in race.commands.items():
                slow = bool(wall[name]) and max(wall[name]) > self.rules.once
                if slow or (race.title, name) in self.stopped:
                    continue
                try:
                    wall[name].append(seconds(command, self.rules.patience))
                except subprocess.TimeoutExpired:
                    why = f"stopped after {self.rules.patience:g} s at {race.rows:,} rows"
                    self.stopped[race.title, name] = why
                except subprocess.CalledProcessError as problem:
                    last = problem.stderr.decode().strip().splitlines()[-1:]
                    self.stopped[race.title, name] = f"failed at {race.rows:,} rows: {' '.join(last)[:120]}"
        return wall


def seconds(command: Sequence[str], patience: float) -> float:
    """Return how long a process took.

    Raises:
        TimeoutExpired: If that is longer than allowed; it was killed.

        CalledProcessError: If it failed.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=patience, env=environment)
    return time.perf_counter() - began


def missing(peers: str, module: str) -> str | None:
    """Return why a module cannot be used by the Python of the peers, or None."""
    command = [peers, "-c", f"import {module}, pyarrow"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    return tried.stderr.strip().splitlines()[-1] if tried.returncode else None


def races(folder: Path, asked: argparse.Namespace) -> Iterator[Race]:
    """Yield one race for each number of rows and method, and that of Venn-Abers to the end."""
    why = {peer.needs: missing(asked.peers, peer.needs) for group in PEERS.values() for peer in group}
    for rows in sorted(asked.rows):
        data = str(folder / f"{rows}.parquet")
        yield Race("only reading", rows, {"pyarrow": [asked.peers, "-c", READ, data]}, {})
        for method, group in PEERS.items():
            ours = [*CALIBCLI, "fit", data, "-s", "score", "-y", "label", "-m", method.value]
            commands = {"calibcli": [*ours, "-o", str(folder / "fitted.json"), "--force"]}
            there = [peer for peer in group if why[peer.needs] is None]
            commands |= {peer.name: [asked.peers, "-c", READ + peer.code, data] for peer in there}
            absent = {peer.name: why[peer.needs] or "" for peer in group if peer not in there}
            yield Race(method.value, rows, commands, absent)
    if not asked.without_apply:
        yield venn_abers_race(folder, asked.peers, why["venn_abers"])


def venn_abers_race(folder: Path, peers: str, why: str | None) -> Race:
    """Return the race of Venn-Abers from the rows to the written probabilities."""
    files = [
        str(folder / name) for name in (f"{FIT_ROWS}.parquet", f"{APPLY_ROWS}.parquet", "applied.parquet")
    ]
    commands = {"calibcli": [sys.executable, "-c", OURS_APPLY, *files, str(folder / "applied.json")]}
    if why is None:
        commands["venn-abers VennAbers"] = [peers, "-c", VENN_ABERS_APPLY, *files]
    title = f"venn-abers, fit to {FIT_ROWS:,} rows and apply"
    return Race(title, APPLY_ROWS, commands, {} if why is None else {"venn-abers VennAbers": why})


def row_of(race: Race, wall: Mapping[str, Sequence[float]], stopped: Mapping[tuple[str, str], str]) -> str:
    """Return a race as a row of the Markdown table."""
    middle = {name: statistics.median(times) for name, times in wall.items() if times}
    ours = middle.pop("calibcli", None)
    peers = sorted(middle, key=lambda name: middle[name])
    others = [f"{name} {middle[name]:.2f}" for name in peers[1:]]
    others += [
        f"{name}: {stopped[race.title, name]}" for name in race.commands if (race.title, name) in stopped
    ]
    fastest = peers[0] if peers else "none measured" if race.absent or others else "none known"
    cells = [race.title, f"{race.rows:,}", "" if ours is None else f"{ours:.2f}", fastest]
    cells += [f"{middle[fastest]:.2f}" if peers else ""]
    cells += [f"{middle[fastest] / ours:.1f}" if peers and ours is not None else "", "; ".join(others)]
    return f"| {' | '.join(cells)} |"


def versions(peers: str, packages: Sequence[str] = PACKAGES) -> str:
    """Return the versions of the packages that are compared with."""
    code = (
        "import importlib.metadata as m, sys\n"
        "known = {d.metadata['Name'].lower(): d.version for d in m.distributions()}\n"
        "print(', '.join(f'{n} {known[n]}' for n in sys.argv[1:] if n in known))"
    )
    ran = subprocess.run([peers, "-c", code, *packages], capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def compete(folder: Path, asked: argparse.Namespace) -> str:
    """Run every race and return the page."""
    for rows in {*asked.rows, *(() if asked.without_apply else (FIT_ROWS, APPLY_ROWS))}:
        make_scores(folder / f"{rows}.parquet", rows, 2)
    track = Track(Rules(asked.rounds, asked.patience, asked.once))
    head = ("fit", "rows", "calibcli s", "fastest peer", "its s", "ratio", "other peers, s")
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    absent: dict[str, str] = {}
    for race in races(folder, asked):
        lines.append(row_of(race, track.run(race), track.stopped))
        absent |= race.absent
        print(lines[-1], file=sys.stderr, flush=True)
    told = [f"{machine()}; {versions(asked.peers)}.", f"Median of {asked.rounds} interleaved rounds."]
    told += [f"What took over {asked.once:g} s ran once; after {asked.patience:g} s it was stopped.", ""]
    if absent:
        lines += ["", "Not measured:", "", *(f"- {name}: {why}" for name, why in absent.items())]
    return "\n".join([*told, *lines]) + "\n"


def main() -> None:
    """Run everything and print the table."""
    parser = argparse.ArgumentParser(description="Time fits against other packages.")
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--patience", type=float, default=300.0, metavar="SECONDS")
    parser.add_argument("--once", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON", help="has the other packages")
    parser.add_argument("--without-apply", action="store_true", help="leave out venn-abers to the end")
    parser.add_argument("--write", action="store_true", help="store the table in benchmarks/FITS.md")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="calibcli-fits-"))
    try:
        text = compete(folder, asked)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(text)
    if asked.write:
        (HERE / "FITS.md").write_text(HEAD + text, encoding="utf-8")


HEAD = """# Fit times

Made by `python benchmarks/fits.py --write --peers PYTHON`, PYTHON being one that has the packages compared
with. Whole processes from start to end, in seconds; data as in
`processes.py`. The ratio is the fastest peer's time
over calibcli's: above 1, calibcli is faster.

The two sides are not quite alike. calibcli checks what it reads, digests the rows and writes an artifact; it
reads on two threads, and beyond a million distinct scores it fits on a grid of them, 1.4e-6 apart at most:
with a second pass over the rows where that makes the fit exact; venn-abers and smooth take a cell for one
score. Peers spend a second or more on importing themselves, which at 100,000 rows is most of their time, and
hold all rows in memory. "only reading" is what reading costs a peer. Peers of quadratic, spline and smooth
fit the like, not the same.

"""


if __name__ == "__main__":
    main()
