"""A band that holds the kernel-smoothed chances of the labels at every place and every bandwidth at once.

It is made of bounds of weighted means of the chances, each label having one of its own. The proofs stand in
docs/methods.md, "Simultaneous bands": any l and e there make a bound, so that a search that stops early makes
it wider and not wrong. With equal weights it is that of Chernoff for the binomial.
"""

import math

import numpy as np

from calibcli.stats.table import Floats
from calibcli.stats.table.kernel import nearest
from calibcli.values import dataclass

# Bets l are tried from this share of the one that is best for labels of chance 1/2 up to the largest, and
# rates of rows of the largest weight by log odds, so many of each; then around the best, ever nearer.
_LEAST_BET, _LARGEST_BET, _BETS = 0.3, 40.0, 10
_LARGEST_ODDS, _RATES = 12.0, 9
_TURNS = 3
# A smaller share of the largest weight is taken for this one.
_NOTHING = 1e-150


def kernel_mean_bounds(
    weight: Floats, rows: Floats, *, ones: Floats, zeros: Floats, delta_each_side: float
) -> tuple[Floats, Floats]:
    """Return bounds of weighted means of the chances of labels, for many weightings.

    Args:
        weight: Of each label of a cell, at least 0, and above 0 for some label, shape (means, cells). Must
            not depend on the labels.
        rows: How many labels a cell has, shape (means, cells).
        ones: Weight of the labels 1 of each mean, shape (means,); `zeros` of its labels 0.
        delta_each_side: Probability with which either bound of one mean is wrong at most.

    Returns:
        Lower and upper bounds of sum(weight * rows * chance) / sum(weight * rows), shape (means,) each.

    References:
        Chernoff (1952), Ann. Math. Statist. 23, for equal weights.
    """
    most = np.where(rows > 0.0, weight, 0.0).max(axis=1)
    scaled, level = np.maximum(weight / most[:, None], _NOTHING), -math.log(delta_each_side)
    upper = _upper(scaled, rows, ones / most, level=level)
    return 1.0 - _upper(scaled, rows, zeros / most, level=level), upper


def _upper(weight: Floats, rows: Floats, found: Floats, *, level: float) -> Floats:
    total = (weight * rows).sum(axis=1)
    least = np.minimum(_LEAST_BET * np.sqrt(8.0 * level / (weight**2 * rows).sum(axis=1)), 0.1 * _LARGEST_BET)
    best, bet, odds = total.copy(), least.copy(), np.zeros_like(total)

    def try_at(new_bet: Floats, new_odds: Floats) -> None:
        tried = _value(weight, rows, new_bet, new_odds, level + new_bet * found)
        better = tried < best
        for old, new in ((best, tried), (bet, new_bet), (odds, new_odds)):
            old[better] = new[better]

    steps = np.log(_LARGEST_BET / least) / (_BETS - 1), 2.0 * _LARGEST_ODDS / (_RATES - 1)
    for i in range(_BETS):
        for one in np.linspace(-_LARGEST_ODDS, _LARGEST_ODDS, _RATES):
            try_at(least * np.exp(i * steps[0]), np.full_like(total, one))
    for turn in range(1, _TURNS + 1):
        centre = bet.copy(), odds.copy()
        for i, j in ((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j):
            try_at(centre[0] * np.exp(0.5**turn * i * steps[0]), centre[1] + 0.5**turn * j * steps[1])
    return np.asarray(np.minimum(best / total, 1.0))


def _value(weight: Floats, rows: Floats, bet: Floats, odds: Floats, known: Floats) -> Floats:
    """Return the bound of the sum for a bet and the price at which rows of weight 1 have such log odds."""
    most = -np.expm1(-bet)
    price = ((1.0 - most / (1.0 + np.exp(-odds))) / most)[:, None]
    lost = bet[:, None] * weight
    refuted = -np.expm1(-lost)
    rate = np.clip((weight / refuted - price) / weight, 0.0, 1.0)
    log = np.where(rate < 1.0, np.log1p(-np.minimum(rate * refuted, 1.0 - 1e-16)), -lost)
    return np.asarray((rows * (weight * rate + price * log)).sum(axis=1) + price[:, 0] * known)


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
    """The axis of a kernel, with its least and largest bandwidth, settled before labels were seen.

    Kernels are `reflected` at 0 and 1, or there are no ends.
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
    """Return which shares of the kernel's labels 1 and 0 are sure to be chance, everywhere at once.

    With y the kernel-weighted mean of labels, that of the chances is at least y times the first share and at
    most 1 - (1 - y) times the second, with the confidence at every place and for every bandwidth between the
    finest and the widest at once: the bandwidth may have been chosen by the labels. Valid at any number of
    rows.

    Args:
        place: Where scores stand on the axis, ascending, shape (n_scores,), as are `rows` and `positive`.
        at: Where the curve stands on the axis, each within three bandwidths of some score, shape (n_points,).
        bandwidth: Standard deviation of the curve's Gaussian kernel, in units of the axis.

    Returns:
        The two shares, in [0, 1], shape (n_points,) each.
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
    wider = math.sqrt(bandwidth**2 - narrow**2)
    mixed = kernel(at[:, None] - nodes, at[:, None] + nodes, wider, reflected=axis.reflected)
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
    return nodes[nearest(nodes, place) <= _REACH * width]


def kernel(apart: Floats, mirrored: Floats, width: float, *, reflected: bool) -> Floats:
    """Return a Gaussian of the distance of two places, and of those from the mirror images of one of them."""
    if not reflected:
        return np.asarray(np.exp(-0.5 * (apart / width) ** 2))
    turns = int(0.5 * _SEEN * width) + 1
    total = np.zeros(apart.shape)
    for turn in range(-turns, turns + 1):
        # Places in [0, 1] are at most 1 apart, and their sum at most 2: which images may be seen at all.
        for one, least in ((apart, 2 * abs(turn) - 1), (mirrored, max(2 * turn, -2 * turn - 2))):
            if least < _SEEN * width:
                total += np.exp(-0.5 * ((one + 2.0 * turn) / width) ** 2)
    return total


@dataclass(frozen=True, slots=True)
class _Cells:
    """Rows near each other: mean places of all, of label 0 and of label 1, shape (n_cells,)."""

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
        reach = np.hypot(nearest(nodes, self.place), _SEEN * width)
        first = np.searchsorted(self.place, nodes - reach)
        last = np.searchsorted(self.place, nodes + reach, side="right")
        most = int((last - first).max())
        found = np.empty((4, nodes.size))
        step = max(1, _AT_ONCE // most)
        for start in range(0, nodes.size, step):
            some = slice(start, start + step)
            cell = np.minimum(first[some, None] + np.arange(most), self.place.size - 1)
            seen = first[some, None] + np.arange(most) < last[some, None]
            node = nodes[some, None]
            weight, of_zeros, of_ones = (
                kernel(node - one[cell], node + one[cell], width, reflected=axis.reflected) * seen
                for one in (self.place, self.place_of_zeros, self.place_of_ones)
            )
            ones, zeros = (of_ones * self.ones[cell]).sum(axis=1), (of_zeros * self.zeros[cell]).sum(axis=1)
            found[0, some], found[1, some] = ones, zeros
            found[2:, some] = kernel_mean_bounds(
                weight, self.rows[cell] * seen, ones=ones, zeros=zeros, delta_each_side=delta_each_side
            )
        return found[0], found[1], found[2], found[3]
