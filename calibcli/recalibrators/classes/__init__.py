"""Maps of several classes, and the one step from a name to a fit."""

from typing import Annotated, assert_never

from calibcli.codec import Node, OneOf
from calibcli.recalibrators.classes.interface import ClassFitOptions, ClassRecalibrator, ClassTables
from calibcli.table.class_rows_again import ClassRowSource
from calibcli.view_names import ClassMethod

__all__ = ["class_recalibrator_from_dict", "fit_class_recalibrator"]


def fit_class_recalibrator(
    method: ClassMethod, tables: ClassTables, rows: ClassRowSource, *, options: ClassFitOptions
) -> ClassRecalibrator:
    """
    Fit a map of several classes.

    Args:
        method: The method.

        tables: The views, for methods made of maps of one score.

        rows: The rows, for methods that fit all classes together.

        options: What is asked.

    Raises:
        InputProblem: If the rows cannot be fitted, or the optimum cannot be reached.
    """
    match method:
        case ClassMethod.TEMPERATURE:
            from calibcli.recalibrators.classes.temperature import ClassTemperature

            return ClassTemperature.fit(rows, least=options.least)
        case ClassMethod.VECTOR | ClassMethod.STRUCTURED | ClassMethod.MATRIX:
            from calibcli.recalibrators.classes.linear import Linear

            return Linear.fit(method, rows, options=options)
        case ClassMethod.CONFIDENCE | ClassMethod.TOP_LABEL:
            from calibcli.recalibrators.classes.top_label import TopLabel

            return TopLabel.fit(method, tables, options=options)
        case ClassMethod.ONE_VS_REST:
            from calibcli.recalibrators.classes.one_vs_rest import OneVsRest

            return OneVsRest.fit(tables, options=options)
        case ClassMethod.ONE_VS_ONE:
            from calibcli.recalibrators.classes.one_vs_one import OneVsOne

            return OneVsOne.fit(rows, options=options)
        case _:
            assert_never(method)


def class_recalibrator_from_dict(
    method: ClassMethod, parameters: Node, *, classes: tuple[str, ...]
) -> ClassRecalibrator:
    """
    Restore a fitted map of several classes.

    Raises:
        DocumentProblem: If no fit can have written this, with the place.
    """
    return class_recalibrator_class(method).from_dict(parameters.knowing(method=method, classes=classes))


def class_recalibrator_class(method: ClassMethod) -> type[ClassRecalibrator]:
    """Return the class of a method; its module is imported here and not before."""
    match method:
        case ClassMethod.TEMPERATURE:
            from calibcli.recalibrators.classes.temperature import ClassTemperature

            return ClassTemperature
        case ClassMethod.VECTOR | ClassMethod.STRUCTURED | ClassMethod.MATRIX:
            from calibcli.recalibrators.classes.linear import Linear

            return Linear
        case ClassMethod.CONFIDENCE | ClassMethod.TOP_LABEL:
            from calibcli.recalibrators.classes.top_label import TopLabel

            return TopLabel
        case ClassMethod.ONE_VS_REST:
            from calibcli.recalibrators.classes.one_vs_rest import OneVsRest

            return OneVsRest
        case ClassMethod.ONE_VS_ONE:
            from calibcli.recalibrators.classes.one_vs_one import OneVsOne

            return OneVsOne
        case _:
            assert_never(method)


AnyClassMap = Annotated[
    ClassRecalibrator, OneOf("method", ClassMethod, class_recalibrator_class, "parameters")
]
