"""
Labels drawn anew from the scores: what every statistic would be for a perfectly calibrated model.

Given the scores, Y* ~ Bernoulli(f) is the null hypothesis itself, so a p-value (1 + #{T* >= T}) / (draws + 1)
is exact at any number of rows. Above 20,000 rows the draws are made on about 256 sub-cells nested in the
bins, each with the mean score of its rows, which is said in the method.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.table.bins import segment_sums
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats, Integers, run_starts

EXACT_ROWS = 20_000
_EXACT_SCORES = 1_024
_SUB_CELLS = 256
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class DrawCells:
    """
    The cells on which labels are drawn.

    Args:
        score: Score of each cell (mean score where coarsened), shape (n_cells,).

        rows: Number of rows in each cell.

        starts: Position in the table of each cell's first entry, shape (n_cells + 1,).

        coarsened: Whether cells hold rows of different scores.
    """

    score: Floats
    rows: Integers
    starts: npt.NDArray[np.intp]
    coarsened: bool

    @property
    def method(self) -> str:
        """The words reports use for draws on these cells."""
        return "monte-carlo, coarsened" if self.coarsened else "monte-carlo"

    def segments(self, starts: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Translate bin starts in the table to bin starts among the cells."""
        return np.searchsorted(self.starts, starts)


def draw_cells(
    table: Table, partitions: Sequence[npt.NDArray[np.intp]], *, sub_cells: int = _SUB_CELLS
) -> DrawCells:
    """
    Return the cells for drawing labels: the table's own up to 20,000 rows, else sub-cells nested in the bins.

    Args:
        table: The rows.

        partitions: Starts of the bins of every partition that statistics will use.

        sub_cells: About how many sub-cells there are.
    """
    exact = table.total_rows <= EXACT_ROWS or table.distinct <= _EXACT_SCORES
    if exact:
        return DrawCells(table.score, table.rows, np.arange(table.distinct + 1), coarsened=False)
    reached = np.cumsum(table.rows)
    count = max(1, sub_cells - sum(part.size for part in partitions))
    ranks = np.arange(1, count) / count * reached[-1]
    cuts = np.searchsorted(reached, ranks) + 1
    starts = np.sort(np.concatenate([*partitions, cuts, [0, table.distinct]])).astype(np.intp)
    starts = starts[run_starts(starts)]
    rows = segment_sums(table.rows, starts)
    score = segment_sums(table.rows * table.score, starts) / rows
    return DrawCells(np.minimum(score, 1.0), rows, starts, coarsened=True)


def calibrated_positives(cells: DrawCells, *, draws: int, generator: np.random.Generator) -> Iterator[Floats]:
    """
    Yield blocks of draws of the number of rows with label 1, each of shape (block, n_cells).

    Args:
        cells: Where to draw.

        draws: Number of draws in all.

        generator: The source of randomness.
    """
    single = cells.rows == 1
    block = max(1, _CHUNK // max(cells.score.size, 1))
    for start in range(0, draws, block):
        shape = (min(block, draws - start), cells.score.size)
        if single.all():
            yield (generator.random(shape) < cells.score).astype(np.float64)
            continue
        positives = np.empty(shape)
        if single.any():
            uniform = generator.random((shape[0], int(single.sum())))
            positives[:, single] = uniform < cells.score[single]
        many = ~single
        if many.any():
            size = (shape[0], int(many.sum()))
            positives[:, many] = generator.binomial(cells.rows[many], cells.score[many], size=size)
        yield positives
