"""The Murphy curve: the mean elementary score at every threshold, and what recalibration would make of it."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.two_shares import TWO_SHARES, bounds_of_two_shares
from calibcli.curves.reliability import percent
from calibcli.curves.thresholds import NO_WEIGHTED_THRESHOLDS, Thresholds, thresholds_of
from calibcli.recalibrators.minorant import pooled_starts
from calibcli.table.bins import segment_sums
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, frozen


@dataclass(frozen=True, slots=True, eq=False)
class MurphyCurve:
    """
    Mean elementary scores; all arrays have shape (n_points,).

    The elementary score at a threshold t is 2 (1 - t) for a row of label 1 with a score of at most t, 2 t
    for a row of label 0 with a score above t, and else 0. Its integral over t is the squared error, so the
    area under the curve is the Brier score; every other proper score is a mixture of elementary ones. It is
    four times the elementary score of the paper for the mean, |label - t| / 2.

    Args:
        at: Thresholds in [0, 1], not decreasing; two points where the curve steps.

        value: Mean elementary score.

        lower: Lower end of its interval; NaN where there is none.

        upper: Upper end.

        recalibrated: Mean elementary score of the isotonic fit to these rows, which is at most `value`.

        constant: That of the share of label 1 as the score of every row.

        ends: Where thresholds are worth looking at: the scores but for strays, and the share of label 1.

        confidence: Of the interval at each single threshold.

        band: What the interval is, or why there is none.

    References:
        Ehm, Gneiting, Jordan & Krüger (2016), JRSS-B 78; a score that equals the threshold is not above it.
        Dimitriadis, Gneiting, Jordan & Vogel (2024), Int. J. Forecast. 40, for the scale by which the area is
        the Brier score.
    """

    at: Floats
    value: Floats
    lower: Floats
    upper: Floats
    recalibrated: Floats
    constant: Floats
    ends: tuple[float, float]
    confidence: float
    band: str

    def __post_init__(self) -> None:
        for name in ("at", "value", "lower", "upper", "recalibrated", "constant"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


def murphy_curve(table: Table, *, confidence: float = 0.95) -> MurphyCurve:
    """
    Return the mean elementary score at every threshold.

    Args:
        table: The rows. Thresholds on a grid table are ends of its cells.

        confidence: Of the interval at each single threshold, in (0, 1).

    Raises:
        EmptyTable: If there are no rows, or no weight.
    """
    found = thresholds_of(table)
    low, high = 2.0 * (1.0 - found.at), 2.0 * found.at
    lower, upper, band = _bounds(found, (low, high), confidence=confidence)
    base = found.base
    return MurphyCurve(
        at=found.at,
        value=(low * found.missed + high * found.alarms) / found.total,
        lower=lower,
        upper=upper,
        recalibrated=_recalibrated(table, found),
        constant=np.where(found.at < base, high * (1.0 - base), low * base),
        ends=found.ends,
        confidence=confidence,
        band=band,
    )


def _bounds(
    found: Thresholds, factors: tuple[Floats, Floats], *, confidence: float
) -> tuple[Floats, Floats, str]:
    if found.weighted:
        nothing = np.full_like(found.at, math.nan)
        return nothing, nothing, NO_WEIGHTED_THRESHOLDS
    lower, upper = bounds_of_two_shares(
        found.missed, found.alarms, rows=found.total, factors=factors, confidence=confidence
    )
    band = f"pointwise {percent(confidence)}, {TWO_SHARES}"
    return np.maximum(lower, 0.0), np.minimum(upper, np.maximum(*factors)), band


def _recalibrated(table: Table, found: Thresholds) -> Floats:
    """Return the mean elementary score of the levels of the isotonic fit."""
    weighs = table.weight > 0.0
    weight, positive = table.weight[weighs], table.positive[weighs]
    starts = pooled_starts(weight, positive)
    held, ones = segment_sums(weight, starts), segment_sums(positive, starts)
    levels = np.minimum(ones / held, 1.0)
    missed = np.concatenate(([0.0], np.cumsum(ones)))
    alarms = np.concatenate(([0.0], np.cumsum(np.maximum(held - ones, 0.0))))
    below = np.searchsorted(levels, found.at, side="right")
    total = 2.0 * (1.0 - found.at) * missed[below] + 2.0 * found.at * (alarms[-1] - alarms[below])
    return np.asarray(total / found.total)
