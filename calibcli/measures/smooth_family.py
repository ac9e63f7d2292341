"""Measures without bins: the one step from a name to a function."""

from typing import Literal, assert_never

from calibcli.families import SmoothMeasure
from calibcli.measures.estimate import Estimate
from calibcli.measures.settings import Settings
from calibcli.names import MeasureName
from calibcli.table.grid import Table

Distance = Literal[MeasureName.DCE, MeasureName.DCE_LOWER, MeasureName.SMCE]


def smooth_measure(name: SmoothMeasure, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure of a table."""
    confidence = settings.confidence
    match name:
        case MeasureName.SMECE:
            from calibcli.measures.smooth_ece import smooth_ece

            return smooth_ece(table, confidence=confidence, calibrated=settings.calibrated)
        case MeasureName.SMECE_LOGIT:
            from calibcli.measures.smooth_ece import smooth_ece_on_logit

            return smooth_ece_on_logit(table, confidence=confidence)
        case MeasureName.SMECE_PROBIT:
            from calibcli.measures.smooth_ece import smooth_ece_on_probit

            return smooth_ece_on_probit(table, confidence=confidence)
        case MeasureName.DCE | MeasureName.DCE_LOWER | MeasureName.SMCE:
            return _distance(name, table, confidence=confidence)
        case MeasureName.MMCE:
            from calibcli.measures.kernel_error import maximum_mean_error

            return maximum_mean_error(table)
        case MeasureName.ICI | MeasureName.E50 | MeasureName.E90 | MeasureName.EMAX:
            from calibcli.measures.calibration_index import calibration_index

            return calibration_index(table, name=name, shared=settings.shared)
        case _:
            assert_never(name)


def _distance(name: Distance, table: Table, *, confidence: float) -> Estimate:
    match name:
        case MeasureName.DCE:
            from calibcli.measures.distance import distance

            return distance(table, confidence=confidence)
        case MeasureName.DCE_LOWER:
            from calibcli.measures.lower_distance import lower_distance

            return lower_distance(table, confidence=confidence)
        case MeasureName.SMCE:
            from calibcli.measures.smooth_calibration import smooth_calibration_error

            return smooth_calibration_error(table, confidence=confidence)
