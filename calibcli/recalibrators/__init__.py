"""Maps fitted to a table that repair its probabilities, and the one step from a name to a class."""

from typing import Annotated, assert_never, get_args

from calibcli.codec import Node, OneOf
from calibcli.families import Logistic
from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.recalibrators.interface import Recalibrator, WithEnds
from calibcli.table.grid import Table
from calibcli.table.rows import Rows


def fit_recalibrator(
    name: RecalibratorName, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None
) -> Recalibrator:
    """
    Fit the named recalibrator.

    Args:
        name: The method.

        table: The fit rows.

        options: What is asked of the method; it reads its own part.

        rows: The rows behind a grid table, for methods that look at them once more; None to fit its cells.

    Raises:
        InputProblem: If the rows cannot be fitted, or the optimum cannot be reached.

        UsageProblem: If the options ask the impossible of this table.
    """
    fitted, asked = recalibrator_class(name), options or FitOptions()
    if name not in get_args(Logistic):
        return fitted.fit(table, options=asked, rows=rows)
    from calibcli.recalibrators.logistic import unrounded

    return unrounded(lambda part, behind: fitted.fit(part, options=asked, rows=behind), table, rows=rows)


def recalibrator_from_dict(method: RecalibratorName, parameters: Node) -> Recalibrator:
    """
    Restore a fitted recalibrator.

    Raises:
        DocumentProblem: If no fit can have written this, with the place.
    """
    return recalibrator_class(method).from_dict(parameters)


def brackets(name: RecalibratorName) -> bool:
    """Whether the maps of a method put two ends around every probability."""
    return issubclass(recalibrator_class(name), WithEnds)


def recalibrator_class(name: RecalibratorName) -> type[Recalibrator]:  # noqa: PLR0911 - one for each method
    """Return the class of a method; its module is imported here and not before."""
    match name:
        case RecalibratorName.IDENTITY:
            from calibcli.recalibrators.identity import Identity

            return Identity
        case RecalibratorName.HISTOGRAM:
            from calibcli.recalibrators.histogram import Histogram

            return Histogram
        case RecalibratorName.SCALING_BINNING:
            from calibcli.recalibrators.scaling_binning import ScalingBinning

            return ScalingBinning
        case RecalibratorName.ISOTONIC:
            from calibcli.recalibrators.isotonic import Isotonic

            return Isotonic
        case RecalibratorName.CENTRED_ISOTONIC:
            from calibcli.recalibrators.centred_isotonic import CentredIsotonic

            return CentredIsotonic
        case RecalibratorName.VENN_ABERS:
            from calibcli.recalibrators.venn_abers import VennAbers

            return VennAbers
        case RecalibratorName.SMOOTH:
            from calibcli.recalibrators.smooth import Smooth

            return Smooth
        case _:
            return _logistic_class(name)


def _logistic_class(name: Logistic) -> type[Recalibrator]:
    match name:
        case RecalibratorName.INTERCEPT:
            from calibcli.recalibrators.intercept import Intercept

            return Intercept
        case RecalibratorName.TEMPERATURE:
            from calibcli.recalibrators.temperature import Temperature

            return Temperature
        case RecalibratorName.PLATT:
            from calibcli.recalibrators.platt import Platt

            return Platt
        case RecalibratorName.BETA:
            from calibcli.recalibrators.beta import Beta

            return Beta
        case RecalibratorName.QUADRATIC:
            from calibcli.recalibrators.quadratic import Quadratic

            return Quadratic
        case RecalibratorName.SPLINE:
            from calibcli.recalibrators.spline import Spline

            return Spline
        case _:
            assert_never(name)


# A map in a document: its method, and its parameters.
AnyMap = Annotated[Recalibrator, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]
MaybeMap = Annotated[Recalibrator | None, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]
