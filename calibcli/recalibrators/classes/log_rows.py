"""The rows of a fit of all classes together, in an order that depends on their numbers alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.recalibrators.classes.softmax import (
    class_weights,
    log_of,
    losses_and_softmax,
    require_several,
)
from calibcli.table.class_rows_again import ClassBlock, ClassRowSource
from calibcli.table.score_table import Floats, Integers

# Odd numbers that spread the bits of a row over a hash (splitmix64).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
# Numbers that are worked on at once.
_NUMBERS = 1 << 16
# Logarithms up to so many are copied freely.
_FEW = 1 << 21
Hashes = npt.NDArray[np.uint64]
Fold = tuple[int, int, bool]


@dataclass(frozen=True, slots=True, eq=False)
class LogBlock:
    """
    Rows as a fit sees them.

    Args:
        log: Logarithms of the probabilities, shape (n, K).

        label: Shape (n,), the place of the right class.

        weight: Shape (n,), summing to 1 over all blocks.
    """

    log: Floats
    label: Integers
    weight: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """
    Rows in memory, in the order of a hash of their numbers.

    Rows that are the same stand there once, unless they have importance weights.

    Args:
        log: Logarithms of the probabilities, shape (m, K).

        order: The place among them of each row, shape (n,); None where they are in order.

        label: Shape (n,).

        weight: Shape (n,).

        draws: What rows fall into folds by, shape (n,).
    """

    log: Floats
    order: npt.NDArray[np.intp] | None
    label: Integers
    weight: Floats
    draws: Hashes

    def __iter__(self) -> Iterator[LogBlock]:
        """Yield the rows in blocks."""
        step = max(1, _NUMBERS // self.log.shape[1])
        for start in range(0, self.label.size, step):
            some = slice(start, start + step)
            log = self.log[some] if self.order is None else self.log[self.order[some]]
            yield LogBlock(log, self.label[some], self.weight[some])

    def put_in_order(self) -> "Kept":
        """Return the same rows with a copy of the logarithms in order, where they are few."""
        if self.order is None or self.log.size > _FEW:
            return self
        return replace(self, log=self.log[self.order], order=None)

    def of_fold(self, fold: Fold) -> "Kept":
        """Return the rows of a fold or of all others; where they are many, the rest stays with weight 0."""
        inside = _inside(self.draws, fold)
        if self.order is not None:
            return replace(self, weight=np.where(inside, self.weight, 0.0))
        return Kept(self.log[inside], None, self.label[inside], self.weight[inside], self.draws[inside])


@dataclass(frozen=True, slots=True, eq=False)
class LogRows:
    """
    The rows of a fit.

    Neither their order nor the cut of the input changes a bit where they are kept in memory, and frequencies
    do what repeated rows do. Others come in the order of the input, which changes the last digits of sums.

    Args:
        total: The sum of the weights.

        absent: Classes that no row has.

        kept: The rows, with weights that sum to 1; None where they do not fit in memory.

        rows: Where they come from in that case.

        fold: Of how many folds which one is looked at, and whether that one or all others; None for all rows.
            Rows fall into folds by their numbers; those of other folds are there with weight 0.
    """

    total: float
    absent: tuple[str, ...]
    kept: Kept | None
    rows: ClassRowSource
    fold: Fold | None = None

    @classmethod
    def of(cls, rows: ClassRowSource) -> Self:
        """
        Return rows with their weights added up.

        Args:
            rows: The fit rows.

        Raises:
            EmptyTable: If there are none.

            InputProblem: If there is one label only.
        """
        weights, count, parts = np.zeros(len(rows.classes)), 0, []
        for block in rows.blocks():
            weights += class_weights(weights.size, block)
            count += block.label.size
            if rows.in_memory:
                parts.append(_Part.of(block))
        absent = require_several(rows.classes, weights, count)
        if not rows.in_memory:
            return cls(float(weights.sum()), absent, None, rows)
        kept = _kept(parts)
        total = float(kept.weight.sum())
        return cls(total, absent, replace(kept, weight=kept.weight / total), rows)

    def of_fold(self, fold: Fold) -> Self:
        """Return the rows of one fold, or of all others."""
        if self.kept is None:
            found = replace(self, total=1.0, fold=fold)
            return replace(found, total=sum(float(block.weight.sum()) for block in found))
        kept = self.kept.of_fold(fold)
        total = float(kept.weight.sum())
        kept = replace(kept, weight=kept.weight / total if total > 0.0 else kept.weight)
        return replace(self, total=total, kept=kept, fold=fold)

    def __iter__(self) -> Iterator[LogBlock]:
        """Yield the rows in blocks."""
        if self.kept is not None:
            yield from self.kept
            return
        for block in self.rows.blocks():
            weight = block.weights
            if self.fold is not None:
                draws = draws_of(block.probability, block.label)
                weight = np.where(_inside(draws, self.fold), weight, 0.0)
            yield LogBlock(log_of(block.probability), block.label, weight / self.total)


def mean_loss(rows: LogRows, logits_of: Callable[[Floats], Floats]) -> float:
    """Return the mean log loss of a map from logarithms of probabilities to logits."""
    total = 0.0
    for block in rows:
        loss, _ = losses_and_softmax(logits_of(block.log), block.label)
        total += float(block.weight @ loss)
    return total


def hashes_of(probability: Floats, label: Integers) -> Hashes:
    """Return a hash of the numbers and the label of each row, shape (n,), wherever the row stands."""
    bits = np.ascontiguousarray(probability + 0.0).view(np.uint64)
    with np.errstate(over="ignore"):
        odd = np.arange(1, bits.shape[1] + 1, dtype=np.uint64) * _GOLDEN | np.uint64(1)
        return _mixed(np.asarray(bits @ odd + label.astype(np.uint64) * _GOLDEN))


def draws_of(probability: Floats, label: Integers) -> Hashes:
    """Return what rows fall into folds by, shape (n,): the same whatever the order of the classes."""
    bits = np.ascontiguousarray(probability + 0.0).view(np.uint64)
    with np.errstate(over="ignore"):
        spread = bits * _GOLDEN
        spread ^= spread >> np.uint64(31)
        right = spread[np.arange(label.size), label]
        return _mixed(spread.sum(axis=1, dtype=np.uint64) + right * _MIX[0])


def _mixed(mixed: Hashes) -> Hashes:
    """Return numbers whose every bit depends on every bit (splitmix64)."""
    with np.errstate(over="ignore"):
        for shift, factor in zip((30, 27), _MIX, strict=True):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _inside(draws: Hashes, fold: Fold) -> npt.NDArray[np.bool_]:
    place, folds, inside = fold
    return np.asarray((draws % np.uint64(folds) == place) == inside)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Rows of a block that are kept."""

    log: Floats
    label: Integers
    weight: Floats
    hashes: Hashes
    draws: Hashes
    weighted: bool

    @classmethod
    def of(cls, block: ClassBlock) -> Self:
        return cls(
            log_of(block.probability),
            block.label,
            block.weights,
            hashes_of(block.probability, block.label),
            draws_of(block.probability, block.label),
            block.weight is not None,
        )


def _kept(parts: list[_Part]) -> Kept:
    """Return all rows with weights as they were given."""
    label = np.concatenate([one.label for one in parts])
    weight = np.concatenate([one.weight for one in parts])
    hashes = np.concatenate([one.hashes for one in parts])
    order = np.lexsort((weight, hashes))
    order = order[weight[order] > 0.0]
    hashes, weight = hashes[order], weight[order]
    if not any(one.weighted for one in parts):
        starts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
        order, weight = order[starts], np.add.reduceat(weight, starts)
    draws = np.concatenate([one.draws for one in parts])[order]
    return Kept(_joined(parts), order, label[order], weight, draws).put_in_order()


def _joined(parts: list[_Part]) -> Floats:
    """Return logarithms one after the other, each block given up as soon as it is there."""
    whole = np.empty((sum(one.label.size for one in parts), parts[0].log.shape[1]))
    start = 0
    parts.reverse()
    while parts:
        one = parts.pop().log
        whole[start : start + one.shape[0]] = one
        start += one.shape[0]
    return whole
