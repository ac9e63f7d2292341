"""
Pooling adjacent violators: exactly, and on a grid table with a second look at a few of its rows.

The levels of an isotonic fit are the slopes of the greatest convex minorant of the cumulative sum diagram,
the points (rows, rows with label 1) up to each score. Blocks of equal level begin and end where it bends.

References:
    Barlow, Bartholomew, Bremner & Brunk (1972), Statistical Inference under Order Restrictions, section 1.2.
    De Leeuw, Hornik & Mair (2009), J. Stat. Softw. 32(5), for the algorithm in scipy.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem
from calibcli.recalibrators.interface import require_both_labels
from calibcli.table import cells
from calibcli.table.bins import segment_sums
from calibcli.table.grid import GridTable, Table
from calibcli.table.moved import with_scores
from calibcli.table.reread import reread
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats, Integers, ScoreTable, merge_all

Places = npt.NDArray[np.intp]

# Slopes are compared by cross products of two numbers of rows, which 64 bits hold up to here.
MOST_ROWS = math.isqrt(2**63 - 1)


@dataclass(frozen=True, slots=True)
class Blocks:
    """
    The blocks of equal level of an isotonic fit, all of shape (n_blocks,).

    Args:
        first: Smallest score of each.

        last: Largest score of each.

        middle: Mean score of each, by weight.

        levels: Mean label of each, by weight; strictly ascending.
    """

    first: Floats
    last: Floats
    middle: Floats
    levels: Floats


def entries_to_pool(table: Table, *, rows: Rows | None) -> ScoreTable:
    """
    Return the scores that a fit pools.

    Args:
        table: The fit rows.

        rows: The rows behind a grid table: then the fit is that of the exact table. Without them each cell
            counts as one score, its mean.

    Raises:
        EmptyTable: If there are no rows.

        InputProblem: If there is one label only, or the rows are no longer those of the table.
    """
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
    starts = pooled_starts(weight, positive)
    if not entries.weighted:
        starts = bends(entries.rows[kept], entries.positive_rows[kept], guess=starts)
    totals = segment_sums(weight, starts)
    # Levels from the sums, so that equal fractions are equal numbers.
    levels = segment_sums(positive, starts) / totals
    levels = np.minimum(np.maximum.accumulate(levels), 1.0)
    new = np.concatenate(([True], levels[1:] > levels[:-1]))
    starts, levels = np.append(starts[:-1][new], starts[-1]), levels[new]
    first, last = score[starts[:-1]], score[starts[1:] - 1]
    middle = segment_sums(weight * score, starts) / segment_sums(weight, starts)
    return Blocks(first, last, np.clip(middle, first, last), levels)


def pooled_starts(weight: Floats, positive: Floats) -> Places:
    """Return where scipy's blocks start, shape (n_blocks + 1,); right but for the rounding of its means."""
    from scipy.optimize import isotonic_regression

    found = isotonic_regression(positive / weight, weights=weight)
    return np.asarray(found.blocks, dtype=np.intp)


def bends(rows: Integers, positive_rows: Integers, *, guess: Places) -> Places:
    """
    Return where the greatest convex minorant of a diagram of counts bends, in exact arithmetic.

    Args:
        rows: Number of rows of each entry, above 0, shape (n,).

        positive_rows: How many of them have label 1.

        guess: Ascending positions from 0 to n where it probably bends. Beyond `MOST_ROWS` rows they stand.

    Returns:
        Ascending positions from 0 to n, between which slopes strictly rise.
    """
    x, y = _diagram(rows), _diagram(positive_rows)
    if x[-1] > MOST_ROWS:
        return guess
    # Only a point below the chord that spans it can be where the minorant bends.
    below = np.flatnonzero(_below_chords(x[:-1], y[:-1], ends=(x[guess], y[guess]), sizes=np.diff(guess)))
    width, height = np.diff(x[guess]), np.diff(y[guess])
    rising = height[:-1] * width[1:] < height[1:] * width[:-1]
    if not below.size and bool(rising.all()):
        return guess
    return _lower_hull(np.union1d(guess, below), x, y)


