"""The gallery's picture: every map on one page."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibcli.stats.curves.reliability import BinnedCurve
from calibcli.stats.recalibrators import Recalibrator

ACROSS, DOWN = 4, 3
INK, FAINT, MAP, DOTS = "#1a1a1a", "#b5b5b5", "#0072B2", "#E69F00"


@dataclass(frozen=True, slots=True)
class Panel:
    """One map.

    Args:
        recalibrator: The map.

        caption: What stands under its name.
    """

    recalibrator: Recalibrator
    caption: str


def draw_maps(panels: Sequence[Panel], observed: BinnedCurve, *, title: str, path: Path) -> None:
    """Draw each map from raw score to recalibrated probability over the observed rates.

    Args:
        panels: The maps, in order.

        observed: Rates in bins of the raw score, of rows that no fit saw.

        title: What stands above.

        path: Where the PNG goes.
    """
    with mpl.rc_context({"font.family": "DejaVu Sans", "font.size": 8}):
        figure = Figure(figsize=(9.6, 7.9), dpi=100, facecolor="white", layout="constrained")
        figure.suptitle(title, fontsize=9.5, color=INK)
        places = figure.subplots(DOWN, ACROSS, sharex=True, sharey=True).ravel()
        for axes, panel in zip(places, panels, strict=True):
            _draw_map(axes, panel, observed)
        figure.supxlabel("raw score", fontsize=9)
        figure.supylabel("recalibrated probability (line), observed rate (dots)", fontsize=9)
        figure.savefig(path, metadata={"Software": None})


def _draw_map(axes: Axes, panel: Panel, observed: BinnedCurve) -> None:
    scores = np.linspace(0.0, 1.0, 4001)
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=0.8, zorder=1)
    margin = np.array([observed.rate - observed.rate_lower, observed.rate_upper - observed.rate])
    axes.errorbar(
        observed.score, observed.rate, margin, fmt="o", color=DOTS, markersize=3.2, linewidth=1.0, zorder=2
    )
    axes.plot(scores, panel.recalibrator.predict(scores), color=MAP, linewidth=1.3, zorder=3)
    axes.set_title(panel.recalibrator.name.value, fontsize=9.5, fontweight="bold", color=INK, pad=4)
    axes.text(0.04, 0.965, panel.caption, transform=axes.transAxes, fontsize=7.5, color=INK, va="top")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_aspect("equal")
    axes.set_xticks([0, 0.5, 1])
    axes.set_yticks([0, 0.5, 1])
    axes.spines[["top", "right"]].set_visible(False)
