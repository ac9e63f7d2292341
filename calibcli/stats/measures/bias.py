"""Calibration in the large: observed rate, mean score, their difference and ratio; bounds by the mean."""

import math
from collections.abc import Callable

import numpy as np

from calibcli.names import MeasureName, Target
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.betting import GroupedResiduals, stakes_for_a_mean
from calibcli.stats.bounds.proportion import (
    MOST_DELTA,
    bounds_of_a_rate,
    clopper_pearson_of_a_rate,
    sum_margin,
    weighted_sum_margin,
)
from calibcli.stats.measures import DUST, HELD_OUT, NO_WEIGHTED_INTERVAL, Estimate, on_line, rate_of
from calibcli.stats.measures.if_calibrated import Measures, of_mean
from calibcli.stats.measures.scores import gathered, interval_of_mean
from calibcli.stats.numerics import normal_quantile
from calibcli.stats.table.grid import Table, open_variance, residuals, squared_residuals
from calibcli.values import replace

_SHARE_BESIDE_BETS = 0.1

# With fewer rows of the rarer label the mean score of other rows may matter more than the noise of labels.
_LEAST_RARER = 10

_ONLY_THESE = "of these scores only"

_BY_WEIGHTS = "Hoeffding at the effective number of rows, or by squared residuals"

_WHY_ONLY_THESE = (
    f"{_ONLY_THESE}: few rows have the rarer label, or an end is as far as these scores allow, so other rows "
    "of the population may move it farther"
)


