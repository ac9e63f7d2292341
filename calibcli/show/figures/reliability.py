"""Reliability diagrams: bins, the curve without bins, and residuals."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.errors import UsageProblem
from calibcli.names import AxisScale, PlotKind
from calibcli.options.numerals import percent
from calibcli.show.figures.axes import RATE_LABEL, dress, round_numbers, show_scores
from calibcli.show.figures.bars import (
    DARKER,
    Bars,
    area_key,
    draw_area,
    draw_band,
    draw_bars,
    draw_diagonal,
    strength,
)
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import (
    FOOT,
    Entry,
    Panel,
    Sheet,
    Words,
    inches_of,
    inches_wide,
    new_page,
)
from calibcli.show.figures.panels import Plots, panels_figure
from calibcli.stats.curves import Picture, curves_of
from calibcli.stats.curves.limits import (
    Extent,
    Limits,
    band_sentence,
    beyond_sentences,
    binned_extent,
    has_band,
    limits_for,
    smooth_extent,
    unbroken,
)
from calibcli.stats.curves.reliability import (
    BinnedCurve,
    ReliabilityCurve,
    ResidualCurve,
    SmoothCurve,
    no_skill,
)
from calibcli.stats.numerics import Floats, Indices
from calibcli.stats.table.bins import NEARLY_ALL
from calibcli.values import dataclass


def reliability_figure(picture: Picture, words: Words, look: Look) -> Figure:
    """Draw reliability diagrams: without bins if all of them are of that kind, else of bins."""
    curves = curves_of(picture, ReliabilityCurve)
    confidence = curves[0].confidence
    plots: Plots = BinnedPlots(tuple(one.binned for one in curves), confidence)
    if all(one.kind is PlotKind.SMOOTH for one in curves):
        laid_out = [one.along(look.axis).smooth for one in curves]
        smooth = tuple(one for one in laid_out if one is not None)
        if len(smooth) < len(curves):
            msg = "there is no smooth curve to draw"
            raise UsageProblem(msg, "pass --kind binned, or draw the files that the report was measured on")
        plots = SmoothPlots(smooth, confidence)
    if all(one.attributes for one in curves):
        plots = AttributesPlots(plots, tuple(one.base for one in curves))
    return panels_figure(picture, plots, words, look)


@dataclass(frozen=True, slots=True)
class AttributesPlots:
    """Reliability diagrams with what a forecast of the base rate alone would show."""

    plots: Plots
    bases: tuple[float, ...]

    @property
    def rate_label(self) -> str:
        return self.plots.rate_label

    @property
    def strip_label(self) -> str:
        return self.plots.strip_label

    @property
    def extents(self) -> list[Extent]:
        return list(self.plots.extents)

    def notes(self) -> list[str]:
        skill = "On the diagonal's side of the line of no skill, scores beat the base rate (Brier score)."
        return [*self.plots.notes(), skill]

    def key(self, look: Look) -> list[Entry]:
        low, high = min(self.bases), max(self.bases)
        number = f" {low:.3g}" if low == high else ""
        rate, skill = (Line2D([], [], **_reference(look, dashes)) for dashes in (_RATE, _NO_SKILL))
        return [*self.plots.key(look), (rate, f"base rate{number} (climatology)"), (skill, "no skill")]

    def draw(self, place: int, panel: Panel) -> None:
        """Draw one of them, the lines below its marks."""
        self.plots.draw(place, panel)
        look, base, at = panel.look, self.bases[place], panel.limits.at(np.linspace(0.0, 1.0, 200))
        panel.main.axhline(base, **_reference(look, _RATE), zorder=1.0)
        panel.main.axvline(base, **_reference(look, _RATE), zorder=1.0)
        panel.main.plot(at, no_skill(at, base), **_reference(look, _NO_SKILL), zorder=1.0)


_RATE, _NO_SKILL = (0, (1, 2)), (0, (6, 2, 1, 2))


def _reference(look: Look, dashes: tuple[int, tuple[int, ...]]) -> dict[str, Any]:
    return look.stroke(look.palette.faint, 0.8, dashes)


@dataclass(frozen=True, slots=True)
class BinnedPlots:
    curves: tuple[BinnedCurve, ...]
    confidence: float

    rate_label = RATE_LABEL
    strip_label = "rows"

    @property
    def extents(self) -> list[Extent]:
        return [binned_extent(one) for one in self.curves]

    def notes(self) -> list[str]:
        binned = [one for one in self.curves if np.any(one.lower != one.upper)]
        atoms = not binned
        counts = [one.rows.size for one in self.curves]
        least, most = min(counts), max(counts)
        many = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        what = ("distinct score" if atoms else "occupied bin") + ("" if most == 1 else "s")
        what += " each" * (atoms and len(self.curves) > 1)
        where = "" if atoms else " Points stand at mean scores."
        lone = [one.rows.size for one in binned if one.rows.max(initial=0) >= NEARLY_ALL * one.total_rows > 1]
        which = "All" if set(lone) == {1} else "Nearly all"
        whose = "" if len(lone) == len(self.curves) else f" in {len(lone)} of {len(self.curves)} panels"
        said = f"{which} rows{whose} lie in one bin: --binning equal-mass puts bins where the rows are."
        finer = [said] if lone else []
        bands = (band_sentence(one.band, one.rate_lower, called="Whiskers") for one in self.curves)
        return [f"{many} {what}.{where} {DARKER}", *finer, *dict.fromkeys(bands)]

    def key(self, look: Look) -> list[Entry]:
        ink = look.palette.ink
        entries: list[Entry] = [(Line2D([], [], **look.dots(ink, 4.5)), "observed rate")]
        if any(has_band(one.rate_lower) for one in self.curves):
            whisker = Line2D([], [], **look.dots(ink, 11, "|"), markeredgewidth=look.points(0.9))
            entries.append((whisker, f"{percent(self.confidence)} interval"))
        return [*entries, *area_key(look)]

    def draw(self, place: int, panel: Panel) -> None:
        """Draw one of them, with the rows of each bin where it stands alone."""
        draw_binned(panel, self.curves[place], counted=len(self.curves) == 1)


def draw_binned(panel: Panel, curve: BinnedCurve, *, counted: bool) -> None:
    """Draw each bin's rate, its interval, the error as area and, below, the rows per bin."""
    draw_bars(panel, bars_of(curve, panel.limits), counted=counted)
    point_beyond(panel, curve)
    draw_diagonal(panel)


