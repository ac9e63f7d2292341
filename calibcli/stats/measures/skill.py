"""Skill of a proper score against a constant forecast: the share of its loss that a score saves."""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from calibcli.names import GAVE_ZERO, MeasureName, Target
from calibcli.stats.bounds import Interval, stated
from calibcli.stats.bounds.means import METHOD, Values, evidence_below, first_shown
from calibcli.stats.bounds.proportion import bounds_of_a_rate
from calibcli.stats.measures import UNKNOWN, Estimate, Range, effective_rows, rate_of, scores
from calibcli.stats.measures.if_calibrated import Measures, of_moments
from calibcli.stats.numerics import Floats, normal_quantile
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

# What the bounds of the rate of label 1 are given of the error, how many rates inside them are tried, and how
# often as many again beside the best of these.
_FOR_RATE, _RATES, _NEARER = 0.1, 9, 2

# Of a ratio, how much a bound may be off; and the largest ratio that is looked for.
_PART, _MOST_RATIO = 1e-6, 1e12

# Losses whose cubes are numbers.
_CUBED = 1e-100


class _Constant(NamedTuple):
    """The loss of the constant forecast of a rate, and its first two derivatives by the rate."""

    loss: float
    slope: float
    bend: float


def brier_skill(table: Table, *, confidence: float = 0.95) -> Estimate:
    """1 - Brier score / (r (1 - r)), r the rate of label 1 among these rows; NaN of one label only."""
    return _skill(table, MeasureName.BRIER_SKILL, scores.squared_error, _of_variance, confidence=confidence)


def log_loss_skill(table: Table, *, confidence: float = 0.95) -> Estimate:
    """1 - log loss / entropy of r, r the rate of label 1; -inf if a score of 0 or 1 was wrong."""
    return _skill(table, MeasureName.LOG_LOSS_SKILL, scores.log_error, _of_entropy, confidence=confidence)


def _of_variance(rate: float) -> _Constant:
    return _Constant(rate * (1.0 - rate), 1.0 - 2.0 * rate, -2.0)


def _of_entropy(rate: float) -> _Constant:
    slope, bend = 0.0, 0.0
    if 0.0 < rate < 1.0:
        slope, bend = math.log1p(-rate) - math.log(rate), -1.0 / (rate * (1.0 - rate))
    return _Constant(float(scores.entropy(np.array([rate]))[0]), slope, bend)


def _skill(
    table: Table,
    name: MeasureName,
    loss_of: scores.LossOf,
    constant_of: Callable[[float], _Constant],
    *,
    confidence: float,
) -> Estimate:
    """Return 1 - mean loss / that of the constant forecast."""
    constant = constant_of(rate_of(table))
    # If labels follow the scores.
    expected_constant = constant_of(float((table.weight * table.score).sum() / table.weight.sum()))
    losses = scores.losses_of(table, loss_of)
    unbounded = loss_of is scores.log_error
    largest = losses.largest if unbounded else 1.0
    positive, negative = table.positive, table.weight - table.positive
    step = losses.if_positive - losses.if_negative
    losses = losses.suffered(positive, negative)
    total = float(table.weight.sum())
    expected = float((table.weight * losses.expected).sum()) / total
    null = UNKNOWN
    if expected_constant.loss > 0.0:
        found = _range_if_calibrated(table, step, expected, expected_constant)
        null = 1.0 - expected / expected_constant.loss, found
    if not constant.loss > 0.0:
        why = "no interval: one label only, which the constant forecast never misses: undefined"
        return Estimate.of(name, table, math.nan, because=(why,))
    loss = losses.mean(positive, negative)
    value = 1.0 - loss / constant.loss
    interval, because, rests = None, [], {}
    if not math.isfinite(loss):
        because.append(f"no interval: a row {GAVE_ZERO}")
    elif effective_rows(table) < 1.5:
        because.append(scores.one_row(table.total_rows))
    else:
        if unbounded:
            because.append(scores.NO_MORE_EXTREME if math.isfinite(largest) else scores.NO_LARGEST)
        seen = _Rows.of(table, losses, loss_of, largest)
        interval = _interval(seen, rate_of(table), confidence=confidence)
        if table.weighted:
            because.append(scores.NO_HEAVIER)
        else:
            values, most = seen.excess(loss / constant.loss, _pair(loss_of, rate_of(table)))
            rests = scores.rests_on(values, largest=most, scale=1.0 / constant.loss)
    details = {"constant_loss": constant.loss, "loss": loss, **rests}
    return Estimate.of(name, table, value, interval, null=null, because=because, details=details)


