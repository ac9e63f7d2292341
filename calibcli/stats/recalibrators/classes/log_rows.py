"""The rows of a fit of all classes together, in an order that depends on their numbers alone."""

from collections.abc import Callable, Iterable, Iterator
from typing import Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from calibcli.ahead import in_order
from calibcli.errors import InputProblem
from calibcli.stats.recalibrators import classes
from calibcli.stats.table import Booleans, Floats, Indices, Integers, run_starts
from calibcli.stats.table.again import ClassBlock, ClassRowSource
from calibcli.values import dataclass, replace

# Odd numbers that spread the bits of a row over a hash (splitmix64).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))

Hashes = npt.NDArray[np.uint64]


def hashes_of(probability: Floats, label: Integers) -> Hashes:
    """Return two hashes of the numbers and the label of each row, shape (2, n), wherever the row stands.

    The first is a sum of bits, the same for many rows of round numbers, such as (1/8, 1/8, 6/8) and
    (3/8, 1/8, 4/8). The second tells these apart, as every number is mixed before they are summed.
    """
    bits = np.ascontiguousarray(probability + 0.0).view(np.uint64)
    with np.errstate(over="ignore"):
        odd = np.arange(1, bits.shape[1] + 1, dtype=np.uint64) * _GOLDEN | np.uint64(1)
        right = label.astype(np.uint64) * _GOLDEN
        return np.stack((_mixed(bits @ odd + right), _mixed(_mixed(bits + odd).sum(axis=1) + right)))


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


# Numbers that are worked on at once.
NUMBERS = 1 << 16

# Logarithms of one probability differ by less.
_ALIKE = 1e-9

# Logarithms up to so many are copied freely.
_FEW = 1 << 21

Fold = tuple[int, int, bool]

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class LogBlock:
    """Rows as a fit sees them.

    Args:
        log: Logarithms of the probabilities, shape (n, K).
        label: Shape (n,), the place of the right class.
        weight: Shape (n,), summing to 1 over all blocks.
    """

    log: Floats
    label: Integers
    weight: Floats


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """Rows in memory, in the order of a hash of their numbers.

    Rows that are the same stand there once, unless they have importance weights.

    Args:
        log: Logarithms of the probabilities, shape (m, K).
        order: The place among them of each row, shape (n,); None where they are in order.
        label: Shape (n,), as are `weight` and `draws`, what rows fall into folds by.
    """

    log: Floats
    order: Indices | None
    label: Integers
    weight: Floats
    draws: Hashes

    def blocks(self, numbers: int) -> Iterator[LogBlock]:
        """Yield the rows in blocks of about so many logarithms."""
        step = max(1, numbers // self.log.shape[1])
        for start in range(0, self.label.size, step):
            some = slice(start, start + step)
            log = self.log[some] if self.order is None else self.log[self.order[some]]
            yield LogBlock(log, self.label[some], self.weight[some])

    def of_fold(self, fold: Fold) -> "KeptRows":
        """Return the rows of a fold, or of all others."""
        inside = np.flatnonzero(_inside(self.draws, fold))
        some = KeptRows(self.log, inside, self.label[inside], self.weight[inside], self.draws[inside])
        if self.order is not None:
            return replace(some, order=self.order[inside])
        return replace(some, log=self.log[inside], order=None)

    def rough(self) -> "KeptRows":
        """Return the same rows in single precision, and in order."""
        log = _single(self.log)
        return replace(self, log=log if self.order is None else log[self.order], order=None)


@dataclass(frozen=True, slots=True, eq=False)
class LogRows:
    """The rows of a fit.

    Neither their order nor the cut of the input changes a bit where they are kept in memory, and frequencies
    do what repeated rows do. Others come in the order of the input, which changes the last digits of sums.

    Args:
        kept: The rows, with weights that sum to 1; None where they do not fit in memory.
        rows: Where they come from in that case.
        count: How many rows there are, those in memory that are the same counted once.
        fold: Of how many folds which one is looked at, and whether that one or all others; None for all rows.
            Rows fall into folds by their numbers. Of rows that do not fit in memory, those of other folds are
            there with weight 0.
    """

    total: float
    absent: tuple[str, ...]
    kept: KeptRows | None
    rows: ClassRowSource
    count: int
    least: float
    fold: Fold | None = None
    single: bool = False
    limited: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: ClassRowSource, *, least: float | None = None) -> Self:
        """Return rows with their weights added up."""
        weights, count, seen, parts = np.zeros(len(rows.classes)), 0, classes.LeastSeen(least), []
        for block in rows.blocks():
            weights += classes.class_weights(weights.size, block)
            count += block.label.size
            seen.add(block)
            if rows.in_memory:
                parts.append(_Part.of(block))
        absent = classes.require_several(rows.classes, weights, count)
        least, limited = seen.least, seen.notes
        if not rows.in_memory:
            return cls(float(weights.sum()), absent, None, rows, count, least, limited=limited)
        kept = _kept(parts, least)
        total = float(kept.weight.sum())
        kept = replace(kept, weight=kept.weight / total)
        return cls(total, absent, kept, rows, kept.label.size, least, limited=limited)

    def fold_weights(self, folds: int) -> Floats:
        """Return what the rows of each of so many folds weigh, shape (folds,)."""
        if self.kept is not None:
            place = (self.kept.draws % np.uint64(folds)).astype(np.int64)
            return np.asarray(np.bincount(place, weights=self.kept.weight, minlength=folds), np.float64)
        return np.array([self.of_fold((place, folds, True)).total for place in range(folds)])

    def of_fold(self, fold: Fold) -> Self:
        if self.kept is None:
            found = replace(self, total=1.0, fold=fold)
            return replace(found, total=sum(float(block.weight.sum()) for block in found.blocks()))
        kept = self.kept.of_fold(fold)
        total = float(kept.weight.sum())
        kept = replace(kept, weight=kept.weight / total if total > 0.0 else kept.weight)
        return replace(self, total=total, kept=kept, fold=fold)

    def refuse_never_wrong(self, what: str) -> None:
        """Refuse rows of which no map is sure enough: no class is more probable than the right one in any.
        `what` names the coefficient of logarithms with which the loss falls for ever.
        """
        for block in self.blocks():
            right = block.log[np.arange(block.label.size), block.label]
            if np.any((right < block.log.max(axis=1)) & (block.weight > 0.0)):
                return
        msg = f"the most probable class is right in every row, so that no {what} is best"
        raise InputProblem(msg, "fit on more rows, or on rows the model has not been trained on")

    @property
    def alike(self) -> str | None:
        """The first class whose probability is one in all rows, but for rounding; None if there is none."""
        count = len(self.rows.classes)
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        for block in self.blocks():
            low, high = (
                np.minimum(low, block.log.min(axis=0, initial=np.inf)),
                np.maximum(high, block.log.max(axis=0, initial=-np.inf)),
            )
        same = np.flatnonzero(high - low <= _ALIKE)
        return self.rows.classes[int(same[0])] if same.size else None

    @property
    def many(self) -> bool:
        """Whether logarithms are so many that their precision tells in the time that a pass takes."""
        return self.kept is None or self.kept.log.size > _FEW

    @property
    def workers(self) -> int:
        return self.rows.workers

    def rough(self) -> Self:
        """Return the same rows in single precision where they are many, else as they are."""
        if not self.many:
            return self
        return replace(self, kept=None if self.kept is None else self.kept.rough(), single=True)

    def blocks(self, numbers: int = NUMBERS) -> Iterator[LogBlock]:
        """Yield the rows in blocks of about so many logarithms, where they are kept in memory."""
        if self.kept is not None:
            yield from self.kept.blocks(numbers)
            return
        for block in self.rows.blocks():
            weight = block.weights
            if self.fold is not None:
                draws = draws_of(block.probability, block.label)
                weight = np.where(_inside(draws, self.fold), weight, 0.0)
            log = classes.log_of(block.probability, self.least)
            yield LogBlock(_single(log) if self.single else log, block.label, weight / self.total)

    def summed(self, work: Callable[[LogBlock], Floats], *, numbers: int = NUMBERS) -> Floats:
        """Return the sum of arrays of one shape, made of each block, whatever the number of workers."""
        return summed(work, self.blocks(numbers), self.workers)


