"""The indices of a smooth curve: how often their intervals hold, where the curve has a limit."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, logit

from calibcli.names import MeasureName
from calibcli.stats.measures.if_calibrated import Shared
from calibcli.stats.measures.smooth import calibration_index
from calibcli.stats.table.score_table import ScoreTable
from claims.simulation import generator_of, most_misses

M = MeasureName
Floats = np.ndarray
NAMES = (M.ICI, M.E50, M.E90, M.EMAX)
SCORES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "usual": lambda rng, rows: rng.beta(1.2, 2.0, rows),
    "rare": lambda rng, rows: np.maximum(rng.beta(1.0, 60.0, rows), 1e-6),
    "tied": lambda rng, rows: rng.choice([0.05, 0.1, 0.2, 0.35, 0.5, 0.7], rows),
}
RATES: dict[str, Callable[[Floats], Floats]] = {
    "calibrated": lambda f: f,
    "a little overconfident": lambda f: expit(0.9 * logit(f)),
    "overconfident": lambda f: expit(0.7 * logit(f)),
    "too low": lambda f: expit(logit(f) + 0.4),
    "a wave": lambda f: np.clip(f + 0.08 * np.sin(6 * np.pi * f) * 4 * f * (1 - f), 0, 1),
}
# 100 rows of rare events hold one or two.
ROWS = (300, 1_000, 5_000)
FEW = [("usual", "overconfident", 300), ("tied", "calibrated", 300)]
# Where intervals begin: some tables have none.
LEAST = [("usual", 30), ("usual", 40), ("rare", 200)]
# Below this an end on the wrong side of the truth is a matter of the places that are looked at.
SLACK = 1e-4


def values_of(table: ScoreTable) -> list[tuple[float, float, float]]:
    """Return value and ends of each index; without an interval the widest, which is never wrong."""
    shared = Shared()
    found = [calibration_index(table, name=name, shared=shared) for name in NAMES]
    return [(one.value, *(one.interval.ends if one.interval else (0.0, 1.0))) for one in found]


def misses(scores: str, rates: str, rows: int, *, repetitions: int) -> Floats:
    """Count how often the lower end lies above the limit of the index, and the upper below, shape (4, 2)."""
    rng = generator_of("curve", scores, rates, rows)
    draw, rate = SCORES[scores], RATES[rates]
    many = draw(rng, 20_000)
    counts = np.rint(10_000 * rate(many)).astype(np.int64)
    both = np.column_stack((10_000 - counts, counts)).ravel()
    limit = ScoreTable.from_rows(np.repeat(many, 2), np.tile([False, True], many.size), counts=both)
    truth = np.array([value for value, _, _ in values_of(limit)])
    found = np.zeros((4, 2), np.int64)
    for _ in range(repetitions):
        score = draw(rng, rows)
        ends = np.array(values_of(ScoreTable.from_rows(score, rng.random(rows) < rate(score))))
        found += np.column_stack((ends[:, 1] > truth + SLACK, ends[:, 2] < truth - SLACK))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("scores", SCORES)
def test_intervals_of_the_curve_hold_as_often_as_documented(scores: str, rates: str, rows: int) -> None:
    """At 95 % they are wrong at most 8 % of the time in any of the worlds."""
    assert misses(scores, rates, rows, repetitions=100).sum(axis=1).max() <= most_misses(100, 0.08)


@pytest.mark.untraced
@pytest.mark.parametrize(("scores", "rates", "rows"), FEW)
def test_intervals_of_the_curve_hold_in_short(scores: str, rates: str, rows: int) -> None:
    """The same in two worlds."""
    assert misses(scores, rates, rows, repetitions=10).sum(axis=1).max() <= most_misses(10, 0.08)


@pytest.mark.slow
@pytest.mark.parametrize(("scores", "rows"), LEAST)
def test_intervals_of_few_rows_seldom_call_calibrated_scores_wrong(scores: str, rows: int) -> None:
    """Of tables that have an interval it is above 0 in about one in ten at most, at 95 %."""
    rng, wrong, intervals = generator_of("few", scores, rows), np.zeros(4, np.int64), 0
    for _ in range(200):
        score = SCORES[scores](rng, rows)
        table = ScoreTable.from_rows(score, rng.random(rows) < score)
        found = [calibration_index(table, name=name) for name in NAMES]
        if found[0].interval is not None:
            intervals += 1
            wrong += [one.interval.ends[0] > SLACK for one in found]
    assert intervals > 30
    assert wrong.max() <= most_misses(intervals, 0.1)
