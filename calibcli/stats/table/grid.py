"""The grid table: what a score table becomes when its distinct scores no longer fit in the memory allowed.

It has the face of a `ScoreTable`. Counts and, per label, sums of scores are exact, so bin counts, residual
sums and calibration-in-the-large lose nothing in any partition that the cells nest; a score moves by
at most `resolution`.
"""

import hashlib
from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem
from calibcli.stats.numerics import summed_products
from calibcli.stats.table import Arrays, Booleans, Floats, Indices, Integers, ScoreTable, run_starts, sealed
from calibcli.values import dataclass, fields, replace

CELLS = 720_720

WIDTH = 1.0 / CELLS

# Edges are rounded by less than this leaves.
_NEARLY_WIDTH = WIDTH * (1.0 - 2.0**-30)

# A double's bits shifted so far right leave its exponent and five bits of its mantissa: 32 parts an octave.
_SHIFT = np.uint64(47)

_STEP = np.uint64(1) << _SHIFT

_PARTS = int(np.float64(WIDTH).view(np.uint64) >> _SHIFT) + 1

_FIRST_MAIN = 1 + _PARTS

_FIRST_HIGH = _FIRST_MAIN + CELLS - 2

CODES = _FIRST_HIGH + _PARTS + 1


def cell_of(score: Floats) -> Integers:
    """Return the code of each score's cell; codes ascend with the score."""
    return _coded(score)[0]


def cell_and_edge(score: Floats) -> tuple[Integers, Floats]:
    """Return the code of each score's cell, and what `upper_edge` says of it."""
    code, edge, outer = _coded(score)
    if outer.size:
        edge[outer] = upper_edge(code[outer])
    return code, edge


def _coded(score: Floats) -> tuple[Integers, Floats, Indices]:
    """Return the code of each score's cell, its edge among the equal ones, and which lie in no such cell."""
    nearest, edge = _nearest(score)
    code = nearest.astype(np.int64)
    code += _FIRST_MAIN - 2
    if not (score.size and (nearest.min() <= 1.0 or nearest.max() == CELLS)):
        return code, edge, np.zeros(0, np.intp)
    outer = np.flatnonzero((nearest <= 1.0) | (nearest == CELLS))
    code[outer] = _outer_code(score[outer], low=nearest[outer] <= 1.0)
    return code, edge, outer


def _nearest(score: Floats) -> tuple[Floats, Floats]:
    """Return the number of each score's equal cell, from 1 and 0 for the score 0, and its right edge."""
    nearest = score * CELLS
    np.ceil(nearest, out=nearest)
    edge = nearest / CELLS
    below = edge - score
    # The product is rounded: near edges, compare with the edges themselves, as bins do.
    if score.size and (below.min() < 0.0 or below.max() > _NEARLY_WIDTH):
        unsure = np.flatnonzero((below < 0.0) | (below > _NEARLY_WIDTH))
        some, number = score[unsure], nearest[unsure]
        number += some > number / CELLS
        number -= some <= (number - 1.0) / CELLS
        nearest[unsure], edge[unsure] = number, number / CELLS
    return nearest, edge


def _outer_code(score: Floats, *, low: Booleans) -> Integers:
    """Return the code of scores in the first or the last of the equal cells, both of which are split."""
    distance = np.where(low, score, 1.0 - score)
    part = 1 + (distance.view(np.uint64) >> _SHIFT).astype(np.int64)
    # Of (0, WIDTH], counted from 0, with 0 for a distance of exactly 0.
    part = np.where(distance == 0.0, 0, part)
    return np.where(low, part, CODES - 1 - part)


def upper_edge(code: Integers) -> Floats:
    """Return the largest score that a cell can hold; sums in the cell are kept relative to it."""
    edge = (code - (_FIRST_MAIN - 2)) / CELLS
    low = np.flatnonzero(code < _FIRST_MAIN)
    if low.size:
        edge[low] = _part_top(code[low])
    high = np.flatnonzero(code >= _FIRST_HIGH)
    if high.size:
        edge[high] = 1.0 - _part_bottom(CODES - 1 - code[high])
    return edge


