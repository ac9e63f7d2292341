"""Drawing what a gate has seen: the evidence of its bets, and below it the estimate."""

import math

import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from calibcli.options.numerals import in_full, percent
from calibcli.show.figures.axes import dress, round_numbers
from calibcli.show.figures.look import DASHES, Look
from calibcli.show.figures.page import Entry, Page, Panel, Sheet, Words, new_page
from calibcli.show.words import capital
from calibcli.stats.curves.monitor import MonitorCurve, Starts, with_fewer_looks
from calibcli.stats.numerics import Booleans, Floats

_MOST_LOOKS, _MOST_DOTS = 1_000, 60
# Of the threshold's power of ten: wealth beyond these is drawn at the edges.
_LEAST, _MOST, _MOST_OF_ALARMS, _ROOM = -2.3, 10.0, 25.0, 1.5
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Looks at fewer of the rows do not stretch the axis of the estimate.
_EARLY = 0.25
_DOTS = (0, (1, 2))


def monitor_figure(curve: MonitorCurve, words: Words, look: Look) -> Figure:
    shown = with_fewer_looks(curve, most=_MOST_LOOKS)
    ends = _wealth_ends(curve)
    # The axis of errors holds all that is said of most of the rows, and the limit.
    late = curve.rows >= _EARLY * curve.total_rows
    said = np.concatenate((curve.value[late], curve.upper[late], curve.own[late | curve.stands_out]))
    top = min(1.0, 1.12 * max(1.2 * (curve.limit or 0.0), float(np.nanmax(said)), 1e-6))
    of = "an alarm" if curve.starts is not None else "PASS and FAIL"
    measure = capital(curve.measure)
    above, below = f"Evidence for {of} ({_enough(curve)} decides)", f"{measure} of all rows counted so far"
    sheet = Sheet(rows=2, aspect=0.46, strip=False, headings=(above, below), square=False)
    page = new_page(words, _notes(curve, ends, top), look, sheet=sheet, key=_key(curve, look))
    _draw_evidence(page.panels[0], shown, ends)
    _draw_estimate(page.panels[1], shown, top)
    if curve.starts is not None and curve.starts.since is not None:
        for panel in page.panels:
            panel.main.axvspan(*curve.starts.since, **look.band, zorder=0.5)
    _dress(page, curve, ends, top)
    return page.figure


def _enough(curve: MonitorCurve) -> str:
    return f"{math.exp(curve.threshold):.4g}"


def _wealth_ends(curve: MonitorCurve) -> tuple[float, float]:
    """Return the ends of the axis of wealth, in powers of ten."""
    level = curve.threshold / math.log(10.0)
    found = np.concatenate((curve.log_pass, curve.log_fail)) / math.log(10.0)
    most = _MOST
    if curve.starts is not None:
        found, most = np.append(found, curve.starts.log / math.log(10.0)), _MOST_OF_ALARMS
    found = found[~np.isnan(found)]
    low = max(min(float(found.min()), 0.0), _LEAST * level)
    high = min(max(float(found.max()), _ROOM * level), most * level)
    return low, high


def _notes(curve: MonitorCurve, ends: tuple[float, float], top: float) -> list[str]:
    wrong = "false alarm" if curve.starts is not None else "wrong verdict"
    most = percent(1.0 - curve.confidence)
    notes = [f"A {wrong} has a probability of at most {most}, however often you check."]
    if curve.passed_at is not None or curve.failed_at is not None:
        notes.append("Dotted: when the verdict was reached.")
    logs = np.concatenate((curve.log_pass, curve.log_fail)) / math.log(10.0)
    if np.any(logs < ends[0]) or np.any(logs > ends[1]):
        notes.append("Evidence beyond the axis is drawn at its ends.")
    if curve.starts is not None:
        notes.append("Dot: evidence if counted from that batch on.")
        if curve.starts.since is None:
            notes.append("Ring: the strongest.")
        else:
            sure = f"{percent(curve.confidence)} sure"
            notes.append(
                f"Ring: the batch that the change most likely came with. Shaded: where it may lie ({sure})."
            )
    elif np.isnan(curve.lower[:-1]).any():
        notes.append("Some checks have no bounds, because the state did not store them.")
    if not curve.since_first:
        notes.append("Only checks since the merge are shown: merged batches have no order.")
    if not np.isnan(curve.own).all():
        out = "; diamonds: at most 1 of 1,000 calibrated batches is so far off" * bool(curve.stands_out.any())
        notes.append(f"Hollow: each batch by itself{out}.")
    if np.any(curve.upper > top) or np.any(curve.value > top) or np.any(curve.own > top):
        notes.append("Some early values or bounds lie above the picture.")
    return notes


