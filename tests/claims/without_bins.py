"""
Simulations of the bounds of distances to calibration and of SmoothECE on bent scales.

An interval speaks of several quantities at once: its lower end must not exceed the least of them, its upper
end not fall below the largest. `PYTHONPATH=tests python tests/claims/without_bins.py` prints a table.
"""

import sys
from collections.abc import Callable
from functools import cache

import numpy as np

from calibcli.measures.distance import distance
from calibcli.measures.lower_distance import CELLS, LabelledPlaces, least_move
from calibcli.measures.smooth_calibration import largest_smooth_sum, smooth_calibration_error
from calibcli.measures.smooth_ece import smooth_ece_on_logit, smooth_ece_on_probit
from calibcli.measures.smooth_scales import Axis, logit_axis, probit_axis
from calibcli.table.grid import Table
from calibcli.table.kernel import cosine_series, fixpoint
from calibcli.table.score_table import ScoreTable
from claims.simulation import FINE, SCENARIOS, Cell, Tally, generator_of

# The lower distance is printed with the interval of `dce`.
DISTANCES = ("dce", "dce_lower", "smce")
SCALES: dict[str, tuple[Callable[..., Axis], Callable[..., object]]] = {
    "smece_logit": (logit_axis, smooth_ece_on_logit),
    "smece_probit": (probit_axis, smooth_ece_on_probit),
}
MEASURES = {"dce": distance, "dce_lower": distance, "smce": smooth_calibration_error}


def law_of(scenario: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores, their shares and their rates, on 200,000 quantiles or the atoms they fall on."""
    world = SCENARIOS[scenario]
    score, counts = np.unique(world.quantile(FINE), return_counts=True)
    return score, counts / FINE.size, world.truth(score)


def table_of(score: np.ndarray) -> ScoreTable:
    """Return a table of one row at each score."""
    return ScoreTable(score, np.ones(score.size, np.int64), np.zeros(score.size, np.int64))


def least_upper_distance(score: np.ndarray, share: np.ndarray, rate: np.ndarray) -> float:
    """Return the upper distance of a law on few scores: the best of all ways to pool them."""
    count, sums = score.size, np.zeros((2, 1 << score.size))
    for index in range(count):
        block = np.arange(1 << count) >> index & 1 == 1
        sums[0, block] += share[index]
        sums[1, block] += share[index] * rate[index]
    members = np.arange(1 << count)[:, None] >> np.arange(count) & 1
    level = sums[1] / np.maximum(sums[0], 1e-300)
    cost = (members * share * np.abs(level[:, None] - score)).sum(axis=1)
    best = np.zeros(1 << count)
    for whole in range(1, 1 << count):
        lowest = whole & -whole
        part, found = whole, np.inf
        while part:
            if part & lowest:
                found = min(found, cost[part] + best[whole ^ part])
            part = (part - 1) & whole
        best[whole] = found
    return float(best[-1])


@cache
def distances(scenario: str) -> dict[str, tuple[float, float]]:
    """
    Return for each distance a value below the lower and one above the upper form of the population.

    For the distance to calibration: the programme on 1,008 cells less its rounding, or |E r| where that is
    more; and the best partition of few atoms, or else E|rate - score|.
    """
    score, share, rate = law_of(scenario)
    cell = np.minimum((score * CELLS).astype(int), CELLS - 1) if score.size > CELLS else np.arange(score.size)
    keys, index = np.unique(cell, return_inverse=True)
    weight = np.bincount(index, share, keys.size)
    place = np.bincount(index, share * score, keys.size) / weight
    moved = float((share * np.abs(score - place[index])).sum())
    positive = np.bincount(index, share * rate, keys.size)
    value, rounding = least_move(LabelledPlaces(place, positive, weight - positive, moved))
    low = max(value - rounding, abs(float((share * (rate - score)).sum())))
    high = float((share * np.abs(rate - score)).sum())
    if score.size <= 10:
        high = least_upper_distance(score, share, rate)
    smooth = largest_smooth_sum(score[::10] if score.size > 1e5 else score, _thinned(score, share, rate))
    return {"dce": (low, high), "dce_lower": (low, value + rounding), "smce": (smooth, smooth)}


def _thinned(score: np.ndarray, share: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Return expected residuals; of ten neighbours at a time where they are many."""
    mass = share * (rate - score)
    return mass.reshape(-1, 10).sum(axis=1) if score.size > 1e5 else mass


def smooth_truth(axis: Axis, mass: np.ndarray) -> float:
    """Return the fixpoint of expected residuals."""
    if np.abs(mass).sum() < 1e-9:
        return 0.0
    return fixpoint(cosine_series(axis.places, mass), scale=axis.length)


@cache
def scaled_truth(scenario: str, name: str) -> float:
    """Return SmoothECE of the population on a scale."""
    score, share, rate = law_of(scenario)
    return smooth_truth(SCALES[name][0](table_of(score)), share * (rate - score))


def simulate(
    scenario: str, rows: int, *, confidence: float, repetitions: int, names: tuple[str, ...]
) -> dict[str, Tally]:
    """Draw rows and count the intervals that miss, at either end and at each."""
    rng, world, cell = (
        generator_of("smooth", scenario, rows, confidence),
        SCENARIOS[scenario],
        Cell(confidence),
    )
    for _ in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        for name in names:
            low, high, below, above = _bounds_and_truth(scenario, table, name=name, confidence=confidence)
            # Where the lower end holds, the upper one decides.
            decisive = below if low > below + 1e-6 else max(above, low)
            cell.add(name, lower=low, upper=high, truth=decisive)
            cell.add_bound(f"{name} upper", high, truth=above)
            cell.add_bound(f"{name} lower", low, truth=below)
    return cell.tallies


def _bounds_and_truth(
    scenario: str, table: Table, *, name: str, confidence: float
) -> tuple[float, float, float, float]:
    """Return both bounds, and what the lower must not exceed and the upper not fall below."""
    if name in MEASURES:
        interval = MEASURES[name](table, confidence=confidence).interval
        below, above = distances(scenario)[name]
    else:
        to_axis, measure = SCALES[name]
        interval = measure(table, confidence=confidence).interval
        mass = table.weight * (SCENARIOS[scenario].truth(table.score) - table.score) / table.total_rows
        below, above = smooth_truth(to_axis(table), mass), scaled_truth(scenario, name)
    return interval.lower, interval.upper, below, above


def main(repetitions: int = 400) -> None:
    """Print a table of coverage (both ends; upper; lower) and mean width."""
    write = sys.stdout.write
    write("| interval | scenario | rows | confidence | coverage | upper | lower | width |\n")
    write("|---|---|---|---|---|---|---|---|\n")
    for scenario in SCENARIOS:
        for rows in (200, 1000, 5000):
            for confidence in (0.9, 0.95):
                tallies = simulate(
                    scenario, rows, confidence=confidence, repetitions=repetitions, names=DISTANCES
                )
                few = max(20, repetitions // 10)
                tallies |= simulate(
                    scenario, rows, confidence=confidence, repetitions=few, names=tuple(SCALES)
                )
                for name in (*DISTANCES, *SCALES):
                    both, upper, lower = (tallies[name + end] for end in ("", " upper", " lower"))
                    shares = " | ".join(f"{one.coverage:.3f}" for one in (both, upper, lower))
                    width = both.width / both.repetitions
                    write(f"| {name} | {scenario} | {rows} | {confidence} | {shares} | {width:.4f} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
