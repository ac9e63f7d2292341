"""Residuals against the score: a reliability curve less its diagonal."""

from dataclasses import replace

import numpy as np
import pytest

from calibcli.names import AxisScale, Binning, PlotKind
from calibcli.stats.curves.picture import axis_for
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve, residual_curve, smooth_curve
from calibcli.stats.measures.smooth_ece import smooth_ece
from calibcli.stats.table.bins import bins_of
from calibcli.stats.table.grid import Table, grid_of
from calibcli.stats.table.score_table import ScoreTable


def simulated(rows: int = 3_000) -> ScoreTable:
    """Return scores that are too high."""
    rng = np.random.default_rng(4)
    score = rng.beta(0.8, 1.6, rows)
    return ScoreTable.from_rows(score, rng.random(rows) < score**1.3)


def reliability(table: Table) -> ReliabilityCurve:
    """Return both curves at the bandwidth of smECE."""
    smooth = smooth_curve(table, bandwidth=smooth_ece(table).value, generator=np.random.default_rng(0))
    bins = binned_curve(table, bins=bins_of(Binning.EQUAL_WIDTH, 10, table=table))
    return ReliabilityCurve(PlotKind.SMOOTH, bins, smooth, 0.95)


def test_area_weighted_by_density_is_the_smoothed_error() -> None:
    """On exact and on grid tables."""
    for table in (simulated(), grid_of(simulated())):
        curve = residual_curve(reliability(table))
        area = np.trapezoid(curve.density * np.abs(curve.residual), curve.at)
        assert area == pytest.approx(smooth_ece(table).value, rel=2e-3)


def test_residuals_are_smoothed_as_reliability_curves_are() -> None:
    """By log-odds along them, where there is such a curve; on scores as they are else."""
    rng = np.random.default_rng(0)
    score = 1.0 / (1.0 + np.exp(rng.normal(6.0, 1.0, 2_000)))
    table = ScoreTable.from_rows(score, rng.random(2_000) < score)
    along = smooth_curve(table, bandwidth=0.5, generator=rng, log_odds=True)
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
    table = simulated()
    curve = residual_curve(reliability(table), by_bins=True)
    place = np.minimum((np.ceil(table.score * 10) - 1).clip(0), 9)
    wanted = sum(
        abs(float((table.positive - table.weight * table.score)[place == one].sum())) for one in range(10)
    )
    assert float(curve.density @ np.abs(curve.residual)) == pytest.approx(wanted / table.total_rows)


def test_band_is_that_of_the_reliability_curve_less_the_score() -> None:
    """So it holds the residual, and where there is none, there is none."""
    source = reliability(simulated())
    curve = residual_curve(source)
    smooth = source.smooth
    assert smooth is not None
    seen = ~np.isnan(curve.residual)
    assert curve.upper[seen] == pytest.approx((smooth.upper - smooth.x)[seen])
    assert np.all(
        (curve.lower <= curve.residual + 1e-12)[seen] & (curve.residual <= curve.upper + 1e-12)[seen]
    )
    table = ScoreTable.from_rows(np.array([0.2, 0.7]), np.array([False, True]), weight=np.array([1.0, 2.0]))
    assert np.isnan(residual_curve(reliability(table)).lower).all()
