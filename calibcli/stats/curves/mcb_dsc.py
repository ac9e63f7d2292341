"""Scores by their miscalibration and discrimination."""

import numpy as np

from calibcli.names import MeasureName, PlotKind
from calibcli.stats.table import Arrays, Floats
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class McbDsc(Arrays):
    """
    Mean scores in their parts, mean = MCB - DSC + UNC; arrays have shape (n_scores,).

    Args:
        measure: The mean score: Brier score or log loss.
        names: Of the scores.
        value: Their mean scores; infinite where a score of exactly 0 or 1 was wrong, for the log loss.
        mcb: Miscalibration, what isotonic recalibration of these rows would save.
        dsc: Discrimination, what is saved after that against the base rate.
        unc: Uncertainty, the mean score of the base rate.
        by_chance: The miscalibration that 95 % of perfectly calibrated scores stay below on such rows; NaN
            where that is not known.

    References:
        Dimitriadis, Gneiting, Jordan & Vogel (2024), Int. J. Forecast. 40.
    """

    measure: MeasureName
    names: tuple[str, ...]
    value: Floats
    mcb: Floats
    dsc: Floats
    unc: Floats
    by_chance: Floats

    kind = PlotKind.MCB_DSC

    @property
    def one_base(self) -> bool:
        """Whether all scores have the uncertainty of the same labels."""
        return bool(np.ptp(self.unc) <= 1e-12)
