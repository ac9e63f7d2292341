"""Every measure of a table: the one step from a name to a function."""

from dataclasses import replace
from importlib import import_module

from calibcli.names import MeasureName
from calibcli.stats.measures.estimate import Estimate
from calibcli.stats.measures.if_calibrated import Measures, Settings
from calibcli.stats.table.grid import Table

# A range in which nine of ten calibrated scores lie says nothing where next to no label could surprise.
LEAST_OPEN = 1.0


def measure_named(name: MeasureName, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure, without a range where the scores leave less than one event open."""
    found = measures_of(name)[name](name, table, settings)
    if found.null_range is None or _is_open(table):
        return found
    return replace(found, null_range=None)


def measures_of(name: MeasureName) -> Measures:
    """Return what the module of a measure computes; it is imported here and not before."""
    if name.facts.home is None:
        msg = f"{name} has no home"
        raise ValueError(msg)
    found: Measures = import_module(f"calibcli.stats.measures.{name.facts.home.name.lower()}").MEASURES
    return found


def _is_open(table: Table) -> bool:
    """Whether the scores leave an event open; told by some of the entries where these suffice."""
    for step in (max(1, table.score.size // 4096), 1):
        score = table.score[::step]
        if float(table.weight[::step] @ (score * (1.0 - score))) >= LEAST_OPEN:
            return True
    return False
