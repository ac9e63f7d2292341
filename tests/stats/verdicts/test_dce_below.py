"""The gate on the distance to calibration: its bets checked row by row, and the rows promised."""

import math
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest

from calibcli.names import MeasureName, Target, VerdictName
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.ece import DceGrowth, dce_below
from calibcli.stats.gates.plan import Gate, is_given
from calibcli.stats.measures.distance import dictionary, distance, number_of_bins
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from stats.verdicts.boundary import rule as rule_on

GROUND = Ground(ATOMS, rows_wanted=False)
rule = partial(rule_on, MeasureName.DCE)


def rows_of(seed: int, rows: int, error: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels whose rates are off by an error."""
    rng = np.random.default_rng(seed)
    score = 0.8 * rng.random(rows)
    return score, rng.random(rows) < score + error


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_upper_bound_is_where_the_bets_reach_their_level(confidence: float) -> None:
    """Row by row, the mixture of bets against "at least the bound" has just grown to 1 / delta."""
    score, label = rows_of(1, 700)
    verdict = dce_below(
        ScoreTable.from_rows(score, label), rule(0.05), ground=replace(GROUND, confidence=confidence)
    )
    delta, count = 1 - confidence, number_of_bins(700)
    finer = count * math.ceil(256 / count)
    total = []
    guesses, parts = (1 / 4, 1 / 16, 1 / 64, 1 / 256), (1 / 2, 1 / 4, 1 / 8, 1 / 8)
    middles = ((np.ceil(score * count) - 0.5) / count, (np.floor(score * finer) + 0.5) / finer, score)
    for (guess, part), (middle, share) in product(
        zip(guesses, parts, strict=True), zip(middles, (3 / 4, 1 / 8, 1 / 8), strict=True)
    ):
        size = min(0.9, math.sqrt(2 * math.log(1 / delta) / 700 / guess))
        grown = 0.0
        for one in np.unique(middle):
            at = middle == one
            moved = np.abs(score[at] - one)
            gains = [
                np.log1p(-size * (sign * (label[at] - one) + moved - verdict.upper)).sum() for sign in (1, -1)
            ]
            grown += min(gains)
        total.append(part * share * math.exp(grown))
    assert math.log(sum(total)) == pytest.approx(math.log(1 / delta), abs=1e-4)
    assert verdict.target is Target.POPULATION


def test_lower_bound_is_that_of_the_dictionary() -> None:
    """At delta / claims the larger of the bounds of |E r| and |E r (2f - 1)| / 3."""
    table = ScoreTable.from_rows(*rows_of(2, 3000, 0.15))
    for claims in (1, 8):
        level, tilt = dictionary(table, delta=0.05 / claims)
        verdict = dce_below(table, rule(0.05), ground=replace(GROUND, claims=claims))
        assert verdict.lower == pytest.approx(max(level, tilt / 3), rel=1e-9)
        assert verdict.value == pytest.approx(distance(table).value)
        assert verdict.outcome is VerdictName.FAIL


def test_shift_of_every_score_passes_above_it_and_fails_below() -> None:
    """A shift of 0.1 is a distance of 0.1 in every form: limits away from it are decided both ways."""
    table = ScoreTable.from_rows(*rows_of(3, 20_000, 0.1))
    assert dce_below(table, rule(0.14), ground=GROUND).outcome is VerdictName.PASS
    assert dce_below(table, rule(0.08), ground=GROUND).outcome is VerdictName.FAIL


def test_error_that_cancels_promises_no_rows_for_a_fail() -> None:
    """Where scores err both ways alike, neither lower bound sees it, and no fail is promised."""
    score = np.array([0.3, 0.7])
    table = ScoreTable(score, np.full(2, 4000), np.array([2000, 2000]))
    needed = dce_below(table, rule(0.08), ground=Ground(ATOMS)).needed
    assert needed is not None
    assert (needed.to_pass, needed.to_fail, needed.within_noise) == (None, None, False)
    tilted = ScoreTable.from_rows(*rows_of(5, 1000, 0.15))
    to_fail = DceGrowth(tilted).rows_to_fail(0.11, delta=0.05 / 1000)
    assert to_fail is not None
    assert to_fail > 1000


def test_rows_promised_for_a_fail_decide() -> None:
    """About half of tables with the mean error seen fail: its noise is added as squares are.

    Taken off as it is, it made the rows several times as many.
    """
    score, label = rows_of(3, 150, 0.15)
    needed = DceGrowth(ScoreTable.from_rows(score, label)).rows_to_fail(0.04, delta=0.05)
    assert needed is not None
    error = float((label - score).mean())
    tables = [ScoreTable.from_rows(*rows_of(seed, needed, error)) for seed in range(100, 125)]
    gate = Gate(rule(0.04), GROUND, VerdictName.FAIL)
    assert 0.2 <= np.mean([is_given(gate, one) for one in tables]) <= 0.9