def _key(curve: MonitorCurve, look: Look) -> list[Entry]:
    palette, width = look.palette, look.points(1.6)
    entries: list[Entry] = []
    if curve.starts is None:
        entries.append((_stroke(palette.series[0], width), "evidence for PASS"))
        entries.append((_stroke(palette.series[1], width), "evidence for FAIL"))
    else:
        entries.append((_stroke(palette.series[1], width), "evidence for an alarm"))
        dot = Line2D([], [], **look.dots(palette.edge, 3.5))
        entries.append((dot, "evidence if the change began there"))
    entries.append((_stroke(palette.ink, width), "estimate"))
    if not np.isnan(curve.own).all():
        hollow = Line2D([], [], linestyle="", marker="o", markersize=look.points(3.6))
        hollow.set(markerfacecolor="none", markeredgecolor=palette.edge, markeredgewidth=look.points(0.7))
        entries.append((hollow, "each batch alone"))
    if not np.isnan(curve.lower).all():
        band = Patch(facecolor=palette.band, edgecolor=palette.edge, linewidth=look.points(0.6))
        entries.append((band, f"{percent(curve.confidence)} bounds"))
    what = f"{_enough(curve)} decides" + ("" if curve.limit is None else f"; limit {in_full(curve.limit)}")
    return [*entries, (_stroke(palette.faint, look.points(0.9), DASHES), what)]


def _stroke(colour: str, width: float, dashes: tuple[float, tuple[int, ...]] | None = None) -> Line2D:
    return Line2D([], [], color=colour, linewidth=width, linestyle=dashes or "-", marker="")


def _draw_evidence(panel: Panel, curve: MonitorCurve, ends: tuple[float, float]) -> None:
    """Draw wealth as powers of ten, what decides, and where it was reached."""
    axes, look, palette = panel.main, panel.look, panel.look.palette
    if curve.starts is not None:
        _draw_starts(panel, curve.starts, ends)
    bets = ((curve.log_pass, palette.series[0]), (curve.log_fail, palette.series[1]))
    for log, colour in bets:
        if not np.isnan(log).all():
            rows, wealth = curve.powers(log)
            _draw_line(panel, rows, np.clip(wealth, *ends), colour=colour, steps=True)
    for at, colour in ((curve.passed_at, palette.series[0]), (curve.failed_at, palette.series[1])):
        if at is not None:
            axes.axvline(at, color=colour, linewidth=look.points(0.9), linestyle=_DOTS, zorder=1.0)
    axes.axhline(curve.threshold / math.log(10.0), **look.dashed, zorder=2.2)


def _draw_starts(panel: Panel, starts: Starts, ends: tuple[float, float]) -> None:
    """Draw what each start has made, with a ring around the strongest."""
    look = panel.look
    wealth = np.clip(starts.log / math.log(10.0), *ends)
    best = [int(np.argmax(starts.log if starts.strongest is None else starts.rows == starts.strongest))]
    for places, size, edge in ((np.arange(wealth.size), 3.5, 0.0), (best, 7.0, 0.9)):
        panel.main.plot(
            starts.rows[places], wealth[places], **look.dots(look.palette.edge, size),
            markerfacecolor="none" if edge else look.palette.edge, markeredgecolor=look.palette.ink,
            markeredgewidth=look.points(edge), zorder=2.0, clip_on=False,
        )  # fmt: skip


