"""The smECE that labels drawn from the scores have: the null reference beside the measured one."""

import math

import numpy as np

from calibcli.measures.if_calibrated import UNKNOWN, Range, Reference, ends_of_draws, of_size
from calibcli.table.grid import Table
from calibcli.table.kernel import (
    LEAST_BANDWIDTH,
    MESH,
    CosineSeries,
    bandwidths_around,
    cosine_series_of_cells,
)
from calibcli.table.residuals import open_variance
from calibcli.table.score_table import Floats

# Draws of labels: so many batches of so many, which share their memory.
_BATCHES, _DRAWS = 8, 50
# From so many events on that the scores leave open, sums of labels are as good as normal.
MANY_EVENTS = 20.0
# So many cells in a bandwidth are enough; fewer cells than the mesh has are faster.
_RESOLVED, _COARSER = 20, (8, 4, 2)
# Relative to the bandwidth; three digits are printed.
_WITHIN = 1e-4
# Steps from the mean to either end of the range; each leaves a third of what is missing, or less.
_STEPS_TO_ENDS = 5
# Smoothed labels at so many bandwidths from each other have nothing in common.
_APART = 6.0


def expected_smece(table: Table, *, generator: np.random.Generator) -> Reference:
    """
    Return where the mean smoothed norm of calibrated labels equals the bandwidth, and its range.

    With many rows the smoothed residual is normal at every place, and its mean absolute value has a
    formula, within 3 % of the mean over 8,000 draws for scores spread, rare, piled up and at few atoms. With
    few rows (the sum of f (1 - f) below 20) the mean is over 400 draws of labels: its standard error is 2 %
    of the bandwidth where the kernel joins many rows, and 4 % where all share one score.

    As the norm does not rise with the bandwidth, smECE is above s just where the norm at s is: a quantile of
    smECE is where that quantile of the norm equals the bandwidth.

    Args:
        table: The rows, unweighted.

        generator: Source of randomness.
    """
    variance = open_variance(table)
    if not variance.any():
        return 0.0, (0.0, 0.0)
    found = _of_normal_noise(table.score, variance, rows=table.total_rows)
    if variance.sum() >= MANY_EVENTS:
        return found
    return _of_drawn_labels(table, generator, start=found[0])


def expected_smece_along(table: Table, places: Floats, *, length: float) -> Reference:
    """
    Return the same for scores smoothed along another scale, by the formula for many rows.

    Args:
        table: The rows.

        places: Where the scores lie, as parts of the scale's length, shape (n_entries,).

        length: Length of the scale.

    Returns:
        Nothing where the scores leave fewer than 20 events open, or rows are weighted.
    """
    variance = open_variance(table)
    if table.weighted or 0.0 < variance.sum() < MANY_EVENTS:
        return UNKNOWN
    if not variance.any():
        return 0.0, (0.0, 0.0)
    return _of_normal_noise(places, variance, rows=table.total_rows, length=length)


