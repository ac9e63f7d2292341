"""The distance to calibration: how far scores must move until they are calibrated, bounded on both sides."""

import math

import numpy as np

from calibcli.bounds.brownian import normal_tail
from calibcli.bounds.interval import Interval
from calibcli.bounds.mean_bets import GroupedValues, lower_bound_of_size, upper_bound_of_signed_sum
from calibcli.bounds.proportion import hoeffding_deviation
from calibcli.measures.binned_ece import effective_rows
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.names import Binning, MeasureName, Target
from calibcli.table.bins import BinnedTable, Bins, binned, equal_width_edges
from calibcli.table.cells import CELLS
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

ONE_POPULATION = "rows are drawn alike from one population"
BOUNDS_EVERY_FORM = "the bounds hold for the lower and for the upper distance"


def distance(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    An upper estimate of the mean distance from the scores to the nearest calibrated function of them.

    With K bins of midpoints m_k it is (1/n) sum_k |Y_k - n_k m_k| + (1/n) sum_i |f_i - m_k(i)|: what it takes
    to move each score to its midpoint and each midpoint to its bin's rate.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The estimate with finite-sample bounds. K depends on the number of rows alone: the smallest divisor
        of 720,720 that is at least 1.3 n^(1/3).

    References:
        Blasiok, Gopalan, Hu & Nakkiran (2023), STOC; the bounds are proved in `docs/methods.md`.
    """
    sums = _bins(table)
    rated, moved = _to_midpoints(table, sums)
    value = rated + moved
    interval = distance_interval(table, sums=sums, confidence=confidence)
    return Estimate(
        name=MeasureName.DCE,
        value=value,
        interval=interval,
        null=None if table.weighted else _of_calibrated_labels(sums) + moved,
        assumptions=(*sentences(table), BOUNDS_EVERY_FORM, "the value is an upper estimate of the distance"),
        rows=table.total_rows,
        details={"bins": sums.rows.size, "rate_to_midpoint": rated, "score_to_midpoint": moved},
    )


def sentences(table: Table) -> tuple[str, ...]:
    """Return what the bounds assume."""
    return (INDEPENDENT_ROWS, HELD_OUT) if table.weighted else (INDEPENDENT_ROWS, ONE_POPULATION, HELD_OUT)


def number_of_bins(rows: int) -> int:
    """Return the smallest divisor of 720,720 that is at least 1.3 n^(1/3)."""
    count = max(1, math.ceil(1.3 * math.cbrt(rows) - 1e-9))
    while CELLS % count:
        count += 1
    return count


def _bins(table: Table) -> BinnedTable:
    edges = equal_width_edges(number_of_bins(table.total_rows))
    return binned(table, Bins(Binning.EQUAL_WIDTH, edges))


def _midpoints(sums: BinnedTable) -> Floats:
    """Return the middle of each bin, shape (n_bins,)."""
    return np.asarray((np.arange(sums.rows.size) + 0.5) / sums.rows.size)


def _to_midpoints(table: Table, sums: BinnedTable) -> tuple[float, float]:
    """Return the mean distances from rates to midpoints and from scores to midpoints."""
    middle = _midpoints(sums)
    rated = float(np.abs(sums.positive - sums.weight * middle).sum()) / sums.total
    at = np.repeat(middle, np.diff(sums.starts))
    positive, negative = table.positive, table.weight - table.positive
    moved = positive * np.abs(table.score_of_positive - at) + negative * np.abs(table.score_of_negative - at)
    return rated, float(moved.sum()) / sums.total


def _of_calibrated_labels(sums: BinnedTable) -> float:
    """Return the mean of |Y_k - n_k m_k| over calibrated labels, Y_k taken as normal."""
    total = 0.0
    mean = sums.score_sum - sums.weight * _midpoints(sums)
    for gap, spread in zip(np.abs(mean).tolist(), np.sqrt(sums.variance).tolist(), strict=True):
        # Beyond 40 deviations the sign is certain, and squares may overflow.
        if gap >= 40.0 * spread:
            total += gap
            continue
        ratio = gap / spread
        density = math.exp(-0.5 * ratio**2) / math.sqrt(2.0 * math.pi)
        total += 2.0 * spread * density + gap * (1.0 - 2.0 * normal_tail(ratio))
    return total / sums.total


def distance_interval(table: Table, *, confidence: float, sums: BinnedTable | None = None) -> Interval:
    """
    Return bounds that hold for every form of the distance: the lower, the upper and any in between.

    The upper one is of E[s_k (Y - m_k) + |f - m_k|] for the worst signs s_k, which is at least the upper
    distance; the lower one of |E r| and |E[r (2f - 1)]| / 3, which are at most the lower distance, each at
    half the error.

    Args:
        table: The rows. With importance weights the bounds are Hoeffding's, for these scores.

        confidence: Coverage asked, in (0, 1).

        sums: The table over the bins of `distance`, if known.
    """
    delta = (1.0 - confidence) / 2.0
    sums = _bins(table) if sums is None else sums
    if table.weighted:
        rated, moved = _to_midpoints(table, sums)
        upper = rated + moved + hoeffding_deviation(effective_rows(table), delta)
        method, target = "Hoeffding at the effective number of rows", Target.FIXED_DESIGN
    else:
        upper = _upper_by_betting(table, sums, delta=delta)
        method, target = f"betting on rows, upper over {sums.rows.size} bins", Target.POPULATION
    level, tilt = dictionary(table, delta=delta)
    lower = max(level, tilt / 3.0)
    return Interval(lower, min(1.0, upper), confidence, method, target, finite_sample=True)


def _upper_by_betting(table: Table, sums: BinnedTable, *, delta: float) -> float:
    at = np.repeat(_midpoints(sums), np.diff(sums.starts))
    gap = np.stack((1.0 - at, -at))
    moved = np.abs(np.stack((table.score_of_positive, table.score_of_negative)) - at)
    counts = np.stack((table.positive, table.weight - table.positive))
    plus, minus = (
        GroupedValues(sign * gap + moved, counts=counts, starts=sums.starts) for sign in (1.0, -1.0)
    )
    return upper_bound_of_signed_sum(plus, minus, delta=delta)


def dictionary(table: Table, *, delta: float) -> tuple[float, float]:
    """
    Return lower bounds of |E r| and of |E[r (2f - 1)]| that hold together.

    Args:
        table: The rows.

        delta: Probability that either fails.
    """
    score = np.stack((table.score_of_positive, table.score_of_negative))
    residual = np.stack((1.0 - score[0], -score[1]))
    counts = np.stack((table.positive, table.weight - table.positive))
    found = []
    for values in (residual, residual * (2.0 * score - 1.0)):
        if table.weighted:
            size = abs(float((counts * values).sum()) / float(counts.sum()))
            found.append(max(0.0, size - hoeffding_deviation(effective_rows(table), delta / 4.0)))
        else:
            whole = GroupedValues(values, counts=counts, starts=np.array([0, table.distinct]))
            found.append(lower_bound_of_size(whole, delta=delta / 2.0))
    return found[0], found[1]
