"""uncertainty-calibration's errors: plug-in over bins, and debiased."""

import math

import numpy as np

from calibcli.measures.compat.gaps import Cells, Gaps, gaps_in
from calibcli.measures.compat.peer import Counterpart, Peer, PeerNumber
from calibcli.names import MeasureName
from calibcli.table.score_table import Floats, Integers, ScoreTable

VERSION = "0.1.4"
BINS = 15


def uncertainty_calibration_numbers(table: ScoreTable) -> Peer:
    """Return what its functions give for a score of one column."""
    few = table.distinct < table.total_rows / 4.0
    own = "each value by itself, as fewer than a quarter of the rows are different"
    debiased = _binned(table, _between(table) if few else equal_mass_ends(table))
    name = "get_calibration_error"
    subtracts = "the variance of the labels is subtracted, here that of label - score"
    partition = own if few else f"{BINS} equal-mass bins"
    squared = debiased_square(debiased)
    width = f"{BINS} equal-width bins (a, b]"
    mass = f"{BINS} equal-mass bins, larger ones first, cut midway between neighbouring rows"
    numbers = (
        PeerNumber("get_ece", _binned(table, _ends(BINS)).mean, Counterpart(MeasureName.ECE), width),
        PeerNumber(
            "get_ece_em",
            _binned(table, equal_mass_ends(table)).mean,
            Counterpart(MeasureName.ECE_EQUAL_MASS),
            mass,
        ),
        PeerNumber(
            name, math.sqrt(max(squared, 0.0)), Counterpart(MeasureName.L2), f"{subtracts}; {partition}"
        ),
    )
    note = "its bootstrap intervals are drawn anew at every call and are not reproduced"
    return Peer("uncertainty-calibration", VERSION, numbers, (note,))


def debiased_square(gaps: Gaps) -> float:
    """Return the mean over rows of gap^2 - rate (1 - rate) / (n - 1); bins with one row count as 0."""
    two = gaps.rows > 1
    noise = gaps.rate[two] * (1.0 - gaps.rate[two]) / (gaps.rows[two] - 1.0)
    return float((gaps.rows[two] * (gaps.gap[two] ** 2 - noise)).sum()) / float(gaps.rows.sum())


def equal_mass_ends(table: ScoreTable) -> Floats:
    """Return the right ends of bins of nearly equal mass; ties stay together, equal ends are one."""
    n = table.total_rows
    parts = min(BINS, n)
    each, rest = divmod(n, parts)
    k = np.arange(1, parts)
    last = k * each + np.minimum(k, rest)
    place = np.cumsum(table.rows)
    left, right = _row(table, place, last - 1), _row(table, place, last)
    return np.unique(np.append((left + right) / 2.0, 1.0))


def _row(table: ScoreTable, place: Integers, rank: Integers) -> Floats:
    """Return the scores of rows by rank, from 0."""
    return table.score[np.searchsorted(place, rank, side="right")]


def _between(table: ScoreTable) -> Floats:
    """Return the middles between different scores, and 1."""
    return np.append((table.score[:-1] + table.score[1:]) / 2.0, 1.0)


def _ends(count: int) -> Floats:
    return np.arange(1, count + 1) / count


def _binned(table: ScoreTable, ends: Floats) -> Gaps:
    index = np.searchsorted(ends, table.score, side="left").astype(np.int64)
    return gaps_in(index, Cells(table.score, table.rows, table.positive_rows))
