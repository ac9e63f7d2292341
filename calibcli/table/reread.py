"""Some cells of a grid table, exactly: the rows in them seen once more."""

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem
from calibcli.table import cells
from calibcli.table.bins import segment_sums
from calibcli.table.grid import GridTable
from calibcli.table.rows import Rows
from calibcli.table.score_table import ScoreTable, run_starts


def reread(table: GridTable, places: npt.NDArray[np.intp], *, rows: Rows) -> ScoreTable:
    """
    Return the exact table of the rows in some cells.

    Args:
        table: The cells.

        places: Ascending positions of the cells asked for.

        rows: The rows behind the table.

    Raises:
        InputProblem: If these are no longer the rows that the table was made of.
    """
    seen = rows.in_cells(table.code[places])
    code = cells.cell_of(seen.score)
    starts = np.append(run_starts(code), code.size)
    known = (table.code[places], table.rows[places], table.positive_rows[places])
    found = (
        code[starts[:-1]],
        segment_sums(seen.rows, starts),
        segment_sums(seen.positive_rows, starts),
    )
    if not all(np.array_equal(*pair) for pair in zip(known, found, strict=True)):
        msg = "the input changed while it was read: its rows are no longer those of the first pass"
        raise InputProblem(msg, "run again when nothing writes to the input")
    return seen
