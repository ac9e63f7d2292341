"""The gate on smECE: one bandwidth decides, and the bounds reported say the same."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.gate_names import Bound, Relation
from calibcli.measures.smooth_ece import noise_of_norm, population_margin, smooth_ece
from calibcli.names import MeasureName, Target, VerdictName
from calibcli.table.bins import ATOMS
from calibcli.table.kernel import LEAST_BANDWIDTH, fixpoint, residual_series
from calibcli.table.score_table import ScoreTable
from calibcli.verdicts.claim import Ground, Rule
from calibcli.verdicts.smece_below import lower_bound_at, smece_below
from calibcli.verdicts.smece_rows import SmeceGrowth

GROUND = Ground(ATOMS, least_rows=1, rows_wanted=False)


def rule(limit: float) -> Rule:
    """The rule that smECE be at most a limit."""
    return Rule("max-smece", MeasureName.SMECE, Bound.UPPER, Relation.AT_MOST, limit)


def drawn(seed: int, rows: int, error: float, waves: int) -> ScoreTable:
    """Rows whose label rate swings about their score."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows).round(3)
    truth = np.clip(score + error * np.sin(2 * math.pi * waves * score + 0.3), 0, 1)
    return ScoreTable.from_rows(score, rng.random(rows) < truth)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 999),
    rows=st.sampled_from([100, 1000, 20_000]),
    error=st.sampled_from([0.0, 0.1, 0.4]),
    waves=st.integers(0, 6),
    limit=st.floats(0.002, 0.4),
)
def test_bandwidth_of_the_limit_decides(seed: int, rows: int, error: float, waves: int, limit: float) -> None:
    """PASS iff norm + margin <= eps and FAIL iff norm - noise - margin > eps, at the bandwidth eps alone."""
    table = drawn(seed, rows, error, waves)
    verdict = smece_below(table, rule(limit), ground=GROUND)
    if verdict.reason is not None:
        return
    norm = float(residual_series(table).l1_norm(limit))
    strays = noise_of_norm(table, limit) + math.sqrt(math.log(20) / (2 * rows))
    over = norm + population_margin(table, delta=0.05) - limit
    under = norm - strays - limit
    assert min(abs(over), abs(under)) < 1e-9 or verdict.outcome is (
        VerdictName.PASS if over <= 0 else VerdictName.FAIL if under > 0 else VerdictName.INCONCLUSIVE
    )
    assert verdict.lower <= verdict.value <= verdict.upper
    assert verdict.value == smooth_ece(table).value
    assert (verdict.lower > limit) == (under > 0)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 999),
    error=st.sampled_from([0.2, 0.4]),
    waves=st.integers(0, 6),
    limit=st.floats(0.002, 0.1),
    wider=st.floats(1.0, 5.0),
)
def test_lower_bound_is_shown_at_every_bandwidth_below_it(
    seed: int, error: float, waves: int, limit: float, wider: float
) -> None:
    """A true smECE between the limit and the bound would itself have been refuted at its own bandwidth."""
    table = drawn(seed, 20_000, error, waves)
    series = residual_series(table)
    bound = lower_bound_at(table, series, bandwidth=limit, delta=0.05)
    theta = limit * wider
    if bound <= theta:
        return
    strays = noise_of_norm(table, theta) + math.sqrt(math.log(20) / (2 * table.total_rows))
    assert float(series.l1_norm(theta)) - strays > theta - 1e-9


@pytest.mark.parametrize("bandwidth", [0.003, 0.02, 0.15])
def test_noise_adds_less_at_wider_bandwidths(bandwidth: float) -> None:
    """What labels add to the norm does not grow with the bandwidth, on which the lower bound rests."""
    for shape in (1.0, 0.2, 5.0):
        score = np.random.default_rng(1).beta(shape, shape, 2000)
        table = ScoreTable.from_rows(score, score > 0.5)
        assert noise_of_norm(table, 1.3 * bandwidth) <= noise_of_norm(table, bandwidth)


