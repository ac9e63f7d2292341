"""Rows by the levels of columns and by score: exact while they fit, from there on in cells of the score."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from operator import attrgetter
from typing import Self

import numpy as np

from calibcli.errors import InputProblem
from calibcli.stats.table import Booleans, Floats, Integers
from calibcli.stats.table.running import Parts
from calibcli.stats.table.sliced import NOTHING, KeyedSums, Leaves

# Rows that are sorted and added up at once, and rows that are put into cells at once.
_BUFFER_ROWS, _CHUNK = 1 << 20, 1 << 16
# A cell of a segment takes 32 bytes, an eighth of what is allowed for a distinct score; what is made of them
# takes no more. A path of more cells shows nothing more, and one of fewer too little.
_CELLS_FOR_A_SCORE, _MOST_CELLS, _LEAST_CELLS = 4, 4_096, 80
# Distances to the upper edge of a cell are whole numbers of this.
_UNIT = float(1 << 40)


def segments_within(sizes: Sequence[int], depth: int) -> int:
    """Return how many segments there may be."""
    sets = sets_of_columns(len(sizes), depth)
    return sum(math.prod(sizes[column] for column in columns) for columns in sets)


def sets_of_columns(columns: int, depth: int) -> Iterator[tuple[int, ...]]:
    """Yield every set of at most so many columns, that of none first."""
    return chain.from_iterable(combinations(range(columns), many) for many in range(min(depth, columns) + 1))


class CrossedCells:
    """Rows added up for every set of columns by their levels and by cell of the score.

    Labels vary about as much in one cell as in another; 0 and 1 have cells of their own. All sums are of
    whole numbers, so that the order of rows changes none.

    Args:
        sizes: How many levels each column has.
        depth: Sets have at most so many columns.
        limit: Cells take as much memory as so many distinct scores.
    """

    def __init__(self, sizes: Sequence[int], depth: int, limit: int) -> None:
        self.sizes = tuple(sizes)
        self._places: dict[tuple[int, ...], int] = {}
        place, segments = 0, segments_within(sizes, depth)
        for columns in sets_of_columns(len(sizes), depth):
            self._places[columns] = place
            place += math.prod(self._shape(columns))
        self.cells = min(_MOST_CELLS, _CELLS_FOR_A_SCORE * limit // segments)
        if self.cells < _LEAST_CELLS:
            msg = f"the columns may make {segments:,} segments, which do not fit in the memory allowed"
            raise InputProblem(msg, "name fewer columns, pass a smaller --max-values, or more --memory")
        inner = np.sin(0.5 * np.pi * np.arange(1, self.cells) / self.cells) ** 2
        self._upper = np.concatenate(([0.0], inner, [np.nextafter(1.0, 0.0), 1.0]))
        self.rows, self.below = np.zeros((2, segments, self._upper.size, 2), np.int64)
        combined = math.prod(sizes)
        few = combined <= _CELLS_FOR_A_SCORE * limit
        self.all_columns: Integers | None = np.zeros(combined, np.int64) if few else None

    def add_rows(self, part: KeyedSums) -> None:
        """Add rows by the number of their combination of levels and by score; see `RunningCrossed`."""
        for start in range(0, part.size, _CHUNK):
            self._add_run(part, slice(start, start + _CHUNK))

    def _add_run(self, part: KeyedSums, run: slice) -> None:
        # In the order of cells, so that sums that follow each other lie close to each other.
        cell = self._cell_of(part.point[run].view(np.float64))
        order = np.argsort(cell.astype(np.int16), kind="stable")
        cell, score, combined = cell[order], part.point[run][order].view(np.float64), part.part[run][order]
        below = np.rint((self._upper[cell] - score) * _UNIT).astype(np.int64)
        rows, ones = (one[run][order].astype(np.int64) for one in part.whole)
        wide = 2 * self._upper.size
        levels = [level * wide for level in np.unravel_index(combined, self.sizes)]
        for label, many in ((1, ones), (0, rows - ones)):
            some = np.flatnonzero(many)
            counts = many[some]
            distance = below[some] * counts
            within = 2 * cell[some] + label
            own = [level[some] for level in levels]
            for columns in self._places:
                segment = np.zeros_like(within)
                for column in columns:
                    segment *= self.sizes[column]
                    segment += own[column]
                segment += within
                inside = self._inside(columns)
                np.add.at(self.rows[inside].reshape(-1), segment, counts)
                np.add.at(self.below[inside].reshape(-1), segment, distance)
        if self.all_columns is not None:
            np.add.at(self.all_columns, combined, rows)

    def add(self, other: "CrossedCells") -> None:
        self.rows += other.rows
        self.below += other.below
        if self.all_columns is not None and other.all_columns is not None:
            self.all_columns += other.all_columns

    def of(self, columns: Sequence[int], within: Mapping[int, int]) -> Leaves:
        """Return rows by levels of columns and by cell, ascending by it; others are at their first.

        Levels `within` are those that are meant of some columns.
        """
        shape = self._shape(columns)
        segments = np.arange(math.prod(shape)).reshape(shape)
        meant = (slice(within[one], within[one] + 1) if one in within else slice(None) for one in columns)
        segments = segments[tuple(meant)].reshape(-1)
        places = self._places[tuple(columns)] + segments
        rows = self.rows[places]
        cell, which = np.nonzero(rows.any(axis=2).T)
        found, below, at = rows[which, cell], self.below[places[which], cell], self._upper[cell]
        sums = at[:, np.newaxis] * found - below / _UNIT
        levels = np.zeros((len(self.sizes), which.size), np.int64)
        if columns:
            levels[list(columns)] = np.unravel_index(segments[which], shape)
        part = np.asarray(np.ravel_multi_index(tuple(levels), self.sizes), np.int64)
        return Leaves(part, at, found.sum(axis=1), found[:, 1], (sums[:, 1], sums[:, 0]))

    def table(self, what: str, columns: tuple[int, ...]) -> Floats:
        """Return `rows`, `positive` or `residual` by the levels of a set of columns, and by cell."""
        shape = self._shape(columns)
        inside = self._inside(columns)
        rows, below = self.rows[inside], self.below[inside]
        found = np.asarray(rows.sum(axis=2) if what == "rows" else rows[:, :, 1], np.float64)
        if what == "residual":
            found = found + below.sum(axis=2) / _UNIT - self._upper * rows.sum(axis=2)
        return found.reshape((*shape, self._upper.size))

    def _shape(self, columns: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.sizes[column] for column in columns)

    def _inside(self, columns: tuple[int, ...]) -> slice:
        """Return where the segments of a set of columns stand."""
        return slice(self._places[columns], self._places[columns] + math.prod(self._shape(columns)))

    def combined(self) -> tuple[Integers, Integers]:
        """Return the numbers of all combinations that have rows, and how many."""
        if self.all_columns is None:
            many = f"{math.prod(self.sizes):,} combinations of values"
            msg = f"the columns may make {many}, which do not fit in the memory allowed"
            raise InputProblem(msg, "name fewer columns, pass a smaller --max-values, or more --memory")
        some = np.flatnonzero(self.all_columns)
        return some, self.all_columns[some]

    def refuse_full(self) -> None:
        """Refuse cells of so many rows that sums could pass 63 bits; those of all rows have the most."""
        widest = np.diff(self._upper, prepend=0.0) * _UNIT
        if (widest * self.rows[0].max(axis=1) >= 1 << 63).any():
            msg = "more rows have nearly the same score than sums can hold"
            raise InputProblem(msg, "pass --exact, or look at the input in parts")

    def _cell_of(self, score: Floats) -> Integers:
        """Return the cell of each score: the first whose upper edge is not below it."""
        cell = np.ceil(self.cells * 2.0 / np.pi * np.arcsin(np.sqrt(score))).astype(np.int64)
        cell = np.maximum(cell, 1)
        # What rounding moved beyond an edge.
        cell += self._upper[cell] < score
        cell -= self._upper[cell - 1] >= score
        return cell


def _merged(parts: Sequence[KeyedSums]) -> KeyedSums:
    """Add up rows or sums of the same combination and score; ascending by score, then by combination."""
    part, point = (np.concatenate([getattr(one, name) for one in parts]) for name in ("part", "point"))
    order = np.argsort(point)
    new = np.diff(point[order], prepend=-1) != 0
    if not new.all():
        if part.max() >> 31:
            order = np.lexsort((part, point))
        else:
            # By the rank of the score, which is known, and then by combination.
            order = order[np.argsort((np.cumsum(new) << 31) + part[order])]
        new = (np.diff(point[order], prepend=-1) != 0) | (np.diff(part[order], prepend=-1) != 0)
    starts = None if new.all() else np.flatnonzero(new)
    kept = order if starts is None else order[starts]
    part, point = part[kept], point[kept]
    whole = (np.concatenate(column)[order] for column in zip(*(one.whole for one in parts), strict=True))
    return KeyedSums(
        part, point, tuple(one if starts is None else np.add.reduceat(one, starts) for one in whole)
    )


class RunningCrossed:
    """Rows by the levels of columns and by score, as they come.

    They are exact while the distinct scores of all combinations of levels, each counted in its own, are at
    most the limit, and else in cells: the outcome depends on the rows alone.

    Args:
        limit: Most distinct scores of all combinations together; None for no limit.
        kept: How many may be kept exact on the way, to be added to others.
    """

    def __init__(self, sizes: Sequence[int], depth: int, limit: int | None, *, kept: int = 0) -> None:
        self._sizes = tuple(sizes)
        self._depth = depth
        self._limit = limit
        self._most = None if limit is None else max(limit, kept)
        self._small = np.int32 if math.prod(sizes) < 1 << 31 else np.int64
        least = _BUFFER_ROWS if self._most is None else min(_BUFFER_ROWS, self._most // 2 + _CHUNK)
        self._parts = Parts(_merged, attrgetter("size"), least=least, limit=self._most)
        self._cells: CrossedCells | None = None

    def add_rows(
        self,
        score: Floats,
        label: Booleans,
        *,
        part: Integers,
        counts: Integers | None = None,
    ) -> None:
        """Add rows by the number of their combination of levels, the first column counting most."""
        number = np.ones(score.size, np.int8) if counts is None else counts
        ones = label.astype(np.int8) if counts is None else counts * label
        point = (score + 0.0).view(np.int64)
        self._take(KeyedSums(part.astype(self._small), point, (number, ones)))

    def add(self, other: Self) -> None:
        if other._cells is not None:
            self._in_cells().add(other._cells)
        for part in other._parts:
            self._take(part)

    def result(self) -> KeyedSums | CrossedCells:
        whole = self._parts.merged()
        self._look_at_the_limit()
        if self._cells is not None:
            self._cells.refuse_full()
            return self._cells
        return (NOTHING if whole is None else whole).occupied()

    def _take(self, part: KeyedSums) -> None:
        if self._cells is not None:
            self._cells.add_rows(part)
            return
        self._parts.add(part)
        self._look_at_the_limit()

    def _look_at_the_limit(self) -> None:
        if self._most is not None and self._parts.merged_size > self._most:
            self._in_cells()

    def _in_cells(self) -> CrossedCells:
        if self._cells is None:
            self._cells = CrossedCells(self._sizes, self._depth, self._limit or 0)
            for part in self._parts.taken():
                self._cells.add_rows(part)
        return self._cells
