"""Maps fitted to a table: the one step from a name to a class."""

from typing import Annotated, assert_never, get_args

from calibcli.codec import Node, OneOf
from calibcli.names import Logistic, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.interface import Recalibrator, WithEnds
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table


def fit_recalibrator(
    name: RecalibratorName, table: Table, *, options: FitOptions | None = None, rows: Rows | None = None
) -> Recalibrator:
    """Fit the named recalibrator."""
    fitted, asked = recalibrator_class(name), options or FitOptions()
    if name not in get_args(Logistic):
        return fitted.fit(table, options=asked, rows=rows)
    from calibcli.stats.recalibrators.logistic import unrounded

    return unrounded(lambda part, behind: fitted.fit(part, options=asked, rows=behind), table, rows=rows)


def recalibrator_from_dict(method: RecalibratorName, parameters: Node) -> Recalibrator:
    """Restore a fitted recalibrator."""
    return recalibrator_class(method).from_dict(parameters)


def brackets(name: RecalibratorName) -> bool:
    """Whether the maps of a method put two ends around every probability."""
    return issubclass(recalibrator_class(name), WithEnds)


def recalibrator_class(name: RecalibratorName) -> type[Recalibrator]:  # noqa: PLR0911 - one for each method
    """Return the class of a method; its module is imported here and not before."""
    match name:
        case RecalibratorName.IDENTITY:
            from calibcli.stats.recalibrators.identity import Identity

            return Identity
        case RecalibratorName.HISTOGRAM:
            from calibcli.stats.recalibrators.histogram import Histogram

            return Histogram
        case RecalibratorName.SCALING_BINNING:
            from calibcli.stats.recalibrators.scaling_binning import ScalingBinning

            return ScalingBinning
        case RecalibratorName.ISOTONIC:
            from calibcli.stats.recalibrators.isotonic import Isotonic

            return Isotonic
        case RecalibratorName.CENTRED_ISOTONIC:
            from calibcli.stats.recalibrators.isotonic import CentredIsotonic

            return CentredIsotonic
        case RecalibratorName.VENN_ABERS:
            from calibcli.stats.recalibrators.venn_abers import VennAbers

            return VennAbers
        case RecalibratorName.SMOOTH:
            from calibcli.stats.recalibrators.smooth import Smooth

            return Smooth
        case _:
            return _logistic_class(name)


def _logistic_class(name: Logistic) -> type[Recalibrator]:
    match name:
        case RecalibratorName.INTERCEPT:
            from calibcli.stats.recalibrators.intercept import Intercept

            return Intercept
        case RecalibratorName.TEMPERATURE:
            from calibcli.stats.recalibrators.temperature import Temperature

            return Temperature
        case RecalibratorName.PLATT:
            from calibcli.stats.recalibrators.platt import Platt

            return Platt
        case RecalibratorName.BETA:
            from calibcli.stats.recalibrators.beta import Beta

            return Beta
        case RecalibratorName.QUADRATIC:
            from calibcli.stats.recalibrators.quadratic import Quadratic

            return Quadratic
        case RecalibratorName.SPLINE:
            from calibcli.stats.recalibrators.spline import Spline

            return Spline
        case _:
            assert_never(name)


# A map in a document: its method, and its parameters.
AnyMap = Annotated[Recalibrator, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]
MaybeMap = Annotated[Recalibrator | None, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]
