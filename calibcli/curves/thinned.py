"""A path with no more points than a picture can show."""

import numpy as np
import numpy.typing as npt

from calibcli.table.score_table import Floats, run_starts

Places = npt.NDArray[np.intp]

PARTS = 1_024


def thinned(x: Floats, y: Floats, *, parts: int = PARTS) -> Places:
    """
    Return which points to keep: of each part of the range of x the first, last, lowest and highest.

    So ends and extremes stay exact, and a line through what is kept covers what a line through all would.

    Args:
        x: Non-decreasing, shape (n,); at least one.

        y: Shape (n,).

        parts: Into how many equal parts the range is cut.
    """
    if x.size <= 4 * parts or not x[-1] > x[0]:
        return np.arange(x.size)
    part = np.minimum(((x - x[0]) * (parts / (x[-1] - x[0]))).astype(np.int64), parts - 1)
    starts = run_starts(part)
    ends = np.append(starts[1:], x.size) - 1
    extremes = [_first_equal(y, part, one.reduceat(y, starts)) for one in (np.minimum, np.maximum)]
    return np.unique(np.concatenate((starts, ends, *extremes)))


def _first_equal(y: Floats, part: npt.NDArray[np.int64], extreme: Floats) -> Places:
    """Return where in each occupied part its extreme is first met."""
    number = np.cumsum(np.concatenate(([0], part[1:] != part[:-1])))
    met = np.flatnonzero(y == extreme[number])
    return met[run_starts(number[met])]
