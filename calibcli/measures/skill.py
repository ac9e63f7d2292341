"""Skill: how much of the loss of a constant forecast, the rate of label 1, a score saves."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.special import normal_quantile
from calibcli.measures.binned_ece import effective_rows
from calibcli.measures.estimate import INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import UNKNOWN, Range, of_moments
from calibcli.measures.losses import Losses, entropy, log_error, losses_of, squared_error, variance
from calibcli.names import MeasureName, Target
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

# Losses whose cubes are numbers.
_CUBED = 1e-100


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
    constants = (_of_variance(_rate(table)), _of_variance(_mean_score(table)))
    losses = losses_of(table, squared_error)
    return _skill(table, MeasureName.BRIER_SKILL, losses, constants, confidence=confidence)


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
    constants = (_of_entropy(_rate(table)), _of_entropy(_mean_score(table)))
    losses = losses_of(table, log_error)
    return _skill(table, MeasureName.LOG_LOSS_SKILL, losses, constants, confidence=confidence)


def _of_variance(rate: float) -> _Constant:
    return _Constant(rate * (1.0 - rate), 1.0 - 2.0 * rate, -2.0)


def _of_entropy(rate: float) -> _Constant:
    slope, bend = 0.0, 0.0
    if 0.0 < rate < 1.0:
        slope, bend = math.log1p(-rate) - math.log(rate), -1.0 / (rate * (1.0 - rate))
    return _Constant(float(entropy(np.array([rate]))[0]), slope, bend)


def _mean_score(table: Table) -> float:
    return float((table.weight * table.score).sum() / table.weight.sum())


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
    constants: tuple[_Constant, _Constant],
    *,
    confidence: float,
) -> Estimate:
    """Return 1 - mean loss / that of the constant; the second one is that if labels follow the scores."""
    constant, expected_constant = constants
    positive, negative = table.positive, table.weight - table.positive
    step = losses.if_positive - losses.if_negative
    losses = losses.suffered(positive, negative)
    total = float(table.weight.sum())
    assumptions = [INDEPENDENT_ROWS, "approximate below 1,000 rows, and with few rows of the rarer label"]
    expected = float((table.weight * losses.expected).sum()) / total
    null, null_range = UNKNOWN
    if expected_constant.loss > 0.0:
        null = 1.0 - expected / expected_constant.loss
        if expected_constant.loss > _CUBED:
            null_range = _range_if_calibrated(table, step, expected, expected_constant)
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
    rows = table.total_rows
    return Estimate(name, value, interval, null, tuple(assumptions), rows, details, null_range)


def _range_if_calibrated(table: Table, step: Floats, loss: float, constant: _Constant) -> Range:
    """
    Return the range of 1 - A / g(B) over labels that follow the scores.

    A and B are as good as normal, and the ratio as good as its expansion to second order around their means:
    where all scores are alike, the first order is nothing.

    Args:
        table: The rows.

        step: By how much the loss is greater with label 1 than with label 0, at each entry.

        loss: The mean of A.

        constant: g, at the mean of B.
    """
    total = float(table.weight.sum())
    noise = table.weight_sq * variance(table.score) / total**2
    step = np.where(noise > 0.0, step, 0.0)
    mixed = float((noise * step).sum())
    spread = np.array([[float((noise * step**2).sum()), mixed], [mixed, float(noise.sum())]])
    g, slope, bend = constant.loss, constant.slope, constant.bend
    first = np.array([-1.0 / g, loss * slope / g**2])
    second = np.array([[0.0, slope / g**2], [slope / g**2, loss * (bend / g**2 - 2.0 * slope**2 / g**3)]])
    turned = second @ spread
    mean = 1.0 - loss / g + 0.5 * float(np.trace(turned))
    linear = first[0] * step + first[1]
    third = float((noise * (1.0 - 2.0 * table.score) * linear**3).sum()) / total
    third += 3.0 * first @ spread @ second @ spread @ first + np.trace(turned @ turned @ turned)
    return of_moments(
        mean, float(first @ spread @ first + 0.5 * np.trace(turned @ turned)), float(third), most=1.0
    )


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
