"""The error as area: what lies between the observed rates and the diagonal, darker where more rows are."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.figures.page import FAINT, INK, TOO_HIGH, TOO_LOW, Page, small_font

Floats = npt.NDArray[np.float64]

DARKER = "Darker where more rows are."
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


def draw_area(axes: Axes, corners: Floats, *, above: npt.NDArray[np.bool_], dark: Floats) -> None:
    """
    Fill patches between the diagonal and the curve.

    Args:
        axes: Where.

        corners: Shape (n_patches, n_corners, 2).

        above: Whether the rate lies above the diagonal, so that the scores are too low.

        dark: In [0, 1], shape (n_patches,).
    """
    full = np.where(above[:, None], to_rgb(TOO_LOW), to_rgb(TOO_HIGH))
    share = (_PALEST + (_DARKEST - _PALEST) * dark)[:, None]
    # Opaque and edged in their own colour: neighbours that shine through leave seams.
    colours = 1.0 - share * (1.0 - full)
    patches = PolyCollection(
        list(corners), facecolors=colours, edgecolors=colours, linewidths=0.6, zorder=1.0
    )
    axes.add_collection(patches, autolim=False)


def draw_diagonal(axes: Axes) -> None:
    """Draw the line of perfect calibration."""
    axes.plot(
        [0.0, 1.0], [0.0, 1.0], color=FAINT, linewidth=0.9, linestyle=(0, (5, 3)), marker="", zorder=2.0
    )


def write_key(page: Page, entries: Sequence[tuple[Line2D | Patch, str]]) -> None:
    """Name what is drawn, in one row above the axes."""
    diagonal = Line2D([], [], color=FAINT, linewidth=0.9, linestyle=(0, (5, 3)), marker="")
    named = [
        *entries,
        (Patch(facecolor=_pale(TOO_LOW), edgecolor="none"), "scores too low"),
        (Patch(facecolor=_pale(TOO_HIGH), edgecolor="none"), "too high"),
        (diagonal, "perfectly calibrated"),
    ]
    key = page.main.legend(
        [mark for mark, _ in named],
        [label for _, label in named],
        loc="lower left",
        bbox_to_anchor=(-0.14, 1.0),
        ncols=len(named),
        frameon=False,
        prop=small_font(7.5),
        labelcolor=INK,
        borderpad=0.2,
        borderaxespad=0.2,
        handlelength=1.7,
        handletextpad=0.5,
        columnspacing=1.3,
    )
    key.set_in_layout(False)


def _pale(colour: str) -> tuple[float, float, float]:
    """Return the darkest shade of a colour that the area takes."""
    red, green, blue = (1.0 - _DARKEST * (1.0 - part) for part in to_rgb(colour))
    return red, green, blue
