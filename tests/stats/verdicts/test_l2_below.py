"""The gate on the l2 error: its bounds against exact binomial probabilities, and the rows promised."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import binom

from calibcli.names import MeasureName, Target, VerdictName
from calibcli.stats.gates import plan as planning
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.l2 import l2_below, linf_below
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from stats.verdicts.boundary import CASES, by_statistic, count_verdicts
from stats.verdicts.boundary import rule as rule_on

GROUND = Ground(ATOMS)
rule = partial(rule_on, MeasureName.L2)


def one_score(rows: int, positive: int) -> ScoreTable:
    """Rows that all have the score 0.3."""
    return ScoreTable(np.array([0.3]), np.array([rows]), np.array([positive]))


def test_single_score_is_wrong_as_seldom_as_the_binomial_says() -> None:
    """For each rate at the limit the probability of the counts that pass, and that fail, is at most delta."""
    rows, limit = 1000, 0.08
    ground = Ground(ATOMS, rows_wanted=False)

    def last(outcome: VerdictName, inside: int, outside: int) -> int:
        """The last count with an outcome on the way from one that has it to one that does not."""
        while abs(outside - inside) > 1:
            middle = (inside + outside) // 2
            found = l2_below(one_score(rows, middle), rule(limit), ground=ground).outcome
            inside, outside = (middle, outside) if found is outcome else (inside, middle)
        return inside

    low, high = last(VerdictName.PASS, 300, 200), last(VerdictName.PASS, 300, 400)
    below, above = last(VerdictName.FAIL, 100, 300), last(VerdictName.FAIL, 500, 300)
    for rate in (0.3 - limit, 0.3 + limit):
        passed = binom.cdf(high, rows, rate) - binom.cdf(low - 1, rows, rate)
        failed = binom.cdf(below, rows, rate) + binom.sf(above - 1, rows, rate)
        assert 0.001 < passed <= 0.05
        assert 1e-4 < failed <= 0.05


def test_bounds_are_of_these_scores_and_say_how_they_were_found() -> None:
    """Chernoff on both sides for few values, for one look; the estimate lies between the bounds."""
    table = ScoreTable(np.array([0.2, 0.6]), np.array([900, 700]), np.array([260, 420]))
    verdict = l2_below(table, rule(0.02), ground=GROUND)
    assert (verdict.method, verdict.target) == ("Chernoff", Target.FIXED_DESIGN)
    assert not verdict.any_time
    assert verdict.finite_sample
    assert verdict.lower < verdict.value < verdict.upper
    assert verdict.outcome is VerdictName.FAIL


def test_pass_says_what_it_does_not_speak_of() -> None:
    """Values that no row has may err by more, and the verdict says how many rows may have them."""
    table = ScoreTable(np.array([0.2, 0.6]), np.array([900, 700]), np.array([180, 420]))
    passed = l2_below(table, rule(0.2), ground=GROUND)
    assert passed.outcome is VerdictName.PASS
    assert passed.unseen_share is not None
    assert 0.001 < passed.unseen_share < 0.01
    assert passed.reason is not None
    assert "the 2 values of the score seen here" in passed.reason
    known = l2_below(table, rule(0.2), ground=replace(GROUND, outputs=(0.2, 0.6)))
    assert (known.outcome, known.unseen_share, known.reason) == (VerdictName.PASS, None, None)


def test_many_values_and_single_rows_fall_back_on_hoeffding() -> None:
    """Where Chernoff is too dear or has no pair of rows, the bound is the plug-in plus Hoeffding's margin."""
    score = (np.arange(120) + 0.5) / 120
    rows = np.full(120, 50)
    positive = np.rint(rows * score).astype(int)
    many = l2_below(ScoreTable(score, rows, positive), rule(0.5), ground=GROUND)
    gap = positive / 50 - score
    assert many.upper == pytest.approx(math.sqrt((gap**2).mean()) + math.sqrt(math.log(20) / 12_000))
    assert many.method == "upper: Hoeffding; lower: that of the ECE"
    assert many.outcome is VerdictName.PASS
    alone = l2_below(
        ScoreTable(score, np.ones(120, int), np.arange(120) % 2),
        rule(0.3),
        ground=Ground(ATOMS, least_rows=1),
    )
    assert math.isnan(alone.value)
    assert alone.upper > 0.5
    assert alone.outcome is VerdictName.INCONCLUSIVE


