"""What part of the unit square a diagram shows, where rows lie in it, and no more points than can be seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calibcli.names import AxisScale
from calibcli.options.numerals import percent, rough_percent
from calibcli.stats.curves.reliability import BinnedCurve, SmoothCurve
from calibcli.stats.numerics import Floats, Indices
from calibcli.stats.table import Arrays, run_starts
from calibcli.values import dataclass, replace

# Scores that fill no more than this part of [0, 1] are looked at more closely.
_ZOOM_BELOW = 0.5

# A closer look leaves out this share of the rows at each end, so that one stray score cannot undo it.
_STRAY = 0.0005

_ROOM = 0.04

# A kernel reaches so many bandwidths beyond the last row before its density counts as strays.
_KERNEL = 2.5

# Rows of a bin lie up to so many times as far from its edge as their mean does.
_SKEWED = 4.0

# By log-odds nothing nearer to 0 or 1 is looked at.
FARTHEST = 1e-6

# Scores nearer than this to 0 or 1 are there: an axis shorter than that has no readable ticks.
_SMALLEST = 1e-8

# A share below the first is what a kernel spreads out, and no row; below the second it is not told exactly.
_SPREAD, _FEW_OUTSIDE = 1e-6, 1e-4

# Rounding must not move an end by a tick.
_NEARLY = 1e-9

# What stands on an axis laid out by log-odds.
LOG_ODDS_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)

# Between them, where fewer than three would stand.
_BETWEEN_TICKS = tuple(
    round(tick, 7)
    for power in range(6, 0, -1)
    for part in (2, 5)
    if (low := part * 10.0**-power) < 0.5
    for tick in (low, 1.0 - low)
)
_FEW_TICKS = 3


def numbers_by_log_odds(ends: tuple[float, float]) -> list[float]:
    """Return the numbers of an axis laid out by log-odds: powers of ten, and others between few."""
    found = [tick for tick in LOG_ODDS_TICKS if ends[0] <= tick <= ends[1]]
    if len(found) < _FEW_TICKS:
        found += [tick for tick in _BETWEEN_TICKS if ends[0] <= tick <= ends[1]]
    return sorted(found)


# Room beside the axes, so that a dot at 0 or 1 is whole.
_MARGIN = 0.012


@dataclass(frozen=True, slots=True)
class Limits:
    """What both axes show.

    Args:
        x: Ends of the scores.
        y: Ends of the rates.
        outside: Share of the rows whose score is not shown.
        cut: Whether some rate at a score that is shown, or an end of its interval, is not.
        scale: How both axes are laid out. By log-odds, ends lie within (0, 1), and what lies beyond them is
            drawn at them.
        certain: Whether log-odds were asked for, and every score is too near to 0 or 1 for them.
    """

    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)
    outside: float = 0.0
    cut: bool = False
    scale: AxisScale = AxisScale.LINEAR
    certain: bool = False

    @property
    def span(self) -> float:
        """Length of the score axis."""
        return self.x[1] - self.x[0]

    @property
    def outside_words(self) -> str:
        """How many rows are not shown at their scores, or nothing."""
        if self.outside <= _SPREAD:
            return ""
        few = f"fewer than {percent(_FEW_OUTSIDE)}"
        return f"{few if self.outside < _FEW_OUTSIDE else rough_percent(self.outside)} of the rows"

    @property
    def outside_sentence(self) -> str:
        """The same as a sentence: by log-odds these rows stand at the ends, else they lie outside."""
        words = self.outside_words
        where = "stand at the ends" if self.scale is AxisScale.LOGIT else "lie outside"
        return f"{words[:1].upper()}{words[1:]} {where}." if words else ""

    @property
    def sentence(self) -> str:
        """What a reader must be told, or nothing."""
        if self.scale is AxisScale.LOGIT:
            by_log_odds = "Both axes by log-odds: areas do not show the size of the error."
            cut = "Rates and intervals beyond an axis end at its edge." if self.cut else ""
            return " ".join(part for part in (by_log_odds, self.outside_sentence, cut) if part)
        if self.certain:
            linear = replace(self, certain=False).sentence
            why = "Axes are linear: log-odds have no room for scores within 0.000001 of 0 or 1."
            return f"{why} {linear}".strip()
        if self.x == self.y == (0.0, 1.0):
            return ""
        scores = f"{self.x[0]:.3g} to {self.x[1]:.3g}"
        if self.x == self.y:
            ends = f"both axes run from {scores}"
        else:
            ends = f"scores from {scores}, rates from {self.y[0]:.3g} to {self.y[1]:.3g}, on different scales"
        left_out = f"; {self.outside_words} lie outside" if self.outside_words else ""
        cut = " What rests on few rows, or its interval, leaves the picture." if self.cut else ""
        return f"Zoomed: {ends}{left_out}.{cut}"

    def shares(self, scores: Floats) -> Floats:
        """Return how far along the axis scores stand, in [0, 1] for those that are shown."""
        if self.scale is AxisScale.LINEAR:
            return (scores - self.x[0]) / self.span
        low, high, at = (np.log(one) - np.log1p(-one) for one in (*self.x, self.held(scores)))
        return np.asarray((at - low) / (high - low))

    def at(self, shares: Floats) -> Floats:
        """Return the scores that stand so far along the axis."""
        if self.scale is AxisScale.LINEAR:
            return self.x[0] + self.span * shares
        low, high = (np.log(one) - np.log1p(-one) for one in self.x)
        return np.asarray(1.0 / (1.0 + np.exp(-(low + (high - low) * shares))))

    def held(self, values: Floats) -> Floats:
        """Return where values are drawn: by log-odds, what lies beyond the ends stands at them."""
        return values if self.scale is AxisScale.LINEAR else np.clip(values, *self.x)


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """What a curve asks of the axes.

    Args:
        score: Of each point, ascending, shape (n,).
        mass: Share of the rows at each point.
        lower: Lower end of each interval, NaN where there is none.
        reach: Between what the rows lie, where a point is the mean of many and the rows go farther than it.
    """

    score: Floats
    rate: Floats
    mass: Floats
    lower: Floats
    upper: Floats
    reach: tuple[float, float] | None = None

    @property
    def columns(self) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        return self.score, self.rate, self.mass, self.lower, self.upper


def limits_of(extent: Extent, scale: AxisScale = AxisScale.LINEAR) -> Limits:
    """Return the unit square, or where the scores fill at most half of it, the part that holds the curve, of
    at least one point; by log-odds the part that holds every score but strays, to whole powers of ten.
    """
    score, rate, mass, lower, upper = extent.columns
    if scale is AxisScale.LOGIT:
        if np.any((score >= FARTHEST) & (score <= 1.0 - FARTHEST)):
            return _by_log_odds(extent)
        return replace(limits_of(extent), certain=True)
    least, most = extent.reach or (1.0, 0.0)
    if max(float(score[-1]), most) - min(float(score[0]), least) > _ZOOM_BELOW:
        return Limits()
    first, last = _but_strays(mass)
    x = _closer(min(float(score[first]), least), max(float(score[last]), most))
    shown = (score >= x[0]) & (score <= x[1])
    dense = shown & (mass >= 0.02 * mass.max())
    # Where the band of the bulk would need more than the curve does, it is cut.
    bottom = min(float(rate[dense].min()), x[0])
    top = max(float(rate[dense].max()), x[1])
    span = top - bottom
    ends = np.concatenate((lower[dense], upper[dense]))
    ends = ends[(ends > bottom - 0.5 * span) & (ends < top + 0.5 * span)]
    y = _closer(min(bottom, float(ends.min(initial=bottom))), max(top, float(ends.max(initial=top))))
    both = (min(x[0], y[0]), max(x[1], y[1]))
    outside = float(mass[~shown].sum() / mass.sum())
    if both[1] - both[0] <= 2.0 * (x[1] - x[0]):
        x = y = both
    return Limits(x, y, outside, _beyond(y, rate[shown], lower[shown], upper[shown]))


def _but_strays(mass: Floats) -> tuple[int, int]:
    """Return the first and the last place that hold all but strays."""
    first, last = np.searchsorted(np.cumsum(mass) / mass.sum(), [_STRAY, 1.0 - _STRAY])
    return int(first), min(int(last), mass.size - 1)


def _beyond(ends: tuple[float, float], *some: Floats) -> bool:
    return any(bool(np.any((one < ends[0]) | (one > ends[1]))) for one in some)


def limits_for(extents: Sequence[Extent], scale: AxisScale = AxisScale.LINEAR) -> Limits:
    """Return what of the unit square curves need together, each counting as much as any other."""
    some = [one for one in extents if np.any(one.mass > 0.0)]
    if not some:
        return Limits()
    parts = [np.stack(one.columns) for one in some]
    if len(parts) > 1:
        for part in parts:
            part[2] /= part[2].sum()
    every = np.concatenate(parts, axis=1)
    score, rate, mass, lower, upper = every[:, np.argsort(every[0], kind="stable")]
    reaches = [one.reach for one in some if one.reach is not None]
    reach = (min(low for low, _ in reaches), max(high for _, high in reaches)) if reaches else None
    return limits_of(Extent(score, rate, mass, lower, upper, reach), scale)


def smooth_extent(curve: SmoothCurve) -> Extent:
    seen = ~np.isnan(curve.x) & ~np.isnan(curve.y)
    mass = curve.density[seen]
    x, y = curve.x[seen], curve.y[seen]
    if curve.log_odds:
        # Where few events are expected and none is seen, the rate falls to nothing: no axis follows it there.
        y = np.clip(y, 0.1 * x, 1.0 - 0.1 * (1.0 - x))
    reach = _reach_of_kernel(curve) if np.any(mass > 0.0) and not curve.log_odds else None
    return Extent(x, y, mass, curve.lower[seen], curve.upper[seen], reach)


def binned_extent(curve: BinnedCurve) -> Extent:
    mass = curve.rows / curve.rows.sum()
    return Extent(curve.score, curve.rate, mass, curve.rate_lower, curve.rate_upper, _reach_of_bins(curve))


def _reach_of_kernel(curve: SmoothCurve) -> tuple[float, float]:
    """Return about where the rows end: where the density does, less what the kernel adds to it."""
    low, high = (float(curve.at[end]) for end in _but_strays(curve.density))
    added = _KERNEL * curve.bandwidth
    low = low if low <= _STRAY else low + added
    high = high if high >= 1.0 - _STRAY else high - added
    # A kernel wider than the scores leaves nothing to tell.
    return (low, high) if low <= high else (1.0, 0.0)


def _reach_of_bins(curve: BinnedCurve) -> tuple[float, float]:
    """Return about where rows of the outer bins end: at an edge, or before it where the mean is far off."""
    down = _SKEWED * float(curve.upper[0] - curve.score[0])
    up = _SKEWED * float(curve.score[-1] - curve.lower[-1])
    return max(float(curve.lower[0]), float(curve.upper[0]) - down), min(
        float(curve.upper[-1]), float(curve.lower[-1]) + up
    )


def _by_log_odds(extent: Extent) -> Limits:
    """Return ends at ticks that hold all scores but strays, and the rates where rows are many."""
    score, rate, mass, lower, upper = extent.columns
    share = mass / mass.sum()
    inner = (score >= FARTHEST) & (score <= 1.0 - FARTHEST)
    # Where events are rare, next to no rows may hold most of them.
    parts = share[inner] * np.stack((np.ones_like(rate), rate, 1.0 - rate))[:, inner]
    reached = [np.cumsum(part) / part.sum() for part in parts if part.sum() > 0.0]
    first, last = np.array([np.searchsorted(one, [_STRAY, 1.0 - _STRAY]) for one in reached]).T
    held = score[inner][[first.min(), min(last.max(), np.count_nonzero(inner) - 1)]]
    dense = rate[(mass >= 0.02 * mass.max()) & (rate > 0.0) & (rate < 1.0)]
    low, high = min(held[0], dense.min(initial=1.0)), max(held[1], dense.max(initial=0.0))
    below = [tick for tick in LOG_ODDS_TICKS if tick <= low * (1.0 + _NEARLY)]
    above = [tick for tick in LOG_ODDS_TICKS if 1.0 - tick <= (1.0 - high) * (1.0 + _NEARLY)]
    ends = (max(below, default=FARTHEST), min(above, default=1.0 - FARTHEST))
    if ends[0] >= ends[1]:
        ends = (0.1, 0.9)
    shown = (score >= ends[0]) & (score <= ends[1])
    return Limits(
        ends,
        ends,
        float(share[~shown].sum()),
        _beyond(ends, rate[shown], lower[shown], upper[shown]),
        AxisScale.LOGIT,
    )


def with_margin(ends: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of an axis with room for half a dot on both sides."""
    room = _MARGIN * (ends[1] - ends[0])
    return ends[0] - room, ends[1] + room


