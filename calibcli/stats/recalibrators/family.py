"""Maps fitted to a table: the one step from a name to a class."""

from importlib import import_module
from typing import Annotated

from calibcli.codec import OneOf
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator, WithEnds
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table


def fit_recalibrator(
    name: RecalibratorName, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None
) -> Recalibrator:
    """Fit the named recalibrator."""
    return fit_as(recalibrator_class(name), table, name=name, options=options, rows=rows)


def brackets(name: RecalibratorName) -> bool:
    """Whether the maps of a method put two ends around every probability."""
    return issubclass(recalibrator_class(name), WithEnds)


def recalibrator_class(name: RecalibratorName) -> type[Recalibrator]:
    """Return the class of a method; its module is imported here and not before."""
    module, _, made = name.facts.made.partition(".")
    found: type[Recalibrator] = getattr(import_module(f"calibcli.stats.recalibrators.{module}"), made)
    return found


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


# A map in a document: its method, and its parameters.
AnyMap = Annotated[Recalibrator, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]


MaybeMap = Annotated[Recalibrator | None, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]
