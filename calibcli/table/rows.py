"""The rows behind a table, seen again one by one: what a fit asks for where a grid table has rounded them."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats, Integers, ScoreTable

RowWork = Callable[[Floats, npt.NDArray[np.bool_], Integers | None], Integers]


class Rows(Protocol):
    """Passes over all rows of a table; each reads the input again."""

    def summed(self, work: RowWork) -> Integers:
        """
        Return the sum of what the work makes of every batch of rows.

        Args:
            work: From scores, labels and frequencies (None where every row counts once), each of shape
                (n,), to integers of one shape; integers, so that no order of the rows changes the sum.
        """
        ...

    def in_cells(self, codes: Integers) -> ScoreTable:
        """
        Return the exact table of the rows in some cells of the grid.

        Args:
            codes: Ascending codes of `calibcli.table.cells`.
        """
        ...
