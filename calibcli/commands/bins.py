"""Which bins a report speaks of, and what it says of its table."""

from collections.abc import Iterable, Sequence

import numpy as np

from calibcli.errors import IdleOption, UsageProblem
from calibcli.families import Home
from calibcli.names import DEFAULT_BINS, Binning, ClassMeasure, MeasureName, TestName
from calibcli.options.measuring import FERRO_FRICKER, MOST_BINS, MURPHY
from calibcli.options.numerals import in_full, percent
from calibcli.reports.measure import TableSummary
from calibcli.show.words import field_name, share
from calibcli.stats.measures.scores import certain_and_wrong
from calibcli.stats.table import Floats
from calibcli.stats.table import grid as cells
from calibcli.stats.table.again import Rows, split_at, straddling
from calibcli.stats.table.bins import (
    ATOMS,
    NEARLY_ALL,
    NO_ATOMS,
    Bins,
    bin_index,
    bins_of,
    looks_discrete,
    segment_sums,
)
from calibcli.stats.table.grid import GridTable, Table, digest

_OVER_BINS = tuple(name for name in MeasureName if name.facts.home in (Home.BINNED, Home.L2))
# What depends on how bins are cut; `ece_sweep` finds their number by itself.
CUT: frozenset[object] = frozenset(
    {*_OVER_BINS, *MURPHY, *FERRO_FRICKER, TestName.T, TestName.HOSMER_LEMESHOW, *ClassMeasure}
) - {
    MeasureName.ECE_SWEEP,
    MeasureName.BRIER,
    ClassMeasure.CLASS_LOG_LOSS,
    ClassMeasure.CLASS_BRIER,
    ClassMeasure.ACCURACY,
}
# What a gate asks by, whose bins must not follow the rows.
WITHOUT_BINS = "--max-smece asks without bins"
# Scores of at most so many values, with so many rows each on average, are said to take few values.
_FEW, _ROWS_EACH = 50, 2
_MOST_VALUES, _ROWS_OF_MANY = 1_000, 20


def chosen_bins(table: Table, *, bins: int | None, binning: Binning | None, discrete: bool) -> Bins:
    """The partition asked for; by default distinct scores where they are few, else 15 equal-width bins."""
    if binning is Binning.ATOMS or (binning is None and bins is None and (discrete or looks_discrete(table))):
        if table.kind == "grid":
            raise UsageProblem(NO_ATOMS, "pass --exact, or use --binning equal-width")
        return ATOMS
    count = DEFAULT_BINS if bins is None else bins
    if not 1 <= count <= MOST_BINS:
        msg = f"{count:,} bins"
        raise UsageProblem(msg, f"--bins takes a whole number from 1 to {MOST_BINS:,}")
    return bins_of(binning or Binning.EQUAL_WIDTH, count, table=table)


def refuse_idle_bins(requested: Iterable[object], bins: int | None, binning: Binning | None) -> None:
    """Refuse to be told how bins are cut where nothing that is asked for has any."""
    if (bins, binning) != (None, None) and CUT.isdisjoint(requested):
        msg = "--bins and --binning say how bins are cut, and nothing that is asked for has any"
        raise IdleOption(msg, "leave them out, or ask for the ECE as well", options=("bins", "binning"))


def shared_bins_notes(
    table: Table,
    bins: Bins,
    *,
    requested: bool,
    measures: Iterable[object],
    score: str = "the score",
    finer: str = "--binning equal-mass puts bins where the rows are",
) -> tuple[str, ...]:
    """Say that nearly all rows lie in one bin, that bins put some values of a score of few together, unasked,
    or that rounding to single precision put rows into another bin.

    What a discrete recalibrator has written is such a score, and was measured value by value while the
    artifact was named. `finer` is what sees more than one bin does.
    """
    if bins.edges is None or not any(name in _OVER_BINS for name in measures):
        return ()
    outside = _outside_lone_bin(table, bins.edges)
    if outside is not None:
        most = f"all but {outside:,} of {table.total_rows:,} rows" if outside else "all rows"
        if outside and table.weighted:
            most = f"rows with at least {percent(NEARLY_ALL)} of the weight"
        return (f"{most} lie in one of {bins.described}, where errors up and down cancel: {finer}",)
    moved = _moved_by_rounding(table, bins.edges)
    if requested:
        return moved
    count, rows = table.distinct, table.total_rows
    each = _ROWS_EACH if count <= _FEW else _ROWS_OF_MANY
    if table.kind != "exact" or not 1 < count <= _MOST_VALUES or rows < each * count:
        return moved
    if np.unique(bin_index(bins.edges, table.score)).size == count:
        return moved
    how = "pass --binning atoms to measure each value by itself"
    return (f"{score} takes {count:,} values, and {bins.described} merge some of them: {how}", *moved)


