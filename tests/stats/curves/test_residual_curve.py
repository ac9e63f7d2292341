"""Residuals, their cumulative sums, and the stretches of scores that are shown to be too low or too high."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import EmptyTable
from calibcli.names import AxisScale, Binning, PlotKind
from calibcli.stats.bounds.proportion import rate_bounds
from calibcli.stats.curves import axis_for
from calibcli.stats.curves.cumulative import cumulative_curve
from calibcli.stats.curves.reliability import (
    BinnedCurve,
    ReliabilityCurve,
    Stretch,
    binned_curve,
    residual_curve,
    smooth_curve,
    stretches,
)
from calibcli.stats.measures.bias import bias
from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.measures.tests import ks_and_kuiper
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import bins_of
from calibcli.stats.table.grid import Table, grid_of
from score_rows import scored_table


def too_high(rows: int = 3_000, seed: int = 4) -> ScoreTable:
    """Return scores that are too high."""
    return scored_table(rows, lambda score: score**1.3, seed=seed, beta=(0.8, 1.6))


def reliability(table: Table) -> ReliabilityCurve:
    """Return both curves at the bandwidth of smECE."""
    smooth = smooth_curve(table, bandwidth=smooth_ece(table).value)
    bins = binned_curve(table, bins=bins_of(Binning.EQUAL_WIDTH, 10, table=table))
    return ReliabilityCurve(PlotKind.SMOOTH, bins, smooth, 0.95)


def test_residuals_are_smoothed_as_reliability_curves_are() -> None:
    """By log-odds along them, where there is such a curve; on scores as they are else."""
    rng = np.random.default_rng(0)
    score = 1.0 / (1.0 + np.exp(rng.normal(6.0, 1.0, 2_000)))
    table = ScoreTable.from_rows(score, rng.random(2_000) < score)
    along = smooth_curve(table, bandwidth=0.5, log_odds=True)
    curve = residual_curve(replace(reliability(table), smooth_logit=along))
    assert axis_for(curve) is AxisScale.LOGIT
    assert axis_for(residual_curve(reliability(table))) is AxisScale.LINEAR
    bent = curve.along(AxisScale.LOGIT)
    np.testing.assert_array_equal(bent.residual, along.y - along.x)
    np.testing.assert_array_equal(curve.along(AxisScale.LINEAR).residual, curve.residual)
    bins = residual_curve(curve.whole, by_bins=True)
    np.testing.assert_array_equal(bins.along(AxisScale.LOGIT).residual, bins.residual)


def test_shares_times_residuals_of_bins_are_the_binned_error() -> None:
    """Against sums over bins by a loop over the rows' scores."""
    table = too_high()
    curve = residual_curve(reliability(table), by_bins=True)
    place = np.minimum((np.ceil(table.score * 10) - 1).clip(0), 9)
    wanted = sum(
        abs(float((table.positive - table.weight * table.score)[place == one].sum())) for one in range(10)
    )
    assert float(curve.density @ np.abs(curve.residual)) == pytest.approx(wanted / table.total_rows)


def test_band_is_that_of_the_reliability_curve_less_the_score() -> None:
    """So it holds the residual, and where there is none, there is none."""
    source = reliability(too_high())
    curve = residual_curve(source)
    smooth = source.smooth
    assert smooth is not None
    seen = ~np.isnan(curve.residual)
    assert curve.upper[seen] == pytest.approx((smooth.upper - smooth.x)[seen])
    assert np.all(
        (curve.lower <= curve.residual + 1e-12)[seen] & (curve.residual <= curve.upper + 1e-12)[seen]
    )
    table = ScoreTable.from_rows(
        np.array([0.2, 0.7]), np.array([False, True]), Weighing(weight=np.array([1.0, 2.0]))
    )
    assert np.isnan(residual_curve(reliability(table)).lower).all()


some_rows = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.floats(0.0, 1.0)),
        st.booleans(),
        st.floats(0.1, 5.0),
    ),
    min_size=1,
    max_size=40,
)


@given(rows=some_rows, weighted=st.booleans())
def test_path_is_that_of_loops_over_rows(rows: list[tuple[float, bool, float]], *, weighted: bool) -> None:
    """Sums of weight times label - score at the ends of ties, and the standard deviation of the last."""
    if not weighted:
        rows = [(score, label, 1.0) for score, label, _ in rows]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    table = ScoreTable.from_rows(columns[0], columns[1], Weighing(weight=columns[2] if weighted else None))
    total = sum(weight for _, _, weight in rows)
    share, value = [0.0], [0.0]
    for score in sorted({score for score, _, _ in rows}):
        upto = [row for row in rows if row[0] <= score]
        share.append(sum(weight for _, _, weight in upto) / total)
        value.append(sum(weight * (label - score) for score, label, weight in upto) / total)
    curve = cumulative_curve(table)
    assert curve.share == pytest.approx(share, abs=1e-12)
    assert curve.value == pytest.approx(value, abs=1e-12)
    variance = sum(weight**2 * score * (1.0 - score) for score, _, weight in rows)
    assert curve.deviation == pytest.approx(math.sqrt(variance) / total)


