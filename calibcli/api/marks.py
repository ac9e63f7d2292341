"""The values of a picture, each with the place where it is drawn."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.curves.cumulative import CumulativeCurve
from calibcli.curves.decision import DecisionCurve
from calibcli.curves.isotonic import IsotonicCurve
from calibcli.curves.map import MapCurve
from calibcli.curves.monitor import MonitorCurve
from calibcli.curves.murphy import MurphyCurve
from calibcli.curves.panels import CurvePanels
from calibcli.curves.picture import Picture
from calibcli.curves.reliability import BinnedCurve, ReliabilityCurve, SmoothCurve
from calibcli.curves.residual import ResidualCurve
from calibcli.figures.inline import Place
from calibcli.picture_names import PlotKind
from calibcli.render.words import between, count, four
from calibcli.table.score_table import Floats

# A reader steps through this many values of one curve, not through thousands.
MOST = 25
_MOST_OF_A_PANEL = 12


@dataclass(frozen=True, slots=True)
class Mark:
    """
    A value.

    Args:
        place: Where it is drawn.

        cells: What it is, one text for each column.
    """

    place: Place
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """
    The values of a picture.

    Args:
        columns: What they are called.

        marks: From left to right, panel by panel.
    """

    columns: tuple[str, ...]
    marks: tuple[Mark, ...]

    def words(self, mark: Mark) -> str:
        """Return a value in one line."""
        return ", ".join(f"{name} {cell}" for name, cell in zip(self.columns, mark.cells, strict=True))


def marks_of(picture: Picture) -> Marks:  # noqa: PLR0911 - one return for each picture
    """
    Return the values of a picture; evenly spread ones of a curve that has many, none where no page has it.

    Args:
        picture: What is drawn.
    """
    match picture:
        case ReliabilityCurve():
            return _of_curve(picture, 0, most=MOST)
        case IsotonicCurve():
            return _of_isotonic(picture)
        case CumulativeCurve():
            return _of_cumulative(picture)
        case ResidualCurve():
            return _of_residual(picture)
        case MapCurve():
            return _of_map(picture)
        case CurvePanels():
            return _of_panels(picture)
        case MurphyCurve() | DecisionCurve() | MonitorCurve():
            return Marks((), ())


def _of_curve(curve: ReliabilityCurve, panel: int, *, most: int) -> Marks:
    """Return the points of bins, or some of a curve without."""
    if curve.kind is PlotKind.BINNED or curve.smooth is None:
        return _of_bins(curve.binned, panel, most=most)
    return _of_smooth(curve.smooth, panel, most=most)


def _of_bins(bins: BinnedCurve, panel: int, *, most: int) -> Marks:
    columns = ("scores", "rows", "mean score", "observed rate", "interval of the rate")
    marks = tuple(
        Mark(
            Place(panel, float(bins.score[k]), float(bins.rate[k])),
            (
                _range(float(bins.lower[k]), float(bins.upper[k])),
                count(int(bins.rows[k])),
                four(float(bins.score[k])),
                four(float(bins.rate[k])),
                between(float(bins.rate_lower[k]), float(bins.rate_upper[k])),
            ),
        )
        for k in _some(bins.score, most)
    )
    return Marks(columns, marks)


def _of_smooth(curve: SmoothCurve, panel: int, *, most: int) -> Marks:
    columns = ("mean score", "observed rate", "band of the rate")
    marks = tuple(
        Mark(
            Place(panel, float(curve.x[k]), float(curve.y[k])),
            (
                four(float(curve.x[k])),
                four(float(curve.y[k])),
                between(float(curve.lower[k]), float(curve.upper[k])),
            ),
        )
        for k in _some(curve.x, most)
    )
    return Marks(columns, marks)


def _of_isotonic(curve: IsotonicCurve) -> Marks:
    columns = ("score", "isotonic rate", "band if calibrated")
    marks = tuple(
        Mark(
            Place(0, float(curve.at[k]), float(curve.level[k])),
            (
                four(float(curve.at[k])),
                four(float(curve.level[k])),
                between(float(curve.lower[k]), float(curve.upper[k])),
            ),
        )
        for k in _some(curve.at)
    )
    return Marks(columns, marks)


def _of_cumulative(curve: CumulativeCurve) -> Marks:
    columns = ("share of rows", "up to score", "sum of label less score")
    low, high = int(np.argmin(curve.value)), int(np.argmax(curve.value))
    marks = tuple(
        Mark(
            Place(0, float(curve.share[k]), float(curve.value[k])),
            (
                four(float(curve.share[k])),
                four(curve.spread.at(float(curve.share[k]))),
                four(float(curve.value[k])),
            ),
        )
        for k in sorted({*_some(curve.share), low, high})
    )
    return Marks(columns, marks)


def _of_residual(curve: ResidualCurve) -> Marks:
    columns = ("mean score", "observed rate less score", "interval")
    marks = tuple(
        Mark(
            Place(0, float(curve.score[k]), float(curve.residual[k])),
            (
                four(float(curve.score[k])),
                four(float(curve.residual[k])),
                between(float(curve.lower[k]), float(curve.upper[k])),
            ),
        )
        for k in _some(curve.score)
    )
    return Marks(columns, marks)


def _of_map(curve: MapCurve) -> Marks:
    columns = ("raw score", "recalibrated", "ends")
    places = [int(one) for one in curve.marks] or _some(curve.score)
    marks = tuple(
        Mark(
            Place(0, float(curve.score[k]), float(curve.output[k])),
            (
                four(float(curve.score[k])),
                four(float(curve.output[k])),
                between(float(curve.lower[k]), float(curve.upper[k])),
            ),
        )
        for k in places
    )
    return Marks(columns, marks)


def _of_panels(picture: CurvePanels) -> Marks:
    """Return some values of each panel, with its name first."""
    what = {PlotKind.CLASSES: "class", PlotKind.GROUPS: "group"}.get(picture.kind, "of")
    columns: tuple[str, ...] = ()
    marks: list[Mark] = []
    for place, panel in enumerate(picture.panels):
        found = _of_curve(panel.curve, place, most=_MOST_OF_A_PANEL)
        columns = (what, *found.columns)
        marks += [Mark(one.place, (panel.name, *one.cells)) for one in found.marks]
    return Marks(columns, tuple(marks))


def _some(values: Floats, most: int = MOST) -> list[int]:
    """Return so many positions at most, with values evenly spread, both ends among them; none of NaN."""
    known = np.flatnonzero(~np.isnan(values))
    if known.size <= most:
        return [int(one) for one in known]
    seen = values[known]
    wanted = np.linspace(float(seen[0]), float(seen[-1]), most)
    found = np.minimum(np.searchsorted(seen, wanted), seen.size - 1)
    return [int(one) for one in known[np.unique(found)]]


def _range(lower: float, upper: float) -> str:
    return four(lower) if math.isclose(lower, upper, abs_tol=0.0) else f"{four(lower)} to {four(upper)}"
