"""What acting on a score is worth at every threshold: the decision curve and the Murphy curve."""

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibcli.stats.bounds.proportion import TWO_SHARES, bounds_of_two_shares
from calibcli.stats.curves.reliability import percent, refuse_empty
from calibcli.stats.recalibrators.pooling import pooled_starts
from calibcli.stats.table.bins import segment_sums
from calibcli.stats.table.grid import Table
from calibcli.stats.table.score_table import Floats, frozen
from calibcli.values import dataclass

NO_WEIGHTED_THRESHOLDS = "no interval: importance weights leave none that holds at a single threshold"

# Up to so many distinct scores every step is kept.
_MOST_STEPS = 320

_EVEN = 129

# This share of the rows at each end of the scores may lie outside a picture.
_STRAY = 0.0005


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """
    Weight on the wrong side of each threshold; arrays have shape (n_points,).

    At a score that is kept there are two points: before the rows with that score fall below the threshold,
    and after.

    Args:
        at: The thresholds in [0, 1], not decreasing.
        missed: Weight of label 1 below the threshold.
        alarms: Weight of label 0 not below it.
        positive: Weight of label 1 in all.
        total: Weight in all.
        ends: Where thresholds are worth looking at: between these lie the scores but for strays, and the
            share of label 1.
        weighted: Whether weights are those of importance, so that no interval holds.
    """

    at: Floats
    missed: Floats
    alarms: Floats
    positive: float
    total: float
    ends: tuple[float, float]
    weighted: bool

    def __post_init__(self) -> None:
        for name in ("at", "missed", "alarms"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))

    @property
    def base(self) -> float:
        """Share of label 1."""
        return self.positive / self.total


def thresholds_of(table: Table) -> Thresholds:
    """
    Count what lies on the wrong side of thresholds.

    Thresholds are even steps, and scores of the table: all of them where they are few, else even steps and
    quantiles among them. Those of a grid table are ends of its cells, where its counts are exact.
    """
    refuse_empty(table)
    present = np.flatnonzero(table.weight > 0.0)
    upper, weight = table.upper[present], table.weight[present]
    positive = table.positive[present]
    steps = _steps(upper, weight)
    even = _on_cell_ends(np.linspace(0.0, 1.0, _EVEN), upper, table.resolution)
    at = np.concatenate((even, upper[steps], upper[steps]))
    below = np.concatenate((np.searchsorted(upper, even, side="right"), steps, steps + 1))
    order = np.lexsort((below, at))
    at, below = at[order], below[order]
    new = np.concatenate(([True], (at[1:] > at[:-1]) | (below[1:] > below[:-1])))
    ones = np.concatenate(([0.0], np.cumsum(positive)))
    others = np.concatenate(([0.0], np.cumsum(np.maximum(weight - positive, 0.0))))
    total = float(ones[-1] + others[-1])
    return Thresholds(
        at=at[new],
        missed=ones[below[new]],
        alarms=others[-1] - others[below[new]],
        positive=float(ones[-1]),
        total=total,
        ends=_ends(upper, np.cumsum(weight), base=float(ones[-1]) / total),
        weighted=table.weighted,
    )


