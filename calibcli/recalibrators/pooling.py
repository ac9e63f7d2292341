"""
Pooling adjacent violators: exactly, and on a grid table with a second look at a few of its rows.

The levels of an isotonic fit are the slopes of the greatest convex minorant of the cumulative sum diagram,
the points (rows, rows with label 1) up to each score. Blocks of equal level begin and end where it bends.

References:
    Barlow, Bartholomew, Bremner & Brunk (1972), Statistical Inference under Order Restrictions, section 1.2.
    De Leeuw, Hornik & Mair (2009), J. Stat. Softw. 32(5), for the algorithm in scipy.
"""

from dataclasses import dataclass

import numpy as np

from calibcli.errors import InputProblem
from calibcli.recalibrators.interface import require_both_labels
from calibcli.recalibrators.minorant import MOST_ROWS, Places, below_chords, bends, diagram, pooled_starts
from calibcli.table import cells
from calibcli.table.bins import segment_sums
from calibcli.table.grid import GridTable, Table
from calibcli.table.moved import with_scores
from calibcli.table.reread import reread
from calibcli.table.rows import Rows
from calibcli.table.score_table import Floats, ScoreTable, sealed


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
    # No score of the one lies in a cell of the other.
    between = np.searchsorted(seen.score, score[settled])
    return ScoreTable(
        sealed(np.insert(seen.score, between, score[settled])),
        sealed(np.insert(seen.rows, between, table.rows[settled])),
        sealed(np.insert(seen.positive_rows, between, table.positive_rows[settled])),
    )


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
    starts = bends(table.rows, table.positive_rows)
    x, y = diagram(table.rows), diagram(table.positive_rows)
    corner = x[:-1] + (table.rows - table.positive_rows)
    found = below_chords(corner, y[:-1], ends=(x[starts], y[starts]), sizes=np.diff(starts))
    found[starts[:-1]] = True
    found[starts[1:] - 1] = True
    return np.flatnonzero(found)
