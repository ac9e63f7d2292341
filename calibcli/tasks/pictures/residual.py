"""Residuals against the score: from files or from the report that `measure` wrote."""

from calibcli.curves.residual import residual_curve
from calibcli.names import MeasureName
from calibcli.picture_names import PlotKind
from calibcli.tasks.pictures.diagram import Diagram, Drawn, PlotRequest
from calibcli.tasks.pictures.reliability import Measured, caption_of, diagram_of_measured


def residual_diagram(request: PlotRequest) -> Diagram:
    """
    Measure files for a diagram of residuals, or take it from a report.

    Points stand for bins where the score takes few values or bins were asked for; else there is a curve.

    Args:
        request: What was asked.

    Raises:
        UsageProblem: If something is asked of a report that only a measurement can answer.

        CalibcliError: For input that cannot be measured.
    """
    asked = request.options.bins is not None or request.options.binning is not None
    return diagram_of_measured(
        request, lambda measured: residual_drawn(measured, by_bins=asked), also=(MeasureName.BIAS,)
    )


def residual_drawn(measured: Measured, *, by_bins: bool) -> Drawn:
    """
    Return the picture of what was measured.

    Args:
        measured: The report.

        by_bins: Whether points stand for bins although there is a curve.
    """
    by_bins = by_bins or measured.discrete or measured.curve.smooth is None
    error, *rest = caption_of(measured.tree, PlotKind.BINNED if by_bins else PlotKind.SMOOTH)
    return Drawn(residual_curve(measured.curve, by_bins=by_bins), (error, *_bias(measured), *rest))


def _bias(measured: Measured) -> list[str]:
    """Return calibration in the large, where it was measured."""
    bias = measured.tree.child("measures").members().get(MeasureName.BIAS.value)
    if bias is None:
        return []
    bounds = ""
    if bias.optional("lower") is not None and bias.optional("upper") is not None:
        bounds = f"  [{bias.child('lower').number():+.4f}, {bias.child('upper').number():+.4f}]"
    return [f"Mean label - mean score {bias.child('value').number():+.4f}{bounds}"]
