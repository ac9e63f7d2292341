"""Tables of several classes: one for each, counted side by side, and sums that no table of one holds."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import EXACT_LIMIT, OF_DISTRIBUTIONS, ClassMeasure
from calibcli.stats.numerics import ExactSum
from calibcli.stats.table import ONCE, Booleans, Floats, Indices, Integers, ScoreTable, Weighing, merge_all
from calibcli.stats.table import grid as cells
from calibcli.stats.table.bins import BinnedTable, Bins, bin_index
from calibcli.stats.table.grid import Table
from calibcli.stats.table.running import Parts, spread_of
from calibcli.stats.table.sliced import COARSE_CELLS, KeyedSums, RunningSlices, coarse_cell
from calibcli.stats.table.value_cells import ValueSums, worst_log_loss
from calibcli.values import dataclass, field

# Scores from here on have a slot, and 0 has one: what lies between is as rare as it is small.
_LEAST = 2.0**-64

_MOST_SLOTS = 1 << 24


class _Slots(NamedTuple):
    """The cells that are counted here, and last of all a place for what is not.

    Args:
        of_code: For each code of the fine grid its slot, shape (CODES,).
        code: For each slot the code of its cell in a coarse grid, ascending, shape (n_slots,).
        edge: The upper edge of that cell.
    """

    of_code: npt.NDArray[np.int32]
    code: Integers
    edge: Floats

    @property
    def nowhere(self) -> int:
        return self.code.size - 1


@cache
def _slots() -> _Slots:
    fine = np.arange(cells.CODES)
    # Above 0 and below 1, where doubles are no nearer to 1 than 2^-53.
    first, last = cells.cell_of(np.array([_LEAST, 1.0 - 2.0**-53]))
    held = (first <= fine) & (fine <= last)
    held[[0, -1]] = True
    coarse, edge = coarse_cell(fine, cells.upper_edge(fine))
    code, where, place = np.unique(coarse[held], return_index=True, return_inverse=True)
    of_code = np.full(cells.CODES, code.size, np.int32)
    of_code[held] = place
    return _Slots(of_code, np.append(code, cells.CODES), np.append(edge[held][where], 1.0))


class ClassCells:
    """Counts of scores by class and cell, and sums of distances to edges; of classes as `worth_it` says."""

    def __init__(self, count: int) -> None:
        self._slots = _slots()
        self._first = np.arange(count) * self._slots.code.size
        self._rows = np.zeros(count * self._slots.code.size, np.int64)
        self._below = np.zeros(count * self._slots.code.size, np.int64)

    @staticmethod
    def worth_it(count: int) -> bool:
        """Whether so many classes are counted in less than 256 MiB."""
        return count * _slots().code.size <= _MOST_SLOTS

    def add(self, probability: Floats, label: Integers, counts: Integers | None) -> tuple[Indices, Indices]:
        """Add scores of label 0, shape (n, n_classes); return rows and classes of those without a slot."""
        # Of few classes at a time, whose cells stay in the processor's cache.
        step = max(1, _BLOCK // max(1, label.size))
        left = [
            self._add(np.ascontiguousarray(probability[:, first : first + step]), label, counts, first)
            for first in range(0, self._first.size, step)
        ]
        row, code = (np.concatenate(one) for one in zip(*left, strict=True))
        return row, code

    def _add(
        self, probability: Floats, label: Integers, counts: Integers | None, first: int
    ) -> tuple[Indices, Indices]:
        """Add those of some classes, from the first of them on."""
        slots, classes = self._slots, probability.shape[1]
        slot = slots.of_code.take(cells.cell_of(probability.reshape(-1))).reshape(probability.shape)
        own = np.flatnonzero((first <= label) & (label < first + classes))
        slot[own, label[own] - first] = slots.nowhere
        whole = cells.whole_distances(probability, slots.edge.take(slot))
        times: int | Integers = 1
        if counts is not None:
            whole *= counts[:, None]
            times = np.repeat(counts, classes)
        place = (self._first[first : first + classes] + slot).reshape(-1)
        np.add.at(self._rows, place, times)
        np.add.at(self._below, place, whole.reshape(-1))
        row, code = np.divmod(np.flatnonzero(slot == slots.nowhere), classes)
        code += first
        left = code != label[row]
        return row[left], code[left]

    def merge(self, other: Self) -> None:
        self._rows += other._rows
        self._below += other._below

    def sums(self) -> KeyedSums:
        """Return the cells that hold rows."""
        part, slot = np.nonzero(self._rows.reshape(self._first.size, -1)[:, : self._slots.nowhere])
        place = self._first[part] + slot
        rows, nothing = self._rows[place], np.zeros(place.size, np.int64)
        return KeyedSums(part, self._slots.code[slot], (rows, nothing, nothing, self._below[place]))


# A table of one score is allowed 268 bytes for each distinct score, with room to smooth it. Those of classes
# take 24 at rest; they are sorted one by one, and hardly take more while they grow.
SCORES_FOR_ONE = 3

# Scores that are added at once: more are slower, as what is made of them leaves the processor's cache.
_BLOCK = 1 << 16

# Scores that wait before they are sorted, class by class; more where that may show that there are too many.
# The most take 256 MiB: tables of so many take three times as much, and twice that while they are merged.
_WAITING, _MOST_WAITING = 1 << 21, 1 << 25


# In each of few classes so many rows are added at once.
_BLOCK_ROWS = 1 << 11


def _blocks(probability: Floats, least: int = 1) -> Iterator[slice]:
    """Yield rows in equal parts of so many scores together, or up to twice that; at least so many rows."""
    step = max(least, _BLOCK // probability.shape[1])
    step = -(-len(probability) // max(1, len(probability) // step)) or 1
    return (slice(start, start + step) for start in range(0, len(probability), step))


class _Rows(NamedTuple):
    probability: Floats
    label: Integers
    weighing: Weighing


def _merged(parts: Sequence[tuple[ScoreTable, ...]]) -> tuple[ScoreTable, ...]:
    return tuple(merge_all(tables) for tables in zip(*parts, strict=True))


def _distinct(tables: tuple[ScoreTable, ...]) -> int:
    return sum(table.distinct for table in tables)


def _spared(limit: int) -> int:
    """Return how many scores of each class are not held against the limit; few where that is small.

    They take as much memory as the cells in which grids are counted side by side. As what is beyond them
    only grows with the rows, neither their order nor their cut changes whether a limit is passed.
    """
    return min(COARSE_CELLS, limit // 10)


# Marks of scores that are looked at together: they fit the processor's cache. Of many rows one class
# has more, and at most 32 MiB, where a few scores that share a mark count once.
_MARKS, _MOST_MARKS_BITS = 1 << 22, 25


def _distinct_at_least(blocks: Sequence[Floats], *, bits: int) -> list[int]:
    """Return how many distinct scores there certainly are of each class, without sorting them."""
    marks = np.zeros((blocks[0].shape[1], 1 << bits), np.bool_)
    first = np.arange(len(marks), dtype=np.uint64) << np.uint64(bits)
    for block in blocks:
        spread = spread_of(block, bits)
        spread += first
        marks.reshape(-1)[spread] = True
    return [int(np.count_nonzero(one)) for one in marks]


class RunningClasses:
    """Add rows of several classes, and take the table of each class at the end.

    The tables share one limit, and all are exact or all are coarse grids, as those of groups. As grids,
    scores of label 0 are counted in cells of all classes side by side; those of label 1, one to a row,
    are few. Rows with importance weights are sorted all together, and take more memory.

    Args:
        limit: Most distinct scores that one table of rows might have; None for no limit.
    """

    def __init__(self, classes: tuple[str, ...], limit: int | None = EXACT_LIMIT) -> None:
        self._names = [(name,) for name in classes]
        self._limit = None if limit is None else SCORES_FOR_ONE * limit
        # Of grids, and of rows with importance weights.
        self._slices = RunningSlices(limit)
        self._slices.registry.places(self._names)
        self._cells: ClassCells | None = None
        # Tables of all classes, of parts of the rows; and rows that are in none yet.
        self._parts = Parts(_merged, _distinct, least=_WAITING, limit=self._limit)
        self._waiting: list[_Rows] = []
        self._waiting_scores = 0
        # How large the whole was when it was last held against the limit.
        self._looked_at = 0

    def __getstate__(self) -> dict[str, object]:
        # Tables that travel are as small as they can be.
        self._settle()
        return self.__dict__

    def add_rows(self, probability: Floats, label: Integers, weighing: Weighing = ONCE) -> None:
        if weighing.weight is None and not self._slices.is_grid:
            self._waiting.append(_Rows(probability, label, weighing))
            self._waiting_scores += probability.size
            self._fold(self._enough)
            return
        for some in _blocks(probability, _BLOCK_ROWS if self._side_by_side else 1):
            self._add(probability[some], label[some], weighing.of(some))

    def add(self, other: Self) -> None:
        if other._slices.is_grid:
            self._become_grid()
        self._slices.add(other._slices)
        if self._cells is None:
            self._cells = other._cells
        elif other._cells is not None:
            self._cells.merge(other._cells)
        for part in other._parts:
            self._take(part)
        for rows in other._waiting:
            self.add_rows(*rows)

    def tables(self) -> dict[str, Table]:
        """Return the table of every class, in the order of the classes."""
        self._settle()
        if self._cells is not None:
            self._slices.add_cells(self._cells.sums())
            self._cells = None
        tables: dict[tuple[str, ...], Table] = self._slices.tables()
        merged = self._parts.merged()
        if merged is not None:
            exact = zip(self._names, merged, strict=True)
            tables |= {name: table for name, table in exact if table.distinct}
        return {name[0]: tables[name] for name in self._names if name in tables}

    def _settle(self) -> None:
        """Make one table of each class, or grids."""
        self._fold(0)
        self._parts.merged()
        self._look_at_the_limit()

    @property
    def _enough(self) -> int:
        """How many scores wait before they are sorted: more than may be, as some marks coincide."""
        most = 0 if self._limit is None else 5 * self._most(self._limit) // 4
        return min(max(_WAITING, most), _MOST_WAITING)

    def _most(self, limit: int) -> int:
        """Return how many scores all classes together may have, however they are shared out."""
        return limit + (len(self._names) - 1) * _spared(limit)

    def _take(self, tables: tuple[ScoreTable, ...]) -> None:
        if self._slices.is_grid:
            for place, table in enumerate(tables):
                self._slices.add_table(place, table)
            return
        self._parts.add(tables)
        self._look_at_the_limit()

    def _fold(self, least: int) -> None:
        """Make tables of the rows that wait once they have more scores than that, and look at the limit."""
        waiting = self._waiting_scores
        if self._slices.is_grid or waiting <= least:
            return
        if self._surely_too_many():
            self._become_grid()
            return
        tables = tuple(self._table_of(place) for place in range(len(self._names)))
        self._waiting, self._waiting_scores = [], 0
        self._take(tables)

    def _look_at_the_limit(self) -> None:
        size = self._parts.merged_size
        if self._limit is not None and size > max(self._limit, self._looked_at):
            self._looked_at = size
            # What was merged comes first; one class alone may have the whole limit.
            tables, free = next(iter(self._parts)), _spared(self._limit)
            if free + sum(max(table.distinct - free, 0) for table in tables) > self._limit:
                self._become_grid()

    def _table_of(self, place: int) -> ScoreTable:
        """Return the table of a class over the rows that wait."""
        score = np.concatenate([rows.probability[:, place] for rows in self._waiting])
        right = np.concatenate([rows.label == place for rows in self._waiting])
        if all(rows.weighing.is_once for rows in self._waiting):
            return ScoreTable.from_rows(score, right)
        counts = [rows.weighing.times(rows.label.size) for rows in self._waiting]
        return ScoreTable.from_rows(score, right, Weighing(counts=np.concatenate(counts)))

    def _surely_too_many(self) -> bool:
        """Whether the rows that wait have more distinct scores than may be, found without sorting them."""
        if self._limit is None or not all(rows.weighing.is_once for rows in self._waiting):
            return False
        if self._waiting_scores <= self._most(self._limit):
            return False
        rows_waiting = sum(rows.label.size for rows in self._waiting)
        bits = min((8 * rows_waiting).bit_length(), _MOST_MARKS_BITS)
        step, free = max(1, _MARKS >> bits), _spared(self._limit)
        found = free
        for first in range(0, len(self._names), step):
            some = [rows.probability[:, first : first + step] for rows in self._waiting]
            found += sum(max(distinct - free, 0) for distinct in _distinct_at_least(some, bits=bits))
            if found > self._limit:
                return True
        return False

    def _become_grid(self) -> None:
        """Round all rows, and those to come, to the cells of coarse grids."""
        parts, waiting = self._parts.taken(), self._waiting
        self._waiting, self._waiting_scores = [], 0
        self._slices.become_grid()
        for part in parts:
            self._take(part)
        for rows in waiting:
            self.add_rows(*rows)

    @property
    def _side_by_side(self) -> bool:
        return self._slices.is_grid and ClassCells.worth_it(len(self._names))

    def _add(self, probability: Floats, label: Integers, weighing: Weighing) -> None:
        """Add scores of single classes, in cells side by side once these are grids."""
        count = len(self._names)
        every = np.arange(label.size)
        if self._side_by_side:
            if self._cells is None:
                self._cells = ClassCells(count)
            left, code = self._cells.add(probability, label, weighing.counts)
            row, code = np.append(every, left), np.append(label, code)
        else:
            row, code = np.repeat(every, count), np.tile(np.arange(count), label.size)
        # The registry has the classes in their order.
        self._slices.add_numbered(
            probability[row, code],
            label[row] == code,
            part=code,
            weighing=weighing.of(row),
        )


@dataclass(slots=True, eq=False)
class LossSums(ValueSums):
    """Exact sums of a loss over rows; those whose loss is infinite are counted instead.

    Args:
        noise: Variances of the losses if labels follow the probabilities; left empty with importance weights.
    """

    infinite: int = 0
    worst: float = 0.0
    noise: ExactSum = field(default_factory=ExactSum)

    def add(self, loss: Floats, weighing: Weighing, *, worst: float) -> None:
        """Add rows; `worst` is the most they could have."""
        self.worst = max(self.worst, worst)
        finite = np.isfinite(loss)
        if not finite.all():
            self.infinite += weighing.number(~finite)
            loss, weighing = loss[finite], weighing.of(finite)
        counts, weight = weighing
        if weight is None:
            self.add_values(loss, counts)
        else:
            self.add_weighted(loss, weight)

    def merge(self, other: Self) -> None:
        ValueSums.merge(self, other)
        self.infinite += other.infinite
        self.worst = max(self.worst, other.worst)
        self.noise.merge(other.noise)


# Fifteen equal bins make at most 684 cells of any number of probabilities that descend and sum to one.
MOST_CELLS = 100_000
# Numbers in [0, 1] are added up as whole numbers of these, and what is left as whole numbers of their square:
# no sum of up to 2^36 rows is rounded or passes 63 bits, whatever the order.
_CELL_UNIT = 2.0**-26
_MOST_TOP_ROWS = 1 << 36
# Rows, their weight and its square; then of each rank rows and weight of label 1, and in two parts each the
# scores, squared residuals and open variances.
_OF_ALL, _OF_RANK = 3, 8


class TopCells:
    """Sums over rows by the bins of their `ranks` largest probabilities.

    A cell is a bin for each of them. Those that hold rows are kept, and more than `MOST_CELLS` are refused.
    """

    def __init__(self, ranks: int, bins: Bins) -> None:
        if bins.edges is None:
            msg = "cells need bins that have edges"
            raise ValueError(msg)
        self.ranks, self.bins, self.weighted = ranks, bins, False
        self._edges, self._base = bins.edges, bins.edges.size - 1
        self._code: Integers = np.zeros(0, np.int64)
        self._sums: npt.NDArray[np.int64 | np.float64] = np.zeros((_OF_ALL + _OF_RANK * ranks, 0), np.int64)

    def add_rows(self, probability: Floats, label: Integers, weighing: Weighing = ONCE) -> None:
        """Add rows; of equal probabilities that of the first class counts as the larger."""
        rows, weight = weighing.times(label.size), weighing.weight
        times, squared = (rows, rows) if weight is None else (weight, weight**2)
        self.weighted = self.weighted or weight is not None
        code = np.zeros(label.size, np.int64)
        columns = [rows, times, squared]
        for score, right in _largest(probability, label, self.ranks):
            code = code * self._base + bin_index(self._edges, score)
            columns += [rows * right, times * right]
            for value, factor in (
                (score, times),
                ((right - score) ** 2, squared),
                (score * (1.0 - score), times),
            ):
                whole = np.floor(value / _CELL_UNIT)
                rest = np.rint((value / _CELL_UNIT - whole) / _CELL_UNIT)
                columns += [factor * part.astype(factor.dtype) for part in (whole, rest)]
        self._take(code, np.stack(columns))

    def merge(self, other: Self) -> None:
        self.weighted = self.weighted or other.weighted
        self._take(other._code, other._sums)

    def of_largest(self, ranks: int) -> tuple[BinnedTable, ...]:
        """Return, for each of the `ranks` largest probabilities, its sums over the cells of all of these."""
        digits = self._base ** np.arange(self.ranks)[::-1]
        code, sums = _grouped(self._code // digits[ranks - 1], self._sums[: _OF_ALL + _OF_RANK * ranks])
        rows, weight, weight_sq = sums[:_OF_ALL]
        found = []
        for rank in range(ranks):
            first = _OF_ALL + _OF_RANK * rank
            positive_rows, positive, *parts = sums[first : first + _OF_RANK]
            score, squares, variance = (
                whole * _CELL_UNIT + rest * _CELL_UNIT**2
                for whole, rest in zip(parts[::2], parts[1::2], strict=True)
            )
            place = code // (digits[rank] // digits[ranks - 1]) % self._base
            found.append(
                BinnedTable(
                    bins=self.bins,
                    starts=np.arange(code.size + 1),
                    lower=self._edges[place],
                    upper=self._edges[place + 1],
                    rows=rows.astype(np.int64),
                    positive_rows=positive_rows.astype(np.int64),
                    weight=weight.astype(np.float64),
                    positive=positive.astype(np.float64),
                    score_sum=score,
                    residual=(positive - parts[0] * _CELL_UNIT) - parts[1] * _CELL_UNIT**2,
                    residual_sq=squares,
                    weight_sq=weight_sq.astype(np.float64),
                    variance=variance,
                )
            )
        return tuple(found)

    def _take(self, code: Integers, sums: npt.NDArray[np.int64 | np.float64]) -> None:
        self._code, self._sums = _grouped(
            np.concatenate((self._code, code)), np.concatenate((self._sums, sums), axis=1)
        )
        rows = int(self._sums[0].sum())
        if not self.weighted and rows > _MOST_TOP_ROWS:
            msg = f"--top {self.ranks} adds up {rows:,} rows, which are more than {_MOST_TOP_ROWS:,}"
            raise InputProblem(msg, "leave out --top, or measure the input in parts")
        if self._code.size > MOST_CELLS:
            msg = f"--top {self.ranks} over {self.bins.described} makes over {MOST_CELLS:,} cells"
            raise UsageProblem(msg, "take fewer --bins, or a smaller --top")


def _largest(probability: Floats, label: Integers, ranks: int) -> Iterator[tuple[Floats, Booleans]]:
    """Yield the largest probability of each row and whether its class is right; then the next."""
    left, each = probability.copy(), np.arange(label.size)
    for _ in range(ranks):
        place = left.argmax(axis=1)
        yield left[each, place], place == label
        left[each, place] = -1.0


def _grouped(
    code: Integers, columns: npt.NDArray[np.int64 | np.float64]
) -> tuple[Integers, npt.NDArray[np.int64 | np.float64]]:
    """Return the distinct codes in order, and the sums of each column over them."""
    found, where = np.unique(code, return_inverse=True)
    sums = np.zeros((len(columns), found.size), columns.dtype)
    for total, column in zip(sums, columns, strict=True):
        np.add.at(total, where, column)
    return found, sums


class ClassSums:
    """What is added up over rows of several classes, whatever their order and cut: of losses those that are
    asked for, and in `top`, which holds nothing yet, cells of their largest probabilities.

    Args:
        count: How many classes there are.
        measures: Those that are requested.
    """

    def __init__(
        self, count: int, top: TopCells | None = None, measures: Collection[str] = OF_DISTRIBUTIONS
    ) -> None:
        self.top = top
        self.rows = 0
        self.weighted = False
        self.weight = ExactSum()
        self.weight_sq = ExactSum()
        self.losses = {name: LossSums() for name in OF_DISTRIBUTIONS if name in measures}
        # Rows that gave probability 0 to the right class, or 1 to another.
        self.contradicting = 0
        self.labelled = np.zeros(count, np.int64)
        self.predicted = np.zeros(count, np.int64)
        self.correct = np.zeros(count, np.int64)

    def add_rows(
        self, probability: Floats, label: Integers, predicted: Integers, weighing: Weighing = ONCE
    ) -> None:
        times, (counts, weight) = weighing.times(label.size), weighing
        self.rows += int(times.sum())
        if weight is not None:
            self.weighted = True
            self.weight.add(weight)
            self.weight_sq.add(weight * weight)
        every, hit = np.arange(label.size), predicted == label
        impossible = (probability[every, label] <= 0.0) | (~hit & (probability[every, predicted] >= 1.0))
        self.contradicting += int(times[impossible].sum())
        for name, losses in self.losses.items():
            if name is ClassMeasure.CLASS_BRIER:
                losses.add(brier_of(probability, label), weighing, worst=2.0)
                continue
            losses.add(log_loss_of(probability, label), weighing, worst=worst_log_loss(probability))
        if weight is None and self.losses:
            noises = noise_of(probability, self.losses)
            for losses, noise in zip(self.losses.values(), noises, strict=True):
                if counts is None:
                    losses.noise.add(noise)
                else:
                    losses.noise.add_repeated(noise, counts)
        if self.top is not None:
            self.top.add_rows(probability, label, weighing)
        np.add.at(self.labelled, label, times)
        np.add.at(self.predicted, predicted, times)
        np.add.at(self.correct, label[hit], times[hit])

    def merge(self, other: Self) -> None:
        self.rows += other.rows
        self.weighted = self.weighted or other.weighted
        self.weight.merge(other.weight)
        self.weight_sq.merge(other.weight_sq)
        for name, losses in self.losses.items():
            losses.merge(other.losses[name])
        self.contradicting += other.contradicting
        if self.top is not None and other.top is not None:
            self.top.merge(other.top)
        self.labelled += other.labelled
        self.predicted += other.predicted
        self.correct += other.correct


def log_loss_of(probability: Floats, label: Integers) -> Floats:
    """Return -log of the probability of the right class of each row, shape (n,); infinite where it is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(probability[np.arange(label.size), label]))


