"""Natural cubic splines: twice smooth through given points, and straight outside them."""

import numpy as np

from calibcli.table.score_table import Floats


def natural(z: Floats, knots: Floats, *, values: Floats) -> Floats:
    """
    Return natural cubic splines with the same knots, shape (m, n).

    Args:
        z: Where, shape (n,).

        knots: Strictly ascending, shape (k,), at least two.

        values: What each spline is there, shape (m, k).

    References:
        De Boor (2001), A Practical Guide to Splines, chapter IV.
    """
    inside = np.clip(z, knots[0], knots[-1])
    left = np.zeros(z.size, np.intp)
    for knot in knots[1:-1]:
        left += inside >= knot
    width = np.diff(knots)
    after = (inside - knots.take(left)) / width.take(left)
    before = (knots[1:].take(left) - inside) / width.take(left)
    sixth = (width * width / 6.0).take(left)
    first, second = before * (before * before - 1.0) * sixth, after * (after * after - 1.0) * sixth
    # Both are 0 inside.
    below, above = np.minimum(z - knots[0], 0.0), np.maximum(z - knots[-1], 0.0)
    found = np.empty((values.shape[0], z.size))
    for row, level in enumerate(values):
        bends, slopes = bends_at_knots(knots, level), slopes_at_knots(knots, level)
        np.multiply(before, level.take(left), out=found[row])
        found[row] += after * level[1:].take(left)
        found[row] += first * bends.take(left) + second * bends[1:].take(left)
        found[row] += slopes[0] * below + slopes[-1] * above
    return found


def slopes_at_knots(knots: Floats, values: Floats) -> Floats:
    """Return the first derivative of the spline at each knot."""
    bends, width = bends_at_knots(knots, values), np.diff(knots)
    rise = np.diff(values) / width
    from_right = rise - width / 6.0 * (2.0 * bends[:-1] + bends[1:])
    last = rise[-1] + width[-1] / 6.0 * (bends[-2] + 2.0 * bends[-1])
    return np.append(from_right, last)


def falls(knots: Floats, values: Floats) -> bool:
    """Whether the spline falls anywhere; its slope is a parabola between knots, least at one or a vertex."""
    bends, slopes = bends_at_knots(knots, values), slopes_at_knots(knots, values)
    left, right = bends[:-1], bends[1:]
    dips = (left < 0.0) & (right > 0.0)
    # Where the bend crosses 0 after a share of the way, the slope has lost bend times half of that way.
    way = np.diff(knots) * left / np.where(dips, left - right, 1.0)
    least = np.where(dips, slopes[:-1] + left * way / 2.0, slopes[:-1])
    return bool(min(float(least.min()), float(slopes[-1])) < 0.0)


def bends_at_knots(knots: Floats, values: Floats) -> Floats:
    """Return the second derivative at each knot, 0 at the first and the last."""
    bends = np.zeros(knots.size)
    inner = knots.size - 2
    if inner:
        width = np.diff(knots)
        rise = np.diff(values) / width
        system = np.diag((width[:-1] + width[1:]) / 3.0)
        for i in range(inner - 1):
            system[i, i + 1] = system[i + 1, i] = width[i + 1] / 6.0
        bends[1:-1] = np.linalg.solve(system, np.diff(rise))
    return bends
