"""What labels leave over, and what scores leave open, at each entry of a table; a grid table keeps it."""

from calibcli.table.grid import (
    GridTable,
    Table,
    open_variances,
    residual_sums,
    score_sums,
    squared_residual_sums,
)
from calibcli.table.score_table import Floats


def residuals(table: Table) -> Floats:
    """Return the weighted sum of label - score at each entry, shape (n_entries,)."""
    return table.residual if isinstance(table, GridTable) else residual_sums(table)


def squared_residuals(table: Table) -> Floats:
    """Return the sum of squared weight times (label - score)^2 at each entry, shape (n_entries,)."""
    return table.residual_sq if isinstance(table, GridTable) else squared_residual_sums(table)


def sums_of_scores(table: Table) -> Floats:
    """Return the weighted sum of scores at each entry, shape (n_entries,)."""
    return table.score_sum if isinstance(table, GridTable) else score_sums(table)


def open_variance(table: Table) -> Floats:
    """Return the weighted sum of f (1 - f) at each entry, shape (n_entries,): how much labels leave open."""
    return table.open_variance if isinstance(table, GridTable) else open_variances(table)