def bars_of(curve: BinnedCurve, limits: Limits) -> Bars:
    """Return bins as bars from the diagonal."""
    score, rate, lower, upper = (
        limits.held(one) for one in (curve.score, curve.rate, curve.rate_lower, curve.rate_upper)
    )
    return Bars(*sides_of(curve, limits), score, rate, lower, upper, base=score, rows=curve.rows)


def point_beyond(panel: Panel, curve: BinnedCurve) -> None:
    """Mark rates of 0 and 1, for which log-odds have no place, with an arrow and the count of events."""
    axes, look, limits = panel.main, panel.look, panel.limits
    if limits.scale is AxisScale.LINEAR:
        return
    wide, size, taken = inches_wide(axes), look.points(FOOT), [-np.inf, -np.inf]
    for score, rate, rows in zip(curve.score.tolist(), curve.rate.tolist(), curve.rows.tolist(), strict=True):
        if 0.0 < rate < 1.0 or not limits.x[0] <= score <= limits.x[1]:
            continue
        end = limits.y[int(rate)]
        place = float(limits.shares(np.array([score]))[0])
        arrow = look.dots(look.palette.ink, 7.0, "^" if rate else "v")
        axes.plot([score], [end], **arrow, clip_on=False, zorder=5.0)
        # Towards the middle, so that the count stays within its panel.
        aside, down = (1.0 if place < 0.5 else -1.0), (-1.0 if rate else 1.0)
        count = f"{rows if rate else 0:,} of {rows:,}"
        start = place * wide + (0.1 if aside > 0.0 else -0.1 - inches_of(count, size))
        # Where another count stands, the rows below say how many there are.
        if start < taken[int(rate)]:
            continue
        taken[int(rate)] = start + inches_of(count, size) + 0.1
        axes.annotate(
            count, (score, end),
            (aside * look.points(6.0), down * look.points(5.0)), textcoords="offset points",
            **look.letters(look.palette.faint, size), zorder=5.0,
            ha="left" if aside > 0.0 else "right", va="top" if rate else "bottom",
            bbox={"facecolor": look.palette.paper, "edgecolor": "none", "pad": 0.4, "alpha": 0.75},
        )  # fmt: skip


