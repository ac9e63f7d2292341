"""Drawing the curve without bins."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.curves.reliability import SmoothCurve
from calibcli.figures.error_area import DARKER, draw_area, strength, write_key
from calibcli.figures.limits import Limits, limits_of
from calibcli.figures.page import INK, ROWS, Page

Floats = npt.NDArray[np.float64]

_BAND: dict[str, Any] = {"facecolor": "#dcdcdc", "edgecolor": "none", "linewidth": 0.0}
# The band lies under the coloured area; its edges are drawn over it.
_EDGE: dict[str, Any] = {"color": "#8a8a8a", "linewidth": 0.6, "linestyle": "-", "marker": "", "zorder": 1.5}
_THINNEST, _THICKEST = 0.7, 2.8
# A stretch of curve shorter than this part of the axis is a single score, and drawn as a dot.
_DOT = 0.004


def smooth_limits(curve: SmoothCurve) -> Limits:
    """Return how much of the unit square the curve needs."""
    seen = ~np.isnan(curve.x) & ~np.isnan(curve.y)
    if not np.any(curve.density[seen] > 0.0):
        return Limits()
    return limits_of(
        curve.x[seen],
        curve.y[seen],
        mass=curve.density[seen],
        lower=curve.lower[seen],
        upper=curve.upper[seen],
    )


def smooth_notes(curve: SmoothCurve) -> list[str]:
    """Return what the picture shows, for the small print."""
    notes = [
        f"Mean label against mean score, Gaussian kernel of bandwidth {curve.bandwidth:.3g}. {DARKER}",
        f"Grey: {curve.band}." if has_band(curve) else f"{curve.band[:1].upper()}{curve.band[1:]}.",
    ]
    if np.isnan(curve.x).any():
        notes.append("The curve is broken where no score lies within three bandwidths.")
    return notes


def has_band(curve: SmoothCurve) -> bool:
    """Whether there is a band to draw."""
    return bool(np.any(~np.isnan(curve.lower)))


def draw_smooth(page: Page, curve: SmoothCurve, *, limits: Limits, confidence: float) -> None:
    """
    Draw the curve, its band, the error as area and, below, the density of the scores.

    Args:
        page: Where.

        curve: What.

        limits: Ends of the axes.

        confidence: Of the band.
    """
    dark = strength(curve.density, even=1.0 / limits.span)
    if has_band(curve):
        page.main.fill_between(curve.x, curve.lower, curve.upper, **_BAND, zorder=0.5)
        for edge in (curve.lower, curve.upper):
            page.main.plot(curve.x, edge, **_EDGE)
    _draw_error(page.main, curve, dark)
    _draw_line(page.main, curve, dark)
    _draw_dots(page.main, curve, dark, span=limits.span)
    _draw_density(page.rows, curve)
    entries: list[tuple[Line2D | Patch, str]] = [
        (Line2D([], [], color=INK, linewidth=2.4, marker=""), "observed rate")
    ]
    if has_band(curve):
        entries.append((Patch(**_BAND), f"{100 * confidence:g} % band"))
    write_key(page, entries)


def _draw_error(axes: Axes, curve: SmoothCurve, dark: Floats) -> None:
    start, stop = _pieces(curve)
    x, y = curve.x, curve.y
    corners = np.stack(
        [
            np.stack((x[start], x[start]), axis=1),
            np.stack((x[stop], x[stop]), axis=1),
            np.stack((x[stop], y[stop]), axis=1),
            np.stack((x[start], y[start]), axis=1),
        ],
        axis=1,
    )
    above = y[start] + y[stop] > x[start] + x[stop]
    draw_area(axes, corners, above=above, dark=0.5 * (dark[start] + dark[stop]))


def _draw_line(axes: Axes, curve: SmoothCurve, dark: Floats) -> None:
    start, stop = _pieces(curve)
    points = np.stack((curve.x, curve.y), axis=1)
    widths = _THINNEST + (_THICKEST - _THINNEST) * 0.5 * (dark[start] + dark[stop])
    pieces = np.stack((points[start], points[stop]), axis=1)
    line = LineCollection(list(pieces), linewidths=widths.tolist(), colors=INK, capstyle="round", zorder=3.0)
    axes.add_collection(line, autolim=False)


def _draw_dots(axes: Axes, curve: SmoothCurve, dark: Floats, *, span: float) -> None:
    """Mark stretches of curve that are single scores, with a stem to the diagonal."""
    for run in _runs(curve):
        if curve.x[run[-1]] - curve.x[run[0]] > _DOT * span:
            continue
        top = run[int(np.argmax(curve.density[run]))]
        x, y, width = curve.x[top], curve.y[top], _THINNEST + (_THICKEST - _THINNEST) * dark[top]
        half = 0.003 * span
        stem = np.array([[[x - half, x], [x + half, x], [x + half, y], [x - half, y]]])
        draw_area(axes, stem, above=np.array([y > x]), dark=np.array([dark[top]]))
        axes.plot([x], [y], color=INK, linestyle="", marker="o", markersize=1.6 * width + 1.0, zorder=3.0)
        if not np.isnan(curve.lower[top]):
            axes.plot(
                [x, x], [curve.lower[top], curve.upper[top]], color=INK, linewidth=0.7, marker="", zorder=2.5
            )


def _pieces(curve: SmoothCurve) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return start and end of each piece of curve that is not a gap."""
    seen = ~np.isnan(curve.x)
    start = np.flatnonzero(seen[:-1] & seen[1:])
    return start, start + 1


def _runs(curve: SmoothCurve) -> list[npt.NDArray[np.intp]]:
    """Return the places of each unbroken stretch of curve."""
    places = np.flatnonzero(~np.isnan(curve.x))
    breaks = np.flatnonzero(np.diff(places) > 1) + 1
    return [run for run in np.split(places, breaks) if run.size]


def _draw_density(axes: Axes, curve: SmoothCurve) -> None:
    axes.fill_between(curve.at, 0.0, curve.density, facecolor=ROWS, edgecolor="none", linewidth=0.0)
    top = float(curve.density.max())
    axes.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)
    axes.set_yticks([])
