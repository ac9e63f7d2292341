"""Proper scores and their parts: the one step from a name to a function."""

from typing import assert_never

from calibcli.families import ScoreMeasure, ScorePart
from calibcli.measures.estimate import Estimate
from calibcli.measures.settings import Settings
from calibcli.names import MeasureName, Purpose
from calibcli.table.grid import Table
from calibcli.table.streams import stream


def score_measure(name: ScoreMeasure, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure of a table."""
    confidence = settings.confidence
    match name:
        case MeasureName.BRIER:
            from calibcli.measures.proper_scores import brier

            return brier(table, confidence=confidence)
        case MeasureName.LOG_LOSS:
            from calibcli.measures.proper_scores import log_loss

            return log_loss(table, confidence=confidence)
        case MeasureName.SPHERICAL:
            from calibcli.measures.proper_scores import spherical

            return spherical(table, confidence=confidence)
        case MeasureName.BRIER_SKILL:
            from calibcli.measures.skill import brier_skill

            return brier_skill(table, confidence=confidence)
        case MeasureName.LOG_LOSS_SKILL:
            from calibcli.measures.skill import log_loss_skill

            return log_loss_skill(table, confidence=confidence)
        case _:
            return _part(name, table, settings=settings)


def _part(name: ScorePart, table: Table, *, settings: Settings) -> Estimate:
    """Return the named part of a score."""
    match name:
        case (
            MeasureName.BRIER_RELIABILITY
            | MeasureName.BRIER_RESOLUTION
            | MeasureName.BRIER_UNCERTAINTY
            | MeasureName.BRIER_WITHIN_VARIANCE
            | MeasureName.BRIER_WITHIN_COVARIANCE
            | MeasureName.BRIER_RELIABILITY_CORRECTED
            | MeasureName.BRIER_RESOLUTION_CORRECTED
            | MeasureName.BRIER_UNCERTAINTY_CORRECTED
        ):
            from calibcli.measures.murphy import murphy_part

            bins, confidence = settings.bins, settings.confidence
            return murphy_part(name, table, bins=bins, confidence=confidence, calibrated=settings.calibrated)
        case (
            MeasureName.BRIER_MCB
            | MeasureName.BRIER_DSC
            | MeasureName.BRIER_UNC
            | MeasureName.LOG_LOSS_MCB
            | MeasureName.LOG_LOSS_DSC
            | MeasureName.LOG_LOSS_UNC
        ):
            from calibcli.measures.corp import corp_part

            # Where nothing was drawn for the others, no reference is wanted.
            drawn = settings.calibrated is not None
            generator = stream(settings.seed, Purpose.CORP) if drawn else None
            shared, confidence = settings.shared, settings.confidence
            return corp_part(name, table, confidence=confidence, generator=generator, shared=shared)
        case _:
            assert_never(name)
