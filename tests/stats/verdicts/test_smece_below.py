"""The gate on smECE: one bandwidth decides, and the bounds reported say the same."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.names import MeasureName, Target, VerdictName
from calibcli.stats.bounds.betting import WeighedResiduals, stakes_of_rows
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.plan import Gate, is_given
from calibcli.stats.gates.smece import SmeceGrowth, lower_bound_at, smece_below
from calibcli.stats.measures.bias import bias, least_by_mean
from calibcli.stats.measures.smooth_ece import (
    noise_of_norm,
    smooth_ece,
    smooth_ece_on,
    upper_bound,
    weighed,
)
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS
from calibcli.stats.table.kernel import LEAST_BANDWIDTH, residual_series
from stats.verdicts.boundary import rule as rule_on

GROUND = Ground(ATOMS, least_rows=1, rows_wanted=False)
rule = partial(rule_on, MeasureName.SMECE)


def drawn(seed: int, rows: int, error: float, waves: int) -> ScoreTable:
    """Rows whose label rate swings about their score."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows).round(3)
    truth = np.clip(score + error * np.sin(2 * math.pi * waves * score + 0.3), 0, 1)
    return ScoreTable.from_rows(score, rng.random(rows) < truth)


@given(
    seed=st.integers(0, 999),
    rows=st.sampled_from([100, 1000, 20_000]),
    error=st.sampled_from([0.0, 0.1, 0.4]),
    waves=st.integers(0, 6),
    limit=st.floats(0.002, 0.4),
)
def test_bandwidth_of_the_limit_decides(seed: int, rows: int, error: float, waves: int, limit: float) -> None:
    """PASS iff bets refute the norm at the bandwidth eps; FAIL iff norm less noise or |bias| is above it."""
    table = drawn(seed, rows, error, waves)
    verdict = smece_below(table, rule(limit), ground=GROUND)
    if verdict.reason is not None:
        return
    norm = float(residual_series(table).l1_norm(limit))
    strays = noise_of_norm(table, limit) + math.sqrt(math.log(80) / (2 * rows))
    stakes = stakes_of_rows(rows, delta=0.05)
    over = math.log(20) - weighed(table).log_pass(limit, stakes, norm=norm)
    by_mean = bias(table, confidence=1 - 0.75 * 0.05).interval
    under = max(norm - strays - limit, by_mean.lower - limit, -by_mean.upper - limit)
    assert min(abs(over), abs(under)) < 1e-9 or verdict.outcome is (
        VerdictName.PASS if over <= 0 else VerdictName.FAIL if under > 0 else VerdictName.INCONCLUSIVE
    )
    assert verdict.lower <= verdict.value <= verdict.upper
    assert verdict.value == smooth_ece(table).value
    assert (verdict.lower > limit) == (under > 0)


@settings(max_examples=15)
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


@given(
    seed=st.integers(0, 9999),
    rows=st.sampled_from([1, 2, 7, 60, 2000]),
    digits=st.sampled_from([0, 1, 2, 17]),
    shape=st.sampled_from([0.05, 0.5, 1.0, 8.0]),
    rate=st.sampled_from([0.0, 0.02, 0.5, 1.0]),
)
def test_no_smece_is_below_the_mean_residual(
    seed: int, rows: int, digits: int, shape: float, rate: float
) -> None:
    """On the score, its logit and its probit, with ties, scores of 0 and 1, or one row."""
    rng = np.random.default_rng(seed)
    score = rng.beta(shape, shape * rng.choice([1.0, 20.0]), rows).round(digits)
    table = ScoreTable.from_rows(score, rng.random(rows) < (rate if seed % 2 else rate * score))
    size = abs(bias(table).value)
    for found in (
        smooth_ece(table),
        smooth_ece_on(MeasureName.SMECE_LOGIT, table),
        smooth_ece_on(MeasureName.SMECE_PROBIT, table),
    ):
        assert found.value >= size - 1e-9
        if found.interval is not None:
            assert found.interval.lower >= min(least_by_mean(table, delta=0.75 * 0.025), found.value)


