"""Where the scores of a table lie, in a few of them: the same for the same rows in any order."""

import numpy as np
import numpy.typing as npt

from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

# The share of rows, in per cent, up to each; the first is the lowest score and the last the highest.
LEVELS = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100)


def score_quantiles(table: Table) -> tuple[float, ...]:
    """
    Return the score up to which each of `LEVELS` of the rows lie: a score that is there, nothing between two.

    Rows count once, or as often as a frequency weight says; importance weights play no part, so that the
    order of the rows plays none either.

    Args:
        table: At least one row.
    """
    last = np.searchsorted(np.cumsum(table.rows), _ranks(table.total_rows), side="left")
    return tuple(table.score[last].tolist())


def quantiles_of(scores: Floats) -> tuple[float, ...]:
    """Return the same of single scores, in any order, at least one."""
    return tuple(np.sort(scores)[_ranks(scores.size) - 1].tolist())


def _ranks(rows: int) -> npt.NDArray[np.int64]:
    """Return the rank of each level among so many rows, from 1."""
    return np.array([max(1, -(-rows * level // 100)) for level in LEVELS], np.int64)
