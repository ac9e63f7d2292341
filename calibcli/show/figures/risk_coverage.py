"""Drawing the risk of the rows that are kept against how many they are."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.show.figures.axes import dress_panel, round_numbers
from calibcli.show.figures.look import Look, band_fill, dashed, draw_edges
from calibcli.show.figures.page import Entry, Words, new_page
from calibcli.show.figures.thresholds import WIDE
from calibcli.stats.curves.limits import band_sentence, has_band
from calibcli.stats.curves.risk_coverage import RiskCoverageCurve

# A band that reaches farther than this times the highest risk is cut: few rows know little.
_HIGHEST = 1.6

# Risks of the first rows, up to this share of all, do not choose how high the picture is.
_FIRST = 0.02

_RULE = (
    "Rows are kept from the highest score down, equal scores together; risk is the share of label 0 among "
    "them. The area under the curve is the average over all orders of rows with equal scores."
)


def risk_coverage_figure(curve: RiskCoverageCurve, words: Words, *, look: Look) -> Figure:
    """Draw the risk against the coverage."""
    foot = [_RULE, band_sentence(curve.band, curve.lower), *words.foot]
    page = new_page(Words(words.title, words.caption, foot), look=look, sheet=WIDE, key=_key(curve, look))
    panel = page.panels[0]
    axes = panel.main
    if has_band(curve.lower):
        axes.fill_between(curve.coverage, curve.lower, curve.upper, **band_fill(look), zorder=0.5)
        draw_edges(axes, curve.coverage, (curve.lower, curve.upper), look=look)
    axes.axhline(curve.base, **dashed(look), zorder=1.5)
    axes.plot(curve.coverage, curve.least, **_best(look), zorder=2.0)
    axes.plot(curve.coverage, curve.risk, **_line(look), zorder=3.0)
    dress_panel(
        page,
        panel,
        x_label="coverage: share of rows kept, highest scores first",
        y_label="risk: share of label 0",
    )
    round_numbers(axes.xaxis)
    round_numbers(axes.yaxis)
    axes.set_xlim(-0.012, 1.012)
    axes.set_ylim(0.0, _top(curve))
    return page.figure


def _top(curve: RiskCoverageCurve) -> float:
    """Return the upper end of the axis of risks."""
    known = curve.coverage >= min(_FIRST, float(curve.coverage[-1]))
    highest = float(curve.risk[known].max())
    band = float(np.nan_to_num(curve.upper[known]).max())
    return min(1.0, 1.06 * max(highest, min(band, _HIGHEST * highest))) or 0.1


def _key(curve: RiskCoverageCurve, look: Look) -> list[Entry]:
    """Return what the marks mean."""
    entries: list[Entry] = [(Line2D([], [], **_line(look)), "kept by score")]
    if has_band(curve.lower):
        entries.append((Patch(**band_fill(look)), f"{100 * curve.confidence:g} % interval"))
    return [
        *entries,
        (Line2D([], [], **dashed(look)), "kept at random"),
        (Line2D([], [], **_best(look)), "kept in the best order"),
    ]


def _line(look: Look) -> dict[str, Any]:
    return {"color": look.palette.ink, "linewidth": look.points(1.6), "marker": ""}


def _best(look: Look) -> dict[str, Any]:
    return {"color": look.palette.series[0], "linewidth": look.points(1.2), "marker": ""}
