"""The calibration plot of clinical papers, with its numbers in the picture."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.names import AxisScale
from calibcli.show.figures.axes import dress_panel, show_limits
from calibcli.show.figures.bars import draw_diagonal
from calibcli.show.figures.look import FONT, Look, band_fill, dashed, draw_edges
from calibcli.show.figures.page import Entry, Panel, Words, inches_of, inches_wide, new_page
from calibcli.stats.curves.clinical import ClinicalCurve
from calibcli.stats.curves.limits import Limits, band_sentence, has_band, limits_of

_LETTERS = 7.5

# Height of a line in letters, and between names, numbers and the axes as a part of these.
_LINE, _GAP = 1.35, 0.02

_POINTS = 72.0


def clinical_figure(
    curve: ClinicalCurve, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """Draw the curve with its band, the groups, the numbers and, below, the scores by outcome."""
    limits = _limits(curve, scale)
    groups = curve.groups
    whiskers = band_sentence(groups.band, groups.rate_lower, called="Whiskers")
    notes = [
        f"Curve: {curve.how}. {band_sentence(curve.band, curve.lower)}",
        f"Points: {groups.rows.size} groups of about equally many rows. {whiskers}",
        "Below: scores of label 1 upwards, of label 0 downwards.",
    ]
    foot = [*notes, limits.sentence, *words.foot]
    page = new_page(Words(words.title, words.caption, foot), look=look, key=_key(curve, look))
    panel = page.panels[0]
    _draw(panel, curve, limits, look)
    _draw_scores(panel, curve, limits, look)
    dress_panel(page, panel, strip_label="rows")
    show_limits(panel.main, limits)
    _write_box(panel, curve, limits, look)
    return page.figure


def _limits(curve: ClinicalCurve, scale: AxisScale) -> Limits:
    groups = curve.groups
    mass = groups.rows / groups.rows.sum()
    held = np.flatnonzero(curve.events + curve.others > 0.0)
    ends = float(curve.edges[held[0]]), float(curve.edges[held[-1] + 1])
    return limits_of(
        groups.score,
        groups.rate,
        mass=mass,
        lower=groups.rate_lower,
        upper=groups.rate_upper,
        reach=ends,
        scale=scale,
    )


def _key(curve: ClinicalCurve, look: Look) -> list[Entry]:
    """Return what the marks mean."""
    ink = look.palette.ink
    level = f"{100 * curve.confidence:g} %"
    entries: list[Entry] = [(Line2D([], [], color=ink, linewidth=look.points(1.6), marker=""), "curve")]
    if has_band(curve.lower):
        entries.append((Patch(**band_fill(look)), f"{level} band"))
    dot = Line2D(
        [], [], color=ink, linestyle="", marker="o", markersize=look.points(4.0), markerfacecolor="none"
    )
    bounded = has_band(curve.groups.rate_lower)
    entries.append((dot, f"group, {level} interval" if bounded else "group"))
    return [*entries, (Line2D([], [], **dashed(look)), "ideal")]


def _draw(panel: Panel, curve: ClinicalCurve, limits: Limits, look: Look) -> None:
    axes, ink, groups = panel.main, look.palette.ink, curve.groups
    at, rate, lower, upper = (limits.held(one) for one in (curve.at, curve.rate, curve.lower, curve.upper))
    if has_band(curve.lower):
        axes.fill_between(at, lower, upper, **band_fill(look), zorder=0.5)
        draw_edges(axes, at, (lower, upper), look=look)
    draw_diagonal(axes, limits, look)
    axes.plot(at, rate, color=ink, linewidth=look.points(1.6), marker="", zorder=3.0)
    score, low, high, observed = (
        limits.held(one) for one in (groups.score, groups.rate_lower, groups.rate_upper, groups.rate)
    )
    axes.vlines(score, low, high, color=ink, linewidth=look.points(0.8), zorder=2.5)
    axes.plot(
        score, observed, color=ink, linestyle="", marker="o", markersize=look.points(4.0),
        markerfacecolor=look.palette.paper, markeredgewidth=look.points(0.9), zorder=4.0,
    )  # fmt: skip


def _draw_scores(panel: Panel, curve: ClinicalCurve, limits: Limits, look: Look) -> None:
    """Draw how many rows of either label have which score."""
    axes, palette = panel.rows, look.palette
    left, right = limits.held(curve.edges[:-1]), limits.held(curve.edges[1:])
    for sign, rows, color in ((1.0, curve.events, palette.ink), (-1.0, curve.others, palette.rows)):
        axes.bar(
            left, sign * rows, width=right - left, align="edge", color=color, edgecolor="none", linewidth=0.0
        )
    axes.axhline(0.0, color=palette.faint, linewidth=look.points(0.6))
    top = 1.08 * max(float(curve.events.max()), float(curve.others.max()), 1.0)
    axes.set_ylim(-top, top)
    axes.set_yticks([])


def _write_box(panel: Panel, curve: ClinicalCurve, limits: Limits, look: Look) -> None:
    """Write the numbers into the upper left corner, or the lower right one where the curve is there."""
    axes, groups = panel.main, curve.groups
    size, across = look.points(_LETTERS), inches_wide(axes)
    names, numbers = zip(*curve.box, strict=True)
    indent, width = (
        max(inches_of(line, size) for line in column) / across + _GAP for column in (names, numbers)
    )
    # The panel is as high as wide.
    height = len(names) * _LINE * size / _POINTS / across + 2.0 * _GAP
    along = limits.shares(np.concatenate((curve.at, groups.score)))
    tops = np.fmax(
        np.concatenate((curve.upper, groups.rate_upper)), np.concatenate((curve.rate, groups.rate))
    )
    reached = np.nan_to_num(limits.shares(tops)[along < indent + width + _GAP]).max(initial=0.0)
    free = float(reached) < 1.0 - height
    x, y, vertical = (_GAP, 1.0 - _GAP, "top") if free else (1.0 - indent - width, _GAP, "bottom")
    letters: dict[str, Any] = {
        "transform": axes.transAxes, "va": vertical, "ha": "left", "family": FONT, "linespacing": _LINE,
        "fontsize": size, "color": look.palette.ink, "zorder": 5.0, "parse_math": False,
    }  # fmt: skip
    paper = {"facecolor": look.palette.paper, "edgecolor": "none", "alpha": 0.85, "pad": look.points(1.0)}
    for column, shift in ((names, 0.0), (numbers, indent)):
        axes.text(x + shift, y, "\n".join(column), bbox=paper, **letters)
