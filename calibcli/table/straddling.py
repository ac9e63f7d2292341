"""Cells of a grid table that straddle the edge of a bin, shared out between the bins by their rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from calibcli.table import cells
from calibcli.table.bins import bin_index, segment_sums
from calibcli.table.grid import GridTable, Table, placed
from calibcli.table.reread import reread
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats, ScoreTable, frozen, run_starts


@dataclass(frozen=True, eq=False)
class PartedGrid(GridTable):
    """
    A grid table some of whose cells are parted at edges of bins: their code stands there once for each part.

    It is for sums over bins: its digest is not that of the whole cells, and it must not be added to a grid.

    Args:
        limit: What decides the bin of each entry: the edge that its part of a cell ends at, or the upper edge
            of the cell. Strictly ascending, shape (n_entries,).
    """

    limit: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "limit", frozen(self.limit, np.float64))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (*self.columns, self.limit)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartedGrid) or not np.array_equal(self.limit, other.limit):
            return False
        return super().__eq__(other)

    __hash__ = None

    @property
    def upper(self) -> Floats:
        """What decides the bin of an entry: the edge that its part of a cell ends at."""
        return self.limit


def split_at(table: GridTable, edges: Floats, *, rows: Rows) -> Table:
    """
    Return the table with every cell that straddles an edge shared out exactly between the bins.

    Summed over bins with these edges, or with some of them, it gives the counts of the exact table, and its
    sums of scores to the rounding of a grid. Rows are read only where a cell that holds some straddles.

    Args:
        table: Whole cells.

        edges: Ascending from 0 to 1, shape (n_bins + 1,); those of several partitions may be put together.

        rows: The rows behind the table.

    Raises:
        InputProblem: If these are no longer the rows that the table was made of.
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


def straddling(table: GridTable, edges: Floats) -> npt.NDArray[np.intp]:
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
