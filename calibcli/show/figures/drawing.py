"""The one match from what was computed to the figure that shows it."""

from matplotlib.figure import Figure

from calibcli.errors import UsageProblem
from calibcli.names import AxisScale, PlotKind
from calibcli.show.figures.clinical import clinical_figure
from calibcli.show.figures.cumulative import cumulative_figure
from calibcli.show.figures.isotonic import isotonic_figure
from calibcli.show.figures.look import Look, look_of
from calibcli.show.figures.map import map_figure
from calibcli.show.figures.monitor import monitor_figure
from calibcli.show.figures.page import Words
from calibcli.show.figures.panels import panels_figure
from calibcli.show.figures.reliability import binned_figure, residual_figure, smooth_figure
from calibcli.show.figures.risk_coverage import risk_coverage_figure
from calibcli.show.figures.segments import cells_figure, points_figure
from calibcli.show.figures.thresholds import decision_figure, murphy_figure
from calibcli.show.figures.trend import trend_figure
from calibcli.stats.curves.clinical import ClinicalCurve
from calibcli.stats.curves.cumulative import CumulativeCurve
from calibcli.stats.curves.isotonic import IsotonicCurve
from calibcli.stats.curves.map import MapCurve
from calibcli.stats.curves.monitor import MonitorCurve
from calibcli.stats.curves.picture import Picture
from calibcli.stats.curves.reliability import CurvePanels, ReliabilityCurve, ResidualCurve
from calibcli.stats.curves.risk_coverage import RiskCoverageCurve
from calibcli.stats.curves.segments import SegmentCells, SegmentPoints
from calibcli.stats.curves.thresholds import DecisionCurve, MurphyCurve
from calibcli.stats.curves.trend import TrendCurve


def figure_of(  # noqa: PLR0911, PLR0912, C901 - one return a picture
    picture: Picture, words: Words, *, look: Look | None = None, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """Draw a picture."""
    look = look or look_of()
    match picture:
        case ReliabilityCurve():
            return _reliability(picture, words, look=look, scale=scale)
        case IsotonicCurve():
            return isotonic_figure(picture, words, look=look, scale=scale)
        case CumulativeCurve():
            return cumulative_figure(picture, words, look=look)
        case ResidualCurve():
            return residual_figure(picture, words, look=look, scale=scale)
        case MapCurve():
            return map_figure(picture, words, look=look, scale=scale)
        case MurphyCurve():
            return murphy_figure(picture, words, look=look, scale=scale)
        case RiskCoverageCurve():
            return risk_coverage_figure(picture, words, look=look)
        case DecisionCurve():
            return decision_figure(picture, words, look=look, scale=scale)
        case ClinicalCurve():
            return clinical_figure(picture, words, look=look, scale=scale)
        case MonitorCurve():
            return monitor_figure(picture, words, look=look)
        case TrendCurve():
            return trend_figure(picture, words, look=look)
        case SegmentPoints():
            return points_figure(picture, words, look=look)
        case SegmentCells():
            return cells_figure(picture, words, look=look)
        case CurvePanels():
            return panels_figure(picture, words, look=look, scale=scale)


def _reliability(curve: ReliabilityCurve, words: Words, *, look: Look, scale: AxisScale) -> Figure:
    if curve.kind is PlotKind.BINNED:
        return binned_figure(curve.binned, words, look=look, confidence=curve.confidence, scale=scale)
    if curve.smooth is None:
        msg = "there is no smooth curve to draw"
        raise UsageProblem(msg, "pass --kind binned")
    return smooth_figure(curve.smooth, words, look=look, confidence=curve.confidence, scale=scale)
