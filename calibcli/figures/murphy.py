"""Drawing the Murphy curve."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.curves.bands import band_sentence, has_band
from calibcli.curves.murphy import MurphyCurve
from calibcli.figures.axes import dress_panel
from calibcli.figures.key import Entry
from calibcli.figures.look import Look
from calibcli.figures.page import new_page
from calibcli.figures.sheet import Words
from calibcli.figures.strokes import band_fill, dashed, draw_edges
from calibcli.figures.thresholds import WIDE, ThresholdAxis, show_thresholds, threshold_axis
from calibcli.picture_names import AxisScale

# A band that reaches farther than this times the highest curve is cut.
_HIGHEST = 1.5
_COST = (
    "Elementary score: at threshold t a row of label 1 with a score of at most t costs 2(1-t), one of "
    "label 0 with a higher score costs 2t."
)


def murphy_figure(
    curve: MurphyCurve, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """
    Draw mean elementary scores against the threshold.

    Args:
        curve: The scores.

        words: Title and caption; small print follows.

        look: Size and colours.

        scale: How the axis of thresholds is laid out.
    """
    axis = threshold_axis(curve.ends, scale)
    foot = [*_notes(curve, axis), *words.foot]
    page = new_page(Words(words.title, words.caption, foot), look=look, sheet=WIDE, key=_key(curve, look))
    panel = page.panels[0]
    _draw(panel.main, curve, look)
    dress_panel(page, panel, x_label="threshold", y_label="mean elementary score")
    show_thresholds(panel.main, axis, (0.0, _top(curve, axis)))
    return page.figure


def _notes(curve: MurphyCurve, axis: ThresholdAxis) -> list[str]:
    """Return what the picture shows, for the small print."""
    notes = [_COST, band_sentence(curve.band, curve.lower)]
    if axis.by_log_odds:
        notes.append("Thresholds by log-odds: areas do not show the size of the Brier score.")
    elif axis.zoomed:
        notes.append(
            f"Zoomed: thresholds from {axis.x[0]:.3g} to {axis.x[1]:.3g}, "
            "and with them a part of the area only."
        )
    return notes


def _key(curve: MurphyCurve, look: Look) -> list[Entry]:
    """Return what the marks mean."""
    entries: list[Entry] = [(Line2D([], [], **_line(look)), "score")]
    if has_band(curve.lower):
        entries.append((Patch(**band_fill(look)), f"{100 * curve.confidence:g} % interval"))
    return [
        *entries,
        (Line2D([], [], **_best(look)), "after isotonic recalibration"),
        (Patch(**_saving(look)), "what that saves"),
        (Line2D([], [], **dashed(look)), "base rate alone"),
    ]


def _draw(axes: Axes, curve: MurphyCurve, look: Look) -> None:
    if has_band(curve.lower):
        axes.fill_between(curve.at, curve.lower, curve.upper, **band_fill(look), zorder=0.5)
    axes.fill_between(curve.at, curve.recalibrated, curve.value, **_saving(look), zorder=1.0)
    if has_band(curve.lower):
        draw_edges(axes, curve.at, (curve.lower, curve.upper), look=look)
    axes.plot(curve.at, curve.constant, **dashed(look), zorder=2.0)
    axes.plot(curve.at, curve.recalibrated, **_best(look), zorder=2.5)
    axes.plot(curve.at, curve.value, **_line(look), zorder=3.0)


def _top(curve: MurphyCurve, axis: ThresholdAxis) -> float:
    """Return the upper end of the axis of scores."""
    shown = axis.shown(curve.at)
    curves = np.concatenate((curve.value[shown], curve.constant[shown]))
    highest = float(curves.max(initial=0.0))
    band = float(np.nan_to_num(curve.upper[shown]).max(initial=0.0))
    return 1.06 * max(highest, min(band, _HIGHEST * highest)) or 1.0


def _line(look: Look) -> dict[str, Any]:
    return {"color": look.palette.ink, "linewidth": look.points(1.6), "marker": ""}


def _best(look: Look) -> dict[str, Any]:
    return {"color": look.palette.series[0], "linewidth": look.points(1.2), "marker": ""}


def _saving(look: Look) -> dict[str, Any]:
    return {"facecolor": look.palette.too_high, "edgecolor": "none", "linewidth": 0.0, "alpha": 0.55}