def _range_if_calibrated(table: Table, step: Floats, loss: float, constant: _Constant) -> Range | None:
    """Return the range of 1 - A / g(B) over labels that follow the scores; None where cubes are no numbers.

    A and B are as good as normal, and the ratio as good as its expansion to second order around their means:
    where all scores are alike, the first order is nothing.
    """
    if not constant.loss > _CUBED:
        return None
    total = float(table.weight.sum())
    noise = table.weight_sq * scores.variance(table.score) / total**2
    step = np.where(noise > 0.0, step, 0.0)
    mixed = float((noise * step).sum())
    spread = np.array([[float((noise * step**2).sum()), mixed], [mixed, float(noise.sum())]])
    g, slope, bend = constant.loss, constant.slope, constant.bend
    first = np.array([-1.0 / g, loss * slope / g**2])
    second = np.array([[0.0, slope / g**2], [slope / g**2, loss * (bend / g**2 - 2.0 * slope**2 / g**3)]])
    turned = second @ spread
    mean = 1.0 - loss / g + 0.5 * float(np.trace(turned))
    linear = first[0] * step + first[1]
    # A third moment has the cubes of the weights, here as if those at one score were alike.
    cubes = noise * table.weight_sq / np.maximum(table.weight, np.finfo(np.float64).tiny)
    third = float((cubes * (1.0 - 2.0 * table.score) * linear**3).sum()) / total
    third += 3.0 * first @ spread @ second @ spread @ first + np.trace(turned @ turned @ turned)
    return of_moments(
        mean, float(first @ spread @ first + 0.5 * np.trace(turned @ turned)), float(third), most=1.0
    )


def _pair(loss_of: scores.LossOf, rate: float) -> tuple[float, float]:
    """Return the losses of a constant forecast, of label 1 and of label 0."""
    found = _constant(loss_of, np.array([rate]))
    return float(found.if_positive[0]), float(found.if_negative[0])


def _constant(loss_of: scores.LossOf, rate: Floats) -> scores.Losses:
    return loss_of(rate, rate, rate)


# Of more losses than these, rows with importance weights are taken together by 32 cells an octave.
_MOST_LOSSES, _CELLS = 2_048, 32.0


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """What rows suffered, by label, and what they could have.

    Args:
        positive: The losses of rows with label 1.
        units: What a row of each of these losses weighs, of label 1 and of label 0; 1 without weights.
        worth: How many rows of one weight these are worth.
        added: What a row that was not seen weighs.
    """

    positive: Values
    negative: Values
    loss_of: scores.LossOf
    most: float
    units: tuple[Floats, Floats]
    worth: float
    added: float = 1.0

    @classmethod
    def of(cls, table: Table, losses: scores.Losses, loss_of: scores.LossOf, most: float) -> Self:
        ones = table.positive
        zeros = table.weight - ones
        if not table.weighted:
            one, other = (
                scores.gathered((losses.if_positive, ones)),
                scores.gathered((losses.if_negative, zeros)),
            )
            units = np.ones(one.value.size), np.ones(other.value.size)
            return cls(one, other, loss_of, most, units, one.total + other.total)
        first, own = _weighing(losses.if_positive, ones, table.positive_sq)
        second, others = _weighing(losses.if_negative, zeros, table.weight_sq - table.positive_sq)
        worth, count = effective_rows(table), first.total + second.total
        scale = count / float(table.weight.sum())
        return cls(first, second, loss_of, most, (own * scale, others * scale), worth, count / worth)

    def excess(self, ratio: float, constant: tuple[float, float]) -> tuple[Values, float]:
        """Return loss - ratio * that of a constant forecast, and the largest there can be."""
        one, other = (ratio * each for each in constant)
        value = np.concatenate((self.positive.value - one, self.negative.value - other))
        rows = np.concatenate((self.positive.rows, self.negative.rows))
        return Values(value * np.concatenate(self.units), rows), self.most - min(one, other)

    def evidence(self, ratio: Floats, rates: Floats, *, below: bool) -> Floats:
        """Return how much there is that the excess over each constant forecast is below, or above, 0."""
        constants = _constant(self.loss_of, rates)
        one, other = (
            (ratio * each)[:, np.newaxis] for each in (constants.if_positive, constants.if_negative)
        )
        seen = np.concatenate(
            (
                self.units[0] * (self.positive.value - one),
                self.units[1] * (self.negative.value - other),
            ),
            axis=1,
        )
        end = self.added * (self.most - np.minimum(one, other) if below else np.maximum(one, other))
        distance = np.concatenate((seen if below else -seen, end), axis=1)
        # A row to come adds no less than the one that adds most.
        distance[:, -1] = distance.max(axis=1)
        return evidence_below(distance, np.concatenate((self.positive.rows, self.negative.rows, [1.0])))


