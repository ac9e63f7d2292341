"""Our intervals and other packages' bootstrap for the same rows, each against its own truth.

    python benchmarks/peers_beside.py --peers PYTHON

writes `docs/coverage_beside.md`. PYTHON has uncertainty-calibration, calzone-tool and relplot, or some.
"""

import argparse
import math
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from calibcli.names import Binning
from calibcli.stats.measures.binned import binned_ece
from calibcli.stats.measures.l2 import debiased_l2
from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, binned, bins_of

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from coverage_page import prose, table  # noqa: E402 - found by the path above

from claims.simulation import generator_of  # noqa: E402 - as above
from claims.worlds import WORLDS, Law, errors_over, smooth_truth, usual_bins  # noqa: E402 - as above

WORKER = Path(__file__).with_name("peer_bootstrap.py")
Floats = np.ndarray
ABOUT_PEERS = """
    Each interval is judged against its own truth: theirs over the package's own bins and for the
    population, ours for what it says. In brackets the mean width, not cut to [0, 1].
    uncertainty-calibration: basic bootstrap, 100 resamples; its docstring promises "1-alpha confidence
    intervals", its code divides alpha by 100, so that alpha 0.05 gives nearly the whole range of the
    resamples. Basic intervals reach below 0, where no error can be, and cover 0 by that. calzone:
    percentile bootstrap, 200 resamples (its default is 1,000). relplot: its value plus or minus its
    printed half-width, basic bootstrap, 100 resamples, at 95 % only. torchmetrics, netcal, MAPIE and
    scikit-learn print no interval of a calibration error.
"""
CONFIDENCES = (0.95, 0.9)
SCENES = ("calibrated", "mild", "strong", "discrete", "rare", "tied")
ROWS = (200, 1_000, 5_000)
PACKAGES = ("uncertainty-calibration", "calzone", "relplot")
OURS = ("calibcli ece", "calibcli l2", "calibcli smece")


@dataclass(slots=True)
class Tally:
    """How often an interval missed and how wide it was.

    Args:
        repetitions: How often it was computed.

        misses: How often it did not contain the truth.

        width: Sum of widths.

        plain_width: Sum of the widths of Theorem 12.4's interval for the same rows, for ECE only.
    """

    repetitions: int = 0
    misses: int = 0
    width: float = 0.0
    plain_width: float = 0.0

    @property
    def mean_width(self) -> float:
        """Mean width."""
        return self.width / self.repetitions

    @property
    def coverage(self) -> float:
        """Share of repetitions with the truth inside."""
        return 1.0 - self.misses / self.repetitions


@dataclass(slots=True)
class Cell:
    """Tallies of one world at one number of rows and one confidence."""

    confidence: float
    tallies: dict[str, Tally] = field(default_factory=dict)

    def add(self, name: str, *, lower: float, upper: float, truth: float, plain: float = 0.0) -> None:
        """Count one interval."""
        tally = self.tallies.setdefault(name, Tally())
        tally.repetitions += 1
        # The smoothing kernel and the bisections are good to 1e-6.
        tally.misses += not lower - 1e-6 <= truth <= upper + 1e-6
        tally.width += upper - lower
        tally.plain_width += plain


def theorem_12_4_width(table: ScoreTable, bins: Bins, *, value: float, confidence: float) -> float:
    """Return the width of the two-sided interval of Theorem 12.4, cut to [0, 1]."""
    n, count = table.total_rows, binned(table, bins).rows.size
    margin = math.sqrt(2.0 * math.log(2.0 / (1.0 - confidence)) / n)
    return min(1.0, value + margin) - max(0.0, value - math.sqrt(count / n) - margin)


@cache
def smooth_error(world: str) -> float:
    """Return the SmoothECE of the population."""
    law = Law.of(WORLDS[world])
    return smooth_truth(law.table.score, law.mass)


@dataclass(slots=True)
class GatherRequest:
    """What one cell gave.

    Args:
        tallies: By nominal confidence, then by name.

        versions: The packages that answered.
    """

    tallies: dict[float, dict[str, Tally]] = field(default_factory=dict)
    versions: tuple[str, ...] = ()


@cache
def error_in_population(scenario: str, binning: Binning, count: int) -> dict[str, float]:
    """Return the errors of the population over bins: of atoms the error itself."""
    law = Law.of(WORLDS[scenario])
    return errors_over(
        law.sums(ATOMS if binning is Binning.ATOMS else bins_of(binning, count, table=law.table))
    )


def truth_of(name: str, scenario: str, score: Floats) -> float:
    """Return what an interval of another package is about, over that package's own partition."""
    package, statistic, _ = name.split("|")
    if package == "relplot":
        return smooth_error(scenario)
    if package == "calzone":
        binning = Binning.EQUAL_WIDTH if statistic == "ECE-H" else Binning.EQUAL_MASS
        return error_in_population(scenario, binning, 10)["ece"]
    # uncertainty-calibration takes each value by itself where values are fewer than a quarter of the rows.
    by_value = np.unique(score).size < score.size / 4.0
    errors = error_in_population(scenario, Binning.ATOMS if by_value else Binning.EQUAL_MASS, 15)
    return errors["ece" if statistic.startswith("ECE") else "l2_plug_in"]


