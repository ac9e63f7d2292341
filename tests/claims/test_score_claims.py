"""
Proper scores, skill and Cox's coefficients: how often their intervals hold, and how often tests reject.

Short cells run always; the full grid is marked slow. The scenarios are those of the other promises.
"""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logit, xlogy

from calibcli.bounds.special import chi_squared_tail
from calibcli.measures.cox import cox_measure
from calibcli.measures.hosmer_lemeshow import has_thin_bins, hosmer_lemeshow, hosmer_lemeshow_p_value
from calibcli.measures.murphy import murphy_part
from calibcli.measures.proper_scores import spherical
from calibcli.measures.skill import brier_skill, log_loss_skill
from calibcli.measures.u_test import u_p_value, u_test
from calibcli.names import MeasureName
from calibcli.table.bins import binned, looks_discrete
from calibcli.table.score_table import ScoreTable
from claims.simulation import FINE, SCENARIOS, Cell, generator_of, most_misses, usual_bins

M = MeasureName
MEANS = {
    "spherical": spherical,
    "brier_skill": brier_skill,
    "log_loss_skill": log_loss_skill,
}
REPETITIONS = {1000: 1500, 5000: 400}
COX = (M.CITL_LOGIT, M.COX_INTERCEPT, M.COX_SLOPE)
# A single score has no slope, and the line cannot be told from its rate.
WITH_SLOPE = [name for name in SCENARIOS if name != "one atom"]


@cache
def population_truth(scenario: str) -> dict[str, float]:
    """Return the population's values by quadrature."""
    world = SCENARIOS[scenario]
    f = world.quantile(FINE)
    p, rate = world.truth(f), float(world.truth(f).mean())
    length = np.hypot(f, 1 - f)
    brier = float((p * (1 - f) ** 2 + (1 - p) * f**2).mean())
    log_loss = float((-xlogy(p, f) - xlogy(1 - p, 1 - f)).mean())
    unc = rate * (1 - rate)
    return {
        "spherical": float(1 - ((p * f + (1 - p) * (1 - f)) / length).mean()),
        "brier_skill": 1 - brier / unc,
        "log_loss_skill": 1 - log_loss / float(-xlogy(rate, rate) - xlogy(1 - rate, 1 - rate)),
        "brier_uncertainty": unc,
    }


def cox_truth(score: np.ndarray, rows: np.ndarray, truth: np.ndarray) -> dict[MeasureName, float]:
    """Return the coefficients that fit the label probabilities at these scores best."""
    z = logit(score)

    def loss(at: np.ndarray) -> float:
        t = at[0] + at[1] * z
        return float((rows * (np.logaddexp(0, t) - truth * t)).sum() / rows.sum())

    both = minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-9}).x
    one = minimize(lambda a: loss(np.array([a[0], 1.0])), [0.0], method="BFGS", options={"gtol": 1e-9}).x
    return {M.CITL_LOGIT: float(one[0]), M.COX_INTERCEPT: float(both[0]), M.COX_SLOPE: float(both[1])}


def means(scenario: str, rows: int, *, confidence: float, repetitions: int) -> Cell:
    """Simulate the intervals that speak of the population."""
    rng = generator_of("scores", scenario, rows, confidence)
    world, cell, truths = SCENARIOS[scenario], Cell(confidence), population_truth(scenario)
    for _ in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        found = {name: measure(table, confidence=confidence) for name, measure in MEANS.items()}
        unc = M.BRIER_UNCERTAINTY
        found[unc] = murphy_part(unc, table, bins=usual_bins(table), confidence=confidence)
        for name, estimate in found.items():
            interval = estimate.interval
            if interval is not None:
                cell.add(str(name), lower=interval.lower, upper=interval.upper, truth=truths[name])
    return cell


def coefficients(scenario: str, rows: int, *, confidence: float, repetitions: int) -> Cell:
    """Simulate the intervals of Cox's coefficients: scores held, labels drawn anew."""
    rng = generator_of("cox", scenario, rows, confidence)
    world, cell = SCENARIOS[scenario], Cell(confidence)
    base = ScoreTable.from_rows(world.quantile(rng.random(rows)), np.zeros(rows, bool))
    truth = world.truth(base.score)
    truths = cox_truth(base.score, base.rows, truth)
    for _ in range(repetitions):
        table = ScoreTable(base.score, base.rows, rng.binomial(base.rows, truth))
        for name in COX:
            interval = cox_measure(name, table, confidence=confidence).interval
            if interval is not None:
                cell.add(name, lower=interval.lower, upper=interval.upper, truth=truths[name])
    return cell


