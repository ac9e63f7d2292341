"""Pictures over thresholds: the decision curve and the Murphy curve."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.names import AxisScale, Benefit
from calibcli.options.numerals import in_full, percent
from calibcli.show.figures.axes import round_numbers, show_scores
from calibcli.show.figures.lines import Lines, Reference, lines_figure
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import Entry, Words
from calibcli.stats.curves import Picture, curves_of
from calibcli.stats.curves.limits import Extent, Limits, limits_of
from calibcli.stats.curves.thresholds import DecisionCurve, MurphyCurve
from calibcli.stats.numerics import Booleans, Floats
from calibcli.values import dataclass

# Thresholds nearer to 0 or 1 than this are not looked at by log-odds.
_LEAST = 1e-5


@dataclass(frozen=True, slots=True)
class ThresholdAxis:
    x: tuple[float, float]
    scale: AxisScale

    @property
    def zoomed(self) -> bool:
        return self.x != (0.0, 1.0)

    @property
    def by_log_odds(self) -> bool:
        return self.scale is AxisScale.LOGIT

    def shown(self, at: Floats) -> Booleans:
        return np.asarray((at >= self.x[0]) & (at <= self.x[1]))

    def show(self, axes: Axes, y: tuple[float, float]) -> None:
        round_numbers(axes.yaxis)
        axes.set_ylim(y)
        show_scores(axes, self.x, self.scale)


def threshold_axis(every: Iterable[tuple[float, float]], scale: AxisScale) -> ThresholdAxis:
    """Return what holds all of some stretches of [0, 1], or that between powers of ten by log-odds."""
    lows, highs = zip(*every, strict=True)
    places = np.array((min(lows), max(highs)))
    if scale is AxisScale.LOGIT:
        places = np.clip(places, _LEAST, 1.0 - _LEAST)
    found: Limits = limits_of(Extent(places, places, np.ones(2), places, places), scale)
    return ThresholdAxis(found.x, scale)


# Parts of what the curve reaches above 0: how much is shown below 0 at least, and at most.
_LEAST_BELOW, _MOST_BELOW = 0.15, 1.0

_ROOM = 0.04

# Scores below this are at 0, and no thresholds are chosen by them.
_NOTHING = 1e-6

_RULE = (
    "Rows with a score of at least the threshold t are treated. Net benefit: the share of rows treated with "
    "label 1, less t/(1-t) times the share treated with label 0."
)


def decision_figure(picture: Picture, words: Words, look: Look) -> Figure:
    return lines_figure(picture, DecisionLines(curves_of(picture, DecisionCurve), look), words)


# No net benefit that is shown lies beyond these.
_BEYOND = np.array([-2.0, 2.0])

_Y_LABELS = {
    Benefit.NET: "net benefit",
    Benefit.STANDARDISED: "standardised net benefit",
    Benefit.GAIN: "gain in net benefit",
}

_SCALES = {
    Benefit.NET: "",
    Benefit.STANDARDISED: " Standardised: over the share of label 1, so that 1 is the most there can be.",
    Benefit.GAIN: " Gain: less the net benefit of the better of treating all rows and none.",
}


@dataclass(frozen=True, slots=True)
class DecisionLines(Lines):
    """Decision curves on one scale."""

    curves: tuple[DecisionCurve, ...]
    look: Look

    x_label = "threshold probability"
    own = "treat by score"
    tells = "`measure --threshold`"

    @property
    def rule(self) -> str:
        return _RULE + _SCALES[self.curves[0].benefit]

    @property
    def beside(self) -> str:
        first = self.curves[0]
        if first.clearly_better is None:
            return "Beside each name: where it is better than treating all and none, by the estimate alone."
        level = f"{percent(first.confidence)}, threshold by threshold and not all at once"
        return f"Beside each name: where it is clearly worth using ({level})."

    @property
    def y_label(self) -> str:
        return _Y_LABELS[self.curves[0].benefit]

    def points(self, place: int) -> tuple[Floats, Floats]:
        return self.curves[place].at, self.curves[place].value

    @property
    def _axis(self) -> ThresholdAxis:
        """What thresholds are shown: where scores fill most of [0, 1], from 0 to the last of them."""
        marked, scale = self.curves[0].marked, self.look.axis
        if len(marked) > 1:
            ends = marked[0], marked[-1]
            return threshold_axis([ends], scale) if scale is AxisScale.LOGIT else ThresholdAxis(ends, scale)
        found = threshold_axis((one.ends for one in self.curves), scale)
        last = max(one.ends[1] for one in self.curves)
        if found.by_log_odds or found.zoomed or last < _NOTHING:
            return found
        return ThresholdAxis((0.0, min(1.0, (1.0 + _ROOM) * last)), scale)

    @property
    def _heights(self) -> tuple[tuple[float, float], bool]:
        """The ends of the other axis, and whether a curve leaves them."""
        axis, tops, lows, uppers = self._axis, [0.0], [0.0], [0.0]
        for one in self.curves:
            shown = axis.shown(one.at)
            # Between two thresholds that are near each other a curve may have no point of its own.
            shown[[np.abs(one.at - end).argmin() for end in axis.x]] = True
            tops += [float(one.value[shown].max()), float(one.all[shown].max())]
            lows.append(float(one.value[shown].min()))
            uppers.append(float(np.nan_to_num(one.upper[shown]).max(initial=0.0)))
        top, lowest = max(tops), min(lows)
        top = max(top, min(max(uppers), 1.4 * top)) or 0.1
        bottom = max(min(1.1 * lowest, -_LEAST_BELOW * top), -_MOST_BELOW * top)
        return (bottom, 1.06 * top), lowest < bottom

    def notes(self) -> list[str]:
        axis, first, notes = self._axis, self.curves[0], []
        if axis.by_log_odds:
            notes.append("Thresholds by log-odds.")
        elif len(first.marked) > 1:
            notes.append(f"Thresholds from {in_full(axis.x[0])} to {in_full(axis.x[1])}, as asked for.")
        elif axis.zoomed:
            notes.append(f"Thresholds from {axis.x[0]:.3g} to {axis.x[1]:.3g}, where scores lie.")
        if self._heights[1]:
            notes.append("The curve leaves the picture below.")
        return notes

    def references(self, place: int = 0) -> list[Reference]:
        """Return what it is worth to treat all rows, or none."""
        look, first = self.look, self.curves[place]
        none = np.array([0.0, 1.0]), np.zeros(2), look.stroke(look.palette.faint, 0.9)
        named = look.stroke(look.palette.ink, 0.7, (0, (1, 3)))
        marked = [
            Reference("" if k else "thresholds named", np.full(2, at), _BEYOND, named, common=True)
            for k, at in enumerate(first.marked)
        ]
        if first.benefit is Benefit.GAIN:
            return [Reference("treat all or none", *none, common=True), *marked]
        return [
            Reference("treat all", first.at, first.all, look.dashed),
            Reference("treat none", *none, common=True),
            *marked,
        ]

    @property
    def _raw(self) -> dict[str, Any]:
        return self.look.stroke(self.look.palette.series[1], 0.9, (0, (1, 1.2)))

    @property
    def _better(self) -> dict[str, Any]:
        return {**self.look.stroke(self.look.palette.series[2], 3.0), "solid_capstyle": "butt"}

    def dress(self, axes: Axes) -> None:
        """Draw the raw score and, above the lower end, where the score is clearly better."""
        (curve,) = self.curves
        if curve.raw is not None:
            axes.plot(*curve.raw, **self._raw, zorder=2.5)
        (low, high), _ = self._heights
        place = low + 0.025 * (high - low)
        for start, stop in curve.clearly_better or ():
            axes.plot([start, stop], [place, place], **self._better, zorder=2.0)

    def key(self) -> list[Entry]:
        (curve,) = self.curves
        entries: list[Entry] = []
        if curve.raw is not None:
            entries.append((Line2D([], [], **self._raw), "by raw score"))
        if curve.clearly_better:
            entries.append((Line2D([], [], **self._better), "clearly better than both"))
        return entries

    def show(self, axes: Axes) -> None:
        self._axis.show(axes, self._heights[0])


# A band that reaches farther than this times the highest curve is cut.
_HIGHEST = 1.5

_COST = (
    "Elementary score: at threshold t a row of label 1 with a score of at most t costs 2(1-t), one of "
    "label 0 with a higher score costs 2t."
)


def murphy_figure(picture: Picture, words: Words, look: Look) -> Figure:
    return lines_figure(picture, MurphyLines(curves_of(picture, MurphyCurve), look), words)


@dataclass(frozen=True, slots=True)
class MurphyLines(Lines):
    curves: tuple[MurphyCurve, ...]
    look: Look

    x_label = "threshold"
    y_label = "mean elementary score"
    own = "score"
    tells = "`compare`"
    beside = "Beside each name: its Brier score, the area under its line."
    rule = _COST

    def points(self, place: int) -> tuple[Floats, Floats]:
        return self.curves[place].at, self.curves[place].value

    @property
    def _axis(self) -> ThresholdAxis:
        return threshold_axis((one.ends for one in self.curves), self.look.axis)

    def notes(self) -> list[str]:
        axis = self._axis
        if axis.by_log_odds:
            return ["Thresholds by log-odds: areas do not show the size of the Brier score."]
        if not axis.zoomed:
            return []
        ends = f"{axis.x[0]:.3g} to {axis.x[1]:.3g}"
        return [f"Zoomed: thresholds from {ends}, and with them a part of the area only."]

    def references(self, place: int = 0) -> list[Reference]:
        """Return the curve of the base rate."""
        curve = self.curves[place]
        return [Reference("base rate alone", curve.at, curve.constant, self.look.dashed)]

    @property
    def _best(self) -> dict[str, Any]:
        return self.look.stroke(self.look.palette.series[0], 1.2)

    @property
    def _saving(self) -> dict[str, Any]:
        colour = self.look.palette.too_high
        return {"facecolor": colour, "edgecolor": "none", "linewidth": 0.0, "alpha": 0.55}

    def dress(self, axes: Axes) -> None:
        """Draw the recalibrated score and, as area, what it saves."""
        (curve,) = self.curves
        axes.fill_between(curve.at, curve.recalibrated, curve.value, **self._saving, zorder=1.0)
        axes.plot(curve.at, curve.recalibrated, **self._best, zorder=2.5)

    def key(self) -> list[Entry]:
        return [
            (Line2D([], [], **self._best), "after isotonic recalibration"),
            (Patch(**self._saving), "what that saves"),
        ]

    def show(self, axes: Axes) -> None:
        axis, tops = self._axis, [0.0]
        for one in self.curves:
            shown = axis.shown(one.at)
            highest = float(np.concatenate((one.value[shown], one.constant[shown])).max(initial=0.0))
            band = float(np.nan_to_num(one.upper[shown]).max(initial=0.0)) if len(self.curves) == 1 else 0.0
            tops.append(max(highest, min(band, _HIGHEST * highest)))
        axis.show(axes, (0.0, 1.06 * max(tops) or 1.0))
