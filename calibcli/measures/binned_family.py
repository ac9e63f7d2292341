"""Measures over bins: the one step from a name to a function."""

from typing import assert_never

from calibcli.families import BinnedMeasure
from calibcli.measures.estimate import Estimate
from calibcli.measures.settings import Settings
from calibcli.names import MeasureName
from calibcli.table.grid import Table


def binned_measure(  # noqa: PLR0911 - one branch a name
    name: BinnedMeasure, table: Table, *, settings: Settings
) -> Estimate:
    """Return the named measure of a table."""
    bins, confidence, calibrated = settings.bins, settings.confidence, settings.calibrated
    match name:
        case MeasureName.ECE | MeasureName.ECE_EQUAL_MASS:
            return _ece(name, table, settings=settings)
        case MeasureName.ACE:
            from calibcli.measures.ace import adaptive_error

            return adaptive_error(
                table, bins=settings.equal_mass, confidence=confidence, calibrated=calibrated
            )
        case MeasureName.ECE_SWEEP:
            from calibcli.measures.sweep import sweep_ece

            return sweep_ece(table)
        case MeasureName.L1_DEBIASED:
            from calibcli.measures.l1_debiased import debiased_ece

            return debiased_ece(table, bins=bins, calibrated=calibrated)
        case MeasureName.L2:
            return _l2(table, settings=settings)
        case MeasureName.L2_PLUG_IN:
            from calibcli.measures.l2_plug_in import plug_in_l2

            return plug_in_l2(table, bins=bins, confidence=confidence, calibrated=calibrated)
        case MeasureName.LP:
            from calibcli.measures.lp import lp_error

            power = settings.power
            return lp_error(table, bins=bins, power=power, confidence=confidence, calibrated=calibrated)
        case MeasureName.LINF:
            from calibcli.measures.linf import worst_bin

            return worst_bin(table, bins=bins, confidence=confidence, calibrated=calibrated)
        case MeasureName.OVERCONFIDENCE | MeasureName.UNDERCONFIDENCE:
            from calibcli.measures.sides import one_side

            return one_side(name, table, bins=bins, confidence=confidence, calibrated=calibrated)
        case _:
            assert_never(name)


def _ece(name: MeasureName, table: Table, *, settings: Settings) -> Estimate:
    from calibcli.measures.binned_ece import binned_ece

    bins = settings.bins if name is MeasureName.ECE else settings.equal_mass
    confidence = settings.confidence
    found = binned_ece(table, bins=bins, confidence=confidence, calibrated=settings.calibrated, name=name)
    if not settings.bounds:
        return found
    from calibcli.measures.other_bounds import with_ece_bounds

    return with_ece_bounds(found, table, bins=bins, confidence=confidence)


def _l2(table: Table, *, settings: Settings) -> Estimate:
    from calibcli.measures.l2 import debiased_l2

    bins, confidence = settings.bins, settings.confidence
    found = debiased_l2(table, bins=bins, confidence=confidence, calibrated=settings.calibrated)
    if not settings.bounds:
        return found
    from calibcli.measures.other_bounds import with_l2_bounds

    return with_l2_bounds(found, table, bins=bins, confidence=confidence)
