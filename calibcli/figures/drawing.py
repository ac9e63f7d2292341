"""The one match from what was computed to the figure that shows it."""

from matplotlib.figure import Figure

from calibcli.curves.cumulative import CumulativeCurve
from calibcli.curves.decision import DecisionCurve
from calibcli.curves.isotonic import IsotonicCurve
from calibcli.curves.map import MapCurve
from calibcli.curves.monitor import MonitorCurve
from calibcli.curves.murphy import MurphyCurve
from calibcli.curves.panels import CurvePanels
from calibcli.curves.picture import Picture
from calibcli.curves.reliability import ReliabilityCurve
from calibcli.curves.residual import ResidualCurve
from calibcli.errors import UsageProblem
from calibcli.figures.binned import binned_figure
from calibcli.figures.cumulative import cumulative_figure
from calibcli.figures.decision import decision_figure
from calibcli.figures.isotonic import isotonic_figure
from calibcli.figures.look import Look, look_of
from calibcli.figures.map import map_figure
from calibcli.figures.monitor import monitor_figure
from calibcli.figures.murphy import murphy_figure
from calibcli.figures.panels import panels_figure
from calibcli.figures.residual import residual_figure
from calibcli.figures.sheet import Words
from calibcli.figures.smooth import smooth_figure
from calibcli.picture_names import AxisScale, PlotKind


def figure_of(  # noqa: PLR0911 - one return a picture
    picture: Picture, words: Words, *, look: Look | None = None, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """
    Draw a picture.

    Args:
        picture: What a task computed.

        words: Title, caption, and small print to add to the picture's own.

        look: Size and colours; a page on white by default.

        scale: How axes of scores are laid out.

    Raises:
        UsageProblem: If the picture lacks what its kind shows.
    """
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
        case DecisionCurve():
            return decision_figure(picture, words, look=look, scale=scale)
        case MonitorCurve():
            return monitor_figure(picture, words, look=look)
        case CurvePanels():
            return panels_figure(picture, words, look=look, scale=scale)


def _reliability(curve: ReliabilityCurve, words: Words, *, look: Look, scale: AxisScale) -> Figure:
    if curve.kind is PlotKind.BINNED:
        return binned_figure(curve.binned, words, look=look, confidence=curve.confidence, scale=scale)
    if curve.smooth is None:
        msg = "there is no smooth curve to draw"
        raise UsageProblem(msg, "pass --kind binned")
    return smooth_figure(curve.smooth, words, look=look, confidence=curve.confidence, scale=scale)
