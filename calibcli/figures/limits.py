"""How much of the unit square a diagram shows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Scores that fill no more than this part of [0, 1] are looked at more closely.
_ZOOM_BELOW = 0.5
# A closer look leaves out this share of the rows at each end, so that one stray score cannot undo it.
_STRAY = 0.0005
_ROOM = 0.04
# Scores nearer than this to 0 or 1 are there: an axis shorter than that has no readable ticks.
_SMALLEST = 1e-8
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
    """

    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)
    outside: float = 0.0
    cut: bool = False

    @property
    def span(self) -> float:
        """Length of the score axis."""
        return self.x[1] - self.x[0]

    @property
    def sentence(self) -> str:
        """What a reader must be told, or nothing."""
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


def limits_of(score: Floats, rate: Floats, *, mass: Floats, lower: Floats, upper: Floats) -> Limits:
    """
    Return the unit square, or where the scores fill at most half of it, the part that holds the curve.

    Args:
        score: Of each point, ascending, shape (n,); at least one.

        rate: Of each point.

        mass: Share of the rows at each point.

        lower: Lower end of each interval, NaN where there is none.

        upper: Upper end of each interval.
    """
    if score[-1] - score[0] > _ZOOM_BELOW:
        return Limits()
    reached = np.cumsum(mass) / mass.sum()
    first, last = np.searchsorted(reached, [_STRAY, 1.0 - _STRAY])
    x = _closer(float(score[first]), float(score[min(last, score.size - 1)]))
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
