"""A band that holds the kernel-smoothed chances of the labels at every place and every bandwidth at once."""

import math
from collections.abc import Iterator

import numpy as np

from calibcli.stats.bounds.kernel_means import kernel_mean_bounds
from calibcli.stats.table.score_table import Floats
from calibcli.values import dataclass

# A bandwidth is at least this many times that of its level, for mixtures of the level's kernels to make it;
# levels are so many to a factor of 2, and their places this many bandwidths apart.
_WIDER, _LEVELS, _APART = math.sqrt(1.25), 4, 0.45
# Scores are taken together within this part of a level's bandwidth.
_CELL = 1.0 / 16.0
# No place is looked at that is farther from every score than this many of the level's bandwidths, and no row
# that has e^-32 of the weight of a place's nearest one.
_REACH, _SEEN = 6.5, 8.0
# So many weights are held at once.
_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True)
class Axis:
    """
    The axis that a kernel stands on, as it was settled before labels were seen.

    Args:
        finest: The least bandwidth of any curve.
        widest: The largest.
        reflected: Whether kernels are reflected at 0 and 1; else there are no ends.
    """

    finest: float
    widest: float
    reflected: bool


def simultaneous_band(
    place: Floats,
    rows: Floats,
    positive: Floats,
    *,
    at: Floats,
    bandwidth: float,
    axis: Axis,
    confidence: float,
) -> tuple[Floats, Floats]:
    """
    Return which shares of the kernel's labels 1 and 0 are sure to be chance, everywhere at once.

    Given the scores, labels are independent and each has a chance of its own. With y the kernel-weighted mean
    of labels, that of the chances is at least y times the first share and at most 1 - (1 - y) times the
    second, with the confidence at every place and for every bandwidth between the finest and the widest at
    once: the bandwidth may have been chosen by the labels. Valid at any number of rows.

    Args:
        place: Where scores stand on the axis, ascending, shape (n_scores,).
        rows: How many rows are there, shape (n_scores,).
        positive: How many of them have label 1, shape (n_scores,).
        at: Where the curve stands on the axis, each within three bandwidths of some score, shape (n_points,).
        bandwidth: Standard deviation of the curve's Gaussian kernel, in units of the axis.
        axis: Where the kernel stands, and which bandwidths there may be.
        confidence: In (0, 1).

    Returns:
        The two shares, in [0, 1], shape (n_points,) each.

    References:
        The proof is in `docs/methods.md`, "Simultaneous bands".
    """
    level = max(0, math.ceil(_LEVELS * math.log2(axis.widest / bandwidth) - 1e-9))
    levels = max(level, math.ceil(_LEVELS * math.log2(axis.widest / axis.finest))) + 1
    # As many again are for log-odds, or for scores as they are: which is drawn may follow from the labels.
    levels *= 2
    narrow = axis.widest * 2.0 ** (-level / _LEVELS) / _WIDER
    cells = _Cells.of(place, rows, positive, narrow)
    nodes = _nodes(cells.place, narrow, axis)
    delta = (1.0 - confidence) / (2.0 * levels * nodes.size)
    ones, zeros, lower, upper = cells.bounds(nodes, narrow, axis, delta_each_side=delta)
    # The mean of a wider kernel is a mean of those of narrower ones: so are its bounds.
    mixed = _kernel(at[:, None] - nodes, at[:, None] + nodes, math.sqrt(bandwidth**2 - narrow**2), axis)
    if axis.reflected:
        mixed *= np.where(np.isin(nodes, (0.0, 1.0)), 0.5, 1.0)
    least, most = (mixed @ ((ones + zeros) * one) for one in (lower, 1.0 - upper))
    return _share(least, mixed @ ones), _share(most, mixed @ zeros)


def _share(part: Floats, whole: Floats) -> Floats:
    return np.clip(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0), 0.0, 1.0)


