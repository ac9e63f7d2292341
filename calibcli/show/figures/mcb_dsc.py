"""Drawing scores by miscalibration and discrimination, with lines of equal mean score."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from calibcli.names import GAVE_ZERO, MeasureName
from calibcli.show.figures.axes import dress, number_ticks
from calibcli.show.figures.look import Look
from calibcli.show.figures.page import (
    COUNT,
    KEY,
    Box,
    Entry,
    Panel,
    Sheet,
    Words,
    inches_high,
    inches_of,
    inches_wide,
    meets,
    new_page,
    printable,
    told_apart,
)
from calibcli.show.words import capital
from calibcli.stats.curves.isotonic import McbDsc

_SHEET = Sheet(aspect=0.85, strip=False, square=False)
_WORDS = {MeasureName.BRIER: "Brier score", MeasureName.LOG_LOSS: "log loss"}

# Room beyond the farthest point, as a part of the axis, and about how many lines of equal scores there are.
_ROOM, _LINES = 0.12, 7

# A name is tried at so many distances from its point, in heights of its letters, and as long as this part of
# the axes.
_AWAY, _LONGEST = (0.9, 1.7, 2.8, 4.2), 0.4


def mcb_dsc_figure(picture: McbDsc, words: Words, look: Look) -> Figure:
    ends = _ends(picture.mcb), _ends(picture.dsc)
    page = new_page(words, _notes(picture), look, sheet=_SHEET, key=_key(picture, look))
    axes = page.main
    dress(page.panels[0], x_label="miscalibration (MCB)", y_label="discrimination (DSC)")
    number_ticks(axes)
    axes.set_xlim(-0.02 * ends[0], ends[0])
    axes.set_ylim(-0.02 * ends[1], ends[1])
    panel = page.panels[0]
    taken = list(_draw_lines(panel, picture, ends))
    at = _draw_points(panel, picture, ends)
    _write_names(panel, picture.names, at, taken)
    return page.figure


def _ends(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return where an axis ends: beyond the farthest point, or at something where all are at 0."""
    return (1.0 + _ROOM) * float(values[np.isfinite(values)].max(initial=0.0)) or 0.01