def brier_of(probability: Floats, label: Integers) -> Floats:
    """Return the sum over classes of (p_c - 1[label = c])^2 of each row, shape (n,)."""
    found = np.empty(label.size)
    for near in _blocks(probability):
        # Squares of what a sure row lacks are too small for a difference of sums to show them.
        apart = probability[near].copy()
        apart[np.arange(len(apart)), label[near]] -= 1.0
        found[near] = np.einsum("ij,ij->i", apart, apart)
    return found


def noise_of(probability: Floats, losses: Collection[ClassMeasure]) -> list[Floats]:
    """Return the variance of each loss in every row whose label follows its probabilities."""
    found = [np.empty(len(probability)) for _ in losses]
    count = probability.shape[1]
    for near in _blocks(probability):
        # A spread needs no more than single precision. Sums over few classes go along the rows; of a lone
        # row numpy would add them up in another order, so it stands there twice.
        rows = probability[near]
        p = np.repeat(rows, 1 + (len(rows) == 1), axis=0).astype(np.float32, order="F" if count < 64 else "C")
        for variance, name in zip(found, losses, strict=True):
            brier = name is ClassMeasure.CLASS_BRIER
            loss = -2.0 * p if brier else np.log(np.maximum(p, np.finfo(np.float32).tiny))
            apart = loss - np.einsum("ij,ij->i", p, loss)[:, None]
            apart *= apart
            variance[near] = np.einsum("ij,ij->i", p, apart)[: len(rows)]
    return found
