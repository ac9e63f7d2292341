"""Figures inside a page: their drawing, the places of their values, and their small print as text."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibcli.figures.page import SMALL_PRINT
from calibcli.figures.saving import save
from calibcli.figures.svg import for_page

_POINTS = 72.0
# Points around what is drawn.
_ROOM = 2.0


@dataclass(frozen=True, slots=True)
class Place:
    """
    A value of a picture, where it is drawn.

    Args:
        panel: Position of its panel, in reading order.

        x: Along the axis of the panel.

        y: Likewise.
    """

    panel: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Inline:
    """
    A figure as text.

    Args:
        drawing: What stands inside an svg element.

        box: Its view box: left and upper end, width and height, in points.

        at: For each place where it is in the view box, None where it is not seen.

        small_print: What the figure would say below its axes.
    """

    drawing: str
    box: tuple[float, float, float, float]
    at: tuple[tuple[float, float] | None, ...]
    small_print: str


def inline(figure: Figure, *, name: str, places: Sequence[Place] = ()) -> Inline:
    """
    Return a figure as SVG for a page, without its small print.

    Args:
        figure: What `calibcli.figures.drawing.figure_of` returned; its small print is taken off.

        name: What every id starts with, so that no two figures of a page share one.

        places: Values whose places are wanted.
    """
    small = [text for text in figure.texts if text.get_label() == SMALL_PRINT]
    for text in small:
        text.remove()
    target = io.BytesIO()
    save(figure, target, "svg")
    height = float(figure.get_size_inches()[1]) * _POINTS
    panels = _panels(figure)
    return Inline(
        for_page(target.getvalue(), name),
        _box(figure),
        tuple(_seen(panels[place.panel], place, height) for place in places),
        # The lowest line was written first.
        " ".join(text.get_text() for text in reversed(small)),
    )


def _box(figure: Figure) -> tuple[float, float, float, float]:
    """Return the full width, and the height that something is drawn on."""
    width, height = (float(side) * _POINTS for side in figure.get_size_inches())
    axes = figure.get_tightbbox()
    keys = [key.get_window_extent() for key in figure.legends]
    low = min([axes.y0, *(key.y0 / figure.dpi for key in keys)]) * _POINTS - _ROOM
    high = max([axes.y1, *(key.y1 / figure.dpi for key in keys)]) * _POINTS + _ROOM
    return 0.0, round(max(height - high, 0.0), 1), round(width, 1), round(high - max(low, 0.0), 1)


def _panels(figure: Figure) -> list[Axes]:
    """Return the main axes; a strip shares the x axis of the one above it."""
    found: list[Axes] = []
    for axes in figure.axes:
        if not any(axes.get_shared_x_axes().joined(axes, other) for other in found):
            found.append(axes)
    return found


def _seen(axes: Axes, place: Place, height: float) -> tuple[float, float] | None:
    """Return where a value is in points from the upper left of a page so high, None outside its axes."""
    (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
    if not (left <= place.x <= right and low <= place.y <= high):
        return None
    across, up = axes.transData.transform((place.x, place.y)) * _POINTS / axes.figure.dpi
    return round(float(across), 1), round(height - float(up), 1)
