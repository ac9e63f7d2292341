"""torchmetrics' binary calibration error in its three norms."""

import math
from fractions import Fraction

import numpy as np

from calibcli.measures.compat.gaps import Cells, gaps_in, left_closed
from calibcli.measures.compat.peer import Counterpart, Peer, PeerNumber
from calibcli.names import MeasureName
from calibcli.table.score_table import Floats, ScoreTable

VERSION = "1.9.0"
BINS = 15


def torchmetrics_numbers(table: ScoreTable) -> Peer:
    """Return what `binary_calibration_error` gives for tensors of 64-bit floats."""
    index = left_closed(edges(BINS), table.score)
    gaps = gaps_in(index, Cells(table.score, table.rows, table.positive_rows))
    bins = f"{BINS} equal-width bins [a, b), a score of 1 in a bin of its own"
    square = gaps.mean_square
    root = None if square is None else math.sqrt(square)
    numbers = tuple(
        PeerNumber(f"binary_calibration_error norm={norm}", value, Counterpart(name), bins)
        for norm, value, name in (
            ("l1", gaps.mean, MeasureName.ECE),
            ("l2", root, MeasureName.L2_PLUG_IN),
            ("max", gaps.largest, MeasureName.LINF),
        )
    )
    note = "tensors of 32-bit floats round scores, which can move a score across an edge"
    return Peer("torchmetrics", VERSION, numbers, (note,))


def edges(count: int) -> Floats:
    """
    Return equally spaced edges counted from both ends, as `torch.linspace` has them.

    Each is rounded once from the exact multiple of the rounded step (a fused multiply and add); a processor
    without that instruction may differ in the last digit.
    """
    step = Fraction(1.0 / count)
    half = (count + 1) // 2
    low = [float(k * step) for k in range(half)]
    return np.array([*low, *(float(1 - (count - k) * step) for k in range(half, count + 1))])