def test_single_score_has_bounds_in_closed_form() -> None:
    """At one score the norm is |mean residual| at every bandwidth, and its noise 1 / (2 sqrt n)."""
    rows, ones = 4000, 2600
    table = ScoreTable(np.array([0.5]), np.array([rows]), np.array([ones]))
    size, root = abs(ones / rows - 0.5), math.sqrt(rows)
    log_term = math.log(2 / 0.05)
    margin = math.sqrt(2 * 0.25 * log_term / (rows - 1)) + 14 * log_term / (3 * (rows - 1))
    strays = 1.01 / (2 * root) + math.sqrt(math.log(20) / 2) / root
    verdict = smece_below(table, rule(0.1), ground=GROUND)
    assert verdict.value == pytest.approx(size, abs=1e-6)
    assert verdict.upper == pytest.approx(size + margin, abs=1e-6)
    assert verdict.lower == pytest.approx(size - strays, abs=2e-4)
    assert verdict.outcome is VerdictName.FAIL
    assert verdict.target is Target.MIXED
    assert not verdict.any_time


def test_limit_below_the_mesh_can_fail_and_not_pass() -> None:
    """A limit finer than the bandwidths that are resolved is judged at the finest of them."""
    certain = ScoreTable(np.array([0.1, 0.9]), np.array([500, 500]), np.array([500, 0]))
    assert smece_below(certain, rule(LEAST_BANDWIDTH / 9), ground=GROUND).outcome is VerdictName.FAIL
    right = ScoreTable(np.array([0.0, 1.0]), np.array([500, 500]), np.array([0, 500]))
    verdict = smece_below(right, rule(LEAST_BANDWIDTH / 9), ground=GROUND)
    assert verdict.value == 0.0
    assert verdict.outcome is VerdictName.INCONCLUSIVE


def test_reported_upper_bound_is_the_fixpoint_of_measure() -> None:
    """It is the upper end that `measure` gives at twice the error."""
    table = drawn(3, 3000, 0.1, 1)
    interval = smooth_ece(table, confidence=0.9).interval
    assert interval is not None
    assert smece_below(table, rule(0.05), ground=GROUND).upper == pytest.approx(interval.upper)
    added = population_margin(table, delta=0.05)
    assert interval.upper == pytest.approx(fixpoint(residual_series(table), added=added))


def test_promised_rows_decide() -> None:
    """With the rows promised about half of calibrated tables pass; the power asked for is about kept."""
    rng = np.random.default_rng(4)

    def sample(rows: int, error: float = 0.0) -> ScoreTable:
        score = 0.9 * rng.random(rows)
        return ScoreTable.from_rows(score, rng.random(rows) < score + error)

    def share(rows: int, limit: float, error: float, wanted: VerdictName) -> float:
        found = [smece_below(sample(rows, error), rule(limit), ground=GROUND).outcome for _ in range(30)]
        return found.count(wanted) / 30

    verdict = smece_below(sample(400), rule(0.05), ground=Ground(ATOMS))
    assert verdict.needed is not None
    growth = SmeceGrowth(sample(2000), limit=0.05)
    half, most = (growth.rows_to_pass(error=0.0, delta=0.05, power=power) for power in (0.5, 0.95))
    assert verdict.needed.at_best == pytest.approx(half, rel=0.15)
    assert share(half, 0.05, 0.0, VerdictName.PASS) == pytest.approx(0.5, abs=0.25)
    assert share(half // 2, 0.05, 0.0, VerdictName.PASS) <= 0.1
    assert share(most, 0.05, 0.0, VerdictName.PASS) >= 0.85
    failing = growth.rows_to_fail(error=0.1, delta=0.05)
    assert share(failing, 0.05, 0.1, VerdictName.FAIL) == pytest.approx(0.5, abs=0.3)
