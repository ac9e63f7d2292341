"""One table for each of several classes: its probability in every row, and whether it is the right one."""

from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.table.class_cells import ClassCells
from calibcli.table.grid import Table
from calibcli.table.running import EXACT_LIMIT
from calibcli.table.score_table import Floats, Integers
from calibcli.table.sliced import RunningSlices

# Scores that are added at once: more are slower, as what is made of them leaves the processor's cache.
_BLOCK = 1 << 18
# Scores that are looked at before any is added.
_LOOKED = 1 << 20


class RunningClasses:
    """
    Add rows of several classes, and take the table of each class at the end.

    The tables share one limit, and all are exact or all are coarse grids, as those of groups. Past the
    limit, scores of label 0 are counted in cells of all classes side by side; those of label 1, one to a row,
    are few.

    Args:
        classes: What they are called.

        limit: Most distinct scores of all tables together; None for no limit.
    """

    def __init__(self, classes: tuple[str, ...], limit: int | None = EXACT_LIMIT) -> None:
        self._names = [(name,) for name in classes]
        self._limit = limit
        self._slices = RunningSlices(limit)
        self._slices.registry.places(self._names)
        self._looked = False
        self._cells: ClassCells | None = None

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
        count = len(self._names)
        if weight is None:
            self._look_ahead(probability[: max(1, _LOOKED // count)])
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
        self._slices.add(other._slices)
        if self._cells is None:
            self._cells = other._cells
        elif other._cells is not None:
            self._cells.merge(other._cells)

    def tables(self) -> dict[str, Table]:
        """Return the table of every class, in the order of the classes."""
        if self._cells is not None:
            self._slices.add_cells(self._cells.sums())
            self._cells = None
        tables = self._slices.tables()
        return {name[0]: tables[name] for name in self._names if name in tables}

    def _look_ahead(self, some: Floats) -> None:
        """Make grids of the tables before rows are sorted into them, if some have too many scores already."""
        if self._looked or self._limit is None or some.size <= self._limit:
            return
        # Once: scores that repeat among so many will go on to repeat.
        self._looked = True
        if np.unique(some).size > self._limit:
            self._slices.become_grid()

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
