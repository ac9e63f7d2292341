"""Drawing a fitted map."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.names import AxisScale, RecalibratorName
from calibcli.show.figures.axes import dress_panel, show_limits
from calibcli.show.figures.bars import draw_diagonal, draw_points, draw_rows, draw_spread
from calibcli.show.figures.look import Look, band_fill, dashed
from calibcli.show.figures.page import Entry, Sheet, Words, new_page
from calibcli.show.figures.reliability import bars_of
from calibcli.stats.curves.limits import Extent, Limits, band_sentence, has_band, limits_of
from calibcli.stats.curves.map import MapCurve

# How far by log-odds a map is shown where no rows say.
_FAR = 0.001
# This share of the rows at each end of the scores may lie outside a picture by log-odds.
_STRAY = 0.0005
_SCORE, _OUTPUT = "raw score", "recalibrated probability"


def map_figure(curve: MapCurve, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR) -> Figure:
    """Draw what a map makes of each score, over the observed rates of rows where there are some."""
    limits = _limits(curve, scale)
    notes, sheet = [*_notes(curve), *_sentences(limits)], Sheet(strip=curve.points is not None)
    page = new_page(words, notes, look=look, sheet=sheet, key=_key(curve, look))
    panel = page.panels[0]
    few = curve.points is not None and bool(np.all(curve.points.lower == curve.points.upper))
    _draw_map(panel.main, curve, limits, look)
    draw_diagonal(panel.main, limits, look)
    if curve.points is not None and panel.strip is not None:
        bars = bars_of(curve.points, limits)
        draw_points(panel.main, bars, look)
        if few:
            draw_rows(panel.strip, bars.rows, (bars.left, bars.right), limits=limits, look=look)
        elif curve.spread is not None:
            draw_spread(panel.strip, curve.spread, limits=limits, look=look)
    strip_label = "rows" if few else "density"
    dress_panel(page, panel, x_label=_SCORE, y_label=_OUTPUT, strip_label=strip_label)
    show_limits(panel.main, limits)
    return page.figure


def _limits(curve: MapCurve, scale: AxisScale) -> Limits:
    """Return how much of the unit square the rows need, or all of it."""
    points = curve.points
    if scale is AxisScale.LOGIT:
        return _by_log_odds(curve)
    if points is None:
        return Limits()
    output = np.interp(points.score, curve.score, curve.output)
    known = ~np.isnan(points.rate_lower)
    lower = np.where(known, np.minimum(points.rate_lower, output), output)
    upper = np.where(known, np.maximum(points.rate_upper, output), output)
    mass = points.rows / points.rows.sum()
    return limits_of(Extent(points.score, points.rate, mass, lower, upper), scale)


def _by_log_odds(curve: MapCurve) -> Limits:
    """Return ends that hold both the scores and what the map makes of them."""
    spread = curve.spread
    first, last = (_FAR, 1.0 - _FAR) if spread is None else (spread.at(_STRAY), spread.at(1.0 - _STRAY))
    output = np.interp([first, last], curve.score, curve.output)
    both = np.sort(np.concatenate(([first, last], output)))
    return limits_of(Extent(both, both, np.ones(4), both, both), AxisScale.LOGIT)


def _sentences(limits: Limits) -> list[str]:
    """Return what must be said of the axes; there is no area of error here."""
    if limits.scale is AxisScale.LOGIT:
        return ["Both axes by log-odds; what lies beyond their ends stands at them."]
    return [limits.sentence]


def _notes(curve: MapCurve) -> list[str]:
    notes = [band_sentence(curve.band, curve.lower)]
    if curve.randomised:
        notes.append("The map adds noise to each score first; the curve is drawn without it.")
    if curve.marks.size:
        bars = "; bars: the grey there" if has_band(curve.lower) else ""
        notes.append(f"Squares: the output at each score that rows have{bars}.")
    if curve.points is not None:
        whiskers = f"; whiskers: {curve.points.band}" if has_band(curve.points.rate_lower) else ""
        notes.append(f"Dots: observed rate of {curve.partition} of the raw score{whiskers}.")
    return notes


def _key(curve: MapCurve, look: Look) -> list[Entry]:
    entries: list[Entry] = [(Line2D([], [], **_line(look)), f"{curve.method.value} map")]
    if has_band(curve.lower):
        ends = curve.method is RecalibratorName.VENN_ABERS
        entries.append((Patch(**band_fill(look)), "its ends" if ends else "resampling band"))
    if curve.points is not None:
        entries.append((Line2D([], [], **look.dots(look.palette.ink, 4.5)), "observed rate"))
    return [*entries, (Line2D([], [], **dashed(look)), "score unchanged")]


def _draw_map(axes: Axes, curve: MapCurve, limits: Limits, look: Look) -> None:
    score, output = curve.score, limits.held(curve.output)
    inside = (score >= limits.x[0]) & (score <= limits.x[1])
    if has_band(curve.lower):
        lower, upper = limits.held(curve.lower), limits.held(curve.upper)
        axes.fill_between(score[inside], lower[inside], upper[inside], **band_fill(look), zorder=0.5)
    axes.plot(score[inside], output[inside], **_line(look), zorder=2.5)
    if not curve.marks.size:
        return
    marks = curve.marks[inside[curve.marks]]
    colour = look.palette.series[0]
    if has_band(curve.lower):
        ends = limits.held(curve.lower[marks]), limits.held(curve.upper[marks])
        axes.vlines(score[marks], *ends, **look.uprights(colour, 2.2), alpha=0.5, zorder=2.4)
    axes.plot(score[marks], output[marks], **look.rings(colour, 5.0, 1.1, "s"), zorder=2.7)


def _line(look: Look) -> dict[str, Any]:
    return look.stroke(look.palette.series[0], 1.7)
