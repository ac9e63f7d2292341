"""Proper scores, what they leave uncertain, and skill against a constant forecast."""

import math
from collections.abc import Callable
from typing import Self

import numpy as np

from calibcli.names import GAVE_ZERO, MeasureName, Target
from calibcli.options.numerals import plural
from calibcli.stats.bounds import Interval, stated
from calibcli.stats.bounds.means import METHOD, Values, as_many
from calibcli.stats.bounds.proportion import clopper_pearson_of_a_rate
from calibcli.stats.measures import Estimate, effective_rows
from calibcli.stats.measures.if_calibrated import Measures, of_mean
from calibcli.stats.table import Booleans, Floats
from calibcli.stats.table.grid import Table
from calibcli.stats.table.value_cells import ValueCells
from calibcli.values import dataclass, replace

# Rates worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """A loss at each of many scores, (..., n); `expected` is its mean over labels that follow the score."""

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


def losses_of_rows(name: MeasureName, score: Floats, label: Booleans) -> Floats:
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

NO_HEAVIER = "no rows to come weigh far more than these"

NO_LARGEST = (
    "no upper end: there are scores of exactly 0 or 1, and one that is wrong makes the log loss infinite"
)

# From so many costly rows on the added row makes a bound at 95 % wider by less than a sixth.
ENOUGH_COSTLY = 40

# So many values are looked at one by one.
_MOST_VALUES = 4_096


def brier(table: Table, *, confidence: float | None = 0.95) -> Estimate:
    """Mean squared difference (label - score)^2; if labels followed the scores, the mean of f (1 - f)."""
    losses = losses_of(table, squared_error)
    return _mean_loss(table, MeasureName.BRIER, losses, most=1.0, confidence=confidence)


def log_loss(table: Table, *, confidence: float | None = 0.95) -> Estimate:
    """Mean of -ln f over rows with label 1 and of -ln(1 - f) over rows with label 0.

    The interval is by the largest loss that a score as extreme as these can have: without an upper end where
    there are scores of exactly 0 or 1. Infinite, without an interval, if one of those was wrong.
    """
    losses = losses_of(table, log_error)
    return _mean_loss(table, MeasureName.LOG_LOSS, losses, most=losses.largest, confidence=confidence)


def spherical(table: Table, *, confidence: float = 0.95) -> Estimate:
    """Mean of 1 - p / sqrt(f^2 + (1 - f)^2), p the probability of what happened; 0 is best."""
    losses = losses_of(table, spherical_error)
    return _mean_loss(table, MeasureName.SPHERICAL, losses, most=1.0, confidence=confidence)


def certain_and_wrong(table: Table) -> int:
    """Return the number of rows with score 0 and label 1, or score 1 and label 0."""
    at_zero = np.flatnonzero(table.score_of_positive == 0.0)
    at_one = np.flatnonzero(table.score_of_negative == 1.0)
    negative_rows = table.rows[at_one] - table.positive_rows[at_one]
    return int(table.positive_rows[at_zero].sum() + negative_rows.sum())


def gave_zero(rows: int) -> str:
    """Return in words that so many rows had a score of 0 or 1 that was wrong."""
    return f"{plural(rows, 'row')} {GAVE_ZERO}"


def _mean_loss(
    table: Table, name: MeasureName, losses: Losses, *, most: float, confidence: float | None
) -> Estimate:
    """Return the mean of a loss that is at most `most`; its interval where a confidence is asked for."""
    positive, negative = table.positive, table.weight - table.positive
    total = float(table.weight.sum())
    null = float((table.weight * losses.expected).sum()) / total
    null_range = of_mean(table, null, losses.if_positive - losses.if_negative)
    if math.isinf(most):
        losses = losses.suffered(positive, negative)
    value = losses.mean_of_suffered(positive, negative)
    wrong = certain_and_wrong(table)
    details: dict[str, float] = {"certain_and_wrong": wrong}
    interval, because = None, []
    if not math.isfinite(value):
        because.append(f"no interval: {gave_zero(wrong)}")
    elif effective_rows(table) < 1.5:
        because.append(one_row(table.total_rows))
    elif confidence is not None:
        if name is MeasureName.LOG_LOSS:
            because.append(NO_MORE_EXTREME if math.isfinite(most) else NO_LARGEST)
        if table.weighted:
            because.append(NO_HEAVIER)
        values = values_of(table, losses, negative=negative, mean=value)
        interval = interval_of_mean(values, most=most, confidence=confidence)
        if interval.upper is not None:
            # Where all rows lose the most there is, their mean may be rounded up.
            interval = replace(interval, upper=max(interval.upper, value))
        details |= rests_on(values, largest=most)
    return Estimate.of(
        name, table, value, interval, null=(null, null_range), because=because, details=details
    )


def one_row(rows: int) -> str:
    """Return why there is no interval where so many rows count as fewer than two."""
    return "no interval: one row" if rows < 2 else "no interval: one row has the weight"


