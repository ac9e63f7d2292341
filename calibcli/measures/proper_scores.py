"""Brier score and log loss: mean losses that reward honest probabilities."""

import math

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.measures.binned_ece import effective_rows
from calibcli.measures.estimate import INDEPENDENT_ROWS, Estimate
from calibcli.names import MeasureName, Target
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats


def brier(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean squared difference (label - score)^2.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The mean with its normal interval, asymptotic, for the population. `null` is the mean of
        f (1 - f), which the score would be if labels followed the scores.

    References:
        Brier (1950), Monthly Weather Review 78.
    """
    if_positive = (1.0 - table.score_of_positive) ** 2
    if_negative = table.score_of_negative**2
    expected = table.score * (1.0 - table.score)
    return _mean_loss(table, MeasureName.BRIER, (if_positive, if_negative, expected), confidence=confidence)


def log_loss(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean of -ln f over rows with label 1 and of -ln(1 - f) over rows with label 0.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The mean with its normal interval, asymptotic, for the population. Infinite, without an
        interval, if a score of exactly 0 or 1 was wrong; the number of such rows is among the details.

    References:
        Good (1952), JRSS-B 14.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if_positive = -np.log(table.score_of_positive)
        if_negative = -np.log1p(-table.score_of_negative)
        score = table.score
        expected = -score * np.log(score) - (1.0 - score) * np.log1p(-score)
    expected = np.where((score > 0.0) & (score < 1.0), expected, 0.0)
    losses = (if_positive, if_negative, expected)
    return _mean_loss(table, MeasureName.LOG_LOSS, losses, confidence=confidence)


def certain_and_wrong(table: Table) -> int:
    """Return the number of rows with score 0 and label 1, or score 1 and label 0."""
    at_zero = table.positive_rows[table.score_of_positive == 0.0].sum()
    at_one = (table.rows - table.positive_rows)[table.score_of_negative == 1.0].sum()
    return int(at_zero + at_one)


def _mean_loss(
    table: Table, name: MeasureName, losses: tuple[Floats, Floats, Floats], *, confidence: float
) -> Estimate:
    """Return the mean of a loss, given its value at each score by label and as the scores expect it."""
    if_positive, if_negative, expected = losses
    positive, negative = table.positive, table.weight - table.positive
    negative_sq = table.weight_sq - table.positive_sq
    total = float(table.weight.sum())
    # An infinite loss that no row suffers, or none with any weight, must not turn 0 * inf into NaN.
    if_positive = np.where(positive > 0.0, if_positive, 0.0)
    if_negative = np.where(negative > 0.0, if_negative, 0.0)
    value = float((positive * if_positive + negative * if_negative).sum()) / total
    assumptions = [INDEPENDENT_ROWS, "approximate below 1,000 rows"]
    interval = None
    wrong = certain_and_wrong(table)
    if not math.isfinite(value):
        assumptions.append(f"no interval: {wrong:,} rows were certain and wrong")
    elif effective_rows(table) < 1.5:
        assumptions.append(
            "no interval: one row" if table.total_rows < 2 else "no interval: one row has the weight"
        )
    else:
        squares = table.positive_sq * (if_positive - value) ** 2 + negative_sq * (if_negative - value) ** 2
        rows = effective_rows(table)
        spread = math.sqrt(float(squares.sum()) * rows / (rows - 1.0)) / total
        interval = _normal_interval(value, spread, confidence=confidence)
        if interval is None:
            assumptions.append("no interval: every row has the same loss, so nothing varies")
    return Estimate(
        name=name,
        value=value,
        interval=interval,
        null=float((table.weight * expected).sum()) / total,
        assumptions=tuple(assumptions),
        rows=table.total_rows,
        details={"certain_and_wrong": wrong},
    )


def _normal_interval(value: float, spread: float, *, confidence: float) -> Interval | None:
    """Return the interval of a mean of losses, or None where no loss differs from another."""
    if spread <= 1e-12 * abs(value):
        return None
    margin = normal_quantile(0.5 + confidence / 2.0) * spread
    lower, upper = max(0.0, value - margin), value + margin
    return Interval(lower, upper, confidence, "normal", Target.POPULATION, finite_sample=False)
