"""Cells of the grid cut into finer parts, where too many rows share them to look at one by one."""

from functools import cache
from threading import Lock

import numpy as np
import numpy.typing as npt

from calibcli.stats.table import Booleans, Floats, Integers
from calibcli.stats.table.grid import CODES, cell_and_edge, distances, upper_edge
from calibcli.values import dataclass

_BITS = 3

# A leaf is cut into so many parts of equal width.
PARTS = 1 << _BITS

# Trees are cut so often at most: where a score lies in its cell is then known to 48 bits.
MOST_CUTS = 16

_WITHIN = 1 << (MOST_CUTS * _BITS)

# What stands for a leaf in place of the first of its parts.
_OPEN, _CLOSED = -2, -1

# Scores worked on at once: they fit the processor's cache.
_CHUNK = 1 << 16

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Cells of the grid, some of them open, and the parts that open ones were cut into, which are open again.

    Nodes are numbered: the cells by their codes, then parts in the order in which they were made, those of
    one leaf from the lowest scores to the highest.

    Args:
        link: The first part of each node; of a leaf whether it is open.
        made: The first of the parts that were made last.
    """

    link: Nodes
    made: int = CODES
    cuts: int = 0

    @classmethod
    def over(cls, codes: Integers) -> "Tree":
        """Return a tree of cells, these open."""
        link = np.full(CODES, _CLOSED, np.int32)
        link[codes] = _OPEN
        return cls(link)

    def only(self, nodes: Integers) -> "Tree":
        """Return the tree with these leaves open, and no others."""
        link = np.maximum(self.link, _CLOSED)
        link[nodes] = _OPEN
        return Tree(link, self.made, self.cuts)

    def cut(self, nodes: Integers) -> "Tree":
        """Return the tree with these leaves cut into parts, in their order."""
        made = self.link.size
        link = np.append(self.link, np.full(PARTS * nodes.size, _OPEN, np.int32))
        link[nodes] = np.arange(made, link.size, PARTS, dtype=np.int32)
        return Tree(link, made, self.cuts + 1)

    def in_open(self, score: Floats) -> tuple[Integers, Integers]:
        """Return which of some scores lie in open leaves, and in which nodes."""
        leaf, link = self._leaves(score, *cell_and_edge(score))
        kept = np.flatnonzero(link == _OPEN)
        return kept, leaf[kept]

    def in_made(self, score: Floats) -> tuple[Integers, Integers, Floats]:
        """Return which scores lie in parts made last, in which, and how far below the edge of their cell."""
        code, edge = cell_and_edge(score)
        part, _ = self._leaves(score, code, edge)
        part -= self.made
        kept = np.flatnonzero(part >= 0)
        return kept, part[kept], distances(score[kept], edge[kept])

    def _leaves(self, score: Floats, code: Integers, edge: Floats) -> tuple[Integers, Nodes]:
        """Return the leaf of each score, in the place of its code, and the link of that."""
        link = self.link[code]
        deeper = np.flatnonzero(link >= 0)
        if deeper.size:
            within = _within(score[deeper], code[deeper], edge[deeper])
        left = MOST_CUTS * _BITS
        while deeper.size:
            left -= _BITS
            part = link[deeper] + ((within >> left) & (PARTS - 1))
            code[deeper] = part
            link[deeper] = self.link[part]
            further = np.flatnonzero(link[deeper] >= 0)
            deeper, within = deeper[further], within[further]
        return code, link


def _within(score: Floats, code: Integers, edge: Floats) -> Integers:
    """Return where in their cells scores lie, from 0 to 2^48 - 1; it never falls as the score rises."""
    place = score - edge
    place /= _widths()[code]
    place += 1.0
    place *= _WITHIN
    return np.clip(place.astype(np.int64), 0, _WITHIN - 1)


@cache
def _widths() -> Floats:
    """Return the width of each cell; 1 where it holds but one double, such as 0 or 1."""
    width = np.diff(upper_edge(np.arange(CODES)), prepend=-1.0)
    return np.where(width > 0.0, width, 1.0)


class CountedParts:
    """Rows counted in the parts of a tree that were made last."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        # By label and part.
        self._rows = np.zeros(2 * (tree.link.size - tree.made), np.int64)
        self._below = np.zeros_like(self._rows)
        self._one_by_one = Lock()

    def __getstate__(self) -> tuple[int, Integers, npt.NDArray[np.unsignedinteger], Integers]:
        # The rows of one file lie in few of the parts.
        some = np.flatnonzero(self._rows)
        rows = self._rows[some]
        fewest = rows.astype(np.min_scalar_type(int(rows.max(initial=0))))
        return self._rows.size, some, fewest, self._below[some]

    def __setstate__(self, state: tuple[int, Integers, npt.NDArray[np.unsignedinteger], Integers]) -> None:
        # Counts are added to others, and no more rows to these.
        size, some, rows, below = state
        self._rows, self._below = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._rows[some], self._below[some] = rows, below

    def add_rows(self, score: Floats, label: Booleans, counts: Integers | None) -> None:
        """Add rows, each so many times; from any thread."""
        for start in range(0, score.size, _CHUNK):
            near = slice(start, start + _CHUNK)
            kept, place, below = self._tree.in_made(score[near])
            place += (self._rows.size // 2) * label[near][kept]
            times = 1 if counts is None else counts[near][kept]
            sums = times * below.astype(np.int64)
            with self._one_by_one:
                np.add.at(self._rows, place, times)
                np.add.at(self._below, place, sums)

    def add(self, other: "CountedParts") -> None:
        for mine, theirs in zip(self.by_label(), other.by_label(), strict=True):
            np.add(mine, theirs, out=mine)

    def by_label(self) -> tuple[Integers, Integers]:
        """Return rows and how far in all they lie below their cell's edge, (2, n_parts), by label first."""
        return self._rows.reshape(2, -1), self._below.reshape(2, -1)
