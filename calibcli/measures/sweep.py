"""ECE over as many equal-mass bins as keep the observed rates from falling."""

import numpy as np
import numpy.typing as npt

from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.names import MeasureName
from calibcli.table.bins import equal_mass_ends, segment_sums
from calibcli.table.grid import Table
from calibcli.table.residuals import residuals
from calibcli.table.score_table import Floats

MOST_BINS = 4_096
_NO_INTERVAL = "no interval: the bins are chosen by the labels, which voids every bound"

Starts = npt.NDArray[np.intp]


def sweep_ece(table: Table) -> Estimate:
    """
    Binned ECE over as many equal-mass bins of 1, 2, 3, ... as come before a rate lies below the one before.

    Where the rates never fall, from one distinct score to the next, every score is a bin by itself. Otherwise
    no more than 4,096 bins are tried, and the estimate says so where that is what ended the sweep.

    Args:
        table: The rows.

    Returns:
        A point estimate: the partition depends on the labels.

    References:
        Roelofs, Cain, Shlens & Mozer (2022), AISTATS, algorithm 1, with ties kept together.
    """
    count, starts = _swept(table)
    because = () if count <= MOST_BINS else (f"stopped at {MOST_BINS:,} bins, where rates did not fall yet",)
    value = float(np.abs(segment_sums(residuals(table), starts)).sum()) / float(table.weight.sum())
    bins = starts.size - 1
    described = f"{bins:,} equal-mass {'bin' if bins == 1 else 'bins'}, swept"
    if bins == table.distinct:
        described = "each distinct score by itself, swept"
    return Estimate(
        name=MeasureName.ECE_SWEEP,
        value=value,
        interval=None,
        null=None,
        assumptions=(INDEPENDENT_ROWS, HELD_OUT, *because, _NO_INTERVAL),
        rows=table.total_rows,
        details={"bins": bins, "partition": described},
    )


def _swept(table: Table) -> tuple[int, Starts]:
    """Return the number of bins that ended the sweep, and where the bins before it start."""
    each = np.arange(table.distinct + 1)
    if never_falls(_rates(table, each)):
        return 1, each
    reached = np.cumsum(table.weight) if table.weighted else np.cumsum(table.rows)
    positive = np.concatenate(([0.0], np.cumsum(table.positive)))
    total = np.concatenate(([0.0], np.cumsum(table.weight)))
    starts = np.array([0, table.distinct])
    for count in range(2, MOST_BINS + 1):
        ends = equal_mass_ends(reached, count) + 1
        tried = np.concatenate(([0], ends, [table.distinct]))
        weights = np.diff(total[tried])
        some = weights > 0.0
        if not never_falls(np.diff(positive[tried])[some] / weights[some]):
            return count, starts
        starts = tried
    return MOST_BINS + 1, starts


def never_falls(rate: Floats) -> bool:
    """Whether no entry lies below the one before."""
    return bool(np.all(rate[1:] >= rate[:-1]))


def _rates(table: Table, starts: Starts) -> Floats:
    weight = segment_sums(table.weight, starts)
    some = weight > 0.0
    return segment_sums(table.positive, starts)[some] / weight[some]
