"""Strokes that pictures share: bands with their edges, and the dashes of what is only for comparison."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from calibcli.figures.look import Look

Floats = npt.NDArray[np.float64]

DASHES = (0, (5, 3))


def band_fill(look: Look) -> dict[str, Any]:
    """Return how a band is filled, in a picture and in its key."""
    return {"facecolor": look.palette.band, "edgecolor": "none", "linewidth": 0.0}


def draw_edges(axes: Axes, x: Floats, ends: tuple[Floats, Floats], *, look: Look) -> None:
    """Draw the edges of a band over the coloured area that covers it."""
    for edge in ends:
        axes.plot(x, edge, color=look.palette.edge, linewidth=look.points(0.6), marker="", zorder=1.5)


def dashed(look: Look) -> dict[str, Any]:
    """Return how a line is drawn that is only for comparison, such as the diagonal."""
    return {
        "color": look.palette.faint,
        "linewidth": look.points(0.9),
        "linestyle": DASHES,
        "marker": "",
    }
