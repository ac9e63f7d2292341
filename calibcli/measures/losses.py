"""What proper scores make of each score: losses by label, and on average if labels follow the score."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.names import MeasureName
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

# Rates worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """
    A loss at each of many scores, shapes (..., n).

    Args:
        if_positive: Of a row with label 1.

        if_negative: Of a row with label 0.

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
