"""Drawing curves of rates against scores: one by itself, or several side by side on axes that they share."""

import itertools
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from calibcli.names import AxisScale
from calibcli.show.figures.axes import SCORE_LABEL, dress, show_limits
from calibcli.show.figures.bars import short_count
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import (
    FOOT,
    HEADING,
    LABEL,
    TICK,
    Entry,
    Page,
    Panel,
    Sheet,
    Words,
    box_of,
    fitted,
    inches_high,
    inches_of,
    inches_wide,
    new_page,
    printable,
    told_apart,
    write,
)
from calibcli.show.words import number_text
from calibcli.stats.curves import CurvePanel, CurvePanels, Picture
from calibcli.stats.curves.limits import Extent, limits_for
from calibcli.values import replace

# Inches on a page of scale 1.
_ABOVE, _FIRST, _LINE, _BESIDE = 0.37, 0.17, 0.14, 0.06

_NAME_BELOW, _NAME_LEFT = 0.26, 0.575

# Between two numbers of an axis, and beyond the ends of it.
_APART, _OVERHANG = 0.07, 0.065

# A page of at least this many inches, seen at scale 1, holds three panels beside each other.
_WIDE = 5.0

_MOST_NUMBERS = 5


def sheet_of(headings: Sequence[CurvePanel], look: Look) -> Sheet:
    """Return how panels stand: two beside each other in a column of a journal, up to three else."""
    panels = len(headings)
    above = _ABOVE + (_LINE if any(one.against for one in headings) else 0.0)
    wide = look.width / look.scale >= _WIDE
    columns = min(panels, 2 if panels == 4 or not wide else 3)
    rows = -(-panels // columns)
    flat = look.beside and rows > 1
    return Sheet(columns, rows, strip=not (flat and rows > 2), square=not flat, many=panels, above=above)


def dress_grid(page: Page, rate_label: str) -> None:
    """Number the outer axes of a grid, and name each of the two axes once for all panels."""
    for panel in page.panels:
        dress(panel, x_label="", y_label="", strip_label="")
        if panel.strip is not None:
            panel.strip.set_yticks([])
        _number(panel, upright=False)
        _number(panel, upright=True)
    _name_axes(page, rate_label)


def write_headings(page: Page, headings: Sequence[CurvePanel]) -> None:
    """Write over each panel its name, rows and error, in the longest wording that fits all of them."""
    look, size = page.look, page.look.points(FOOT)
    room = inches_wide(page.main) + look.inches(_BESIDE)
    lines = [_fitting([one.error for one in headings], size, room)]
    if any(one.against for one in headings):
        lines.append(_fitting([one.against for one in headings], size, room))
    names = _names(page, headings)
    for place, panel in enumerate(page.panels):
        left, _, right, y = box_of(panel.main)
        for line in reversed(lines):
            y += look.inches(_LINE)
            at = left, y + look.inches(_FIRST - _LINE)
            write(page.figure, at, line[place], size=size, colour=look.palette.ink)
        y += look.inches(_FIRST + 0.03)
        count = short_count(headings[place].rows)
        at = right - inches_of(count, size), y - look.inches(0.02)
        write(page.figure, (left, y), names[place], size=look.points(HEADING), colour=look.palette.ink)
        write(page.figure, at, count, size=size, colour=look.palette.faint)


def _fitting(wordings: Sequence[tuple[str, ...]], size: float, room: float) -> list[str]:
    """Return the longest wording of a line that fits over all panels; a number cut short would be another."""
    every = list(zip(*wordings, strict=True))
    fits = (some for some in every if all(inches_of(printable(one), size) <= room for one in some))
    return list(next(fits, every[-1]))


def _names(page: Page, headings: Sequence[CurvePanel]) -> list[str]:
    """Return names that leave room for the rows beside them."""
    look, room = page.look, inches_wide(page.main) - page.look.inches(_APART)
    rooms = [room - inches_of(short_count(one.rows), look.points(FOOT)) for one in headings]
    names, size = [one.name for one in headings], look.points(HEADING)
    fit = all(inches_of(printable(one), size) <= width for one, width in zip(names, rooms, strict=True))
    return told_apart(names if fit else values_alone(names), size, rooms)


def values_alone(names: Sequence[str]) -> list[str]:
    """Return names of groups without their columns, which the title has; other names as they are."""
    parts = [[one.partition(" = ") for one in name.split(", ")] for name in names]
    columns = {tuple(column for column, _, _ in one) for one in parts}
    if len(columns) > 1 or not all(mark for one in parts for _, mark, _ in one):
        return [*names]
    return [", ".join(value for _, _, value in one) for one in parts]


def _number(panel: Panel, *, upright: bool) -> None:
    """Put as many round numbers on an axis as have room."""
    axis = panel.main.yaxis if upright else panel.main.xaxis
    apart, kept = panel.look.inches(_APART), list[float]()
    for fewer in range(_MOST_NUMBERS):
        places = _round(panel, axis, fewer, upright=upright)
        inside = places if upright else _inside(places, panel)
        spans = _spans(inside, panel, upright=upright)
        crowded = any(after[0] - before[1] < apart for before, after in itertools.pairwise(spans))
        kept = inside[:1] if crowded else inside
        if not crowded:
            break
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))


