"""Skill: how much of the loss of a constant forecast, the rate of label 1, a score saves."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.measures.binned_ece import effective_rows
from calibcli.measures.estimate import INDEPENDENT_ROWS, Estimate
from calibcli.measures.losses import Losses, entropy, log_error, losses_of, squared_error
from calibcli.names import MeasureName, Target
from calibcli.table.grid import Table


@dataclass(frozen=True, slots=True)
class _Constant:
    """
    The constant forecast of the rate of label 1.

    Args:
        loss: Its mean loss.

        slope: Derivative of that in the rate.

        bend: Second derivative.
    """

    loss: float
    slope: float
    bend: float


def brier_skill(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    1 - Brier score / (r (1 - r)), r the rate of label 1 among these rows.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The share of the constant forecast's squared error that the score saves, at most 1 and below 0
        where the constant does better. Interval by the delta method for the ratio, asymptotic, for the
        population. NaN where there is one label only.

    References:
        Murphy (1988), Monthly Weather Review 116, with the sample climatology as reference.
    """
    rate = _rate(table)
    constant = _Constant(rate * (1.0 - rate), 1.0 - 2.0 * rate, -2.0)
    mean_score = float((table.weight * table.score).sum() / table.weight.sum())
    if_calibrated = mean_score * (1.0 - mean_score)
    return _skill(
        table,
        MeasureName.BRIER_SKILL,
        losses_of(table, squared_error),
        (constant, if_calibrated),
        confidence=confidence,
    )


def log_loss_skill(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    1 - log loss / entropy of r, r the rate of label 1 among these rows.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        As `brier_skill`, of the log loss: the share of the deviance that the score explains. -inf, without an
        interval, if a score of exactly 0 or 1 was wrong.

    References:
        McFadden (1974), Conditional logit analysis, for 1 - ratio of log likelihoods.
    """
    rate = _rate(table)
    slope, bend = 0.0, 0.0
    if 0.0 < rate < 1.0:
        slope, bend = math.log1p(-rate) - math.log(rate), -1.0 / (rate * (1.0 - rate))
    mean_score = (table.weight * table.score).sum(keepdims=True) / table.weight.sum()
    constant = _Constant(float(entropy(np.array([rate]))[0]), slope, bend)
    if_calibrated = float(entropy(mean_score)[0])
    return _skill(
        table,
        MeasureName.LOG_LOSS_SKILL,
        losses_of(table, log_error),
        (constant, if_calibrated),
        confidence=confidence,
    )


def _rate(table: Table) -> float:
    """Return the share of label 1, exactly 0 or 1 where there is one label only."""
    positive, negative = table.positive, table.weight - table.positive
    if not (negative > 0.0).any():
        return 1.0
    return float(positive.sum()) / float(table.weight.sum())


def _skill(
    table: Table,
    name: MeasureName,
    losses: Losses,
    constants: tuple[_Constant, float],
    *,
    confidence: float,
) -> Estimate:
    """Return 1 - mean loss / that of the constant; `constants` end with its loss if labels follow scores."""
    constant, if_calibrated = constants
    positive, negative = table.positive, table.weight - table.positive
    losses = losses.suffered(positive, negative)
    total = float(table.weight.sum())
    assumptions = [INDEPENDENT_ROWS, "approximate below 1,000 rows, and with few rows of the rarer label"]
    expected = float((table.weight * losses.expected).sum()) / total
    null = 1.0 - expected / if_calibrated if if_calibrated > 0.0 else None
    if not constant.loss > 0.0:
        why = "no interval: one label only, which the constant forecast never misses: undefined"
        return Estimate(name, math.nan, None, None, (*assumptions, why), table.total_rows)
    loss = losses.mean(positive, negative)
    value = 1.0 - loss / constant.loss
    interval = None
    if not math.isfinite(loss):
        assumptions.append("no interval: a row was certain and wrong")
    elif not loss > 0.0:
        assumptions.append("no interval: every row was foreseen, so nothing varies")
    elif effective_rows(table) < 1.5:
        assumptions.append("no interval: one row has the weight")
    else:
        rate = float(positive.sum()) / total
        interval = _ratio_interval(table, losses, (loss, rate), constant, confidence=confidence)
    details = {"constant_loss": constant.loss, "loss": loss}
    return Estimate(name, value, interval, null, tuple(assumptions), table.total_rows, details)


def _ratio_interval(
    table: Table, losses: Losses, means: tuple[float, float], constant: _Constant, *, confidence: float
) -> Interval:
    """
    Return the interval of 1 - A / g(B), A the mean loss and B the mean label, by the delta method.

    It is taken on the scale of ln(A / g(B)), where a row has the share a / A - y g'(B) / g(B). What the
    second derivative of g adds to the variance matters where the first is near 0.
    """
    loss, rate = means
    pull = constant.slope / constant.loss
    if_positive = losses.if_positive / loss - 1.0 - pull * (1.0 - rate)
    if_negative = losses.if_negative / loss - 1.0 + pull * rate
    squares = table.positive_sq * if_positive**2 + (table.weight_sq - table.positive_sq) * if_negative**2
    rows = effective_rows(table)
    noise = float(squares.sum()) * rows / (rows - 1.0) / float(table.weight.sum()) ** 2
    bend = constant.bend / constant.loss
    spread = math.sqrt(noise + 0.5 * (bend * rate * (1.0 - rate) / rows) ** 2)
    factor = math.exp(min(normal_quantile(0.5 + confidence / 2.0) * spread, 700.0))
    ratio = loss / constant.loss
    lower, upper = 1.0 - ratio * factor, 1.0 - ratio / factor
    return Interval(
        lower, upper, confidence, "delta method for the ratio", Target.POPULATION, finite_sample=False
    )
