"""How many of some ascending points are at most a score: a table of where to look beats halving."""

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats

_BITS = 16
# Rows worked on at once: they fit the processor's cache.
_CHUNK = 1 << 14
# Fewer rows are not worth a table, and nor are so many points that drawers hold several.
_FEW_ROWS = 1 << 14
_MANY_POINTS = 1 << 14


def ranks(points: Floats, score: Floats) -> npt.NDArray[np.intp]:
    """
    Return the number of points at most each score: what `numpy.searchsorted` says on the right.

    Args:
        points: Ascending, shape (n_points,).

        score: In [0, 1], shape (n,).
    """
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