def test_promises_follow_the_formula() -> None:
    """With alike scores the limit of many rows has one bet, and rows go as one over the squared limit."""
    table = ScoreTable(np.array([0.3, 0.7]), np.full(2, 500_000), np.array([150_000, 350_000]))
    v, bets = 0.21, np.geomspace(0.04, 1.5 / 0.21, 400)
    # Half of the statistics of two values are below v (2 ln 2 - 2).
    cost = [math.log(20) + 2 * math.log(2) * l * v - math.log1p(2 * l * v) for l in bets]
    energy = min((1 + 2 * l * v) / l * one for l, one in zip(bets, cost, strict=True))
    population = planning.population_like(table, bins=ATOMS, measure=MeasureName.L2)
    for limit in (0.01, 0.05):
        rows = planning.as_likely_as_not(rule(limit), GROUND, population)
        assert rows == pytest.approx(energy / limit**2, rel=0.15)
    off = planning.shifted(population, MeasureName.L2, 0.5 * limit, low=True)
    assert planning.as_likely_as_not(rule(limit), GROUND, off) > 1.2 * rows


def test_single_score_is_judged_by_its_rate() -> None:
    """One score has one error: the verdict is that on the largest error of a value, rows at best included."""
    for positive in (24, 31, 60):
        table = one_score(100, positive)
        found = l2_below(table, rule(0.12), ground=GROUND)
        other = linf_below(table, replace(rule(0.12), subject=MeasureName.LINF), ground=GROUND)
        assert found.method == "Clopper-Pearson"
        assert (found.lower, found.upper) == (other.lower, other.upper)
        assert (found.needed is None) == (other.needed is None)
        if found.needed is not None:
            assert found.needed.at_best == pytest.approx(other.needed.at_best, rel=0.1)


def test_rare_scores_pass_with_few_rows() -> None:
    """A score of .02 is shown to be within .01 with 2,800 rows.

    No test can do with fewer than 2,332 rows nine times in ten; a bound that takes v (1 - v) to be 1/4 asks
    for 21,600.
    """
    ground, x = Ground(ATOMS, rows_wanted=False), np.arange(40, 73)
    alone = [ScoreTable(np.array([0.02]), np.array([2800]), np.array([one])) for one in x]
    passed = [l2_below(one, rule(0.01), ground=ground).outcome is VerdictName.PASS for one in alone]
    assert float(binom.pmf(x, 2800, 0.02) @ np.array(passed)) >= 0.9


@pytest.mark.slow
def test_several_rare_scores_pass_with_few_rows() -> None:
    """Five of .01 to .05 with 14,000 rows, which a bound that takes v (1 - v) to be 1/4 never passes."""
    rng, ground = np.random.default_rng(0), Ground(ATOMS, rows_wanted=False)
    five, rows = np.array([0.01, 0.02, 0.03, 0.04, 0.05]), np.full(5, 2800)
    tables = [ScoreTable(five, rows, rng.binomial(rows, five)) for _ in range(400)]
    assert by_statistic(tables, rule(0.01), ground)[VerdictName.PASS] >= 0.9 * 400


def test_promised_rows_decide() -> None:
    """With the rows promised about half of the calibrated tables pass, and half of the wrong ones fail."""
    rng, case = np.random.default_rng(0), CASES["l2, 2 atoms"]

    def share(rows: int, error: float, wanted: VerdictName) -> float:
        found = count_verdicts(case, limit=0.03, error=error, rows=rows, repetitions=25, generator=rng)
        return found[wanted] / 25

    few = ScoreTable(np.array([0.25, 0.75]), np.array([150, 150]), np.array([38, 112]))
    best = l2_below(few, rule(0.03), ground=GROUND).needed.at_best
    assert 0.4 <= share(best, 0.0, VerdictName.PASS) <= 0.8
    assert share(best // 3, 0.0, VerdictName.PASS) <= 0.2
    population = planning.population_like(few, bins=ATOMS, measure=MeasureName.L2)
    off = planning.shifted(population, MeasureName.L2, 0.05, low=True)
    failing = planning.as_likely_as_not(rule(0.03), GROUND, off, wanted=VerdictName.FAIL)
    assert share(failing, 0.05, VerdictName.FAIL) == pytest.approx(0.5, abs=0.25)
