"""Table to estimate, one file per measure."""

from dataclasses import dataclass
from typing import assert_never

from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import Estimate
from calibcli.names import MeasureName
from calibcli.table.bins import BinnedTable
from calibcli.table.grid import Table

__all__ = ["Settings", "measure_named"]


@dataclass(frozen=True, slots=True)
class Settings:
    """
    What the measures of one report share.

    Args:
        bins: The table over the partition of `ece`, `l2` and `t`.

        equal_mass: The table over the partition of `ece_equal_mass`.

        confidence: Coverage asked of every interval.

        calibrated: Labels drawn from the scores, or None for a weighted table.
    """

    bins: BinnedTable
    equal_mass: BinnedTable
    confidence: float
    calibrated: CalibratedDraws | None


def measure_named(name: MeasureName, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure of a table."""
    confidence, calibrated = settings.confidence, settings.calibrated
    match name:
        case MeasureName.ECE | MeasureName.ECE_EQUAL_MASS:
            from calibcli.measures.binned_ece import binned_ece

            bins = settings.bins if name is MeasureName.ECE else settings.equal_mass
            return binned_ece(table, bins=bins, confidence=confidence, calibrated=calibrated, name=name)
        case MeasureName.L2:
            from calibcli.measures.l2 import debiased_l2

            return debiased_l2(table, bins=settings.bins, confidence=confidence, calibrated=calibrated)
        case MeasureName.SMECE:
            from calibcli.measures.smooth_ece import smooth_ece

            return smooth_ece(table, confidence=confidence, calibrated=calibrated)
        case MeasureName.BIAS:
            from calibcli.measures.bias import bias

            return bias(table, confidence=confidence)
        case MeasureName.BRIER:
            from calibcli.measures.proper_scores import brier

            return brier(table, confidence=confidence)
        case MeasureName.LOG_LOSS:
            from calibcli.measures.proper_scores import log_loss

            return log_loss(table, confidence=confidence)
        case _:
            assert_never(name)
