"""The rows behind a table seen once more, where a grid table has rounded what a fit or a partition needs."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem
from calibcli.stats.table import ONCE, Booleans, Floats, Indices, Integers, ScoreTable, Weighing, run_starts
from calibcli.stats.table import grid as cells
from calibcli.stats.table.bins import bin_index, segment_sums
from calibcli.stats.table.grid import GridTable, Table, placed
from calibcli.values import dataclass

if TYPE_CHECKING:
    from calibcli.stats.table.finer import CountedParts, Tree

RowWork = Callable[[Floats, Booleans, Integers | None], Integers]


class Rows(Protocol):
    """Passes over all rows of a table; each reads the input again."""

    def summed(self, work: RowWork) -> Integers:
        """Return the sum of what the work makes of every batch of rows.

        Args:
            work: From scores, labels and frequencies (None where every row counts once), each of shape
                (n,), to integers of one shape; integers, so that no order of the rows changes the sum.
        """
        ...

    def in_open(self, tree: "Tree") -> ScoreTable:
        """Return the exact table of the rows in the open leaves of a tree."""
        ...

    def in_parts(self, tree: "Tree") -> "CountedParts": ...


def reread(table: GridTable, places: Indices, *, rows: Rows) -> ScoreTable:
    """Return the exact table of the rows in some cells."""
    code = table.code[places]
    known = code, table.rows[places], table.positive_rows[places]
    from calibcli.stats.table.finer import Tree

    return seen_again(Tree.over(code), known, rows=rows)[0]


def seen_again(
    tree: "Tree", known: tuple[Integers, Integers, Integers], *, rows: Rows
) -> tuple[ScoreTable, Indices]:
    """Return the exact table of the rows in the open leaves of a tree, and where each leaf begins in it.

    Args:
        known: Its open leaves from the lowest scores to the highest, with their rows and those of label 1.
        rows: The rows, refused if they are not those that are known.
    """
    seen = rows.in_open(tree)
    _, leaf = tree.in_open(seen.score)
    starts = np.append(run_starts(leaf), leaf.size)
    found = leaf[starts[:-1]], segment_sums(seen.rows, starts), segment_sums(seen.positive_rows, starts)
    for pair in zip(known, found, strict=True):
        refuse_changed(*pair)
    return seen, starts


def refuse_changed(known: Integers, found: Integers) -> None:
    if not np.array_equal(known, found):
        msg = "the input changed while it was read: its rows are no longer those of the first pass"
        raise InputProblem(msg, "run again when nothing writes to the input")


@dataclass(frozen=True, eq=False)
class PartedGrid(GridTable):
    """A grid table some of whose cells are parted at edges of bins: their code stands there once for each
    part.

    It is for sums over bins: its digest is not that of the whole cells, and it must not be added to a grid.

    Args:
        limit: What decides the bin of each entry: the edge that its part of a cell ends at, or the upper edge
            of the cell. Strictly ascending, shape (n_entries,).
    """

    limit: Floats

    @property
    def upper(self) -> Floats:
        return self.limit


def split_at(table: GridTable, edges: Floats, *, rows: Rows) -> Table:
    """Return the table with every cell that straddles an edge shared out exactly between the bins.

    Summed over bins with these edges, or with some of them, it gives the counts of the exact table, and its
    sums of scores to the rounding of a grid. Rows are read only where a cell that holds some straddles.
    """
    places = straddling(table, edges)
    if not places.size:
        return table
    parts = _parted(reread(table, places, rows=rows), edges)
    whole = np.ones(table.distinct, np.bool_)
    whole[places] = False
    pairs = zip((*table.columns, table.upper), (*parts.columns, parts.limit), strict=True)
    columns: list[npt.NDArray[Any]] = [np.concatenate((mine[whole], theirs)) for mine, theirs in pairs]
    order = np.argsort(columns[-1])
    return PartedGrid(*(column[order] for column in columns))


def straddling(table: GridTable, edges: Floats) -> Indices:
    """Return the positions of the occupied cells that have an edge inside them, ascending."""
    inner = np.asarray(edges[1:-1], dtype=np.float64)
    code = cells.cell_of(inner)
    # A cell is closed on the right as bins are, so an edge at its upper end parts nothing.
    inside = cells.upper_edge(code) != inner
    return np.flatnonzero(np.isin(table.code, code[inside]))


def _parted(seen: ScoreTable, edges: Floats) -> PartedGrid:
    """Return the rows of straddling cells, grouped by cell and bin."""
    code, below = placed(seen.score)
    below = below.astype(np.int64)
    limit = np.minimum(edges[bin_index(edges, seen.score) + 1], cells.upper_edge(code))
    # Limits ascend with the scores, and differ from cell to cell and from bin to bin.
    starts = np.append(run_starts(limit), limit.size)
    first = starts[:-1]
    ones, zeros = seen.positive_rows, seen.rows - seen.positive_rows
    counts = (seen.rows, ones, below * ones, below * zeros)
    sums = [segment_sums(column, starts) for column in counts]
    columns: list[npt.NDArray[Any]] = [code[first], *sums, limit[first]]
    return PartedGrid(*columns)


class ClassBlock(NamedTuple):
    """Some of the rows."""

    probability: Floats
    label: Integers
    weighing: Weighing = ONCE

    @property
    def weights(self) -> Floats:
        """What each row weighs, whatever that means, shape (n,)."""
        weight = self.weighing.weight
        return self.weighing.times(self.label.size).astype(np.float64) if weight is None else weight


class ClassRowSource(Protocol):
    """Gives the same blocks in the same order every time."""

    @property
    def classes(self) -> tuple[str, ...]: ...

    @property
    def in_memory(self) -> bool:
        """Whether a fit may keep what it makes of the rows, as much as the probabilities take, in memory."""
        ...

    @property
    def workers(self) -> int:
        """How many blocks may be worked on at a time; no number changes a digit."""
        ...

    def blocks(self) -> Iterator[ClassBlock]:
        """Yield all rows, in blocks of bounded size."""
        ...
