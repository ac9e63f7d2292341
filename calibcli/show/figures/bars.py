"""Bars from a base, how many rows they hold, the error as the area beside them, and bands."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from calibcli.names import AxisScale
from calibcli.show.figures.look import Look, mixed
from calibcli.show.figures.page import COUNT, Entry, Panel, inches_of, inches_wide
from calibcli.stats.curves.limits import Limits, Spread, has_band
from calibcli.stats.numerics import Floats, Integers
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


def draw_area(panel: Panel, x: Sides, base: Sides, y: Sides, *, dark: Floats) -> None:
    """Fill patches between the diagonal and the curve, each given at its left side and at its right one."""
    palette, (left, right), (low, high) = panel.look.palette, x, base
    corners = ((left, low), (right, high), (right, y[1]), (left, y[0]))
    above = y[0] + y[1] > low + high
    full = np.where(above[:, None], to_rgb(palette.too_low), to_rgb(palette.too_high))
    share = (_PALEST + (_DARKEST - _PALEST) * dark)[:, None]
    # Opaque and edged in their own colour: neighbours that shine through leave seams.
    colours = (1.0 - share) * np.array(to_rgb(palette.paper)) + share * full
    quads = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    patches = PolyCollection(list(quads), facecolors=colours, edgecolors=colours, linewidths=0.6, zorder=1.0)
    panel.main.add_collection(patches, autolim=False)


def draw_band(panel: Panel, x: Floats, lower: Floats, upper: Floats) -> None:
    """Draw a band where there is one, its edges over the coloured area that covers it."""
    axes, look = panel.main, panel.look
    if has_band(lower):
        axes.fill_between(x, lower, upper, **look.band, zorder=0.5)
        for edge in (lower, upper):
            axes.plot(x, edge, **look.stroke(look.palette.edge, 0.6), zorder=1.5)


def draw_diagonal(panel: Panel) -> None:
    """Draw the line of perfect calibration."""
    ends = [0.0, 1.0] if panel.limits.scale is AxisScale.LINEAR else [*panel.limits.x]
    panel.main.plot(ends, ends, **panel.look.dashed, zorder=2.0)


def area_key(look: Look) -> list[Entry]:
    """Return what the colours and the diagonal mean."""
    palette = look.palette
    low, high = (mixed(one, palette.paper, _DARKEST) for one in (palette.too_low, palette.too_high))
    return [
        (Patch(facecolor=low, edgecolor="none"), "scores too low"),
        (Patch(facecolor=high, edgecolor="none"), "too high"),
        (Line2D([], [], **look.dashed), "perfectly calibrated"),
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
    rows: Integers


def draw_bars(panel: Panel, bars: Bars, *, counted: bool = True) -> None:
    """Draw bins as bars from their base, with points, whiskers and, below, the rows per bin."""
    sides, base, height = (bars.left, bars.right), (bars.base, bars.base), (bars.height, bars.height)
    # Atoms have no width to take a density over, so every bin counts as one of fifteen.
    dark = strength(bars.rows / bars.rows.sum(), even=1.0 / 15.0)
    draw_area(panel, sides, base, height, dark=dark)
    ink = panel.look.stroke(panel.look.palette.ink, 0.9)
    for start, stop, level in zip(*sides, bars.height, strict=True):
        panel.main.plot([start, stop], [level, level], **ink, zorder=2.6)
    draw_points(panel, bars)
    draw_rows(panel, bars, counted=counted)


def draw_points(panel: Panel, bars: Bars) -> None:
    axes, look, ink = panel.main, panel.look, panel.look.palette.ink
    known = ~np.isnan(bars.lower)
    ends = bars.lower[known], bars.upper[known]
    axes.vlines(bars.score[known], *ends, **look.uprights(ink, 0.8), zorder=2.8)
    axes.plot(bars.score, bars.height, **look.dots(ink, 4.5), markeredgewidth=0.0, zorder=3.0)


def draw_rows(panel: Panel, bars: Bars, *, counted: bool = True) -> None:
    """Draw how many rows each bin holds, with the numbers where they have room."""
    axes, look, left, right, rows = panel.strip, panel.look, bars.left, bars.right, bars.rows
    if axes is None:
        return
    inset = np.minimum(0.04 * (right - left), 0.003 * (right[-1] - left[0]))
    colour, wide = look.palette.rows, right - left - 2 * inset
    axes.bar(left + inset, rows, wide, align="edge", color=colour, edgecolor="none", linewidth=0.0)
    axes.set_ylim(0.0, 1.3 * float(rows.max()))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=2, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_count(round(value))))
    if not counted or rows.size > _MOST_COUNTS:
        return
    # Numbers over their bars, those of the highest first, where no other stands already.
    places = 0.5 * (left + right)
    end, size = inches_wide(axes), look.points(COUNT)
    at = panel.limits.shares(places) * end
    taken: list[tuple[float, float]] = []
    for index in np.argsort(-rows, kind="stable"):
        text = short_count(int(rows[index]))
        half = 0.5 * inches_of(text, size) + look.inches(0.02)
        # Within the panel: at its ends a number would lie on the axis.
        middle = min(max(at[index], half), end - half)
        start, stop = middle - half, middle + half
        if any(start < other[1] and stop > other[0] for other in taken):
            continue
        taken.append((start, stop))
        at_top, above = (places[index], rows[index]), (72.0 * (middle - at[index]), look.points(1.5))
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


def draw_spread(panel: Panel, spread: Spread) -> None:
    """Draw how many rows lie between evenly spaced places of the axis."""
    axes, limits = panel.strip, panel.limits
    if axes is None:
        return
    edges = evenly(limits, limits.x, parts=_BARS)
    share = shares_between(spread, edges, limits)
    axes.stairs(share, edges, baseline=0.0, fill=True, facecolor=panel.look.palette.rows, edgecolor="none")
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
