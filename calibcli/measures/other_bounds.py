"""Every other bound of `ece` and `l2`, each one-sided with half of the error that an interval may make."""

from dataclasses import replace

import numpy as np

from calibcli.bounds.betting import stakes_for_any_time, stakes_for_one_look
from calibcli.bounds.concentration import bounded_differences, empirical_bernstein
from calibcli.bounds.proportion import deviation_of_a_mean
from calibcli.measures.binned_ece import grouped_residuals, mean_noise
from calibcli.measures.effective import deviation
from calibcli.measures.estimate import Estimate
from calibcli.measures.gaps import gaps_in
from calibcli.measures.l2 import l2_squared_plug_in
from calibcli.measures.l2_bounds import counted, lower_bound, sun_interval, upper_chernoff
from calibcli.measures.linf import each_of, farthest
from calibcli.measures.lp import margin_of_norm
from calibcli.names import Binning
from calibcli.table.bins import BinnedTable, Partition, binned
from calibcli.table.grid import Table

Bounds = dict[str, float | int | str]


def with_ece_bounds(estimate: Estimate, table: Table, *, bins: Partition, confidence: float) -> Estimate:
    """Return a binned ECE with every bound of it among its details; see `ece_bounds`."""
    found = ece_bounds(table, binned(table, bins), delta=(1.0 - confidence) / 2.0)
    return replace(estimate, details={**estimate.details, **found})


def with_l2_bounds(estimate: Estimate, table: Table, *, bins: Partition, confidence: float) -> Estimate:
    """Return an l2 error with every bound of it among its details; see `l2_bounds`."""
    found = l2_bounds(table, binned(table, bins), confidence=confidence)
    return replace(estimate, details={**estimate.details, **found})


def ece_bounds(table: Table, sums: BinnedTable, *, delta: float) -> Bounds:
    """
    Return upper and lower bounds of the binned ECE by name, each one-sided.

    Args:
        table: The rows.

        sums: The table over the partition; over equal-mass bins, which these scores have cut, there are no
            bounds for the population.

        delta: Probability of each bound by itself to fail.

    Returns:
        Keys such as `upper_hoeffding`; with importance weights only those of Hoeffding and McDiarmid.
    """
    value = float(np.abs(sums.residual).sum()) / sums.total
    margin = deviation(table, delta=delta)
    found: Bounds = {
        "upper_hoeffding": min(1.0, value + margin),
        "lower_mcdiarmid": max(0.0, value - mean_noise(table, sums) - margin),
    }
    if table.weighted:
        return found
    found["upper_d_star"] = min(1.0, value + deviation_of_a_mean(table.total_rows, delta))
    residuals = grouped_residuals(table, sums)
    variance = float(sums.variance.sum()) / sums.total
    stakes = stakes_for_one_look(table.total_rows, variance, delta=delta)
    found["upper_betting"] = residuals.upper_bound(stakes, delta=delta)
    found["lower_betting"] = residuals.lower_bound(stakes, delta=delta)
    share = gaps_in(sums).share
    least, most = farthest(sums, delta=each_of(share.size, delta) / 2.0)
    found["upper_clopper_pearson"] = min(1.0, float((share * most).sum()))
    found["lower_clopper_pearson"] = float((share * least).sum())
    if sums.bins.binning is not Binning.EQUAL_MASS:
        found |= _for_the_population(table, sums, value=value, delta=delta)
        stakes = stakes_for_any_time(delta=delta)
        found["upper_betting_any_time"] = residuals.upper_bound(stakes, delta=delta)
        found["lower_betting_any_time"] = residuals.lower_bound(stakes, delta=delta)
    return found


def _for_the_population(table: Table, sums: BinnedTable, *, value: float, delta: float) -> Bounds:
    """Return Theorem 12.4 and the empirical Bernstein bound, for a partition fixed before the rows."""
    rows = table.total_rows
    margin = bounded_differences(rows, delta)
    square = float(sums.residual_sq.sum()) / sums.total
    return {
        "upper_theorem_12_4": min(1.0, value + margin),
        "lower_theorem_12_4": max(0.0, value - float(np.sqrt(sums.rows.size / rows)) - margin),
        "upper_empirical_bernstein": empirical_bernstein(value, square, rows=rows, delta=delta),
    }


def l2_bounds(table: Table, sums: BinnedTable, *, confidence: float) -> Bounds:
    """
    Return bounds of the binned l2 error at these scores by name, each one-sided, and the set of Sun et al.

    Args:
        table: The rows.

        sums: The table over the partition.

        confidence: Coverage asked of a two-sided interval: each bound fails with half of what that leaves.
    """
    delta = (1.0 - confidence) / 2.0
    plug_in = float(np.sqrt(l2_squared_plug_in(sums)))
    margin = margin_of_norm(gaps_in(sums), power=2.0, delta=delta)
    found: Bounds = {"upper_hoeffding": min(1.0, plug_in + margin)}
    if table.weighted:
        return found
    upper = upper_chernoff(table, sums, delta=delta)
    if upper is not None:
        found["upper_chernoff"] = upper
    if counted(table, sums) is not None:
        found["lower_chernoff"] = lower_bound(table, sums, delta=delta)[0]
    found["sun"] = sun_interval(table, sums, confidence=confidence)
    return found
