"""Weights that make up for patients who were lost depend on the labels; the interval of bias bears it."""

from itertools import product

import numpy as np
from scipy.special import expit

from calibcli.stats.measures.bias import bias
from calibcli.stats.table import ScoreTable, Weighing
from claims.simulation import generator_of, most_misses, short_and_full


def outside(score: np.ndarray, label: np.ndarray, weight: np.ndarray) -> bool:
    interval = bias(ScoreTable.from_rows(score, label, Weighing(weight=weight))).interval
    assert interval is not None
    return not interval.ends[0] <= 0.0 <= interval.ends[1]


@short_and_full(
    "rows center lost latest times",
    [(300, -2.0, 0.5, 1.0, 40), (300, 2.5, 0.92, 0.05, 40)],
    product((300, 1_000, 5_000), (-3.5, -2.0, 0.0, 2.5), (0.25, 0.5, 0.8, 0.92), (1.0, 0.05), (400,)),
)
def test_inverse_probabilities_of_censoring_leave_bias_its_interval(
    rows: int, center: float, lost: float, latest: float, times: int
) -> None:
    """Of calibrated risks of an event within a year: each of these weighs 1 / P(not lost until then), and
    whoever was followed for the year 1 / P(not lost within it); `lost` is the share of those without an event
    that is lost.
    """
    rng, hazard = generator_of("censoring", rows, center, lost, latest), -np.log1p(-lost)
    found: list[bool] = []
    while len(found) < times:
        score = expit(rng.normal(center, 1.0, rows))
        label = rng.random(rows) < score
        until = np.where(label, rng.uniform(0.0, latest, rows), 1.0)
        known = rng.exponential(1.0 / hazard, rows) >= until
        # Without anybody who was followed for the year, no weight makes up for those who were lost.
        if 0 < label[known].sum() < known.sum():
            found.append(outside(score[known], label[known], np.exp(hazard * until[known])))
    assert sum(found) <= most_misses(times, 0.05)


def test_weights_of_rows_drawn_by_their_labels_are_made_up_for_by_another_base_rate() -> None:
    """Odds times the ratio of the chances to be drawn are the odds of a drawn row: no weight is needed."""
    rng, missed, times, kept = generator_of("drawn by labels"), 0, 200, 0.05
    for _ in range(times):
        score = expit(rng.normal(-4.0, 1.5, 20_000))
        label = rng.random(score.size) < score
        drawn = label | (rng.random(score.size) < kept)
        moved = score[drawn] / (score[drawn] + (1.0 - score[drawn]) * kept)
        interval = bias(ScoreTable.from_rows(moved, label[drawn])).interval
        assert interval is not None
        assert interval.ends[1] - interval.ends[0] < 0.1
        missed += not interval.ends[0] <= 0.0 <= interval.ends[1]
    assert missed <= most_misses(times, 0.05)
