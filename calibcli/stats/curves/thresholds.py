"""What acting on a score is worth at every threshold: the decision curve and the Murphy curve."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from calibcli.errors import EmptyTable
from calibcli.names import Benefit, PlotKind
from calibcli.options.numerals import percent
from calibcli.stats.bounds.means import METHOD, Kinds, first_shown
from calibcli.stats.curves.reliability import refuse_empty
from calibcli.stats.table import Arrays, Booleans, Floats, Indices, Integers, ScoreTable, grouped
from calibcli.stats.table.again import Rows, reread
from calibcli.stats.table.bins import segment_sums
from calibcli.stats.table.derived import cells_as_scores
from calibcli.stats.table.grid import GridTable, Table
from calibcli.values import dataclass, replace

NO_WEIGHTED_THRESHOLDS = "no interval: importance weights leave none that holds at a single threshold"

# Up to so many distinct scores every step is kept.
_MOST_STEPS = 320

_EVEN = 129

# Edges of cells are rounded by less than this leaves.
_NEARLY = 1.0 - 2.0**-30

# This share of the rows at each end of the scores may lie outside a picture.
_STRAY = 0.0005


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds(Arrays):
    """Weight on the wrong side of each threshold; arrays have shape (n_points,).

    At a score that is kept there are two points: before the rows with that score fall below the threshold,
    and after.

    Args:
        at: The thresholds in [0, 1], not decreasing.
        missed: Weight of label 1 below the threshold.
        alarms: Weight of label 0 not below it.
        positive: Weight of label 1 in all.
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

    @property
    def base(self) -> float:
        """Share of label 1."""
        return self.positive / self.total

    @property
    def odds(self) -> Floats:
        """The thresholds, which are below 1, as odds."""
        return self.at / (1.0 - self.at)


def thresholds_of(table: Table, at: Sequence[float] | None = None) -> Thresholds:
    """Count what lies on the wrong side of thresholds.

    Unless they are given, thresholds are even steps, and scores of the table: all of them where they are
    few, else even steps and quantiles among them. Those of a grid table are ends of its cells, where its
    counts are exact. Given ones are for a table that has been `told_apart` at them.
    """
    refuse_empty(table)
    present = np.flatnonzero(table.weight > 0.0)
    upper, weight = table.upper[present], table.weight[present]
    positive = table.positive[present]
    if at is None:
        places, below = _over_all(upper, weight, table.resolution)
    else:
        places = np.array(at, np.float64)
        below = np.searchsorted(upper, places)
    ones = np.concatenate(([0.0], np.cumsum(positive)))
    others = np.concatenate(([0.0], np.cumsum(np.maximum(weight - positive, 0.0))))
    total = float(ones[-1] + others[-1])
    return Thresholds(
        at=places,
        missed=ones[below],
        alarms=others[-1] - others[below],
        positive=float(ones[-1]),
        total=total,
        ends=_ends(upper, np.cumsum(weight), base=float(ones[-1]) / total),
        weighted=table.weighted,
    )


def cut_cells(table: Table, at: Sequence[float]) -> Indices:
    """Return the positions of the cells of a grid table that may hold scores on both sides of a threshold."""
    if not isinstance(table, GridTable) or not table.distinct:
        return np.zeros(0, np.intp)
    upper = table.upper
    thresholds = np.array(at, np.float64)
    place = np.minimum(np.searchsorted(upper, thresholds), table.distinct - 1)
    # A score that equals the threshold reaches it, so that the end of a cell cuts it too.
    inside = (upper[place] >= thresholds) & (upper[place] - thresholds < table.resolution * _NEARLY)
    # Rows that all have the largest score of their cell are on one side.
    apart = table.below_positive + table.below_negative > 0
    return np.unique(place[inside & apart[place]])


def told_apart(table: Table, at: Sequence[float], *, again: Rows | None = None) -> Table:
    """Return a table whose rows lie below thresholds or not, as those of the exact table do.

    Args:
        again: The rows of a grid table once more. Without them the rows of a cell that a threshold cuts stand
            at their mean score, those of each label by themselves.
    """
    cut = cut_cells(table, at)
    if not isinstance(table, GridTable):
        return table
    whole = np.delete(np.arange(table.distinct), cut)
    if not cut.size:
        inside = ScoreTable.empty()
    elif again is None:
        inside = cells_as_scores(GridTable(*(column[cut] for column in table.columns)))
    else:
        inside = reread(table, cut, rows=again)
    score = np.concatenate((table.upper[whole], inside.score))
    counts = (table.rows, inside.rows), (table.positive_rows, inside.positive_rows)
    return grouped(score, [np.concatenate((mine[whole], theirs)) for mine, theirs in counts])