def _part_bottom(part: Integers) -> Floats:
    """Return the smallest distance in a part."""
    bits = np.maximum(part - 1, 0).astype(np.uint64) << _SHIFT
    return bits.view(np.float64)


def _part_top(part: Integers) -> Floats:
    """Return the largest distance in a part that lies in (0, WIDTH]."""
    bits = np.maximum(part - 1, 0).astype(np.uint64) << _SHIFT
    top = np.minimum((bits + (_STEP - np.uint64(1))).view(np.float64), WIDTH)
    return np.where(part == 0, 0.0, top)


# Rows counted at once: the sum of so many distances within a cell is below 2^53, hence exact in doubles.
COUNTED = 1_400_000

# Distances are below 2^33: a thousand of them, with 2^43 for each row, are told apart in one double.
_ROW_BITS = 43

ROW = float(1 << _ROW_BITS)

_FULL = float(1 << 53)

# Places worked on at once: they fit the processor's cache.
_CHUNK = 1 << 16


class Counting:
    """The number of rows at each of many places and the sum of their distances, whole and below 2^33."""

    def __init__(self, places: int) -> None:
        self._rows = np.zeros(places, np.int64)
        self._below = np.zeros(places, np.int64)
        # Rows placed and not yet counted: a count goes over all places, so it should be worth it.
        self._buffer: tuple[Integers, Floats] | None = None
        self._waiting = 0
        # Sums of distances with `ROW` for each row, not yet told apart, and what none of them passes.
        self._packed: Floats | None = None
        self._most_packed = 0.0
        # Whether a place was seen to hold more rows at once than can be counted together with distances.
        self._crowded = False

    def __getstate__(self) -> tuple[npt.NDArray[np.unsignedinteger], Integers]:
        # What travels is half as much with rows in the fewest bytes that hold them.
        rows, below = self.sums()
        return rows.astype(np.min_scalar_type(int(rows.max(initial=0)))), below

    def __setstate__(self, state: tuple[npt.NDArray[np.unsignedinteger], Integers]) -> None:
        Counting.__init__(self, 0)
        self._rows, self._below = state[0].astype(np.int64), state[1]

    def room(self, rows: int) -> tuple[Integers, Floats]:
        """Return where to put the places of some rows, and their distances with `ROW` added."""
        if self._waiting + rows > COUNTED:
            self._count_waiting()
        if self._buffer is None:
            self._buffer = np.empty(COUNTED, np.int64), np.empty(COUNTED, np.float64)
        new = slice(self._waiting, self._waiting + rows)
        self._waiting += rows
        place, packed = self._buffer
        return place[new], packed[new]

    def sums(self) -> tuple[Integers, Integers]:
        """Return the number of rows, and their distances summed, at each place; they may be added to."""
        self._count_waiting()
        self._buffer = None
        self._unpack()
        return self._rows, self._below

    def _count_waiting(self) -> None:
        if self._buffer is None or not self._waiting:
            return
        (place, packed), waiting = self._buffer, self._waiting
        self._waiting = 0
        self._count(place[:waiting], packed[:waiting])

    def _count(self, place: Integers, packed: Floats) -> None:
        if not self._crowded:
            both = np.asarray(np.bincount(place, weights=packed, minlength=self._rows.size), np.float64)
            most = float(both.max())
            self._crowded = not most < _FULL
            if not self._crowded:
                self._add_packed(both, most)
                return
        packed -= ROW
        self._rows += np.bincount(place, minlength=self._rows.size)
        # Whole numbers before they are added up: the total may pass what a double holds exactly.
        self._below += np.bincount(place, weights=packed, minlength=self._below.size).astype(np.int64)

    def _add_packed(self, both: Floats, most: float) -> None:
        """Add sums of distances and of `ROW` for each row, none above `most`: exact as long as below 2^53."""
        if self._most_packed + most >= _FULL:
            self._unpack()
        if self._packed is None:
            self._packed = both
        else:
            self._packed += both
        self._most_packed += most

    def _unpack(self) -> None:
        """Tell rows and distances apart."""
        if self._packed is None:
            return
        for start in range(0, self._packed.size, _CHUNK):
            near = slice(start, start + _CHUNK)
            whole = self._packed[near].astype(np.int64)
            self._rows[near] += whole >> _ROW_BITS
            whole &= (1 << _ROW_BITS) - 1
            self._below[near] += whole
        self._packed, self._most_packed = None, 0.0


