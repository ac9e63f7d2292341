"""Isotonic regression after one more row: what Venn-Abers asks of every place that a new score can take."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from calibcli.recalibrators.minorant import MOST_ROWS, Places, bends
from calibcli.table.score_table import Floats, Integers


def levels_with_one_more(rows: Integers, positive_rows: Integers) -> tuple[Floats, Floats]:
    """
    Return the isotonic level of every score after one row is added to it, first with label 0, then with 1.

    A row of label 1 below a score is pooled with it, and one of label 0 with the score below it. So
    between two neighbouring scores the level with label 0 is that of the lower one, and with label 1 that of
    the upper one; below all scores label 0 gets level 0, above them label 1 gets 1.

    Args:
        rows: Number of rows at each distinct score, ascending by score, above 0, shape (n,).

        positive_rows: How many of them have label 1.

    Returns:
        Two non-decreasing columns of shape (n,), the first nowhere above the second.

    References:
        Vovk, Petej & Fedorova (2015), NIPS, section 3, for the definition. Found here in O(n log n) from the
        greatest convex minorant of the cumulative sums: a row of label 1 raises its level, so the block that
        takes it in ends at a corner of the minorant behind it.
    """
    corners = bends(rows, positive_rows)
    rise, run = _lines(rows, positive_rows, corners)
    upper = np.maximum.accumulate(rise / run)
    # With scores and labels turned round, label 0 is label 1.
    fall, run = _lines(rows[::-1], (rows - positive_rows)[::-1], rows.size - corners[::-1])
    lower = np.minimum.accumulate((run - fall) / run)[::-1]
    return lower, upper


def _lines(rows: Integers, positive_rows: Integers, corners: Places) -> tuple[Integers, Integers]:
    """
    Return the lowest line from each point of the cumulative sums to a corner behind it, with label 1 added.

    The level of a score with the added row is the steepest of these lines from the points before it.

    Returns:
        Rise and run of each line, shape (n,).
    """
    x, y = (np.concatenate(([0], np.cumsum(column))) for column in (rows, positive_rows))
    if x[-1] >= MOST_ROWS:
        x, y = x.astype(np.float64), y.astype(np.float64)
    blocks = corners.size - 1
    start = np.repeat(np.arange(1, blocks + 1), np.diff(corners))
    # Behind the last corner the way is up.
    width, height = np.append(np.diff(x[corners]), 0), np.append(np.diff(y[corners]), 1)
    # The added row comes before every corner that a line can end at.
    corner_x, corner_y = x[corners] + 1, y[corners] + 1

    def next_is_below(corner: Places, point: Places) -> npt.NDArray[np.bool_]:
        """Whether the line from a point to this corner passes above the next corner."""
        rise, run = corner_y[corner] - y[point], corner_x[corner] - x[point]
        return np.asarray(rise * width[corner] > height[corner] * run)

    best = _first_not(next_is_below, start, last=blocks)
    return corner_y[best] - y[:-1], corner_x[best] - x[:-1]


def _first_not(
    holds: Callable[[Places, Places], npt.NDArray[np.bool_]], start: Places, *, last: int
) -> Places:
    """
    Return for each point the first place at which something no longer holds; steps double, then halve.

    Args:
        holds: From places and points to whether it holds there; once it does not, it never does again.

        start: The first place of each point.

        last: A place at which it holds for none.
    """
    low, high = start.copy(), np.full_like(start, last)
    undecided, stride = np.arange(start.size), 1
    while undecided.size:
        probe = np.minimum(low[undecided] + (stride - 1), last)
        still = holds(probe, undecided)
        high[undecided[~still]] = probe[~still]
        undecided, stride = undecided[still], 2 * stride
        low[undecided] = probe[still] + 1
    undecided = np.flatnonzero(low < high)
    while undecided.size:
        probe = (low[undecided] + high[undecided]) // 2
        still = holds(probe, undecided)
        low[undecided[still]] = probe[still] + 1
        high[undecided[~still]] = probe[~still]
        undecided = undecided[low[undecided] < high[undecided]]
    return low
