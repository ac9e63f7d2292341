"""Drawing the risk of the rows that are kept against how many they are."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibcli.names import AxisScale
from calibcli.show.figures.axes import round_numbers
from calibcli.show.figures.lines import Reference, lines_figure
from calibcli.show.figures.look import Look, dashed
from calibcli.show.figures.page import Entry, Words
from calibcli.stats.curves import Picture, curves_of
from calibcli.stats.curves.cumulative import RiskCoverageCurve
from calibcli.stats.numerics import Floats
from calibcli.values import dataclass

# A band that reaches farther than this times the highest risk is cut: few rows know little.
_HIGHEST = 1.6

# Risks of the first rows, up to this share of all, do not choose how high the picture is.
_FIRST = 0.02

_RULE = (
    "Rows are kept from the highest score down, equal scores together; risk is the share of label 0 among "
    "them. The area under the curve is the average over all orders of rows with equal scores."
)


def risk_coverage_figure(picture: Picture, words: Words, *, look: Look) -> Figure:
    """Draw the risk against the coverage."""
    return lines_figure(picture, RiskCoverageLines(curves_of(picture, RiskCoverageCurve)), words, look=look)


@dataclass(frozen=True, slots=True)
class RiskCoverageLines:
    """Risk-coverage curves."""

    curves: tuple[RiskCoverageCurve, ...]

    x_label = "coverage: share of rows kept, highest scores first"
    y_label = "risk: share of wrong answers (label 0)"
    own = "kept by score"
    tells = "`compare`"
    beside = "Beside each name: its AURC, the area under its line."
    rule = _RULE

    @property
    def bases(self) -> list[float]:
        """The share of label 0."""
        return [one.base for one in self.curves]

    def points(self, place: int) -> tuple[Floats, Floats]:
        """Return the line of one of them."""
        return self.curves[place].coverage, self.curves[place].risk

    def notes(self, scale: AxisScale) -> list[str]:  # noqa: ARG002 - one shape for all
        """Return nothing: all of it is seen."""
        return []

    def references(self, look: Look, place: int = 0) -> list[Reference]:
        """Return what keeping rows at random gives, and the best order."""
        first, best = self.curves[place], look.stroke(look.palette.series[0], 1.2)
        ends = np.array([0.0, 1.0])
        return [
            Reference("kept at random", ends, np.full(2, first.base), dashed(look)),
            Reference("kept in the best order", first.coverage, first.least, best),
        ]

    def dress(self, axes: Axes, scale: AxisScale, look: Look) -> None:
        """Draw nothing but the band."""

    def key(self, look: Look) -> list[Entry]:  # noqa: ARG002 - one shape for all
        """Return nothing: there are no other marks."""
        return []

    def show(self, axes: Axes, scale: AxisScale) -> None:  # noqa: ARG002 - one shape for all
        """Give axes their ends and numbers."""
        round_numbers(axes.xaxis)
        round_numbers(axes.yaxis)
        axes.set_xlim(-0.012, 1.012)
        axes.set_ylim(0.0, max(_top(one, alone=len(self.curves) == 1) for one in self.curves))


def _top(curve: RiskCoverageCurve, *, alone: bool) -> float:
    """Return the upper end of the axis of risks that a curve needs, with its band where it has one."""
    known = curve.coverage >= min(_FIRST, float(curve.coverage[-1]))
    highest = float(curve.risk[known].max())
    band = float(np.nan_to_num(curve.upper[known]).max()) if alone else 0.0
    return min(1.0, 1.06 * max(highest, min(band, _HIGHEST * highest))) or 0.1