def sides_of(curve: BinnedCurve, limits: Limits) -> tuple[Floats, Floats]:
    """Return where each bin's bar begins and ends; a single score gets a narrow bar."""
    # By log-odds a bar is as wide on the left as on the right, as it is drawn.
    linear = limits.scale is AxisScale.LINEAR
    span, at = (limits.span, curve.score) if linear else (1.0, limits.shares(curve.score))
    gaps = np.diff(np.unique(at))
    least = 0.3 * min(float(gaps.min()), span / 15.0) if gaps.size else 0.02 * span
    half = max(least, 0.002 * span)
    ends = (at - half, at + half) if linear else (limits.at(at - half), limits.at(at + half))
    atom = curve.lower >= curve.upper
    left = np.where(atom, ends[0], np.maximum(curve.lower, limits.x[0]))
    right = np.where(atom, ends[1], np.minimum(curve.upper, limits.x[1]))
    return limits.held(left), limits.held(right)


_THINNEST, _THICKEST = 0.7, 2.8

# A stretch of curve shorter than this part of the axis, as it is drawn, is a single score, and a dot.
_DOT = 0.004
# Half of what a single score takes of the axis.
_HALF_BAR = 0.003


@dataclass(frozen=True, slots=True)
class Strokes:
    """A curve as it is drawn; all arrays have shape (n_points,).

    Args:
        x: Mean score there; NaN where there is nothing to draw.
        lower: Lower end of the band; NaN where there is none.
        base: Height of the line of perfect calibration.
        within: The least and the largest score.
    """

    at: Floats
    x: Floats
    y: Floats
    lower: Floats
    upper: Floats
    base: Floats
    density: Floats
    within: tuple[float, float]


@dataclass(frozen=True, slots=True)
class SmoothPlots:
    curves: tuple[SmoothCurve, ...]
    confidence: float

    rate_label = RATE_LABEL
    strip_label = "density"

    @property
    def extents(self) -> list[Extent]:
        return [smooth_extent(one) for one in self.curves]

    def notes(self) -> list[str]:
        bands = dict.fromkeys(band_sentence(one.band, one.lower) for one in self.curves)
        broken = any(np.isnan(one.x).any() for one in self.curves)
        return [
            f"Mean label against mean score, {_kernel(self.curves)}. {DARKER}",
            *bands,
            *beyond_sentences(self.curves),
            *(["The curve is broken where no score lies within three bandwidths."] if broken else []),
        ]

    def key(self, look: Look) -> list[Entry]:
        line = Line2D([], [], **look.stroke(look.palette.ink, 2.4))
        entries: list[Entry] = [(line, "observed rate")]
        if any(has_band(one.lower) for one in self.curves):
            entries.append((Patch(**look.band), f"{percent(self.confidence)} band"))
        return [*entries, *area_key(look)]

    def draw(self, place: int, panel: Panel) -> None:
        """Draw the curve, its band, the error as area and, below, the density of the scores."""
        curve = self.curves[place]
        at, x, y, lower, upper = (
            panel.limits.held(one) for one in (curve.at, curve.x, curve.y, curve.lower, curve.upper)
        )
        within = curve.least, curve.most
        draw_strokes(panel, Strokes(at, x, y, lower, upper, x, curve.density, within))
        draw_diagonal(panel)


