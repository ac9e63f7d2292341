"""What labels leave over: sums of label - score at each entry of a table."""

from calibcli.table.grid import Table
from calibcli.table.score_table import Floats


def residuals(table: Table) -> Floats:
    """Return the weighted sum of label - score at each entry, shape (n_entries,)."""
    positive, negative = table.positive, table.weight - table.positive
    return positive * (1.0 - table.score_of_positive) - negative * table.score_of_negative


def squared_residuals(table: Table) -> Floats:
    """Return the sum of squared weight times (label - score)^2 at each entry, shape (n_entries,)."""
    positive_sq, negative_sq = table.positive_sq, table.weight_sq - table.positive_sq
    return positive_sq * (1.0 - table.score_of_positive) ** 2 + negative_sq * table.score_of_negative**2
