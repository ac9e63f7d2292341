"""The axis of thresholds, of pictures whose other axis has a scale of its own."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from calibcli.curves.limits import Limits, limits_of, with_margin
from calibcli.figures.axes import log_odds_ticks, round_numbers
from calibcli.figures.sheet import Sheet
from calibcli.picture_names import AxisScale

Floats = npt.NDArray[np.float64]

# Thresholds nearer to 0 or 1 than this are not looked at by log-odds.
_LEAST = 1e-5
# A wide panel without a strip: thresholds have the width, and a height need not be kept.
WIDE = Sheet(aspect=0.68, strip=False, square=False)


@dataclass(frozen=True, slots=True)
class ThresholdAxis:
    """
    What the axis of thresholds shows.

    Args:
        x: Its ends.

        scale: How it is laid out.
    """

    x: tuple[float, float]
    scale: AxisScale

    @property
    def zoomed(self) -> bool:
        """Whether a part of [0, 1] is left out."""
        return self.x != (0.0, 1.0)

    @property
    def by_log_odds(self) -> bool:
        """Whether it is laid out by log-odds."""
        return self.scale is AxisScale.LOGIT

    def shown(self, at: Floats) -> npt.NDArray[np.bool_]:
        """Return which thresholds are shown."""
        return np.asarray((at >= self.x[0]) & (at <= self.x[1]))


def threshold_axis(ends: tuple[float, float], scale: AxisScale) -> ThresholdAxis:
    """
    Return the part of [0, 1] that is worth looking at, or that between powers of ten by log-odds.

    Args:
        ends: Between these something happens.

        scale: How the axis is laid out.
    """
    places = np.array(ends)
    if scale is AxisScale.LOGIT:
        places = np.clip(places, _LEAST, 1.0 - _LEAST)
    found: Limits = limits_of(places, places, mass=np.ones(2), lower=places, upper=places, scale=scale)
    return ThresholdAxis(found.x, scale)


def show_thresholds(axes: Axes, axis: ThresholdAxis, y: tuple[float, float]) -> None:
    """
    Give axes their scales, ends and numbers.

    Args:
        axes: The axes.

        axis: What the axis of thresholds shows.

        y: Ends of the other axis.
    """
    round_numbers(axes.yaxis)
    axes.set_ylim(y)
    if axis.by_log_odds:
        axes.set_xscale("logit", nonpositive="clip")
        axes.set_xlim(log_odds_ticks(axes.xaxis, axis.x))
    else:
        round_numbers(axes.xaxis)
        axes.set_xlim(with_margin(axis.x))
