"""How many rows that count once weighted ones are worth, and how far a mean over them strays."""

from calibcli.bounds.proportion import hoeffding_deviation
from calibcli.table.grid import Table


def deviation(table: Table, *, delta: float) -> float:
    """Return how far the binned ECE, or a mean residual, strays from its mean on either side."""
    return hoeffding_deviation(effective_rows(table), delta)


def effective_rows(table: Table) -> float:
    """Return (sum w)^2 / sum w^2: the number of rows where every row counts once."""
    if not table.weighted:
        return float(table.total_rows)
    return float(table.weight.sum() ** 2 / table.weight_sq.sum())
