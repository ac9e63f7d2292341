"""Tables of parts of the rows, side by side: all exact, or all grids once they are too large together."""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem, TooManyCells
from calibcli.names import EXACT_LIMIT
from calibcli.stats.numerics import Booleans, Floats, Indices, Integers
from calibcli.stats.table import ONCE, ScoreTable, Weighing, WeightColumns, run_sums
from calibcli.stats.table import grid as cells
from calibcli.stats.table.grid import GridTable, Table
from calibcli.stats.table.running import Parts
from calibcli.values import dataclass

Name = tuple[str, ...]

_BUFFER_ROWS = 1 << 20
# Cells of the coarse grid: equal-width bins are made of them if their number divides it, as 15 and 20 do.
COARSE_CELLS = 5_040
_FINE = cells.CELLS // COARSE_CELLS
_MOST_ROWS_IN_A_CELL = 10_000_000


class Registry:
    """The names of parts, in the order in which they were met."""

    def __init__(self) -> None:
        self._place: dict[Name, int] = {}

    def __len__(self) -> int:
        return len(self._place)

    @property
    def names(self) -> tuple[Name, ...]:
        """Every name, by its place."""
        return tuple(self._place)

    def places(self, names: Iterable[Name]) -> Integers:
        """Return the places of names, those that are new included."""
        return np.array([self._place.setdefault(name, len(self._place)) for name in names], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class KeyedSums:
    """Columns added up over rows that agree in two keys; arrays of shape (n,), ascending by part, then point.

    Args:
        part: The place of the part in its registry.
        point: What tells rows of a part apart, at least 0.
        whole: Sums of whole numbers.
        real: Sums of doubles, in the order of the rows.
    """

    part: Integers
    point: Integers
    whole: tuple[npt.NDArray[np.signedinteger[Any]], ...] = ()
    real: tuple[Floats, ...] = ()

    @property
    def size(self) -> int:
        return int(self.part.size)

    def moved(self, places: Integers) -> "KeyedSums":
        """Return the same sums under other places; the order is lost until they are added to others."""
        return KeyedSums(places[self.part], self.point, self.whole, self.real)

    def occupied(self) -> "KeyedSums":
        """Return the sums without those of no rows, which the first of the whole numbers counts."""
        return self if self.whole[0].all() else self._some(np.flatnonzero(self.whole[0]))

    def of(self, place: int) -> "KeyedSums":
        """Return the sums of one part."""
        return self._some(slice(*np.searchsorted(self.part, [place, place + 1])))

    def _some(self, which: slice | Indices) -> "KeyedSums":
        whole, real = tuple(one[which] for one in self.whole), tuple(one[which] for one in self.real)
        return KeyedSums(self.part[which], self.point[which], whole, real)


def summed(parts: Sequence[KeyedSums]) -> KeyedSums:
    """Add up sums, or rows that each stand for themselves, in the order given."""
    part = np.concatenate([one.part for one in parts])
    point = np.concatenate([one.point for one in parts])
    # Whole numbers add up to the same in any order, and the fast sort keeps none.
    kind: Literal["stable"] | None = "stable" if parts[0].real else None
    span = int(point.max(initial=0)) + 1
    if int(part.max(initial=0)) < (1 << 63) // span:
        # Cells and parts are one number together, and sorted at once.
        order = np.argsort(part * span + point, kind=kind)
    else:
        order = np.argsort(point, kind=kind)
        # Sixteen bits are sorted by radix.
        small = part.size > 0 and part.max() < 1 << 15
        order = order[np.argsort(part[order].astype(np.int16 if small else np.int64), kind="stable")]
    part, point = part[order], point[order]
    new = (part[1:] != part[:-1]) | (point[1:] != point[:-1])
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, part.size), np.bool_), new)))
    whole = (np.concatenate(column)[order] for column in zip(*(one.whole for one in parts), strict=True))
    real = (np.concatenate(column)[order] for column in zip(*(one.real for one in parts), strict=True))
    return KeyedSums(
        part[starts],
        point[starts],
        tuple(run_sums(column, starts) for column in whole),
        tuple(run_sums(column, starts) for column in real),
    )


_NONE = np.zeros(0, np.int64)
NOTHING = KeyedSums(_NONE, _NONE, (_NONE,) * 4, (np.zeros(0),) * 4)


