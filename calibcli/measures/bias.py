"""Calibration in the large: mean label minus mean score."""

import math

import numpy as np

from calibcli.bounds.betting import GroupedResiduals, stakes_for_a_mean
from calibcli.bounds.interval import Interval
from calibcli.bounds.proportion import rate_bounds, sum_margin
from calibcli.bounds.special import normal_quantile
from calibcli.measures.effective import deviation
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import of_mean
from calibcli.measures.proper_scores import gathered
from calibcli.names import MeasureName, Target
from calibcli.table.grid import Table
from calibcli.table.residuals import open_variance, residuals, squared_residuals

# The comparison of Hoeffding (1956) behind `rate_bounds` needs an error probability of at most so much.
_MOST_DELTA = 0.25
_SHARE_BESIDE_BETS = 0.1
# With fewer rows of the rarer label the mean score of other rows may matter more than the noise of labels.
_LEAST_RARER = 10
_ONLY_THESE = "of these scores only"
_WHY_ONLY_THESE = (
    f"{_ONLY_THESE}: few rows have the rarer label, or an end is as far as these scores allow, so other rows "
    "of the population may move it farther"
)


def bias(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean label minus mean score; positive when events are more frequent than announced.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The estimate with a finite-sample interval for these scores with labels drawn anew, never beyond what
        the mean score leaves possible. Which of three methods gives it is settled by the scores.

    References:
        Hoeffding (1956), Ann. Math. Statist. 27, Theorem 4; Clopper & Pearson (1934), Biometrika 26;
        Waudby-Smith & Ramdas (2024), JRSS-B 86, with bets fixed by the scores.
    """
    value, mean_score = _means(table)
    interval = _interval(table, value, mean_score, confidence=confidence)
    only_these = (_WHY_ONLY_THESE,) if _ONLY_THESE in interval.method else ()
    return Estimate(
        name=MeasureName.BIAS,
        value=value,
        interval=interval,
        null=0.0,
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, *only_these),
        rows=table.total_rows,
        details={
            "mean_label": float(table.positive.sum()) / float(table.weight.sum()),
            "mean_score": mean_score,
        },
        null_range=of_mean(table, 0.0, np.ones_like(table.score)),
    )


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
        margin = deviation(table, delta=delta)
        bounds, method = (value - margin, value + margin), "Hoeffding at the effective number of rows"
    else:
        bounds, method = _shortest(table, value, mean_score, delta=min(delta, _MOST_DELTA))
    lower, upper = max(-mean_score, bounds[0]), min(1.0 - mean_score, bounds[1])
    method = f"{method}; {_ONLY_THESE}" if _only_these(table, cut=(lower, upper) != bounds) else method
    # Where no label is 1, or all are, an end is the value but for the last digits of a sum.
    ends = min(lower, value), max(upper, value)
    return Interval(*ends, confidence, method, Target.FIXED_DESIGN, finite_sample=True)


def _only_these(table: Table, *, cut: bool) -> bool:
    """Whether the population's bias may well lie beyond an interval, of which an end was cut or not."""
    ones, rows = table.total_positive_rows, table.total_rows
    return cut or (not table.weighted and min(ones, rows - ones) < _LEAST_RARER)


def population_bounds(table: Table, *, lower: float, upper: float) -> tuple[float, float]:
    """
    Return bounds of the population's bias by one added row, wide where rows unlike these would matter.

    Args:
        table: The rows, unweighted.

        lower: Error probability of the lower bound.

        upper: That of the upper bound.
    """
    ones = table.positive_rows
    positive = 1.0 - table.score_of_positive, ones.astype(np.float64)
    values = gathered(positive, (-table.score_of_negative, (table.rows - ones).astype(np.float64)))
    return values.lower_bound(least=-1.0, delta=lower), values.upper_bound(most=1.0, delta=upper)


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
    """
    Return the bounds of the rate, less the mean score.

    Where residuals scatter more than labels do, that is where scores say little of the labels, what they
    scatter more is added in squares, so that the interval is not too short for the population either. What
    a single row can make of it is no sign of that.
    """
    count, rows = float(table.positive.sum()), float(table.total_rows)
    ends = rate_bounds(np.array([count]), np.array([rows]), delta_each_side=delta)
    excess = squares - rows * value * value - count * (rows - count) / rows
    more = -normal_quantile(delta) * math.sqrt(max(0.0, excess - 1.0)) / rows
    low, high = (math.hypot(float(end[0]) - count / rows, more) for end in ends)
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
