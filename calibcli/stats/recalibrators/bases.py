"""The step from a name to a class, but for the method that is made of another."""

from typing import assert_never

from calibcli.names import RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.recalibrators.interface import Recalibrator
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table


def class_of_base(name: RecalibratorName) -> type[Recalibrator]:  # noqa: C901, PLR0911, PLR0912 - one for each method
    """Return the class of a method; its module is imported here and not before."""
    match name:
        case RecalibratorName.IDENTITY:
            from calibcli.stats.recalibrators.identity import Identity

            return Identity
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
        case RecalibratorName.HISTOGRAM:
            from calibcli.stats.recalibrators.histogram import Histogram

            return Histogram
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
        case RecalibratorName.SCALING_BINNING:
            msg = "scaling-binning is made of another method"
            raise ValueError(msg)
        case _:
            assert_never(name)


def fit_as(
    fitted: type[Recalibrator],
    table: Table,
    *,
    name: RecalibratorName,
    options: FitOptions,
    rows: Rows | None,
) -> Recalibrator:
    """Fit a map of the class of a method."""
    if not name.facts.logistic:
        return fitted.fit(table, options=options, rows=rows)
    from calibcli.stats.recalibrators.logistic import unrounded

    return unrounded(lambda part, behind: fitted.fit(part, options=options, rows=behind), table, rows=rows)
