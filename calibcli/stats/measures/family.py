"""Every measure of a table: the one step from a name to a function."""

from dataclasses import replace
from typing import assert_never

from calibcli.families.explained import Home
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


def measures_of(name: MeasureName) -> Measures:  # noqa: C901, PLR0911 - one return a module
    """Return what the module of a measure computes; it is imported here and not before."""
    match name.facts.home:
        case Home.BINNED:
            from calibcli.stats.measures import binned

            return binned.MEASURES
        case Home.L2:
            from calibcli.stats.measures import l2

            return l2.MEASURES
        case Home.SMOOTH_ECE:
            from calibcli.stats.measures import smooth_ece

            return smooth_ece.MEASURES
        case Home.DISTANCE:
            from calibcli.stats.measures import distance

            return distance.MEASURES
        case Home.SMOOTH:
            from calibcli.stats.measures import smooth

            return smooth.MEASURES
        case Home.REGRESSION:
            from calibcli.stats.measures import regression

            return regression.MEASURES
        case Home.SCORES:
            from calibcli.stats.measures import scores

            return scores.MEASURES
        case Home.SKILL:
            from calibcli.stats.measures import skill

            return skill.MEASURES
        case Home.DECOMPOSITIONS:
            from calibcli.stats.measures import decompositions

            return decompositions.MEASURES
        case Home.DISCRIMINATION:
            from calibcli.stats.measures import discrimination

            return discrimination.MEASURES
        case None:
            msg = f"{name} has no home"
            raise ValueError(msg)
        case _:
            assert_never(name.facts.home)


def _is_open(table: Table) -> bool:
    """Whether the scores leave an event open; told by some of the entries where these suffice."""
    for step in (max(1, table.score.size // 4096), 1):
        score = table.score[::step]
        if float(table.weight[::step] @ (score * (1.0 - score))) >= LEAST_OPEN:
            return True
    return False
