"""Maps fitted to a table, or to several classes: the one step from a name to a class."""

from typing import Annotated

import numpy as np

from calibcli.codec import OneOf
from calibcli.errors import NotConverged
from calibcli.families import loaded
from calibcli.names import ClassMethod, RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator
from calibcli.stats.recalibrators.classes import ClassRecalibrator
from calibcli.stats.table.again import Rows, reread
from calibcli.stats.table.grid import GridTable, Table

_MOST_HELD = 1_000_000


def fit_recalibrator(
    name: RecalibratorName, table: Table, *, options: FitOptions = DEFAULT_FIT, rows: Rows | None = None
) -> Recalibrator:
    """Fit the named recalibrator; to all rows at once where cells of a grid tell too few scores apart."""
    made = recalibrator_class(name)
    try:
        return made.fit(table, options=options, rows=rows)
    except NotConverged:
        seen_again = name.facts.logistic and table.total_rows <= _MOST_HELD
        if rows is None or not isinstance(table, GridTable) or not seen_again:
            raise
    return made.fit(reread(table, np.arange(table.distinct), rows=rows), options=options)


def recalibrator_class(name: RecalibratorName) -> type[Recalibrator]:
    found: type[Recalibrator] = loaded(f"stats.recalibrators.{name.facts.made}")
    return found


def class_recalibrator_class(method: ClassMethod) -> type[ClassRecalibrator]:
    found: type[ClassRecalibrator] = loaded(f"stats.recalibrators.classes.{method.facts.made}")
    return found


# A map in a document: its method, and its parameters.
AnyMap = Annotated[Recalibrator, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]
AnyClassMap = Annotated[
    ClassRecalibrator, OneOf("method", ClassMethod, class_recalibrator_class, "parameters")
]