def _closer(low: float, high: float) -> tuple[float, float]:
    """Return a round view of an interval: from 0 or up to 1 where that is near, with some room."""
    to_an_end = min(high, 1.0 - low)
    if to_an_end < _SMALLEST:
        return 0.0, 1.0
    if high - low < 0.1 * to_an_end:
        # As good as one score: show it halfway between the nearer end of [0, 1] and as far again.
        if to_an_end > 0.25:
            return 0.0, 1.0
        return (0.0, 2.0 * high) if high < 0.5 else (1.0 - 2.0 * (1.0 - low), 1.0)
    span = high - low
    start = 0.0 if low <= 0.5 * span else low - _ROOM * span
    stop = 1.0 if 1.0 - high <= 0.5 * span else high + _ROOM * span
    return max(0.0, start), min(1.0, stop)


PARTS = 1_024


def thinned(x: Floats, y: Floats, *, parts: int = PARTS) -> Indices:
    """Return which points to keep: of each part of the range of x the first, last, lowest and highest.

    So ends and extremes stay exact, and a line through what is kept covers what a line through all would.
    """
    if x.size <= 4 * parts or not x[-1] > x[0]:
        return np.arange(x.size)
    part = np.minimum(((x - x[0]) * (parts / (x[-1] - x[0]))).astype(np.int64), parts - 1)
    starts = run_starts(part)
    ends = np.append(starts[1:], x.size) - 1
    number, extremes = np.cumsum(np.concatenate(([0], part[1:] != part[:-1]))), []
    for one in (np.minimum, np.maximum):
        # Where each is first met.
        met = np.flatnonzero(y == one.reduceat(y, starts)[number])
        extremes.append(met[run_starts(number[met])])
    return np.unique(np.concatenate((starts, ends, *extremes)))


