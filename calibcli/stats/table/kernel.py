"""Smoothing with the reflected Gaussian kernel, in the cosine basis.

A density on [0, 1] smoothed by a Gaussian reflected at both ends has the cosine coefficients of the
density times exp(-sigma^2 pi^2 k^2 / 2): the heat equation with insulated ends. So one transform of the table
serves every bandwidth, and smoothing more never adds to the L1 norm.

References:
    Blasiok & Nakkiran (2023), "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing".
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from calibcli.stats.numerics import Floats, Integers, crossing
from calibcli.stats.table.grid import Table, residuals
from calibcli.values import dataclass, field

# Divides 720,720, so the cells of a grid table lie inside these.
MESH = 16_380
# Beyond k sigma = 2.8 a coefficient is damped by more than e^-38.
_REACH = 2.8
# Smallest bandwidth the mesh resolves.
LEAST_BANDWIDTH = _REACH / MESH
# Small bandwidths take long transforms, and few solutions lie there: these are tried in turn.
_BANDWIDTHS = (1.0, 0.08, 0.01, 0.0013, LEAST_BANDWIDTH)
# Of so few masses those first coefficients that a bandwidth takes are summed one by one.
_FEW_MASSES = 64
_FIRST = tuple(2 + int(_REACH / bandwidth) for bandwidth in _BANDWIDTHS[1:3])


@dataclass(frozen=True, slots=True, eq=False)
class CosineSeries:
    """Cosine coefficients c_k = sum_i m_i cos(pi k f_i) of one or more signed measures on [0, 1].

    Args:
        coefficients: Shape (..., n_coefficients), from k = 0.
        whole: Where these are the first ones only, what gives all.
        norms: Those that were asked for, by bandwidth and oversampling: value and bounds ask for some alike.
    """

    coefficients: Floats
    whole: "Callable[[], CosineSeries] | None" = None
    norms: dict[tuple[float, int], Floats] = field(default_factory=dict)

    def smoothed(self, bandwidth: float, *, oversampling: int = 32) -> Floats:
        """Return the density smoothed at a bandwidth, on an even grid of [0, 1] that includes both ends."""
        kept = int(_REACH / bandwidth) + 2
        if kept > self.coefficients.shape[-1] and self.whole is not None:
            return self.whole().smoothed(bandwidth, oversampling=oversampling)
        kept = min(kept, self.coefficients.shape[-1])
        k = np.arange(kept)
        damping = np.exp(-0.5 * (bandwidth * np.pi * k) ** 2)
        half, intervals = (1 << int(np.ceil(np.log2(many))) for many in (kept, oversampling * kept))
        # One place of so many at a time, from the first to that in the middle: a short transform each, of the
        # coefficients turned by as much. The series is even, so that the others are the same reversed.
        parts = intervals // half
        turned = (self.coefficients[..., :kept] * damping)[..., None, :] * _turned(half, parts)[:, :kept]
        lines = np.fft.irfft(turned, 2 * half, axis=-1, norm="forward")
        middle = parts // 2 + 1
        found = np.empty((*lines.shape[:-2], half + 1, parts))
        found[..., :half, :middle] = np.swapaxes(lines[..., :half], -1, -2)
        found[..., :half, middle:] = np.swapaxes(lines[..., middle - 2 : 0 : -1, : half - 1 : -1], -1, -2)
        found[..., half, 0] = lines[..., 0, half]
        return found.reshape(*lines.shape[:-2], -1)[..., : intervals + 1]

    def l1_norm(self, bandwidth: float, *, oversampling: int = 32) -> Floats:
        """Return the integral of |density smoothed at the bandwidth|, shape (...,)."""
        asked = bandwidth, oversampling
        if asked not in self.norms:
            self.norms[asked] = l1_of_polyline(self.smoothed(bandwidth, oversampling=oversampling))
        return self.norms[asked]


@cache
def _turned(half: int, parts: int) -> npt.NDArray[np.complex128]:
    """Return by what coefficients are turned to move a place by 0, 1 ... of so many parts of a step."""
    k, moved = np.arange(half), np.arange(parts // 2 + 1)
    return np.asarray(np.exp(1j * np.pi * k * moved[:, None] / (half * parts)))


def l1_of_polyline(values: Floats) -> Floats:
    """Integrate |line through evenly spaced values| over [0, 1] exactly, shape (..., n) -> (...,)."""
    lines = values.reshape(-1, values.shape[-1])
    size, below = np.abs(lines), lines < 0.0
    total = size.sum(axis=1) - 0.5 * (size[:, 0] + size[:, -1])
    # Where a line crosses 0 its two triangles are smaller than what lies below the line of sizes.
    row, step = np.divmod(np.flatnonzero(below[:, 1:] != below[:, :-1]), lines.shape[1] - 1)
    left, right = size[row, step], size[row, step + 1]
    total -= np.bincount(row, weights=left * right / (left + right), minlength=total.size)
    return np.asarray((total / (size.shape[1] - 1)).reshape(values.shape[:-1]))


def cosine_series(score: Floats, mass: Floats) -> CosineSeries:
    """Transform point masses on [0, 1].

    The masses are gathered in 16,380 cells with their first moments, which leaves an error of second order in
    pi k / 32,760.

    Args:
        score: Ascending or not, shape (n,), in [0, 1].
        mass: Shape (..., n): one or more signed masses at each score.
    """
    cell = np.minimum((score * MESH).astype(np.int64), MESH - 1)
    centre = (cell + 0.5) / MESH
    offset = score - centre

    def whole() -> CosineSeries:
        return _gathered(cell, offset, mass)

    return whole() if cell.size > _FEW_MASSES else _first_ones(_FIRST, centre, mass, mass * offset, whole)


def cosine_series_in_cells(cell: Integers, mass: Floats, count: int) -> CosineSeries:
    """Transform masses of shape (..., n) that stand in the middles of n of so many equal cells of [0, 1]."""

    def whole() -> CosineSeries:
        held = np.zeros((*mass.shape[:-1], count))
        held[..., cell] = mass
        return cosine_series_of_cells(held)

    firsts = tuple(one for one in _FIRST if one < count)
    return (
        whole() if cell.size > _FEW_MASSES else _first_ones(firsts, (cell + 0.5) / count, mass, None, whole)
    )


def _first_ones(
    counts: Sequence[int],
    centre: Floats,
    mass: Floats,
    moment: Floats | None,
    whole: Callable[[], CosineSeries],
) -> CosineSeries:
    """Sum a few masses to so many first coefficients, to more where more are asked for, at last to all."""
    if not counts:
        return whole()
    k = np.arange(counts[0])
    turns = np.pi * k[:, None] * centre
    sums = mass @ np.cos(turns).T
    if moment is not None:
        sums -= np.pi * k * (moment @ np.sin(turns).T)
    return CosineSeries(sums, cache(lambda: _first_ones(counts[1:], centre, mass, moment, whole)))


def _gathered(cell: Integers, offset: Floats, mass: Floats) -> CosineSeries:
    """Transform masses in cells, with how far each stands from the middle of its cell."""
    rows = mass.reshape(-1, cell.size)
    gathered = np.zeros((rows.shape[0], MESH))
    moments = np.zeros_like(gathered)
    for index, row in enumerate(rows):
        gathered[index] = np.bincount(cell, weights=row, minlength=MESH)
        moments[index] = np.bincount(cell, weights=row * offset, minlength=MESH)
    series = cosine_series_of_cells(gathered, moments)
    return CosineSeries(series.coefficients.reshape(*mass.shape[:-1], -1))


def cosine_series_of_cells(mass: Floats, moment: Floats | None = None) -> CosineSeries:
    """Transform masses gathered in equal cells of [0, 1].

    Args:
        mass: Mass of each cell, shape (..., n_cells).
        moment: Sum over each cell of mass times (position - cell centre), or None for 0.
    """
    count = mass.shape[-1]
    k, turn = np.arange(count), _turns(count)
    coefficients = (np.fft.rfft(mass, 2 * count, axis=-1)[..., :count] * turn).real
    if moment is not None:
        # d/df cos(pi k f) = -pi k sin(pi k f), and the sine sums are minus the imaginary parts.
        sines = -(np.fft.rfft(moment, 2 * count, axis=-1)[..., :count] * turn).imag
        coefficients -= np.pi * k * sines
    return CosineSeries(coefficients)


def in_cells(place: Floats, mass: Floats, cells: int = MESH) -> Floats:
    """Return the masses at places in [0, 1] added up in equal cells, shape (cells,)."""
    cell = np.minimum((place * cells).astype(np.int64), cells - 1)
    return np.bincount(cell, weights=mass, minlength=cells).astype(np.float64)


@cache
def _turns(count: int) -> npt.NDArray[np.complex128]:
    """Return what turns the Fourier coefficients of so many cells to the cells' middles."""
    return np.asarray(np.exp(-0.5j * np.pi * np.arange(count) / count))


