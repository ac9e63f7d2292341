"""Bars from a base, how many rows they hold, and the error as the area beside them."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from calibcli.names import AxisScale
from calibcli.show.figures.look import Look, Palette, dashed, mixed
from calibcli.show.figures.page import COUNT, Entry, Panel, inches_of, inches_wide
from calibcli.stats.curves.limits import Limits, Spread
from calibcli.stats.numerics import Floats
from calibcli.values import dataclass

DARKER = "Stronger colour where more rows are."

_PALEST, _DARKEST = 0.10, 0.80


def strength(density: Floats, *, even: float) -> Floats:
    """Return how dark a place is drawn, in [0, 1].

    Places with the density that evenly spread scores would have are drawn in full; below that by the square
    root, so that a tail with one row in a hundred can still be seen.
    """
    return np.asarray(np.sqrt(np.minimum(density / min(even, float(density.max())), 1.0)))


Sides = tuple[Floats, Floats]


def draw_area(axes: Axes, x: Sides, base: Sides, y: Sides, *, dark: Floats, palette: Palette) -> None:
    """Fill patches between the diagonal and the curve, each given at its left side and at its right one."""
    (left, right), (low, high) = x, base
    corners = ((left, low), (right, high), (right, y[1]), (left, y[0]))
    above = y[0] + y[1] > low + high
    full = np.where(above[:, None], to_rgb(palette.too_low), to_rgb(palette.too_high))
    share = (_PALEST + (_DARKEST - _PALEST) * dark)[:, None]
    # Opaque and edged in their own colour: neighbours that shine through leave seams.
    colours = (1.0 - share) * np.array(to_rgb(palette.paper)) + share * full
    quads = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    patches = PolyCollection(list(quads), facecolors=colours, edgecolors=colours, linewidths=0.6, zorder=1.0)
    axes.add_collection(patches, autolim=False)


def draw_diagonal(axes: Axes, limits: Limits, look: Look) -> None:
    """Draw the line of perfect calibration."""
    ends = [0.0, 1.0] if limits.scale is AxisScale.LINEAR else [*limits.x]
    axes.plot(ends, ends, **dashed(look), zorder=2.0)


def area_key(look: Look) -> list[Entry]:
    """Return what the colours and the diagonal mean."""
    palette = look.palette
    low, high = (mixed(one, palette.paper, _DARKEST) for one in (palette.too_low, palette.too_high))
    return [
        (Patch(facecolor=low, edgecolor="none"), "scores too low"),
        (Patch(facecolor=high, edgecolor="none"), "too high"),
        (Line2D([], [], **dashed(look)), "perfectly calibrated"),
    ]


_MOST_COUNTS = 16


@dataclass(frozen=True, slots=True)
class Bars:
    """Bins as they are drawn; all arrays have shape (n_bins,).

    Args:
        lower: Lower end of the whisker; NaN where there is none.
        base: Where the bar starts from: perfect calibration.
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
    """Draw bins as bars from their base, with points, whiskers and, below, the rows per bin."""
    _draw_error(panel.main, bars, look)
    draw_points(panel.main, bars, look)
    if panel.strip is not None:
        draw_rows(panel.strip, bars.rows, (bars.left, bars.right), limits=limits, look=look, counted=counted)


def _draw_error(axes: Axes, bars: Bars, look: Look) -> None:
    sides, base, height = (bars.left, bars.right), (bars.base, bars.base), (bars.height, bars.height)
    # Atoms have no width to take a density over, so every bin counts as one of fifteen.
    dark = strength(bars.rows / bars.rows.sum(), even=1.0 / 15.0)
    draw_area(axes, sides, base, height, dark=dark, palette=look.palette)
    for start, stop, level in zip(*sides, bars.height, strict=True):
        axes.plot([start, stop], [level, level], **look.stroke(look.palette.ink, 0.9), zorder=2.6)


def draw_points(axes: Axes, bars: Bars, look: Look) -> None:
    ink, known = look.palette.ink, ~np.isnan(bars.lower)
    ends = bars.lower[known], bars.upper[known]
    axes.vlines(bars.score[known], *ends, **look.uprights(ink, 0.8), zorder=2.8)
    axes.plot(bars.score, bars.height, **look.dots(ink, 4.5), markeredgewidth=0.0, zorder=3.0)


def draw_rows(
    axes: Axes,
    rows: npt.NDArray[np.int64],
    sides: Sides,
    *,
    limits: Limits,
    look: Look,
    counted: bool = True,
) -> None:
    """Draw how many rows each bin holds, with the numbers where they have room."""
    left, right = sides
    inset = np.minimum(0.04 * (right - left), 0.003 * (right[-1] - left[0]))
    colour, wide = look.palette.rows, right - left - 2 * inset
    axes.bar(left + inset, rows, wide, align="edge", color=colour, edgecolor="none", linewidth=0.0)
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
        at_top, above = (places[index], rows[index]), (0, look.points(1.5))
        style = look.letters(look.palette.faint, size)
        axes.annotate(text, at_top, above, textcoords="offset points", ha="center", va="bottom", **style)


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


_BARS = 64


def draw_spread(axes: Axes, spread: Spread, *, limits: Limits, look: Look) -> None:
    """Draw how many rows lie between evenly spaced places of the axis."""
    edges = evenly(limits, limits.x, parts=_BARS)
    share = shares_between(spread, edges, limits)
    axes.stairs(share, edges, baseline=0.0, fill=True, facecolor=look.palette.rows, edgecolor="none")
    show_shares(axes, share)


def shares_between(spread: Spread, edges: Floats, limits: Limits) -> Floats:
    """Return the share of the rows between edges; by log-odds what lies beyond the ends stands there."""
    share = spread.between(edges)
    if limits.scale is AxisScale.LOGIT:
        share[0] += spread.around(float(edges[0]))[0]
        share[-1] += 1.0 - spread.around(float(edges[-1]))[1]
    return share


def show_shares(axes: Axes, share: Floats) -> None:
    """Give the axis of shares of the rows its ends, and no numbers."""
    axes.set_ylim(0.0, 1.08 * max(float(share.max()), 1e-12))
    axes.set_yticks([])


def evenly(limits: Limits, ends: tuple[float, float], *, parts: int) -> Floats:
    """Return scores that cut a stretch of the axis into equal parts."""
    if limits.scale is AxisScale.LINEAR:
        return np.linspace(*ends, parts + 1)
    low, high = (np.log(one) - np.log1p(-one) for one in ends)
    inner = 1.0 / (1.0 + np.exp(-np.linspace(low, high, parts + 1)[1:-1]))
    return np.concatenate(([ends[0]], inner, [ends[1]]))
