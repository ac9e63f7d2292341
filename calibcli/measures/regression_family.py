"""Calibration in the large and by regression: the one step from a name to a function."""

from typing import assert_never

from calibcli.families import RegressionMeasure
from calibcli.measures.estimate import Estimate
from calibcli.measures.settings import Settings
from calibcli.names import MeasureName
from calibcli.table.grid import Table


def regression_measure(name: RegressionMeasure, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure of a table."""
    confidence = settings.confidence
    match name:
        case MeasureName.BIAS:
            from calibcli.measures.bias import bias

            return bias(table, confidence=confidence)
        case MeasureName.CITL_LOGIT | MeasureName.COX_INTERCEPT | MeasureName.COX_SLOPE:
            from calibcli.measures.cox import cox_measure

            return cox_measure(name, table, confidence=confidence)
        case _:
            assert_never(name)
