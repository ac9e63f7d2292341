"""Pictures over thresholds: the decision curve and the Murphy curve."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.names import AxisScale, Benefit
from calibcli.show.figures.axes import dress_panel, log_odds_ticks, round_numbers
from calibcli.show.figures.look import Look, band_fill, dashed, draw_edges
from calibcli.show.figures.page import Entry, Sheet, Words, new_page
from calibcli.stats.curves.limits import Limits, band_sentence, has_band, limits_of, with_margin
from calibcli.stats.curves.thresholds import DecisionCurve, MurphyCurve
from calibcli.stats.numerics import Floats
from calibcli.values import dataclass

# Thresholds nearer to 0 or 1 than this are not looked at by log-odds.
_LEAST = 1e-5

# A wide panel without a strip: thresholds have the width, and a height need not be kept.
WIDE = Sheet(aspect=0.68, strip=False, square=False)


@dataclass(frozen=True, slots=True)
class ThresholdAxis:
    """What the axis of thresholds shows."""

    x: tuple[float, float]
    scale: AxisScale

    @property
    def zoomed(self) -> bool:
        """Whether a part of [0, 1] is left out."""
        return self.x != (0.0, 1.0)

    @property
    def by_log_odds(self) -> bool:
        """Whether it is laid out by log-odds."""
        return self.scale is AxisScale.LOGIT

    def shown(self, at: Floats) -> npt.NDArray[np.bool_]:
        """Return which thresholds are shown."""
        return np.asarray((at >= self.x[0]) & (at <= self.x[1]))


def threshold_axis(ends: tuple[float, float], scale: AxisScale) -> ThresholdAxis:
    """Return the part of [0, 1] that is worth looking at, or that between powers of ten by log-odds."""
    places = np.array(ends)
    if scale is AxisScale.LOGIT:
        places = np.clip(places, _LEAST, 1.0 - _LEAST)
    found: Limits = limits_of(places, places, mass=np.ones(2), lower=places, upper=places, scale=scale)
    return ThresholdAxis(found.x, scale)


def show_thresholds(axes: Axes, axis: ThresholdAxis, y: tuple[float, float]) -> None:
    """Give axes their scales, ends and numbers."""
    round_numbers(axes.yaxis)
    axes.set_ylim(y)
    if axis.by_log_odds:
        axes.set_xscale("logit", nonpositive="clip")
        axes.set_xlim(log_odds_ticks(axes.xaxis, axis.x))
    else:
        round_numbers(axes.xaxis)
        axes.set_xlim(with_margin(axis.x))


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
    """Draw the net benefit against the threshold."""
    axis = _axis(curve, scale)
    ends, cut = _heights(curve, axis)
    foot = [*_notes(curve, axis, cut=cut), *words.foot]
    page = new_page(Words(words.title, words.caption, foot), look=look, sheet=WIDE, key=_key(curve, look))
    panel = page.panels[0]
    _draw(panel.main, curve, look)
    _draw_ranges(panel.main, curve, ends, look)
    dress_panel(page, panel, x_label="threshold probability", y_label=_Y_LABELS[curve.benefit])
    show_thresholds(panel.main, axis, ends)
    return page.figure


_Y_LABELS = {
    Benefit.NET: "net benefit per row",
    Benefit.STANDARDISED: "standardised net benefit",
    Benefit.GAIN: "gain in net benefit per row",
}

_SCALES = {
    Benefit.NET: "",
    Benefit.STANDARDISED: " Standardised: over the share of label 1, so that 1 is the most there can be.",
    Benefit.GAIN: " Gain: less the net benefit of the better of treating all rows and none.",
}


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
    notes = [_RULE + _SCALES[curve.benefit], band_sentence(curve.band, curve.lower)]
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
    if curve.benefit is Benefit.GAIN:
        entries.append((Line2D([], [], **_none(look)), "treat all or none"))
    else:
        entries += [
            (Line2D([], [], **dashed(look)), "treat all"),
            (Line2D([], [], **_none(look)), "treat none"),
        ]
    if curve.clearly_better:
        entries.append((Line2D([], [], **_better(look)), "clearly better than both"))
    return entries


def _draw(axes: Axes, curve: DecisionCurve, look: Look) -> None:
    if has_band(curve.lower):
        axes.fill_between(curve.at, curve.lower, curve.upper, **band_fill(look), zorder=0.5)
        draw_edges(axes, curve.at, (curve.lower, curve.upper), look=look)
    axes.axhline(0.0, **_none(look), zorder=1.5)
    if curve.benefit is not Benefit.GAIN:
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


# A band that reaches farther than this times the highest curve is cut.
_HIGHEST = 1.5

_COST = (
    "Elementary score: at threshold t a row of label 1 with a score of at most t costs 2(1-t), one of "
    "label 0 with a higher score costs 2t."
)


def murphy_figure(
    curve: MurphyCurve, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """Draw mean elementary scores against the threshold."""
    axis = threshold_axis(curve.ends, scale)
    foot = [*_murphy_notes(curve, axis), *words.foot]
    page = new_page(
        Words(words.title, words.caption, foot), look=look, sheet=WIDE, key=_murphy_key(curve, look)
    )
    panel = page.panels[0]
    _murphy_draw(panel.main, curve, look)
    dress_panel(page, panel, x_label="threshold", y_label="mean elementary score")
    show_thresholds(panel.main, axis, (0.0, _top(curve, axis)))
    return page.figure


def _murphy_notes(curve: MurphyCurve, axis: ThresholdAxis) -> list[str]:
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


def _murphy_key(curve: MurphyCurve, look: Look) -> list[Entry]:
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


def _murphy_draw(axes: Axes, curve: MurphyCurve, look: Look) -> None:
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


def _best(look: Look) -> dict[str, Any]:
    return {"color": look.palette.series[0], "linewidth": look.points(1.2), "marker": ""}


def _saving(look: Look) -> dict[str, Any]:
    return {"facecolor": look.palette.too_high, "edgecolor": "none", "linewidth": 0.0, "alpha": 0.55}
