"""The e-values of a gate's sums are those of the rows, and never more."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.names import MeasureName
from calibcli.stats.gates.any_time import Bets, frozen_stakes, log_evidence_against_calibration
from calibcli.stats.gates.cells import Partition, Sums, sums_of
from calibcli.stats.table.bins import bin_index, equal_width_edges
from calibcli.stats.table.score_table import Floats, ScoreTable
from gate_rows import ATOMS, FIFTEEN, TEN, rows_of

QUICK = settings(max_examples=25, deadline=None)
STAKES = frozen_stakes(delta=0.05, variance=None)


def log_mean(terms: list[float]) -> float:
    """Return the log of the mean of exponentials, each by the share of its stake."""
    return float(np.logaddexp.reduce(np.array(terms) + np.log(STAKES.shares)))


def pass_from_rows(plus: Floats, minus: Floats, group: np.ndarray, eps: float) -> float:
    """Return E_pass of `stats.md` section 4 row by row."""
    found = []
    for size in STAKES.sizes:
        signs = [np.bincount(group, np.log(1 - size * (x - eps))) for x in (plus, minus)]
        found.append(float(np.minimum(*signs).sum()))
    return log_mean(found)


def fail_from_rows(value: Floats, group: np.ndarray, eps: float, *, places: Floats) -> float:
    """Return E_fail of `stats.md` section 4 row by row."""
    found, here = [], np.unique(group)
    for size in STAKES.sizes:
        bet = min(size, 0.95 / (1 + eps))
        plus, minus = (np.bincount(group, np.log(1 + bet * (s * value - eps)))[here] for s in (1, -1))
        terms = [np.log(0.5 / 2) + one.sum() for one in (plus, minus)]
        # One change of sign: to the left of every group, between neighbours, or to the right of all.
        edges = [0.0, *places[here], 1.0]
        for place in range(here.size + 1):
            if edges[place + 1] > edges[place]:
                share = np.log(0.25 / 2 * (edges[place + 1] - edges[place]))
                terms += [
                    share + a[:place].sum() + b[place:].sum() for a, b in ((plus, minus), (minus, plus))
                ]
        terms.append(np.log(0.25) + (np.logaddexp(plus, minus) - math.log(2)).sum())
        found.append(float(np.logaddexp.reduce(terms)))
    return log_mean(found)


@QUICK
@given(st.integers(0, 10**6), st.integers(1, 3000), st.floats(0.001, 0.5))
def test_evidence_over_outputs_is_that_of_the_rows(seed: int, count: int, eps: float) -> None:
    """For outputs of an artifact both e-values equal the products over rows."""
    score, label = rows_of(np.random.default_rng(seed), count, outputs=TEN, off=0.02)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), ATOMS), ATOMS, measure=MeasureName.ECE)
    residual, group = label - score, np.searchsorted(TEN, score)
    assert bets.log_pass(eps, STAKES) == pytest.approx(
        pass_from_rows(residual, -residual, group, eps), abs=1e-9
    )
    places = np.array(TEN)
    due = fail_from_rows(residual, group, eps, places=places)
    assert bets.log_fail(eps, STAKES) == pytest.approx(due, abs=1e-9)
    gaps = np.abs(np.bincount(group, residual)).sum() / count
    assert bets.value == pytest.approx(gaps, abs=1e-12)


@QUICK
@given(st.integers(0, 10**6), st.integers(1, 2000), st.floats(0.001, 0.5))
def test_evidence_over_cells_is_just_below_that_of_the_rows(seed: int, count: int, eps: float) -> None:
    """For bins of a continuous score both e-values fall short of the products over rows by little."""
    score, label = rows_of(np.random.default_rng(seed), count, off=0.03)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), FIFTEEN), FIFTEEN, measure=MeasureName.ECE)
    residual, group = label - score, bin_index(equal_width_edges(15), score)
    most = count * (0.6 / 0.4) ** 2 * FIFTEEN.width**2 / 8 + 1e-9
    for mine, direct in (
        (bets.log_pass(eps, STAKES), pass_from_rows(residual, -residual, group, eps)),
        (bets.log_fail(eps, STAKES), fail_from_rows(residual, group, eps, places=equal_width_edges(15)[1:])),
    ):
        assert -most <= mine - direct <= 1e-9
    assert bets.value == pytest.approx(np.abs(np.bincount(group, residual)).sum() / count, abs=1e-12)


@QUICK
@given(st.integers(0, 10**6), st.integers(1, 2000), st.floats(0.001, 0.5))
def test_evidence_on_the_distance_is_just_below_that_of_the_rows(seed: int, count: int, eps: float) -> None:
    """The bets on the distance to calibration are those of its definition over midpoints and dictionary."""
    bins = 20
    partition = Partition.of_bins(bins, halved=True)
    score, label = rows_of(np.random.default_rng(seed), count, off=0.03)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), partition), partition, measure=MeasureName.DCE)
    group = bin_index(equal_width_edges(bins), score)
    middle = (group + 0.5) / bins
    gap, moved = label - middle, np.abs(score - middle)
    whole = np.zeros(count, int)
    both = (
        fail_from_rows(label - score, whole, eps, places=np.ones(1)),
        fail_from_rows((label - score) * (2 * score - 1), whole, 3 * eps, places=np.ones(1)),
    )
    below = float(np.logaddexp(*both)) - math.log(2)
    most = count * ((1.5 * 3) ** 2 + 1.5 * 4) * partition.width**2 / 8 + 1e-9
    for mine, direct in (
        (bets.log_pass(eps, STAKES), pass_from_rows(gap + moved, moved - gap, group, eps)),
        (bets.log_fail(eps, STAKES), below),
    ):
        assert -most <= mine - direct <= 1e-9
    estimate = np.abs(np.bincount(group, gap)).sum() / count + moved.mean()
    assert bets.value == pytest.approx(min(1.0, estimate), abs=1e-12)


@QUICK
@given(st.integers(0, 10**6), st.integers(20, 3000))
def test_bounds_lie_on_either_side_and_turn_where_the_evidence_does(seed: int, count: int) -> None:
    """The bounds enclose the estimate, and are the limits at which the evidence reaches 1 / delta."""
    score, label = rows_of(np.random.default_rng(seed), count, off=0.05)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), FIFTEEN), FIFTEEN, measure=MeasureName.ECE)
    lower, upper = bets.lower_bound(STAKES, delta=0.05), bets.upper_bound(STAKES, delta=0.05)
    assert lower <= bets.value <= upper
    if upper < 1.0:
        assert bets.log_pass(upper + 1e-6, STAKES) >= math.log(20) >= bets.log_pass(upper - 1e-6, STAKES)
    if lower > 0.0:
        assert bets.log_fail(lower - 1e-6, STAKES) >= math.log(20) >= bets.log_fail(lower + 1e-6, STAKES)


def test_evidence_against_calibration_is_the_odds_of_drawn_rates() -> None:
    """The closed form over outputs is the integral over rates drawn from Beta distributions."""
    partition = Partition((0.2, 0.7))
    sums = Sums((12, 30), (5, 16), (0, 0), (0, 0))
    rate = (np.arange(200_000) + 0.5) / 200_000
    direct = 0.0
    for v, n, x in zip(partition.outputs, sums.rows, sums.positive, strict=True):
        drawn = rate ** (30 * v - 1) * (1 - rate) ** (30 * (1 - v) - 1)
        odds = (rate / v) ** x * ((1 - rate) / (1 - v)) ** (n - x)
        direct += math.log((drawn * odds).sum() / drawn.sum())
    assert log_evidence_against_calibration(sums, partition) == pytest.approx(direct, abs=1e-7)


def test_a_label_that_an_output_rules_out_is_beyond_doubt() -> None:
    """One row with label 1 at an output of 0 refutes calibration; rows that agree with it say nothing."""
    certain = Partition((0.0, 0.5, 1.0))
    nothing = (0, 0, 0)
    assert log_evidence_against_calibration(Sums((9, 0, 1), (1, 0, 1), nothing, nothing), certain) == math.inf
    assert log_evidence_against_calibration(Sums((9, 0, 1), (0, 0, 1), nothing, nothing), certain) == 0.0


def test_states_of_before_draw_signs_bin_by_bin() -> None:
    """Bets that say nothing of signs are the products over bins that they were begun as."""
    score, label = rows_of(np.random.default_rng(6), 900, outputs=TEN, off=0.05)
    bets = Bets(sums_of(ScoreTable.from_rows(score, label), ATOMS), ATOMS, measure=MeasureName.ECE)
    residual, group = label - score, np.searchsorted(TEN, score)
    terms = []
    for size in STAKES.sizes:
        bet = min(size, 0.95 / 1.02)
        signs = [np.bincount(group, np.log(1 + bet * (s * residual - 0.02))) for s in (1, -1)]
        terms.append(float((np.logaddexp(*signs) - math.log(2)).sum()))
    assert bets.log_fail(0.02, replace(STAKES, alone=True)) == pytest.approx(log_mean(terms), abs=1e-9)


def test_stakes_follow_the_variance_of_the_fit_rows() -> None:
    """Rare events are bet on more boldly where the artifact's training counts say that they are rare."""
    plain, rare = frozen_stakes(delta=0.05, variance=None), frozen_stakes(delta=0.05, variance=0.0025)
    assert rare.sizes[-1] == pytest.approx(10 * plain.sizes[-1], abs=1e-8)
    assert max(rare.sizes) == 0.6
    assert frozen_stakes(delta=0.05, variance=0.3) == plain