def _draw_estimate(panel: Panel, curve: MonitorCurve, top: float) -> None:
    """Draw the estimate with its bounds, and the limit."""
    axes, look, palette = panel.main, panel.look, panel.look.palette
    rows = curve.rows.astype(np.float64)
    known = ~np.isnan(curve.lower)
    if np.count_nonzero(known) > 1:
        axes.fill_between(rows, curve.lower, curve.upper, **look.band)
        for edge in (curve.lower, curve.upper):
            axes.plot(rows, edge, **look.stroke(palette.edge, 0.7), zorder=1.5)
    alone = known & ~np.append(False, known[:-1]) & ~np.append(known[1:], False)
    ends = curve.lower[alone], curve.upper[alone]
    axes.vlines(rows[alone], *ends, **look.uprights(palette.edge, 1.4), zorder=1.5, clip_on=True)
    _draw_line(panel, rows, curve.value, colour=palette.ink, inside=curve.value <= top)
    for which, shape, rim in ((~curve.stands_out, "o", palette.edge), (curve.stands_out, "D", palette.ink)):
        axes.plot(
            rows[which], curve.own[which], linestyle="", marker=shape, markersize=look.points(3.6),
            markerfacecolor=palette.series[1] if shape == "D" else "none", markeredgecolor=rim,
            markeredgewidth=look.points(0.7), zorder=2.8, clip_on=True,
        )  # fmt: skip
    if curve.limit is not None:
        axes.axhline(curve.limit, **look.dashed, zorder=2.2)


def _draw_line(
    panel: Panel,
    rows: Floats,
    height: Floats,
    *,
    colour: str,
    steps: bool = False,
    inside: Booleans | None = None,
) -> None:
    """Draw a line, with a dot at each look where there are few; the last has one always."""
    axes, look, shape = panel.main, panel.look, "steps-post" if steps else "default"
    axes.plot(rows, height, **look.stroke(colour, 1.6), drawstyle=shape, zorder=3.0)
    dots = np.arange(rows.size) if rows.size <= _MOST_DOTS else np.array([rows.size - 1])
    if inside is not None:
        dots = dots[inside[dots]]
    style = look.dots(colour, 3.2)
    axes.plot(rows[dots], height[dots], **style, markeredgewidth=0.0, zorder=3.2, clip_on=False)


def _dress(page: Page, curve: MonitorCurve, ends: tuple[float, float], top: float) -> None:
    above, below = (panel.main for panel in page.panels)
    for panel, name in zip(page.panels, ("evidence", curve.measure), strict=True):
        dress(panel, x_label="rows counted", y_label=name)
    room = 0.03 * (ends[1] - ends[0])
    above.set_ylim(ends[0] - room, ends[1] + room)
    above.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    above.yaxis.set_major_formatter(FuncFormatter(lambda power, _: power_of_ten(round(power))))
    below.set_ylim(0.0, top)
    round_numbers(below.yaxis, most=5)
    for axes in (above, below):
        axes.set_xlim(0.0, 1.02 * curve.total_rows)
        _number_rows(axes.xaxis)


def _number_rows(axis: Axis) -> None:
    """Put whole numbers of rows on an axis."""
    axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10], integer=True))
    axis.set_major_formatter(FuncFormatter(lambda value, _: rows_in_short(round(value))))


def power_of_ten(power: int) -> str:
    """Return 10 to a power as an axis has it."""
    if -3 <= power <= 3:
        return f"{10.0**power:,g}"
    return f"10{str(power).translate(_SUPERSCRIPTS)}"


def rows_in_short(rows: int) -> str:
    """Return a number of rows with its unit, and no digit lost."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if rows >= (10 * size if size == 10**3 else size):
            return f"{rows / size:.10g}{unit}"
    return f"{rows:,}"
