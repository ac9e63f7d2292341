"""Functions that every fitted map looks up: constant on bins, or through a few points."""

from typing import Annotated

import numpy as np

from calibcli.codec import Ascending, Between, Declared, Node, Size
from calibcli.stats.recalibrators import FittedBin
from calibcli.stats.table import Arrays, Floats, Indices, Integers
from calibcli.stats.table.bins import bin_index
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class BinMap(Declared, Arrays):
    """One value for each bin (edge_{k-1}, edge_k]."""

    edges: Annotated[
        Floats,
        Between(0.0, 1.0),
        Size(2),
        Ascending(strictly_from=1),
        "Ascending from 0 to 1; bin k is (edge k-1, edge k], the first closed on the left.",
    ]
    values: Annotated[Floats, Between(0.0, 1.0), Size(of="edges", less=1), "The output in each bin."]
    rows: Annotated[Integers, Size(of="edges", less=1), "Fit rows in each bin."]
    positive: Annotated[Integers, Size(of="edges", less=1), "Fit rows with label 1 in each bin."]

    def check(self, node: Node) -> None:
        """Refuse edges that do not span the scores, and rows that no fit has."""
        if self.edges[0] != 0.0 or self.edges[-1] != 1.0:
            msg = "should begin with 0 and end with 1"
            raise node.child("edges").problem(msg)
        if not self.rows.any():
            msg = "should count at least one row"
            raise node.child("rows").problem(msg)
        for item, most in zip(node.child("positive").items(), self.rows.tolist(), strict=True):
            item.whole(0, most)

    def predict(self, scores: Floats) -> Floats:
        """Return the value of each score's bin; scores already checked."""
        found: Floats = self.values[bin_index(self.edges, scores)]
        return found

    @property
    def increasing(self) -> bool:
        return bool(np.all(self.values[1:] >= self.values[:-1]))

    @property
    def corners(self) -> Floats:
        """Scores on both sides of every step."""
        return np.concatenate((self.edges, np.nextafter(self.edges[:-1], 1.0)))

    @property
    def empty(self) -> int:
        """How many bins hold no fit rows."""
        return int(np.sum(self.rows == 0))

    @property
    def bins(self) -> tuple[FittedBin, ...]:
        columns = (self.edges[:-1], self.edges[1:], self.values, self.rows, self.positive)
        return tuple(FittedBin(*row) for row in zip(*(column.tolist() for column in columns), strict=True))


_BITS = 16

# Rows worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14

# Fewer rows are not worth a table, and nor are so many points that drawers hold several.
_FEW_ROWS = 1 << 14

_MANY_POINTS = 1 << 14


def ranks(points: Floats, score: Floats) -> Indices:
    """Return the number of points at most each score: what `numpy.searchsorted` says on the right."""
    if score.size < _FEW_ROWS or points.size > _MANY_POINTS:
        return np.searchsorted(points, score, side="right")
    # A power of two, so that products are exact: drawers [k / count, (k + 1) / count).
    count = 1 << min(_BITS, 3 + int(points.size).bit_length())
    opened = np.searchsorted(points, np.arange(count + 2) / count)
    inside = np.diff(opened)
    padded = np.append(points, np.inf)
    found = np.empty(score.size, np.intp)
    for start in range(0, score.size, _CHUNK):
        near, rank = score[start : start + _CHUNK], found[start : start + _CHUNK]
        drawer = (near * count).astype(np.intp)
        np.take(opened, drawer, out=rank)
        rank += padded[rank] <= near
        crowded = np.flatnonzero(inside[drawer] > 1)
        if crowded.size:
            rank[crowded] = np.searchsorted(points, near[crowded], side="right")
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Polyline(Declared, Arrays):
    """A continuous function: linear between knots, constant outside them."""

    knots: Annotated[
        Floats, Between(0.0, 1.0), Size(1), Ascending(), "Strictly ascending scores, shape (n_knots,)."
    ]
    values: Annotated[
        Floats,
        Between(0.0, 1.0),
        Size(of="knots"),
        Ascending(strictly_from=None),
        "What the function is there, never falling: linear between knots, constant outside them.",
    ]

    @property
    def corners(self) -> Floats:
        return self.knots

    def predict(self, scores: Floats) -> Floats:
        """Return the function at each score: exact at knots, monotone, never NaN.

        `numpy.interp` is none of this where neighbouring knots are a denormal number apart.
        """
        rise, width = np.diff(self.values, append=self.values[-1]), np.append(np.diff(self.knots), 1.0)
        columns = (self.knots, width, self.values, rise, np.append(self.values[1:], self.values[-1]))
        flat = scores.reshape(-1)
        left = np.maximum(ranks(self.knots, flat) - 1, 0)
        found = np.empty(flat.size)
        for start in range(0, flat.size, _CHUNK):
            part = slice(start, start + _CHUNK)
            knot, wide, low, up, high = (column[left[part]] for column in columns)
            share = np.clip((flat[part] - knot) / wide, 0.0, 1.0)
            found[part] = np.minimum(low + share * up, high)
        return found.reshape(scores.shape)
