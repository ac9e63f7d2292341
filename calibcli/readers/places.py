"""From a value's position among the rows that are left to its row in the file."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.readers.decode import Booleans, Number
from calibcli.table.score_table import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """
    Which rows of a batch are left, and where they stand in the file.

    Args:
        before: How many rows of the file come before the batch.

        kept: Positions in the batch of the rows that are left; None for all.
    """

    before: int
    kept: Integers | None = None

    def row(self, position: int) -> int:
        """Return the row of the file, counted from 1 and without the header."""
        return self.before + 1 + (position if self.kept is None else int(self.kept[position]))

    def numbers(self, count: int) -> Integers:
        """Return the row of the file of each of the `count` rows that are left, counted from 0."""
        return self.before + (np.arange(count) if self.kept is None else self.kept)

    def some(self, which: npt.NDArray[np.intp]) -> "Places":
        """Return the places of some of the rows that are left."""
        return Places(self.before, which if self.kept is None else self.kept[which])

    def select(self, column: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Return what is left of a column of the batch."""
        return column if self.kept is None else column[self.kept]

    @classmethod
    def without(cls, missing: Booleans | None, *, before: int) -> "Places":
        """Return the places that are left when rows are missing."""
        return cls(before, None if missing is None else np.flatnonzero(~missing))