def _of_drawn_labels(table: Table, generator: np.random.Generator, *, start: float) -> Reference:
    cells = next((MESH // by for by in _COARSER if MESH // by * start >= _RESOLVED), MESH)
    cell = np.minimum((table.score * cells).astype(np.int64), cells - 1)
    rows: Floats = np.bincount(cell, weights=table.weight, minlength=cells).astype(np.float64)
    sums: Floats = np.bincount(cell, weights=table.weight * table.score, minlength=cells).astype(np.float64)
    batches = [_drawn(rows, sums, generator) for _ in range(_BATCHES)]

    def norms_at(bandwidth: float) -> Floats:
        return np.concatenate([_norm(one.smoothed(bandwidth, oversampling=2)) for one in batches])

    bandwidth = start
    for _ in range(10):
        norms = norms_at(bandwidth)
        # Noise smoothed at sigma has a norm that falls about as sigma^-1/2: one step lands close.
        power = float((norms.mean() * bandwidth**0.5) ** (2.0 / 3.0))
        step = min(max(power, 2.8 / cells), 1.0)
        near = abs(step - bandwidth) <= _WITHIN * bandwidth
        bandwidth = step
        if near:
            break

    def end(which: int) -> float:
        """Return where a quantile of the norm equals the bandwidth, by the same steps as the mean."""
        at, size, least = bandwidth, float(ends_of_draws(norms)[which]), 2.8 / cells
        for _ in range(_STEPS_TO_ENDS):
            at = min(float((size * at**0.5) ** (2.0 / 3.0)), 1.0)
            if at <= least:
                return size if which else 0.98 * size
            size = float(ends_of_draws(norms_at(at))[which])
        # The norm does not rise with the bandwidth, so that the end lies between; sums on a grid are 1 % off.
        return 0.98 * min(at, size) if which == 0 else min(1.02 * max(at, size), 1.0)

    # Below the finest bandwidth nothing is joined, so that the norm stays what it is there.
    mean = bandwidth if bandwidth > 2.8 / cells else min(bandwidth, float(norms.mean()))
    return mean, (end(0), end(1))


def _norm(values: Floats) -> Floats:
    """Return the integral of |values| on an even grid: the places at either end count half."""
    size = np.abs(values)
    size[..., [0, -1]] *= 0.5
    return np.asarray(size.sum(axis=-1) / (size.shape[-1] - 1))


def _drawn(rows: Floats, sums: Floats, generator: np.random.Generator) -> CosineSeries:
    """Return the mean residuals of labels drawn for the rows of each cell, one series a draw."""
    some = rows > 0
    mean = np.clip(sums[some] / rows[some], 0.0, 1.0)
    labels = generator.binomial(rows[some].astype(np.int64), mean, size=(_DRAWS, mean.size))
    mass = np.zeros((_DRAWS, rows.size))
    mass[:, some] = (labels - rows[some] * mean) / rows.sum()
    return cosine_series_of_cells(mass)


def _of_normal_noise(
    score: Floats, variance: Floats, *, rows: int, length: float = 1.0
) -> tuple[float, Range]:
    cell = np.minimum((score * MESH).astype(np.int64), MESH - 1)
    gathered: Floats = np.bincount(cell, weights=variance, minlength=MESH).astype(np.float64)
    series = cosine_series_of_cells(gathered)

    def excess(bandwidth: float) -> float:
        spread = mean_spread(series, gathered, bandwidth=bandwidth)
        return length * bandwidth - math.sqrt(2.0 / math.pi) * spread / rows

    low, high = bandwidths_around(excess, within=_WITHIN * LEAST_BANDWIDTH)
    bandwidth = 0.5 * (low + high)
    unit = math.sqrt(2.0 / math.pi) / rows
    mean, other = (unit * mean_spread(series, gathered, bandwidth=at) for at in (bandwidth, 0.7 * bandwidth))
    ends = of_size(mean, variance_of_norm(series, gathered, bandwidth=bandwidth) / rows**2)
    found = _range_of(bandwidth, (ends[0] / length, ends[1] / length), other / mean, 0.7)
    return length * bandwidth, (length * found[0], length * found[1])


def _range_of(bandwidth: float, norms: Range, grown: float, shrunk: float) -> Range:
    """
    Return where both ends of the range of the norm equal the bandwidth.

    Args:
        bandwidth: Where the mean norm does.

        norms: The range of the norm at this bandwidth.

        grown: By how much the mean norm is greater at a bandwidth that is so many times as large.

        shrunk: How many times, less than 1.
    """
    power = min(max(math.log(grown) / math.log(shrunk), -0.5), 0.0)
    low, high = (bandwidth * (end / bandwidth) ** (1.0 / (1.0 - power)) for end in norms)
    return min(low, 1.0), min(high, 1.0)


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
    return float(np.sqrt(_energies(series, variance, bandwidth=bandwidth)[0]).mean())


def variance_of_norm(series: CosineSeries, variance: Floats, *, bandwidth: float) -> float:
    """
    Return the variance of the integral of |G| over [0, 1], G normal of variance sum_i v_i K(f_i, t)^2 at t.

    The covariance of G at t and u is that at their middle times exp(-(t - u)^2 / (4 sigma^2)), but for images
    beyond the ends; and sizes of normal variables of correlation r have the covariance
    (2 / pi) (sqrt(1 - r^2) + r arcsin r - 1) in units of their spreads.

    Args:
        series: Of the variances v_i.

        variance: Their sum in each of equal cells, shape (n_cells,).

        bandwidth: Standard deviation of the kernel.
    """
    square, own = _energies(series, variance, bandwidth=bandwidth)
    spread, total = np.sqrt(square), (1.0 - 2.0 / math.pi) * float(square.sum())
    step = 1.0 / (own.size - 1)
    # Pairs of places two strides apart, so that their middle is a place as well: half a bandwidth.
    stride = max(1, int(0.25 * bandwidth / step))
    farthest = min(int(0.5 * _APART * bandwidth / step), (own.size - 1) // 2)
    for half in range(stride, farthest + 1, stride):
        both = spread[2 * half :] * spread[: -2 * half]
        middle = own[half:-half] * math.exp(-((half * step / bandwidth) ** 2))
        r = np.divide(middle, both, out=np.ones_like(both), where=both > middle)
        sizes = np.sqrt(1.0 - r * r) + r * np.arcsin(r) - 1.0
        total += 2.0 * 2.0 / math.pi * float((both * sizes).sum())
    return 2.0 * stride * total * step**2


def _energies(series: CosineSeries, variance: Floats, *, bandwidth: float) -> tuple[Floats, Floats]:
    """Return sum_i v_i K(f_i, t)^2 on an even grid of t, and the same without images beyond the ends."""
    own = series.smoothed(bandwidth / math.sqrt(2.0), oversampling=4) / (2.0 * math.sqrt(math.pi) * bandwidth)
    own = np.maximum(own, 0.0)
    t = np.linspace(0.0, 1.0, own.size)
    square = own.copy()
    some = np.flatnonzero(variance)
    middle, held = (some + 0.5) / variance.size, variance[some]
    place = np.exp(-((t / bandwidth) ** 2)) / (math.pi * bandwidth**2)
    square += float((held * np.exp(-((middle / bandwidth) ** 2))).sum()) * place
    square += float((held * np.exp(-(((1.0 - middle) / bandwidth) ** 2))).sum()) * place[::-1]
    return square, own
