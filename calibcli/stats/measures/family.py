"""Every measure of a table: the one step from a name to a function."""

from typing import Literal, TypeGuard, assert_never, get_args

from calibcli.names import (
    BinnedMeasure,
    MeasureName,
    Purpose,
    RegressionMeasure,
    ScoreMeasure,
    ScorePart,
    SmoothMeasure,
)
from calibcli.stats.measures.estimate import Estimate
from calibcli.stats.measures.if_calibrated import Settings
from calibcli.stats.numerics import stream
from calibcli.stats.table.grid import Table

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
        return binned_measure(name, table, settings=settings)
    if _is_smooth(name):
        return smooth_measure(name, table, settings=settings)
    if _is_regression(name):
        return regression_measure(name, table, settings=settings)
    if _is_score(name):
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


def binned_measure(  # noqa: PLR0911 - one branch a name
    name: BinnedMeasure, table: Table, *, settings: Settings
) -> Estimate:
    """Return the named measure of a table."""
    bins, confidence, calibrated = settings.bins, settings.confidence, settings.calibrated
    match name:
        case MeasureName.ECE | MeasureName.ECE_EQUAL_MASS:
            return _ece(name, table, settings=settings)
        case MeasureName.ACE:
            from calibcli.stats.measures.binned import adaptive_error

            return adaptive_error(
                table, bins=settings.equal_mass, confidence=confidence, calibrated=calibrated
            )
        case MeasureName.ECE_SWEEP:
            from calibcli.stats.measures.binned import sweep_ece

            return sweep_ece(table)
        case MeasureName.L1_DEBIASED:
            from calibcli.stats.measures.binned import debiased_ece

            return debiased_ece(table, bins=bins, calibrated=calibrated)
        case MeasureName.L2:
            return _l2(table, settings=settings)
        case MeasureName.L2_PLUG_IN:
            from calibcli.stats.measures.l2 import plug_in_l2

            return plug_in_l2(table, bins=bins, confidence=confidence, calibrated=calibrated)
        case MeasureName.LP:
            from calibcli.stats.measures.binned import lp_error

            power = settings.power
            return lp_error(table, bins=bins, power=power, confidence=confidence, calibrated=calibrated)
        case MeasureName.LINF:
            from calibcli.stats.measures.binned import worst_bin

            return worst_bin(table, bins=bins, confidence=confidence, calibrated=calibrated)
        case MeasureName.OVERCONFIDENCE | MeasureName.UNDERCONFIDENCE:
            from calibcli.stats.measures.binned import one_side

            return one_side(name, table, bins=bins, confidence=confidence, calibrated=calibrated)
        case _:
            assert_never(name)


def _ece(name: MeasureName, table: Table, *, settings: Settings) -> Estimate:
    from calibcli.stats.measures.binned import binned_ece

    bins = settings.bins if name is MeasureName.ECE else settings.equal_mass
    confidence = settings.confidence
    found = binned_ece(table, bins=bins, confidence=confidence, calibrated=settings.calibrated, name=name)
    if not settings.bounds:
        return found
    from calibcli.stats.measures.l2 import with_ece_bounds

    return with_ece_bounds(found, table, bins=bins, confidence=confidence)


def _l2(table: Table, *, settings: Settings) -> Estimate:
    from calibcli.stats.measures.l2 import debiased_l2

    bins, confidence = settings.bins, settings.confidence
    found = debiased_l2(table, bins=bins, confidence=confidence, calibrated=settings.calibrated)
    if not settings.bounds:
        return found
    from calibcli.stats.measures.l2 import with_l2_bounds

    return with_l2_bounds(found, table, bins=bins, confidence=confidence)


Distance = Literal[MeasureName.DCE, MeasureName.DCE_LOWER, MeasureName.SMCE]


def smooth_measure(name: SmoothMeasure, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure of a table."""
    confidence = settings.confidence
    match name:
        case MeasureName.SMECE:
            from calibcli.stats.measures.smooth_ece import smooth_ece

            return smooth_ece(table, confidence=confidence, calibrated=settings.calibrated)
        case MeasureName.SMECE_LOGIT:
            from calibcli.stats.measures.smooth_ece import smooth_ece_on_logit

            return smooth_ece_on_logit(table, confidence=confidence)
        case MeasureName.SMECE_PROBIT:
            from calibcli.stats.measures.smooth_ece import smooth_ece_on_probit

            return smooth_ece_on_probit(table, confidence=confidence)
        case MeasureName.DCE | MeasureName.DCE_LOWER | MeasureName.SMCE:
            return _distance(name, table, confidence=confidence)
        case MeasureName.MMCE:
            from calibcli.stats.measures.smooth import maximum_mean_error

            return maximum_mean_error(table)
        case MeasureName.ICI | MeasureName.E50 | MeasureName.E90 | MeasureName.EMAX:
            from calibcli.stats.measures.smooth import calibration_index

            return calibration_index(table, name=name, shared=settings.shared)
        case _:
            assert_never(name)


def _distance(name: Distance, table: Table, *, confidence: float) -> Estimate:
    match name:
        case MeasureName.DCE:
            from calibcli.stats.measures.distance import distance

            return distance(table, confidence=confidence)
        case MeasureName.DCE_LOWER:
            from calibcli.stats.measures.distance import lower_distance

            return lower_distance(table, confidence=confidence)
        case MeasureName.SMCE:
            from calibcli.stats.measures.distance import smooth_calibration_error

            return smooth_calibration_error(table, confidence=confidence)


def score_measure(name: ScoreMeasure, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure of a table."""
    confidence = settings.confidence
    match name:
        case MeasureName.BRIER:
            from calibcli.stats.measures.scores import brier

            return brier(table, confidence=confidence)
        case MeasureName.LOG_LOSS:
            from calibcli.stats.measures.scores import log_loss

            return log_loss(table, confidence=confidence)
        case MeasureName.SPHERICAL:
            from calibcli.stats.measures.scores import spherical

            return spherical(table, confidence=confidence)
        case MeasureName.BRIER_SKILL:
            from calibcli.stats.measures.scores import brier_skill

            return brier_skill(table, confidence=confidence)
        case MeasureName.LOG_LOSS_SKILL:
            from calibcli.stats.measures.scores import log_loss_skill

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
            from calibcli.stats.measures.decompositions import murphy_part

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
            from calibcli.stats.measures.decompositions import corp_part

            # Where nothing was drawn for the others, no reference is wanted.
            drawn = settings.calibrated is not None
            generator = stream(settings.seed, Purpose.CORP) if drawn else None
            shared, confidence = settings.shared, settings.confidence
            return corp_part(name, table, confidence=confidence, generator=generator, shared=shared)
        case _:
            assert_never(name)


def regression_measure(name: RegressionMeasure, table: Table, *, settings: Settings) -> Estimate:
    """Return the named measure of a table."""
    confidence = settings.confidence
    match name:
        case MeasureName.BIAS:
            from calibcli.stats.measures.regression import bias

            return bias(table, confidence=confidence)
        case MeasureName.CITL_LOGIT | MeasureName.COX_INTERCEPT | MeasureName.COX_SLOPE:
            from calibcli.stats.measures.regression import cox_measure

            return cox_measure(name, table, confidence=confidence)
        case _:
            assert_never(name)
