"""Cumulative differences: sums of label - score in ascending order of the score."""

import math

import numpy as np

from calibcli.names import PlotKind
from calibcli.stats.curves.limits import Spread, thinned
from calibcli.stats.curves.reliability import refuse_empty
from calibcli.stats.table.grid import Table, residuals
from calibcli.stats.table.score_table import Arrays, Floats
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeCurve(Arrays):
    """
    The path of the sums of label - score, in units of all rows (or of all weight).

    Over any stretch of rows its slope is their mean of label - score, so that a calibrated score has a path
    that only strays from zero.

    Args:
        share: Share of the rows, or of the weight, up to each point; from 0 to 1, shape (n_points,).
        value: The sum up to there over all rows; it starts at 0. Lowest and highest point are exact.
        deviation: Standard deviation of the last value for labels drawn from the scores.
        spread: Where the rows lie, so that shares can be told in scores.
        weighted: Whether rows carry importance weights.
    """

    share: Floats
    value: Floats
    deviation: float
    spread: Spread
    weighted: bool

    kind = PlotKind.CUMULATIVE

    @property
    def farthest(self) -> int:
        """Position of the point farthest from zero: its distance is what KS is a multiple of."""
        return int(np.argmax(np.abs(self.value)))

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest value: their distance is what Kuiper is a multiple of."""
        return float(self.value.min()), float(self.value.max())


def cumulative_curve(table: Table) -> CumulativeCurve:
    """
    Return the path of cumulative differences, read at the ends of blocks of equal scores.

    Args:
        table: The rows. On a grid table the path is read at the ends of cells.

    References:
        Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu (2022), Metrics of calibration for probabilistic
        predictions, JMLR 23. With importance weights: Tygert (2023).
    """
    refuse_empty(table)
    total = float(table.weight.sum())
    share = np.concatenate(([0.0], np.cumsum(table.weight) / total))
    share[-1] = 1.0
    value = np.concatenate(([0.0], np.cumsum(residuals(table)) / total))
    kept = thinned(np.minimum(share, 1.0), value)
    variance = float((table.weight_sq * table.score * (1.0 - table.score)).sum())
    return CumulativeCurve(
        share=np.minimum(share[kept], 1.0),
        value=value[kept],
        deviation=math.sqrt(variance) / total,
        spread=Spread.of(table.score, table.weight),
        weighted=table.weighted,
    )
