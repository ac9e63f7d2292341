"""Bounds of a weighted sum of two shares of the same rows, each a binomial share by itself."""

import numpy as np

from calibcli.bounds.proportion import clopper_pearson
from calibcli.bounds.special import Floats

TWO_SHARES = "Clopper-Pearson bounds of both kinds of error, combined (MOVER)"


def bounds_of_two_shares(
    first: Floats, second: Floats, *, rows: float, factors: tuple[Floats, Floats], confidence: float
) -> tuple[Floats, Floats]:
    """
    Return bounds of a p + b q, where no row counts for both p and q.

    The distances of the estimate from the bounds of each share are added as standard deviations are: by
    squares. Shares of the same rows have the correlation -sqrt(p q / ((1 - p) (1 - q))), which is heeded
    where it makes the interval wider, for factors of unlike sign, and left out where it would make it
    narrower. Where one of the factors is 0 these are the bounds of Clopper and Pearson. Coverage is not
    proved for the sum; that it is kept from 20 rows on is simulated in `tests/claims`.

    Args:
        first: Number of rows that count for p, shape (n,).

        second: Number of rows that count for q, shape (n,).

        rows: Number of rows in all, at least 1.

        factors: a and b, shapes (n,), of any sign.

        confidence: Of the two-sided interval at each single place, in (0, 1).

    References:
        Zou & Donner (2008), Stat. Med. 27, for the method of variance estimates recovery, with correlation.
    """
    shares, lower, upper = _shares(first, second, rows=rows, confidence=confidence)
    rising = np.stack(factors) >= 0.0
    size = np.abs(np.stack(factors))
    below = size * np.where(rising, shares - lower, upper - shares)
    above = size * np.where(rising, upper - shares, shares - lower)
    rest = (1.0 - shares[0]) * (1.0 - shares[1])
    together = np.sqrt(shares[0] * shares[1] / np.where(rest > 0.0, rest, 1.0))
    together = np.where(rising[0] == rising[1], 0.0, np.minimum(together, 1.0))
    value = factors[0] * shares[0] + factors[1] * shares[1]
    return value - _length(below, together), value + _length(above, together)


def _shares(
    first: Floats, second: Floats, *, rows: float, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """Return both shares with their bounds, shapes (2, n); equal counts are worked out once."""
    counts, place = np.unique(np.concatenate((first, second)), return_inverse=True)
    ends = clopper_pearson(counts, np.full_like(counts, rows), delta_each_side=(1.0 - confidence) / 2.0)
    shape = (2, first.size)
    share, lower, upper = (column[place].reshape(shape) for column in (counts / rows, *ends))
    return share, lower, upper


def _length(parts: Floats, together: Floats) -> Floats:
    square = parts[0] ** 2 + parts[1] ** 2 + 2.0 * together * parts[0] * parts[1]
    return np.asarray(np.sqrt(np.maximum(square, 0.0)))
