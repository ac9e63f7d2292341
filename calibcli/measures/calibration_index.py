"""Integrated calibration index and its kin: how far a smooth curve lies from the diagonal, over the rows."""

import math
from typing import Literal

import numpy as np

from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.measures.settings import Shared
from calibcli.names import MeasureName
from calibcli.table.grid import Table
from calibcli.table.kernel import LEAST_BANDWIDTH, cosine_series, fixpoint, residual_series
from calibcli.table.residuals import residuals
from calibcli.table.score_table import Floats

CalibrationIndex = Literal[MeasureName.ICI, MeasureName.E50, MeasureName.E90, MeasureName.EMAX]
# Points of the curve, at the least, for each unit of score.
_FEWEST = 1_024
_REACH = 2.8


def calibration_index(table: Table, *, name: CalibrationIndex, shared: Shared | None = None) -> Estimate:
    """
    Return the mean, median, 90th percentile or maximum over rows of |h(f) - f|, h a smooth curve.

    h(f) = f + sum_i K(f - f_i) r_i / sum_i K(f - f_i), K the reflected Gaussian at the smECE
    bandwidth, limited to [0, 1]. Residuals are smoothed, so that a calibrated score is not faulted for bends
    that the kernel makes.

    Args:
        table: The rows.

        name: Which of the four.

        shared: Where the four find each other's curve.

    References:
        Austin & Steyerberg (2019), Statistics in Medicine 38, who take loess.
    """
    bandwidth, gap = (shared or Shared()).once("smooth gap", table, lambda: _gap_at_smece(table))
    return Estimate(
        name=name,
        value=_summary(gap, table.weight, name),
        interval=None,
        null=None,
        assumptions=(
            INDEPENDENT_ROWS,
            HELD_OUT,
            "no interval: the curve is smoothed, and its bias has no bound",
            "the curve is a kernel regression at the smECE bandwidth, not loess",
        ),
        rows=table.total_rows,
        details={"bandwidth": bandwidth},
    )


def _gap_at_smece(table: Table) -> tuple[float, Floats]:
    """Return the smECE bandwidth, and |h(f) - f| at each score, shape (n_entries,)."""
    bandwidth = max(fixpoint(residual_series(table)), LEAST_BANDWIDTH)
    return bandwidth, np.abs(smooth_gap(table, bandwidth=bandwidth))


def smooth_gap(table: Table, *, bandwidth: float) -> Floats:
    """
    Return h(f) - f at each score, shape (n_entries,).

    Args:
        table: The rows.

        bandwidth: Standard deviation of the kernel.
    """
    masses = np.stack((table.weight, residuals(table))) / table.weight.sum()
    oversampling = max(32, math.ceil(_FEWEST * bandwidth / _REACH))
    weight, residual = cosine_series(table.score, masses).smoothed(bandwidth, oversampling=oversampling)
    at = np.linspace(0.0, 1.0, weight.size)
    # A row's own weight keeps the denominator above 0 at its score.
    seen = np.interp(table.score, at, weight)
    gap = np.interp(table.score, at, residual) / np.where(seen > 0.0, seen, 1.0)
    return np.asarray(np.clip(gap, -table.score, 1.0 - table.score))


def _summary(gap: Floats, weight: Floats, name: CalibrationIndex) -> float:
    match name:
        case MeasureName.ICI:
            return float((gap * weight).sum() / weight.sum())
        case MeasureName.E50:
            return weighted_quantile(gap, weight, share=0.5)
        case MeasureName.E90:
            return weighted_quantile(gap, weight, share=0.9)
        case MeasureName.EMAX:
            return float(gap[weight > 0.0].max())


def weighted_quantile(value: Floats, weight: Floats, *, share: float) -> float:
    """Return the least value that at least this share of the weight does not exceed."""
    order = np.argsort(value, kind="stable")
    reached = np.cumsum(weight[order])
    # The sum may fall short of the share by rounding.
    enough = reached >= share * reached[-1] * (1.0 - 1e-12)
    return float(value[order][int(np.argmax(enough))])
