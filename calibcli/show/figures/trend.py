"""Drawing groups in their order: how far rates are from scores, and below it both."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from calibcli.options.numerals import percent
from calibcli.show.figures.axes import dress, round_numbers
from calibcli.show.figures.look import DASHES, Look
from calibcli.show.figures.page import (
    TICK,
    Entry,
    Panel,
    Sheet,
    Words,
    fitted,
    inches_of,
    inches_wide,
    new_page,
)
from calibcli.stats.curves.segments import TrendCurve, reach
from calibcli.stats.numerics import Floats

_HEADINGS = ("Observed less predicted", "Both rates")
# How many times as far as the reach intervals are shown, before they are cut.
_LONGEST = 2.5
_MOST_LETTERS = 1.3
_MOST_DOTS = 60


def trend_figure(curve: TrendCurve, words: Words, look: Look) -> Figure:
    ends = _ends(curve)
    cut = bool(np.any(curve.lower < ends[0]) or np.any(curve.upper > ends[1]))
    notes = [
        f"Lines: {percent(curve.confidence)} intervals, which hold for all groups at once.",
        *(["Intervals are cut at the ends of the picture."] if cut else []),
    ]
    sheet = Sheet(rows=2, aspect=0.42, strip=False, headings=_HEADINGS, square=False)
    page = new_page(words, notes, look, sheet=sheet, key=_key(curve, look))
    first, second = page.panels
    above, below = first.main, second.main
    at = np.arange(len(curve.names), dtype=np.float64)
    names = "observed less predicted", words.named("rate of label 1")
    for panel, name in zip(page.panels, names, strict=True):
        dress(panel, x_label=curve.column, y_label=name)
    above.axhline(0.0, **look.dashed, zorder=1.0)
    _draw_bias(first, curve, at)
    _draw_rates(second, curve, at)
    above.set_ylim(ends)
    below.set_ylim(0.0, 1.08 * float(max(curve.score.max(), curve.rate.max(), 1e-9)))
    for panel in page.panels:
        panel.main.set_xlim(-0.6, at.size - 0.4)
        round_numbers(panel.main.yaxis, most=5)
        _name(panel, curve.names)
    return page.figure


def _ends(curve: TrendCurve) -> tuple[float, float]:
    """Return the ends of the axis of biases: those of the intervals, but for very long ones."""
    most = _LONGEST * reach(curve) or 0.01
    shown = np.concatenate((curve.bias, np.clip(curve.lower, -most, most), np.clip(curve.upper, -most, most)))
    low, high = min(0.0, float(np.nanmin(shown))), max(0.0, float(np.nanmax(shown)))
    room = 0.06 * (high - low or 0.02)
    return low - room, high + room


def _key(curve: TrendCurve, look: Look) -> list[Entry]:
    known = curve.too_low | curve.too_high
    drawn = zip(_MARKS, (curve.too_low, curve.too_high, ~known), strict=True)
    entries: list[Entry] = [
        (Line2D([], [], **_mark(name, look)), name) for name, which in drawn if which.any()
    ]
    lines: list[Entry] = [(Line2D([], [], **style), name) for name, style in _lines(curve, look)]
    return entries + lines


_MARKS = {"scores too low": "^", "too high": "v", "no error shown": "o"}


def _mark(name: str, look: Look) -> dict[str, Any]:
    palette, told = look.palette, name != "no error shown"
    colours = {"scores too low": palette.too_low, "too high": palette.too_high}
    edge = {"markeredgecolor": palette.ink, "markeredgewidth": look.points(0.7 if told else 0.0)}
    return {**look.dots(colours.get(name, palette.edge), 6.5 if told else 4.0, _MARKS[name]), **edge}


def _lines(curve: TrendCurve, look: Look) -> list[tuple[str, dict[str, Any]]]:
    """Return how both rates are drawn: as lines, or as dots and short bars where groups are no sequence."""
    ink, other = look.palette.ink, look.palette.series[1]
    if curve.joined:
        return [("observed", look.stroke(ink, 1.6)), ("predicted", look.stroke(other, 1.6, DASHES))]
    return [
        ("observed", {**look.dots(ink, 4.0), "markeredgewidth": 0.0}),
        ("predicted", {**look.dots(other, 11.0, "_"), "markeredgewidth": look.points(1.8)}),
    ]


def _draw_bias(panel: Panel, curve: TrendCurve, at: Floats) -> None:
    axes, look = panel.main, panel.look
    known = curve.too_low | curve.too_high
    for name, which in zip(_MARKS, (curve.too_low, curve.too_high, ~known), strict=True):
        colour = look.palette.edge if name == "no error shown" else look.palette.ink
        ends = curve.lower[which], curve.upper[which]
        axes.vlines(at[which], *ends, **look.uprights(colour, 1.1), zorder=2.0)
        axes.plot(at[which], curve.bias[which], **_mark(name, look), zorder=3.0)


def _draw_rates(panel: Panel, curve: TrendCurve, at: Floats) -> None:
    axes, look = panel.main, panel.look
    for (_, style), height in zip(_lines(curve, look), (curve.rate, curve.score), strict=True):
        axes.plot(at, height, **style, zorder=2.5)
    if curve.joined and at.size <= _MOST_DOTS:
        # A rate of 0 stands on the axis, and its dot is whole.
        axes.plot(at, curve.rate, **look.dots(look.palette.ink, 3.5), zorder=3.0, clip_on=False)


def _name(panel: Panel, names: tuple[str, ...]) -> None:
    """Write the names of as many groups as have room, the first of them always."""
    axes, look = panel.main, panel.look
    size, room = look.points(TICK), inches_wide(axes) / (len(names) + 0.2)
    short = [fitted(name, size, look.inches(_MOST_LETTERS)) for name in names]
    widest = max(inches_of(name, size) for name in short) + look.inches(0.1)
    step = max(1, int(np.ceil(widest / room)))
    axes.xaxis.set_major_locator(FixedLocator(list(range(0, len(names), step))))
    axes.set_xticklabels(short[::step])
