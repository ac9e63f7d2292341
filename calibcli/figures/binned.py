"""Drawing the curve of bins."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from calibcli.curves.reliability import BinnedCurve
from calibcli.figures.error_area import DARKER, draw_area, strength, write_key
from calibcli.figures.limits import Limits, limits_of
from calibcli.figures.page import FAINT, FONT, INK, ROWS, Page

Floats = npt.NDArray[np.float64]

_MOST_COUNTS = 16


def binned_limits(curve: BinnedCurve) -> Limits:
    """Return how much of the unit square the bins need."""
    mass = curve.rows / curve.rows.sum()
    return limits_of(curve.score, curve.rate, mass=mass, lower=curve.rate_lower, upper=curve.rate_upper)


def binned_notes(curve: BinnedCurve) -> list[str]:
    """Return what the picture shows, for the small print."""
    count, atoms = curve.rows.size, bool(np.all(curve.lower == curve.upper))
    what = ("distinct score" if atoms else "occupied bin") + ("" if count == 1 else "s")
    where = "" if atoms else " Points stand at mean scores."
    whiskers = "" if np.isnan(curve.rate_lower).all() else "Whiskers: "
    band = curve.band if whiskers else f"{curve.band[:1].upper()}{curve.band[1:]}"
    return [f"{count:,} {what}.{where} {DARKER}", f"{whiskers}{band}."]


def draw_binned(page: Page, curve: BinnedCurve, *, limits: Limits, confidence: float) -> None:
    """
    Draw each bin's rate, its interval, the error as area and, below, the rows per bin.

    Args:
        page: Where.

        curve: What.

        limits: Ends of the axes.

        confidence: Of the intervals.
    """
    left, right = _sides(curve, limits)
    _draw_error(page.main, curve, left, right)
    _draw_points(page.main, curve)
    _draw_rows(page.rows, curve, left, right)
    entries: list[tuple[Line2D | Patch, str]] = [
        (Line2D([], [], color=INK, linestyle="", marker="o", markersize=4.5), "observed rate")
    ]
    if not np.isnan(curve.rate_lower).all():
        entries.append(
            (
                Line2D([], [], color=INK, linestyle="", marker="|", markersize=11, markeredgewidth=0.9),
                f"{100 * confidence:g} % interval",
            )
        )
    write_key(page, entries)


def _sides(curve: BinnedCurve, limits: Limits) -> tuple[Floats, Floats]:
    """Return where each bin's bar begins and ends; a single score gets a narrow bar."""
    span = limits.span
    gaps = np.diff(curve.score)
    least = 0.3 * min(float(gaps.min()), span / 15.0) if gaps.size else 0.02 * span
    half = max(least, 0.002 * span)
    atom = curve.lower >= curve.upper
    left = np.where(atom, curve.score - half, np.maximum(curve.lower, limits.x[0]))
    right = np.where(atom, curve.score + half, np.minimum(curve.upper, limits.x[1]))
    return left, right


def _draw_error(axes: Axes, curve: BinnedCurve, left: Floats, right: Floats) -> None:
    corners = np.stack(
        [
            np.stack((left, curve.score), axis=1),
            np.stack((right, curve.score), axis=1),
            np.stack((right, curve.rate), axis=1),
            np.stack((left, curve.rate), axis=1),
        ],
        axis=1,
    )
    share = curve.rows / curve.rows.sum()
    # Atoms have no width to take a density over, so every bin counts as one of fifteen.
    dark = strength(share, even=1.0 / 15.0)
    draw_area(axes, corners, above=curve.rate > curve.score, dark=dark)
    for start, stop, rate in zip(left, right, curve.rate, strict=True):
        axes.plot([start, stop], [rate, rate], color=INK, linewidth=0.9, marker="", zorder=2.6)


def _draw_points(axes: Axes, curve: BinnedCurve) -> None:
    known = ~np.isnan(curve.rate_lower)
    axes.vlines(
        curve.score[known],
        curve.rate_lower[known],
        curve.rate_upper[known],
        colors=INK,
        linewidth=0.8,
        zorder=2.8,
    )
    axes.plot(
        curve.score,
        curve.rate,
        color=INK,
        linestyle="",
        marker="o",
        markersize=4.5,
        markeredgewidth=0.0,
        zorder=3.0,
    )


def _draw_rows(axes: Axes, curve: BinnedCurve, left: Floats, right: Floats) -> None:
    inset = np.minimum(0.04 * (right - left), 0.003 * (right[-1] - left[0]))
    axes.bar(
        left + inset,
        curve.rows,
        right - left - 2 * inset,
        align="edge",
        color=ROWS,
        edgecolor="none",
        linewidth=0.0,
    )
    axes.set_ylim(0.0, 1.3 * float(curve.rows.max()))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=2, integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short_count(round(value))))
    if curve.rows.size > _MOST_COUNTS:
        return
    for place, rows in zip(0.5 * (left + right), curve.rows, strict=True):
        axes.annotate(
            short_count(int(rows)),
            (place, rows),
            xytext=(0, 1.5),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=6.5,
            family=FONT,
            color=FAINT,
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
