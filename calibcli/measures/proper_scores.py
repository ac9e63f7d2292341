"""Brier score, log loss and spherical score: mean losses that reward honest probabilities."""

import math

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.measures.binned_ece import effective_rows
from calibcli.measures.estimate import INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import of_mean
from calibcli.measures.losses import Losses, log_error, losses_of, spherical_error, squared_error
from calibcli.names import MeasureName, Target
from calibcli.table.grid import Table


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
    return _mean_loss(table, MeasureName.BRIER, losses_of(table, squared_error), confidence=confidence)


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
    return _mean_loss(table, MeasureName.LOG_LOSS, losses_of(table, log_error), confidence=confidence)


def spherical(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean of 1 - p / sqrt(f^2 + (1 - f)^2), p the probability given to what happened; 0 is perfect foresight.

    The spherical score turned round, so that less is better, as with the others; it lies in [0, 1].

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The mean with its normal interval, asymptotic, for the population. `null` is the mean of
        1 - sqrt(f^2 + (1 - f)^2), which the score would be if labels followed the scores.

    References:
        Good (1971); Gneiting & Raftery (2007), JASA 102, example 2 with alpha = 2.
    """
    return _mean_loss(table, MeasureName.SPHERICAL, losses_of(table, spherical_error), confidence=confidence)


def certain_and_wrong(table: Table) -> int:
    """Return the number of rows with score 0 and label 1, or score 1 and label 0."""
    at_zero = np.flatnonzero(table.score_of_positive == 0.0)
    at_one = np.flatnonzero(table.score_of_negative == 1.0)
    negative_rows = table.rows[at_one] - table.positive_rows[at_one]
    return int(table.positive_rows[at_zero].sum() + negative_rows.sum())


def were_certain_and_wrong(rows: int) -> str:
    """Return that so many rows were certain and wrong, in words."""
    return f"{rows:,} {'row was' if rows == 1 else 'rows were'} certain and wrong"


def _mean_loss(table: Table, name: MeasureName, losses: Losses, *, confidence: float) -> Estimate:
    """Return the mean of a loss."""
    positive, negative = table.positive, table.weight - table.positive
    total = float(table.weight.sum())
    null = float((table.weight * losses.expected).sum()) / total
    null_range = of_mean(table, null, losses.if_positive - losses.if_negative)
    losses = losses.suffered(positive, negative)
    value = losses.mean_of_suffered(positive, negative)
    assumptions = [INDEPENDENT_ROWS, "approximate below 1,000 rows"]
    interval = None
    wrong = certain_and_wrong(table)
    if not math.isfinite(value):
        assumptions.append(f"no interval: {were_certain_and_wrong(wrong)}")
    elif effective_rows(table) < 1.5:
        assumptions.append(
            "no interval: one row" if table.total_rows < 2 else "no interval: one row has the weight"
        )
    else:
        squares = (losses.if_positive - value) ** 2
        squares *= table.positive_sq
        others = (losses.if_negative - value) ** 2
        others *= table.weight_sq - table.positive_sq
        squares += others
        rows = effective_rows(table)
        spread = math.sqrt(float(squares.sum()) * rows / (rows - 1.0)) / total
        interval = normal_interval(value, spread, confidence=confidence)
        if interval is None:
            assumptions.append("no interval: every row has the same loss, so nothing varies")
    return Estimate(
        name=name,
        value=value,
        interval=interval,
        null=null,
        assumptions=tuple(assumptions),
        rows=table.total_rows,
        details={"certain_and_wrong": wrong},
        null_range=null_range,
    )


def normal_interval(value: float, spread: float, *, confidence: float) -> Interval | None:
    """Return the interval of a mean of losses, or None where no loss differs from another."""
    if spread <= 1e-12 * abs(value):
        return None
    margin = normal_quantile(0.5 + confidence / 2.0) * spread
    lower, upper = max(0.0, value - margin), value + margin
    return Interval(lower, upper, confidence, "normal", Target.POPULATION, finite_sample=False)