# Distances to the cell's edge are kept in units of 2^-52, so that sums are integers and every order,
# shard and number of workers gives the same bits.
UNIT = float(1 << 52)

MOST_ROWS_IN_A_CELL = 1_000_000_000


def _of_entries(work: Callable[[Any], Floats]) -> Callable[[Any], Floats]:
    """Return the work on every entry, done once for a grid table: for all that were cut from one together."""
    name = work.__name__

    @wraps(work)
    def found(table: "Table") -> Floats:
        if isinstance(table, ScoreTable):
            return work(table)
        known: dict[str, Any] = vars(table)
        if name not in known:
            whole, near = known.get(_CUT_FROM, (None, None))
            known[name] = sealed(work(table)) if whole is None else found(whole)[near]
        return cast("Floats", known[name])

    return found


# Where a table that was cut from another keeps which one, and from where to where.
_CUT_FROM = "cut from"


# Without slots, so that the means are computed once; pickles hold the columns alone.
@dataclass(frozen=True, eq=False)
class GridTable(Arrays):
    """Rows grouped by cell of [0, 1] (see `calibcli.stats.table.grid`), occupied cells only.

    Args:
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
        super().__post_init__()
        # Rows that sit on the cell's edge add nothing to its sums, so any number of them is safe.
        many = np.flatnonzero(self.rows > MOST_ROWS_IN_A_CELL)
        if self.below_positive[many].any() or self.below_negative[many].any():
            msg = f"more than {MOST_ROWS_IN_A_CELL:,} rows have nearly the same score"
            raise InputProblem(msg, "pass --exact, or measure the input in parts")

    def cut(self, starts: Integers) -> list[Self]:
        """Return the tables of the entries between consecutive starts, one after the other."""
        names, parts = [one.name for one in fields(self)], []
        for near in map(slice, starts[:-1].tolist(), starts[1:].tolist()):
            # What was checked of the whole holds for its parts, and its columns are private already.
            part = object.__new__(type(self))
            vars(part).update(
                {name: getattr(self, name)[near] for name in names}, **{_CUT_FROM: (self, near)}
            )
            parts.append(part)
        return parts

    @property
    def columns(self) -> tuple[Integers, ...]:
        return self.code, self.rows, self.positive_rows, self.below_positive, self.below_negative

    @property
    def kind(self) -> str:
        return "grid"

    @property
    def resolution(self) -> float:
        """Largest change of a score by rounding: the width of a cell."""
        return WIDTH

    @property
    def distinct(self) -> int:
        """Number of occupied cells."""
        return int(self.code.size)

    @cached_property
    def total_rows(self) -> int:
        return int(self.rows.sum())

    @cached_property
    def total_positive_rows(self) -> int:
        return int(self.positive_rows.sum())

    @property
    def weighted(self) -> bool:
        """Whether rows carry importance weights: a grid table never does."""
        return False

    @property
    @_of_entries
    def weight(self) -> Floats:
        return self.rows.astype(np.float64)

    @property
    @_of_entries
    def positive(self) -> Floats:
        return self.positive_rows.astype(np.float64)

    @property
    def weight_sq(self) -> Floats:
        return self.weight

    @property
    def positive_sq(self) -> Floats:
        return self.positive

    @property
    @_of_entries
    def edge(self) -> Floats:
        """Upper edge of each cell, from which distances are summed."""
        return upper_edge(self.code)

    @property
    def upper(self) -> Floats:
        """What decides the bin of a cell: its upper edge."""
        return self.edge

    @property
    @_of_entries
    def score(self) -> Floats:
        """Mean score of each cell."""
        return self._mean(self.below_positive + self.below_negative, self.rows)

    @property
    @_of_entries
    def score_of_positive(self) -> Floats:
        return self._mean(self.below_positive, self.positive_rows)

    @property
    @_of_entries
    def score_of_negative(self) -> Floats:
        return self._mean(self.below_negative, self.rows - self.positive_rows)

    def _mean(self, below: Integers, rows: Integers) -> Floats:
        return mean_below(self.edge, below, rows)


Table = ScoreTable | GridTable


@_of_entries
def residuals(table: Table) -> Floats:
    """Return the weighted sum of label - score at each entry, shape (n_entries,)."""
    ones = 1.0 - table.score_of_positive
    ones *= table.positive
    zeros = table.weight - table.positive
    zeros *= table.score_of_negative
    ones -= zeros
    return ones


def hidden_range(table: Table) -> float:
    """Return by how much the range of the running sum of residuals may be larger than at the ends of entries.

    Within an entry it rises by what rows with label 1 add and falls by what the others take off, so that it
    goes beyond both ends by no more than the lesser. Its top and its bottom may lie in two entries. Rows of
    one score are one step, so that of an exact table this is not hidden.
    """
    rise = table.positive * (1.0 - table.score_of_positive)
    lesser = np.minimum(rise, (table.weight - table.positive) * table.score_of_negative)
    return float(np.sort(lesser)[-2:].sum())


# Of a cell's width: how far the labels of scores spread evenly over a cell are apart by chance is less in one
# of 20 cells.
_ALIKE = 0.02

# Where cells hide the order of more pairs than this, what rests on it may be far from that of the scores.
MOST_HIDDEN = 0.2


def hidden_share(table: Table, one: Floats, other: Floats) -> float:
    """Return the share of pairs of rows that have different scores in one cell of a grid.

    Args:
        one: How many first rows of pairs there are at each entry, shape (n_entries,).
        other: How many second ones.
    """
    if isinstance(table, ScoreTable):
        return 0.0
    ones, others = table.positive, table.weight - table.positive
    # The labels of rows of one score, and of few others beside them, are hardly apart: these are ties.
    gap = np.abs(table.score_of_positive - table.score_of_negative) * np.sqrt(ones * others / table.weight)
    apart = gap > _ALIKE * table.resolution
    return summed_products(one[apart], other[apart]) / max(float(one.sum()) * float(other.sum()), 1.0)


@_of_entries
def squared_residuals(table: Table) -> Floats:
    """Return the sum of squared weight times (label - score)^2 at each entry, shape (n_entries,)."""
    ones = 1.0 - table.score_of_positive
    ones *= ones
    ones *= table.positive_sq
    zeros = table.weight_sq - table.positive_sq
    zeros *= np.square(table.score_of_negative)
    ones += zeros
    return ones


@_of_entries
def open_variance(table: Table) -> Floats:
    """Return the weighted sum of f (1 - f) at each entry, shape (n_entries,): how much labels leave open."""
    variance = table.weight * table.score
    variance *= 1.0 - table.score
    return variance


@_of_entries
def sums_of_scores(table: Table) -> Floats:
    """Return the weighted sum of scores at each entry, shape (n_entries,)."""
    total = table.weight - table.positive
    total *= table.score_of_negative
    total += table.positive * table.score_of_positive
    return total


class GridAccumulator(Counting):
    """Rows and tables added up at place code + label * CODES, in any order with the same result."""

    def __init__(self) -> None:
        super().__init__(2 * CODES)

    def add_rows(self, score: Floats, label: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        """Add rows of weight one; scores in [0, 1]."""
        for start in range(0, score.size, _CHUNK):
            code, below = placed(score[start : start + _CHUNK])
            place, packed = self.room(code.size)
            np.multiply(label[start : start + _CHUNK], CODES, out=place)
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
            ones = CODES + table.code
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
                np.add.at(all_rows, code + label * CODES, rows)
                np.add.at(all_below, code + label * CODES, distance.astype(np.int64) * rows)

    def table(self) -> GridTable:
        return GridTable(*(sealed(column) for column in self.columns()))

    def columns(self) -> tuple[Integers, ...]:
        rows, below = self.sums()
        both = rows[:CODES] + rows[CODES:]
        code = np.flatnonzero(both)
        ones = CODES + code
        return code, both[code], rows[ones], below[ones], below[code]


def grid_of(table: ScoreTable) -> GridTable:
    """Round an exact table to cells; equal to having added its rows one by one."""
    return GridTable(*(sealed(column) for column in _in_cells(table)))


def _in_cells(table: ScoreTable) -> tuple[Integers, ...]:
    """Return the columns of that table; sums of cells too full lose what is past 63 bits, in any order."""
    if table.weighted or not 0 < table.distinct <= COUNTED:
        whole = GridAccumulator()
        whole.add(table)
        return whole.columns()
    # Scores ascend and so do their cells: nothing as large as the grid is needed.
    code, distance = placed(table.score)
    below, ones, starts = distance.astype(np.int64), table.positive_rows, run_starts(code)
    sums = (table.rows, ones, below * ones, below * (table.rows - ones))
    columns = [code[starts], *(np.add.reduceat(one, starts) for one in sums)]
    held = columns[1] > 0
    return tuple(column[held] for column in columns)


def placed(score: Floats) -> tuple[Integers, Floats]:
    """Return the cell of each score and its distance to the cell's edge, in whole units."""
    code, edge = cell_and_edge(score)
    return code, distances(score, edge)


