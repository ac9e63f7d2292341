"""A natural cubic spline as the coefficients of its pieces."""

import numpy as np

from calibcli.recalibrators.natural import bends_at_knots, slopes_at_knots
from calibcli.table.score_table import Floats


def spline(knots: Floats, values: Floats) -> tuple[tuple[float, ...], Floats]:
    """
    Return the cuts between pieces, and each piece by the powers of the way from a knot.

    Args:
        knots: Strictly ascending, shape (k,), at least two.

        values: What the spline is there, shape (k,).

    Returns:
        The knots; and the coefficients, shape (k + 1, 4): of the line below the first knot, about that knot,
        then of each piece about the knot it begins at, the last a line again.

    References:
        De Boor (2001), A Practical Guide to Splines, chapter IV.
    """
    slopes, bends = slopes_at_knots(knots, values), bends_at_knots(knots, values)
    turns = np.append(np.diff(bends) / (6.0 * np.diff(knots)), 0.0)
    pieces = np.column_stack((values, slopes, bends / 2.0, turns))
    first, last = pieces[:1].copy(), pieces[-1:]
    for line in (first, last):
        line[:, 2:] = 0.0
    return tuple(knots.tolist()), np.concatenate((first, pieces[:-1], last))


def turning_points(knots: Floats, values: Floats) -> Floats:
    """Return the knots and where the spline turns round, ascending: between them it is monotone."""
    _, coefficients = spline(knots, values)
    found = [knots]
    for about, (_, slope, bend, turn) in zip(knots, coefficients[1:].tolist(), strict=True):
        roots = np.roots([3.0 * turn, 2.0 * bend, slope]) if turn or bend else np.zeros(0)
        found.append(about + roots.real[np.isreal(roots)])
    return np.unique(np.concatenate(found))
