"""Drawing the decision curve."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.curves.bands import band_sentence, has_band
from calibcli.curves.decision import DecisionCurve
from calibcli.figures.axes import dress_panel
from calibcli.figures.key import Entry
from calibcli.figures.look import Look
from calibcli.figures.page import new_page
from calibcli.figures.sheet import Words
from calibcli.figures.strokes import band_fill, dashed, draw_edges
from calibcli.figures.thresholds import WIDE, ThresholdAxis, show_thresholds, threshold_axis
from calibcli.picture_names import AxisScale

# Parts of what the curve reaches above 0: how much is shown below 0 at least, and at most.
_LEAST_BELOW, _MOST_BELOW = 0.15, 1.0
_ROOM = 0.04
# Scores below this are at 0, and no thresholds are chosen by them.
_NOTHING = 1e-6
_RULE = (
    "Rows with a score of at least the threshold t are treated. Net benefit: the share of rows treated with "
    "label 1, less t/(1-t) times the share treated with label 0."
)


def decision_figure(
    curve: DecisionCurve, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """
    Draw the net benefit against the threshold.

    Args:
        curve: The net benefits.

        words: Title and caption; small print follows.

        look: Size and colours.

        scale: How the axis of thresholds is laid out.
    """
    axis = _axis(curve, scale)
    ends, cut = _heights(curve, axis)
    foot = [*_notes(curve, axis, cut=cut), *words.foot]
    page = new_page(Words(words.title, words.caption, foot), look=look, sheet=WIDE, key=_key(curve, look))
    panel = page.panels[0]
    _draw(panel.main, curve, look)
    _draw_ranges(panel.main, curve, ends, look)
    dress_panel(page, panel, x_label="threshold probability", y_label="net benefit per row")
    show_thresholds(panel.main, axis, ends)
    return page.figure


def _axis(curve: DecisionCurve, scale: AxisScale) -> ThresholdAxis:
    """Return the thresholds that are shown: where scores fill most of [0, 1], from 0 to the last of them."""
    found = threshold_axis(curve.ends, scale)
    if found.by_log_odds or found.zoomed or curve.ends[1] < _NOTHING:
        return found
    return ThresholdAxis((0.0, min(1.0, (1.0 + _ROOM) * curve.ends[1])), scale)


def _heights(curve: DecisionCurve, axis: ThresholdAxis) -> tuple[tuple[float, float], bool]:
    """Return the ends of the other axis, and whether the curve leaves them."""
    shown = axis.shown(curve.at)
    value = curve.value[shown]
    upper = curve.upper[shown]
    top = float(np.concatenate((value, curve.all[shown], [0.0])).max())
    top = max(top, min(float(np.nan_to_num(upper).max(initial=0.0)), 1.4 * top)) or 0.1
    lowest = float(value.min(initial=0.0))
    bottom = max(min(1.1 * lowest, -_LEAST_BELOW * top), -_MOST_BELOW * top)
    return (bottom, 1.06 * top), lowest < bottom


def _notes(curve: DecisionCurve, axis: ThresholdAxis, *, cut: bool) -> list[str]:
    """Return what the picture shows, for the small print."""
    notes = [_RULE, band_sentence(curve.band, curve.lower)]
    if axis.by_log_odds:
        notes.append("Thresholds by log-odds.")
    elif axis.zoomed:
        notes.append(f"Thresholds from {axis.x[0]:.3g} to {axis.x[1]:.3g}, where scores lie.")
    if cut:
        notes.append("The curve leaves the picture below.")
    return notes


def _key(curve: DecisionCurve, look: Look) -> list[Entry]:
    """Return what the marks mean."""
    entries: list[Entry] = [(Line2D([], [], **_line(look)), "treat by score")]
    if has_band(curve.lower):
        entries.append((Patch(**band_fill(look)), f"{100 * curve.confidence:g} % interval"))
    if curve.raw is not None:
        entries.append((Line2D([], [], **_raw(look)), "by raw score"))
    entries += [
        (Line2D([], [], **dashed(look)), "treat all"),
        (Line2D([], [], **_none(look)), "treat none"),
    ]
    if curve.clearly_better:
        entries.append((Line2D([], [], **_better(look)), "better than both, beyond noise"))
    return entries


def _draw(axes: Axes, curve: DecisionCurve, look: Look) -> None:
    if has_band(curve.lower):
        axes.fill_between(curve.at, curve.lower, curve.upper, **band_fill(look), zorder=0.5)
        draw_edges(axes, curve.at, (curve.lower, curve.upper), look=look)
    axes.axhline(0.0, **_none(look), zorder=1.5)
    axes.plot(curve.at, curve.all, **dashed(look), zorder=2.0)
    if curve.raw is not None:
        axes.plot(*curve.raw, **_raw(look), zorder=2.5)
    axes.plot(curve.at, curve.value, **_line(look), zorder=3.0)


def _draw_ranges(axes: Axes, curve: DecisionCurve, ends: tuple[float, float], look: Look) -> None:
    """Mark above the lower end of the picture where the score is better than both."""
    place = ends[0] + 0.025 * (ends[1] - ends[0])
    for start, stop in curve.clearly_better or ():
        axes.plot([start, stop], [place, place], **_better(look), zorder=2.0)


def _line(look: Look) -> dict[str, Any]:
    return {"color": look.palette.ink, "linewidth": look.points(1.6), "marker": ""}


def _raw(look: Look) -> dict[str, Any]:
    return {
        "color": look.palette.series[1],
        "linewidth": look.points(0.9),
        "linestyle": (0, (1, 1.2)),
        "marker": "",
    }


def _none(look: Look) -> dict[str, Any]:
    return {"color": look.palette.faint, "linewidth": look.points(0.9), "linestyle": "-", "marker": ""}


def _better(look: Look) -> dict[str, Any]:
    return {
        "color": look.palette.series[2],
        "linewidth": look.points(3.0),
        "solid_capstyle": "butt",
        "marker": "",
    }
