"""What labels leave over: sums of label - score at each entry of a table."""

import numpy as np

from calibcli.table.grid import GridTable, Table, residual_sums
from calibcli.table.score_table import Floats


def residuals(table: Table) -> Floats:
    """Return the weighted sum of label - score at each entry, shape (n_entries,)."""
    return table.residual if isinstance(table, GridTable) else residual_sums(table)


def squared_residuals(table: Table) -> Floats:
    """Return the sum of squared weight times (label - score)^2 at each entry, shape (n_entries,)."""
    ones = 1.0 - table.score_of_positive
    ones *= ones
    ones *= table.positive_sq
    zeros = table.weight_sq - table.positive_sq
    zeros *= np.square(table.score_of_negative)
    ones += zeros
    return ones
