"""Pooling adjacent violators: exactly, and on a grid table with a second look at a few of its rows.

The levels of an isotonic fit are the slopes of the greatest convex minorant of the cumulative sum diagram,
the points (rows, rows with label 1) up to each score. Blocks of equal level begin and end where it bends.

References:
    Barlow, Bartholomew, Bremner & Brunk (1972), Statistical Inference under Order Restrictions, section 1.2.
    De Leeuw, Hornik & Mair (2009), J. Stat. Softw. 32(5), for the algorithm in scipy.
"""

import math
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem
from calibcli.stats.recalibrators import require_both_labels
from calibcli.stats.table import Booleans, Floats, Indices, Integers, ScoreTable, run_starts, sealed
from calibcli.stats.table.again import Rows, refuse_changed, seen_again
from calibcli.stats.table.bins import segment_sums
from calibcli.stats.table.derived import with_scores
from calibcli.stats.table.finer import MOST_CUTS, PARTS, CountedParts, Tree
from calibcli.stats.table.grid import GridTable, Table, mean_below
from calibcli.values import dataclass

Number = TypeVar("Number", np.int64, np.float64, np.bool_)

# Slopes are compared by cross products of two numbers of rows, which 64 bits hold up to here.
MOST_ROWS = math.isqrt(2**63 - 1)

# Of a long diagram every so manieth point is looked at first, and as many as this one after the other.
_STRIDE = 512

_FEW = 4_096

# Points looked at together, so that memory does not follow their number.
_CHUNK = 1 << 18

_MOST_CORNERS = 50_000

# Rows of cells that are looked at one by one, at most, where cells can be cut finer.
_MOST_SEEN = 10_000_000

# Parts counted in one pass.
_MOST_PARTS = 1 << 22

# The share of its rows that stays in one part where they have one score.
_ALIKE = 0.99


def bends(rows: Integers, positive_rows: Integers) -> Indices:
    """Return where the minorant bends.

    Points that are not below a path through some of the points are not below the minorant either, and so
    cannot be where it bends: they are left out, and the path is led through the lowest of the others, until
    few are left.

    Returns:
        Ascending positions from 0 to n, between which slopes strictly rise. Beyond `MOST_ROWS` rows those of
        scipy, which are right but for the rounding of its means.
    """
    x, y = diagram(rows), diagram(positive_rows)
    if x[-1] > MOST_ROWS:
        return pooled_starts(rows.astype(np.float64), positive_rows.astype(np.float64))
    path = _lower_hull(np.append(np.arange(0, x.size - 1, _STRIDE), x.size - 1), x, y)
    left = _below(x, y, path)
    while left.size > _FEW and path.size <= _MOST_CORNERS:
        sizes = _sizes(left, path)
        depth = _above(x[left], y[left], ends=(x[path], y[path]), sizes=sizes)
        sizes = sizes[sizes > 0]
        lowest = np.repeat(np.minimum.reduceat(depth, np.cumsum(sizes) - sizes), sizes)
        path = _lower_hull(_joined(path, left[depth == lowest]), x, y)
        depth = _above(x[left], y[left], ends=(x[path], y[path]), sizes=_sizes(left, path))
        left = left[depth < 0]
    return _lower_hull(_joined(path, left), x, y)


def pooled_starts(weight: Floats, positive: Floats) -> Indices:
    """Return where scipy's blocks start, shape (n_blocks + 1,); right but for the rounding of its means."""
    from scipy.optimize import isotonic_regression

    found = isotonic_regression(positive / weight, weights=weight)
    return np.asarray(found.blocks, dtype=np.intp)


