"""Cumulative differences: sums of label - score in ascending order of the score."""

import math

import numpy as np

from calibcli.names import PlotKind
from calibcli.options.numerals import percent
from calibcli.stats.bounds.proportion import clopper_pearson
from calibcli.stats.curves.limits import PARTS, Spread, thinned
from calibcli.stats.curves.reliability import refuse_empty
from calibcli.stats.table import Arrays, Floats
from calibcli.stats.table.grid import Table, residuals
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class CumulativeCurve(Arrays):
    """The path of the sums of label - score, in units of all rows (or of all weight).

    Over any stretch of rows its slope is their mean of label - score, so that a calibrated score has a path
    that only strays from zero.

    Args:
        share: Share of the rows, or of the weight, up to each point; from 0 to 1, shape (n_points,).
        value: The sum up to there over all rows; it starts at 0. Lowest and highest point are exact.
        deviation: Standard deviation of the last value for labels drawn from the scores.
        spread: Where the rows lie, so that shares can be told in scores.
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
    """Return the path of cumulative differences, read at the ends of blocks of equal scores, or of cells.

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


_NO_WEIGHTED_BAND = "no interval: importance weights leave none that holds at a single coverage"


@dataclass(frozen=True, slots=True, eq=False)
class RiskCoverageCurve(Arrays):
    """The share of label 0 among the rows with the highest scores; arrays have shape (n_points,).

    Args:
        coverage: Share of the rows that are kept; ascending to 1.
        risk: Share of label 0 among them; where rows of equal scores are kept in part, over all their orders.
        least: The same if every row of label 1 had a higher score than any of label 0.
        score: The lowest score that is kept.
        lower: Lower ends of pointwise intervals of the risk at and above `score`, between blocks of equal
            scores as the risk is; NaN with importance weights.
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
    """Return the risk at every coverage that a lowest score leaves, and between them.

    References:
        El-Yaniv & Wiener (2010), JMLR 11; Geifman & El-Yaniv (2017), NeurIPS.
    """
    refuse_empty(table)
    some = np.flatnonzero(table.weight > 0.0)[::-1]
    rows, right = table.weight[some].astype(np.float64), table.positive[some].astype(np.float64)
    kept, wrong = np.cumsum(rows), np.cumsum(np.maximum(rows - right, 0.0))
    total = float(kept[-1])
    places = thinned(kept / total, wrong / kept)
    whole, risk = kept[places], (wrong / kept)[places]
    lower = upper = np.full(whole.size, np.nan)
    band = _NO_WEIGHTED_BAND
    if not table.weighted:
        lower, upper = clopper_pearson(wrong[places], whole, delta_each_side=(1.0 - confidence) / 2.0)
        # The rows above a score are draws; which score so many of all rows reach is uncertain as well.
        band = f"pointwise {percent(confidence)} intervals of the risk above a score (Clopper-Pearson)"
    # Over all orders of equal scores what is wrong grows in a straight line, and so its share does not.
    kept = np.union1d(whole, total * (np.arange(1, PARTS) / PARTS))
    ends = np.concatenate(([0.0], whole))
    risk, lower, upper = (
        np.interp(kept, ends, np.concatenate(([0.0], whole * one))) / kept for one in (risk, lower, upper)
    )
    return RiskCoverageCurve(
        coverage=np.minimum(kept / total, 1.0),
        risk=risk,
        least=np.maximum(kept - total * (1.0 - risk[-1]), 0.0) / kept,
        score=table.score[some][places][np.searchsorted(whole, kept)],
        lower=lower,
        upper=upper,
        band=band,
        confidence=confidence,
    )
