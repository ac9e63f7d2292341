"""Sums over rows of several classes that no table of one holds: joint scores, and what is right how often."""

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.table.exact_sum import ExactSum
from calibcli.table.score_table import Floats, Integers
from calibcli.table.value_cells import ValueCells


@dataclass(slots=True, eq=False)
class Moments:
    """
    Exact sums of a loss x over rows of weight w; rows whose loss is infinite are counted instead.

    Args:
        linear: Of w x.

        squared_linear: Of w^2 x.

        squares: Of w^2 x^2.

        cells: How often x had which size; left empty with importance weights.

        infinite: Rows whose loss is infinite.

        worst: The largest loss that a row can have.
    """

    linear: ExactSum = field(default_factory=ExactSum)
    squared_linear: ExactSum = field(default_factory=ExactSum)
    squares: ExactSum = field(default_factory=ExactSum)
    cells: ValueCells = field(default_factory=ValueCells)
    infinite: int = 0
    worst: float = 0.0

    def add(self, loss: Floats, weight: Floats | None, counts: Integers | None, *, worst: float) -> None:
        """Add rows, with importance weights, frequencies or neither; `worst` is the most they could have."""
        self.worst = max(self.worst, worst)
        finite = np.isfinite(loss)
        if not finite.all():
            self.infinite += _suffered(~finite, weight, counts)
            loss = loss[finite]
            weight = None if weight is None else weight[finite]
            counts = None if counts is None else counts[finite]
        if weight is None:
            self.cells.add(loss, counts)
        if counts is not None:
            self.linear.add_repeated(loss, counts)
            self.squares.add_repeated(loss * loss, counts)
        elif weight is not None:
            self.linear.add(weight * loss)
            self.squared_linear.add(weight * weight * loss)
            self.squares.add((weight * loss) ** 2)
        else:
            self.linear.add(loss)
            self.squares.add(loss * loss)

    def merge(self, other: Self) -> None:
        """Add the rows of another."""
        self.linear.merge(other.linear)
        self.squared_linear.merge(other.squared_linear)
        self.squares.merge(other.squares)
        self.cells.merge(other.cells)
        self.infinite += other.infinite
        self.worst = max(self.worst, other.worst)


def _suffered(which: npt.NDArray[np.bool_], weight: Floats | None, counts: Integers | None) -> int:
    """Return how many rows these are, without those of weight 0."""
    if counts is not None:
        return int(counts[which].sum())
    return int(np.count_nonzero(which if weight is None else which & (weight > 0.0)))


class ClassSums:
    """
    What is added up over rows of several classes, whatever their order and cut.

    Args:
        count: How many classes there are.
    """

    def __init__(self, count: int) -> None:
        self.rows = 0
        self.weighted = False
        self.weight = ExactSum()
        self.weight_sq = ExactSum()
        self.log_loss = Moments()
        self.brier = Moments()
        self.labelled = np.zeros(count, np.int64)
        self.predicted = np.zeros(count, np.int64)
        self.correct = np.zeros(count, np.int64)

    def add_rows(
        self,
        probability: Floats,
        label: Integers,
        predicted: Integers,
        *,
        counts: Integers | None = None,
        weight: Floats | None = None,
    ) -> None:
        """
        Add rows.

        Args:
            probability: Shape (n, K).

            label: Shape (n,), the place of the right class.

            predicted: Shape (n,), the place of the most probable one.

            counts: Frequency weights, or None.

            weight: Importance weights, or None.
        """
        times = np.ones(label.size, np.int64) if counts is None else counts
        self.rows += int(times.sum())
        if weight is not None:
            self.weighted = True
            self.weight.add(weight)
            self.weight_sq.add(weight * weight)
        counted = probability[times > 0] if weight is None else probability[weight > 0.0]
        least = float(counted.min(initial=1.0))
        worst = math.inf if least <= 0.0 else -math.log(least)
        self.log_loss.add(log_loss_of(probability, label), weight, counts, worst=worst)
        self.brier.add(brier_of(probability, label), weight, counts, worst=2.0)
        right = predicted == label
        np.add.at(self.labelled, label, times)
        np.add.at(self.predicted, predicted, times)
        np.add.at(self.correct, label[right], times[right])

    def merge(self, other: Self) -> None:
        """Add the rows of another."""
        self.rows += other.rows
        self.weighted = self.weighted or other.weighted
        self.weight.merge(other.weight)
        self.weight_sq.merge(other.weight_sq)
        self.log_loss.merge(other.log_loss)
        self.brier.merge(other.brier)
        self.labelled += other.labelled
        self.predicted += other.predicted
        self.correct += other.correct


def log_loss_of(probability: Floats, label: Integers) -> Floats:
    """Return -log of the probability of the right class of each row, shape (n,); infinite where it is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(probability[np.arange(label.size), label]))


def brier_of(probability: Floats, label: Integers) -> Floats:
    """Return the sum over classes of (p_c - 1[label = c])^2 of each row, shape (n,)."""
    right = probability[np.arange(label.size), label]
    return np.asarray(np.einsum("ij,ij->i", probability, probability) - 2.0 * right + 1.0)
