"""Sums of doubles without rounding: every order, shard and number of workers gives the same bits."""

from fractions import Fraction
from typing import Self

import numpy as np

from calibcli.table.score_table import Floats, Integers

# A finite double is a whole number below 2^53 times a power of 2; these are the powers there are, as
# numpy's frexp counts them.
_LEAST_EXPONENT = -1073
_EXPONENTS = 1024 - _LEAST_EXPONENT + 1
_DIGITS = 53
_HALF = 27
# Splits a double into halves whose products are exact.
_SPLITTER = float((1 << _HALF) + 1)


class ExactSum:
    """
    The sum of any finite doubles, kept as whole numbers by exponent.

    Good for 2^36 additions; the memory is the same for any number of them.

    References:
        Kulisch & Miranker (1986), SIAM Review 28, on long accumulators; Dekker (1971), Numerische
        Mathematik 18, on products.
    """

    __slots__ = ("_high", "_low")

    def __init__(self) -> None:
        self._high = np.zeros(_EXPONENTS, np.int64)
        self._low = np.zeros(_EXPONENTS, np.int64)

    def add(self, values: Floats) -> None:
        """Add values, finite, shape (n,)."""
        mantissa, exponent = np.frexp(values)
        digits = np.ldexp(mantissa, _DIGITS).astype(np.int64)
        place = exponent - _LEAST_EXPONENT
        np.add.at(self._high, place, digits >> _HALF)
        np.add.at(self._low, place, digits & ((1 << _HALF) - 1))

    def add_repeated(self, values: Floats, counts: Integers) -> None:
        """
        Add each value so many times.

        Args:
            values: Finite, shape (n,); of size 1e-290 to 1e290, or 0.

            counts: Below 2^53, shape (n,).
        """
        times = counts.astype(np.float64)
        product = values * times
        self.add(product)
        self.add(_lost(values, times, product))

    def merge(self, other: Self) -> None:
        """Add everything that another sum holds."""
        self._high += other._high
        self._low += other._low

    def exact(self) -> Fraction:
        """Return the sum as it is."""
        total = 0
        # Every exponent is at least the least one, so that whole numbers do.
        for place in np.flatnonzero(self._high | self._low).tolist():
            digits = (int(self._high[place]) << _HALF) + int(self._low[place])
            total += digits << place
        return Fraction(total) / (1 << (_DIGITS - _LEAST_EXPONENT))


def _lost(left: Floats, right: Floats, product: Floats) -> Floats:
    """Return what rounding took from a product."""
    left_high, left_low = _halves(left)
    right_high, right_low = _halves(right)
    error = left_high * right_high - product
    error += left_high * right_low
    error += left_low * right_high
    return error + left_low * right_low


def _halves(values: Floats) -> tuple[Floats, Floats]:
    spread = values * _SPLITTER
    high = spread - (spread - values)
    return high, values - high
