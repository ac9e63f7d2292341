"""The smECE of labels drawn from few rows, against values that can be worked out."""

import math

import numpy as np

from calibcli.stats.measures.if_calibrated import expected_smece
from calibcli.stats.table.score_table import ScoreTable


def test_one_score_has_the_mean_distance_of_a_binomial() -> None:
    """Smoothing does not change the norm of a single residual; a draw's standard error is 4 %."""
    rows, middle = 16, 8
    exact = sum(math.comb(rows, k) * abs(k - middle) for k in range(rows + 1)) / 2**rows / rows
    table = ScoreTable(np.array([0.5]), np.array([rows]), np.array([0]))
    found = [expected_smece(table, generator=np.random.default_rng(seed))[0] for seed in range(20)]
    error = np.array(found) / exact - 1
    assert abs(error.mean()) < 0.025
    assert np.sqrt(np.mean(error**2)) < 0.055


def test_just_below_and_above_20_events_agree() -> None:
    """Draws and formula meet within their 2 and 3 %, for rare events at a narrow bandwidth."""
    score = np.linspace(1e-5, 4e-3, 1_000)
    below, above = (
        expected_smece(
            ScoreTable(score, np.full(1_000, rows), np.zeros(1_000, np.int64)),
            generator=np.random.default_rng(1),
        )[0]
        for rows in (9, 11)
    )
    # Both fall as (events)^(1/3) / rows^(2/3), that is as rows^(-1/3).
    assert abs(below / above * (9 / 11) ** (1 / 3) - 1) < 0.05
