"""Cells of the coarse grids of many classes, counted side by side: without sorting, in bounded memory."""

from functools import cache
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from calibcli.table import cells
from calibcli.table.score_table import Floats, Integers
from calibcli.table.sliced import Sums, coarse_cell

_UNIT = float(1 << 52)
# Scores from here on have a slot, and 0 has one: what lies between is as rare as it is small.
_LEAST = 2.0**-64
_MOST_SLOTS = 1 << 24
_NOWHERE = -1


class _Slots(NamedTuple):
    """
    The cells that are counted here.

    Args:
        of_code: For each code of the fine grid its slot, or -1, shape (CODES,).

        code: For each slot the code of its cell in a coarse grid, ascending, shape (n_slots,).

        edge: The upper edge of that cell.
    """

    of_code: npt.NDArray[np.int32]
    code: Integers
    edge: Floats


@cache
def _slots() -> _Slots:
    fine = np.arange(cells.CODES)
    # Above 0 and below 1, where doubles are no nearer to 1 than 2^-53.
    first, last = cells.cell_of(np.array([_LEAST, 1.0 - 2.0**-53]))
    held = (first <= fine) & (fine <= last)
    held[[0, -1]] = True
    coarse, edge = coarse_cell(fine, cells.upper_edge(fine))
    code, where, place = np.unique(coarse[held], return_index=True, return_inverse=True)
    of_code = np.full(cells.CODES, _NOWHERE, np.int32)
    of_code[held] = place
    return _Slots(of_code, code, edge[held][where])


class ClassCells:
    """
    Counts of scores by class and cell, and sums of their distances to the cells' edges, whatever the order.

    Args:
        count: How many classes there are; no more than `worth_it` says.
    """

    def __init__(self, count: int) -> None:
        self._slots = _slots()
        self._rows = np.zeros(count * self._slots.code.size, np.int64)
        self._below = np.zeros(count * self._slots.code.size, np.int64)

    @staticmethod
    def worth_it(count: int) -> bool:
        """Whether so many classes are counted in less than 256 MiB."""
        return count * _slots().code.size <= _MOST_SLOTS

    def add(self, score: Floats, code: Integers, counts: Integers | None) -> npt.NDArray[np.intp]:
        """
        Add scores of label 0.

        Args:
            score: Shape (n,), in [0, 1].

            code: Shape (n,), the class of each.

            counts: Frequency weights, or None.

        Returns:
            The places of those that have no slot and are not counted here.
        """
        slots = self._slots
        slot = slots.of_code[cells.cell_of(score)]
        held = slot != _NOWHERE
        left = np.flatnonzero(~held)
        if left.size:
            score, code, slot = score[held], code[held], slot[held]
            counts = None if counts is None else counts[held]
        place = code * slots.code.size + slot
        distance = np.rint((slots.edge[slot] - score) * _UNIT).astype(np.int64)
        np.add.at(self._rows, place, 1 if counts is None else counts)
        np.add.at(self._below, place, distance if counts is None else distance * counts)
        return left

    def merge(self, other: Self) -> None:
        """Add the scores of another."""
        self._rows += other._rows
        self._below += other._below

    def sums(self) -> Sums:
        """Return the cells that hold rows."""
        place = np.flatnonzero(self._rows)
        part, slot = np.divmod(place, self._slots.code.size)
        rows, nothing = self._rows[place], np.zeros(place.size, np.int64)
        return Sums(part, self._slots.code[slot], (rows, nothing, nothing, self._below[place]))