def _nodes(place: Floats, width: float, axis: Axis) -> Floats:
    """Return evenly spaced places that have a score within reach."""
    if axis.reflected:
        nodes = np.linspace(0.0, 1.0, math.ceil(1.0 / (_APART * width)) + 1)
    else:
        apart = _APART * width
        first, last = (float(end) / apart for end in (place[0], place[-1]))
        beyond = _REACH / _APART
        nodes = apart * np.arange(
            math.floor(first - beyond), math.ceil(last + beyond) + 1.0, dtype=np.float64
        )
    return nodes[_nearest(nodes, place) <= _REACH * width]


def _nearest(at: Floats, place: Floats) -> Floats:
    right = np.searchsorted(place, at)
    after, before = place[np.minimum(right, place.size - 1)], place[np.maximum(right - 1, 0)]
    return np.minimum(np.abs(after - at), np.abs(at - before))


def _kernel(apart: Floats, mirrored: Floats, width: float, axis: Axis) -> Floats:
    """Return a Gaussian of the distance of two places, and of those from the mirror images of one of them."""
    if not axis.reflected:
        return np.asarray(np.exp(-0.5 * (apart / width) ** 2))
    turns = math.ceil(0.5 * _SEEN * width) + 1
    total = np.zeros(apart.shape)
    for turn in range(-turns, turns + 1):
        for one in (apart, mirrored):
            total += np.exp(-0.5 * ((one + 2.0 * turn) / width) ** 2)
    return total


@dataclass(frozen=True, slots=True)
class _Cells:
    """
    Rows that are near to each other against the bandwidth.

    Args:
        place: Mean place of the rows, and that of those with label 0 and 1, shape (n_cells,) each.
        rows: How many there are.
        zeros: How many have label 0.
        ones: How many have label 1.
    """

    place: Floats
    place_of_zeros: Floats
    place_of_ones: Floats
    rows: Floats
    zeros: Floats
    ones: Floats

    @classmethod
    def of(cls, place: Floats, rows: Floats, positive: Floats, width: float) -> "_Cells":
        """Gather rows in cells of a part of the bandwidth."""
        starts = np.flatnonzero(np.diff(np.floor(place / (_CELL * width)), prepend=-np.inf))
        counts = rows, rows - positive, positive
        held = [np.add.reduceat(one, starts) for one in counts]
        places = [
            np.add.reduceat(one * place, starts) / np.maximum(many, 1.0)
            for one, many in zip(counts, held, strict=True)
        ]
        return cls(*places, *held)

    def bounds(
        self, nodes: Floats, width: float, axis: Axis, *, delta_each_side: float
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the kernel's mass of labels 1 and 0 at each node, and bounds of their mean chance."""
        reach = np.hypot(_nearest(nodes, self.place), _SEEN * width)
        first = np.searchsorted(self.place, nodes - reach)
        last = np.searchsorted(self.place, nodes + reach, side="right")
        most = int((last - first).max())
        found = np.empty((4, nodes.size))
        for some in _runs(nodes.size, max(1, _AT_ONCE // most)):
            cell = np.minimum(first[some, None] + np.arange(most), self.place.size - 1)
            seen = first[some, None] + np.arange(most) < last[some, None]
            node = nodes[some, None]
            weight, of_zeros, of_ones = (
                _kernel(node - one[cell], node + one[cell], width, axis) * seen
                for one in (self.place, self.place_of_zeros, self.place_of_ones)
            )
            ones, zeros = (of_ones * self.ones[cell]).sum(axis=1), (of_zeros * self.zeros[cell]).sum(axis=1)
            found[0, some], found[1, some] = ones, zeros
            found[2:, some] = kernel_mean_bounds(
                weight, self.rows[cell] * seen, ones=ones, zeros=zeros, delta_each_side=delta_each_side
            )
        return found[0], found[1], found[2], found[3]


def _runs(count: int, length: int) -> Iterator[slice]:
    return (slice(start, min(start + length, count)) for start in range(0, count, length))
