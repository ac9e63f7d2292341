"""Proper scores, what they leave uncertain, and skill against a constant forecast."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.names import MeasureName, Target
from calibcli.stats.bounds.interval import Interval, stated
from calibcli.stats.bounds.means import METHOD, Values, as_many
from calibcli.stats.bounds.proportion import clopper_pearson, rate_bounds
from calibcli.stats.measures.estimate import INDEPENDENT_ROWS, Estimate, effective_rows
from calibcli.stats.measures.if_calibrated import UNKNOWN, Range, of_mean, of_moments
from calibcli.stats.numerics import crossing, normal_quantile
from calibcli.stats.table.grid import Table
from calibcli.stats.table.score_table import Floats
from calibcli.stats.table.value_cells import ValueCells

# Rates worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """
    A loss at each of many scores, shapes (..., n).

    Args:
        expected: On average over labels that follow the score.
    """

    if_positive: Floats
    if_negative: Floats
    expected: Floats

    @property
    def largest(self) -> float:
        """The largest that a row can have, whatever its label."""
        return float(max(self.if_positive.max(initial=0.0), self.if_negative.max(initial=0.0)))

    def suffered(self, positive: Floats, negative: Floats) -> Self:
        """Return the same with 0 where no weight suffers the loss: 0 times infinity must not become NaN."""
        one = np.where(positive > 0.0, self.if_positive, 0.0)
        other = np.where(negative > 0.0, self.if_negative, 0.0)
        return type(self)(one, other, self.expected)

    def mean(self, positive: Floats, negative: Floats) -> float:
        """Return the mean loss of weights of both labels; inf where a certain score was wrong."""
        return self.suffered(positive, negative).mean_of_suffered(positive, negative)

    def mean_of_suffered(self, positive: Floats, negative: Floats) -> float:
        """Return the same of losses that are 0 where no weight suffers them."""
        both = positive * self.if_positive
        both += negative * self.if_negative
        return float(both.sum()) / float((positive + negative).sum())


# From the mean scores of label 1, of label 0 and of both.
LossOf = Callable[[Floats, Floats, Floats], Losses]


def losses_of(table: Table, loss: LossOf) -> Losses:
    """Return a loss at each entry of a table; on a grid at the mean scores of a cell's labels."""
    return loss(table.score_of_positive, table.score_of_negative, table.score)


def mean_loss(table: Table, loss: LossOf) -> float:
    """Return the mean of a loss over the rows of a table; inf where a certain score was wrong."""
    return losses_of(table, loss).mean(table.positive, table.weight - table.positive)


def squared_error(one: Floats, other: Floats, score: Floats) -> Losses:
    """Return (label - score)^2."""
    return Losses((1.0 - one) ** 2, other**2, variance(score))


def log_error(one: Floats, other: Floats, score: Floats) -> Losses:
    """Return -ln f for label 1 and -ln(1 - f) for label 0; inf at certain scores that were wrong."""
    with np.errstate(divide="ignore"):
        return Losses(-np.log(one), -np.log1p(-other), entropy(score))


def losses_of_rows(name: MeasureName, score: Floats, label: npt.NDArray[np.bool_]) -> Floats:
    """Return the squared error or the log loss of each row, shape (n,)."""
    if name is MeasureName.BRIER:
        return np.asarray((score - label) ** 2)
    loss = np.empty_like(score)
    with np.errstate(divide="ignore"):
        loss[label] = -np.log(score[label])
        loss[~label] = -np.log1p(-score[~label])
    return loss


def spherical_error(one: Floats, other: Floats, score: Floats) -> Losses:
    """Return 1 - f / |(f, 1 - f)| for label 1 and 1 - (1 - f) / |(f, 1 - f)| for label 0."""
    expected = 1.0 - np.hypot(score, 1.0 - score)
    return Losses(_one_less_cosine(one, 1.0 - one), _one_less_cosine(1.0 - other, other), expected)


def variance(rate: Floats) -> Floats:
    """Return p (1 - p): the squared error of a forecast that knows the rate."""
    return rate * (1.0 - rate)


def entropy(rate: Floats) -> Floats:
    """Return -p ln p - (1 - p) ln(1 - p), 0 at both ends: the log loss of a forecast that knows the rate."""
    flat, found = rate.reshape(-1), np.zeros(rate.size)
    for start in range(0, flat.size, _CHUNK):
        part = flat[start : start + _CHUNK]
        inside = (part > 0.0) & (part < 1.0)
        every = bool(inside.all())
        p = part if every else np.where(inside, part, 0.5)
        here = -p * np.log(p) - (1.0 - p) * np.log1p(-p)
        found[start : start + _CHUNK] = here if every else np.where(inside, here, 0.0)
    return found.reshape(rate.shape)


