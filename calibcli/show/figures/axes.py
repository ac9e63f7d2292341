"""Axes in the house's dress, whatever the user's matplotlibrc says."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from calibcli.names import AxisScale
from calibcli.show.figures.look import FONT, Look
from calibcli.show.figures.page import LABEL, TICK, Panel, inches_of, inches_wide
from calibcli.show.words import number_text
from calibcli.stats.curves.limits import numbers_by_log_odds, with_margin

SCORE_LABEL = "score (predicted probability)"
RATE_LABEL = "observed rate of label 1"

# Room beside axes into which numbers may reach, and where the name of a y axis stands, in inches on a page of
# scale 1.
_BESIDE, _LABEL_AT = 0.2, 0.575


def dress(
    panel: Panel, *, x_label: str = SCORE_LABEL, y_label: str = RATE_LABEL, strip_label: str = "rows"
) -> None:
    """Dress a panel: outer axes are named, inner ones of a grid have neither names nor numbers."""
    below = x_label if panel.last else None
    lowest = panel.main if panel.strip is None else panel.strip
    for axes, label in ((panel.main, y_label), (panel.strip, strip_label)):
        if axes is not None:
            _dress(axes, panel.look, below if axes is lowest else None, label if panel.first else None)


def _dress(axes: Axes, look: Look, x_label: str | None, y_label: str | None) -> None:
    palette = look.palette
    axes.set_facecolor(palette.paper)
    axes.grid(visible=False)
    axes.minorticks_off()
    for side, spine in axes.spines.items():
        spine.set(visible=side in {"left", "bottom"}, color=palette.faint, linewidth=look.points(0.7))
    axes.tick_params(
        which="both",
        direction="out",
        length=look.points(3.0),
        width=look.points(0.7),
        pad=look.points(3.5),
        color=palette.faint,
        labelcolor=palette.ink,
        labelsize=look.points(TICK),
        labelfontfamily=FONT,
        top=False,
        right=False,
        labelbottom=x_label is not None,
        labelleft=y_label is not None,
    )
    for axis, label in ((axes.xaxis, x_label), (axes.yaxis, y_label)):
        axis.set_label_text(label or "", **look.letters(palette.ink, look.points(LABEL)))
    axes.yaxis.set_label_coords(-look.inches(_LABEL_AT) / inches_wide(axes), 0.5)


def number_ticks(axes: Axes) -> None:
    """Put at most six round numbers on both axes, written without offset or exponent where possible."""
    for axis in (axes.xaxis, axes.yaxis):
        round_numbers(axis)


def round_numbers(axis: Axis, *, most: int = 6) -> None:
    axis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))


def show_limits(panel: Panel) -> None:
    axes, limits = panel.main, panel.limits
    show_scores(axes, limits.x, limits.scale)
    if limits.scale is AxisScale.LOGIT:
        axes.set_yscale("logit", nonpositive="clip")
        axes.set_ylim(_log_odds_ticks(axes.yaxis, limits.y))
    else:
        round_numbers(axes.yaxis)
        axes.set_ylim(with_margin(limits.y))


def show_scores(axes: Axes, ends: tuple[float, float], scale: AxisScale) -> None:
    if scale is AxisScale.LOGIT:
        axes.set_xscale("logit", nonpositive="clip")
        axes.set_xlim(_log_odds_ticks(axes.xaxis, ends))
    else:
        round_numbers(axes.xaxis)
        axes.set_xlim(with_margin(ends))


def _log_odds_ticks(axis: Axis, ends: tuple[float, float]) -> tuple[float, float]:
    """Put powers of ten on an axis laid out by log-odds; return its ends with some room."""
    ticks = numbers_by_log_odds(ends)
    axis.set_major_locator(FixedLocator(_with_room(axis, ticks, ends) if isinstance(axis, XAxis) else ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.7g}"))
    room = 0.012 * (_log_odds(ends[1]) - _log_odds(ends[0]))
    return _chance(_log_odds(ends[0]) - room), _chance(_log_odds(ends[1]) + room)


def _with_room(axis: Axis, ticks: list[float], ends: tuple[float, float]) -> list[float]:
    """Return the ticks whose numbers do not touch each other: 0.5 and outermost ones first."""
    low, high = (_log_odds(end) for end in ends)
    across, size = inches_wide(axis.axes), float(axis.get_major_ticks(1)[0].label1.get_fontsize())
    half_gap = 0.25 * size / 72.0
    taken: list[tuple[float, float]] = []
    kept: list[float] = []
    for tick in sorted(ticks, key=lambda one: (one not in {0.5, ticks[0], ticks[-1]}, -abs(one - 0.5))):
        place = (_log_odds(tick) - low) / (high - low) * across
        half = 0.5 * inches_of(f"{tick:.7g}", size) + half_gap
        if abs(place - 0.5 * across) + half > 0.5 * across + _BESIDE * size / TICK:
            continue
        if all(place + half <= left or place - half >= right for left, right in taken):
            taken.append((place - half, place + half))
            kept.append(tick)
    return sorted(kept)


def _log_odds(chance: float) -> float:
    return float(np.log(chance) - np.log1p(-chance))


def _chance(log_odds: float) -> float:
    return float(1.0 / (1.0 + np.exp(-log_odds)))