def _beyond(picture: McbDsc) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return which scores are more miscalibrated than chance explains; unknown counts as such."""
    return np.asarray(~(picture.mcb <= picture.by_chance))


def _key(picture: McbDsc, look: Look) -> list[Entry]:
    beyond, known = _beyond(picture), bool(np.all(~np.isnan(picture.by_chance)))
    entries: list[Entry] = []
    if beyond.any():
        name = "miscalibrated beyond chance (95 %)" if known else "score"
        entries.append((Line2D([], [], **_dot(look, full=True)), name))
    if not beyond.all():
        entries.append((Line2D([], [], **_dot(look, full=False)), "within chance"))
    word = _WORDS[picture.measure]
    line = Line2D([], [], **_line(look))
    entries.append((line, f"equal {word}" if picture.one_base else f"equal {word} less UNC"))
    unc = f" (UNC {picture.unc[0]:.4g})" if picture.one_base else ""
    return [*entries, (Line2D([], [], **look.dashed), f"base rate alone{unc}")]


def _notes(picture: McbDsc) -> list[str]:
    word = _WORDS[picture.measure]
    parts = (
        "MCB: what isotonic recalibration of these rows would save. DSC: what it then saves against the base "
        "rate. UNC: the score of the base rate."
    )
    # Where base rates differ, the lowest score may be that of the easiest rows.
    by = f" (lower {word})" if picture.one_base else ", each against its own base rate,"
    better = (
        f"Better forecasts{by} lie further left and up. MCB and DSC grow with noise and have no intervals; "
        "`compare` says which scores differ."
    )
    notes = [f"{capital(word)} = MCB - DSC + UNC. {parts}", better]
    pairs = zip(picture.names, picture.mcb, strict=True)
    infinite = [printable(name) for name, mcb in pairs if np.isinf(mcb)]
    if infinite:
        listed = ", ".join(infinite)
        notes.append(f"Triangles at the right end: infinite, as some rows {GAVE_ZERO} ({listed}).")
    return notes


def _draw_lines(panel: Panel, picture: McbDsc, ends: tuple[float, float]) -> Iterator[Box]:
    """Draw lines of equal scores and write each score where its line leaves; yield where these stand."""
    axes, look = panel.main, panel.look
    base = float(picture.unc[0]) if picture.one_base else 0.0
    low, high = base - ends[1], base + ends[0]
    scores = MaxNLocator(nbins=_LINES, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    gap = float(scores[1] - scores[0])
    axes.plot([0.0, 2.0 * max(ends)], [0.0, 2.0 * max(ends)], **look.dashed, zorder=1.5)
    across, size = np.array([-1.0, 2.0 * max(ends)]), look.points(COUNT)
    wide, high_inches = inches_wide(axes), inches_high(axes)
    for score in scores:
        # A number beside that of the base rate says nothing.
        if not low < score < high or abs(score - base) < 0.2 * gap:
            continue
        axes.plot(across, across + base - score, **_line(look), zorder=1.0)
        # On its way right and up it leaves at the right end or at the upper one.
        x = min(ends[0], ends[1] - (base - score))
        y = x + base - score
        name = f"{round(float(score), 10):.6g}"
        half, tall = 0.5 * inches_of(name, size) + 0.02, 0.5 * size / 72.0
        place = (
            min(x / ends[0] * wide, wide - half) - 0.6 * half,
            min(y / ends[1] * high_inches, high_inches - tall) - 0.6 * tall,
        )
        left = max(place[0], half + look.inches(0.04))
        if place[1] < 2.0 * tall or left > place[0] + half:
            continue
        _write(panel, (left, place[1]), name, size=size, colour=look.palette.faint)
        yield left - half, place[1] - tall, left + half, place[1] + tall


def _draw_points(panel: Panel, picture: McbDsc, ends: tuple[float, float]) -> list[tuple[float, float]]:
    """Draw the points; return where they stand, in inches from the lower left corner of the axes."""
    axes, look = panel.main, panel.look
    wide, high = inches_wide(axes), inches_high(axes)
    found = []
    for mcb, dsc, full in zip(picture.mcb.tolist(), picture.dsc.tolist(), _beyond(picture), strict=True):
        x = min(mcb, 0.985 * ends[0])
        style = {**_dot(look, full=full), **({"marker": ">"} if np.isinf(mcb) else {})}
        axes.plot([x], [dsc], **style, zorder=4.0, clip_on=False)
        found.append(((x / ends[0] + 0.02) / 1.02 * wide, (dsc / ends[1] + 0.02) / 1.02 * high))
    return found


def _write_names(
    panel: Panel, names: Sequence[str], at: Sequence[tuple[float, float]], taken: list[Box]
) -> None:
    """Write each name beside its point where nothing else stands, with a thin line to it where it is far."""
    axes, look = panel.main, panel.look
    size = look.points(KEY)
    wide, high = inches_wide(axes), inches_high(axes)
    tall, dot = 0.5 * 1.15 * size / 72.0, look.points(3.5) / 72.0
    taken = [*taken, *((x - dot, y - dot, x + dot, y + dot) for x, y in at)]
    for text, (x, y) in zip(told_apart(names, size, [_LONGEST * wide] * len(names)), at, strict=True):
        half = 0.5 * inches_of(text, size) + 0.2 * size / 72.0
        found = next(
            (
                (place, far)
                for place, far in _places((x, y), half, tall)
                if _inside(box := _around(place, half, tall), wide, high) and not meets(box, taken)
            ),
            None,
        )
        if found is None:
            continue
        place, far = found
        taken.append(_around(place, half, tall))
        if far:
            ends = np.array([(x, y), (float(np.clip(x, place[0] - half, place[0] + half)), place[1])])
            faint = look.stroke(look.palette.faint, 0.5)
            axes.plot(*(ends / (wide, high)).T, transform=axes.transAxes, **faint, zorder=3.0)
        _write(panel, place, text, size=size, colour=look.palette.ink)


def _places(at: tuple[float, float], half: float, tall: float) -> Iterator[tuple[tuple[float, float], bool]]:
    """Yield middles of a name about a point, the nearest first, and whether it needs a line to the point."""
    x, y = at
    for away in _AWAY:
        step = 2.0 * away * tall
        beside = half + step
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)):
            across = beside if up == 0 else 0.6 * half + step
            place = x + right * across, y + up * (step + 0.6 * tall)
            yield place, away > _AWAY[0]


def _around(place: tuple[float, float], half: float, tall: float) -> Box:
    x, y = place
    return x - half, y - tall, x + half, y + tall


def _inside(box: Box, wide: float, high: float) -> bool:
    return box[0] >= 0.0 and box[1] >= 0.0 and box[2] <= wide and box[3] <= high


def _write(panel: Panel, place: tuple[float, float], text: str, *, size: float, colour: str) -> None:
    """Write a line with its middle at a place in inches."""
    axes, look = panel.main, panel.look
    axes.text(
        place[0] / inches_wide(axes), place[1] / inches_high(axes), text, transform=axes.transAxes,
        ha="center", va="center", **look.letters(colour, size), zorder=5.0,
        bbox={"facecolor": look.palette.paper, "edgecolor": "none", "pad": 0.0, "alpha": 0.8},
    )  # fmt: skip


def _line(look: Look) -> dict[str, Any]:
    return look.stroke(look.palette.line, 0.6)


def _dot(look: Look, *, full: bool) -> dict[str, Any]:
    colour = look.palette.series[0]
    return {**look.rings(colour, 5.5, 1.2), **({"markerfacecolor": colour} if full else {})}