def _kernel(curves: Sequence[SmoothCurve]) -> str:
    """Return how wide the kernel is, and along what."""
    widths = [one.bandwidth for one in curves]
    width = " to ".join(dict.fromkeys(f"{one:.3g}" for one in (min(widths), max(widths))))
    return (
        f"Gaussian kernel of bandwidth {width}{' in log-odds' if any(one.log_odds for one in curves) else ''}"
    )


def draw_strokes(panel: Panel, strokes: Strokes) -> None:
    """Draw a curve with its band, the area between it and its base and, below, the density of the scores."""
    dark = strength(strokes.density, even=1.0 / panel.limits.span)
    draw_band(panel, strokes.x, strokes.lower, strokes.upper)
    start, stop = _pieces(strokes)
    sides = ((one[start], one[stop]) for one in (strokes.x, strokes.base, strokes.y))
    between = 0.5 * (dark[start] + dark[stop])
    draw_area(panel, *sides, dark=between)
    points = np.stack((strokes.x, strokes.y), axis=1)
    widths = panel.look.points(1.0) * (_THINNEST + (_THICKEST - _THINNEST) * between)
    line = LineCollection(
        list(np.stack((points[start], points[stop]), axis=1)),
        linewidths=widths.tolist(),
        colors=panel.look.palette.ink,
        capstyle="round",
        zorder=3.0,
    )
    panel.main.add_collection(line, autolim=False)
    _draw_dots(panel, strokes, dark)
    if panel.strip is not None:
        _draw_density(panel.strip, panel, strokes)


def _draw_density(axes: Axes, panel: Panel, strokes: Strokes) -> None:
    """Draw how densely scores lie, from the least to the largest: the kernel reaches farther.

    Where these stand in one place there is a bar.
    """
    limits = panel.limits
    least, most = limits.shares(np.array(strokes.within))
    middle, half = 0.5 * (least + most), max(0.5 * (most - least), _HALF_BAR)
    ends = limits.at(np.array([middle - half, middle + half]))
    at = strokes.at[(strokes.at > ends[0]) & (strokes.at < ends[1])]
    at = np.concatenate((ends[:1], at, ends[1:]))
    density = np.interp(at, strokes.at, strokes.density)
    axes.fill_between(at, 0.0, density, facecolor=panel.look.palette.rows, edgecolor="none", linewidth=0.0)
    top = float(density.max())
    axes.set_ylim(0.0, 1.08 * top if top > 0.0 else 1.0)
    axes.set_yticks([])


def _draw_dots(panel: Panel, curve: Strokes, dark: Floats) -> None:
    """Mark stretches of curve that are single scores, with a stem to the base."""
    axes, look, limits, ink = panel.main, panel.look, panel.limits, panel.look.palette.ink
    for run in unbroken(curve.x):
        if np.ptp(limits.shares(curve.x[run[[0, -1]]])) > _DOT:
            continue
        top = run[int(np.argmax(curve.density[run]))]
        x, y, base = curve.x[top], curve.y[top], curve.base[top]
        width = _THINNEST + (_THICKEST - _THINNEST) * dark[top]
        place = limits.shares(np.array([x]))
        sides = limits.held(limits.at(place - _HALF_BAR)), limits.held(limits.at(place + _HALF_BAR))
        low, high = (np.array([one]) for one in (base, y))
        draw_area(panel, sides, (low, low), (high, high), dark=dark[[top]])
        axes.plot([x], [y], **look.dots(ink, 1.6 * width + 1.0), zorder=3.0)
        if not np.isnan(curve.lower[top]):
            ends = [curve.lower[top], curve.upper[top]]
            axes.plot([x, x], ends, **look.stroke(ink, 0.7), zorder=2.5)


