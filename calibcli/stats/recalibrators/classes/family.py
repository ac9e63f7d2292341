"""Maps of several classes: the one step from a name to a fit, and which values a view of their rows takes."""

from importlib import import_module
from typing import Annotated, assert_never

from calibcli.codec import OneOf
from calibcli.names import ClassMethod, OutputSum, ViewName
from calibcli.stats.recalibrators import values_of
from calibcli.stats.recalibrators.classes import ClassFitOptions, ClassRecalibrator, ClassTables
from calibcli.stats.recalibrators.classes.members import OneVsRest
from calibcli.stats.recalibrators.classes.top_label import TopLabel
from calibcli.stats.table.again import ClassRowSource


def fit_class_recalibrator(
    method: ClassMethod, tables: ClassTables, rows: ClassRowSource, *, options: ClassFitOptions
) -> ClassRecalibrator:
    """Fit a map of several classes."""
    match method:
        case ClassMethod.TEMPERATURE:
            from calibcli.stats.recalibrators.classes.temperature import ClassTemperature

            return ClassTemperature.fit(rows, least=options.least)
        case ClassMethod.VECTOR | ClassMethod.STRUCTURED | ClassMethod.MATRIX:
            from calibcli.stats.recalibrators.classes.linear import Linear

            return Linear.fit(method, rows, options=options)
        case ClassMethod.CONFIDENCE | ClassMethod.TOP_LABEL:
            from calibcli.stats.recalibrators.classes.top_label import TopLabel

            return TopLabel.fit(method, tables, options=options)
        case ClassMethod.ONE_VS_REST:
            from calibcli.stats.recalibrators.classes.members import OneVsRest

            return OneVsRest.fit(tables, options=options)
        case ClassMethod.ONE_VS_ONE:
            from calibcli.stats.recalibrators.classes.one_vs_one import OneVsOne

            return OneVsOne.fit(rows, options=options)
        case _:
            assert_never(method)


def class_recalibrator_class(method: ClassMethod) -> type[ClassRecalibrator]:
    """Return the class of a method; its module is imported here and not before."""
    module, _, made = method.facts.made.partition(".")
    found: type[ClassRecalibrator] = getattr(
        import_module(f"calibcli.stats.recalibrators.classes.{module}"), made
    )
    return found


AnyClassMap = Annotated[
    ClassRecalibrator, OneOf("method", ClassMethod, class_recalibrator_class, "parameters")
]


def outputs_of(
    recalibrator: ClassRecalibrator, classes: tuple[str, ...], *, view: ViewName, one_class: str | None
) -> tuple[float, ...] | None:
    """
    Return every score that a view of recalibrated rows can have, ascending; None where they form a continuum.

    The largest probability is one of the outputs of the maps where no row can change its predicted class; a
    class's own probability where rows are not divided by their sums.
    """
    match recalibrator:
        case TopLabel() if view is not ViewName.ONE_VS_REST and recalibrator.keeps_prediction:
            if one_class is None or view is ViewName.CONFIDENCE:
                return recalibrator.members.values
            bins = recalibrator.members.of(classes.index(one_class)).bins
        case OneVsRest(output_sum=OutputSum.FREE) if view is ViewName.ONE_VS_REST and one_class is not None:
            bins = recalibrator.members.of(classes.index(one_class)).bins
        case _:
            return None
    return values_of(bins)