def summed(work: Callable[[Item], Floats], items: Iterable[Item], workers: int) -> Floats:
    """Return the sum of what is made of each item in double precision, added up in the order of the items."""
    parts = in_order(work, items, workers)
    total = np.array(next(parts), np.float64)
    for part in parts:
        total += part
    return total


def _single(log: Floats) -> Floats:
    """Return logarithms in single precision, for sums that only lead to where exact ones are taken."""
    return cast("Floats", log.astype(np.float32))


def _inside(draws: Hashes, fold: Fold) -> Booleans:
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
            classes.log_of(block.probability, classes.LEAST_OF_LOGITS),
            block.label,
            block.weights,
            hashes_of(block.probability, block.label),
            draws_of(block.probability, block.label),
            block.weighing.weight is not None,
        )


def _kept(parts: list[_Part], least: float) -> KeptRows:
    """Return all rows with weights as they were given."""
    label = np.concatenate([one.label for one in parts])
    weight = np.concatenate([one.weight for one in parts])
    hashes = np.concatenate([one.hashes for one in parts], axis=1)
    order = np.lexsort((weight, hashes[1], hashes[0]))
    hashes, weight = hashes[:, order], weight[order]
    if not any(one.weighted for one in parts):
        starts = run_starts(hashes[1])
        order, weight = order[starts], np.add.reduceat(weight, starts)
    draws = np.concatenate([one.draws for one in parts])[order]
    log, label = _joined(parts, least), label[order]
    # Few logarithms are copied in order.
    few = log.size <= _FEW
    return KeptRows(log[order] if few else log, None if few else order, label, weight, draws)


def _joined(parts: list[_Part], least: float) -> Floats:
    """Return logarithms, none below that of `least`, one after the other, each block given up then."""
    whole = np.empty((sum(one.label.size for one in parts), parts[0].log.shape[1]))
    start = 0
    parts.reverse()
    while parts:
        one = parts.pop().log
        np.maximum(one, np.log(least), out=whole[start : start + one.shape[0]])
        start += one.shape[0]
    return whole
