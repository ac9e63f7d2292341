"""Drawing observed rate minus score."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibcli.curves.limits import Limits, binned_limits, smooth_limits, with_margin
from calibcli.curves.reliability import BinnedCurve
from calibcli.curves.residual import ResidualCurve
from calibcli.figures.axes import dress_panel, log_odds_ticks, round_numbers
from calibcli.figures.bars import Bars, draw_bars
from calibcli.figures.binned import binned_key, binned_notes, sides_of
from calibcli.figures.error_area import DARKER
from calibcli.figures.key import Entry
from calibcli.figures.look import Look
from calibcli.figures.page import new_page
from calibcli.figures.sheet import Panel, Sheet, Words
from calibcli.figures.smooth import Strokes, draw_strokes, smooth_key, smooth_notes
from calibcli.figures.strokes import dashed
from calibcli.picture_names import AxisScale

Floats = npt.NDArray[np.float64]

RESIDUAL_LABEL = "observed rate - score"
_SHEET = Sheet(aspect=0.62, square=False)
# A band, or a whisker, that needs more than this many times the room of the residuals is cut.
_MOST_BAND, _MOST_WHISKER = 1.0, 3.0
_ROOM, _LEAST = 0.06, 0.01


def residual_figure(
    curve: ResidualCurve, words: Words, *, look: Look, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """
    Draw observed rate minus score against score.

    Args:
        curve: The residuals.

        words: Title and caption; small print follows.

        look: Size and colours.

        scale: How the axis of scores is laid out.
    """
    limits = _limits(curve, scale)
    foot = [*_notes(curve), *_about_axes(limits), *words.foot]
    page = new_page(Words(words.title, words.caption, foot), look=look, sheet=_SHEET, key=_key(curve, look))
    panel = page.panels[0]
    draw_residual(panel, curve, limits=limits, look=look)
    strip = "rows" if isinstance(curve.source, BinnedCurve) else "density"
    dress_panel(page, panel, y_label=RESIDUAL_LABEL, strip_label=strip)
    _show_scores(panel.main, limits)
    round_numbers(panel.main.yaxis)
    panel.main.set_ylim(*_heights(curve, limits))
    return page.figure


def draw_residual(panel: Panel, curve: ResidualCurve, *, limits: Limits, look: Look) -> None:
    """
    Draw the residual, its band, the error as area and, below, where the rows lie.

    Args:
        panel: Where.

        curve: What.

        limits: Ends of the axis of scores.

        look: Size and colours.
    """
    score, base = limits.held(curve.score), np.zeros_like(curve.score)
    if isinstance(curve.source, BinnedCurve):
        left, right = sides_of(curve.source, limits)
        rows = curve.source.rows
        bars = Bars(left, right, score, curve.residual, curve.lower, curve.upper, base=base, rows=rows)
        draw_bars(panel, bars, limits=limits, look=look)
    else:
        at = limits.held(curve.at)
        strokes = Strokes(at, score, curve.residual, curve.lower, curve.upper, base, curve.density)
        draw_strokes(panel, strokes, limits=limits, look=look)
    panel.main.axhline(0.0, **dashed(look), zorder=2.0)


def _limits(curve: ResidualCurve, scale: AxisScale) -> Limits:
    """Return how much of the axis of scores is shown."""
    if isinstance(curve.source, BinnedCurve):
        return binned_limits(curve.source, scale)
    return smooth_limits(curve.source, scale)


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


def _show_scores(axes: Axes, limits: Limits) -> None:
    """Give the axis of scores its scale, ends and numbers."""
    if limits.scale is AxisScale.LOGIT:
        axes.set_xscale("logit", nonpositive="clip")
        axes.set_xlim(log_odds_ticks(axes.xaxis, limits.x))
        return
    round_numbers(axes.xaxis)
    axes.set_xlim(with_margin(limits.x))


def _about_axes(limits: Limits) -> list[str]:
    """Return what a reader must be told of the axes."""
    outside = f"{100.0 * limits.outside:.1g} % of the rows"
    notes = []
    if limits.scale is AxisScale.LOGIT:
        notes.append("Scores by log-odds: areas do not show the size of the error.")
        if limits.outside:
            notes.append(f"{outside} stand at the ends.")
    elif limits.outside > 1e-6:
        notes.append(f"{outside} lie outside.")
    return [" ".join(notes)] if notes else []


def _notes(curve: ResidualCurve) -> list[str]:
    """Return what the picture shows, for the small print."""
    if isinstance(curve.source, BinnedCurve):
        return binned_notes(curve.source)
    kernel = f"Gaussian kernel of bandwidth {curve.source.bandwidth:.3g}"
    first = f"Mean label - mean score, {kernel}. Weighted by density, the area is smECE. {DARKER}"
    return [first, *smooth_notes(curve.source)[1:]]


def _key(curve: ResidualCurve, look: Look) -> list[Entry]:
    """Return what the marks mean."""
    if isinstance(curve.source, BinnedCurve):
        entries = binned_key(curve.source, look, confidence=curve.confidence)
    else:
        entries = smooth_key(curve.source, look, confidence=curve.confidence)
    renamed = {"observed rate": RESIDUAL_LABEL}
    return [(mark, renamed.get(name, name)) for mark, name in entries]
