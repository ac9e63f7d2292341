"""Claims about any measure with an interval: each end is used by itself at its own confidence."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from added_row import bounds as oracle
from calibcli.errors import UsageProblem
from calibcli.names import (
    Binning,
    Bound,
    MeasureName,
    Relation,
    Target,
    VerdictName,
)
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.other_rules import interval_rule
from calibcli.stats.measures import measure_named
from calibcli.stats.measures.if_calibrated import Settings
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, binned, bins_of, equal_width_edges
from stats.verdicts.boundary import rule

M = MeasureName
FIFTEEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(15))
AT_MOST, AT_LEAST = Relation


def sample(rows: int = 800, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels that follow them."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows)
    return score, rng.random(rows) < score


TABLE = ScoreTable.from_rows(*sample())


def measured(name: MeasureName, confidence: float) -> object:
    """What `measure` gives."""
    mass = binned(TABLE, bins_of(Binning.EQUAL_MASS, 15, table=TABLE))
    shared = Settings(bins=binned(TABLE, FIFTEEN), equal_mass=mass, confidence=confidence, calibrated=None)
    return measure_named(name, TABLE, settings=shared)


@pytest.mark.parametrize("name", list(M))
def test_measures_have_an_interval_or_are_refused(name: MeasureName) -> None:
    """The list of measures without an interval is exactly those that give none, and names the way out."""
    estimate = measured(name, 0.95)
    assert (estimate.interval is None) == (not name.facts.interval)
    if not name.facts.interval:
        with pytest.raises(UsageProblem, match="no confidence interval") as caught:
            interval_rule(TABLE, rule(name, 0.5), ground=Ground(FIFTEEN))
        assert f"{name.value}.value" in str(caught.value.hint)


@pytest.mark.parametrize("name", [M.BIAS, M.ACE, M.BRIER, M.COX_SLOPE, M.SMCE, M.ECE_EQUAL_MASS])
def test_each_end_has_delta(name: MeasureName) -> None:
    """The bounds are the ends of the 90 % interval, and of the 98 % one where five claims may fail."""
    ends, strict = measured(name, 0.9).interval, measured(name, 1 - 2 * 0.05 / 5).interval
    for claims, one in ((1, ends), (5, strict)):
        verdict = interval_rule(TABLE, rule(name, 0.3), ground=Ground(FIFTEEN, claims=claims))
        assert verdict.upper == pytest.approx(ends.upper, rel=1e-9)
        assert verdict.lower == pytest.approx(one.lower, rel=1e-9)
        turned = interval_rule(TABLE, rule(name, 0.3, AT_LEAST), ground=Ground(FIFTEEN, claims=claims))
        assert turned.lower == pytest.approx(ends.lower, rel=1e-9)
        assert turned.upper == pytest.approx(one.upper, rel=1e-9)
        assert verdict.finite_sample == ends.finite_sample
        assert verdict.target is ends.target
        assert any("approximately" in text for text in verdict.assumptions) == (not ends.finite_sample)


@pytest.mark.parametrize("name", [M.BIAS, M.BRIER, M.COX_INTERCEPT, M.COX_SLOPE, M.CITL_LOGIT, M.AUROC])
def test_bounds_with_a_confidence_of_one_half_are_found(name: MeasureName) -> None:
    """They are the estimate, or about it; of Cox's line none was ever found. It has room for surprises."""
    verdict = interval_rule(TABLE, rule(name, 0.3), ground=Ground(FIFTEEN, confidence=0.5))
    assert verdict.lower == pytest.approx(verdict.value, abs=0.025)
    assert verdict.upper == pytest.approx(verdict.value, abs=0.025)


def test_brier_score_has_one_sided_bounds_by_an_added_row() -> None:
    """Each end is a quantile of the randomly weighted mean of the losses and one row of loss 1, or of 0."""
    score, label = sample()
    loss = (label - score) ** 2
    expected = oracle(loss, least=0.0, most=1.0, confidence=0.9)
    verdict = interval_rule(TABLE, rule(M.BRIER, 0.3), ground=Ground(FIFTEEN))
    assert (verdict.lower, verdict.upper) == pytest.approx(expected, abs=2e-4)
    assert verdict.outcome is VerdictName.PASS
    assert interval_rule(TABLE, rule(M.BRIER, 0.1), ground=Ground(FIFTEEN)).outcome is VerdictName.FAIL


@pytest.mark.parametrize("name", [M.BRIER_UNC, M.BRIER_UNCERTAINTY, M.LOG_LOSS_UNC])
def test_uncertainty_pays_for_both_ends_of_the_rate(name: MeasureName) -> None:
    """As r (1 - r) falls on both sides of 1/2, bounds of it rest on the two-sided 95 % interval of r."""
    table = ScoreTable(np.array([0.5]), np.array([1000]), np.array([420]))
    high = float(beta.ppf(0.975, 421, 580))
    loss = (
        -high * math.log(high) - (1 - high) * math.log(1 - high)
        if name is M.LOG_LOSS_UNC
        else high * (1 - high)
    )
    verdict = interval_rule(table, rule(name, 0.9), ground=Ground(ATOMS))
    assert verdict.upper == pytest.approx(loss, abs=1e-9)


