"""Measures by a smooth curve or a kernel: the calibration indices and the kernel error."""

import math
from collections.abc import Callable, Mapping

import numpy as np

from calibcli.names import MeasureName
from calibcli.stats.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.stats.measures.if_calibrated import Measures, Range, Settings, Shared, of_moments
from calibcli.stats.table.grid import Table, residuals, squared_residuals
from calibcli.stats.table.kernel import LEAST_BANDWIDTH, cosine_series, fixpoint, residual_series
from calibcli.stats.table.score_table import Floats

# Kumar, Sarawagi & Jain's choice.
_WIDTH = 0.4


def maximum_mean_error(table: Table) -> Estimate:
    """
    Return the root of (1/n^2) sum_ij r_i r_j exp(-|f_i - f_j| / 0.4), pairs of a row with itself included.

    Returns:
        MMCE as published (a V-statistic); its square and the unbiased square over pairs of different rows are
        in the details. No interval.

    References:
        Kumar, Sarawagi & Jain (2018), ICML, equation 4.
    """
    weight, residual = table.weight, residuals(table)
    total, rows = float(weight.sum()), table.total_rows
    pairs = max(0.0, energy(table.score, residual))
    squared = pairs / total**2
    details: dict[str, float | int | str] = {"squared": squared, "width": _WIDTH}
    other = total**2 - float(table.weight_sq.sum())
    if rows >= 2 and other > 0.0:
        details["squared_unbiased"] = (pairs - float(squared_residuals(table).sum())) / other
    # Residuals of different calibrated rows are independent with mean 0: only each row with itself is left.
    variance = table.score * (1.0 - table.score)
    noise = float((table.weight_sq * variance).sum())
    return Estimate(
        name=MeasureName.MMCE,
        value=math.sqrt(squared),
        interval=None,
        null=math.sqrt(noise) / total,
        assumptions=(
            INDEPENDENT_ROWS,
            HELD_OUT,
            "no interval: none that holds in finite samples is known to us",
            'the "by chance" value is the root of the mean square',
        ),
        rows=rows,
        details=details,
        null_range=None if table.weighted else _range_if_calibrated(table, variance),
    )


def _range_if_calibrated(table: Table, variance: Floats) -> Range:
    """
    Return the range over labels that follow the scores.

    The square is a sum of r_i r_j k_ij, whose variance is 2 sum_ij v_i v_j k_ij^2 over pairs of different
    rows and sum_i (E r_i^4 - v_i^2) = sum_i v_i (1 - 4 v_i). Of such a sum of squares of nearly normal
    variables a gamma variable with the same two moments has about the law (Satterthwaite).
    """
    mass = table.weight * variance
    mean = float(mass.sum())
    pairs = energy(table.score, mass, width=0.5 * _WIDTH) - float((mass * variance).sum())
    spread = 2.0 * max(pairs, 0.0) + float((mass * (1.0 - 4.0 * variance)).sum())
    third = 2.0 * spread**2 / mean if mean > 0.0 else 0.0
    low, high = of_moments(mean, spread, third, least=0.0)
    return math.sqrt(low) / table.total_rows, math.sqrt(high) / table.total_rows


def energy(score: Floats, mass: Floats, *, width: float = _WIDTH) -> float:
    """Return sum_ij m_i m_j exp(-|f_i - f_j| / width) from running sums."""
    # exp(score / 0.2) is at most e^5, so the exponential of a distance may be taken apart.
    before = np.cumsum(mass * np.exp(score / width))
    across = float((mass[1:] * np.exp(-score[1:] / width) * before[:-1]).sum())
    return float((mass**2).sum()) + 2.0 * across


# Points of the curve, at the least, for each unit of score.
_FEWEST = 1_024

_REACH = 2.8


def calibration_index(table: Table, *, name: MeasureName, shared: Shared | None = None) -> Estimate:
    """
    Return the mean, median, 90th percentile or maximum over rows of |h(f) - f|, h a smooth curve.

    h(f) = f + sum_i K(f - f_i) r_i / sum_i K(f - f_i), K the reflected Gaussian at the smECE
    bandwidth, limited to [0, 1]. Residuals are smoothed, so that a calibrated score is not faulted for bends
    that the kernel makes.

    References:
        Austin & Steyerberg (2019), Statistics in Medicine 38, who take loess.
    """
    bandwidth, gap = (shared or Shared()).once("smooth gap", table, lambda: _gap_at_smece(table))
    return Estimate(
        name=name,
        value=_SUMMARIES[name](gap, table.weight),
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
    """Return h(f) - f at each score, shape (n_entries,)."""
    masses = np.stack((table.weight, residuals(table))) / table.weight.sum()
    oversampling = max(32, math.ceil(_FEWEST * bandwidth / _REACH))
    weight, residual = cosine_series(table.score, masses).smoothed(bandwidth, oversampling=oversampling)
    at = np.linspace(0.0, 1.0, weight.size)
    # A row's own weight keeps the denominator above 0 at its score.
    seen = np.interp(table.score, at, weight)
    gap = np.interp(table.score, at, residual) / np.where(seen > 0.0, seen, 1.0)
    return np.asarray(np.clip(gap, -table.score, 1.0 - table.score))


def weighted_quantile(value: Floats, weight: Floats, *, share: float) -> float:
    """Return the least value that at least this share of the weight does not exceed."""
    order = np.argsort(value, kind="stable")
    reached = np.cumsum(weight[order])
    # The sum may fall short of the share by rounding.
    enough = reached >= share * reached[-1] * (1.0 - 1e-12)
    return float(value[order][int(np.argmax(enough))])


# What is said of the sizes of gaps, with the weights of their rows.
_SUMMARIES: Mapping[MeasureName, Callable[[Floats, Floats], float]] = {
    MeasureName.ICI: lambda gap, weight: float((gap * weight).sum() / weight.sum()),
    MeasureName.E50: lambda gap, weight: weighted_quantile(gap, weight, share=0.5),
    MeasureName.E90: lambda gap, weight: weighted_quantile(gap, weight, share=0.9),
    MeasureName.EMAX: lambda gap, weight: float(gap[weight > 0.0].max()),
}


def _index(name: MeasureName, table: Table, settings: Settings) -> Estimate:
    return calibration_index(table, name=name, shared=settings.shared)


MEASURES: Measures = {
    MeasureName.MMCE: lambda _, table, __: maximum_mean_error(table),
    **dict.fromkeys(_SUMMARIES, _index),
}