def _weighing(loss: Floats, weight: Floats, square: Floats) -> tuple[Values, Floats]:
    """Return losses, and what each of their rows weighs: those of one score count as rows of one weight."""
    some = (weight > 0.0) & (square > 0.0)
    loss, weight, square = loss[some], weight[some], square[some]
    if loss.size > _MOST_LOSSES:
        cell = np.floor(_CELLS * np.log2(np.maximum(loss, np.finfo(np.float64).tiny)))
        place = np.unique(cell, return_inverse=True)[1].reshape(-1)
        parts = [np.bincount(place, one).astype(np.float64) for one in (weight * loss, weight, square)]
        loss, weight, square = parts[0] / parts[1], parts[1], parts[2]
    each = square / weight
    return Values(loss, weight / each), each


def _rates(ones: float, rows: float, *, delta: float) -> Floats:
    """Return rates between their bounds, which take a tenth of the error, and that of these rows."""
    ends = bounds_of_a_rate(ones, rows, delta_each_side=0.5 * _FOR_RATE * delta)
    inside = np.sort(np.append(np.linspace(*ends, _RATES), ones / rows))
    return np.asarray(np.clip(inside, np.finfo(np.float64).tiny, 1.0 - 2.0**-53), np.float64)


def _interval(rows: _Rows, rate: float, *, confidence: float) -> Interval:
    """Return the interval of 1 - E a / E c, a the loss of the score, c that of the true rate.

    The ratio is above t where E (a - t c) is above 0, which is a mean of bounded rows for each rate. The rate
    is within its bounds but for a tenth of the error, and the least evidence over it counts.
    """
    delta = (1.0 - confidence) / 2.0
    inside = _rates(rate * rows.worth, rows.worth, delta=delta)
    delta *= 1.0 - _FOR_RATE
    mean, _ = rows.excess(0.0, (0.0, 0.0))
    ratio = mean.mean / float(_constant(rows.loss_of, np.array([rate])).expected[0])
    high, low = math.inf, 0.0
    if math.isfinite(rows.most):
        high = _farthest(
            partial(rows.evidence, below=True), ratio, inside, rate, delta=delta, most=_MOST_RATIO
        )
        high = math.inf if high >= _MOST_RATIO else high
    if ratio > 0.0:
        # Towards 0 evidence grows as well.
        low = -_farthest(
            lambda at, rates: rows.evidence(-at, rates, below=False),
            -ratio,
            inside,
            rate,
            delta=delta,
            most=0.0,
        )
    return Interval(stated(1.0 - high), 1.0 - low, confidence, METHOD, Target.POPULATION, finite_sample=False)


def _farthest(
    evidence: Callable[..., Floats],
    start: float,
    rates: Floats,
    rate: float,
    *,
    delta: float,
    most: float,
) -> float:
    """Return the first number from `start` on at which evidence is enough whatever the rate, or the most.

    It is looked for at one rate, then at those of some that leave it open there, then beside the one that
    moved it farthest.

    Args:
        evidence: Of numbers, and of `rates` as many, growing with the number.
    """
    z, at = normal_quantile(1.0 - delta), start
    tried = np.array([rate])
    for turn in range(2 + _NEARER):
        tried = tried[evidence(np.full(tried.size, at), tried) < z]
        if tried.size:
            found = first_shown(
                partial(evidence, rates=tried),
                np.full(tried.size, at),
                step=np.full(tried.size, 0.1 * abs(at) or 1.0),
                most=np.full(tried.size, most),
                delta=delta,
            )
            at, rate = float(found.max()), float(tried[found.argmax()])
        if turn:
            place = int(np.searchsorted(rates, rate))
            rates = np.linspace(rates[max(place - 1, 0)], rates[min(place + 1, rates.size - 1)], _RATES)
        tried = rates
    return at


MEASURES: Measures = {
    MeasureName.BRIER_SKILL: lambda _, table, settings: brier_skill(table, confidence=settings.confidence),
    MeasureName.LOG_LOSS_SKILL: lambda _, table, settings: log_loss_skill(
        table, confidence=settings.confidence
    ),
}
