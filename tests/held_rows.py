"""Rows in memory, as a fit sees them again behind a grid table."""

from dataclasses import dataclass, field

import numpy as np

from calibcli.table import cells
from calibcli.table.rows import RowWork
from calibcli.table.score_table import Floats, Integers, ScoreTable


@dataclass
class HeldRows:
    """
    Rows that can be asked for again; `reread` counts those handed out, `passes` the passes.

    Args:
        score: Shape (n,).

        label: Shape (n,).
    """

    score: Floats
    label: np.ndarray[tuple[int], np.dtype[np.bool_]]
    reread: int = 0
    passes: int = 0
    asked: list[int] = field(default_factory=list)

    def summed(self, work: RowWork) -> Integers:
        """Return the work's sum over batches of 1,000 rows."""
        self.passes += 1
        starts = range(0, self.score.size, 1000)
        parts = [work(self.score[i : i + 1000], self.label[i : i + 1000], None) for i in starts]
        return np.sum(parts, axis=0)

    def in_cells(self, codes: Integers) -> ScoreTable:
        """Return the exact table of the rows in some cells."""
        self.passes += 1
        self.asked = codes.tolist()
        inside = np.isin(cells.cell_of(self.score), codes)
        self.reread += int(inside.sum())
        return ScoreTable.from_rows(self.score[inside], self.label[inside])