@given(
    seed=st.integers(0, 9999),
    rows=st.sampled_from([5, 300, 9000]),
    eps=st.floats(0.0, 0.9),
    kind=st.sampled_from(["signs", "any", "rare"]),
)
def test_bets_on_sizes_are_never_above_bets_on_values(seed: int, rows: int, eps: float, kind: str) -> None:
    """Knowing sizes of residuals and the mean of a weighed sum claims no more than knowing all."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows) * (0.05 if kind == "rare" else 1.0)
    residual = (rng.random(rows) < score) - score
    weight = rng.choice([-1.0, 1.0], rows) if kind == "signs" else rng.uniform(-1.0, 1.0, rows)
    x, stakes = weight * residual, stakes_of_rows(rows, delta=0.05)
    every = [
        math.log(share) + np.log1p(-size * (x - eps)).sum()
        for size, share in zip(stakes.sizes, stakes.shares, strict=True)
    ]
    held = WeighedResiduals(np.abs(residual), np.ones(rows))
    assert held.log_pass(eps, stakes, norm=x.mean()) <= np.logaddexp.reduce(every) + 1e-9


def test_shift_is_found_from_a_quarter_of_the_rows_that_the_norm_takes() -> None:
    """Scores all too low by twice the limit fail through their mean where the norm leaves them open."""
    rng = np.random.default_rng(3)
    fails = 0
    for _ in range(40):
        score = 0.9 * rng.random(3200)
        table = ScoreTable.from_rows(score, rng.random(3200) < score + 0.06)
        fails += smece_below(table, rule(0.03), ground=GROUND).outcome is VerdictName.FAIL
        assert lower_bound_at(table, residual_series(table), bandwidth=0.03, delta=0.05) < 0.03
    assert fails >= 30


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
    strays = 1.01 / (2 * root) + math.sqrt(math.log(20) / 2) / root
    verdict = smece_below(table, rule(0.1), ground=GROUND)
    assert verdict.value == pytest.approx(size, abs=1e-6)
    # Bets of sqrt(2 ln 20 / (n / 4)) on half of the stake: ln 40 = n (l (upper - size) - l^2 / 8), nearly.
    bet = math.sqrt(8 * math.log(20) / rows)
    assert verdict.upper == pytest.approx(size + math.log(40) / rows / bet + bet / 8, abs=2e-3)
    assert lower_bound_at(table, residual_series(table), bandwidth=0.1, delta=0.05) == pytest.approx(
        size - strays, abs=2e-4
    )
    assert verdict.lower == least_by_mean(table, delta=0.05)
    assert size - strays < verdict.lower < size - 1.8 / (2 * root)
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
    assert interval.upper == pytest.approx(upper_bound(table, residual_series(table), delta=0.05))


def test_rows_promised_for_a_fail_decide() -> None:
    """With them about half of tables fail; a mean error takes fewer than one that waves."""
    rng = np.random.default_rng(4)

    def sample(rows: int) -> ScoreTable:
        score = 0.9 * rng.random(rows)
        return ScoreTable.from_rows(score, rng.random(rows) < score + 0.1)

    failing = SmeceGrowth(sample(2000), limit=0.05).rows_to_fail(error=0.1, mean=0.1, delta=0.05)
    gate = Gate(rule(0.05), GROUND, VerdictName.FAIL)
    share = np.mean([is_given(gate, sample(failing)) for _ in range(30)])
    assert share == pytest.approx(0.5, abs=0.3)
    waves = SmeceGrowth(drawn(1, 2000, 0.2, 1), limit=0.05).rows_to_fail(error=0.12, mean=0.0, delta=0.05)
    assert failing < 0.6 * waves


def test_sizes_of_many_residuals_are_rounded_up() -> None:
    """Gathered in the kernel's cells they claim no more, and less by no more than a cell is wide."""
    rng = np.random.default_rng(8)
    score = np.concatenate((rng.random(20_000), [0.0, 1.0]))
    label = rng.random(score.size) < score
    stakes = stakes_of_rows(score.size, delta=0.05)
    every = WeighedResiduals(np.abs(label - score), np.ones(score.size))
    table = ScoreTable.from_rows(score, label)
    assert table.distinct > 16_380
    found, exact = (one.log_pass(0.02, stakes, norm=0.001) for one in (weighed(table), every))
    assert exact - 1e-2 < found <= exact