def diagram(counts: Integers) -> Integers:
    """Return the sums of counts up to each entry, from 0, shape (n + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


def _above(x: Integers, y: Integers, *, ends: tuple[Integers, Integers], sizes: Indices) -> Integers:
    """Return how far points lie above the chords of their blocks, times the width of the chord.

    Args:
        x: Abscissae, from 0 to `MOST_ROWS`, shape (n,).
        y: Ordinates, likewise.
        ends: Abscissae and ordinates of the ends of the chords, shapes (n_blocks + 1,).
        sizes: How many points lie over each chord, one after the other.
    """
    width, height = np.diff(ends[0]), np.diff(ends[1])
    line = ends[1][:-1] * width - ends[0][:-1] * height
    # What is returned is the difference of two products from 0 to 2^63; sums on the way may wrap around.
    side: Integers = y * np.repeat(width, sizes)
    side -= x * np.repeat(height, sizes)
    side -= np.repeat(line, sizes)
    return side


def _below(x: Integers, y: Integers, path: Indices) -> Indices:
    """Return the points below a path."""
    found = []
    for start in range(0, x.size, _CHUNK):
        near = slice(start, min(start + _CHUNK, x.size - 1))
        sizes = np.diff(np.clip(path, near.start, near.stop)).astype(np.intp)
        above = _above(x[near], y[near], ends=(x[path], y[path]), sizes=sizes)
        found.append(np.flatnonzero(above < 0) + start)
    return np.concatenate(found)


def _sizes(points: Indices, path: Indices) -> Indices:
    """Return how many of the ascending points lie in each block of a path."""
    return np.diff(np.searchsorted(points, path))


def _joined(path: Indices, more: Indices) -> Indices:
    """Return the places in either, ascending: numpy's own union imports masked arrays."""
    places = np.sort(np.concatenate((path, more)))
    return places[run_starts(places)]