def _round(panel: Panel, axis: Axis, fewer: int, *, upright: bool) -> list[float]:
    """Return round numbers of an axis, the fewer the larger that number."""
    if panel.limits.scale is AxisScale.LINEAR:
        low, high = panel.limits.y if upright else panel.limits.x
        ticks = MaxNLocator(nbins=_MOST_NUMBERS - fewer, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
        slack = 1e-9 * (high - low)
        return [float(tick) for tick in ticks if low - slack <= tick <= high + slack]
    every = [float(tick) for tick in axis.get_majorticklocs()]
    middle = every.index(0.5) if 0.5 in every else 0
    return [tick for place, tick in enumerate(every) if (place - middle) % (fewer + 1) == 0]


def _spans(places: list[float], panel: Panel, *, upright: bool = False) -> list[tuple[float, float]]:
    """Return where the numbers beneath or beside an axis begin and end, in inches."""
    size, limits = panel.look.points(TICK), panel.limits
    limits = replace(limits, x=limits.y) if upright else limits
    at = limits.shares(np.array(places)) * (inches_high if upright else inches_wide)(panel.main)
    halves = [0.5 * (size / 72.0 if upright else inches_of(number_text(place), size)) for place in places]
    return [(middle - half, middle + half) for middle, half in zip(at.tolist(), halves, strict=True)]


def _inside(places: list[float], panel: Panel) -> list[float]:
    """Return the numbers that do not reach into the next panel."""
    over = panel.look.inches(_OVERHANG)
    room = inches_wide(panel.main) + over
    spans = _spans(places, panel)
    return [one for one, span in zip(places, spans, strict=True) if span[0] >= -over and span[1] <= room]


def _name_axes(page: Page, rate_label: str) -> None:
    """Write the names of both axes, each in the middle of all panels, that of rates smaller if it is long."""
    look = page.look
    boxes = [box_of(one.main) for one in page.panels]
    feet = [box_of(one.main if one.strip is None else one.strip) for one in page.panels]
    left, right = min(box[0] for box in boxes), max(box[2] for box in boxes)
    top, bottom = max(box[3] for box in boxes), min(box[1] for box in boxes)
    width, height = page.figure.get_size_inches()
    lowest, highest = min(box[1] for box in feet) - look.inches(_NAME_BELOW), top + look.inches(_ABOVE)
    size, room = look.points(LABEL), highest - lowest
    smaller = max(look.points(FOOT), size * min(1.0, room / inches_of(printable(rate_label), size)))
    name = fitted(rate_label, smaller, room)
    half = 0.5 * inches_of(name, smaller)
    middle = min(max(0.5 * (top + bottom), lowest + half), highest - half)
    for x, y, text, points, turn, align in (
        (0.5 * (left + right), lowest, SCORE_LABEL, size, 0.0, "top"),
        (left - look.inches(_NAME_LEFT), middle, name, smaller, 90.0, "bottom"),
    ):
        page.figure.text(
            x / width, y / height, text, **look.letters(look.palette.ink, points),
            rotation=turn, rotation_mode="anchor", ha="center", va=align,
        )  # fmt: skip


# Marks are this much smaller where three panels stand beside each other.
_SMALLER = 0.75

_ROWS = "Beside each name: its rows."


class Plots(Protocol):
    """Curves of one class, and how they are drawn on axes of scores and rates."""

    @property
    def rate_label(self) -> str:
        """What the axis of rates is called."""

    @property
    def strip_label(self) -> str:
        """What the strip below shows."""

    @property
    def extents(self) -> Sequence[Extent]:
        """What each asks of the axes."""

    def notes(self) -> list[str]:
        """Return what the picture shows, for the small print."""

    def key(self, look: Look) -> list[Entry]:
        """Return what the marks mean."""

    def draw(self, place: int, panel: Panel) -> None:
        """Draw one of them."""


def panels_figure(picture: Picture, plots: Plots, words: Words, look: Look) -> Figure:
    """Draw the one curve of a picture, or its panels, each with a heading."""
    headings = picture.panels if isinstance(picture, CurvePanels) else ()
    limits = limits_for(plots.extents, look.axis)
    notes = [one for one in (*plots.notes(), limits.sentence) if one]
    sheet, marks = Sheet(), look
    if headings:
        sheet, notes = sheet_of(headings, look), [" ".join((*notes, _ROWS))]
        marks = replace(look, scale=look.scale * _SMALLER) if sheet.columns > 2 else look
    page = new_page(words, notes, look, sheet=sheet, key=plots.key(look), limits=limits)
    rate_label = words.named(plots.rate_label)
    for place, panel in enumerate(page.panels):
        plots.draw(place, replace(panel, look=marks))
        dress(panel, y_label=rate_label, strip_label=plots.strip_label)
        show_limits(panel)
    if headings:
        dress_grid(page, rate_label)
        write_headings(page, headings)
    return page.figure
