"""Drawing the curve without bins."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.curves.bands import band_sentence, has_band, unbroken
from calibcli.curves.limits import Limits, smooth_limits
from calibcli.curves.reliability import SmoothCurve
from calibcli.figures.axes import dress_panel, show_limits
from calibcli.figures.error_area import DARKER, area_key, draw_area, draw_diagonal, strength
from calibcli.figures.key import Entry
from calibcli.figures.look import Look
from calibcli.figures.page import new_page
from calibcli.figures.sheet import Panel, Words
from calibcli.figures.strokes import band_fill, draw_edges
from calibcli.picture_names import AxisScale

Floats = npt.NDArray[np.float64]

_THINNEST, _THICKEST = 0.7, 2.8
# A stretch of curve shorter than this part of the axis is a single score, and drawn as a dot.
_DOT = 0.004


@dataclass(frozen=True, slots=True)
class Strokes:
    """
    A curve as it is drawn; all arrays have shape (n_points,).

    Args:
        at: Where the kernel stands.

        x: Mean score there; NaN where there is nothing to draw.

        y: Height of the curve.

        lower: Lower end of the band; NaN where there is none.

        upper: Upper end of the band.

        base: Height of the line of perfect calibration.

        density: Of the scores.
    """

    at: Floats
    x: Floats
    y: Floats
    lower: Floats
    upper: Floats
    base: Floats
    density: Floats


def smooth_figure(
    curve: SmoothCurve, words: Words, *, look: Look, confidence: float, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """
    Draw a reliability diagram without bins.

    Args:
        curve: The curve at its bandwidth.

        words: Title and caption; small print follows.

        look: Size and colours.

        confidence: Of the band at each point.

        scale: How both axes are laid out.
    """
    limits = smooth_limits(curve, scale)
    foot = [*smooth_notes(curve), limits.sentence, *words.foot]
    page = new_page(
        Words(words.title, words.caption, foot), look=look, key=smooth_key(curve, look, confidence=confidence)
    )
    panel = page.panels[0]
    draw_smooth(panel, curve, limits=limits, look=look)
    dress_panel(page, panel, strip_label="density")
    show_limits(panel.main, limits)
    return page.figure


def smooth_notes(curve: SmoothCurve) -> list[str]:
    """Return what the picture shows, for the small print."""
    notes = [
        f"Mean label against mean score, Gaussian kernel of bandwidth {curve.bandwidth:.3g}. {DARKER}",
        band_sentence(curve.band, curve.lower),
    ]
    if np.isnan(curve.x).any():
        notes.append("The curve is broken where no score lies within three bandwidths.")
    return notes


def smooth_key(curve: SmoothCurve, look: Look, *, confidence: float) -> list[Entry]:
    """Return what the marks mean."""
    line = Line2D([], [], color=look.palette.ink, linewidth=look.points(2.4), marker="")
    entries: list[Entry] = [(line, "observed rate")]
    if has_band(curve.lower):
        entries.append((Patch(**band_fill(look)), f"{100 * confidence:g} % band"))
    return [*entries, *area_key(look)]


def draw_smooth(panel: Panel, curve: SmoothCurve, *, limits: Limits, look: Look) -> None:
    """
    Draw the curve, its band, the error as area and, below, the density of the scores.

    Args:
        panel: Where.

        curve: What.

        limits: Ends of the axes.

        look: Size and colours.
    """
    at, x, y, lower, upper = (
        limits.held(one) for one in (curve.at, curve.x, curve.y, curve.lower, curve.upper)
    )
    draw_strokes(panel, Strokes(at, x, y, lower, upper, x, curve.density), limits=limits, look=look)
    draw_diagonal(panel.main, limits, look)


def draw_strokes(panel: Panel, strokes: Strokes, *, limits: Limits, look: Look) -> None:
    """
    Draw a curve with its band, the area between it and its base and, below, the density of the scores.

    Args:
        panel: Where.

        strokes: What.

        limits: Ends of the axis of scores.

        look: Size and colours.
    """
    axes, dark = panel.main, strength(strokes.density, even=1.0 / limits.span)
    if has_band(strokes.lower):
        axes.fill_between(strokes.x, strokes.lower, strokes.upper, **band_fill(look), zorder=0.5)
        draw_edges(axes, strokes.x, (strokes.lower, strokes.upper), look=look)
    _draw_error(axes, strokes, dark, look)
    _draw_line(axes, strokes, dark, look)
    _draw_dots(axes, strokes, dark, limits=limits, look=look)
    if panel.strip is not None:
        draw_density(panel.strip, strokes.at, strokes.density, look=look)


def draw_density(axes: Axes, at: Floats, density: Floats, *, look: Look) -> None:
    """Draw how densely scores lie."""
    axes.fill_between(at, 0.0, density, facecolor=look.palette.rows, edgecolor="none", linewidth=0.0)
    top = float(density.max())
    axes.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)
    axes.set_yticks([])


def _draw_error(axes: Axes, curve: Strokes, dark: Floats, look: Look) -> None:
    start, stop = _pieces(curve)
    x, y, base = curve.x, curve.y, curve.base
    corners = np.stack(
        [
            np.stack((x[start], base[start]), axis=1),
            np.stack((x[stop], base[stop]), axis=1),
            np.stack((x[stop], y[stop]), axis=1),
            np.stack((x[start], y[start]), axis=1),
        ],
        axis=1,
    )
    above = y[start] + y[stop] > base[start] + base[stop]
    draw_area(axes, corners, above=above, dark=0.5 * (dark[start] + dark[stop]), palette=look.palette)


def _draw_line(axes: Axes, curve: Strokes, dark: Floats, look: Look) -> None:
    start, stop = _pieces(curve)
    points = np.stack((curve.x, curve.y), axis=1)
    widths = look.points(1.0) * (_THINNEST + (_THICKEST - _THINNEST) * 0.5 * (dark[start] + dark[stop]))
    pieces = np.stack((points[start], points[stop]), axis=1)
    line = LineCollection(
        list(pieces), linewidths=widths.tolist(), colors=look.palette.ink, capstyle="round", zorder=3.0
    )
    axes.add_collection(line, autolim=False)


def _draw_dots(axes: Axes, curve: Strokes, dark: Floats, *, limits: Limits, look: Look) -> None:
    """Mark stretches of curve that are single scores, with a stem to the base."""
    ink = look.palette.ink
    for run in unbroken(curve.x):
        if curve.x[run[-1]] - curve.x[run[0]] > _DOT * limits.span:
            continue
        top = run[int(np.argmax(curve.density[run]))]
        x, y, base = curve.x[top], curve.y[top], curve.base[top]
        width = _THINNEST + (_THICKEST - _THINNEST) * dark[top]
        half = 0.003 * limits.span
        left, right = limits.held(np.array([x - half, x + half]))
        stem = np.array([[[left, base], [right, base], [right, y], [left, y]]])
        draw_area(axes, stem, above=np.array([y > base]), dark=np.array([dark[top]]), palette=look.palette)
        size = look.points(1.6 * width + 1.0)
        axes.plot([x], [y], color=ink, linestyle="", marker="o", markersize=size, zorder=3.0)
        if not np.isnan(curve.lower[top]):
            ends = [curve.lower[top], curve.upper[top]]
            axes.plot([x, x], ends, color=ink, linewidth=look.points(0.7), marker="", zorder=2.5)


def _pieces(curve: Strokes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return start and end of each piece of curve that is not a gap."""
    seen = ~np.isnan(curve.x)
    start = np.flatnonzero(seen[:-1] & seen[1:])
    return start, start + 1
