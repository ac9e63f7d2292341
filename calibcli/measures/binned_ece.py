"""Binned ECE: the weighted mean gap between observed rate and mean score, over bins."""

import math

import numpy as np

from calibcli.bounds.betting import GroupedResiduals, stakes_for_one_look
from calibcli.bounds.interval import Interval
from calibcli.bounds.proportion import deviation_of_a_mean, mean_absolute_deviation
from calibcli.bounds.special import normal_quantile
from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.effective import deviation
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import UNKNOWN, of_draws
from calibcli.measures.least_error import BY_MEAN_OR_NOISE, least_error
from calibcli.names import Binning, MeasureName, Target
from calibcli.table.bins import BinnedTable, Partition, binned, segment_sums
from calibcli.table.grid import Table


def binned_ece(
    table: Table,
    *,
    bins: Partition,
    confidence: float = 0.95,
    calibrated: CalibratedDraws | None = None,
    name: MeasureName = MeasureName.ECE,
) -> Estimate:
    """
    Weighted mean absolute gap between observed rate and mean score, (1/n) sum_k |S_k|.

    Args:
        table: The rows.

        bins: The partition, or sums over it; it may depend on the scores, never on the labels.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

        name: The name the estimate carries.

    Returns:
        The plug-in estimate, biased upward in small bins: read it beside `null`. The interval is
        finite-sample, for these scores with labels drawn anew.

    References:
        Naeini, Cooper & Hauskrecht (2015), AAAI; bounds in `docs/methods.md`.
    """
    sums = binned(table, bins)
    value = float(np.abs(sums.residual).sum()) / sums.total
    delta = (1.0 - confidence) / 2.0
    upper, method = upper_bound(table, sums, delta=delta)
    lower = lower_bound(table, sums, delta=delta)
    interval = Interval(
        lower,
        max(upper, value),
        confidence,
        f"{method}; lower: {BY_MEAN_OR_NOISE}",
        Target.FIXED_DESIGN,
        finite_sample=True,
    )
    null = UNKNOWN if calibrated is None else of_draws(calibrated.ece_of(sums.bins))
    return Estimate(
        name=name,
        value=value,
        interval=interval,
        null=null[0],
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, f"of {bins.spoken_of}, not of finer ones"),
        rows=table.total_rows,
        details={"bins": int(np.count_nonzero(sums.rows)), "partition": bins.described},
        null_range=null[1],
    )


def upper_bound(table: Table, sums: BinnedTable, *, delta: float) -> tuple[float, str]:
    """
    Return a fixed-design upper bound of the binned ECE, one-sided, and its method.

    Which of two bounds is taken is settled by the scores alone: betting where scores are near 0 or 1, and
    otherwise the plug-in plus d*.

    Args:
        table: The rows.

        sums: The table over the partition.

        delta: Probability of the bound falling short.
    """
    value = float(np.abs(sums.residual).sum()) / sums.total
    if table.weighted:
        bound = min(1.0, value + deviation(table, delta=delta))
        return bound, "upper: Hoeffding at the effective number of rows"
    variance = float(sums.variance.sum()) / sums.total
    if bets_are_sharper(variance, delta=delta):
        stakes = stakes_for_one_look(table.total_rows, variance, delta=delta)
        return grouped_residuals(table, sums).upper_bound(stakes, delta=delta), "upper: betting"
    return min(1.0, value + deviation_of_a_mean(table.total_rows, delta)), "upper: d*"


def lower_bound(table: Table, sums: BinnedTable, *, delta: float) -> float:
    """
    Return a fixed-design lower bound of the binned ECE, one-sided.

    Args:
        table: The rows.

        sums: The table over the partition.

        delta: Probability of lying above.
    """
    value = float(np.abs(sums.residual).sum()) / sums.total

    def beyond_noise(delta: float) -> float:
        return value - mean_noise(table, sums) - deviation(table, delta=delta)

    return least_error(table, beyond_noise, delta=delta)


def bets_are_sharper(variance: float, *, delta: float) -> bool:
    """Return whether scores with this mean of f (1 - f) are near enough to 0 and 1 for betting to beat d*."""
    log_odds = math.log(1.0 / delta)
    return -normal_quantile(delta) / 2.0 > 1.02 * math.sqrt(2.0 * variance * log_odds)


def grouped_residuals(table: Table, sums: BinnedTable) -> GroupedResiduals:
    """Return the residuals of each bin, ready for bets."""
    negative = table.weight - table.positive
    return GroupedResiduals(
        table.score, positive=table.positive, negative=negative, starts=sums.starts, places=sums.upper
    )


def mean_noise(table: Table, sums: BinnedTable) -> float:
    """
    Return how much of a binned ECE labels alone can make on average: the most that E|gap| exceeds |E gap|.

    Where a bin holds one score this is the mean absolute deviation of a binomial; elsewhere the bound
    sqrt(n_k) / 2 of the standard deviation.
    """
    if sums.bins.binning is Binning.ATOMS and not table.weighted:
        noise = sums.weight * mean_absolute_deviation(sums.weight, np.clip(table.score, 0.0, 1.0))
        return float(noise.sum()) / sums.total
    return float(np.sqrt(segment_sums(table.weight_sq, sums.starts)).sum()) / (2.0 * sums.total)
