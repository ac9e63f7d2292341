"""
Where the greatest convex minorant of a cumulative sum diagram bends, in exact arithmetic.

The points of a diagram are (rows, rows with label 1) up to each entry. Between bends lie the blocks of an
isotonic fit.

References:
    Barlow, Bartholomew, Bremner & Brunk (1972), Statistical Inference under Order Restrictions, section 1.2.
    Barber, Dobkin & Huhdanpaa (1996), ACM Trans. Math. Softw. 22(4), for hulls by the farthest points.
"""

import math

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats, Integers, run_starts

Places = npt.NDArray[np.intp]

# Slopes are compared by cross products of two numbers of rows, which 64 bits hold up to here.
MOST_ROWS = math.isqrt(2**63 - 1)
# Of a long diagram every so manieth point is looked at first, and as many as this one after the other.
_STRIDE = 512
_FEW = 4_096
# Points looked at together, so that memory does not follow their number.
_CHUNK = 1 << 18
_MOST_CORNERS = 50_000


def bends(rows: Integers, positive_rows: Integers) -> Places:
    """
    Return where the minorant bends.

    Points that are not below a path through some of the points are not below the minorant either, and so
    cannot be where it bends: they are left out, and the path is led through the lowest of the others, until
    few are left.

    Args:
        rows: Number of rows of each entry, above 0, shape (n,).

        positive_rows: How many of them have label 1.

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
        path = _lower_hull(_joined(path, left[_deepest(depth, sizes)]), x, y)
        depth = _above(x[left], y[left], ends=(x[path], y[path]), sizes=_sizes(left, path))
        left = left[depth < 0]
    return _lower_hull(_joined(path, left), x, y)


def pooled_starts(weight: Floats, positive: Floats) -> Places:
    """Return where scipy's blocks start, shape (n_blocks + 1,); right but for the rounding of its means."""
    from scipy.optimize import isotonic_regression

    found = isotonic_regression(positive / weight, weights=weight)
    return np.asarray(found.blocks, dtype=np.intp)


def diagram(counts: Integers) -> Integers:
    """Return the sums of counts up to each entry, from 0, shape (n + 1,)."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))


def below_chords(
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
    return np.less(_above(x, y, ends=ends, sizes=sizes), 0)


def _above(x: Integers, y: Integers, *, ends: tuple[Integers, Integers], sizes: Places) -> Integers:
    """Return how far points lie above the chords of their blocks, times the width of the chord."""
    width, height = np.diff(ends[0]), np.diff(ends[1])
    line = ends[1][:-1] * width - ends[0][:-1] * height
    # What is returned is the difference of two products from 0 to 2^63; sums on the way may wrap around.
    side: Integers = y * np.repeat(width, sizes)
    side -= x * np.repeat(height, sizes)
    side -= np.repeat(line, sizes)
    return side


def _below(x: Integers, y: Integers, path: Places) -> Places:
    """Return the points below a path."""
    found = []
    for start in range(0, x.size, _CHUNK):
        near = slice(start, min(start + _CHUNK, x.size - 1))
        sizes = np.diff(np.clip(path, near.start, near.stop)).astype(np.intp)
        above = _above(x[near], y[near], ends=(x[path], y[path]), sizes=sizes)
        found.append(np.flatnonzero(above < 0) + start)
    return np.concatenate(found)


def _sizes(points: Places, path: Places) -> Places:
    """Return how many of the ascending points lie in each block of a path."""
    return np.diff(np.searchsorted(points, path))


def _deepest(depth: Integers, sizes: Places) -> Places:
    """Return the positions of the lowest points of every block that has points."""
    sizes = sizes[sizes > 0]
    lowest = np.minimum.reduceat(depth, np.cumsum(sizes) - sizes)
    return np.flatnonzero(depth == np.repeat(lowest, sizes))


def _joined(path: Places, more: Places) -> Places:
    """Return the places in either, ascending: numpy's own union imports masked arrays."""
    places = np.sort(np.concatenate((path, more)))
    return places[run_starts(places)]


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
