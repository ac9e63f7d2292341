"""The calibration plot of clinical papers, with its numbers in the picture."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from calibcli.names import AxisScale
from calibcli.options.numerals import percent
from calibcli.show.figures.bars import draw_band, draw_diagonal, evenly, shares_between
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import Entry, Panel, Words, inches_of, inches_wide
from calibcli.show.figures.panels import panels_figure
from calibcli.show.figures.reliability import point_beyond
from calibcli.show.words import listed
from calibcli.stats.curves import CurvePanels, Picture, curves_of
from calibcli.stats.curves.clinical import ClinicalCurve
from calibcli.stats.curves.limits import FARTHEST, Extent, Limits, band_sentence, has_band
from calibcli.stats.numerics import Floats
from calibcli.values import dataclass

_LETTERS = 7.5

# Height of a line in letters, and between names, numbers and the axes as a part of these.
_LINE, _GAP = 1.35, 0.02

# Height of the counts that `point_beyond` writes, in points on a page of scale 1.
_OF_COUNTS = 15.0

# So many places above and below are tried for the numbers.
_TRIED = 9

_POINTS = 72.0

# So many bars show where scores lie, and by log-odds the curve is drawn at so many places and its own.
_BARS, _PLACES = 60, 200

# Of an outer group this part stands at the end of its scores.
_AT_THE_ENDS = 0.01

# Groups up to so many times as large as the least are about equal.
_ALIKE = 1.5


def clinical_figure(picture: Picture, words: Words, look: Look) -> Figure:
    """Draw the curve with its band, the groups, the numbers and, below, the scores by outcome."""
    names = tuple(one.name for one in picture.panels) if isinstance(picture, CurvePanels) else ()
    return panels_figure(picture, ClinicalPlots(curves_of(picture, ClinicalCurve), names), words, look)


@dataclass(frozen=True, slots=True)
class ClinicalPlots:
    curves: tuple[ClinicalCurve, ...]
    names: tuple[str, ...] = ()

    rate_label = "observed proportion of events"
    strip_label = "rows"

    @property
    def extents(self) -> list[Extent]:
        return [_extent(one) for one in self.curves]

    def notes(self) -> list[str]:
        groups = [one.groups for one in self.curves]
        counts = [one.rows.size for one in groups]
        many = " to ".join(dict.fromkeys(f"{one:,}" for one in (min(counts), max(counts))))
        sizes = np.concatenate([one.rows for one in groups])
        low, high = int(sizes.min()), int(sizes.max())
        uneven = f"{low:,} to {high:,} rows, as equal scores stay together"
        even = "about equally many rows" if high <= _ALIKE * low else uneven
        scores = max(one.scores.size for one in self.curves)
        few = "the one score" if scores == 1 else "each of two scores" if scores == 2 else ""
        what = few or f"{many} groups of {even}"
        whiskers = (band_sentence(one.band, one.rate_lower, called="Whiskers") for one in groups)
        alike: dict[str, list[str]] = {}
        for name, one in zip(self.names or ("",), self.curves, strict=True):
            alike.setdefault(f"{one.how}. {band_sentence(one.band, one.lower)}", []).append(name)
        named = [f" of {listed(names)}" if len(alike) > 1 else "" for names in alike.values()]
        return [
            *(f"Curve{name}: {one}" for name, one in zip(named, alike, strict=True)),
            f"Points: {what}. {' '.join(dict.fromkeys(whiskers))}",
            "Events are rows of label 1. Below: scores of events upwards, of the others downwards.",
        ]

    def key(self, look: Look) -> list[Entry]:
        ink = look.palette.ink
        level = percent(self.curves[0].confidence)
        entries: list[Entry] = []
        if any(has_band(one.rate) for one in self.curves):
            entries.append((Line2D([], [], **look.stroke(ink, 1.6)), "curve"))
        if any(has_band(one.lower) for one in self.curves):
            entries.append((Patch(**look.band), f"{level} band"))
        dot = Line2D([], [], **look.dots(ink, 4.0), markerfacecolor="none")
        bounded = any(has_band(one.groups.rate_lower) for one in self.curves)
        entries.append((dot, f"group, {level} interval" if bounded else "group"))
        return [*entries, (Line2D([], [], **look.dashed), "ideal")]

    def draw(self, place: int, panel: Panel) -> None:
        """Draw one of them, with its numbers where it stands alone: others have them in their headings."""
        curve = self.curves[place]
        _draw(panel, curve)
        if panel.strip is not None:
            _draw_scores(panel.strip, panel, curve)
        if len(self.curves) == 1:
            _write_box(panel, curve)


def _extent(curve: ClinicalCurve) -> Extent:
    """Return what the groups ask for, a little of the outer ones being where the rows end."""
    groups, scores = curve.groups, curve.scores
    inner = scores[(scores >= FARTHEST) & (scores <= 1.0 - FARTHEST)]
    first, last = (scores if inner.size == 0 else inner)[[0, -1]]
    rate, lower, upper = (
        np.concatenate((one[:1], one, one[-1:]))
        for one in (groups.rate, groups.rate_lower, groups.rate_upper)
    )
    mass = np.pad(groups.rows / groups.rows.sum(), 1, mode="edge")
    mass[[0, -1]] *= _AT_THE_ENDS
    return Extent(
        np.concatenate(([first], groups.score, [last])),
        rate,
        mass,
        lower,
        upper,
        reach=(scores[0], scores[-1]),
    )


def _draw(panel: Panel, curve: ClinicalCurve) -> None:
    axes, look, limits = panel.main, panel.look, panel.limits
    ink, groups = look.palette.ink, curve.groups
    at, *heights = _along_the_axis(curve, limits)
    rate, lower, upper = (limits.held(one) for one in heights)
    draw_band(panel, at, lower, upper)
    draw_diagonal(panel)
    # A line along the edge would be read as a rate.
    axes.plot(at, np.where(rate == heights[0], rate, np.nan), **look.stroke(ink, 1.6), zorder=3.0)
    score, low, high, observed = (
        limits.held(one) for one in (groups.score, groups.rate_lower, groups.rate_upper, groups.rate)
    )
    axes.vlines(score, low, high, **look.uprights(ink, 0.8), zorder=2.5)
    axes.plot(score, observed, **look.rings(ink, 4.0, 0.9), zorder=4.0)
    point_beyond(panel, groups)


def _along_the_axis(curve: ClinicalCurve, limits: Limits) -> tuple[Floats, ...]:
    """Return the places of the curve that the axis shows, the rate there, and both ends of the band."""
    at, *lines = curve.at, curve.rate, curve.lower, curve.upper
    if limits.scale is AxisScale.LINEAR:
        return at, *lines
    if not np.isnan(at).any():
        # What is straight over scores is none over log-odds.
        more = limits.at(np.linspace(0.0, 1.0, _PLACES))
        at = np.union1d(at, more[(more > at[0]) & (more < at[-1])])
        lines = [np.interp(at, curve.at, one) for one in lines]
    shown = ~((at < limits.x[0]) | (at > limits.x[1]))
    return at[shown], *(one[shown] for one in lines)


def _draw_scores(axes: Axes, panel: Panel, curve: ClinicalCurve) -> None:
    """Draw how many rows of either label have which score."""
    palette, limits, top = panel.look.palette, panel.limits, 1.0
    edges = evenly(limits, limits.x, parts=_BARS)
    sides = (1.0, curve.events, palette.ink), (-1.0, curve.others, palette.rows)
    for weight, (sign, spread, color) in zip(curve.weights, sides, strict=True):
        if spread is None:
            continue
        rows = weight * shares_between(spread, edges, limits)
        axes.stairs(sign * rows, edges, baseline=0.0, fill=True, facecolor=color, edgecolor="none")
        top = max(top, float(rows.max()))
    axes.axhline(0.0, color=palette.faint, linewidth=panel.look.points(0.6))
    top *= 1.08
    axes.set_ylim(-top, top)
    axes.set_yticks([])


def _write_box(panel: Panel, curve: ClinicalCurve) -> None:
    """Write the numbers where they hide least: in the upper left or lower right corner, or beside it."""
    axes, look = panel.main, panel.look
    size, across = look.points(_LETTERS), inches_wide(axes)
    names, numbers = zip(*curve.box, strict=True)
    indent, width = (
        max(inches_of(line, size) for line in column) / across + _GAP for column in (names, numbers)
    )
    # The panel is as high as wide.
    height = len(names) * _LINE * size / _POINTS / across + 2.0 * _GAP
    steps = np.linspace(0.0, 1.0, _TRIED)
    left, right = _GAP, 1.0 - indent - width
    # By log-odds counts of groups whose labels are all alike stand at either end.
    counts = look.points(_OF_COUNTS) / _POINTS / across * (panel.limits.scale is AxisScale.LOGIT)
    low, high = (counts * bool(np.any(curve.groups.rate == rate)) for rate in (0.0, 1.0))
    places = [(left + (right - left) * step, 1.0 - high - height) for step in steps]
    places += [(right + (left - right) * step, low) for step in steps]
    hidden = [_hidden(curve, panel.limits, (x, x + indent + width, y, y + height)) for x, y in places]
    # A corner is looked at first, and left only for less.
    order = sorted(range(2 * _TRIED), key=lambda k: (hidden[k], k % _TRIED, k))
    x, y = places[order[0]]
    letters: dict[str, Any] = {
        **look.letters(look.palette.ink, size), "transform": axes.transAxes, "va": "center", "ha": "left",
        "linespacing": _LINE, "zorder": 5.0,
    }  # fmt: skip
    # One sheet below both columns, which would each lie on a band like a label of its own; the band shines
    # through.
    sheet = Rectangle((x - 0.5 * _GAP, y), indent + width, height, transform=axes.transAxes, zorder=4.9)
    sheet.set(facecolor=look.palette.paper, edgecolor="none", alpha=0.5)
    axes.add_patch(sheet)
    for column, shift in ((names, 0.0), (numbers, indent)):
        axes.text(x + shift, y + 0.5 * height, "\n".join(column), **letters)


def _hidden(curve: ClinicalCurve, limits: Limits, box: tuple[float, float, float, float]) -> float:
    """Return how much of the band, the curve and the groups' intervals lies in a part of the axes."""
    left, right, low, high = box
    groups, room, found = curve.groups, _GAP, 0.0
    for at, least, rate, most in (
        (curve.at, curve.lower, curve.rate, curve.upper),
        (groups.score, groups.rate_lower, groups.rate, groups.rate_upper),
    ):
        along = limits.shares(at)
        inside = (along > left - room) & (along < right + room)
        bottom, top = (
            limits.shares(edge(one, rate))[inside] for edge, one in ((np.fmin, least), (np.fmax, most))
        )
        met = np.minimum(top, high) + room - np.maximum(bottom, low)
        found += float(np.nan_to_num(np.maximum(met, 0.0)).sum()) / along.size
    return found