def _moved_by_rounding(table: Table, edges: Floats) -> tuple[str, ...]:
    """Say how many rows have a score that was an edge, and is just above it in single precision."""
    if table.kind != "exact":
        return ()
    single = edges.astype(np.float32).astype(np.float64)
    place = np.minimum(np.searchsorted(table.score, single), table.distinct - 1)
    above = (single > edges) & (table.score[place] == single)
    if not above.any():
        return ()
    rows = int(table.rows[place[above]].sum())
    have = "1 row has a score" if rows == 1 else f"{rows:,} rows have scores"
    where = f"{have} such as {float(edges[above][0]):.7g} in single precision, just above that edge of a bin"
    return (f"{where}: the bin above it counts them, where doubles would be in the one below",)


# Of a score that is the same in every row, these are how far it is from the share of label 1, or less.
_OFF = {
    MeasureName.ECE, MeasureName.ECE_EQUAL_MASS, MeasureName.L2, MeasureName.L2_PLUG_IN, MeasureName.LINF,
    MeasureName.SMECE, MeasureName.DCE,
}  # fmt: skip


def lenient_limits(table: Table, limits: Iterable[tuple[str, float]]) -> tuple[str, ...]:
    """Say which limits of an error a score without any information would keep, too."""
    rows, ones = table.total_rows, table.total_positive_rows
    if table.weighted or not 0 < ones < rows:
        return ()
    answer, other = (0, 1) if 2 * ones <= rows else (1, 0)
    off = min(ones, rows - ones)
    like = f"a score of {answer} in every row would be off by {share(off, rows)}, the share of label {other}"
    return tuple(
        f"the limit {in_full(limit)} of the {field_name(name)} says little here: {like}"
        for name, limit in limits
        if name in _OFF and limit * rows >= off
    )


def _outside_lone_bin(table: Table, edges: Floats) -> int | None:
    """Return how many rows lie outside a bin that holds different scores and nearly all rows, if one does.

    Little more than their sum is seen then.
    """
    if edges.size <= 2 or table.score.size == 0:
        return None
    ends = np.searchsorted(table.score, edges[1:-1], side="right")
    starts = np.concatenate(([0], ends, [table.score.size]))
    held = segment_sums(table.weight, starts)
    fullest = int(held.argmax())
    inside = slice(*starts[fullest : fullest + 2])
    if table.score[inside].size == 1 or held[fullest] < NEARLY_ALL * held.sum():
        return None
    return table.total_rows - int(table.rows[inside].sum())


def given_bins(edges: tuple[float, ...] | None) -> Bins | None:
    return None if edges is None else Bins(None, np.array(edges))


def may_cut_cells(bins: int | None, binning: Binning | None, edges: tuple[float, ...] | None = None) -> bool:
    """Whether bins asked for would cut cells, should the table become a grid."""
    if edges is not None:
        inner = np.array(edges[1:-1])
        return bool(np.any(cells.upper_edge(cells.cell_of(inner)) != inner))
    return binning in (None, Binning.EQUAL_WIDTH) and bins is not None and bins > 0 and cells.CELLS % bins > 0


def parted(table: Table, bins: Bins, *, again: Rows | None) -> Table:
    """Share out the cells that the bins cut between them, by a second look at their rows."""
    fixed = bins.binning in (Binning.EQUAL_WIDTH, None)
    if not isinstance(table, GridTable) or not fixed or bins.edges is None:
        return table
    if again is not None:
        return split_at(table, bins.edges, rows=again)
    if straddling(table, bins.edges).size:
        msg = f"{bins.described} would cut the cells that scores are rounded to in memory"
        where = "a number of bins that divides 720,720" if bins.binning else "edges at multiples of 1/720,720"
        raise UsageProblem(msg, f"pass --exact, or ask for {where}")
    return table


def cut_notes(tables: Sequence[Table], thresholds: Sequence[float], of: str = "") -> tuple[str, ...]:
    """Return how many rows of grid tables may be on the wrong side of a threshold."""
    if not thresholds or all(table.kind == "exact" for table in tables):
        return ()
    from calibcli.stats.curves.thresholds import cut_cells

    rows = sum(int(table.rows[cut_cells(table, thresholds)].sum()) for table in tables)
    if not rows:
        return ()
    lie = f"{rows:,} row{' lies' if rows == 1 else 's lie'} so near a threshold"
    return (f"{of}{lie} that rounding may have moved them across it; --exact counts them as they are",)


def summary_of(table: Table, *, discrete: bool, fingerprint: bool = True) -> TableSummary:
    return TableSummary(
        kind=table.kind,
        rows=table.total_rows,
        positive=table.total_positive_rows,
        distinct=table.distinct,
        resolution=table.resolution,
        digest=digest(table) if fingerprint else None,
        discrete=discrete,
        weighted=table.weighted,
        contradicting=certain_and_wrong(table),
    )
