"""How much of the unit square a diagram shows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.curves.reliability import BinnedCurve, SmoothCurve
from calibcli.picture_names import AxisScale

Floats = npt.NDArray[np.float64]

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
_FARTHEST = 1e-6
# Scores nearer than this to 0 or 1 are there: an axis shorter than that has no readable ticks.
_SMALLEST = 1e-8
# Rounding must not move an end by a tick.
_NEARLY = 1e-9
# What stands on an axis laid out by log-odds.
LOG_ODDS_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)
# Room beside the axes, so that a dot at 0 or 1 is whole.
_MARGIN = 0.012


@dataclass(frozen=True, slots=True)
class Limits:
    """
    What both axes show.

    Args:
        x: Ends of the scores.

        y: Ends of the rates.

        outside: Share of the rows whose score is not shown.

        cut: Whether some rate at a score that is shown is not.

        scale: How both axes are laid out. By log-odds, ends lie within (0, 1), and what lies beyond them is
            drawn at them.
    """

    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)
    outside: float = 0.0
    cut: bool = False
    scale: AxisScale = AxisScale.LINEAR

    @property
    def span(self) -> float:
        """Length of the score axis."""
        return self.x[1] - self.x[0]

    @property
    def sentence(self) -> str:
        """What a reader must be told, or nothing."""
        if self.scale is AxisScale.LOGIT:
            beyond = f" {100.0 * self.outside:.2g} % of the rows stand at the ends." if self.outside else ""
            return f"Both axes by log-odds: areas do not show the size of the error.{beyond}"
        if self.x == self.y == (0.0, 1.0):
            return ""
        scores = f"{self.x[0]:.3g} to {self.x[1]:.3g}"
        if self.x == self.y:
            ends = f"both axes run from {scores}"
        else:
            ends = f"scores from {scores}, rates from {self.y[0]:.3g} to {self.y[1]:.3g}, on different scales"
        left_out = f"; {100.0 * self.outside:.1g} % of the rows lie outside" if self.outside > 1e-6 else ""
        cut = " The curve leaves the picture where rows are few." if self.cut else ""
        return f"Zoomed: {ends}{left_out}.{cut}"

    def shares(self, scores: Floats) -> Floats:
        """Return how far along the axis scores stand, in [0, 1] for those that are shown."""
        if self.scale is AxisScale.LINEAR:
            return (scores - self.x[0]) / self.span
        low, high, at = (np.log(one) - np.log1p(-one) for one in (*self.x, self.held(scores)))
        return np.asarray((at - low) / (high - low))

    def held(self, values: Floats) -> Floats:
        """Return where values are drawn: by log-odds, what lies beyond the ends stands at them."""
        return values if self.scale is AxisScale.LINEAR else np.clip(values, *self.x)


def limits_of(
    score: Floats,
    rate: Floats,
    *,
    mass: Floats,
    lower: Floats,
    upper: Floats,
    reach: tuple[float, float] | None = None,
    scale: AxisScale = AxisScale.LINEAR,
) -> Limits:
    """
    Return the unit square, or where the scores fill at most half of it, the part that holds the curve.

    Args:
        score: Of each point, ascending, shape (n,); at least one.

        rate: Of each point.

        mass: Share of the rows at each point.

        lower: Lower end of each interval, NaN where there is none.

        upper: Upper end of each interval.

        reach: Between what the rows lie, where a point is the mean of many and the rows go farther than it.

        scale: How axes are laid out; by log-odds they hold every score but strays, to whole powers of ten.
    """
    if scale is AxisScale.LOGIT:
        return _by_log_odds(score, rate, mass=mass)
    least, most = (1.0, 0.0) if reach is None else reach
    if max(float(score[-1]), most) - min(float(score[0]), least) > _ZOOM_BELOW:
        return Limits()
    reached = np.cumsum(mass) / mass.sum()
    first, last = np.searchsorted(reached, [_STRAY, 1.0 - _STRAY])
    x = _closer(min(float(score[first]), least), max(float(score[min(last, score.size - 1)]), most))
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
    cut = bool(np.any((rate[shown] < y[0]) | (rate[shown] > y[1])))
    return Limits(x, y, outside, cut)


def smooth_limits(curve: SmoothCurve, scale: AxisScale = AxisScale.LINEAR) -> Limits:
    """Return how much of the unit square the curve needs."""
    seen = ~np.isnan(curve.x) & ~np.isnan(curve.y)
    if not np.any(curve.density[seen] > 0.0):
        return Limits()
    return limits_of(
        curve.x[seen],
        curve.y[seen],
        mass=curve.density[seen],
        lower=curve.lower[seen],
        upper=curve.upper[seen],
        reach=_reach_of_kernel(curve),
        scale=scale,
    )


def binned_limits(curve: BinnedCurve, scale: AxisScale = AxisScale.LINEAR) -> Limits:
    """Return how much of the unit square the bins need."""
    mass = curve.rows / curve.rows.sum()
    return limits_of(
        curve.score,
        curve.rate,
        mass=mass,
        lower=curve.rate_lower,
        upper=curve.rate_upper,
        reach=_reach_of_bins(curve),
        scale=scale,
    )


def _reach_of_kernel(curve: SmoothCurve) -> tuple[float, float]:
    """Return about where the rows end: where the density does, less what the kernel adds to it."""
    reached = np.cumsum(curve.density) / curve.density.sum()
    first, last = np.searchsorted(reached, [_STRAY, 1.0 - _STRAY])
    low, high = float(curve.at[first]), float(curve.at[min(last, curve.at.size - 1)])
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


def _by_log_odds(score: Floats, rate: Floats, *, mass: Floats) -> Limits:
    """Return ends at ticks that hold all scores but strays, and the rates where rows are many."""
    share = mass / mass.sum()
    inner = (score >= _FARTHEST) & (score <= 1.0 - _FARTHEST)
    if not inner.any():
        ends = (_FARTHEST, 1.0 - _FARTHEST)
        return Limits(ends, ends, float(share.sum()), scale=AxisScale.LOGIT)
    reached = np.cumsum(share[inner]) / share[inner].sum()
    first, last = np.searchsorted(reached, [_STRAY, 1.0 - _STRAY])
    held = score[inner][[first, min(last, reached.size - 1)]]
    dense = rate[(mass >= 0.02 * mass.max()) & (rate > 0.0) & (rate < 1.0)]
    low, high = min(held[0], dense.min(initial=1.0)), max(held[1], dense.max(initial=0.0))
    below = [tick for tick in LOG_ODDS_TICKS if tick <= low * (1.0 + _NEARLY)]
    above = [tick for tick in LOG_ODDS_TICKS if 1.0 - tick <= (1.0 - high) * (1.0 + _NEARLY)]
    ends = (max(below, default=_FARTHEST), min(above, default=1.0 - _FARTHEST))
    if ends[0] >= ends[1]:
        ends = (0.1, 0.9)
    outside = float(share[(score < ends[0]) | (score > ends[1])].sum())
    return Limits(ends, ends, outside, scale=AxisScale.LOGIT)


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
