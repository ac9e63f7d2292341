"""Drawing curves over thresholds and coverage: one with all that is known of it, or several as lines."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.names import AxisScale, Benefit
from calibcli.options.numerals import in_full, percent
from calibcli.show.figures.axes import dress, number_ticks, round_numbers, show_scores
from calibcli.show.figures.bars import draw_band
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import (
    FOOT,
    KEY,
    Entry,
    Panel,
    Sheet,
    Words,
    inches_high,
    inches_of,
    inches_wide,
    meets,
    new_page,
    told_apart,
)
from calibcli.stats.curves import MOST_LINES, CurvePanel, CurvePanels, Picture, curves_of
from calibcli.stats.curves.cumulative import RiskCoverageCurve
from calibcli.stats.curves.limits import Extent, Limits, band_sentence, has_band, limits_of
from calibcli.stats.curves.thresholds import DecisionCurve, MurphyCurve
from calibcli.stats.numerics import Booleans, Floats
from calibcli.values import dataclass, replace

# A wide panel without a strip: what is across has the width, and a height need not be kept.
_WIDE = Sheet(aspect=0.68, strip=False, square=False)

# Lines are told apart by colour and, in grey, by their dashes.
_DASHES: tuple[Any, ...] = (
    "-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (6, 1.4, 1.2, 1.4)), (0, (3, 3)), (0, (4, 1, 1, 1, 1, 1)),
)  # fmt: skip


# A name with its number has this share of the width, less where the key stands beside the picture.
_OF_KEY, _OF_KEY_BESIDE = 0.55, 0.24

# Inches, on a page of scale 1, of a name in the small print.
_OF_REST = 0.9


@dataclass(frozen=True, slots=True)
class Reference:
    """A line that curves are held against, by its name in the key; `common` whatever the base rate."""

    name: str
    x: Floats
    y: Floats
    style: dict[str, Any]
    common: bool = False


Banded = DecisionCurve | MurphyCurve | RiskCoverageCurve


class Lines(Protocol):
    """Curves of one class, and how they are drawn on axes that they share."""

    x_label: str
    own: str
    # What tells whether two lines differ.
    tells: str

    @property
    def curves(self) -> Sequence[Banded]:
        """The curves."""

    @property
    def look(self) -> Look:
        """How they are drawn."""

    @property
    def rule(self) -> str:
        """What a point of the curve is, for the small print."""

    @property
    def beside(self) -> str:
        """What stands beside each name."""

    @property
    def y_label(self) -> str:
        """The name of the axis of heights."""

    def points(self, place: int) -> tuple[Floats, Floats]:
        """Return the line of one of them."""

    def notes(self) -> list[str]:
        """Return what else the picture shows, for the small print."""
        return []

    def references(self, place: int = 0) -> list[Reference]:
        """Return what lines with the base rate of this one are held against."""

    def dress(self, axes: Axes) -> None:
        """Draw what is known of one curve by itself, above its band."""

    def key(self) -> list[Entry]:
        """Return what these marks mean."""
        return []

    def show(self, axes: Axes) -> None:
        """Give axes their scales, ends and numbers."""


def lines_figure(picture: Picture, lines: Lines, words: Words) -> Figure:
    """Draw the one curve of a picture with its band, or several as lines with their names on them."""
    panels, look = picture.panels if isinstance(picture, CurvePanels) else (), lines.look
    same = len({round(one.base, 12) for one in lines.curves}) == 1
    references = lines.references() if same else _of_each(lines, min(len(panels), MOST_LINES))
    first = lines.curves[0]
    if panels:
        key, band = _key(panels, look), []
        if same:
            # Colours are those of the scores.
            grey = look.palette.faint
            references = [replace(one, style={**one.style, "color": grey}) for one in references]
    else:
        key = [(Line2D([], [], **_style(0, look, several=False)), lines.own)]
        band = [band_sentence(first.band, first.lower)]
        if has_band(first.lower):
            key.append((Patch(**look.band), f"{percent(first.confidence)} interval"))
        key += lines.key()
    notes = [lines.rule, *band, *lines.notes(), *_notes(panels, lines, same=same)]
    key += [(Line2D([], [], **one.style), one.name) for one in references if one.name]
    page = new_page(words, notes, look, sheet=_WIDE, key=key)
    panel, axes = page.panels[0], page.main
    if not panels:
        draw_band(panel, lines.points(0)[0], first.lower, first.upper)
        lines.dress(axes)
    for one in references:
        axes.plot(one.x, one.y, **one.style, zorder=2.0)
    for place in reversed(range(max(len(panels), 1))):
        axes.plot(*lines.points(place), **_style(place, look, several=bool(panels)))
    dress(panel, x_label=lines.x_label, y_label=lines.y_label)
    lines.show(axes)
    if len(panels) > 1:
        every = [*map(lines.points, range(len(panels))), *((one.x, one.y) for one in references)]
        _name(panel, panels[:MOST_LINES], every)
    return page.figure


def _of_each(lines: Lines, count: int) -> list[Reference]:
    """Return what all have in common, and else the first line that each is held against, in its colour."""
    shared = [one for one in lines.references() if one.common]
    own = [lines.references(place)[0] for place in range(count)]
    own = [one for one in own if not one.common]
    for place, one in enumerate(own):
        style = {**one.style, "color": lines.look.palette.series[place], "linestyle": (0, (1, 1.6))}
        own[place] = replace(one, name="" if place else f"{one.name}, each by itself", style=style)
    return [*own, *shared]


def _style(place: int, look: Look, *, several: bool) -> dict[str, Any]:
    palette = look.palette
    if not several:
        return {**look.stroke(palette.ink, 1.6), "zorder": 3.0}
    if place >= MOST_LINES:
        return {**look.stroke(palette.line, 0.9), "zorder": 2.5}
    return {**look.stroke(palette.series[place], 1.4, _DASHES[place]), "zorder": 3.0}


def _key(panels: Sequence[CurvePanel], look: Look) -> list[Entry]:
    """Return the name of each line with its number, and one entry for all that are grey."""
    size, shown = look.points(KEY), panels[:MOST_LINES]
    width = (_OF_KEY_BESIDE if look.beside else _OF_KEY) * look.width
    numbers = [" ".join(one.error[-1:]) for one in shown]
    rooms = [width - inches_of(number, size) for number in numbers]
    names = told_apart([one.name for one in shown], size, rooms)
    said = [f"{name} {number}".strip() for name, number in zip(names, numbers, strict=True)]
    said += [f"{len(panels) - MOST_LINES} more"] if len(panels) > MOST_LINES else []
    return [(Line2D([], [], **_style(k, look, several=True)), one) for k, one in enumerate(said)]


def _notes(panels: Sequence[CurvePanel], lines: Lines, *, same: bool) -> list[str]:
    notes, look = [lines.beside] if panels and panels[0].error else [], lines.look
    if len(panels) > MOST_LINES:
        rest = panels[MOST_LINES:]
        names = told_apart([one.name for one in rest], look.points(FOOT), [look.inches(_OF_REST)] * len(rest))
        shown = (" ".join((name, *one.error[-1:])) for name, one in zip(names, rest, strict=True))
        notes.append(f"Grey lines: {', '.join(shown)}.")
    if len(panels) > 1:
        notes.append(f"There are no bands: they would not show whether two lines differ; {lines.tells} does.")
    if not (same or all(one.common for one in lines.references())):
        notes.append("Base rates differ: each line has a dotted one of its own to be compared with.")
    return notes


# Places along a line at which its name is tried, in shares of the axes, and the room about it in letters.
_TRIED = np.linspace(0.03, 0.97, 95)
_ROOM = 0.75
_ABOVE = 1.3
_LONGEST = 0.3


def _name(panel: Panel, panels: Sequence[CurvePanel], every: Sequence[tuple[Floats, Floats]]) -> None:
    """Write names above their lines where no other line is near; the key has every name."""
    axes, look = panel.main, panel.look
    size = look.points(KEY)
    wide, high = inches_wide(axes), inches_high(axes)
    heights = np.stack([_heights(axes, line) for line in every]) * high
    taken: list[tuple[float, float, float, float]] = []
    half_height = 0.5 * size * _ROOM / 36.0
    names = told_apart([one.name for one in panels], size, [_LONGEST * wide] * len(panels))
    for place, name in enumerate(names):
        half = 0.5 * inches_of(name, size) + 0.3 * size / 72.0
        best: tuple[float, float, float] | None = None
        for share in _TRIED.tolist():
            x = share * wide
            near = np.abs(_TRIED * wide - x) <= half
            # Above the highest point of the line below it, which no name hides.
            y = float(heights[place, near].max()) + _ABOVE * half_height
            inside = half <= x <= wide - half and half_height <= y <= high - half_height
            box = (x - half, y - half_height, x + half, y + half_height)
            # Beyond its ends a line has no height, and no name either.
            flat = float(np.ptp(heights[place, near])) <= 2.0 * half_height
            if not inside or not flat or meets(box, taken):
                continue
            # No other line between a name and its own.
            low, top, others = heights[place, near].min(), y + half_height, np.delete(heights, place, axis=0)
            apart = np.maximum(low - others[:, near], others[:, near] - top)
            clear = float(np.nan_to_num(apart, nan=high).min(initial=high))
            if clear > 0.0 and (best is None or clear > best[2]):
                best = (x, y, clear)
        if best is None:
            continue
        x, y, _ = best
        taken.append((x - half, y - half_height, x + half, y + half_height))
        axes.text(
            x / wide, y / high, name, transform=axes.transAxes, ha="center", va="center",
            **look.letters(look.palette.ink, size), zorder=4.0,
        )  # fmt: skip


def _heights(axes: Axes, line: tuple[Floats, Floats]) -> Floats:
    """Return how high a line is at the places that are tried, in shares of the axes."""
    points = axes.transData.transform(np.stack(line, axis=1))
    x, y = axes.transAxes.inverted().transform(points).T
    return np.asarray(np.interp(_TRIED, x, y, left=np.nan, right=np.nan))


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

_BEYOND_LAST = 0.04

# Scores below this are at 0, and no thresholds are chosen by them.
_NOTHING = 1e-6

_BENEFIT = (
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
        return _BENEFIT + _SCALES[self.curves[0].benefit]

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
        return ThresholdAxis((0.0, min(1.0, (1.0 + _BEYOND_LAST) * last)), scale)

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
_HIGHEST_SCORE = 1.5

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
            tops.append(max(highest, min(band, _HIGHEST_SCORE * highest)))
        axis.show(axes, (0.0, 1.06 * max(tops) or 1.0))


# A band that reaches farther than this times the highest risk is cut: few rows know little.
_HIGHEST_RISK = 1.6

# Risks of the first rows, up to this share of all, do not choose how high the picture is.
_FIRST = 0.02

_RISK = (
    "Rows are kept from the highest score down; risk is the share of label 0 among them. Where rows with "
    "equal scores are kept in part, it is the average over all their orders."
)


def risk_coverage_figure(picture: Picture, words: Words, look: Look) -> Figure:
    return lines_figure(picture, RiskCoverageLines(curves_of(picture, RiskCoverageCurve), look), words)


@dataclass(frozen=True, slots=True)
class RiskCoverageLines(Lines):
    curves: tuple[RiskCoverageCurve, ...]
    look: Look

    x_label = "coverage: share of rows kept, highest scores first"
    y_label = "risk: share of wrong answers (label 0)"
    own = "kept by score"
    tells = "`compare`"
    beside = "Beside each name: its AURC, the area under its line."
    rule = _RISK

    def points(self, place: int) -> tuple[Floats, Floats]:
        return self.curves[place].coverage, self.curves[place].risk

    def references(self, place: int = 0) -> list[Reference]:
        """Return what keeping rows at random gives, and the best order."""
        first, best = self.curves[place], self.look.stroke(self.look.palette.series[0], 1.2)
        ends = np.array([0.0, 1.0])
        return [
            Reference("kept at random", ends, np.full(2, first.base), self.look.dashed),
            Reference("kept in the best order", first.coverage, first.least, best),
        ]

    def dress(self, axes: Axes) -> None:
        """Draw nothing but the band."""

    def show(self, axes: Axes) -> None:
        number_ticks(axes)
        axes.set_xlim(-0.012, 1.012)
        axes.set_ylim(0.0, max(_top(one, alone=len(self.curves) == 1) for one in self.curves))


def _top(curve: RiskCoverageCurve, *, alone: bool) -> float:
    """Return the upper end of the axis of risks that a curve needs, with its band where it has one."""
    known = curve.coverage >= min(_FIRST, float(curve.coverage[-1]))
    highest = float(curve.risk[known].max())
    band = float(np.nan_to_num(curve.upper[known]).max()) if alone else 0.0
    return min(1.0, 1.06 * max(highest, min(band, _HIGHEST_RISK * highest))) or 0.1