@pytest.mark.parametrize("rows", [40, 3_000, 60_000])
def test_statistics_are_lengths_in_the_picture(rows: int) -> None:
    """KS is the distance of the farthest point, Kuiper the range, both in standard deviations of the end."""
    table = too_high(rows, 2)
    curve = cumulative_curve(table)
    ks, kuiper = ks_and_kuiper(table)
    low, high = curve.range
    assert abs(curve.value[curve.farthest]) / curve.deviation == pytest.approx(ks.statistic, rel=1e-12)
    assert (high - low) / curve.deviation == pytest.approx(kuiper.statistic, rel=1e-12)
    assert curve.value[-1] == pytest.approx(bias(table).value, abs=1e-15)
    assert curve.share.size < 4_200


def test_grid_table_ends_where_its_rows_do() -> None:
    """Residual sums of cells are exact, so the path passes through the same points."""
    table = too_high(5_000, 2)
    exact, grid = cumulative_curve(table), cumulative_curve(grid_of(table))
    assert grid.value[-1] == pytest.approx(exact.value[-1], abs=1e-12)
    assert np.interp(grid.share, exact.share, exact.value) == pytest.approx(grid.value, abs=2e-3)


def test_no_rows_have_no_path() -> None:
    """A refusal, not an empty picture."""
    with pytest.raises(EmptyTable):
        cumulative_curve(ScoreTable.empty())


EDGES = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])


def curve(rows: Any, score: Any, positive: Any, *, banded: bool = True) -> BinnedCurve:
    """Return five bins of equal width, those with rows."""
    rows = np.array(rows)
    some = rows > 0
    gap = np.full(int(some.sum()), 0.0 if banded else math.nan)
    rate = np.array(positive)[some] / rows[some]
    return BinnedCurve(
        EDGES[:-1][some], EDGES[1:][some], rows[some], np.array(score)[some], rate, gap, gap, "none"
    )


MIDDLES = [0.1, 0.3, 0.5, 0.7, 0.9]


@pytest.mark.parametrize(
    ("positive", "expected"),
    [
        ([100, 300, 500, 700, 900], ()),
        ([250, 400, 500, 600, 750], (Stretch(True, None, 0.4), Stretch(False, 0.6, None))),
        ([250, 450, 650, 850, 990], (Stretch(True, None, None),)),
        ([100, 300, 700, 700, 900], (Stretch(True, 0.4, 0.6),)),
        (
            [20, 300, 700, 500, 900],
            (Stretch(False, None, 0.2), Stretch(True, 0.4, 0.6), Stretch(False, 0.6, 0.8)),
        ),
    ],
)
def test_bins_that_err_alike_are_put_together(positive: list[int], expected: tuple[Stretch, ...]) -> None:
    """Up to the ends of the scale only where next to no rows lie beyond what is shown."""
    assert stretches(curve([1_000] * 5, MIDDLES, positive), confidence=0.95) == expected


def test_rows_without_bounds_show_nothing() -> None:
    """Weighted and dependent rows have no band, and whatever they look like nothing is read off it."""
    assert not stretches(curve([1_000] * 5, MIDDLES, [900] * 5, banded=False), confidence=0.95)


COUNTS = st.lists(st.integers(1, 400), min_size=5, max_size=5)


@given(COUNTS, st.data())
def test_every_stretch_is_true_within_the_band(rows: list[int], data: st.DataObject) -> None:
    """Whatever rates the simultaneous band allows, each stretch errs in total in the way that is said."""
    positive = [data.draw(st.integers(0, count)) for count in rows]
    found = stretches(curve(rows, MIDDLES, positive), confidence=0.95)
    counts = np.array(rows, np.float64)
    lower, upper = rate_bounds(np.array(positive, np.float64), counts, delta_each_side=0.05 / 10)
    for one in found:
        first = 0.0 if one.lower is None else one.lower
        last = 1.0 if one.upper is None else one.upper
        inside = (EDGES[:-1] >= first) & (EDGES[1:] <= last)
        worst = lower if one.too_low else upper
        total = float((counts * (worst - np.array(MIDDLES)))[inside].sum())
        assert total > 0.0 if one.too_low else total < 0.0
    assert all(one.too_low != another.too_low for one, another in pairwise(found))
