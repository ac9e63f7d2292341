"""The distance to calibration: how far scores must move until they are calibrated, bounded on both sides."""

import math
from collections.abc import Iterator

import numpy as np

from calibcli.bounds.brownian import normal_tail
from calibcli.bounds.interval import Interval
from calibcli.bounds.mean_bets import Quadratic, Signed, lower_bound_of_size, upper_bound_of_signed_sum
from calibcli.bounds.proportion import hoeffding_deviation
from calibcli.measures.effective import effective_rows
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import UNKNOWN, Reference, of_moments
from calibcli.measures.least_error import error_shares
from calibcli.measures.pieces import CutTable, cut_table
from calibcli.names import MeasureName, Target
from calibcli.table.cells import CELLS
from calibcli.table.grid import Table

# Of the stake on the bins of the estimate, on finer ones, and on each score by itself.
SHARES = (3 / 4, 1 / 8, 1 / 8)
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
    cut = _cut(table, confidence=confidence)
    rated, moved = _to_midpoints(cut)
    value = rated + moved
    null, null_range = UNKNOWN if table.weighted else _of_calibrated_labels(cut, moved)
    interval = distance_interval(table, cut=cut, confidence=confidence)
    return Estimate(
        name=MeasureName.DCE,
        value=value,
        interval=interval,
        null=null,
        assumptions=(*sentences(table), BOUNDS_EVERY_FORM, "the value is an upper estimate of the distance"),
        rows=table.total_rows,
        details={"bins": cut.bins, "rate_to_midpoint": rated, "score_to_midpoint": moved},
        null_range=null_range,
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


def _cut(table: Table, *, confidence: float) -> CutTable:
    """Gather a table for every bet of the interval, the dearest being at an eighth of the error."""
    return cut_table(table, bins=number_of_bins(table.total_rows), delta=(1.0 - confidence) / 8.0)


def _to_midpoints(cut: CutTable) -> tuple[float, float]:
    """Return the mean distances from rates to midpoints and from scores to midpoints."""
    total = cut.pieces.rows
    rated = float(np.abs(cut.of_bins(cut.gap)).sum()) / total
    return rated, float(cut.of_bins(cut.moved).sum()) / total


def _of_calibrated_labels(cut: CutTable, moved: float) -> Reference:
    """
    Return mean and range of the estimate over calibrated labels, Y_k taken as normal.

    Each |Y_k - n_k m_k| is the size of a normal variable. Where its sign is open, its third central moment is
    as good as its standard deviation cubed; where it is settled, that of Y_k with its sign.
    """
    total, noise, third = 0.0, 0.0, 0.0
    mean, variance = cut.of_bins(cut.from_midpoint), cut.of_bins(cut.variance)
    middle = np.concatenate(([0.0], (np.arange(cut.bins) + 0.5) / cut.bins, [1.0]))
    turned = np.sign(mean) * variance * (1.0 - 2.0 * middle)
    for gap, spread, skew in zip(
        np.abs(mean).tolist(), np.sqrt(variance).tolist(), turned.tolist(), strict=True
    ):
        # Beyond 40 deviations the sign is certain, and squares may overflow.
        if gap >= 40.0 * spread:
            total += gap
            noise += spread**2
            third += skew
            continue
        ratio = gap / spread
        density = math.exp(-0.5 * ratio**2) / math.sqrt(2.0 * math.pi)
        settled = 1.0 - 2.0 * normal_tail(ratio)
        size = 2.0 * spread * density + gap * settled
        own = max(spread**2 + gap**2 - size**2, 0.0)
        total, noise = total + size, noise + own
        third += settled**3 * skew + (1.0 - settled**3) * own**1.5
    rows = cut.pieces.rows
    null = total / rows + moved
    return null, of_moments(null, noise / rows**2, third / rows**3, least=moved)


def distance_interval(table: Table, *, confidence: float, cut: CutTable | None = None) -> Interval:
    """
    Return bounds that hold for every form of the distance: the lower, the upper and any in between.

    The upper one is of E[s_k (Y - m_k) + |f - m_k|] for the worst signs s_k, which is at least the upper
    distance, whichever bins it is taken over; the lower one of |E r| and |E[r (2f - 1)]| / 3, which are at
    most the lower distance, at three quarters and a quarter of the error.

    Args:
        table: The rows. With importance weights the bounds are Hoeffding's, for these scores.

        confidence: Coverage asked, in (0, 1).

        cut: The table as `distance` gathers it, if known.
    """
    delta = (1.0 - confidence) / 2.0
    cut = _cut(table, confidence=confidence) if cut is None else cut
    if table.weighted:
        upper = sum(_to_midpoints(cut)) + hoeffding_deviation(effective_rows(table), delta)
        method, target = "Hoeffding at the effective number of rows", Target.FIXED_DESIGN
    else:
        upper = upper_bound_of_signed_sum(cut.pieces, list(_signed(cut)), delta=delta)
        method, target = f"betting on rows, upper over {cut.bins} bins", Target.POPULATION
    level, tilt = dictionary(table, delta=delta, cut=cut)
    lower = max(level, tilt / 3.0)
    return Interval(lower, min(1.0, upper), confidence, method, target, finite_sample=True)


def _signed(cut: CutTable) -> Iterator[Signed]:
    """
    Yield what is bet on: distances by the bins, by finer ones, and by each score where they are few.

    Finer bins cost noise, and little where labels vary little, as those of rare events do.
    """
    for share, one in zip(SHARES, (cut, cut.finer, cut.each), strict=True):
        if one is not None:
            plus, minus = (
                Quadratic(sign * one.gap.level + one.moved.level, one.moved.rise) for sign in (1.0, -1.0)
            )
            yield Signed(plus, minus, one.starts, share)


def dictionary(table: Table, *, delta: float, cut: CutTable | None = None) -> tuple[float, float]:
    """
    Return lower bounds of |E r| and of |E[r (2f - 1)]| that hold together.

    Args:
        table: The rows.

        delta: Probability that either fails.

        cut: The table gathered for bets at `delta` / 4, if known.
    """
    if cut is None:
        cut = cut_table(table, bins=number_of_bins(table.total_rows), delta=delta / 4.0)
    found = []
    for values, part in zip((cut.residual, cut.tilted), error_shares(delta, signs=2), strict=True):
        if table.weighted:
            size = abs(float(cut.of_bins(values).sum())) / cut.pieces.rows
            found.append(max(0.0, size - hoeffding_deviation(effective_rows(table), part / 2.0)))
        else:
            found.append(lower_bound_of_size(cut.pieces, values, delta=part))
    return found[0], found[1]