def _steps(upper: Floats, weight: Floats) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return which scores are kept."""
    if upper.size <= _MOST_STEPS:
        return np.arange(upper.size)
    reached = np.cumsum(weight)
    half = _MOST_STEPS // 2
    ranks = np.searchsorted(reached, np.linspace(0.0, 1.0, half) * reached[-1])
    evenly = np.searchsorted(upper, np.linspace(upper[0], upper[-1], half))
    return np.unique(np.minimum(np.concatenate((ranks, evenly)), upper.size - 1))


def _ends(upper: Floats, reached: Floats, *, base: float) -> tuple[float, float]:
    first, last = np.searchsorted(reached, np.array([_STRAY, 1.0 - _STRAY]) * reached[-1])
    return min(float(upper[first]), base), max(float(upper[min(last, upper.size - 1)]), base)


def _on_cell_ends(at: Floats, upper: Floats, resolution: float) -> Floats:
    """Move thresholds that lie inside an occupied cell to its end."""
    after = upper[np.minimum(np.searchsorted(upper, at), upper.size - 1)]
    return np.where((after >= at) & (after - at < resolution), after, at)


Range = tuple[float, float]

Truths = npt.NDArray[np.bool_]

# Ranges of thresholds shorter than this part of the longest are not told of.
_SHORT = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class DecisionCurve:
    """
    Net benefit at every threshold t; arrays have shape (n_points,).

    Rows with a score of at least t are treated. A treated row of label 1 is worth 1 and one of label 0 costs
    t / (1 - t), which is what someone thinks who would treat from a probability of t on. The mean is the net
    benefit.

    Args:
        at: Thresholds in [0, 1), not decreasing; two points where the curve steps, the first of which is the
            value at the threshold and the second that right above it.
        value: Net benefit of treating by the score.
        lower: Lower end of its interval; NaN where there is none.
        upper: Upper end.
        all: Net benefit of treating every row.
        raw: Net benefit of the score before recalibration, or None.
        better: Ranges of thresholds in which the score is worth more than treating all and treating none.
        clearly_better: Ranges in which both differences are above 0 by the lower ends of their own intervals;
            None where there are no intervals.
        ends: Where thresholds are worth looking at: the scores but for strays, and the share of label 1.
        base: Share of label 1.
        confidence: Of the interval at each single threshold.
        band: What the interval is, or why there is none.

    References:
        Vickers & Elkin (2006), Med. Decis. Making 26.
    """

    at: Floats
    value: Floats
    lower: Floats
    upper: Floats
    all: Floats
    raw: tuple[Floats, Floats] | None
    better: tuple[Range, ...]
    clearly_better: tuple[Range, ...] | None
    ends: Range
    base: float
    confidence: float
    band: str

    def __post_init__(self) -> None:
        for name in ("at", "value", "lower", "upper", "all"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64))


def decision_curve(table: Table, *, raw: Table | None = None, confidence: float = 0.95) -> DecisionCurve:
    """
    Return the net benefit at every threshold below 1.

    Args:
        table: The rows. Thresholds on a grid table are ends of its cells.
        raw: The same rows under the score before recalibration, or None.
        confidence: Of the interval at each single threshold, in (0, 1).
    """
    found = _below_one(thresholds_of(table))
    odds = found.at / (1.0 - found.at)
    base, total = found.base, found.total
    treated, spared = found.positive - found.missed, (total - found.positive) - found.alarms
    value, everyone = _worth(found), base - (1.0 - base) * odds
    one = np.ones_like(odds)
    lower, upper = _bounds(found, (treated, found.alarms), (one, -odds), confidence=confidence)
    over_all, _ = _bounds(found, (found.missed, spared), (-one, odds), confidence=confidence)
    gain = (odds * spared - found.missed) / total
    clear = None if found.weighted else _ranges(found.at, (lower > 0.0) & (over_all > 0.0))
    own = f"pointwise {percent(confidence)}, {TWO_SHARES}"
    return DecisionCurve(
        at=found.at,
        value=value,
        lower=lower,
        upper=np.minimum(upper, 1.0),
        all=everyone,
        raw=None if raw is None else _of_raw(raw),
        better=_ranges(found.at, (value > 0.0) & (gain > 0.0)),
        clearly_better=clear,
        ends=found.ends,
        base=base,
        confidence=confidence,
        band=NO_WEIGHTED_THRESHOLDS if found.weighted else own,
    )


def _below_one(found: Thresholds) -> Thresholds:
    kept = found.at < 1.0
    return replace(found, at=found.at[kept], missed=found.missed[kept], alarms=found.alarms[kept])


def _worth(found: Thresholds) -> Floats:
    odds = found.at / (1.0 - found.at)
    return np.asarray((found.positive - found.missed - odds * found.alarms) / found.total)


def _of_raw(table: Table) -> tuple[Floats, Floats]:
    found = _below_one(thresholds_of(table))
    return found.at, _worth(found)


def _bounds(
    found: Thresholds, counts: tuple[Floats, Floats], factors: tuple[Floats, Floats], *, confidence: float
) -> tuple[Floats, Floats]:
    if found.weighted:
        nothing = np.full_like(found.at, math.nan)
        return nothing, nothing
    return bounds_of_two_shares(*counts, rows=found.total, factors=factors, confidence=confidence)


def _ranges(at: Floats, holds: Truths) -> tuple[Range, ...]:
    """Return the ranges of thresholds between the first and the last point of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], holds, [False])).astype(np.int8)))
    found = [(float(at[start]), float(at[stop - 1])) for start, stop in edges.reshape(-1, 2)]
    longest = max((stop - start for start, stop in found), default=0.0)
    return tuple(one for one in found if one[1] - one[0] > _SHORT * longest)


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
    """
    found = thresholds_of(table)
    low, high = 2.0 * (1.0 - found.at), 2.0 * found.at
    lower, upper, band = _murphy_bounds(found, (low, high), confidence=confidence)
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


def _murphy_bounds(
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