def residual_series(table: Table) -> CosineSeries:
    """Transform the table's mean residual (label - score), so that its smoothed L1 norm is smECE."""
    return cosine_series(table.score, residuals(table) / table.weight.sum())


def fixpoint(series: CosineSeries, *, added: float = 0.0, scale: float = 1.0) -> float:
    """Return the bandwidth at which the smoothed L1 norm, plus a constant, equals the bandwidth.

    The norm does not increase with the bandwidth, so there is one solution; it is found
    to 1e-13. Solutions below `LEAST_BANDWIDTH` or above 1, in units of [0, 1], give those ends.

    Args:
        series: One measure, coefficients of shape (n_coefficients,).
        added: Constant added to the norm, as for an upper confidence bound.
        scale: What [0, 1] is long in the units that the bandwidth is told in.
    """

    def excess(bandwidth: float) -> float:
        return scale * bandwidth - float(series.l1_norm(bandwidth)) - added

    low, high = bandwidths_around(excess, within=1e-13)
    return scale * 0.5 * (low + high)


def bandwidths_around(rises: Callable[[float], float], *, within: float) -> tuple[float, float]:
    """Enclose the bandwidth, of those resolved, at which an increasing function changes sign."""
    at = cache(rises)
    for high, low in pairwise(_BANDWIDTHS):
        found = crossing(at, low, high, within=within)
        if found[1] > low:
            break
    return found


def nearest(at: Floats, place: Floats) -> Floats:
    """Return how far each of some points is from the nearest of ascending places."""
    right = np.searchsorted(place, at)
    after, before = place[np.minimum(right, place.size - 1)], place[np.maximum(right - 1, 0)]
    return np.minimum(np.abs(after - at), np.abs(at - before))