def distances(score: Floats, edge: Floats) -> Floats:
    """Return how far scores lie below the edges of their cells, in whole units, where the edges were."""
    edge -= score
    edge *= UNIT
    return np.rint(edge, out=edge)


def whole_distances(score: Floats, edge: Floats) -> Integers:
    """Return the same as whole numbers, which are the last bits of 1 and a distance, where the edges were."""
    edge -= score
    edge += 1.0
    whole = edge.view(np.int64)
    whole -= _ONE
    return whole


_ONE = np.float64(1.0).view(np.int64)


def mean_below(edge: Floats, below: Integers, rows: Integers) -> Floats:
    """Return the mean score of rows from the sum of their distances to an edge."""
    mean: Floats = below / np.maximum(rows, 1)
    mean /= UNIT
    np.subtract(edge, mean, out=mean)
    return np.maximum(mean, 0.0, out=mean)


# The share of rows, in per cent, up to each; the first is the lowest score and the last the highest.
LEVELS = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100)


def score_quantiles(table: Table) -> tuple[float, ...]:
    """Return the score up to which each of `LEVELS` of the rows lie: one that is there, nothing between two.

    Rows count once, or as often as a frequency weight says; importance weights play no part, so that the
    order of the rows plays none either.
    """
    last = np.searchsorted(np.cumsum(table.rows), _ranks(table.total_rows), side="left")
    return tuple(table.score[last].tolist())


