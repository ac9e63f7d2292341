"""netcal's errors over bins, and its kernel error."""

import math

import numpy as np

from calibcli.measures.compat.gaps import Cells, gaps_in, left_closed
from calibcli.measures.compat.peer import Counterpart, Peer, PeerNumber
from calibcli.names import MeasureName
from calibcli.table.score_table import ScoreTable

VERSION = "1.4.0"
BINS = 10
CLIP = 2.0**-52
RATE = 2.5


def netcal_numbers(table: ScoreTable) -> Peer:
    """Return what netcal's `measure` gives for a score of one column."""
    score = np.clip(table.score, CLIP, 1.0 - CLIP)
    index = left_closed(np.linspace(0.0, 1.0, BINS + 1), score)
    gaps = gaps_in(index, Cells(score, table.rows, table.positive_rows))
    bins = f"{BINS} equal-width bins [a, b), edges by linspace, whose 0.3 lies above the double 0.3"
    equal = "mean over bins, each alike, of equal width; here bins are of equal mass"
    right = "a score is compared with whether rounding it gives the label; here with the label"
    numbers = (
        PeerNumber("ECE", gaps.mean, Counterpart(MeasureName.ECE), bins),
        PeerNumber("MCE", gaps.largest, Counterpart(MeasureName.LINF), bins),
        PeerNumber("ACE", gaps.plain_mean, Counterpart(MeasureName.ACE), f"{equal}; {bins}"),
        PeerNumber("MMCE", _mmce(table), Counterpart(MeasureName.MMCE), right),
    )
    return Peer("netcal", VERSION, numbers)


def _mmce(table: ScoreTable) -> float:
    """Return the root of the mean over pairs of rows of both gaps times exp(-2.5 times their distance)."""
    score, rows = table.score, table.rows
    right = np.where(score > 0.5, table.positive_rows, rows - table.positive_rows)
    gap = right - rows * score
    # The kernel of two sorted scores is a product, so that a running sum takes all pairs at once.
    before = np.cumsum(gap * np.exp(RATE * score))
    before = np.concatenate(([0.0], before[:-1]))
    pairs = float((gap**2).sum() + 2.0 * (gap * np.exp(-RATE * score) * before).sum())
    return math.sqrt(max(pairs, 0.0)) / table.total_rows
