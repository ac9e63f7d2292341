"""Drawing several reliability curves side by side, on axes that they share."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from calibcli.errors import UsageProblem
from calibcli.names import AxisScale
from calibcli.show.figures.axes import RATE_LABEL, SCORE_LABEL, dress_panel, show_limits
from calibcli.show.figures.bars import DARKER, short_count
from calibcli.show.figures.look import FONT, Look
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
    fitted,
    inches_of,
    inches_wide,
    new_page,
    printable,
    write,
)
from calibcli.show.figures.reliability import binned_key, draw_binned, draw_smooth, smooth_key
from calibcli.stats.curves.limits import Limits, has_band, limits_of
from calibcli.stats.curves.reliability import BinnedCurve, CurvePanels, ReliabilityCurve, SmoothCurve
from calibcli.values import dataclass

# Inches on a page of scale 1.
_ABOVE, _FIRST, _LINE, _BESIDE = 0.37, 0.17, 0.14, 0.06

_NAME_BELOW, _NAME_LEFT = 0.26, 0.575

# Between two numbers of an axis, and beyond the ends of it.
_APART, _OVERHANG = 0.07, 0.065

# A page of at least this many inches, seen at scale 1, holds three panels beside each other.
_WIDE = 5.0

_MOST_NUMBERS = 5


@dataclass(frozen=True, slots=True)
class Heading:
    """
    What stands over a panel.

    Args:
        error: In wordings that say the same, the longest first.
        against: How it differs from that of the first panel, likewise.
    """

    name: str
    rows: int
    error: tuple[str, ...]
    against: tuple[str, ...] = ()


def sheet_of(headings: Sequence[Heading], look: Look) -> Sheet:
    """Return how panels stand: two beside each other in a column of a journal, up to three else."""
    panels = len(headings)
    above = _ABOVE + (_LINE if any(one.against for one in headings) else 0.0)
    wide = look.width / look.scale >= _WIDE
    columns = min(panels, 2 if panels == 4 or not wide else 3)
    rows = -(-panels // columns)
    flat = look.beside and rows > 1
    return Sheet(columns, rows, strip=not (flat and rows > 2), square=not flat, many=panels, above=above)


def dress_grid(page: Page, limits: Limits) -> None:
    """Number the outer axes of a grid, and name each of the two axes once for all panels."""
    for panel in page.panels:
        dress_panel(page, panel, x_label="", y_label="", strip_label="")
        if panel.strip is not None:
            panel.strip.set_yticks([])
        _number(panel.main.xaxis, limits.x, limits, page.look, upright=False)
        _number(panel.main.yaxis, limits.y, limits, page.look, upright=True)
    _name_axes(page)


def write_headings(page: Page, headings: Sequence[Heading]) -> None:
    """Write over each panel its name, rows and error, in the longest wording that fits all of them."""
    look, size = page.look, page.look.points(FOOT)
    room = inches_wide(page.main) + look.inches(_BESIDE)
    lines = [_fitting([one.error for one in headings], size, room)]
    if any(one.against for one in headings):
        lines.append(_fitting([one.against for one in headings], size, room))
    for place, panel in enumerate(page.panels):
        left, _, _, y = _box(panel.main)
        for line in reversed(lines):
            y += look.inches(_LINE)
            write(
                page.figure,
                (left, y + look.inches(_FIRST - _LINE)),
                line[place],
                size=size,
                colour=look.palette.ink,
            )
        _write_name(page, panel, headings[place], y=y + look.inches(_FIRST + 0.03))


def _fitting(wordings: Sequence[tuple[str, ...]], size: float, room: float) -> list[str]:
    """Return the longest wording of a line that fits over all panels; a number cut short would be another."""
    every = list(zip(*wordings, strict=True))
    fits = (some for some in every if all(inches_of(printable(one), size) <= room for one in some))
    return list(next(fits, every[-1]))


def _write_name(page: Page, panel: Panel, heading: Heading, *, y: float) -> None:
    """Write name and rows at a height in inches."""
    look, palette = page.look, page.look.palette
    left, _, right, _ = _box(panel.main)
    size, small = look.points(HEADING), look.points(FOOT)
    count = short_count(heading.rows)
    taken = inches_of(count, small)
    name = fitted(heading.name, size, right - left - taken - look.inches(_APART))
    write(page.figure, (left, y), name, size=size, colour=palette.ink)
    write(page.figure, (right - taken, y - look.inches(0.02)), count, size=small, colour=palette.faint)


def _number(axis: Axis, ends: tuple[float, float], limits: Limits, look: Look, *, upright: bool) -> None:
    """Put as many round numbers on an axis as have room."""
    kept: list[float] = []
    for fewer in range(_MOST_NUMBERS):
        places = _round(axis, ends, limits, fewer)
        inside = places if upright else _inside(places, axis, limits, look)
        crowded = not upright and _crowded(inside, axis, limits, look)
        kept = inside[:1] if crowded else inside
        if not crowded:
            break
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: _shown(value)))


def _round(axis: Axis, ends: tuple[float, float], limits: Limits, fewer: int) -> list[float]:
    """Return round numbers of an axis, the fewer the larger that number."""
    if limits.scale is AxisScale.LINEAR:
        ticks = MaxNLocator(nbins=_MOST_NUMBERS - fewer, steps=[1, 2, 2.5, 5, 10]).tick_values(*ends)
        slack = 1e-9 * (ends[1] - ends[0])
        return [float(tick) for tick in ticks if ends[0] - slack <= tick <= ends[1] + slack]
    every = [float(tick) for tick in axis.get_majorticklocs()]
    middle = every.index(0.5) if 0.5 in every else 0
    return [tick for place, tick in enumerate(every) if (place - middle) % (fewer + 1) == 0]


def _shown(value: float) -> str:
    return f"{round(value, 12) + 0.0:.6g}"


def _spans(places: list[float], axis: Axis, limits: Limits, look: Look) -> list[tuple[float, float]]:
    """Return where the numbers beneath an axis begin and end, in inches."""
    at = limits.shares(np.array(places)) * inches_wide(axis.axes)
    halves = [0.5 * inches_of(_shown(place), look.points(TICK)) for place in places]
    return [(middle - half, middle + half) for middle, half in zip(at.tolist(), halves, strict=True)]


def _inside(places: list[float], axis: Axis, limits: Limits, look: Look) -> list[float]:
    """Return the numbers that do not reach into the next panel."""
    over = look.inches(_OVERHANG)
    spans = _spans(places, axis, limits, look)
    room = inches_wide(axis.axes) + over
    return [one for one, span in zip(places, spans, strict=True) if span[0] >= -over and span[1] <= room]


def _crowded(places: list[float], axis: Axis, limits: Limits, look: Look) -> bool:
    spans, apart = _spans(places, axis, limits, look), look.inches(_APART)
    return any(after[0] - before[1] < apart for before, after in itertools.pairwise(spans))


def _name_axes(page: Page) -> None:
    """Write the names of both axes, each in the middle of all panels."""
    look = page.look
    boxes = [_box(one.main) for one in page.panels]
    feet = [_box(one.main if one.strip is None else one.strip) for one in page.panels]
    left, right = min(box[0] for box in boxes), max(box[2] for box in boxes)
    top, bottom = max(box[3] for box in boxes), min(box[1] for box in boxes)
    width, height = page.figure.get_size_inches()
    place = (0.5 * (left + right), min(box[1] for box in feet) - look.inches(_NAME_BELOW))
    beside = (left - look.inches(_NAME_LEFT), 0.5 * (top + bottom))
    for (x, y), text, turn, align in ((place, SCORE_LABEL, 0.0, "top"), (beside, RATE_LABEL, 90.0, "bottom")):
        page.figure.text(
            x / width,
            y / height,
            text,
            family=FONT,
            fontsize=look.points(LABEL),
            color=look.palette.ink,
            rotation=turn,
            rotation_mode="anchor",
            ha="center",
            va=align,
            parse_math=False,
        )


def _box(axes: Axes) -> tuple[float, float, float, float]:
    """Return where axes stand, in inches: left, lower, right and upper end."""
    figure = axes.get_figure()
    if not isinstance(figure, Figure):
        msg = "these axes stand on no figure"
        raise TypeError(msg)
    width, height = figure.get_size_inches()
    box = axes.get_position()
    return box.x0 * width, box.y0 * height, box.x1 * width, box.y1 * height


# Marks are this much smaller where three panels stand beside each other.
_SMALLER = 0.75

_ROWS = "Beside each name: its rows."


def panels_figure(
    picture: CurvePanels, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """Draw reliability diagrams side by side."""
    curves = [one.curve for one in picture.panels]
    smooth = _smooth_curves(curves) if picture.smooth else None
    binned = [one.binned for one in curves]
    limits = _limits_of_smooth(smooth, scale) if smooth else _limits_of_binned(binned, scale)
    notes = _smooth_notes(smooth) if smooth else _binned_notes(binned)
    headings = [Heading(one.name, one.rows, one.error, one.against) for one in picture.panels]
    sheet = sheet_of(headings, look)
    marks = replace(look, scale=look.scale * _SMALLER) if sheet.columns > 2 else look
    own = " ".join(one for one in (*notes, _ROWS, limits.sentence) if one)
    page = new_page(
        Words(words.title, words.caption, [own, *words.foot]),
        look=look,
        sheet=sheet,
        key=_key(curves, smooth, look),
    )
    if smooth:
        for panel, curve in zip(page.panels, smooth, strict=True):
            draw_smooth(panel, curve, limits=limits, look=marks)
    else:
        for panel, points in zip(page.panels, binned, strict=True):
            draw_binned(panel, points, limits=limits, look=marks, counted=False)
    for panel in page.panels:
        show_limits(panel.main, limits)
    dress_grid(page, limits)
    write_headings(page, headings)
    return page.figure


def _smooth_curves(curves: Sequence[ReliabilityCurve]) -> list[SmoothCurve]:
    found = [one.smooth for one in curves if one.smooth is not None]
    if len(found) < len(curves):
        msg = "there is no smooth curve to draw"
        raise UsageProblem(msg, "draw the files that the report was measured on")
    return found


def _key(curves: Sequence[ReliabilityCurve], smooth: Sequence[SmoothCurve] | None, look: Look) -> list[Entry]:
    """Return what the marks mean, in the words of the first curve that has a band."""
    confidence = curves[0].confidence
    if smooth:
        return smooth_key(
            next((one for one in smooth if has_band(one.lower)), smooth[0]), look, confidence=confidence
        )
    binned = [one.binned for one in curves]
    shown = next((one for one in binned if has_band(one.rate_lower)), binned[0])
    return binned_key(shown, look, confidence=confidence)


def _limits_of_smooth(curves: Sequence[SmoothCurve], scale: AxisScale) -> Limits:
    """Return how much of the unit square all curves need, each counting as much as any other."""
    parts = []
    for curve in curves:
        seen = ~np.isnan(curve.x) & ~np.isnan(curve.y)
        total = float(curve.density[seen].sum())
        if total > 0.0:
            rows = (curve.x, curve.y, curve.density / total, curve.lower, curve.upper)
            parts.append(np.stack([row[seen] for row in rows]))
    return _limits(parts, scale)


def _limits_of_binned(curves: Sequence[BinnedCurve], scale: AxisScale) -> Limits:
    parts = [
        np.stack((one.score, one.rate, one.rows / one.rows.sum(), one.rate_lower, one.rate_upper))
        for one in curves
    ]
    return _limits(parts, scale)


def _limits(parts: Sequence[np.ndarray[tuple[int, int], np.dtype[np.float64]]], scale: AxisScale) -> Limits:
    if not parts:
        return Limits(scale=AxisScale.LINEAR)
    every = np.concatenate(parts, axis=1)
    score, rate, mass, lower, upper = every[:, np.argsort(every[0], kind="stable")]
    return limits_of(score, rate, mass=mass, lower=lower, upper=upper, scale=scale)


def _smooth_notes(curves: Sequence[SmoothCurve]) -> list[str]:
    """Return what the picture shows, for the small print."""
    widths = [f"{one.bandwidth:.3g}" for one in (min(curves, key=_width), max(curves, key=_width))]
    kernels = (
        f"a bandwidth of {widths[0]}" if len(set(widths)) == 1 else f"bandwidths of {' to '.join(widths)}"
    )
    bands = dict.fromkeys(f"grey: {one.band}" if has_band(one.lower) else one.band for one in curves)
    said = [f"Mean label against mean score, Gaussian kernels of {kernels}; {'; '.join(bands)}.", DARKER]
    if any(np.isnan(one.x).any() for one in curves):
        said.append("Curves are broken where no score lies within three bandwidths.")
    return said


def _width(curve: SmoothCurve) -> float:
    return curve.bandwidth


def _binned_notes(curves: Sequence[BinnedCurve]) -> list[str]:
    atoms = [bool(np.all(one.lower == one.upper)) for one in curves]
    fewest, most = (size(one.rows.size for one in curves) for size in (min, max))
    many = f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
    what = "distinct scores is a point" if all(atoms) else "occupied bins is a point at its mean score"
    bands = dict.fromkeys(f"whiskers: {one.band}" if has_band(one.rate_lower) else one.band for one in curves)
    return [f"Each of {many} {what}; {'; '.join(bands)}.", DARKER]