@dataclass(frozen=True, eq=False)
class CoarseGrid(GridTable):
    """A grid table of 5,040 equal cells, each under the code of the last of the 143 fine cells in it.

    The first and the last are kept as fine cells, where the log loss of a score needs them. Sums are exact
    as in every grid table.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _refuse_full_cells(self.rows, self.below_positive, self.below_negative)

    @property
    def resolution(self) -> float:
        return 1.0 / COARSE_CELLS


def _refuse_full_cells(
    rows: Integers, *below: Integers, hint: str = "pass --exact, or measure the input in parts"
) -> None:
    """Refuse cells of so many rows that their sums could pass 63 bits."""
    many = np.flatnonzero(rows > _MOST_ROWS_IN_A_CELL)
    if any(one[many].any() for one in below):
        msg = f"more than {_MOST_ROWS_IN_A_CELL:,} rows of a group have nearly the same score"
        raise InputProblem(msg, hint)


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Rows added up by part and score; arrays of shape (n,).

    Args:
        at: The score, or the upper edge of its cell.
        scores: Sums of the scores of rows with label 1, and of rows with label 0.
    """

    part: Integers
    at: Floats
    rows: Integers
    positive: Integers
    scores: tuple[Floats, Floats]


def crowded(score: Floats, part: Integers | None = None) -> int:
    """Return how many scores come after two others in one cell of a coarse grid: what a grid would save.

    A cell takes as much memory as two scores and less than twice as much as one, so exact tables are not much
    larger than grids while these are few. As they only become more with the rows, neither their order nor
    their cut changes whether a limit is passed.

    Args:
        score: Distinct scores of a part, ascending, shape (n,).
        part: The part of each, ascending, where there are several; scores then ascend within a part.
    """
    found = 0
    for start in range(0, score.size - 2, _BUFFER_ROWS):
        near = slice(start, start + _BUFFER_ROWS + 2)
        code, _ = coarse_cell(*cells.cell_and_edge(score[near]))
        third = code[2:] == code[:-2]
        if part is not None:
            third &= part[near][2:] == part[near][:-2]
        found += int(np.count_nonzero(third))
    return found


