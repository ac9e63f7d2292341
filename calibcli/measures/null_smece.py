"""The smECE that labels drawn from the scores have: the null reference beside the measured one."""

import math

import numpy as np

from calibcli.table.grid import Table
from calibcli.table.kernel import (
    LEAST_BANDWIDTH,
    MESH,
    CosineSeries,
    bandwidths_around,
    cosine_series_of_cells,
)
from calibcli.table.score_table import Floats

# Draws of labels: so many batches of so many, which share their memory.
_BATCHES, _DRAWS = 8, 50
# From so many events on that the scores leave open, sums of labels are as good as normal.
_MANY = 20.0
# So many cells in a bandwidth are enough; fewer cells than the mesh has are faster.
_RESOLVED, _COARSER = 20, (8, 4, 2)
# Relative to the bandwidth; three digits are printed.
_WITHIN = 1e-4


def expected_smece(table: Table, *, generator: np.random.Generator) -> float:
    """
    Return where the mean smoothed norm of calibrated labels equals the bandwidth.

    With many rows the smoothed residual is normal at every place, and its mean absolute value has a
    formula, within 3 % of the mean over 8,000 draws for scores spread, rare, piled up and at few atoms. With
    few rows (the sum of f (1 - f) below 20) the mean is over 400 draws of labels: its standard error is 2 %
    of the bandwidth where the kernel joins many rows, and 4 % where all share one score.

    Args:
        table: The rows, unweighted.

        generator: Source of randomness.
    """
    variance = table.weight * table.score * (1.0 - table.score)
    if not variance.any():
        return 0.0
    bandwidth = _of_normal_noise(table.score, variance, rows=table.total_rows)
    if variance.sum() >= _MANY:
        return bandwidth
    return _of_drawn_labels(table, generator, start=bandwidth)


def expected_smece_along(table: Table, places: Floats, *, length: float) -> float | None:
    """
    Return the same for scores smoothed along another scale, by the formula for many rows.

    Args:
        table: The rows.

        places: Where the scores lie, as parts of the scale's length, shape (n_entries,).

        length: Length of the scale.

    Returns:
        None where the scores leave fewer than 20 events open, or rows are weighted.
    """
    variance = table.weight * table.score * (1.0 - table.score)
    if table.weighted or 0.0 < variance.sum() < _MANY:
        return None
    return _of_normal_noise(places, variance, rows=table.total_rows, length=length) if variance.any() else 0.0


def _of_drawn_labels(table: Table, generator: np.random.Generator, *, start: float) -> float:
    cells = next((MESH // by for by in _COARSER if MESH // by * start >= _RESOLVED), MESH)
    cell = np.minimum((table.score * cells).astype(np.int64), cells - 1)
    rows: Floats = np.bincount(cell, weights=table.weight, minlength=cells).astype(np.float64)
    sums: Floats = np.bincount(cell, weights=table.weight * table.score, minlength=cells).astype(np.float64)
    batches = [_drawn(rows, sums, generator) for _ in range(_BATCHES)]
    bandwidth = start
    for _ in range(10):
        norms = [np.abs(one.smoothed(bandwidth, oversampling=2)).mean() for one in batches]
        # Noise smoothed at sigma has a norm that falls about as sigma^-1/2: one step lands close.
        power = float((np.mean(norms) * bandwidth**0.5) ** (2.0 / 3.0))
        step = min(max(power, 2.8 / cells), 1.0)
        if abs(step - bandwidth) <= _WITHIN * bandwidth:
            return step
        bandwidth = step
    return bandwidth


def _drawn(rows: Floats, sums: Floats, generator: np.random.Generator) -> CosineSeries:
    """Return the mean residuals of labels drawn for the rows of each cell, one series a draw."""
    some = rows > 0
    mean = np.clip(sums[some] / rows[some], 0.0, 1.0)
    labels = generator.binomial(rows[some].astype(np.int64), mean, size=(_DRAWS, mean.size))
    mass = np.zeros((_DRAWS, rows.size))
    mass[:, some] = (labels - rows[some] * mean) / rows.sum()
    return cosine_series_of_cells(mass)


def _of_normal_noise(score: Floats, variance: Floats, *, rows: int, length: float = 1.0) -> float:
    cell = np.minimum((score * MESH).astype(np.int64), MESH - 1)
    gathered: Floats = np.bincount(cell, weights=variance, minlength=MESH).astype(np.float64)
    series = cosine_series_of_cells(gathered)

    def excess(bandwidth: float) -> float:
        spread = mean_spread(series, gathered, bandwidth=bandwidth)
        return length * bandwidth - math.sqrt(2.0 / math.pi) * spread / rows

    low, high = bandwidths_around(excess, within=_WITHIN * LEAST_BANDWIDTH)
    return length * 0.5 * (low + high)


def mean_spread(series: CosineSeries, variance: Floats, *, bandwidth: float) -> float:
    """
    Return the integral over [0, 1] of sqrt(sum_i v_i K(f_i, t)^2), K the reflected Gaussian.

    The square of a Gaussian is one of 1/sqrt(2) the width; near an end the image adds its own square and
    twice the product, which is a function of t times one of f.

    Args:
        series: Of the variances v_i.

        variance: Their sum in each of equal cells, shape (n_cells,).

        bandwidth: Standard deviation of the kernel.
    """
    own = series.smoothed(bandwidth / math.sqrt(2.0), oversampling=4) / (2.0 * math.sqrt(math.pi) * bandwidth)
    t = np.linspace(0.0, 1.0, own.size)
    square = np.maximum(own, 0.0)
    some = np.flatnonzero(variance)
    middle, held = (some + 0.5) / variance.size, variance[some]
    place = np.exp(-((t / bandwidth) ** 2)) / (math.pi * bandwidth**2)
    square += float((held * np.exp(-((middle / bandwidth) ** 2))).sum()) * place
    square += float((held * np.exp(-(((1.0 - middle) / bandwidth) ** 2))).sum()) * place[::-1]
    return float(np.sqrt(square).mean())
