"""Maps fitted to a table that repair its probabilities, and the one step from a name to a class."""

from typing import assert_never

from calibcli.documents import Node
from calibcli.names import Purpose, RecalibratorName
from calibcli.recalibrators.interface import Recalibrator
from calibcli.recalibrators.options import FitOptions
from calibcli.table.grid import Table
from calibcli.table.streams import stream


def fit_recalibrator(
    name: RecalibratorName, table: Table, *, options: FitOptions | None = None
) -> Recalibrator:
    """
    Fit the named recalibrator.

    Args:
        name: The method.

        table: The fit rows.

        options: What is asked of the method; it reads its own part.

    Raises:
        InputProblem: If the rows cannot be fitted, or the optimum cannot be reached.

        UsageProblem: If the options ask the impossible of this table.
    """
    asked = options or FitOptions()
    match name:
        case RecalibratorName.PLATT:
            from calibcli.recalibrators.platt import Platt

            return Platt.fit(table, loss=asked.loss, smooth_targets=asked.smooth_targets)
        case RecalibratorName.ISOTONIC:
            from calibcli.recalibrators.isotonic import Isotonic

            return Isotonic.fit(table, step=asked.step)
        case RecalibratorName.HISTOGRAM:
            from calibcli.recalibrators.histogram import Histogram

            return Histogram.fit(table, bins=asked.bins, binning=asked.binning)
        case RecalibratorName.SCALING_BINNING:
            return _fit_scaling_binning(table, asked)
        case _:
            assert_never(name)


def recalibrator_from_dict(method: RecalibratorName, parameters: Node) -> Recalibrator:
    """
    Restore a fitted recalibrator.

    Args:
        method: The method.

        parameters: What `to_dict` returned, with its place in a document.

    Raises:
        DocumentProblem: If no fit can have written this, with the place.
    """
    match method:
        case RecalibratorName.PLATT:
            from calibcli.recalibrators.platt import Platt

            return Platt.from_dict(parameters)
        case RecalibratorName.ISOTONIC:
            from calibcli.recalibrators.isotonic import Isotonic

            return Isotonic.from_dict(parameters)
        case RecalibratorName.HISTOGRAM:
            from calibcli.recalibrators.histogram import Histogram

            return Histogram.from_dict(parameters)
        case RecalibratorName.SCALING_BINNING:
            from calibcli.recalibrators.scaling_binning import ScalingBinning

            return ScalingBinning.from_dict(parameters)
        case _:
            assert_never(method)


def _fit_scaling_binning(table: Table, asked: FitOptions) -> Recalibrator:
    from calibcli.recalibrators.scaling_binning import ScalingBinning

    return ScalingBinning.fit(table, options=asked, generator=stream(asked.seed, Purpose.SPLIT))
