"""Our intervals and other packages' bootstrap for the same rows, each against its own truth."""

import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from calibcli.measures.binned_ece import binned_ece
from calibcli.measures.l2 import debiased_l2
from calibcli.measures.smooth_ece import smooth_ece
from calibcli.names import Binning
from calibcli.table.bins import ATOMS, binned, bins_of
from calibcli.table.score_table import ScoreTable
from claims.over_bins import errors_over, true_sums
from claims.simulation import (
    FINE,
    SCENARIOS,
    Cell,
    Tally,
    generator_of,
    population_truth,
    smooth_truth,
    theorem_12_4_width,
    usual_bins,
)

WORKER = Path(__file__).with_name("peer_bootstrap.py")
Floats = np.ndarray
OURS = ("calibcli ece", "calibcli l2", "calibcli smece")


@dataclass(slots=True)
class Beside:
    """
    What one cell gave.

    Args:
        tallies: By nominal confidence, then by name.

        versions: The packages that answered.
    """

    tallies: dict[float, dict[str, Tally]] = field(default_factory=dict)
    versions: tuple[str, ...] = ()


@cache
def fine_table(scenario: str) -> tuple[ScoreTable, Floats]:
    """Return the population as a table of 200,000 quantiles, with their label probabilities."""
    world = SCENARIOS[scenario]
    table = ScoreTable.from_rows(world.quantile(FINE), np.zeros(FINE.size, bool))
    return table, world.truth(table.score)


@cache
def error_in_population(scenario: str, binning: Binning, count: int) -> dict[str, float]:
    """Return the errors of the population over bins: of atoms the error itself."""
    table, truth = fine_table(scenario)
    bins = ATOMS if binning is Binning.ATOMS else bins_of(binning, count, table=table)
    return errors_over(true_sums(binned(table, bins), table, truth))


def truth_of(name: str, scenario: str, score: Floats) -> float:
    """Return what an interval of another package is about, over that package's own partition."""
    package, statistic, _ = name.split("|")
    if package == "relplot":
        return population_truth(scenario)["smece upper"]
    if package == "calzone":
        binning = Binning.EQUAL_WIDTH if statistic == "ECE-H" else Binning.EQUAL_MASS
        return error_in_population(scenario, binning, 10)["ece"]
    # uncertainty-calibration takes each value by itself where values are fewer than a quarter of the rows.
    by_value = np.unique(score).size < score.size / 4.0
    errors = error_in_population(scenario, Binning.ATOMS if by_value else Binning.EQUAL_MASS, 15)
    return errors["ece" if statistic.startswith("ECE") else "l2"]


def ours(cell: Cell, table: ScoreTable, truth: Floats) -> None:
    """Count our intervals for one set of rows, each at these scores, and the width of Theorem 12.4."""
    bins = usual_bins(table)
    known = errors_over(true_sums(binned(table, bins), table, truth))
    found = binned_ece(table, bins=bins, confidence=cell.confidence)
    plain = theorem_12_4_width(table, bins, value=found.value, confidence=cell.confidence)
    low, high = found.interval.lower, found.interval.upper
    cell.add(OURS[0], lower=low, upper=high, truth=known["ece"], plain=plain)
    l2 = debiased_l2(table, bins=bins, confidence=cell.confidence).interval
    cell.add_interval(OURS[1], l2, truth=known["of_pairs"] ** 0.5)


def beside(
    scenario: str, rows: int, *, repetitions: int, few: int, peers: Path, confidences: tuple[float, ...]
) -> Beside:
    """
    Draw rows anew `repetitions` times and count every interval for them.

    Args:
        scenario: How scores fall and what they are worth.

        rows: How many.

        repetitions: How often.

        few: In how many of them smECE is bounded, and relplot is asked.

        peers: A Python that has the other packages.

        confidences: Nominal ones.
    """
    rng, world = generator_of("peers", scenario, rows), SCENARIOS[scenario]
    score = world.quantile(rng.random((repetitions, rows)))
    label = rng.random((repetitions, rows)) < world.truth(score)
    cells = {confidence: Cell(confidence) for confidence in confidences}
    for index in range(repetitions):
        table = ScoreTable.from_rows(score[index], label[index])
        truth = world.truth(table.score)
        at_these = smooth_truth(table.score, table.rows * (truth - table.score) / rows)
        in_all = population_truth(scenario)["smece upper"]
        for confidence, cell in cells.items():
            ours(cell, table, truth)
            if index < few:
                interval = smooth_ece(table, confidence=confidence).interval
                # The lower end speaks of these scores, the upper one of the population.
                decisive = at_these if interval.lower > at_these + 1e-6 else in_all
                cell.add_interval(OURS[2], interval, truth=decisive)
    found = ask(peers, score, label, few=few)
    versions = tuple(str(word) for word in found.pop("versions"))
    for name, ends in found.items():
        cell = cells.get(float(name.rsplit("|", 1)[1]) / 100.0)
        if cell is not None:
            for index, (low, high) in enumerate(ends):
                truth = truth_of(name, scenario, score[index])
                cell.add(name.rsplit("|", 1)[0].replace("|", " "), lower=low, upper=high, truth=truth)
    return Beside({confidence: cell.tallies for confidence, cell in cells.items()}, versions)


def ask(peers: Path, score: Floats, label: Floats, *, few: int) -> dict[str, Floats]:
    """Return the intervals of the other packages."""
    with tempfile.TemporaryDirectory() as folder:
        given, answer = Path(folder) / "rows.npz", Path(folder) / "intervals.npz"
        np.savez(given, score=score, label=label.astype(np.int64), few=few)
        subprocess.run([peers, WORKER, given, answer], check=True, capture_output=True)
        with np.load(answer) as archive:
            return dict(archive)
