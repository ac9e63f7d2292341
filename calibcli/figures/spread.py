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
    edges = even_edges(limits)
    share = spread.between(edges)
    # A score on the first edge counts, too; by log-odds what lies beyond the ends stands at them.
    below, upto = spread.around(edges[0])
    logit = limits.scale is AxisScale.LOGIT
    share[0] += upto if logit else upto - below
    if logit:
        share[-1] += 1.0 - spread.around(edges[-1])[1]
    axes.stairs(share, edges, baseline=0.0, fill=True, facecolor=look.palette.rows, edgecolor="none")
    axes.set_ylim(0.0, 1.08 * max(float(share.max()), 1e-12))
    axes.set_yticks([])


def even_edges(limits: Limits) -> Floats:
    """Return places that cut the axis of scores evenly."""
    if limits.scale is AxisScale.LINEAR:
        return np.linspace(*limits.x, _BARS + 1)
    low, high = (np.log(one) - np.log1p(-one) for one in limits.x)
    inner = 1.0 / (1.0 + np.exp(-np.linspace(low, high, _BARS + 1)[1:-1]))
    return np.concatenate(([limits.x[0]], inner, [limits.x[1]]))
