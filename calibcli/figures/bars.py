"""Bars from a base: bins with their points and whiskers, and how many rows they hold."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from calibcli.curves.limits import Limits
from calibcli.figures.error_area import draw_area, strength
from calibcli.figures.look import FONT, Look
from calibcli.figures.page import COUNT, inches_wide
from calibcli.figures.sheet import Panel
from calibcli.figures.words import inches_of

Floats = npt.NDArray[np.float64]

_MOST_COUNTS = 16


@dataclass(frozen=True, slots=True)
class Bars:
    """
    Bins as they are drawn; all arrays have shape (n_bins,).

    Args:
        left: Where each bar begins.

        right: Where it ends.

        score: Where its point stands.

        height: How high.

        lower: Lower end of the whisker; NaN where there is none.

        upper: Upper end of the whisker.

        base: Where the bar starts from: perfect calibration.

        rows: How many there are in each bin.
    """

    left: Floats
    right: Floats
    score: Floats
    height: Floats
    lower: Floats
    upper: Floats
    base: Floats
    rows: npt.NDArray[np.int64]


def draw_bars(panel: Panel, bars: Bars, *, limits: Limits, look: Look, counted: bool = True) -> None:
    """
    Draw bins as bars from their base, with points, whiskers and, below, the rows per bin.

    Args:
        panel: Where.

        bars: What.

        limits: Ends of the axis of scores.

        look: Size and colours.

        counted: Whether the rows per bin may stand over their bars.
    """
    _draw_error(panel.main, bars, look)
    draw_points(panel.main, bars, look)
    if panel.strip is not None:
        draw_rows(panel.strip, bars.rows, (bars.left, bars.right), limits=limits, look=look, counted=counted)


def _draw_error(axes: Axes, bars: Bars, look: Look) -> None:
    left, right, base, height = bars.left, bars.right, bars.base, bars.height
    corners = np.stack(
        [
            np.stack((left, base), axis=1),
            np.stack((right, base), axis=1),
            np.stack((right, height), axis=1),
            np.stack((left, height), axis=1),
        ],
        axis=1,
    )
    # Atoms have no width to take a density over, so every bin counts as one of fifteen.
    dark = strength(bars.rows / bars.rows.sum(), even=1.0 / 15.0)
    draw_area(axes, corners, above=height > base, dark=dark, palette=look.palette)
    for start, stop, level in zip(left, right, height, strict=True):
        axes.plot(
            [start, stop],
            [level, level],
            color=look.palette.ink,
            linewidth=look.points(0.9),
            marker="",
            zorder=2.6,
        )


def draw_points(axes: Axes, bars: Bars, look: Look) -> None:
    """Draw the points of bins and their whiskers."""
    known = ~np.isnan(bars.lower)
    axes.vlines(
        bars.score[known],
        bars.lower[known],
        bars.upper[known],
        colors=look.palette.ink,
        linewidth=look.points(0.8),
        zorder=2.8,
    )
    axes.plot(
        bars.score,
        bars.height,
        color=look.palette.ink,
        linestyle="",
        marker="o",
        markersize=look.points(4.5),
        markeredgewidth=0.0,
        zorder=3.0,
    )


def draw_rows(
    axes: Axes,
    rows: npt.NDArray[np.int64],
    sides: tuple[Floats, Floats],
    *,
    limits: Limits,
    look: Look,
    counted: bool = True,
) -> None:
    """
    Draw how many rows each bin holds, with the numbers where they have room.

    Args:
        axes: Where.

        rows: Of each bin, shape (n,).

        sides: Where each bar begins and ends.

        limits: Ends of the axis of scores.

        look: Size and colours.

        counted: Whether numbers may stand over the bars.
    """
    left, right = sides
    inset = np.minimum(0.04 * (right - left), 0.003 * (right[-1] - left[0]))
    axes.bar(
        left + inset,
        rows,
        right - left - 2 * inset,
        align="edge",
        color=look.palette.rows,
        edgecolor="none",
        linewidth=0.0,
    )
    axes.set_ylim(0.0, 1.3 * float(rows.max()))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=2, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_count(round(value))))
    if counted and rows.size <= _MOST_COUNTS:
        _write_counts(axes, rows, 0.5 * (left + right), limits=limits, look=look)


def _write_counts(
    axes: Axes, rows: npt.NDArray[np.int64], places: Floats, *, limits: Limits, look: Look
) -> None:
    """Write numbers over their bars, those of the highest first, where no other stands already."""
    at = limits.shares(places) * inches_wide(axes)
    size = look.points(COUNT)
    taken: list[tuple[float, float]] = []
    for index in np.argsort(-rows, kind="stable"):
        text = short_count(int(rows[index]))
        half = 0.5 * inches_of(text, size) + look.inches(0.02)
        start, stop = at[index] - half, at[index] + half
        if any(start < other[1] and stop > other[0] for other in taken):
            continue
        taken.append((start, stop))
        axes.annotate(
            text,
            (places[index], rows[index]),
            xytext=(0, look.points(1.5)),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=size,
            family=FONT,
            color=look.palette.faint,
        )


def short_count(count: int) -> str:
    """Return a count in at most four letters and a unit: 950, 3.4k, 12M."""
    value, unit = float(count), ""
    for larger in ("k", "M", "G", "T"):
        if value < 999.5:
            break
        value, unit = value / 1000.0, larger
    if not unit:
        return f"{count}"
    return f"{value:.1f}{unit}".replace(".0", "") if value < 9.95 else f"{value:.0f}{unit}"
