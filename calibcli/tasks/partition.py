"""Which bins a report speaks of, and what it says of its table."""

from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_BINS, Binning
from calibcli.reports.measure import TableSummary
from calibcli.table import cells
from calibcli.table.bins import ATOMS, Bins, bins_of, looks_discrete
from calibcli.table.digest import digest
from calibcli.table.grid import GridTable, Table
from calibcli.table.rows import Rows
from calibcli.table.straddling import split_at, straddling

MOST_BINS = 100_000
MOST_CONFIDENCE = 0.999999


def chosen_bins(table: Table, *, bins: int | None, binning: Binning | None, discrete: bool) -> Bins:
    """
    Return the partition asked for; by default distinct scores where they are few, else 15 equal-width bins.

    Raises:
        UsageProblem: If there are too many bins, or distinct scores are asked of a grid table.
    """
    if binning is Binning.ATOMS or (binning is None and bins is None and (discrete or looks_discrete(table))):
        if table.kind == "grid":
            msg = "a grid table does not keep distinct scores apart"
            raise UsageProblem(msg, "pass --exact, or use --binning equal-width")
        return ATOMS
    count = DEFAULT_BINS if bins is None else bins
    if not 1 <= count <= MOST_BINS:
        msg = f"{count:,} bins"
        raise UsageProblem(msg, f"--bins takes a whole number from 1 to {MOST_BINS:,}")
    return bins_of(binning or Binning.EQUAL_WIDTH, count, table=table)


def may_cut_cells(bins: int | None, binning: Binning | None) -> bool:
    """Whether bins asked for would cut cells, should the table become a grid."""
    return binning in (None, Binning.EQUAL_WIDTH) and bins is not None and bins > 0 and cells.CELLS % bins > 0


def parted(table: Table, bins: Bins, *, again: Rows | None) -> Table:
    """
    Return the table with the cells that the bins cut shared out between them by a second look at their rows.

    Raises:
        UsageProblem: If bins cut the cells of a grid table whose rows cannot be seen again.
    """
    if not isinstance(table, GridTable) or bins.binning is not Binning.EQUAL_WIDTH or bins.edges is None:
        return table
    if again is not None:
        return split_at(table, bins.edges, rows=again)
    if straddling(table, bins.edges).size:
        msg = f"{bins.edges.size - 1:,} equal-width bins would cut the cells of the grid table"
        raise UsageProblem(msg, "pass --exact, or ask for a number of bins that divides 720,720")
    return table


def summary_of(table: Table, *, discrete: bool, fingerprint: bool = True) -> TableSummary:
    """Return what a report says of its table, with or without its digest."""
    return TableSummary(
        kind=table.kind,
        rows=table.total_rows,
        positive=table.total_positive_rows,
        distinct=table.distinct,
        resolution=table.resolution,
        digest=digest(table) if fingerprint else None,
        discrete=discrete,
        weighted=table.weighted,
    )


def check_confidence(confidence: float) -> None:
    """
    Refuse a confidence that is not one.

    Raises:
        UsageProblem: Unless it lies between 0.5 and 0.999999.
    """
    if not 0.5 <= confidence <= MOST_CONFIDENCE:
        msg = f"a confidence of {confidence!r}"
        raise UsageProblem(msg, f"--confidence takes a number from 0.5 to {MOST_CONFIDENCE}, such as 0.95")
