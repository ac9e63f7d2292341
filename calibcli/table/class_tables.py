"""One table for each of several classes: its probability in every row, and whether it is the right one."""

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from calibcli.names import EXACT_LIMIT
from calibcli.table.class_cells import ClassCells
from calibcli.table.grid import Table
from calibcli.table.running import distinct_at_least
from calibcli.table.score_table import Floats, Integers, ScoreTable, merge_all
from calibcli.table.sliced import RunningSlices

# A table of one score is allowed 268 bytes for each distinct score, with room to smooth it. Those of classes
# take 24 at rest; they are sorted one by one, and hardly take more while they grow.
SCORES_FOR_ONE = 3
# Scores that are added at once: more are slower, as what is made of them leaves the processor's cache.
_BLOCK = 1 << 18
# Scores that wait before they are sorted, class by class; more where that may show that there are too many.
_WAITING, _MOST_WAITING = 1 << 21, 1 << 23


class _Rows(NamedTuple):
    """Rows as they came."""

    probability: Floats
    label: Integers
    counts: Integers | None


class RunningClasses:
    """
    Add rows of several classes, and take the table of each class at the end.

    The tables share one limit, and all are exact or all are coarse grids, as those of groups. Past the
    limit, scores of label 0 are counted in cells of all classes side by side; those of label 1, one to a row,
    are few. Rows with importance weights are sorted all together, and take more memory.

    Args:
        classes: What they are called.

        limit: Most distinct scores that one table might have in the memory of all; None for no limit.
    """

    def __init__(self, classes: tuple[str, ...], limit: int | None = EXACT_LIMIT) -> None:
        self._names = [(name,) for name in classes]
        self._limit = None if limit is None else SCORES_FOR_ONE * limit
        # Of grids, and of rows with importance weights.
        self._slices = RunningSlices(limit)
        self._slices.registry.places(self._names)
        self._cells: ClassCells | None = None
        # Tables of all classes, of parts of the rows; and rows that are in none yet.
        self._parts: list[tuple[ScoreTable, ...]] = []
        self._waiting: list[_Rows] = []

    def __getstate__(self) -> dict[str, object]:
        # Tables that travel are as small as they can be.
        self._settle()
        return self.__dict__

    def add_rows(
        self,
        probability: Floats,
        label: Integers,
        *,
        counts: Integers | None = None,
        weight: Floats | None = None,
    ) -> None:
        """
        Add rows.

        Args:
            probability: Shape (n, K).

            label: Shape (n,), the place of the right class.

            counts: Frequency weights, or None.

            weight: Importance weights, or None.
        """
        if weight is None and not self._slices.is_grid:
            self._waiting.append(_Rows(probability, label, counts))
            self._fold(self._enough)
            return
        count = len(self._names)
        step = max(1, _BLOCK // count)
        for start in range(0, label.size, step):
            some = slice(start, start + step)
            block = probability[some]
            code = np.tile(np.arange(count), block.shape[0])
            self._add(
                block.reshape(-1),
                code == np.repeat(label[some], count),
                code=code,
                counts=None if counts is None else np.repeat(counts[some], count),
                weight=None if weight is None else np.repeat(weight[some], count),
            )

    def add(self, other: Self) -> None:
        """Add the rows of another."""
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
            self.add_rows(rows.probability, rows.label, counts=rows.counts)

    def tables(self) -> dict[str, Table]:
        """Return the table of every class, in the order of the classes."""
        self._settle()
        if self._cells is not None:
            self._slices.add_cells(self._cells.sums())
            self._cells = None
        tables: dict[tuple[str, ...], Table] = self._slices.tables()
        if self._parts:
            exact = zip(self._names, self._parts[0], strict=True)
            tables |= {name: table for name, table in exact if table.distinct}
        return {name[0]: tables[name] for name in self._names if name in tables}

    def _settle(self) -> None:
        """Make one table of each class, or grids."""
        self._fold(0)
        self._merge(0)

    @property
    def _enough(self) -> int:
        """How many scores wait before they are sorted: more than the limit, as some marks coincide."""
        return _WAITING if self._limit is None else min(max(_WAITING, 9 * self._limit // 8), _MOST_WAITING)

    def _take(self, tables: tuple[ScoreTable, ...]) -> None:
        """Add exact tables of all classes."""
        if self._slices.is_grid:
            for place, table in enumerate(tables):
                self._slices.add_table(place, table)
            return
        self._parts.append(tables)
        self._merge(_WAITING)

    def _fold(self, least: int) -> None:
        """Make tables of the rows that wait once they have more scores than that, and look at the limit."""
        waiting = sum(rows.label.size for rows in self._waiting) * len(self._names)
        if self._slices.is_grid or waiting <= least:
            return
        if self._limit is not None and waiting > self._limit and self._surely_too_many():
            self._become_grid()
            return
        self._parts.append(tuple(self._table_of(place) for place in range(len(self._names))))
        self._waiting = []
        self._merge(least)

    def _merge(self, least: int) -> None:
        """Merge tables once those after the first have more scores than it, and look at the limit."""
        if not self._parts:
            return
        sizes = [sum(table.distinct for table in part) for part in self._parts]
        enough = max(sizes[0], least) if least else 0
        if self._limit is not None:
            # No merge can pass the limit before the parts together do.
            enough = min(enough, max(0, self._limit - sizes[0]))
        if sum(sizes[1:]) > enough:
            self._parts = [tuple(merge_all(tables) for tables in zip(*self._parts, strict=True))]
        if self._limit is not None and sum(table.distinct for table in self._parts[0]) > self._limit:
            self._become_grid()

    def _table_of(self, place: int) -> ScoreTable:
        """Return the table of a class over the rows that wait."""
        score = np.concatenate([rows.probability[:, place] for rows in self._waiting])
        right = np.concatenate([rows.label == place for rows in self._waiting])
        if all(rows.counts is None for rows in self._waiting):
            return ScoreTable.from_rows(score, right)
        counts = [
            np.ones(rows.label.size, np.int64) if rows.counts is None else rows.counts
            for rows in self._waiting
        ]
        return ScoreTable.from_rows(score, right, counts=np.concatenate(counts))

    def _surely_too_many(self) -> bool:
        """Whether the rows that wait have more distinct scores than may be, found without sorting them."""
        if self._limit is None or any(rows.counts is not None for rows in self._waiting):
            return False
        return distinct_at_least([rows.probability for rows in self._waiting], bits=25) > self._limit

    def _become_grid(self) -> None:
        """Round all rows, and those to come, to the cells of coarse grids."""
        parts, waiting, self._parts, self._waiting = self._parts, self._waiting, [], []
        self._slices.become_grid()
        for part in parts:
            self._take(part)
        for rows in waiting:
            self.add_rows(rows.probability, rows.label, counts=rows.counts)

    def _add(
        self,
        score: Floats,
        label: npt.NDArray[np.bool_],
        *,
        code: Integers,
        counts: Integers | None,
        weight: Floats | None,
    ) -> None:
        """Add scores of single classes, in cells side by side once these are grids."""
        if self._slices.is_grid and ClassCells.worth_it(len(self._names)):
            if self._cells is None:
                self._cells = ClassCells(len(self._names))
            other = np.flatnonzero(~label)
            left = self._cells.add(score[other], code[other], None if counts is None else counts[other])
            some = np.concatenate((np.flatnonzero(label), other[left]))
            score, label, code = score[some], label[some], code[some]
            counts = None if counts is None else counts[some]
        self._slices.add_rows(score, label, names=self._names, code=code, counts=counts, weight=weight)