def quantiles_of(scores: Floats) -> tuple[float, ...]:
    """Return the same of single scores, in any order, at least one."""
    return tuple(np.sort(scores)[_ranks(scores.size) - 1].tolist())


def _ranks(rows: int) -> Integers:
    """Return the rank of each level among so many rows, from 1."""
    return np.array([max(1, -(-rows * level // 100)) for level in LEVELS], np.int64)


def digest(table: Table) -> str:
    """Return `sha256:` and the hash of the table's canonical bytes: kind, then each column little-endian."""
    kind, columns = table.kind, table.columns
    if isinstance(table, ScoreTable) and not table.weighted:
        kind, columns = "grid", _in_cells(table)
    state = hashlib.sha256(f"calibcli.table/1 {kind} {len(columns)} {columns[0].size}\n".encode())
    for column in columns:
        state.update(np.ascontiguousarray(column, column.dtype.newbyteorder("<")).data)
    return f"sha256:{state.hexdigest()}"


def digest_of_rows(table: Table) -> str:
    """Return the digest of scores and labels, whatever importance weights rows have."""
    return digest(replace(table, weights=None) if isinstance(table, ScoreTable) else table)


def is_of_rows(known: str, table: Table) -> bool:
    """Whether a digest is that of these rows; of a map that was fitted before, rows together with weights."""
    return known == digest_of_rows(table) or (table.weighted and known == digest(table))
