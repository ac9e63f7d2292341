"""Drawing the curve of bins."""

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from calibcli.curves.bands import band_sentence, has_band
from calibcli.curves.limits import Limits, binned_limits
from calibcli.curves.reliability import BinnedCurve
from calibcli.figures.axes import dress_panel, show_limits
from calibcli.figures.bars import Bars, draw_bars
from calibcli.figures.error_area import DARKER, area_key, draw_diagonal
from calibcli.figures.key import Entry
from calibcli.figures.look import Look
from calibcli.figures.page import new_page
from calibcli.figures.sheet import Panel, Words
from calibcli.picture_names import AxisScale

Floats = npt.NDArray[np.float64]


def binned_figure(
    curve: BinnedCurve, words: Words, *, look: Look, confidence: float, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """
    Draw a reliability diagram of bins.

    Args:
        curve: One point for each occupied bin.

        words: Title and caption; small print follows.

        look: Size and colours.

        confidence: Of the interval of each bin.

        scale: How both axes are laid out.
    """
    limits = binned_limits(curve, scale)
    foot = [*binned_notes(curve), limits.sentence, *words.foot]
    page = new_page(
        Words(words.title, words.caption, foot), look=look, key=binned_key(curve, look, confidence=confidence)
    )
    panel = page.panels[0]
    draw_binned(panel, curve, limits=limits, look=look)
    dress_panel(page, panel)
    show_limits(panel.main, limits)
    return page.figure


def binned_notes(curve: BinnedCurve) -> list[str]:
    """Return what the picture shows, for the small print."""
    count, atoms = curve.rows.size, bool(np.all(curve.lower == curve.upper))
    what = ("distinct score" if atoms else "occupied bin") + ("" if count == 1 else "s")
    where = "" if atoms else " Points stand at mean scores."
    band = band_sentence(curve.band, curve.rate_lower, called="Whiskers")
    lone = count == 1 and not atoms and curve.total_rows > 1
    finer = ["All rows lie in one bin: --binning equal-mass cuts where they are."] if lone else []
    return [f"{count:,} {what}.{where} {DARKER}", *finer, band]


def binned_key(curve: BinnedCurve, look: Look, *, confidence: float) -> list[Entry]:
    """Return what the marks mean."""
    ink = look.palette.ink
    dot = Line2D([], [], color=ink, linestyle="", marker="o", markersize=look.points(4.5))
    entries: list[Entry] = [(dot, "observed rate")]
    if has_band(curve.rate_lower):
        size, width = look.points(11), look.points(0.9)
        whisker = Line2D([], [], color=ink, linestyle="", marker="|", markersize=size, markeredgewidth=width)
        entries.append((whisker, f"{100 * confidence:g} % interval"))
    return [*entries, *area_key(look)]


def draw_binned(
    panel: Panel, curve: BinnedCurve, *, limits: Limits, look: Look, counted: bool = True
) -> None:
    """
    Draw each bin's rate, its interval, the error as area and, below, the rows per bin.

    Args:
        panel: Where.

        curve: What.

        limits: Ends of the axes.

        look: Size and colours.

        counted: Whether the rows per bin may stand over their bars.
    """
    left, right = sides_of(curve, limits)
    score, rate, lower, upper = (
        limits.held(one) for one in (curve.score, curve.rate, curve.rate_lower, curve.rate_upper)
    )
    bars = Bars(left, right, score, rate, lower, upper, base=score, rows=curve.rows)
    draw_bars(panel, bars, limits=limits, look=look, counted=counted)
    draw_diagonal(panel.main, limits, look)


def sides_of(curve: BinnedCurve, limits: Limits) -> tuple[Floats, Floats]:
    """Return where each bin's bar begins and ends; a single score gets a narrow bar."""
    span = limits.span
    gaps = np.diff(curve.score)
    least = 0.3 * min(float(gaps.min()), span / 15.0) if gaps.size else 0.02 * span
    half = max(least, 0.002 * span)
    atom = curve.lower >= curve.upper
    left = np.where(atom, curve.score - half, np.maximum(curve.lower, limits.x[0]))
    right = np.where(atom, curve.score + half, np.minimum(curve.upper, limits.x[1]))
    return limits.held(left), limits.held(right)
