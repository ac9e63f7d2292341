"""Drawing segments: as points over their rows, and as cells of two columns."""

import math
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from calibcli.options.numerals import percent
from calibcli.show.figures.axes import dress, round_numbers
from calibcli.show.figures.look import Look, Palette, mixed
from calibcli.show.figures.page import (
    TICK,
    Entry,
    Panel,
    Sheet,
    Words,
    box_of,
    fitted,
    inches_high,
    inches_of,
    inches_wide,
    new_page,
)
from calibcli.stats.curves.segments import SegmentCells, SegmentPoints, reach
from calibcli.stats.numerics import Floats

_SHEET = Sheet(aspect=0.68, strip=False, square=False)
_BIAS = "mean score less observed rate"
# How many times as far as the reach intervals are shown, before they are cut.
_LONGEST = 1.8
_NUMBER = 8.0


def points_figure(points: SegmentPoints, words: Words, look: Look) -> Figure:
    """Draw the bias of every segment against its rows, with its interval."""
    top, cut = _height(points)
    notes = [
        f"Lines: {percent(points.confidence)} intervals, which hold for all segments at once.",
        *(["Intervals are cut at the ends of the picture."] if cut else []),
    ]
    page = new_page(words, notes, look, sheet=_SHEET, key=_key(points, look))
    panel = page.panels[0]
    axes = panel.main
    dress(panel, x_label="rows of the segment", y_label=_BIAS)
    axes.set_xscale("log")
    ends = (float(points.rows.min()) / 1.15, float(points.rows.max()) * 1.25)
    axes.xaxis.set_major_locator(FixedLocator(_round_rows(ends, panel)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    round_numbers(axes.yaxis)
    axes.set_xlim(ends)
    axes.set_ylim(-top, top)
    axes.axhline(0.0, **look.dashed, zorder=1.0)
    _draw_points(panel, points)
    _number(panel, points)
    return page.figure


def _height(points: SegmentPoints) -> tuple[float, bool]:
    """Return the upper end of the axis, whose lower end is minus it, and whether intervals leave it."""
    far = np.fmax(np.abs(points.lower), np.abs(points.upper))
    shown = float(np.nan_to_num(far[points.stands_out]).max(initial=0.0))
    most = float(np.nan_to_num(far).max(initial=0.0))
    top = max(shown, min(most, _LONGEST * reach(points))) or 0.1
    return 1.06 * top, most > 1.06 * top


def _round_rows(ends: tuple[float, float], panel: Panel) -> list[float]:
    """Return round numbers of rows whose words touch neither each other nor the end of the page."""
    look = panel.look
    low, high = math.floor(math.log10(ends[0])), math.ceil(math.log10(ends[1]))
    left, _, right, _ = box_of(panel.main)

    def wide(rows: float) -> float:
        return inches_of(f"{rows:,.0f}", look.points(TICK))

    def on_page(rows: float) -> bool:
        along = math.log(rows / ends[0]) / math.log(ends[1] / ends[0])
        return left + along * (right - left) + 0.5 * wide(rows) <= look.width

    for steps in ((1, 2, 5), (1, 3), (1,)):
        every = [k * 10.0**n for n in range(low, high + 1) for k in steps]
        found = [one for one in every if ends[0] <= one <= ends[1] and on_page(one)]
        if sum(wide(one) + look.inches(0.12) for one in found) <= right - left:
            break
    # Segments may be so alike that no round number lies among them.
    return found or [float(round(math.sqrt(ends[0] * ends[1])))]


def _kinds(points: SegmentPoints) -> dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Return which segments are drawn alike, by what the key says of them."""
    high, low = points.stands_out & (points.lower > 0.0), points.stands_out & (points.upper < 0.0)
    return {
        "scores too high": high,
        "too low": low,
        "wrong, perhaps not on average": points.stands_out & ~high & ~low,
        "no error shown": ~points.stands_out,
    }


def _marks(look: Look) -> dict[str, dict[str, Any]]:
    palette = look.palette
    edge = {"markeredgewidth": look.points(0.7), "markeredgecolor": palette.ink}
    return {
        "scores too high": {**look.dots(palette.too_high, 6.5, "^"), **edge},
        "too low": {**look.dots(palette.too_low, 6.5, "v"), **edge},
        "wrong, perhaps not on average": {**look.dots(palette.paper, 0.77 * 6.5, "D"), **edge},
        "no error shown": {**look.dots(palette.edge, 3.2), "markeredgewidth": 0.0},
    }


def _key(points: SegmentPoints, look: Look) -> list[Entry]:
    marks = _marks(look)
    some: list[Entry] = [
        (Line2D([], [], **marks[name]), name) for name, which in _kinds(points).items() if which.any()
    ]
    return [*some, (Line2D([], [], **look.dashed), "calibrated on average")]


def _draw_points(panel: Panel, points: SegmentPoints) -> None:
    axes, look, marks = panel.main, panel.look, _marks(panel.look)
    for order, (name, which) in enumerate(reversed(_kinds(points).items())):
        if not which.any():
            continue
        told = name != "no error shown"
        style = look.uprights(look.palette.ink, 1.1) if told else look.uprights(look.palette.line, 0.6)
        ends = points.lower[which], points.upper[which]
        axes.vlines(points.rows[which], *ends, **style, zorder=1.5 + order)
        axes.plot(points.rows[which], points.bias[which], **marks[name], zorder=2.0 + order)


def _number(panel: Panel, points: SegmentPoints) -> None:
    """Write the number of each listed segment beside its point, clear of the numbers before."""
    axes, look = panel.main, panel.look
    wide, high, size = inches_wide(axes), inches_high(axes), look.points(_NUMBER)
    (left, right), (low, top) = axes.get_xlim(), axes.get_ylim()
    taken: list[tuple[float, float]] = []
    for number, place in enumerate(points.listed, start=1):
        x = math.log(points.rows[place] / left) / math.log(right / left) * wide
        y = (points.bias[place] - low) / (top - low) * high
        step, apart = size / 72.0, 0.95 * size / 72.0
        tries = [(step, 0.0), (-step, 0.0), (step, step), (-step, step), (step, -step), (-step, -step)]
        dx, dy = next(
            (
                one
                for one in tries
                if 0.0 < x + one[0] < wide
                and all(math.hypot(x + one[0] - a, y + one[1] - b) > apart for a, b in taken)
            ),
            tries[0],
        )
        taken.append((x + dx, y + dy))
        axes.annotate(
            f"{number}", (float(points.rows[place]), float(points.bias[place])), (72.0 * dx, 72.0 * dy),
            textcoords="offset points", ha="center", va="center", zorder=9.0, fontweight="bold",
            **look.letters(look.palette.ink, size),
            bbox={"facecolor": look.palette.paper, "edgecolor": "none", "pad": 0.4, "alpha": 0.75},
        )  # fmt: skip


# Share of a cell's width that its number may take, and the smallest letters that can be read, in points.
_FILLED, _LEAST_LETTERS = 0.86, 4.6
# Of a cell what is free before all rows; of the width what names may take, beside inches of the margin.
_GAP, _GUTTER, _BESIDE = 0.18, 0.24, 0.45
# More names than these stand upright, in so many inches.
_SIDE_BY_SIDE, _UPRIGHT = 6, 0.75
_PALEST, _DARKEST = 0.12, 0.85


def cells_figure(cells: SegmentCells, words: Words, look: Look) -> Figure:
    """Draw the bias of every pair of values of two columns, with the rows that it is of."""
    lines, columns = cells.bias.shape
    upright = columns > _SIDE_BY_SIDE
    aspect = min(1.15, max(0.42, 0.12 * (lines + (1.9 if upright else 0.8))))
    sheet = Sheet(aspect=aspect, strip=False, square=False)
    most = float(np.nanmax(np.abs(np.where(cells.is_tested, cells.bias, np.nan)), initial=0.0)) or 0.01
    framed = "Framed: stands out" if cells.stands_out.any() else "None stands out"
    notes = [
        f"{_BIAS.capitalize()}, and the rows below it. Full colour: {most:.3g} or more.",
        f"{framed}, for all segments at once.",
    ]
    page = new_page(words, notes, look, sheet=sheet, key=_cell_key(cells, look))
    panel = page.panels[0]
    axes = panel.main
    dress(panel, x_label=cells.across, y_label=cells.down)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xticks([])
    axes.set_yticks([])
    longest = max(inches_of(name, look.points(TICK)) for name in (*cells.lines, "all")) + look.inches(0.14)
    share = min(_GUTTER, max(0.0, longest - look.inches(_BESIDE)) / inches_wide(axes))
    gutter = share / (1.0 - share) * (columns + _GAP)
    names = max(inches_of(name, look.points(TICK)) for name in (*cells.columns, "all"))
    needed = look.inches(0.1) + (min(names, look.inches(_UPRIGHT)) if upright else look.inches(0.18))
    below = needed / (inches_high(axes) - needed) * (lines + _GAP)
    axes.set_xlim(-gutter, columns + _GAP)
    axes.set_ylim(lines + _GAP + below, 0.0)
    _draw_cells(panel, cells, most)
    _write_cells(panel, cells, most)
    _write_levels(panel, cells, upright=upright)
    return page.figure


def _cell_key(cells: SegmentCells, look: Look) -> list[Entry]:
    palette = look.palette
    few = Patch(facecolor=palette.paper, edgecolor=palette.line, hatch="////")
    shades = (("scores too low (-)", palette.too_low), ("too high (+)", palette.too_high))
    return [
        *(
            (Patch(facecolor=mixed(colour, palette.paper, _DARKEST), edgecolor="none"), name)
            for name, colour in shades
        ),
        *([(few, "not tested")] if (cells.rows > 0)[~cells.is_tested].any() else []),
    ]


def _places(cells: SegmentCells) -> tuple[Floats, Floats]:
    """Return the left and upper edges of cells; those of all rows stand a little apart."""
    lines, columns = cells.bias.shape
    x, y = np.arange(columns, dtype=np.float64), np.arange(lines, dtype=np.float64)
    x[-1] += _GAP
    y[-1] += _GAP
    return x, y


def _fill(
    cells: SegmentCells, place: tuple[int, int], most: float, palette: Palette
) -> tuple[float, float, float]:
    bias = float(cells.bias[place])
    if not cells.is_tested[place]:
        return mixed(palette.paper, palette.paper, 1.0)
    share = _PALEST + (_DARKEST - _PALEST) * min(1.0, abs(bias) / most)
    return mixed(palette.too_high if bias > 0.0 else palette.too_low, palette.paper, share)


def _draw_cells(panel: Panel, cells: SegmentCells, most: float) -> None:
    axes, look, (x, y) = panel.main, panel.look, _places(cells)
    inner = 0.03
    for i, k in np.ndindex(cells.bias.shape):
        if not cells.rows[i, k]:
            continue
        left, right, top, bottom = x[k] + inner, x[k] + 1.0 - inner, y[i] + inner, y[i] + 1.0 - inner
        corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
        tested, out = bool(cells.is_tested[i, k]), bool(cells.stands_out[i, k])
        axes.add_collection(
            PolyCollection(
                [corners],
                facecolors=[_fill(cells, (i, k), most, look.palette)],
                edgecolors=look.palette.ink if out else look.palette.line if not tested else "none",
                linewidths=look.points(1.6 if out else 0.5),
                hatch=None if tested else "////",
                zorder=3.0 if out else 2.0,
            ),
            autolim=False,
        )


def _write_cells(panel: Panel, cells: SegmentCells, most: float) -> None:
    """Write the numbers of cells in one size that fits all; none where it could not be read."""
    axes, look = panel.main, panel.look
    lines, columns = cells.bias.shape
    x, y = _places(cells)
    wide = inches_wide(axes) / abs(axes.get_xlim()[1] - axes.get_xlim()[0])
    high = inches_high(axes) / abs(axes.get_ylim()[1] - axes.get_ylim()[0])
    known = [(i, k) for i, k in np.ndindex(lines, columns) if cells.rows[i, k]]
    said = {place: (_signed(float(cells.bias[place])), f"{cells.rows[place]:,.0f}") for place in known}
    longest = max(inches_of(text, 10.0) for both in said.values() for text in both)
    size = min(look.points(TICK), 10.0 * _FILLED * wide / longest, 72.0 * 0.40 * high)
    if size < _LEAST_LETTERS:
        # What colours say must be told in grey, too.
        size = min(look.points(TICK), 72.0 * 0.8 * high)
        said = {place: (bias[:1].strip("0"), "") for place, (bias, _) in said.items()}
    for (i, k), (bias, rows) in said.items():
        dark = sum(_fill(cells, (i, k), most, look.palette)) > 1.5
        ink = "#1a1a1a" if dark else "#f0f0f0"
        tested = bool(cells.is_tested[i, k])
        for text, at, part in ((bias if tested else "", 0.36, 1.0), (rows, 0.72, 0.82)):
            axes.text(
                float(x[k]) + 0.5, float(y[i]) + at, text, **look.letters(ink, part * size),
                ha="center", va="center", zorder=4.0,
                bbox=None if tested else {"facecolor": look.palette.paper, "edgecolor": "none", "pad": 0.6},
                fontweight="bold" if cells.stands_out[i, k] and part == 1.0 else "normal",
            )  # fmt: skip


# Between the ends of an interval.
_TO = "–"


def _signed(bias: float) -> str:
    digits = 3 if abs(bias) >= 0.0005 else 4
    return f"{bias:+.{digits}f}" if abs(bias) >= 0.00005 else f"{bias:+.0e}" if bias else "0"


def _write_levels(panel: Panel, cells: SegmentCells, *, upright: bool) -> None:
    """Write the names of levels beside the cells, cut in the middle where they are too long for two lines."""
    axes, look, (x, y) = panel.main, panel.look, _places(cells)
    inch = inches_wide(axes) / abs(axes.get_xlim()[1] - axes.get_xlim()[0])
    size = look.points(TICK)

    def name(word: str, place: tuple[float, float], room: float, **more: Any) -> None:  # noqa: ANN401
        # An interval below its cell may have a line for each end.
        both = word.partition(_TO)
        lines = [both[0] + _TO, both[2]] if both[1] and inches_of(word, size) > room else [word]
        text = "\n".join(fitted(line, size, room) for line in lines)
        axes.text(place[0], place[1], text, **look.letters(look.palette.ink, size), **more)

    gutter = -axes.get_xlim()[0] * inch + look.inches(_BESIDE)
    for at, word in zip(y, (*cells.lines, "all"), strict=True):
        place = -look.inches(0.06) / inch, float(at) + 0.5
        name(word, place, gutter - look.inches(0.1), ha="right", va="center")
    room, turned = (look.inches(_UPRIGHT), 90.0) if upright else (0.96 * inch, 0.0)
    for at, word in zip(x, (*cells.columns, "all"), strict=True):
        name(word, (float(at) + 0.5, float(y[-1]) + 1.08), room, ha="center", va="top", rotation=turned)