def _diagram(counts: Integers) -> Integers:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


def _below_chords(
    x: Integers, y: Integers, *, ends: tuple[Integers, Integers], sizes: Places
) -> npt.NDArray[np.bool_]:
    """
    Return which points lie below the chord of their block.

    Args:
        x: Abscissae, from 0 to `MOST_ROWS`, shape (n,).

        y: Ordinates, likewise.

        ends: Abscissae and ordinates of the ends of the chords, shapes (n_blocks + 1,).

        sizes: How many points lie over each chord, one after the other.
    """
    width, height = np.diff(ends[0]), np.diff(ends[1])
    line = ends[1][:-1] * width - ends[0][:-1] * height
    side = y * np.repeat(width, sizes)
    side -= x * np.repeat(height, sizes)
    below: npt.NDArray[np.bool_] = side < np.repeat(line, sizes)
    return below


def _lower_hull(places: Places, x: Integers, y: Integers) -> Places:
    """Return those of the places at which the lower hull of their points bends, and both ends."""
    kept: list[tuple[int, int, int]] = []
    for point in zip(places.tolist(), x[places].tolist(), y[places].tolist(), strict=True):
        while len(kept) > 1 and _does_not_rise(kept[-2], kept[-1], point):
            kept.pop()
        kept.append(point)
    return np.array([place for place, _, _ in kept], dtype=np.intp)


def _does_not_rise(
    left: tuple[int, int, int], middle: tuple[int, int, int], right: tuple[int, int, int]
) -> bool:
    before = (middle[2] - left[2]) * (right[1] - middle[1])
    return before >= (right[2] - middle[2]) * (middle[1] - left[1])


def pruned(table: GridTable, rows: Rows) -> ScoreTable:
    """
    Return a table that pools into the very blocks of the exact table of all rows.

    Cells in which a block may begin or end are replaced by the exact scores of their rows. The others stand
    as one score each; they lie inside a block, with their counts and their mean score.

    Args:
        table: The cells.

        rows: The rows behind them.

    Raises:
        InputProblem: If there are more than `MOST_ROWS` rows, or they are no longer those of the table.
    """
    if table.total_rows > MOST_ROWS:
        msg = f"{table.total_rows:,} rows are too many to pool from a grid table (at most {MOST_ROWS:,})"
        raise InputProblem(msg, "pass --exact to keep every distinct score")
    places = unsettled(table)
    seen = reread(table, places, rows=rows)
    settled = np.ones(table.distinct, np.bool_)
    settled[places] = False
    # Rounding may carry the mean of a tiny cell out of it, into scores that were seen again.
    lowest = np.nextafter(cells.upper_edge(np.maximum(table.code - 1, 0)), 2.0)
    score = np.minimum(np.maximum(table.score, lowest), table.upper)
    return merge_all([seen, ScoreTable(score[settled], table.rows[settled], table.positive_rows[settled])])


def unsettled(table: GridTable) -> Places:
    """
    Return the positions of the cells in which a block may begin or end.

    Whatever the order of the rows in a cell, the diagram stays above the path over its lower corner, where
    all rows with label 0 come first. If the corner is not below the minorant of the cell borders, then the
    path is not below the minorant of all points either, which is convex: so it does not bend inside the
    cell. And it bends at a border between cells only if the minorant of the borders does: the cells on
    both sides of each such border hold the first and the last score of a block.

    Args:
        table: The cells, with at most `MOST_ROWS` rows.
    """
    guess = pooled_starts(table.weight, table.positive)
    starts = bends(table.rows, table.positive_rows, guess=guess)
    x, y = _diagram(table.rows), _diagram(table.positive_rows)
    corner = x[:-1] + (table.rows - table.positive_rows)
    found = _below_chords(corner, y[:-1], ends=(x[starts], y[starts]), sizes=np.diff(starts))
    found[starts[:-1]] = True
    found[starts[1:] - 1] = True
    return np.flatnonzero(found)
