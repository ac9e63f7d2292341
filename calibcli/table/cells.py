"""
The cells of a grid table: a fixed partition of [0, 1] that every usual set of bins nests.

0 and 1 are cells of their own. Between them lie 720,720 equal cells, the least common multiple of 1 to 16,
closed on the right. The first and the last of these are split further, each octave into 32 parts, because
there the log loss of a score is not settled by its first six digits.
"""

import numpy as np
import numpy.typing as npt

CELLS = 720_720
WIDTH = 1.0 / CELLS
# Edges are rounded by less than this leaves.
_NEARLY_WIDTH = WIDTH * (1.0 - 2.0**-30)
# A double's bits shifted so far right leave its exponent and five bits of its mantissa: 32 parts an octave.
_SHIFT = np.uint64(47)
_STEP = np.uint64(1) << _SHIFT
_PARTS = int(np.float64(WIDTH).view(np.uint64) >> _SHIFT) + 1
_FIRST_MAIN = 1 + _PARTS
_FIRST_HIGH = _FIRST_MAIN + CELLS - 2
CODES = _FIRST_HIGH + _PARTS + 1


def cell_of(score: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """
    Return the code of each score's cell; codes ascend with the score.

    Args:
        score: Shape (n,), in [0, 1].
    """
    return cell_and_edge(score)[0]


def cell_and_edge(
    score: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """
    Return the code of each score's cell, and what `upper_edge` says of it.

    Args:
        score: Shape (n,), in [0, 1].
    """
    nearest, edge = _nearest(score)
    code = nearest.astype(np.int64)
    code += _FIRST_MAIN - 2
    if score.size and (nearest.min() <= 1.0 or nearest.max() == CELLS):
        outer = np.flatnonzero((nearest <= 1.0) | (nearest == CELLS))
        code[outer] = _outer_code(score[outer], low=nearest[outer] <= 1.0)
        edge[outer] = upper_edge(code[outer])
    return code, edge


def _nearest(score: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the number of each score's equal cell, from 1 and 0 for the score 0, and its right edge."""
    nearest = score * CELLS
    np.ceil(nearest, out=nearest)
    edge = nearest / CELLS
    below = edge - score
    # The product is rounded: near edges, compare with the edges themselves, as bins do.
    if score.size and (below.min() < 0.0 or below.max() > _NEARLY_WIDTH):
        unsure = np.flatnonzero((below < 0.0) | (below > _NEARLY_WIDTH))
        some, number = score[unsure], nearest[unsure]
        number += some > number / CELLS
        number -= some <= (number - 1.0) / CELLS
        nearest[unsure], edge[unsure] = number, number / CELLS
    return nearest, edge


def _outer_code(score: npt.NDArray[np.float64], *, low: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the code of scores in the first or the last of the equal cells, both of which are split."""
    part = _low_code(np.where(low, score, 1.0 - score))
    return np.where(low, part, CODES - 1 - part)


def upper_edge(code: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the largest score that a cell can hold; sums in the cell are kept relative to it."""
    edge = (code - (_FIRST_MAIN - 2)) / CELLS
    low = np.flatnonzero(code < _FIRST_MAIN)
    if low.size:
        edge[low] = _part_top(code[low])
    high = np.flatnonzero(code >= _FIRST_HIGH)
    if high.size:
        edge[high] = 1.0 - _part_bottom(CODES - 1 - code[high])
    return edge


def _low_code(distance: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the part of (0, WIDTH] counted from 0, with 0 for a distance of exactly 0."""
    part = 1 + (distance.view(np.uint64) >> _SHIFT).astype(np.int64)
    return np.where(distance == 0.0, 0, part)


def _part_bottom(part: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the smallest distance in a part."""
    bits = np.maximum(part - 1, 0).astype(np.uint64) << _SHIFT
    return bits.view(np.float64)


def _part_top(part: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Return the largest distance in a part that lies in (0, WIDTH]."""
    bits = np.maximum(part - 1, 0).astype(np.uint64) << _SHIFT
    top = np.minimum((bits + (_STEP - np.uint64(1))).view(np.float64), WIDTH)
    return np.where(part == 0, 0.0, top)