def test_uncertainty_is_wrong_no_more_often_than_delta_at_its_worst_rate() -> None:
    """At the rate 1/2, where the interval may lie wrong on both sides, the bound misses at most 5 %."""
    rng = np.random.default_rng(1)
    ones = np.unique(rng.binomial(400, 0.5, 3000), return_counts=True)
    missed = 0
    for count, times in zip(*ones, strict=True):
        table = ScoreTable(np.array([0.5]), np.array([400]), np.array([count]))
        verdict = interval_rule(table, rule(M.BRIER_UNC, 0.2), ground=Ground(ATOMS))
        missed += int(times) * (verdict.upper < 0.25)
    assert 0 < missed <= 3000 * 0.06


def test_lower_limits_are_judged_by_the_lower_bound() -> None:
    """cox_slope >= 0.5 passes a score whose slope is 1, and >= 1.5 fails it; in between nothing is said."""
    outcomes = {
        limit: interval_rule(TABLE, rule(M.COX_SLOPE, limit, AT_LEAST), ground=Ground(FIFTEEN)).outcome
        for limit in (0.5, 1.0, 1.5)
    }
    assert outcomes == {
        0.5: VerdictName.PASS,
        1.0: VerdictName.INCONCLUSIVE,
        1.5: VerdictName.FAIL,
    }


def test_a_slope_that_rests_on_a_handful_of_labels_is_not_judged() -> None:
    """Two labels that contradict confident scores carry the noise: an interval, and no verdict."""
    score = np.array([0.001, 0.4, 0.6, 0.999])
    table = ScoreTable(score, np.array([300, 100, 100, 300]), np.array([1, 40, 60, 299]))
    for limit, relation in ((0.0, AT_LEAST), (5.0, Relation.AT_MOST)):
        verdict = interval_rule(table, rule(M.COX_SLOPE, limit, relation), ground=Ground(ATOMS))
        assert verdict.outcome is VerdictName.INCONCLUSIVE
        assert "only about 2 rows with surprising labels, fewer than 10" in verdict.reason
        assert verdict.lower is not None


def test_a_slope_without_an_end_settles_nothing() -> None:
    """Calibrated scores of .001 and .999 part the labels of most samples; 51 claims leave no end there."""
    parted = ScoreTable(np.array([0.001, 0.999]), np.array([50, 50]), np.array([0, 50]))
    for limit, relation, confidence, reason in (
        (1.5, AT_MOST, 0.95, "no bound of it"),
        (0.8, AT_LEAST, 0.9999, "no end can be computed"),
    ):
        ground = Ground(ATOMS, confidence=confidence, claims=51)
        found = interval_rule(parted, rule(M.COX_SLOPE, limit, relation), ground=ground)
        assert (found.value, found.lower, found.outcome) == (math.inf, None, VerdictName.INCONCLUSIVE)
        assert reason in str(found.reason)


def test_row_that_was_certain_and_wrong_settles_the_log_loss() -> None:
    """Its log loss is infinite, and so is the population's: limits from above fail, those from below pass."""
    table = ScoreTable(np.array([0.0, 0.5]), np.array([100, 100]), np.array([1, 50]))
    above = interval_rule(table, rule(M.LOG_LOSS, 5.0), ground=Ground(ATOMS))
    assert (above.outcome, above.lower, above.upper) == (VerdictName.FAIL, math.inf, None)
    assert above.target is Target.POPULATION
    assert (
        interval_rule(table, rule(M.LOG_LOSS, 5.0, AT_LEAST), ground=Ground(ATOMS)).outcome
        is VerdictName.PASS
    )
    skill = interval_rule(table, rule(M.LOG_LOSS_SKILL, 0.1, AT_LEAST), ground=Ground(ATOMS))
    assert (skill.outcome, skill.upper) == (VerdictName.FAIL, -math.inf)


def test_one_end_alone_cannot_answer_both_ways() -> None:
    """Where a threshold parts the labels the slope has a lower bound only: no limit from above can pass."""
    score = np.linspace(0.1, 0.9, 200)
    table = ScoreTable.from_rows(score, score > 0.5)
    verdict = interval_rule(table, rule(M.COX_SLOPE, 1e9), ground=Ground(FIFTEEN))
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert verdict.upper is None
    assert "no upper bound" in verdict.reason
    below = interval_rule(table, rule(M.COX_SLOPE, 0.5, AT_LEAST), ground=Ground(FIFTEEN))
    assert below.outcome is VerdictName.PASS


@pytest.mark.parametrize("bound", [Bound.UPPER, Bound.LOWER])
def test_rows_without_an_interval_conclude_nothing(bound: Bound) -> None:
    """Where these rows settle nothing the reason is the estimate's own, and absence of doubt is no pass."""
    table = ScoreTable(np.array([0.5]), np.array([200]), np.array([90]))
    verdict = interval_rule(table, rule(M.COX_SLOPE, 2.0, bound=bound), ground=Ground(ATOMS))
    assert verdict.outcome is VerdictName.INCONCLUSIVE
    assert verdict.reason == "undefined where there is one score only"


def test_a_verdict_on_bias_is_of_the_population_too() -> None:
    """Sure scores that say nothing: their mean, and with it the bias of further rows, may well be another."""
    table = ScoreTable.from_rows(np.repeat([0.001, 0.999], 500), np.arange(1000) % 100 == 0)
    open_, kept = (
        interval_rule(table, rule(M.BIAS, limit, AT_LEAST), ground=Ground(ATOMS)) for limit in (-0.505, -0.6)
    )
    assert [open_.outcome, kept.outcome] == [VerdictName.INCONCLUSIVE, VerdictName.PASS]
    assert open_.lower is not None
    assert open_.lower > -0.505
    assert "not for the population" in (open_.reason or "")
    assert "these scores only" in open_.method
