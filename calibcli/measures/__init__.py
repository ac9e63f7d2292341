"""Table to estimate, one file per measure."""

from typing import TYPE_CHECKING, TypeGuard, get_args

from calibcli.families import BinnedMeasure, RegressionMeasure, ScoreMeasure, SmoothMeasure
from calibcli.names import MeasureName

if TYPE_CHECKING:
    # Whoever fits or applies imports a loss from here, and should not pay for what a report needs.
    from calibcli.measures.estimate import Estimate
    from calibcli.measures.settings import Settings
    from calibcli.table.grid import Table


# A range in which nine of ten calibrated scores lie says nothing where next to no label could surprise.
LEAST_OPEN = 1.0


def measure_named(name: MeasureName, table: "Table", *, settings: "Settings") -> "Estimate":
    """Return the named measure, without a range where the scores leave less than one event open."""
    from dataclasses import replace

    found = _measured(name, table, settings=settings)
    if found.null_range is None or _is_open(table):
        return found
    return replace(found, null_range=None)


def _is_open(table: "Table") -> bool:
    """Whether the scores leave an event open; told by some of the entries where these suffice."""
    for step in (max(1, table.score.size // 4096), 1):
        score = table.score[::step]
        if float(table.weight[::step] @ (score * (1.0 - score))) >= LEAST_OPEN:
            return True
    return False


def _measured(name: MeasureName, table: "Table", *, settings: "Settings") -> "Estimate":
    if _is_binned(name):
        from calibcli.measures.binned_family import binned_measure

        return binned_measure(name, table, settings=settings)
    if _is_smooth(name):
        from calibcli.measures.smooth_family import smooth_measure

        return smooth_measure(name, table, settings=settings)
    if _is_regression(name):
        from calibcli.measures.regression_family import regression_measure

        return regression_measure(name, table, settings=settings)
    if _is_score(name):
        from calibcli.measures.score_family import score_measure

        return score_measure(name, table, settings=settings)
    msg = f"{name} belongs to no family of measures"
    raise ValueError(msg)


def _is_binned(name: MeasureName) -> TypeGuard[BinnedMeasure]:
    return name in get_args(BinnedMeasure)


def _is_smooth(name: MeasureName) -> TypeGuard[SmoothMeasure]:
    return name in get_args(SmoothMeasure)


def _is_regression(name: MeasureName) -> TypeGuard[RegressionMeasure]:
    return name in get_args(RegressionMeasure)


def _is_score(name: MeasureName) -> TypeGuard[ScoreMeasure]:
    return name in get_args(ScoreMeasure)