def _over_all(upper: Floats, weight: Floats, resolution: float) -> tuple[Floats, Integers]:
    """Return even thresholds and scores, and how many entries of the table lie below each."""
    steps = _steps(upper, weight)
    even = np.linspace(0.0, 1.0, _EVEN)
    # Those that lie inside an occupied cell are moved to its end.
    after = upper[np.minimum(np.searchsorted(upper, even), upper.size - 1)]
    even = np.where((after >= even) & (after - even < resolution), after, even)
    at = np.concatenate((even, upper[steps], upper[steps]))
    below = np.concatenate((np.searchsorted(upper, even, side="right"), steps, steps + 1))
    order = np.lexsort((below, at))
    at, below = at[order], below[order]
    new = np.concatenate(([True], (at[1:] > at[:-1]) | (below[1:] > below[:-1])))
    return at[new], below[new]


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


Range = tuple[float, float]

# Ranges of thresholds shorter than this part of the longest are not told of.
_SHORT = 0.01


class Worth(NamedTuple):
    """What something is worth at thresholds, with an interval or NaN; shape (n_points,) each."""

    value: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, eq=False)
class DecisionCurve(Arrays):
    """Net benefit at every threshold t; arrays have shape (n_points,).

    Rows with a score of at least t are treated. A treated row of label 1 is worth 1 and one of label 0 costs
    t / (1 - t), which is what someone thinks who would treat from a probability of t on. The mean is the net
    benefit.

    Args:
        at: Thresholds in [0, 1), not decreasing; two points where the curve steps, the first of which is the
            value at the threshold and the second that right above it.
        value: Net benefit of treating by the score, on the scale of `benefit`.
        lower: Lower end of its interval; NaN where there is none.
        all: Net benefit of treating every row, on this scale.
        raw: Net benefit of the score before recalibration, or None.
        better: Ranges of thresholds in which the score is worth more than treating all and treating none.
        clearly_better: Ranges in which both differences are above 0 by the lower ends of their own intervals;
            None where there are no intervals.
        ends: Where thresholds are worth looking at: the scores but for strays, and the share of label 1.
        base: Share of label 1.
        confidence: Of the interval at each single threshold.
        band: What the interval is, or why there is none.
        marked: Thresholds that somebody named, ascending.

    References:
        Vickers & Elkin (2006), Med. Decis. Making 26; Kerr, Brown, Zhu & Janes (2016), J. Clin. Oncol. 34,
        for the standardised net benefit.
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
    benefit: Benefit = Benefit.NET
    marked: tuple[float, ...] = ()

    kind = PlotKind.DECISION

    def marking(self, thresholds: Iterable[float]) -> "DecisionCurve":
        """Return the curve with thresholds that somebody named; from two on it ends at the outer ones."""
        marked = tuple(sorted(thresholds))
        if len(marked) < 2:
            return replace(self, marked=marked)
        low, high = marked[0], marked[-1]
        better, clearly = (
            tuple((max(low, start), min(high, stop)) for start, stop in ranges if start < high and stop > low)
            for ranges in (self.better, self.clearly_better or ())
        )
        clear = None if self.clearly_better is None else clearly
        return replace(self, marked=marked, better=better, clearly_better=clear)


def decision_curve(
    table: Table, *, raw: Table | None = None, confidence: float = 0.95, benefit: Benefit = Benefit.NET
) -> DecisionCurve:
    """Return the net benefit at every threshold below 1, on a grid table at ends of its cells.

    Args:
        raw: The same rows under the score before recalibration, or None.
        benefit: As it is, over the share of label 1, or less that of the better of treating all and none.
    """
    found = _below_one(thresholds_of(table))
    if benefit is Benefit.STANDARDISED and not found.positive:
        msg = "no row has label 1, so that no net benefit can be standardised"
        raise EmptyTable(msg, hint="--benefit net")
    everyone = found.base - (1.0 - found.base) * found.odds
    net, gain = net_benefit(found, confidence=confidence), gain_over_all(found, confidence=confidence)
    clear = None if found.weighted else _ranges(found.at, (net.lower > 0.0) & (gain.lower > 0.0))

    def scaled(at: Floats, worth: Floats) -> Floats:
        if benefit is Benefit.STANDARDISED:
            return worth / found.base
        if benefit is Benefit.GAIN:
            return worth - np.maximum(found.base - (1.0 - found.base) * at / (1.0 - at), 0.0)
        return worth

    before = None if raw is None else _below_one(thresholds_of(raw))
    shown = net
    if benefit is Benefit.STANDARDISED:
        shown = standardised_net_benefit(found, confidence=confidence)
    elif benefit is Benefit.GAIN:
        over_all = everyone > 0.0
        shown = Worth(*(np.where(over_all, *ends) for ends in zip(gain, net, strict=True)))
    return DecisionCurve(
        at=found.at,
        value=shown.value,
        lower=shown.lower,
        upper=shown.upper,
        all=scaled(found.at, everyone),
        raw=None if before is None else (before.at, scaled(before.at, _worth(before))),
        better=_ranges(found.at, (net.value > 0.0) & (gain.value > 0.0)),
        clearly_better=clear,
        ends=found.ends,
        base=found.base,
        confidence=confidence,
        band=_band(found, confidence),
        benefit=benefit,
    )


def worth_somewhere(table: Table, *, confidence: float, looks: int = 1, within: Range = (0.0, 1.0)) -> bool:
    """Return whether a score is shown to be worth more than treating all and none at some threshold `within`.

    The threshold is picked among many, and so is the score among `looks` of them: each bound has its share of
    the error rate (Bonferroni), so that a wrong yes for any of them has a chance of at most 1 - `confidence`.
    Both differences must be above 0, which needs no further share.
    """
    found = _kept(_below_one(thresholds_of(table)), within)
    if not found.at.size:
        return False
    # One end of a two-sided interval is enough to be wrong.
    each = 1.0 - 2.0 * (1.0 - confidence) / (found.at.size * looks)
    net, gain = net_benefit(found, confidence=each), gain_over_all(found, confidence=each)
    return bool(((net.lower > 0.0) & (gain.lower > 0.0)).any())


def _below_one(found: Thresholds) -> Thresholds:
    return _kept(found, (-1.0, math.nextafter(1.0, 0.0)))


def _kept(found: Thresholds, within: Range) -> Thresholds:
    kept = (found.at >= within[0]) & (found.at <= within[1])
    return replace(found, at=found.at[kept], missed=found.missed[kept], alarms=found.alarms[kept])


def _worth(found: Thresholds) -> Floats:
    return np.asarray((found.positive - found.missed - found.odds * found.alarms) / found.total)


def _bounds(
    found: Thresholds, counts: tuple[Floats, Floats], worth: tuple[Floats, Floats], *, confidence: float
) -> tuple[Floats, Floats]:
    if found.weighted:
        nothing = np.full_like(found.at, math.nan)
        return nothing, nothing
    kinds = Kinds.of(np.stack(counts), rows=found.total)
    return kinds.bounds(np.stack(worth), delta=(1.0 - confidence) / 2.0)


def _band(found: Thresholds, confidence: float) -> str:
    return NO_WEIGHTED_THRESHOLDS if found.weighted else f"pointwise {percent(confidence)}, {METHOD}"


def net_benefit(found: Thresholds, *, confidence: float) -> Worth:
    """Return the net benefit of treating by the score: what it is worth more than treating none."""
    counts = found.positive - found.missed, found.alarms
    factors = np.ones_like(found.at), -found.odds
    lower, upper = _bounds(found, counts, factors, confidence=confidence)
    return Worth(_worth(found), lower, np.minimum(upper, 1.0))


def gain_over_all(found: Thresholds, *, confidence: float) -> Worth:
    """Return what treating by the score is worth more than treating every row."""
    odds, spared = found.odds, (found.total - found.positive) - found.alarms
    ends = _bounds(found, (found.missed, spared), (-np.ones_like(odds), odds), confidence=confidence)
    return Worth((odds * spared - found.missed) / found.total, *ends)


# A share of label 1 next to none.
_LEAST_SHARE = 1e-9


def standardised_net_benefit(found: Thresholds, *, confidence: float) -> Worth:
    """Return the net benefit over the share of label 1, the most there can be; NaN without label 1."""
    nothing = np.full_like(found.at, math.nan)
    if found.positive == 0.0:
        return Worth(nothing, nothing, nothing)
    scaled = _worth(found) / found.base
    if found.weighted:
        return Worth(scaled, nothing, nothing)
    kinds = Kinds.of(np.stack((found.positive - found.missed, found.missed, found.alarms)), rows=found.total)
    return Worth(scaled, *standardised_ends(kinds, found.odds, delta=(1.0 - confidence) / 2.0))


def standardised_ends(kinds: Kinds, odds: Floats, *, delta: float) -> tuple[Floats, Floats]:
    """Return the ends of standardised net benefits of rows of label 1, treated or not, and treated 0.

    A row of the first kind is worth 1 - s, of the second -s, of the third -odds, where s is the standardised
    net benefit if that is nothing on average: the interval holds every s that the bounds of that mean allow.
    """
    count, total = odds.size, kinds.rows.sum(axis=0)
    sign, factor = np.repeat([-1.0, 1.0], count), np.tile(odds, 2)
    twice = Kinds(np.tile(kinds.rows, 2))

    def worth(at: Floats) -> Floats:
        """Return that of each kind where the lower ends are -at, and the upper ones at."""
        return np.stack((sign - at, -at, -sign * factor))

    base = np.tile(kinds.rows[:2].sum(axis=0) / total, 2)
    start = twice.mean(worth(np.zeros_like(factor)))[0] / base
    ends = first_shown(
        lambda at: twice.evidence_below(0.0, worth(at)),
        start,
        step=(twice.mean(worth(start))[1] + (1.0 + factor) / np.tile(total, 2)) / base,
        most=np.concatenate(((1.0 + odds) / _LEAST_SHARE, np.ones(count))),
        delta=delta,
    )
    return 0.0 - ends[:count], ends[count:]


def _ranges(at: Floats, holds: Booleans) -> tuple[Range, ...]:
    """Return the ranges of thresholds between the first and the last point of each run."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], holds, [False])).astype(np.int8)))
    found = [(float(at[start]), float(at[stop - 1])) for start, stop in edges.reshape(-1, 2)]
    longest = max((stop - start for start, stop in found), default=0.0)
    return tuple(one for one in found if one[1] - one[0] > _SHORT * longest)


