"""
The grid table: what a score table becomes when its distinct scores no longer fit in the memory allowed.

It has the face of a `ScoreTable`. Counts and, per label, sums of scores are exact, so bin counts, residual
sums and calibration-in-the-large lose nothing in any partition that the cells nest; a score moves by
at most `resolution`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from calibcli.errors import InputProblem
from calibcli.table import cells
from calibcli.table.counting import COUNTED, ROW, Counting
from calibcli.table.score_table import Floats, Integers, ScoreTable, frozen, run_starts, sealed

# Distances to the cell's edge are kept in units of 2^-52, so that sums are integers and every order,
# shard and number of workers gives the same bits.
_UNIT = float(1 << 52)
_MOST_ROWS_IN_A_CELL = 1_000_000_000
# Rows placed at once: their cells fit the processor's cache.
_CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class GridTable:
    """
    Rows grouped by cell of [0, 1] (see `calibcli.table.cells`), occupied cells only.

    Args:
        code: Cell codes, strictly ascending, shape (n_cells,).

        rows: Number of rows in each cell.

        positive_rows: How many of them have label 1.

        below_positive: Sum over rows with label 1 of the distance from the score up to the cell's edge, in
            units of 2^-52.

        below_negative: The same over rows with label 0.
    """

    code: Integers
    rows: Integers
    positive_rows: Integers
    below_positive: Integers
    below_negative: Integers

    def __post_init__(self) -> None:
        for name in ("code", "rows", "positive_rows", "below_positive", "below_negative"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64))
        # Rows that sit on the cell's edge add nothing to its sums, so any number of them is safe.
        many = np.flatnonzero(self.rows > _MOST_ROWS_IN_A_CELL)
        if self.below_positive[many].any() or self.below_negative[many].any():
            msg = f"more than {_MOST_ROWS_IN_A_CELL:,} rows share one cell of the grid table"
            raise InputProblem(msg, "measure the input in parts")

    # Without slots, so that the means are computed once; pickles hold the columns alone.
    def __reduce__(self) -> tuple[type[Self], tuple[Integers, ...]]:
        return type(self), self.columns

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GridTable):
            return False
        return all(np.array_equal(a, b) for a, b in zip(self.columns, other.columns, strict=True))

    __hash__ = None  # type: ignore[assignment]

    @property
    def columns(self) -> tuple[Integers, ...]:
        """Every stored column, for equality and digests."""
        return self.code, self.rows, self.positive_rows, self.below_positive, self.below_negative

    @property
    def kind(self) -> str:
        """The word reports use for this table."""
        return "grid"

    @property
    def resolution(self) -> float:
        """Largest change of a score by rounding: the width of a cell."""
        return cells.WIDTH

    @property
    def distinct(self) -> int:
        """Number of occupied cells."""
        return int(self.code.size)

    @cached_property
    def total_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.sum())

    @cached_property
    def total_positive_rows(self) -> int:
        """Number of rows with label 1."""
        return int(self.positive_rows.sum())

    @property
    def weighted(self) -> bool:
        """Whether rows carry importance weights: a grid table never does."""
        return False

    @cached_property
    def weight(self) -> Floats:
        """Number of rows in each cell."""
        return sealed(self.rows.astype(np.float64))

    @cached_property
    def positive(self) -> Floats:
        """Number of rows with label 1 in each cell."""
        return sealed(self.positive_rows.astype(np.float64))

    @property
    def weight_sq(self) -> Floats:
        """Sum of squared weights in each cell: its number of rows."""
        return self.weight

    @property
    def positive_sq(self) -> Floats:
        """Sum of squared weights of rows with label 1 in each cell: their number."""
        return self.positive

    @cached_property
    def edge(self) -> Floats:
        """Upper edge of each cell, from which distances are summed."""
        return sealed(cells.upper_edge(self.code))

    @property
    def upper(self) -> Floats:
        """What decides the bin of a cell: its upper edge."""
        return self.edge

    @cached_property
    def score(self) -> Floats:
        """Mean score of each cell."""
        return self._mean(self.below_positive + self.below_negative, self.rows)

    @cached_property
    def score_of_positive(self) -> Floats:
        """Mean score of the rows with label 1 in each cell."""
        return self._mean(self.below_positive, self.positive_rows)

    @cached_property
    def score_of_negative(self) -> Floats:
        """Mean score of the rows with label 0 in each cell."""
        return self._mean(self.below_negative, self.rows - self.positive_rows)

    @cached_property
    def residual(self) -> Floats:
        """Sum of label - score in each cell."""
        return sealed(residual_sums(self))

    @cached_property
    def score_sum(self) -> Floats:
        """Sum of scores in each cell."""
        return sealed(score_sums(self))

    @cached_property
    def residual_sq(self) -> Floats:
        """Sum of (label - score)^2 in each cell."""
        return sealed(squared_residual_sums(self))

    @cached_property
    def open_variance(self) -> Floats:
        """Sum of score (1 - score) in each cell."""
        return sealed(open_variances(self))

    def _mean(self, below: Integers, rows: Integers) -> Floats:
        mean: Floats = below / np.maximum(rows, 1)
        mean /= _UNIT
        np.subtract(self.edge, mean, out=mean)
        return sealed(np.maximum(mean, 0.0, out=mean))


Table = ScoreTable | GridTable


def residual_sums(table: Table) -> Floats:
    """Return the weighted sum of label - score at each entry, worked out anew."""
    ones = 1.0 - table.score_of_positive
    ones *= table.positive
    zeros = table.weight - table.positive
    zeros *= table.score_of_negative
    ones -= zeros
    return ones


def squared_residual_sums(table: Table) -> Floats:
    """Return the sum of squared weight times (label - score)^2 at each entry, worked out anew."""
    ones = 1.0 - table.score_of_positive
    ones *= ones
    ones *= table.positive_sq
    zeros = table.weight_sq - table.positive_sq
    zeros *= np.square(table.score_of_negative)
    ones += zeros
    return ones


def open_variances(table: Table) -> Floats:
    """Return the weighted sum of score (1 - score) at each entry, worked out anew."""
    variance = table.weight * table.score
    variance *= 1.0 - table.score
    return variance


def score_sums(table: Table) -> Floats:
    """Return the weighted sum of scores at each entry, worked out anew."""
    total = table.weight - table.positive
    total *= table.score_of_negative
    total += table.positive * table.score_of_positive
    return total


class GridAccumulator:
    """Rows and tables added up cell by cell, in any order with the same result."""

    def __init__(self) -> None:
        # At place code + label * CODES.
        self._counting = Counting(2 * cells.CODES)

    def add_rows(self, score: Floats, label: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Add rows of weight one; scores in [0, 1]."""
        for start in range(0, score.size, _CHUNK):
            code, below = placed(score[start : start + _CHUNK])
            place, packed = self._counting.room(code.size)
            np.multiply(label[start : start + _CHUNK], cells.CODES, out=place)
            place += code
            np.add(below, ROW, out=packed)

    def add(self, table: "Table | GridAccumulator") -> None:
        """Add a table; an exact one is rounded to cells as its rows would be."""
        if isinstance(table, GridAccumulator):
            for mine, theirs in zip(self.sums(), table.sums(), strict=True):
                np.add(mine, theirs, out=mine)
            return
        all_rows, all_below = self.sums()
        if isinstance(table, GridTable):
            ones = cells.CODES + table.code
            all_rows[ones] += table.positive_rows
            all_rows[table.code] += table.rows - table.positive_rows
            all_below[ones] += table.below_positive
            all_below[table.code] += table.below_negative
            return
        if table.weighted:
            msg = "importance weights need the exact table"
            raise ValueError(msg)
        for start in range(0, table.distinct, _CHUNK):
            near = slice(start, start + _CHUNK)
            code, distance = placed(table.score[near])
            ones = table.positive_rows[near]
            for label, rows in ((1, ones), (0, table.rows[near] - ones)):
                np.add.at(all_rows, code + label * cells.CODES, rows)
                np.add.at(all_below, code + label * cells.CODES, distance.astype(np.int64) * rows)

    def table(self) -> GridTable:
        """Return the occupied cells."""
        rows, below = self.sums()
        both = rows[: cells.CODES] + rows[cells.CODES :]
        code = np.flatnonzero(both)
        ones = cells.CODES + code
        columns = (code, both[code], rows[ones], below[ones], below[code])
        return GridTable(*(sealed(column) for column in columns))

    def sums(self) -> tuple[Integers, Integers]:
        """Return rows, and distances summed, at place code + label * CODES; shapes (2 * CODES,)."""
        return self._counting.sums()


def grid_of(table: ScoreTable) -> GridTable:
    """
    Round an exact table to cells; equal to having added its rows one by one.

    Raises:
        ValueError: If the table carries importance weights, whose sums are not integers.
    """
    if table.weighted or not 0 < table.distinct <= COUNTED:
        whole = GridAccumulator()
        whole.add(table)
        return whole.table()
    # Scores ascend and so do their cells: nothing as large as the grid is needed.
    code, distance = placed(table.score)
    below, ones, starts = distance.astype(np.int64), table.positive_rows, run_starts(code)
    sums = (table.rows, ones, below * ones, below * (table.rows - ones))
    columns = [code[starts], *(np.add.reduceat(one, starts) for one in sums)]
    held = columns[1] > 0
    return GridTable(*(sealed(column[held]) for column in columns))


def placed(score: Floats) -> tuple[Integers, Floats]:
    """Return the cell of each score and its distance to the cell's edge, in whole units."""
    code, below = cells.cell_and_edge(score)
    below -= score
    below *= _UNIT
    return code, np.rint(below, out=below)
