"""The table after every distinct score has moved: how a recalibrated score is tallied without its rows."""

import numpy as np

from calibcli.table.bins import segment_sums
from calibcli.table.grid import GridTable, Table
from calibcli.table.score_table import Floats, ScoreTable, WeightColumns


def with_scores(table: Table, scores: Floats) -> ScoreTable:
    """
    Return the exact table of the same rows under other scores; scores that meet are merged.

    Args:
        table: The rows. The rows of a cell of a grid table move together.

        scores: The new score of each distinct score or cell, in [0, 1], shape (n_distinct,).
    """
    if not table.distinct:
        return ScoreTable.empty()
    order = np.argsort(scores, kind="stable")
    moved = np.asarray(scores, dtype=np.float64)[order]
    starts = np.flatnonzero(np.concatenate(([True], moved[1:] != moved[:-1], [True])))
    rows = segment_sums(table.rows[order], starts)
    positive_rows = segment_sums(table.positive_rows[order], starts)
    if isinstance(table, GridTable) or table.weights is None:
        return ScoreTable(moved[starts[:-1]], rows, positive_rows)
    sums = [segment_sums(column[order], starts) for column in table.weights.columns]
    return ScoreTable(moved[starts[:-1]], rows, positive_rows, WeightColumns(*sums))