def values_of(table: Table, losses: Losses, *, negative: Floats, mean: float) -> Values:
    """Return how many rows suffered which loss; with importance weights, what each adds to the mean."""
    if not table.weighted:
        return gathered((losses.if_positive, table.positive), (losses.if_negative, negative))
    value, rows = [], []
    for loss, weight, square in (
        (losses.if_positive, table.positive, table.positive_sq),
        (losses.if_negative, negative, table.weight_sq - table.positive_sq),
    ):
        some = (weight > 0.0) & (square > 0.0)
        # Rows of one score and label count for as many of one weight each.
        each = square[some] / weight[some]
        rows.append(weight[some] / each)
        value.append(each * (loss[some] - mean))
    count, away = np.concatenate(rows), np.concatenate(value)
    away *= float(count.sum()) / float(table.weight.sum())
    if count.size <= _MOST_VALUES:
        return Values(mean + away, count, float(count.sum()) / effective_rows(table))
    cells, variance = ValueCells(), _squares(away, count, mean=0.0) / float(count.sum())
    cells.add(away, np.maximum(np.rint(count), 1.0).astype(np.int64))
    found = from_cells(cells, mean=mean, variance=variance)
    return replace(found, added=found.total / effective_rows(table))


def weighted_values(cells: ValueCells, *, mean: float, variance: float, rows: float) -> Values:
    """Return what rows with importance weights add to a mean, from cells of weight times loss.

    The variance of the mean is known, and that the rows are worth so many. What they add is the weight times
    the loss less the mean, which these cells do not hold.
    """
    total = float(cells.values()[1].sum())
    found = from_cells(cells, mean=mean, variance=variance * total)
    return replace(found, added=found.total / rows, rough=True)


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
    """Return what the interval of a mean rests on, for the details of an estimate.

    Args:
        largest: The most that a row can have.
        scale: What one unit of the mean is of the measure.
    """
    return {
        "standard_error": values.standard_error * scale,
        "costly_rows": values.costly_rows,
        "largest_loss": largest,
    }


def unseen_words(costly: float, rows: float, *, largest: float | None, delta: float) -> str:
    """Return what keeps a mean open that these rows by themselves would settle, in words.

    The largest loss of a row is None where rows are ranked.
    """
    one_in = 1.0 / (1.0 - delta ** (1.0 / rows))
    if largest is None:
        if costly < ENOUGH_COSTLY:
            return f"the scores rank too few rows apart (about {costly:.0f}; {ENOUGH_COSTLY} needed)"
        return f"rows that one score ranks high and the other low may still occur, up to 1 in {one_in:,.0f}"
    if math.isinf(largest):
        return "there are scores of exactly 0 or 1, and one that is wrong makes the log loss infinite"
    if costly < ENOUGH_COSTLY:
        return f"too few large errors for a reliable interval (about {costly:.0f}; {ENOUGH_COSTLY} needed)"
    return (
        f"rare costly misses (a loss of up to {largest:.4g}) may still occur in up to 1 row in {one_in:,.0f}"
    )


def range_of_mean(table: Table, losses: Losses) -> float:
    """Return the root of the sum of (w times what a label changes of the loss)^2, over the sum of weights."""
    some = table.weight_sq > 0.0
    moved = losses.if_positive[some] - losses.if_negative[some]
    return math.sqrt(float((table.weight_sq[some] * moved**2).sum())) / float(table.weight.sum())


def interval_of_mean(values: Values, *, most: float, confidence: float) -> Interval:
    """Return the interval of the mean of a loss between 0 and `most`, which may be infinite."""
    delta = (1.0 - confidence) / 2.0
    lower = max(0.0, values.lower_bound(least=0.0, delta=delta))
    upper = stated(min(most, values.upper_bound(most=most, delta=delta)))
    return Interval(lower, upper, confidence, METHOD, Target.POPULATION, finite_sample=False)


def rate_interval(
    rows: int, positive_rows: int, *, value: float, confidence: float, of: Callable[[float], float]
) -> Interval:
    """Return the interval of a loss of the rate of label 1, from the Clopper-Pearson interval of the rate."""
    low, high = clopper_pearson_of_a_rate(positive_rows, rows, delta_each_side=(1.0 - confidence) / 2.0)
    ends = of(low), of(high)
    top = of(0.5) if low <= 0.5 <= high else max(ends)
    lower, upper = min(*ends, value), max(top, value)
    return Interval(lower, upper, confidence, "Clopper-Pearson", Target.POPULATION, finite_sample=True)


MEASURES: Measures = {
    MeasureName.BRIER: lambda name, table, settings: brier(table, confidence=settings.confidence_of(name)),
    MeasureName.LOG_LOSS: lambda _, table, settings: log_loss(table, confidence=settings.confidence),
    MeasureName.SPHERICAL: lambda _, table, settings: spherical(table, confidence=settings.confidence),
}
