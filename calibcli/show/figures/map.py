"""Drawing a fitted map."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.names import AxisScale, RecalibratorName
from calibcli.show.figures.axes import dress, show_limits
from calibcli.show.figures.bars import draw_diagonal, draw_points, draw_rows, draw_spread
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import Entry, Panel, Sheet, Words, new_page
from calibcli.show.figures.reliability import bars_of
from calibcli.stats.curves.limits import Extent, Limits, band_sentence, has_band, limits_of
from calibcli.stats.curves.map import MapCurve

# How far by log-odds a map is shown where no rows say.
_FAR = 0.001
# This share of the rows at each end of the scores may lie outside a picture by log-odds.
_STRAY = 0.0005
_SCORE, _OUTPUT = "raw score", "recalibrated probability"


def map_figure(curve: MapCurve, words: Words, look: Look) -> Figure:
    """Draw what a map makes of each score, over the observed rates of rows where there are some."""
    limits = _limits(curve, look.axis)
    said = limits.sentence
    if limits.scale is AxisScale.LOGIT:
        # There is no area of error here.
        said = "Both axes by log-odds; what lies beyond their ends stands at them."
    sheet = Sheet(strip=curve.points is not None)
    notes, key = [*_notes(curve), said], _key(curve, look)
    page = new_page(words, notes, look, sheet=sheet, key=key, limits=limits)
    panel = page.panels[0]
    few = curve.points is not None and bool(np.all(curve.points.lower == curve.points.upper))
    _draw_map(panel, curve)
    draw_diagonal(panel)
    if curve.points is not None:
        bars = bars_of(curve.points, limits)
        draw_points(panel, bars)
        if few:
            draw_rows(panel, bars)
        elif curve.spread is not None:
            draw_spread(panel, curve.spread)
    dress(panel, x_label=_SCORE, y_label=_OUTPUT, strip_label="rows" if few else "density")
    show_limits(panel)
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
        entries.append((Patch(**look.band), "its ends" if ends else "resampling band"))
    if curve.points is not None:
        entries.append((Line2D([], [], **look.dots(look.palette.ink, 4.5)), "observed rate"))
    return [*entries, (Line2D([], [], **look.dashed), "score unchanged")]


def _draw_map(panel: Panel, curve: MapCurve) -> None:
    axes, look, limits = panel.main, panel.look, panel.limits
    score, output = curve.score, limits.held(curve.output)
    inside = (score >= limits.x[0]) & (score <= limits.x[1])
    if has_band(curve.lower):
        lower, upper = limits.held(curve.lower), limits.held(curve.upper)
        axes.fill_between(score[inside], lower[inside], upper[inside], **look.band, zorder=0.5)
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