class RunningSlices:
    """Add rows of several parts, and take the table of each at the end.

    The tables share one limit: if more scores than that are `crowded`, all become coarse grids.

    Args:
        limit: Most crowded scores of all tables together; None for no limit.
        most_cells: Most occupied cells of all grids together, and then `limit` is of all distinct scores;
            None for no limit.
    """

    def __init__(self, limit: int | None = EXACT_LIMIT, *, most_cells: int | None = None) -> None:
        self.registry = Registry()
        self._limit = limit
        self._most_cells = most_cells
        self._parts = Parts(summed, attrgetter("size"), least=_BUFFER_ROWS, limit=limit)
        self._grid = False
        self._weighted = False
        # How large the whole was when it was last held against the limit.
        self._looked_at = 0

    @property
    def is_grid(self) -> bool:
        return self._grid

    @property
    def resolution(self) -> float:
        """Largest change of a score by rounding in the tables of all rows so far; 0 where they are exact."""
        self._whole()
        return 1.0 / COARSE_CELLS if self._grid else 0.0

    def become_grid(self) -> None:
        """Round all rows, and those to come, to the cells of coarse grids."""
        if not self._grid:
            self._grid = True
            exact = self._parts.taken()
            # Cells are few, and no longer held against the limit.
            self._parts = Parts(summed, attrgetter("size"), least=_BUFFER_ROWS)
            for part in exact:
                self._parts.add(_in_cells(part))

    def add_cells(self, part: KeyedSums) -> None:
        """Add rows that are counted in cells of coarse grids, by the places of the registry."""
        self.become_grid()
        self._take(part, exact=False)

    def add_rows(
        self,
        score: Floats,
        label: Booleans,
        *,
        names: Sequence[Name],
        code: Integers,
        weighing: Weighing = ONCE,
    ) -> None:
        """Add rows as `ScoreTable.from_rows` takes them."""
        self.add_numbered(score, label, part=self.registry.places(names)[code], weighing=weighing)

    def add_numbered(
        self,
        score: Floats,
        label: Booleans,
        *,
        part: Integers,
        weighing: Weighing = ONCE,
    ) -> None:
        """Add rows of parts that have numbers of their own, and no names."""
        number, weight = weighing.times(score.size), weighing.weight
        ones = label.astype(np.int64)
        real: tuple[Floats, ...] = ()
        if weight is not None:
            self._weighted = True
            real = (weight, weight * ones, weight * weight, weight * weight * ones)
        point = (score + 0.0).view(np.int64)
        self._take(KeyedSums(part, point, (number, number * ones), real), exact=True)

    def add_table(self, place: int, table: ScoreTable) -> None:
        """Add the rows of the exact table of a part, by its place in the registry."""
        part = np.full(table.distinct, place, np.int64)
        self._take(KeyedSums(part, table.score.view(np.int64), (table.rows, table.positive_rows)), exact=True)

    def add(self, other: Self) -> None:
        places = self.registry.places(other.registry.names)
        self._weighted = self._weighted or other._weighted
        if other._grid:
            self.become_grid()
        for part in other._parts:
            self._take(part.moved(places) if places.size else part, exact=not other._grid)

    def leaves(self) -> "Leaves":
        whole = self._whole().occupied()
        rows, positive = whole.whole[:2]
        if not self._grid:
            score = whole.point.view(np.float64)
            return Leaves(whole.part, score, rows, positive, (score * positive, score * (rows - positive)))
        edge = cells.upper_edge(whole.point)
        _refuse_full_cells(rows, *whole.whole[2:])
        below = [one / cells.UNIT for one in whole.whole[2:]]
        sums = edge * positive - below[0], edge * (rows - positive) - below[1]
        return Leaves(whole.part, edge, rows, positive, sums)

    def cells(self) -> KeyedSums:
        """Return what all rows of grids add up to, by part and cell, as a state keeps them."""
        whole = self._whole().occupied()
        _refuse_full_cells(
            whole.whole[0], *whole.whole[2:], hint="give the state its rows in smaller batches"
        )
        return whole

    def tables(self) -> dict[Name, Table]:
        """Return the table of every part that has rows, in the order of their names."""
        whole = self._whole()
        named = sorted(zip(self.registry.names, range(len(self.registry)), strict=True))
        if self._grid:
            parts = _grid_tables(whole.occupied(), len(named))
            return {name: parts[place] for name, place in named if parts[place].distinct}
        found = ((name, whole.of(place)) for name, place in named)
        return {name: _exact_table(part) for name, part in found if part.whole[0].sum() > 0}

    def _take(self, part: KeyedSums, *, exact: bool) -> None:
        self._parts.add(_in_cells(part) if exact and self._grid else part)
        self._look_at_the_limits()

    def _whole(self) -> KeyedSums:
        self._parts.merged()
        self._look_at_the_limits()
        # Once more, for what has just become cells.
        self._parts.merged()
        self._look_at_the_limits()
        whole = self._parts.merged()
        return NOTHING if whole is None else whole

    def _look_at_the_limits(self) -> None:
        limit, most, size = self._limit, self._most_cells, self._parts.merged_size
        if not self._grid and limit is not None and size > max(limit, self._looked_at):
            if self._weighted:
                many = f"those of all groups or classes have over {limit:,} distinct scores"
                msg = f"importance weights need exact tables, and {many} together"
                raise InputProblem(msg, "pass --exact to allow the memory it takes")
            self._looked_at = size
            # What was merged comes first.
            whole = next(iter(self._parts))
            if most is not None or crowded(whole.point.view(np.float64), whole.part) > limit:
                self.become_grid()
        if self._grid and most is not None and self._parts.merged_size > most:
            msg = f"the segments have over {most:,} occupied cells of the score"
            raise TooManyCells(msg, "name fewer columns, pass a smaller --max-values, or more --memory")


def _in_cells(exact: KeyedSums) -> KeyedSums:
    """Round scores to cells, with the distances to the cells' edges added up by label."""
    score = exact.point.view(np.float64)
    code, edge = coarse_cell(*cells.cell_and_edge(score))
    rows, positive = exact.whole
    distance = cells.whole_distances(score, edge)
    return KeyedSums(exact.part, code, (rows, positive, distance * positive, distance * (rows - positive)))


def coarse_cell(code: Integers, edge: Floats) -> tuple[Integers, Floats]:
    """Return the code and the upper edge of the coarse cell that holds each fine one; both arrays change."""
    number = np.rint(edge * cells.CELLS).astype(np.int64)
    inner = np.flatnonzero((number > _FINE) & (number <= cells.CELLS - _FINE))
    code[inner] += -number[inner] % _FINE
    edge[inner] = cells.upper_edge(code[inner])
    return code, edge


def _exact_table(part: KeyedSums) -> ScoreTable:
    rows, positive = part.whole
    score = part.point.view(np.float64)
    if part.real:
        return ScoreTable(score, rows, positive, WeightColumns(*part.real))
    some = rows > 0
    return ScoreTable(score[some], rows[some], positive[some])


def _grid_tables(whole: KeyedSums, count: int) -> list[CoarseGrid]:
    """Return the tables of so many parts."""
    together = CoarseGrid(whole.point, *whole.whole)
    return together.cut(np.searchsorted(whole.part, np.arange(count + 1)))
