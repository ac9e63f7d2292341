"""The error as area: what lies between the observed rates and the diagonal, darker where more rows are."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.curves.limits import Limits
from calibcli.figures.key import Entry
from calibcli.figures.look import Look, Palette
from calibcli.figures.strokes import dashed
from calibcli.picture_names import AxisScale

Floats = npt.NDArray[np.float64]

DARKER = "Stronger colour where more rows are."
_PALEST, _DARKEST = 0.10, 0.80


def strength(density: Floats, *, even: float) -> Floats:
    """
    Return how dark a place is drawn, in [0, 1].

    Places with the density that evenly spread scores would have are drawn in full; below that by the square
    root, so that a tail with one row in a hundred can still be seen.

    Args:
        density: Of the scores, or of rows per bin, shape (n,).

        even: What it would be if rows were spread evenly over the picture.
    """
    return np.asarray(np.sqrt(np.minimum(density / min(even, float(density.max())), 1.0)))


def draw_area(
    axes: Axes, corners: Floats, *, above: npt.NDArray[np.bool_], dark: Floats, palette: Palette
) -> None:
    """
    Fill patches between the diagonal and the curve.

    Args:
        axes: Where.

        corners: Shape (n_patches, n_corners, 2).

        above: Whether the rate lies above the diagonal, so that the scores are too low.

        dark: In [0, 1], shape (n_patches,).

        palette: The colours.
    """
    full = np.where(above[:, None], to_rgb(palette.too_low), to_rgb(palette.too_high))
    share = (_PALEST + (_DARKEST - _PALEST) * dark)[:, None]
    # Opaque and edged in their own colour: neighbours that shine through leave seams.
    colours = (1.0 - share) * np.array(to_rgb(palette.paper)) + share * full
    patches = PolyCollection(
        list(corners), facecolors=colours, edgecolors=colours, linewidths=0.6, zorder=1.0
    )
    axes.add_collection(patches, autolim=False)


def draw_diagonal(axes: Axes, limits: Limits, look: Look) -> None:
    """Draw the line of perfect calibration."""
    ends = [0.0, 1.0] if limits.scale is AxisScale.LINEAR else [*limits.x]
    axes.plot(ends, ends, **dashed(look), zorder=2.0)


def area_key(look: Look) -> list[Entry]:
    """Return what the colours and the diagonal mean."""
    palette = look.palette
    return [
        (Patch(facecolor=_shade(palette.too_low, palette.paper), edgecolor="none"), "scores too low"),
        (Patch(facecolor=_shade(palette.too_high, palette.paper), edgecolor="none"), "too high"),
        (Line2D([], [], **dashed(look)), "perfectly calibrated"),
    ]


def _shade(colour: str, paper: str) -> tuple[float, float, float]:
    """Return the darkest shade of a colour that the area takes."""
    red, green, blue = (
        (1.0 - _DARKEST) * ground + _DARKEST * part
        for ground, part in zip(to_rgb(paper), to_rgb(colour), strict=True)
    )
    return red, green, blue