def rejections(scenario: str, rows: int, *, repetitions: int, draws: int = 199) -> dict[str, int]:
    """Count how often U and Hosmer-Lemeshow, as `calibration_tests` decides their p-values, reject at 5 %."""
    rng = generator_of("u", scenario, rows)
    world, counts = SCENARIOS[scenario], {"u": 0, "hosmer_lemeshow": 0}
    for _ in range(repetitions):
        score = world.quantile(rng.random(rows))
        table = ScoreTable.from_rows(score, rng.random(rows) < world.truth(score))
        sums = binned(table, usual_bins(table))
        drawn = looks_discrete(table) or rows < 500
        h, u = hosmer_lemeshow(table, bins=sums), u_test(table)
        ps = {"hosmer_lemeshow": h.p_value, "u": u.p_value}
        if drawn or has_thin_bins(sums):
            found = hosmer_lemeshow_p_value(table, h.statistic, bins=sums, generator=rng, draws=draws)
            ps["hosmer_lemeshow"] = found[0]
        if drawn:
            ps["u"] = u_p_value(table, generator=rng, draws=draws)[0]
        for name, p in ps.items():
            counts[name] += p <= 0.05
    return counts


def assert_promised(cell: Cell, *, error: float) -> None:
    """Fail on strong evidence that an interval misses more than three points above its error."""
    assert cell.tallies
    for name, tally in cell.tallies.items():
        slack = 0.0 if name == "brier_uncertainty" else 0.03
        assert tally.misses <= most_misses(tally.repetitions, error + slack), name


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("rows", REPETITIONS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scores_and_skill_cover(scenario: str, rows: int, confidence: float) -> None:
    """Spherical score, both skills and the uncertainty, in every scenario."""
    cell = means(scenario, rows, confidence=confidence, repetitions=REPETITIONS[rows])
    assert_promised(cell, error=1.0 - confidence)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("rows", REPETITIONS)
@pytest.mark.parametrize("scenario", WITH_SLOPE)
def test_coefficients_cover(scenario: str, rows: int, confidence: float) -> None:
    """Intercept, slope and shift, in every scenario."""
    cell = coefficients(scenario, rows, confidence=confidence, repetitions=REPETITIONS[rows])
    assert_promised(cell, error=1.0 - confidence)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [200, 1000, 5000])
@pytest.mark.parametrize("scenario", ["calibrated", "discrete", "rare", "rare, 15 atoms"])
def test_u_and_hosmer_lemeshow_keep_their_level(scenario: str, rows: int) -> None:
    """Calibrated labels are rejected 5 % of the time: 2,000 repetitions, 500 of 5,000 rows."""
    repetitions = 2000 if rows < 5000 else 500
    for name, count in rejections(scenario, rows, repetitions=repetitions).items():
        # The laws are approximate: one point more is allowed.
        assert count <= most_misses(repetitions, 0.06), name


@pytest.mark.parametrize("scenario", ["mild", "rare", "one atom"])
def test_scores_and_skill_cover_in_short(scenario: str) -> None:
    """250 repetitions at 1,000 rows."""
    assert_promised(means(scenario, 1000, confidence=0.9, repetitions=250), error=0.1)


@pytest.mark.parametrize("scenario", ["strong", "discrete"])
def test_coefficients_cover_in_short(scenario: str) -> None:
    """150 repetitions at 1,000 rows."""
    assert_promised(coefficients(scenario, 1000, confidence=0.9, repetitions=150), error=0.1)


@pytest.mark.parametrize(("scenario", "rows"), [("calibrated", 1000), ("rare, 15 atoms", 300)])
def test_u_and_hosmer_lemeshow_keep_their_level_in_short(scenario: str, rows: int) -> None:
    """200 repetitions."""
    for name, count in rejections(scenario, rows, repetitions=200, draws=99).items():
        assert count <= most_misses(200, 0.05), name


def test_hosmer_lemeshow_would_reject_too_often_with_two_degrees_fewer() -> None:
    """Degrees of freedom as many as bins are the right ones: two fewer reject over 8 % of the time."""
    rng, rejected = generator_of("degrees"), 0
    for _ in range(600):
        score = rng.random(1000)
        table = ScoreTable.from_rows(score, rng.random(1000) < score)
        h = hosmer_lemeshow(table, bins=usual_bins(table)).statistic
        rejected += chi_squared_tail(h, 13) <= 0.05
    assert rejected >= 0.08 * 600
