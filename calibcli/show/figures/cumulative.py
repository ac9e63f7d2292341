"""Drawing cumulative differences."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.show.figures.axes import dress, number_ticks
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import Entry, Panel, Sheet, Words, inches_of, inches_wide, new_page
from calibcli.stats.curves.cumulative import CumulativeCurve
from calibcli.stats.curves.limits import Spread

SHARE_LABEL = "share of {}, in ascending order of score"
SUM_LABEL = "sum of (label - score) / {}"
_SHEET = Sheet(aspect=0.68, strip=False, headings=("",), square=False)
_TRIANGLE = 0.05
# Where Kuiper's bracket stands, and where the axis ends.
_BRACKET, _END = 1.045, 1.07
_SCORE_SIZE, _TICK, _NAME = 7.0, 3.0, 14.0
# A score is written with as few decimals as leave its place within this share of the rows.
_NEAR = 0.02
_MOST_DECIMALS = 8
# And may lie this part of the scores' range beyond them, as 0 does below scores from 0.0003 to 1.
_SLACK = 0.01
# A score that many rows share is itself, and is rounded to this part of the scores' range.
_FINE = 0.0025


def cumulative_figure(curve: CumulativeCurve, words: Words, look: Look) -> Figure:
    """Draw the path of the sums of label - score."""
    page = new_page(words, _notes(curve), look, sheet=_SHEET, key=_key(curve, look))
    panel = page.panels[0]
    of = "weight" if curve.weighted else "rows"
    dress(panel, x_label=SHARE_LABEL.format(of), y_label=SUM_LABEL.format(of))
    number_ticks(panel.main)
    panel.main.set_xlim(-0.012, _END)
    panel.main.set_ylim(*_ends(curve))
    draw_path(panel, curve)
    write_scores(panel, curve.spread)
    return page.figure


def draw_path(panel: Panel, curve: CumulativeCurve) -> None:
    """Draw the path, the triangle at the origin, and how far KS and Kuiper reach."""
    axes, look, palette = panel.main, panel.look, panel.look.palette
    axes.axhline(0.0, **look.dashed, zorder=2.0)
    if curve.deviation > 0.0:
        reach = 2.0 * curve.deviation
        axes.fill([0.0, 0.0, _TRIANGLE], [-reach, reach, 0.0], **_triangle(look), zorder=1.0)
    far = curve.farthest
    # Vertical distances with a bar at both ends.
    bars = {"marker": "_", "markersize": look.points(7.0), "markeredgewidth": look.points(1.6)}
    for place, ends, colour in (
        (float(curve.share[far]), (0.0, float(curve.value[far])), _sign_colour(curve, look)),
        (_BRACKET, curve.range, palette.faint),
    ):
        axes.plot([place, place], ends, **{**look.stroke(colour, 1.6), **bars}, zorder=2.5)
    ink = look.stroke(palette.ink, 1.2)
    axes.plot(curve.share, curve.value, **ink, solid_joinstyle="round", zorder=3.0)


def write_scores(panel: Panel, spread: Spread) -> None:
    """Put scores along the top of axes of shares, as many as have room."""
    axes, look, palette = panel.main, panel.look, panel.look.palette
    size, across = look.points(_SCORE_SIZE), inches_wide(axes)
    low, high = axes.get_xlim()
    top = axes.get_ylim()[1]
    style: dict[str, Any] = {"color": palette.faint, "linewidth": look.points(0.7), "clip_on": False}
    axes.plot([0.0, 1.0], [top, top], marker="", **style)
    _write_above(panel, "score", 0.0, left=look.points(_NAME))
    taken = [(-np.inf, -low / (high - low) * across - look.points(_NAME) / 72.0)]
    for share, text in _scores(spread):
        place = (share - low) / (high - low) * across
        half = 0.5 * inches_of(text, size) + look.inches(0.04)
        if any(place - half < right and place + half > left for left, right in taken):
            continue
        taken.append((place - half, place + half))
        axes.plot([share], [top], linestyle="", marker=2, markersize=look.points(_TICK), **style)
        _write_above(panel, text, share)


def _write_above(panel: Panel, text: str, share: float, *, left: float | None = None) -> None:
    """Write a score over its place, or, so many points to the left of it, what the numbers are."""
    axes, look = panel.main, panel.look
    ha, colour = ("center", look.palette.ink) if left is None else ("right", look.palette.faint)
    axes.annotate(
        text, (share, axes.get_ylim()[1]), (-(left or 0.0), look.points(_TICK + 2.0)),
        textcoords="offset points", ha=ha, va="bottom", annotation_clip=False,
        **look.letters(colour, look.points(_SCORE_SIZE)),
    )  # fmt: skip


def _scores(spread: Spread) -> list[tuple[float, str]]:
    """Return where scores stand among the rows, with their text; those that must be seen first."""
    found: list[tuple[float, str]] = []
    for share in (0.0, 1.0, 0.5, 0.25, 0.75, 0.1, 0.9, 0.2, 0.8, 0.4, 0.6, 0.3, 0.7):
        place, text = _rounded(spread, share)
        if all(text != other for _, other in found):
            found.append((place, text))
    return found


def _rounded(spread: Spread, share: float) -> tuple[float, str]:
    """Return a score near a share of the rows with few decimals, and where exactly it stands."""
    exact = spread.at(share)
    slack = _SLACK * float(spread.score[-1] - spread.score[0])
    below, upto = spread.around(exact)
    if upto - below > 2.0 * _NEAR:
        return 0.5 * (below + upto), _shared(exact, _FINE / _SLACK * slack)
    for decimals in range(1, _MOST_DECIMALS + 1):
        score = round(exact, decimals)
        below, upto = spread.around(score)
        inside = spread.score[0] - slack <= score <= spread.score[-1] + slack
        if decimals == _MOST_DECIMALS or (inside and below - _NEAR <= share <= upto + _NEAR):
            break
    return 0.5 * (below + upto), np.format_float_positional(score, trim="-")


def _shared(score: float, room: float) -> str:
    """Return a score that many rows share, with as few decimals as leave it within some room of itself."""
    told = (round(score, decimals) for decimals in range(1, _MOST_DECIMALS))
    kept = (one for one in told if abs(one - score) <= room and (one in {0.0, 1.0}) == (score in {0.0, 1.0}))
    return np.format_float_positional(next(kept, score), precision=_MOST_DECIMALS, trim="-")


def _ends(curve: CumulativeCurve) -> tuple[float, float]:
    """Return how much of the y axis holds the path and the triangle."""
    low, high = curve.range
    reach = 2.0 * curve.deviation
    low, high = min(low, -reach), max(high, reach)
    room = 0.05 * (high - low)
    return (low - room, high + room) if high > low else (-1.0, 1.0)


def _sign_colour(curve: CumulativeCurve, look: Look) -> str:
    return look.palette.too_low if curve.value[curve.farthest] >= 0.0 else look.palette.too_high


def _notes(curve: CumulativeCurve) -> list[str]:
    slope = (
        "Where the path rises scores are too low, where it falls too high: its slope over some rows is their "
        "mean of label - score."
    )
    notes = [slope]
    if curve.deviation > 0.0:
        notes.append(
            "Triangle: how far chance alone would take the last point, two standard deviations of"
            f" {curve.deviation:.2g} to either side."
        )
        if not curve.weighted:
            notes.append("KS and Kuiper are the lengths of their bars in such standard deviations.")
    return notes


def _key(curve: CumulativeCurve, look: Look) -> list[Entry]:
    palette = look.palette
    entries: list[Entry] = [
        (Line2D([], [], **look.stroke(palette.ink, 1.2)), "cumulative difference"),
        (_mark(_sign_colour(curve, look), look), "farthest from zero (KS)"),
        (_mark(palette.faint, look), "range (Kuiper)"),
    ]
    if curve.deviation > 0.0:
        entries.append((Patch(**_triangle(look)), "noise by chance"))
    return entries


def _triangle(look: Look) -> dict[str, Any]:
    palette = look.palette
    return {"facecolor": palette.band, "edgecolor": palette.edge, "linewidth": look.points(0.8)}


def _mark(colour: str, look: Look) -> Line2D:
    return Line2D([], [], **look.dots(colour, 9.0, "|"), markeredgewidth=look.points(1.6))