def _lower_hull(places: Indices, x: Integers, y: Integers) -> Indices:
    """Return those of the places at which the lower hull of their points bends, and both ends."""
    kept: list[tuple[int, int, int]] = []
    for place, right, top in zip(places.tolist(), x[places].tolist(), y[places].tolist(), strict=True):
        while len(kept) > 1:
            (_, left, low), (_, middle, high) = kept[-2:]
            if (high - low) * (right - middle) < (top - high) * (middle - left):
                break
            # The slope does not rise there.
            kept.pop()
        kept.append((place, right, top))
    return np.array([place for place, _, _ in kept], dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of an isotonic fit, shape (n_blocks,); levels, mean labels, strictly ascend."""

    first: Floats
    last: Floats
    middle: Floats
    levels: Floats


def entries_to_pool(table: Table, *, rows: Rows | None) -> ScoreTable:
    require_both_labels(table)
    if isinstance(table, ScoreTable):
        return table
    return with_scores(table, table.score) if rows is None else pruned(table, rows)


def pooled(entries: ScoreTable) -> Blocks:
    """Return the blocks of the isotonic fit; scores without weight are left out."""
    weight = entries.weight
    weighs = weight > 0.0
    kept = slice(None) if weighs.all() else np.flatnonzero(weighs)
    score, weight, positive = entries.score[kept], weight[kept], entries.positive[kept]
    if entries.weighted:
        starts = pooled_starts(weight, positive)
    else:
        starts = bends(entries.rows[kept], entries.positive_rows[kept])
    totals = segment_sums(weight, starts)
    # Levels from the sums, so that equal fractions are equal numbers.
    levels = segment_sums(positive, starts) / totals
    levels = np.minimum(np.maximum.accumulate(levels), 1.0)
    new = np.concatenate(([True], levels[1:] > levels[:-1]))
    starts, levels = np.append(starts[:-1][new], starts[-1]), levels[new]
    first, last = score[starts[:-1]], score[starts[1:] - 1]
    middle = segment_sums(weight * score, starts) / segment_sums(weight, starts)
    return Blocks(first, last, np.clip(middle, first, last), levels)


def pruned(table: GridTable, rows: Rows) -> ScoreTable:
    """Return a table that pools into the very blocks of the exact table of all rows.

    Cells in which a block may begin or end are replaced by the exact scores of their rows. The others lie
    inside a block: neighbours stand as one score, with their counts and their mean score. Where cells that
    may hold ends of blocks have too many rows to keep, they are first cut finer, and the rows of the parts
    counted, until what is left has fewer: a pass over all rows for each cut.
    """
    if table.total_rows > MOST_ROWS:
        msg = f"{table.total_rows:,} rows are too many to pool from rounded scores (at most {MOST_ROWS:,})"
        raise InputProblem(msg, "pass --exact to keep every distinct score")
    alike = np.zeros(table.distinct, np.bool_)
    pieces = Pieces(table.code, table.edge, table.rows, table.positive_rows, table.score, alike).joined()
    tree = Tree.over(pieces.node[pieces.is_open])
    while tree.cuts < MOST_CUTS:
        many = np.flatnonzero(pieces.is_open & ~pieces.alike)
        if pieces.rows[many].sum() <= _MOST_SEEN:
            break
        many = many[: _MOST_PARTS // PARTS]
        tree = tree.cut(pieces.node[many])
        pieces = pieces.cut(many, tree, rows.in_parts(tree)).joined()
        tree = tree.only(pieces.node[pieces.is_open])
    return pieces.looked_at(tree, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Pieces of [0, 1] that have rows, ascending, each column of shape (n_pieces,).

    Args:
        node: The leaf of a tree that a piece is; negative for one inside a block.
        edge: The upper edge of its cell.
        score: Its mean score.
        alike: Whether nearly all its rows stayed together when they were parted: they have one score, and
            take no memory when they are looked at.
    """

    node: Integers
    edge: Floats
    rows: Integers
    positive_rows: Integers
    score: Floats
    alike: Booleans

    @property
    def is_open(self) -> Booleans:
        """Whether a block may begin or end in a piece."""
        return self.node >= 0

    def joined(self) -> "Pieces":
        """Return the pieces with neighbours in which no block begins or ends made one."""
        is_open = np.zeros(self.node.size, np.bool_)
        is_open[unsettled(self)] = True
        is_open &= self.is_open
        first = np.flatnonzero(is_open | np.concatenate(([True], is_open[:-1])))
        starts = np.append(first, self.node.size)
        rows = segment_sums(self.rows, starts)
        score = segment_sums(self.rows * self.score, starts) / rows
        node = np.where(is_open, self.node, -1)[first]
        positive_rows = segment_sums(self.positive_rows, starts)
        return Pieces(node, self.edge[first], rows, positive_rows, score, self.alike[first])

    def cut(self, places: Indices, tree: Tree, counted: CountedParts) -> "Pieces":
        """Return the pieces with those at some places cut into the parts made last of a tree, as counted."""
        rows, below = counted.by_label()
        both, ones = rows.sum(axis=0), rows[1]
        refuse_changed(self.rows[places], both.reshape(-1, PARTS).sum(axis=1))
        refuse_changed(self.positive_rows[places], ones.reshape(-1, PARTS).sum(axis=1))
        held = np.flatnonzero(both)
        both, ones, rank = both[held], ones[held], held // PARTS
        whole = places[rank]
        edge = self.edge[whole]

        def put(column: npt.NDArray[Number], parts: npt.NDArray[Number]) -> npt.NDArray[Number]:
            """Return a column with that of the parts in the place of what was cut."""
            return np.insert(np.delete(column, places), whole - rank, parts)

        return Pieces(
            put(self.node, tree.made + held),
            put(self.edge, edge),
            put(self.rows, both),
            put(self.positive_rows, ones),
            put(self.score, mean_below(edge, below.sum(axis=0)[held], both)),
            put(self.alike, both > _ALIKE * self.rows[whole]),
        )

    def looked_at(self, tree: Tree, rows: Rows) -> ScoreTable:
        """Return the pieces as one score each, and the open leaves of a tree by the scores of their rows."""
        is_open = self.is_open
        known = self.node[is_open], self.rows[is_open], self.positive_rows[is_open]
        seen, starts = seen_again(tree, known, rows=rows)
        # The first piece and the last are open, and of two neighbours one.
        between = starts[np.cumsum(is_open)[~is_open]]
        # Rounding may carry a mean out of its piece.
        lowest, highest = np.nextafter(seen.score[between - 1], 2.0), np.nextafter(seen.score[between], -1.0)
        score = np.minimum(np.maximum(self.score[~is_open], lowest), highest)
        return ScoreTable(
            sealed(np.insert(seen.score, between, score)),
            sealed(np.insert(seen.rows, between, self.rows[~is_open])),
            sealed(np.insert(seen.positive_rows, between, self.positive_rows[~is_open])),
        )


def unsettled(table: GridTable | Pieces) -> Indices:
    """Return the positions of the cells in which a block may begin or end.

    Whatever the order of the rows in a cell, the diagram stays above the path over its lower corner, where
    all rows with label 0 come first. If the corner is not below the minorant of the cell borders, then the
    path is not below the minorant of all points either, which is convex: so it does not bend inside the
    cell. And it bends at a border between cells only if the minorant of the borders does: the cells on
    both sides of each such border hold the first and the last score of a block.

    Args:
        table: The cells, with at most `MOST_ROWS` rows.
    """
    starts = bends(table.rows, table.positive_rows)
    x, y = diagram(table.rows), diagram(table.positive_rows)
    corner = x[:-1] + (table.rows - table.positive_rows)
    found = _above(corner, y[:-1], ends=(x[starts], y[starts]), sizes=np.diff(starts)) < 0
    found[starts[:-1]] = True
    found[starts[1:] - 1] = True
    return np.flatnonzero(found)
