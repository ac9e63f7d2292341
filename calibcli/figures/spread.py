"""Drawing where rows lie: how many between evenly spaced scores."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from calibcli.curves.limits import Limits
from calibcli.curves.spread import Spread
from calibcli.figures.look import Look
from calibcli.picture_names import AxisScale

Floats = npt.NDArray[np.float64]

_BARS = 64


def draw_spread(axes: Axes, spread: Spread, *, limits: Limits, look: Look) -> None:
    """
    Draw how many rows lie between evenly spaced places of the axis.

    Args:
        axes: Where.

        spread: Where the rows lie.

        limits: Ends of the axis of scores.

        look: Size and colours.
    """
    edges = evenly(limits, limits.x, parts=_BARS)
    share = spread.between(edges)
    if limits.scale is AxisScale.LOGIT:
        # What lies beyond the ends stands at them.
        share[0] += spread.around(float(edges[0]))[0]
        share[-1] += 1.0 - spread.around(float(edges[-1]))[1]
    axes.stairs(share, edges, baseline=0.0, fill=True, facecolor=look.palette.rows, edgecolor="none")
    show_shares(axes, share)


def show_shares(axes: Axes, share: Floats) -> None:
    """Give the axis of shares of the rows its ends, and no numbers."""
    axes.set_ylim(0.0, 1.08 * max(float(share.max()), 1e-12))
    axes.set_yticks([])


def evenly(limits: Limits, ends: tuple[float, float], *, parts: int) -> Floats:
    """
    Return scores that cut a stretch of the axis into equal parts.

    Args:
        limits: Of which the scale is read.

        ends: Of the stretch; by log-odds within (0, 1).

        parts: How many.

    Returns:
        Ascending, both ends among them, shape (parts + 1,).
    """
    if limits.scale is AxisScale.LINEAR:
        return np.linspace(*ends, parts + 1)
    low, high = (np.log(one) - np.log1p(-one) for one in ends)
    inner = 1.0 / (1.0 + np.exp(-np.linspace(low, high, parts + 1)[1:-1]))
    return np.concatenate(([ends[0]], inner, [ends[1]]))
