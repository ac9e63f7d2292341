"""How well a score tells labels apart: the area under the ROC curve, and Gini's coefficient."""

import math

import numpy as np

from calibcli.names import MeasureName, Target
from calibcli.stats.bounds.interval import Interval
from calibcli.stats.measures.estimate import (
    HELD_OUT,
    INDEPENDENT_ROWS,
    NO_WEIGHTED_INTERVAL,
    Estimate,
    on_line,
)
from calibcli.stats.measures.if_calibrated import (
    MANY_EVENTS,
    UNKNOWN,
    Measures,
    Reference,
    of_mean,
)
from calibcli.stats.measures.scores import gathered, interval_of_mean
from calibcli.stats.numerics import Floats
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

METHOD = "Gaffke's bounds of both labels, put together"

_ONE_LABEL = "no interval: one label only, so that it is undefined"


def auroc(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Probability that a row of label 1 has a higher score than one of label 0, ties counting half.

    Returns:
        The area under the ROC curve, the C-statistic, with an interval for the population. NaN where there is
        one label only; no interval with importance weights.

    References:
        DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44; Zou & Donner (2008), Statistics in Medicine 27,
        for the interval; van Klaveren, Gönen, Steyerberg & Vergouwe (2016), Statistics in Medicine 35, for
        the value if calibrated.
    """
    ranked = _Ranked(table.positive, table.weight - table.positive)
    assumptions: tuple[str, ...] = (INDEPENDENT_ROWS, HELD_OUT)
    if not (ranked.positive.any() and ranked.negative.any()):
        return Estimate(MeasureName.AUROC, math.nan, None, None, (*assumptions, _ONE_LABEL), table.total_rows)
    value, null = ranked.area, _if_calibrated(table)
    interval = None if table.weighted else ranked.interval(confidence)
    if interval is None:
        assumptions = (*assumptions, NO_WEIGHTED_INTERVAL)
    return Estimate(
        name=MeasureName.AUROC,
        value=value,
        interval=interval,
        null=null[0],
        assumptions=assumptions,
        rows=table.total_rows,
        null_range=null[1],
    )


def gini(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    2 AUROC - 1: the accuracy ratio of credit scoring, Somers' D of the score for the label.

    Returns:
        From -1 to 1, 0 where the score says nothing of the label; all else as `auroc`.
    """
    return on_line(auroc(table, confidence=confidence), MeasureName.GINI, slope=2.0, offset=-1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """
    Rows of both labels, by ascending distinct score.

    Args:
        positive: How many rows have label 1, shape (n,); with weights, how much they count for.
        negative: The same of label 0.
    """

    positive: Floats
    negative: Floats

    @property
    def below_positive(self) -> Floats:
        """The share of label 0 with less than each score, ties counting half, shape (n,)."""
        return (np.cumsum(self.negative) - 0.5 * self.negative) / float(self.negative.sum())

    @property
    def above_negative(self) -> Floats:
        """The share of label 1 with more than each score, ties counting half, shape (n,)."""
        reached = np.cumsum(self.positive)
        return (float(reached[-1]) - reached + 0.5 * self.positive) / float(reached[-1])

    @property
    def area(self) -> float:
        """Area under the ROC curve."""
        return min(1.0, float(self.positive @ self.below_positive) / float(self.positive.sum()))

    def interval(self, confidence: float) -> Interval:
        """
        Return the interval of the area: distances to the bounds of its two parts, by squares added up.

        The area is the mean of what each row of a label leaves behind it of the other label. Given the other
        label it has a bound as the mean of one label's rows, and DeLong's variance is the sum of two such.
        """
        below = above = 0.0
        area = self.area
        for beaten, rows in ((self.below_positive, self.positive), (self.above_negative, self.negative)):
            least, most = interval_of_mean(
                gathered((1.0 - beaten, rows)), most=1.0, confidence=confidence
            ).ends
            below += (area - (1.0 - most)) ** 2
            above += (1.0 - least - area) ** 2
        lower, upper = max(0.0, area - math.sqrt(below)), min(1.0, area + math.sqrt(above))
        return Interval(lower, upper, confidence, METHOD, Target.POPULATION, finite_sample=False)


def _if_calibrated(table: Table) -> Reference:
    """
    Return the area on average over labels that follow the scores, and its range, to first order.

    Where fewer than 20 rows of either label are expected, the first order says too little.
    """
    score, weight = table.score, table.weight
    total, expected = float(weight.sum()), float((weight * score).sum())
    if min(expected, total - expected) < MANY_EVENTS or table.weighted:
        return UNKNOWN
    likely = _Ranked(weight * score, weight * (1.0 - score))
    # No row is compared with itself: it would be a tie.
    alone = float((weight * score * (1.0 - score)).sum())
    pairs = expected * (total - expected)
    mean = (pairs * likely.area - 0.5 * alone) / (pairs - alone)
    # With label 1 in place of 0 a row is compared with those of label 0, and no longer with those of label 1.
    step = (total - expected) * (likely.below_positive - mean) - expected * (likely.above_negative - mean)
    low, high = of_mean(table, mean, step * (total / pairs))
    return mean, (max(0.0, low), min(1.0, high))


MEASURES: Measures = {
    MeasureName.AUROC: lambda _, table, settings: auroc(table, confidence=settings.confidence),
    MeasureName.GINI: lambda _, table, settings: gini(table, confidence=settings.confidence),
}
