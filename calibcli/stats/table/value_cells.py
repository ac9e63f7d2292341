"""Sums of values over rows, and how often values of each size occurred, whatever the order of the rows."""

import math
from typing import Self

import numpy as np

from calibcli.stats.numerics import ExactSum, Floats, Integers
from calibcli.stats.table.bins import segment_sums
from calibcli.values import dataclass, field

# An octave has so many cells, from 2^-530 to 2^478: there is room for losses from 2^-64 to 2^12 times any
# weight that may be read (from 1e-140 to 1e140). What is smaller counts as 0, what is larger as 2^478.
_EACH = 32
_LEAST, _MOST = -529, 478
# What is smaller than the largest value by so many octaves counts as 0 when values are asked for.
_OCTAVES = 76
_FRACTION_BITS, _EACH_BITS, _BIAS = 52, 5, 1022
# The leading bits of the largest double that counts as 0.
_ZERO = ((_LEAST + _BIAS) << _EACH_BITS) - 1
_CELLS = (_MOST - _LEAST + 1) * _EACH
# The cell of 0 stands between those of both signs. Where each cell of positive values begins.
_BEGINS = np.ldexp(1.0 + np.arange(_EACH) / _EACH, np.arange(_LEAST - 1, _MOST)[:, None]).ravel()
# Values worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14


class ValueCells:
    """Numbers of rows by the size of a value: cells of both signs, and one of 0.

    A value is known to 1.6 % of itself; whole numbers are added, so that no order and no cut into parts
    changes them.
    """

    __slots__ = ("_cells", "_rows")

    def __init__(self) -> None:
        # Those that have rows, ascending: of few rows they are few.
        self._cells = self._rows = np.zeros(0, np.int64)

    def add(self, values: Floats, counts: Integers | Floats | None = None) -> None:
        """Add rows with these finite values, each so many times."""
        if values.size:
            self._join(*_by_cell(values, counts))

    def mirrored(self) -> Self:
        """Return the rows with every value negated."""
        other = type(self)()
        other._cells, other._rows = 2 * _CELLS - self._cells[::-1], self._rows[::-1]  # noqa: SLF001
        return other

    def merge(self, other: Self) -> None:
        self._join(other._cells, other._rows)

    def _join(self, cells: Integers, rows: Integers) -> None:
        every = np.union1d(self._cells, cells)
        total = np.zeros(every.size, np.int64)
        total[np.searchsorted(every, self._cells)] = self._rows
        total[np.searchsorted(every, cells)] += rows
        self._cells, self._rows = every, total

    def values(self) -> tuple[Floats, Floats]:
        """Return the middles of the cells that have rows, and how many."""
        some = self._cells
        cell = np.abs(some - _CELLS) - 1
        size = np.ldexp(1.0 + (cell % _EACH + 0.5) / _EACH, cell // _EACH + _LEAST - 1)
        nothing = (cell < 0) | (cell <= cell.max(initial=0) - _OCTAVES * _EACH)
        middle = np.where(nothing, 0.0, np.copysign(size, some - _CELLS))
        return middle, self._rows.astype(np.float64)


def _by_cell(values: Floats, counts: Integers | Floats | None) -> tuple[Integers, Integers]:
    """Return the cells that some values are in, ascending, and how many rows have theirs in each."""
    low, high = _places(np.array([values.min(), values.max()])).tolist()
    found = _in_window(values, counts, low, high)
    some = np.flatnonzero(found)
    return some + low, found[some]


def _in_window(values: Floats, counts: Integers | Floats | None, low: int, high: int) -> Integers:
    """Return how many rows have their value in each cell from one to another."""
    if counts is not None and values.size > _CHUNK:
        for ordered, rows in ((values, counts), (values[::-1], counts[::-1])):
            if ordered[0] >= 0.0 and np.all(ordered[1:] >= ordered[:-1]):
                # Where values ascend, each cell's rows are one run.
                begins = np.searchsorted(ordered, _BEGINS[low - _CELLS : high - _CELLS])
                starts = np.concatenate(([0], begins, [values.size]))
                return segment_sums(np.asarray(rows, np.float64), starts).astype(np.int64)
    found = np.zeros(high - low + 1, np.int64)
    for start in range(0, values.size, _CHUNK):
        near = slice(start, start + _CHUNK)
        place = _places(values[near]) - low
        if counts is None:
            found += np.bincount(place, minlength=found.size)
        else:
            # Whole numbers, as doubles: exact, and much faster than adding at places.
            found += np.bincount(place, counts[near], found.size).astype(np.int64)
    return found


def _places(values: Floats) -> Integers:
    # The leading bits of a double are its sign, its exponent and the cell within the octave.
    bits = np.ascontiguousarray(values).view(np.int64)
    size = (bits & np.int64(0x7FFFFFFFFFFFFFFF)) >> (_FRACTION_BITS - _EACH_BITS)
    size -= _ZERO
    np.clip(size, 0, _CELLS, out=size)
    np.negative(size, out=size, where=bits < 0)
    size += _CELLS
    return size


@dataclass(slots=True, eq=False)
class ValueSums:
    """Exact sums of a finite value x over rows of weight w.

    Args:
        linear: Of w x.
        squared_linear: Of w^2 x; left empty without importance weights, where it is `linear`.
        squares: Of w^2 x^2.
        cells: How often w x had which size.
    """

    linear: ExactSum = field(default_factory=ExactSum)
    squared_linear: ExactSum = field(default_factory=ExactSum)
    squares: ExactSum = field(default_factory=ExactSum)
    cells: ValueCells = field(default_factory=ValueCells)

    def add_values(self, values: Floats, counts: Integers | None) -> None:
        """Add rows without importance weights, each so many times."""
        self.cells.add(values, counts)
        if counts is None:
            self.linear.add(values)
            self.squares.add(values * values)
        else:
            self.linear.add_repeated(values, counts)
            self.squares.add_repeated(values * values, counts)

    def add_weighted(self, values: Floats, weight: Floats) -> None:
        """Add rows with importance weights."""
        heavy = weight * values
        self.cells.add(heavy[weight > 0.0])
        self.linear.add(heavy)
        self.squared_linear.add(weight * heavy)
        self.squares.add(heavy * heavy)

    def merge(self, other: Self) -> None:
        self.linear.merge(other.linear)
        self.squared_linear.merge(other.squared_linear)
        self.squares.merge(other.squares)
        self.cells.merge(other.cells)


def worst_log_loss(probability: Floats) -> float:
    """Return -ln of the least of some probabilities; 0 without any."""
    least = float(probability.min(initial=1.0))
    return -math.log(least) if least > 0.0 else math.inf
