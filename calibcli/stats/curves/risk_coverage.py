"""What is still wrong among the rows that are kept, from those with the highest scores to all."""

import numpy as np

from calibcli.names import PlotKind
from calibcli.options.numerals import percent
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.curves.limits import thinned
from calibcli.stats.curves.reliability import refuse_empty
from calibcli.stats.table.grid import Table
from calibcli.stats.table.score_table import Arrays, Floats
from calibcli.values import dataclass

_NO_WEIGHTED_BAND = "no interval: importance weights leave none that holds at a single coverage"


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverageCurve(Arrays):
    """
    The share of label 0 among the rows with the highest scores; arrays have shape (n_points,).

    Args:
        coverage: Share of the rows that are kept, those of equal scores together; ascending to 1.
        risk: Share of label 0 among them.
        least: The same if every row of label 1 had a higher score than any of label 0.
        score: The lowest score that is kept.
        lower: Lower ends of pointwise intervals; NaN with importance weights.
        band: What these are.
    """

    coverage: Floats
    risk: Floats
    least: Floats
    score: Floats
    lower: Floats
    upper: Floats
    band: str
    confidence: float

    kind = PlotKind.RISK_COVERAGE

    @property
    def base(self) -> float:
        """Share of label 0 among all rows."""
        return float(self.risk[-1])


def risk_coverage_curve(table: Table, *, confidence: float) -> RiskCoverageCurve:
    """
    Return the risk at every coverage that a lowest score leaves.

    References:
        El-Yaniv & Wiener (2010), JMLR 11; Geifman & El-Yaniv (2017), NeurIPS.
    """
    refuse_empty(table)
    some = np.flatnonzero(table.weight > 0.0)[::-1]
    rows, right = table.weight[some].astype(np.float64), table.positive[some].astype(np.float64)
    kept, wrong = np.cumsum(rows), np.cumsum(np.maximum(rows - right, 0.0))
    total = float(kept[-1])
    places = thinned(kept / total, wrong / kept)
    kept, wrong = kept[places], wrong[places]
    lower = upper = np.full(kept.size, np.nan)
    band = _NO_WEIGHTED_BAND
    if not table.weighted:
        lower, upper = clopper_pearson(wrong, kept, delta_each_side=(1.0 - confidence) / 2.0)
        band = f"{percent(confidence)} intervals of the risk at each coverage by itself (Clopper-Pearson)"
    right_rows = total - float(np.maximum(rows - right, 0.0).sum())
    return RiskCoverageCurve(
        coverage=np.minimum(kept / total, 1.0),
        risk=wrong / kept,
        least=np.maximum(kept - right_rows, 0.0) / kept,
        score=table.score[some][places],
        lower=lower,
        upper=upper,
        band=band,
        confidence=confidence,
    )
