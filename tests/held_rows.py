"""Rows in memory, as a fit sees them again behind a grid table."""

from dataclasses import dataclass, field

import numpy as np

from calibcli.stats.table import Floats, Integers, ScoreTable, Weighing
from calibcli.stats.table.again import RowWork
from calibcli.stats.table.finer import CountedParts, Tree


@dataclass
class HeldRows:
    """Rows that can be asked for again; `reread` counts those handed out, `passes` the passes.

    Args:
        score: Shape (n,).

        label: Shape (n,).

        counts: How often each row stands for, or None for once.

        batch: Rows handed out at once.
    """

    score: Floats
    label: np.ndarray[tuple[int], np.dtype[np.bool_]]
    counts: Integers | None = None
    batch: int = 1_000
    reread: int = 0
    passes: int = 0
    requested: list[int] = field(default_factory=list)

    def summed(self, work: RowWork) -> Integers:
        """Return the work's sum over batches."""
        self.passes += 1
        counts = self.counts
        parts = [slice(i, i + self.batch) for i in range(0, self.score.size, self.batch)]
        found = [work(self.score[p], self.label[p], None if counts is None else counts[p]) for p in parts]
        return np.sum(found, axis=0)

    def in_open(self, tree: Tree) -> ScoreTable:
        """Return the exact table of the rows in the open leaves of a tree."""
        self.passes += 1
        inside, node = tree.in_open(self.score)
        self.requested = np.unique(node).tolist()
        self.reread += inside.size
        counts = None if self.counts is None else self.counts[inside]
        return ScoreTable.from_rows(self.score[inside], self.label[inside], Weighing(counts=counts))

    def in_parts(self, tree: Tree) -> CountedParts:
        """Return the rows in the parts of a tree that were made last, counted."""
        self.passes += 1
        found = CountedParts(tree)
        found.add_rows(self.score, self.label, self.counts)
        return found