@dataclass(frozen=True, slots=True, eq=False)
class Spread(Arrays):
    """Share of the rows, or of the weight, below each of some scores, and up to and with it; all of shape
    (n,).

    Between two of the scores the share rises in a straight line.
    """

    score: Floats
    below: Floats
    upto: Floats

    @classmethod
    def of(cls, score: Floats, weight: npt.NDArray[np.number[Any]]) -> "Spread":
        """Return the spread of weights, some above 0, over ascending scores, thinned to what can be seen."""
        some = np.flatnonzero(weight > 0.0)
        score = score[some]
        upto = np.cumsum(weight[some], dtype=np.float64)
        upto /= upto[-1]
        below = np.concatenate(([0.0], upto[:-1]))
        # Evenly along the scores, and evenly along the rows.
        kept = np.union1d(thinned(score, score), thinned(upto, score))
        return cls(score[kept], below[kept], upto[kept])

    def around(self, score: float) -> tuple[float, float]:
        """Return the share of the rows below a score, and up to it."""
        place = int(np.searchsorted(self.score, score))
        if place < self.score.size and self.score[place] == score:
            return float(self.below[place]), float(self.upto[place])
        share = self._share(np.array([score]))
        return float(share[0]), float(share[0])

    def at(self, share: float) -> float:
        """Return the score that this share of the rows lies below."""
        steps, scores = self._corners()
        return float(np.interp(share, steps, scores))

    def between(self, edges: Floats) -> Floats:
        """Return the share of the rows between each two of some ascending edges; a score on an edge counts to
        its left, on the first to its right.
        """
        share = self._share(np.asarray(edges))
        share[0] = self.around(float(edges[0]))[0]
        return np.diff(share)

    def _share(self, score: Floats) -> Floats:
        place = np.searchsorted(self.score, score, side="right") - 1
        left, right = np.maximum(place, 0), np.minimum(place + 1, self.score.size - 1)
        gap = self.score[right] - self.score[left]
        part = np.divide(score - self.score[left], gap, out=np.zeros_like(gap), where=gap > 0.0)
        share = self.upto[left] + part * (self.below[right] - self.upto[left])
        return np.where(place < 0, 0.0, np.where(place + 1 >= self.score.size, 1.0, share))

    def _corners(self) -> tuple[Floats, Floats]:
        return np.stack((self.below, self.upto), axis=1).ravel(), np.repeat(self.score, 2)


def has_band(ends: Floats) -> bool:
    return bool(np.any(~np.isnan(ends)))


def band_sentence(band: str, ends: Floats, *, called: str = "Grey") -> str:
    return f"{called}: {band}." if has_band(ends) else f"{band[:1].upper()}{band[1:]}."


# From this share of the rows on it is said that the curve does not show them.
_SAID_BEYOND = 0.05


def beyond_sentences(curves: Sequence[SmoothCurve]) -> list[str]:
    """Return how many rows lie beyond the ends of the curve, and what shows them."""
    share = max(one.beyond for one in curves)
    if share < _SAID_BEYOND or any(one.log_odds for one in curves):
        return []
    # Of several curves that of which it is most.
    most = "Up to " if len(curves) > 1 else ""
    lie = f"{most}{rough_percent(share)} of the rows lie beyond the ends of the curve"
    return [f"{lie}, which averages them with others: --axis logit or --kind binned shows them."]


def unbroken(x: Floats) -> list[Indices]:
    """Return the places of each stretch of a curve without gaps, which are NaN."""
    places = np.flatnonzero(~np.isnan(x))
    breaks = np.flatnonzero(np.diff(places) > 1) + 1
    return [run for run in np.split(places, breaks) if run.size]