@dataclass(frozen=True, slots=True, eq=False)
class MurphyCurve(Arrays):
    """Mean elementary scores; all arrays have shape (n_points,).

    The elementary score at a threshold t is 2 (1 - t) for a row of label 1 with a score of at most t, 2 t
    for a row of label 0 with a score above t, and else 0. Its integral over t is the squared error, so the
    area under the curve is the Brier score; every other proper score is a mixture of elementary ones. It is
    four times the elementary score of the paper for the mean, |label - t| / 2.

    Args:
        at: Thresholds in [0, 1], not decreasing; two points where the curve steps.
        lower: Lower end of its interval; NaN where there is none.
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
    base: float
    ends: tuple[float, float]
    confidence: float
    band: str

    kind = PlotKind.MURPHY


def murphy_curve(table: Table, *, confidence: float = 0.95) -> MurphyCurve:
    """Return the mean elementary score at every threshold, of a grid table at the ends of its cells."""
    found = thresholds_of(table)
    low, high = 2.0 * (1.0 - found.at), 2.0 * found.at
    lower, upper = _bounds(found, (found.missed, found.alarms), (low, high), confidence=confidence)
    base = found.base
    return MurphyCurve(
        at=found.at,
        value=(low * found.missed + high * found.alarms) / found.total,
        lower=np.maximum(lower, 0.0),
        upper=np.minimum(upper, np.maximum(low, high)),
        recalibrated=_recalibrated(table, found),
        constant=np.where(found.at < base, high * (1.0 - base), low * base),
        base=base,
        ends=found.ends,
        confidence=confidence,
        band=_band(found, confidence),
    )


def _recalibrated(table: Table, found: Thresholds) -> Floats:
    """Return the mean elementary score of the levels of the isotonic fit."""
    from calibcli.stats.recalibrators.pooling import pooled_starts

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
