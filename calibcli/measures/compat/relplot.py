"""relplot's smECE on its grid, and its binned error."""

import math

import numpy as np

from calibcli.measures.compat.peer import Counterpart, Peer, PeerNumber
from calibcli.names import MeasureName
from calibcli.table.score_table import Floats, ScoreTable

VERSION = "1.0.3"
BINS = 10
FIXED = 0.05
_LEAST_BANDWIDTH = 0.001
_HALVINGS = 10
_FLOOR = 1e-4


def relplot_numbers(table: ScoreTable) -> Peer:
    """Return what relplot gives for a score and labels."""
    grid = "a grid whose end nodes are mirrored once, so that rows at 0 or 1 count half"
    steps = f"bandwidths in steps of 1/{2**_HALVINGS:,}, and {grid}"
    error = _binned(table)
    bins = f"{BINS} equal-width bins [a, b) by dividing and cutting off, a score of 1 in a bin of its own"
    ece, smece = Counterpart(MeasureName.ECE), Counterpart(MeasureName.SMECE)
    numbers = (
        PeerNumber("smECE", smece_by_halving(table), smece, steps),
        PeerNumber(f"smECE_sigma({FIXED})", smece_at(table, FIXED), smece, f"at one fixed bandwidth; {grid}"),
        PeerNumber("metrics.binnedECE", error, ece, bins),
        PeerNumber("metrics.binnedECEw", error + 1.0 / BINS, ece, f"the width of a bin is added; {bins}"),
    )
    note = "relplot's intCE_rand and laplace_calibration_approx draw random numbers and are not reproduced"
    return Peer("relplot", VERSION, numbers, (note,))


def smece_by_halving(table: ScoreTable) -> float:
    """Return the error at the smallest bandwidth, to 1/1,024, that is not below the error at it."""

    def below(bandwidth: float) -> bool:
        return bandwidth < _LEAST_BANDWIDTH or bandwidth < smece_at(table, bandwidth)

    above, under = 1.0, 0.0
    if below(above):
        return smece_at(table, above)
    for _ in range(_HALVINGS):
        middle = (above + under) / 2.0
        if below(middle):
            under = middle
        else:
            above = middle
    return smece_at(table, above)


def smece_at(table: ScoreTable, bandwidth: float) -> float:
    """Return the smoothed absolute residual over the smoothed number of rows."""
    points = np.linspace(0.0, 1.0, max(round(10.0 / bandwidth), 200))
    residual = table.rows * table.score - table.positive_rows
    error = np.abs(_smoothed(table.score, residual, points, bandwidth=bandwidth)).sum()
    rows = (_smoothed(table.score, table.rows.astype(np.float64), points, bandwidth=bandwidth) + _FLOOR).sum()
    return float(error / rows)


def _smoothed(score: Floats, mass: Floats, points: Floats, *, bandwidth: float) -> Floats:
    """Return masses shared out to two nodes each, smoothed along the mirrored nodes, and read at points."""
    nodes = max(2000, round(20.0 / bandwidth)) // 2 + 1
    place = score * (nodes - 1)
    left = np.clip(place.astype(np.int64), 0, nodes - 2)
    share = place - left
    at_left = np.bincount(left, weights=(1.0 - share) * mass, minlength=nodes)
    held = at_left + np.bincount(left + 1, weights=share * mass, minlength=nodes)
    where = np.linspace(0.0, 1.0, nodes)
    kernel = np.exp(-(((where - 0.5) / bandwidth) ** 2) / 2.0) / (math.sqrt(2.0 * math.pi) * bandwidth)
    mirrored = np.concatenate([held[:0:-1], held, held[-2::-1]])
    first = nodes // 2
    return np.interp(points, where, np.convolve(mirrored, kernel, "valid")[first : first + nodes])


def _binned(table: ScoreTable) -> float:
    index = (table.score / (1.0 / BINS)).astype(np.int64)
    residual = np.bincount(index, weights=table.rows * table.score - table.positive_rows)
    return float(np.abs(residual).sum()) / table.total_rows