def bias(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Mean label minus mean score; positive when events are more frequent than announced.

    The interval is never beyond what the mean score leaves possible. Which of three methods gives it is
    settled by the scores.
    """
    value, mean_score = _means(table)
    interval = _interval(table, value, mean_score, confidence=confidence)
    return Estimate.of(
        MeasureName.BIAS,
        table,
        value,
        interval,
        null=(0.0, of_mean(table, 0.0, np.ones_like(table.score))),
        because=(HELD_OUT, _WHY_ONLY_THESE) if _ONLY_THESE in interval.method else (HELD_OUT,),
        details={"mean_label": rate_of(table), "mean_score": mean_score},
    )


def observed_over_expected(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Number of labels 1 over the sum of scores: 1 + bias / mean score, with the interval of `bias`.

    NaN where every score is 0, or so small that the inverse of their mean is no number.
    """
    found = bias(table, confidence=confidence)
    mean_score = float(found.details["mean_score"])
    if not mean_score >= np.finfo(np.float64).tiny:
        why = "no interval: every score is 0, or as good as 0, so that it is undefined"
        because = (*found.assumptions[1:], why)
        return Estimate.of(MeasureName.OE, table, math.nan, because=because, details=found.details)
    ratio = on_line(found, MeasureName.OE, slope=1.0 / mean_score, offset=1.0)
    # Where the bias is the mean score, what rounding leaves of 1 - 1 would be shown.
    bounds, chance = ratio.interval, ratio.null_range
    if bounds is not None and bounds.lower is not None:
        bounds = replace(bounds, lower=_without_dust(bounds.lower))
    if chance is not None:
        chance = _without_dust(chance[0]), chance[1]
    return replace(ratio, value=_without_dust(ratio.value), interval=bounds, null_range=chance)


def _without_dust(ratio: float) -> float:
    return 0.0 if abs(ratio) < DUST else ratio


def observed_rate(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Share of rows with label 1: where labels say whether an answer was right, the accuracy."""
    expected = _means(table)[1]
    null = expected, of_mean(table, expected, np.ones_like(table.score))
    if table.weighted:
        because = (NO_WEIGHTED_INTERVAL,)
        return Estimate.of(MeasureName.OBSERVED_RATE, table, rate_of(table), null=null, because=because)
    delta = (1.0 - confidence) / 2.0
    ends = clopper_pearson_of_a_rate(table.total_positive_rows, table.total_rows, delta_each_side=delta)
    bounds = Interval(*ends, confidence, "Clopper-Pearson", Target.POPULATION, finite_sample=True)
    return Estimate.of(MeasureName.OBSERVED_RATE, table, rate_of(table), bounds, null=null, because=())


def mean_score(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Mean of the scores, of the answers of a model its mean confidence."""
    value = _means(table)[1]
    if table.weighted:
        return Estimate.of(MeasureName.MEAN_SCORE, table, value, because=(NO_WEIGHTED_INTERVAL,))
    interval = interval_of_mean(gathered((table.score, table.weight)), most=1.0, confidence=confidence)
    return Estimate.of(MeasureName.MEAN_SCORE, table, value, interval, because=())


def interval_of_bias(table: Table, *, confidence: float) -> Interval:
    """Return the interval that `bias` gives, without the rest."""
    return _interval(table, *_means(table), confidence=confidence)


def _means(table: Table) -> tuple[float, float]:
    """Return the bias and the mean score."""
    total = float(table.weight.sum())
    return float(residuals(table).sum()) / total, float((table.weight * table.score).sum()) / total


def _interval(table: Table, value: float, mean_score: float, *, confidence: float) -> Interval:
    delta = (1.0 - confidence) / 2.0
    if table.weighted:
        bounds, method = _weighted(table, value, delta=delta), _BY_WEIGHTS
    else:
        bounds, method = _shortest(table, value, mean_score, delta=min(delta, MOST_DELTA))
    lower, upper = max(-mean_score, bounds[0]), min(1.0 - mean_score, bounds[1])
    ones, rows = table.total_positive_rows, table.total_rows
    if (lower, upper) != bounds or (not table.weighted and min(ones, rows - ones) < _LEAST_RARER):
        method = f"{method}; {_ONLY_THESE}"
    # Where no label is 1, or all are, an end is the value but for the last digits of a sum.
    ends = min(lower, value), max(upper, value)
    return Interval(*ends, confidence, method, Target.FIXED_DESIGN, finite_sample=True)


def _weighted(table: Table, value: float, *, delta: float) -> tuple[float, float]:
    """Return the ends under importance weights."""
    sums = table.weight_sq, table.weight_sq * table.score * (1.0 - table.score), squared_residuals(table)
    total = float(table.weight.sum())
    # The lower end asks how far the residuals may have risen above their mean, the upper one how far fallen.
    below, above = (
        weighted_sum_margin(*sums, back, delta=delta) / total for back in (table.score, 1.0 - table.score)
    )
    return value - below, value + above


def population_bounds(
    table: Table, *, lower: float, upper: float, factor: float = 1.0
) -> tuple[float, float]:
    """Return Gaffke's bounds of the population's mean of label - factor * score; wide for rare rows."""
    ones = table.positive_rows
    positive = 1.0 - factor * table.score_of_positive, ones.astype(np.float64)
    negative = -factor * table.score_of_negative, (table.rows - ones).astype(np.float64)
    values = gathered(positive, negative)
    least, most = min(0.0, 1.0 - factor, -factor), max(1.0, 1.0 - factor, -factor)
    return values.lower_bound(least=least, delta=lower), values.upper_bound(most=most, delta=upper)


def _shortest(
    table: Table, value: float, mean_score: float, *, delta: float
) -> tuple[tuple[float, float], str]:
    """Return the ends, and the method, that are nearest to each other by what the scores announce."""
    rows, level = table.total_rows, math.log(1.0 / delta)
    scatter = float(open_variance(table).sum())
    expected = (
        math.hypot(-normal_quantile(delta) * math.sqrt(rows * mean_score * (1.0 - mean_score)), 0.5 * level),
        sum_margin(scatter, delta=delta),
        # Half of the stake is on the bet that is best for what the scores announce.
        math.hypot(math.sqrt(2.0 * scatter * (level + math.log(2.0))), level + math.log(2.0)),
    )
    best = expected.index(min(expected))
    squares = float(squared_residuals(table).sum())
    if best == 0:
        return _by_counts(table, value, squares, delta=delta), "Clopper-Pearson"
    if best == 1:
        return _by_squares(value, squares, rows, delta=delta), "normal law with a proven error"
    # Bets are lost where scores near 0 and 1 are wrong; the others, which are not, have a part of delta each.
    ends = (
        _by_betting(table, scatter / rows, delta=(1.0 - 2.0 * _SHARE_BESIDE_BETS) * delta),
        _by_counts(table, value, squares, delta=_SHARE_BESIDE_BETS * delta),
        _by_squares(value, squares, rows, delta=_SHARE_BESIDE_BETS * delta),
    )
    return (max(low for low, _ in ends), min(high for _, high in ends)), "betting beside both others"


def _by_squares(value: float, squares: float, rows: int, *, delta: float) -> tuple[float, float]:
    margin = sum_margin(squares, delta=delta) / rows
    return value - margin, value + margin


def _by_counts(table: Table, value: float, squares: float, *, delta: float) -> tuple[float, float]:
    """Return the bounds of the rate, less the mean score.

    Where residuals scatter more than labels do, that is where scores say little of the labels, what they
    scatter more is added in squares, so that the interval is not too short for the population either. What
    a single row can make of it is no sign of that.
    """
    count, rows = float(table.positive.sum()), float(table.total_rows)
    ends = bounds_of_a_rate(count, rows, delta_each_side=delta)
    excess = squares - rows * value * value - count * (rows - count) / rows
    more = -normal_quantile(delta) * math.sqrt(max(0.0, excess - 1.0)) / rows
    low, high = (math.hypot(end - count / rows, more) for end in ends)
    return value - low, value + high


def _by_betting(table: Table, variance: float, *, delta: float) -> tuple[float, float]:
    stakes = stakes_for_a_mean(table.total_rows, variance, delta=delta)
    whole = GroupedResiduals(
        table.score,
        positive=table.positive,
        negative=table.weight - table.positive,
        starts=np.array([0, table.distinct]),
    )
    upper = whole.mean_upper_bound(stakes, delta=delta, sign=1)
    return -whole.mean_upper_bound(stakes, delta=delta, sign=-1), upper


BY_MEAN = "|bias|"

BY_MEAN_OR_NOISE = f"{BY_MEAN} or McDiarmid"

_SHARE_OF_MEAN = 0.75


def least_error(
    table: Table, otherwise: Callable[[float], float], *, delta: float, factor: float = 1.0, parts: int = 1
) -> float:
    """Return a lower bound of an error that is never below the size of the mean residual times a factor."""
    of_mean, of_other = error_shares(delta, signs=table.distinct * parts)
    other = max(0.0, otherwise(of_other)) if of_other else 0.0
    # The bound of a mean lies below the mean, which is found sooner.
    found = factor * abs(float(residuals(table).sum())) / float(table.weight.sum())
    return other if found <= other else max(other, factor * least_by_mean(table, delta=of_mean))


def error_shares(delta: float, *, signs: int) -> tuple[float, float]:
    """Return what of the error of a lower bound goes to the mean residual, and what to the other bound."""
    share = 1.0 if signs == 1 else _SHARE_OF_MEAN
    return share * delta, delta - share * delta


def least_by_mean(table: Table, *, delta: float) -> float:
    """Return a lower bound of |mean of label - score| at these scores, wrong with probability delta."""
    return max(least_rise_and_fall(table, delta=delta))


def least_rise_and_fall(table: Table, *, delta: float) -> tuple[float, float]:
    """Return by how much labels are at least above scores, and below, on average at these; 0 if unknown."""
    # A mean within its spread has an interval around 0, whose ends are dear where they are found by bets. Of
    # rare events more than announced spread more than the scores say, and show a rise all the same.
    scatter = open_variance(table)
    if table.weighted:
        scatter = table.weight_sq * table.score * (1.0 - table.score)
    spread = math.sqrt(min(float(squared_residuals(table).sum()), float(scatter.sum())))
    if abs(float(residuals(table).sum())) <= -normal_quantile(0.5 * delta) * spread:
        return 0.0, 0.0
    low, high = interval_of_bias(table, confidence=1.0 - delta).ends
    return max(0.0, low), max(0.0, -high)


MEASURES: Measures = {
    MeasureName.BIAS: lambda _, table, settings: bias(table, confidence=settings.confidence),
    MeasureName.OBSERVED_RATE: lambda _, table, settings: observed_rate(
        table, confidence=settings.confidence
    ),
    MeasureName.MEAN_SCORE: lambda _, table, settings: mean_score(table, confidence=settings.confidence),
    MeasureName.OE: lambda _, table, settings: observed_over_expected(table, confidence=settings.confidence),
}