def _pieces(curve: Strokes) -> tuple[Indices, Indices]:
    """Return start and end of each piece of curve that is not a gap."""
    seen = ~np.isnan(curve.x)
    start = np.flatnonzero(seen[:-1] & seen[1:])
    return start, start + 1


RESIDUAL_LABEL = "observed rate - score"

_SHEET = Sheet(aspect=0.62, square=False)

# A band, or a whisker, that needs more than this many times the room of the residuals is cut.
_MOST_BAND, _MOST_WHISKER = 1.0, 3.0

_ROOM, _LEAST = 0.06, 0.01


def residual_figure(curve: ResidualCurve, words: Words, look: Look) -> Figure:
    """Draw observed rate minus score against score, the error as area and, below, where the rows lie."""
    curve = curve.along(look.axis)
    plots: BinnedPlots | SmoothPlots
    if isinstance(curve.source, BinnedCurve):
        plots = BinnedPlots((curve.source,), curve.confidence)
        notes = plots.notes()
    else:
        plots = SmoothPlots((curve.source,), curve.confidence)
        area = "" if curve.source.log_odds else " Weighted by density, the area is smECE."
        first = f"Mean label - mean score, {_kernel((curve.source,))}.{area} {DARKER}"
        notes = [first, *plots.notes()[1:]]
    limits = limits_for(plots.extents, look.axis)
    renamed = {"observed rate": RESIDUAL_LABEL}
    key = [(mark, renamed.get(name, name)) for mark, name in plots.key(look)]
    page = new_page(words, [*notes, *_about_axes(limits)], look, sheet=_SHEET, key=key, limits=limits)
    panel = page.panels[0]
    _draw_residual(panel, curve)
    dress(panel, y_label=RESIDUAL_LABEL, strip_label=plots.strip_label)
    show_scores(panel.main, limits.x, limits.scale)
    round_numbers(panel.main.yaxis)
    panel.main.set_ylim(*_heights(curve, limits))
    return page.figure


def _draw_residual(panel: Panel, curve: ResidualCurve) -> None:
    limits, source = panel.limits, curve.source
    score, base = limits.held(curve.score), np.zeros_like(curve.score)
    if isinstance(source, BinnedCurve):
        ends = curve.residual, curve.lower, curve.upper
        draw_bars(panel, Bars(*sides_of(source, limits), score, *ends, base=base, rows=source.rows))
    else:
        ends, within = (curve.residual, curve.lower, curve.upper), (source.least, source.most)
        draw_strokes(panel, Strokes(limits.held(curve.at), score, *ends, base, curve.density, within))
    panel.main.axhline(0.0, **panel.look.dashed, zorder=2.0)


def _heights(curve: ResidualCurve, limits: Limits) -> tuple[float, float]:
    """Return the ends of the axis of residuals: it holds the curve, and as much of its band as has room."""
    seen = ~np.isnan(curve.residual) & (limits.held(curve.score) >= limits.x[0])
    seen &= limits.held(curve.score) <= limits.x[1]
    residual = curve.residual[seen]
    low, high = float(residual.min(initial=0.0)), float(residual.max(initial=0.0))
    most = _MOST_WHISKER if isinstance(curve.source, BinnedCurve) else _MOST_BAND
    reach = most * (high - low) if high > low else 1.0
    ends = np.concatenate((curve.lower[seen], curve.upper[seen]))
    ends = ends[~np.isnan(ends)]
    bottom = min(low, max(float(ends.min(initial=0.0)), low - reach))
    top = max(high, min(float(ends.max(initial=0.0)), high + reach))
    room = _ROOM * (top - bottom) if top > bottom else _LEAST
    return bottom - room, top + room


def _about_axes(limits: Limits) -> list[str]:
    """Return what a reader must be told of the axes."""
    if limits.certain:
        return [limits.sentence]
    by_log_odds = limits.scale is AxisScale.LOGIT
    first = "Scores by log-odds: areas do not show the size of the error. " if by_log_odds else ""
    note = f"{first}{limits.outside_sentence}".rstrip()
    return [note] if note else []