def ours(cell: Cell, table: ScoreTable, truth: Floats) -> None:
    """Count our intervals for one set of rows, each at these scores, and the width of Theorem 12.4."""
    bins = usual_bins(table)
    known = errors_over(Law(table, truth).sums(bins))
    found = binned_ece(table, bins=bins, confidence=cell.confidence)
    plain = theorem_12_4_width(table, bins, value=found.value, confidence=cell.confidence)
    low, high = found.interval.lower, found.interval.upper
    cell.add(OURS[0], lower=low, upper=high, truth=known["ece"], plain=plain)
    l2 = debiased_l2(table, bins=bins, confidence=cell.confidence).interval
    cell.add(OURS[1], lower=l2.lower, upper=l2.upper, truth=known["l2"])


def beside(
    scenario: str, rows: int, *, repetitions: int, few: int, peers: Path, confidences: tuple[float, ...]
) -> GatherRequest:
    """Draw rows anew `repetitions` times and count every interval for them.

    Args:
        scenario: How scores fall and what they are worth.

        rows: How many.

        repetitions: How often.

        few: In how many of them smECE is bounded, and relplot is asked.

        peers: A Python that has the other packages.

        confidences: Nominal ones.
    """
    rng, world = generator_of("peers", scenario, rows), WORLDS[scenario]
    score = world.quantile(rng.random((repetitions, rows)))
    label = rng.random((repetitions, rows)) < world.truth(score)
    cells = {confidence: Cell(confidence) for confidence in confidences}
    for index in range(repetitions):
        table = ScoreTable.from_rows(score[index], label[index])
        truth = world.truth(table.score)
        at_these = smooth_truth(table.score, table.rows * (truth - table.score) / rows)
        in_all = smooth_error(scenario)
        for confidence, cell in cells.items():
            ours(cell, table, truth)
            if index < few:
                interval = smooth_ece(table, confidence=confidence).interval
                # The lower end speaks of these scores, the upper one of the population.
                decisive = at_these if interval.lower > at_these + 1e-6 else in_all
                cell.add(OURS[2], lower=interval.lower, upper=interval.upper, truth=decisive)
    found = ask(peers, score, label, few=few)
    versions = tuple(str(word) for word in found.pop("versions"))
    for name, ends in found.items():
        cell = cells.get(float(name.rsplit("|", 1)[1]) / 100.0)
        if cell is not None:
            for index, (low, high) in enumerate(ends):
                truth = truth_of(name, scenario, score[index])
                cell.add(name.rsplit("|", 1)[0].replace("|", " "), lower=low, upper=high, truth=truth)
    return GatherRequest({confidence: cell.tallies for confidence, cell in cells.items()}, versions)


def ask(peers: Path, score: Floats, label: Floats, *, few: int) -> dict[str, Floats]:
    """Return the intervals of the other packages."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "rows.npz", Path(folder) / "intervals.npz"
        np.savez(given, score=score, label=label.astype(np.int64), few=few)
        subprocess.run([peers, WORKER, given, answer], check=True, capture_output=True)
        with np.load(answer) as archive:
            return dict(archive)


def peer_rows(cells: dict[str, dict[str, Tally]]) -> list[list[str]]:
    """Return a row per interval; Theorem 12.4 follows our ECE."""
    names = list(dict.fromkeys(name for one in cells.values() for name in one))
    rows = []
    for name in names:
        found = [one.get(name) for one in cells.values()]
        texts = ["" if t is None else f"{t.coverage:.2f} ({t.mean_width:.3f})" for t in found]
        rows.append([name, *texts])
        if name == OURS[0]:
            widths = [f"({one[name].plain_width / one[name].repetitions:.3f})" for one in cells.values()]
            rows.append(["Theorem 12.4, width", *widths])
    return rows


def document(found: dict[tuple[str, int], GatherRequest], *, command: str) -> str:
    """Return the page."""
    versions = max((one.versions for one in found.values()), key=len)
    absent = ", ".join(name for name in PACKAGES if name not in str(versions))
    called = f"Called: {', '.join(versions)}. {f'Absent: {absent}.' if absent else ''} {ABOUT_PEERS}"
    lines = [
        "# Intervals beside the bootstrap of other packages",
        "",
        f"Written by `{command}`; do not edit.",
        "",
    ]
    lines += prose(called)
    for confidence, rows in product(CONFIDENCES, ROWS):
        cells = {name: found[name, rows].tallies[confidence] for name in SCENES if (name, rows) in found}
        if cells:
            often = max(tally.repetitions for one in cells.values() for tally in one.values())
            lines += [f"Nominal {confidence:.0%}, {rows:,} rows, {often:,} repetitions.", ""]
            lines += table(["interval", *cells], peer_rows(cells))
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Run all cells, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--peers", type=Path, required=True, help="a Python that has the other packages")
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "coverage_beside.md")
    asked = parser.parse_args()
    few = max(5, asked.repetitions // 2)
    found = {}
    for rows, scenario in product(ROWS, SCENES):
        found[scenario, rows] = beside(
            scenario, rows, repetitions=asked.repetitions, few=few, peers=asked.peers, confidences=CONFIDENCES
        )
        print(f"{scenario}, {rows:,} rows", flush=True)
    command = f"python benchmarks/peers_beside.py --peers PYTHON --repetitions {asked.repetitions}"
    asked.output.write_text(document(found, command=command), encoding="utf-8")


if __name__ == "__main__":
    main()
