"""Maps fitted to a table: the one step from a name to a class."""

from importlib import import_module
from typing import Annotated

import numpy as np

from calibcli.codec import OneOf
from calibcli.errors import NotConverged
from calibcli.names import RecalibratorName
from calibcli.options.fitting import DEFAULT_FIT, FitOptions
from calibcli.stats.recalibrators import Recalibrator
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
    """Return the class of a method; its module is imported here and not before."""
    module, _, made = name.facts.made.partition(".")
    found: type[Recalibrator] = getattr(import_module(f"calibcli.stats.recalibrators.{module}"), made)
    return found


# A map in a document: its method, and its parameters.
AnyMap = Annotated[Recalibrator, OneOf("method", RecalibratorName, recalibrator_class, "parameters")]