def _one_less_cosine(given: Floats, missed: Floats) -> Floats:
    """Return 1 - g / |(g, m)| as m^2 / (r (r + g)), which keeps its digits where m is small."""
    length = np.hypot(given, missed)
    return missed * missed / (length * (length + given))


NO_MORE_EXTREME = "no score to come is nearer to 0 or 1 than these, as its loss could be larger"

NO_LARGEST = (
    "no upper end: there are scores of exactly 0 or 1, and one that is wrong makes the log loss infinite"
)

# From so many costly rows on the added row makes a bound at 95 % wider by less than a sixth.
ENOUGH_COSTLY = 40

# So many values are looked at one by one.
_MOST_VALUES = 4_096


def brier(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean squared difference (label - score)^2.

    Returns:
        The mean with its interval for the population, by one added row. `null` is the mean of
        f (1 - f), which the score would be if labels followed the scores.

    References:
        Brier (1950), Monthly Weather Review 78.
    """
    losses = losses_of(table, squared_error)
    return _mean_loss(table, MeasureName.BRIER, losses, most=1.0, confidence=confidence)


def log_loss(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean of -ln f over rows with label 1 and of -ln(1 - f) over rows with label 0.

    Returns:
        The mean with its interval for the population, by one added row with the largest loss that a score as
        extreme as these can have: without an upper end where there are scores of exactly 0 or 1. Infinite,
        without an interval, if one of those was wrong; the number of such rows is among the details.

    References:
        Good (1952), JRSS-B 14.
    """
    losses = losses_of(table, log_error)
    return _mean_loss(table, MeasureName.LOG_LOSS, losses, most=losses.largest, confidence=confidence)


def spherical(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean of 1 - p / sqrt(f^2 + (1 - f)^2), p the probability given to what happened; 0 is perfect foresight.

    The spherical score turned round, so that less is better, as with the others; it lies in [0, 1].

    Returns:
        The mean with its interval for the population, by one added row. `null` is the mean of
        1 - sqrt(f^2 + (1 - f)^2), which the score would be if labels followed the scores.

    References:
        Good (1971); Gneiting & Raftery (2007), JASA 102, example 2 with alpha = 2.
    """
    losses = losses_of(table, spherical_error)
    return _mean_loss(table, MeasureName.SPHERICAL, losses, most=1.0, confidence=confidence)


def certain_and_wrong(table: Table) -> int:
    """Return the number of rows with score 0 and label 1, or score 1 and label 0."""
    at_zero = np.flatnonzero(table.score_of_positive == 0.0)
    at_one = np.flatnonzero(table.score_of_negative == 1.0)
    negative_rows = table.rows[at_one] - table.positive_rows[at_one]
    return int(table.positive_rows[at_zero].sum() + negative_rows.sum())


def were_certain_and_wrong(rows: int) -> str:
    """Return that so many rows were certain and wrong, in words."""
    return f"{rows:,} {'row was' if rows == 1 else 'rows were'} certain and wrong"


def _mean_loss(
    table: Table, name: MeasureName, losses: Losses, *, most: float, confidence: float
) -> Estimate:
    """Return the mean of a loss that is at most `most`."""
    positive, negative = table.positive, table.weight - table.positive
    total = float(table.weight.sum())
    null = float((table.weight * losses.expected).sum()) / total
    null_range = of_mean(table, null, losses.if_positive - losses.if_negative)
    if math.isinf(most):
        losses = losses.suffered(positive, negative)
    value = losses.mean_of_suffered(positive, negative)
    assumptions = [INDEPENDENT_ROWS]
    interval, details = None, {}
    wrong = certain_and_wrong(table)
    if not math.isfinite(value):
        assumptions.append(f"no interval: {were_certain_and_wrong(wrong)}")
    elif effective_rows(table) < 1.5:
        assumptions.append(
            "no interval: one row" if table.total_rows < 2 else "no interval: one row has the weight"
        )
    else:
        if name is MeasureName.LOG_LOSS:
            assumptions.append(NO_MORE_EXTREME if math.isfinite(most) else NO_LARGEST)
        values = values_of(table, losses, negative=negative, mean=value)
        interval = interval_of_mean(values, most=most, confidence=confidence)
        details = rests_on(values, largest=most)
    return Estimate(
        name=name,
        value=value,
        interval=interval,
        null=null,
        assumptions=tuple(assumptions),
        rows=table.total_rows,
        details={"certain_and_wrong": wrong, **details},
        null_range=null_range,
    )


def values_of(table: Table, losses: Losses, *, negative: Floats, mean: float) -> Values:
    """
    Return how many rows suffered which loss.

    Importance weights leave no more of that than a mean and its standard error, by the sandwich form.
    """
    if table.weighted:
        squares = (losses.if_positive - mean) ** 2
        squares *= table.positive_sq
        others = (losses.if_negative - mean) ** 2
        others *= table.weight_sq - table.positive_sq
        squares += others
        rows = effective_rows(table)
        spread = math.sqrt(float(squares.sum()) * rows / (rows - 1.0)) / float(table.weight.sum())
        return as_many(mean, spread, rows=rows)
    return gathered((losses.if_positive, table.positive), (losses.if_negative, negative))


def gathered(*parts: tuple[Floats, Floats]) -> Values:
    """Return how often there is which value, from finite values and rows; many are gathered in cells."""
    if sum(np.count_nonzero(rows) for _, rows in parts) <= _MOST_VALUES:
        value, rows = (np.concatenate(side) for side in zip(*parts, strict=True))
        some = rows > 0
        return Values(value[some], rows[some])
    cells = ValueCells()
    for value, rows in parts:
        cells.add(value, rows)
    total = sum(float(rows.sum()) for _, rows in parts)
    # Not by dot products, which numpy's library shares out among threads, on some machines in another order.
    mean = sum(float((rows * value).sum()) for value, rows in parts) / total
    squares = sum(_squares(value, rows, mean=mean) for value, rows in parts)
    return from_cells(cells, mean=mean, variance=squares / total)


def _squares(value: Floats, rows: Floats, *, mean: float) -> float:
    away = value - mean
    away *= away
    away *= rows
    return float(away.sum())


def from_cells(cells: ValueCells, *, mean: float, variance: float) -> Values:
    """Return the values of cells, moved and stretched to the mean and the variance that they really have."""
    value, rows = cells.values()
    total = float(rows.sum())
    value = value - float(rows @ value) / total
    square = float(rows @ (value * value)) / total
    if square > 0.0:
        return Values(mean + math.sqrt(variance / square) * value, rows)
    return as_many(mean, math.sqrt(variance / max(total - 1.0, 1.0)), rows=total)


def rests_on(values: Values, *, largest: float, scale: float = 1.0) -> dict[str, float]:
    """
    Return what the interval of a mean rests on, for the details of an estimate.

    Args:
        values: What rows have.
        largest: The most that a row can have.
        scale: What one unit of the mean is of the measure.
    """
    return {
        "standard_error": values.standard_error * scale,
        "costly_rows": values.costly_rows,
        "largest_loss": largest,
    }


def unseen_words(costly: float, rows: float, *, largest: float, delta: float) -> str:
    """Return what keeps a mean open that these rows by themselves would settle, in words."""
    if math.isinf(largest):
        return "there are scores of exactly 0 or 1, and one that is wrong makes the log loss infinite"
    one_in = 1.0 / (1.0 - delta ** (1.0 / rows))
    few = f"too few costly rows have been seen (about {costly:.0f} of {ENOUGH_COSTLY} needed): "
    unseen = f"up to 1 row in {one_in:,.0f} may be unlike these and lose {largest:.4g}"
    return f"{few if costly < ENOUGH_COSTLY else ''}{unseen}"


def interval_of_mean(values: Values, *, most: float, confidence: float) -> Interval:
    """Return the interval of the mean of a loss between 0 and `most`, which may be infinite."""
    delta = (1.0 - confidence) / 2.0
    lower = max(0.0, values.lower_bound(least=0.0, delta=delta))
    upper = stated(values.upper_bound(most=most, delta=delta))
    return Interval(lower, upper, confidence, METHOD, Target.POPULATION, finite_sample=False)


# What the bounds of the rate of label 1 are given of the error, and how many rates inside them are tried.
_FOR_RATE, _RATES = 0.1, 9

# Of a ratio, how much a bound may be off; and the largest ratio that is looked for.
_PART, _MOST_RATIO = 1e-6, 1e12

# Losses whose cubes are numbers.
_CUBED = 1e-100


@dataclass(frozen=True, slots=True)
class _Constant:
    """The constant forecast of the rate of label 1."""

    loss: float
    slope: float
    bend: float


@dataclass(frozen=True, slots=True)
class _Loss:
    """
    A loss.

    Args:
        of: What it makes of scores.
        most: The largest there is, or None for what the scores at hand can have.
    """

    of: LossOf
    most: float | None


def brier_skill(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    1 - Brier score / (r (1 - r)), r the rate of label 1 among these rows.

    Returns:
        The share of the constant forecast's squared error that the score saves, at most 1 and below 0
        where the constant does better. Interval for the population, by one added row. NaN where there is one
        label only.

    References:
        Murphy (1988), Monthly Weather Review 116, with the sample climatology as reference.
    """
    constants = (_of_variance(_rate(table)), _of_variance(_mean_score(table)))
    loss = _Loss(squared_error, 1.0)
    return _skill(table, MeasureName.BRIER_SKILL, loss, constants, confidence=confidence)


def log_loss_skill(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    1 - log loss / entropy of r, r the rate of label 1 among these rows.

    Returns:
        As `brier_skill`, of the log loss: the share of the deviance that the score explains. -inf, without an
        interval, if a score of exactly 0 or 1 was wrong.

    References:
        McFadden (1974), Conditional logit analysis, for 1 - ratio of log likelihoods.
    """
    constants = (_of_entropy(_rate(table)), _of_entropy(_mean_score(table)))
    loss = _Loss(log_error, None)
    return _skill(table, MeasureName.LOG_LOSS_SKILL, loss, constants, confidence=confidence)


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
    asked: _Loss,
    constants: tuple[_Constant, _Constant],
    *,
    confidence: float,
) -> Estimate:
    """Return 1 - mean loss / that of the constant; the second one is that if labels follow the scores."""
    constant, expected_constant = constants
    losses = losses_of(table, asked.of)
    largest = losses.largest if asked.most is None else asked.most
    positive, negative = table.positive, table.weight - table.positive
    step = losses.if_positive - losses.if_negative
    losses = losses.suffered(positive, negative)
    total = float(table.weight.sum())
    assumptions = [INDEPENDENT_ROWS]
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
    interval, rests = None, {}
    if not math.isfinite(loss):
        assumptions.append("no interval: a row was certain and wrong")
    elif effective_rows(table) < 1.5:
        assumptions.append("no interval: one row has the weight")
    else:
        if asked.most is None:
            assumptions.append(NO_MORE_EXTREME if math.isfinite(largest) else NO_LARGEST)
        if table.weighted:
            interval = _weighted_interval(table, losses, asked.of, largest, confidence=confidence)
        else:
            seen = _Rows.of(table, losses, asked.of, largest)
            interval = _interval(seen, confidence=confidence)
            values, _, most = seen.excess(loss / constant.loss, _pair(asked.of, _rate(table)))
            rests = rests_on(values, largest=most, scale=1.0 / constant.loss)
    details = {"constant_loss": constant.loss, "loss": loss, **rests}
    rows = table.total_rows
    return Estimate(name, value, interval, null, tuple(assumptions), rows, details, null_range)


def _range_if_calibrated(table: Table, step: Floats, loss: float, constant: _Constant) -> Range:
    """
    Return the range of 1 - A / g(B) over labels that follow the scores.

    A and B are as good as normal, and the ratio as good as its expansion to second order around their means:
    where all scores are alike, the first order is nothing.
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


def _pair(loss_of: LossOf, rate: float) -> tuple[float, float]:
    """Return the losses of a constant forecast, of label 1 and of label 0."""
    found = _constant(loss_of, np.array([rate]))
    return float(found.if_positive[0]), float(found.if_negative[0])


def _constant(loss_of: LossOf, rate: Floats) -> Losses:
    """Return the losses of constant forecasts."""
    return loss_of(rate, rate, rate)


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """What rows suffered, by label, and what they could have."""

    positive: Values
    negative: Values
    loss_of: LossOf
    most: float

    @classmethod
    def of(cls, table: Table, losses: Losses, loss_of: LossOf, most: float) -> Self:
        """Return those of a table."""
        ones = table.positive
        zeros = table.weight - ones
        return cls(gathered((losses.if_positive, ones)), gathered((losses.if_negative, zeros)), loss_of, most)

    @property
    def counts(self) -> tuple[float, float]:
        """Rows with label 1, and all rows."""
        return self.positive.total, self.positive.total + self.negative.total

    def excess(self, ratio: float, constant: tuple[float, float]) -> tuple[Values, float, float]:
        """Return loss - ratio * that of a constant forecast, and the least and the largest there can be."""
        one, other = (ratio * each for each in constant)
        value = np.concatenate((self.positive.value - one, self.negative.value - other))
        rows = np.concatenate((self.positive.rows, self.negative.rows))
        return Values(value, rows), -max(one, other), self.most - min(one, other)


def _interval(rows: _Rows, *, confidence: float) -> Interval:
    """
    Return the interval of 1 - E a / E c, a the loss of the score and c that of always saying the true rate.

    The ratio is above t where E (a - t c) is above 0, which is a mean of bounded rows for each rate. The rate
    is within its bounds but for a tenth of the error, and the least evidence over it counts.
    """
    delta = (1.0 - confidence) / 2.0
    ones, total = rows.counts
    ends = rate_bounds(np.array([ones]), np.array([total]), delta_each_side=0.5 * _FOR_RATE * delta)
    inside = np.linspace(float(ends[0][0]), float(ends[1][0]), _RATES)
    tiny = np.finfo(np.float64).tiny
    constants = _constant(rows.loss_of, np.clip(np.append(inside, ones / total), tiny, 1.0 - 2.0**-53))
    pairs = list(zip(constants.if_positive.tolist(), constants.if_negative.tolist(), strict=True))
    z = normal_quantile(1.0 - (1.0 - _FOR_RATE) * delta)

    def below(ratio: float) -> float:
        """How much evidence there is, beyond what is asked for, that the ratio is below."""
        least = math.inf
        for pair in pairs:
            values, _, most = rows.excess(ratio, pair)
            least = min(least, values.evidence_below(0.0, most=most))
        return least - z

    def above(ratio: float) -> float:
        """How little evidence there is that the ratio is above; it grows with the ratio."""
        most = -math.inf
        for pair in pairs:
            values, least, _ = rows.excess(ratio, pair)
            most = max(most, -values.negated().evidence_below(0.0, most=-least))
        return most + z

    mean, _, _ = rows.excess(0.0, (0.0, 0.0))
    ratio = mean.mean / float(_constant(rows.loss_of, np.array([ones / total])).expected[0])
    high = _beyond(below, ratio) if math.isfinite(rows.most) else math.inf
    low = crossing(above, 0.0, ratio, within=_PART * ratio)[0] if ratio > 0.0 else 0.0
    return Interval(stated(1.0 - high), 1.0 - low, confidence, METHOD, Target.POPULATION, finite_sample=False)


def _weighted_interval(
    table: Table, losses: Losses, loss_of: LossOf, most: float, *, confidence: float
) -> Interval:
    """Return the same for importance weights, as if the rate and the ratio of these rows were true."""
    constant = _constant(loss_of, np.array([_rate(table)]))
    negative = table.weight - table.positive
    loss = losses.mean(table.positive, negative)
    delta, whole = (1.0 - confidence) / 2.0, float(constant.expected[0])
    ratio = loss / whole
    one, other = (ratio * float(each[0]) for each in (constant.if_positive, constant.if_negative))
    excess = Losses(losses.if_positive - one, losses.if_negative - other, losses.expected)
    values = values_of(table, excess, negative=negative, mean=0.0)
    high = ratio + values.upper_bound(most=most - min(one, other), delta=delta) / whole
    low = max(0.0, ratio + values.lower_bound(least=-max(one, other), delta=delta) / whole)
    return Interval(stated(1.0 - high), 1.0 - low, confidence, METHOD, Target.POPULATION, finite_sample=False)


def _beyond(below: Callable[[float], float], ratio: float) -> float:
    """Return the ratio from which on there is evidence enough, above this one; inf if there is none."""
    low, high = ratio, 2.0 * ratio + 1.0
    while below(high) < 0.0:
        low, high = high, 4.0 * high
        if high > _MOST_RATIO:
            return math.inf
    return crossing(below, low, high, within=_PART * high)[1]


def rate_interval(
    rows: int, positive_rows: int, *, value: float, confidence: float, of: Callable[[float], float]
) -> Interval:
    """Return the interval of a loss of the rate of label 1, from the Clopper-Pearson interval of the rate."""
    counts = np.array([float(positive_rows)]), np.array([float(rows)])
    low, high = clopper_pearson(*counts, delta_each_side=(1.0 - confidence) / 2.0)
    ends = of(float(low[0])), of(float(high[0]))
    top = of(0.5) if low[0] <= 0.5 <= high[0] else max(ends)
    lower, upper = min(*ends, value), max(top, value)
    return Interval(lower, upper, confidence, "Clopper-Pearson", Target.POPULATION, finite_sample=True)
