"""
The laws of the largest excursion and of the range of a Brownian motion on [0, 1].

They are the limits of the Kolmogorov-Smirnov and Kuiper statistics of calibration. Each has two series: one
for small arguments, which gives the distribution function, and one for large, which gives the tail. The side
that is small is always the one computed, so tails keep their digits.

References:
    Feller (1951), Ann. Math. Statist. 22, for the range; Tygert (2023) for their use with calibration.
"""

import math
from fractions import Fraction


def excursion_tail(x: float) -> float:
    """Return P(max |B| > x)."""
    return _excursion_far(x) if x >= 1.2 else 1.0 - _excursion_near(x)


def excursion_cdf(x: float) -> float:
    """Return P(max |B| <= x)."""
    return 1.0 - _excursion_far(x) if x >= 1.2 else _excursion_near(x)


def range_tail(r: float) -> float:
    """Return P(max B - min B > r)."""
    return _range_far(r) if r >= 2.0 else 1.0 - _range_near(r)


def range_cdf(r: float) -> float:
    """Return P(max B - min B <= r)."""
    return 1.0 - _range_far(r) if r >= 2.0 else _range_near(r)


def normal_tail(z: float) -> float:
    """Return P(Z > z) of the standard normal law, accurate far out."""
    t = z / math.sqrt(2.0)
    tail = 0.5 * math.erfc(t)
    if z < _FAR or tail == 0.0:
        return tail
    # Rounding of t moves t^2, and with it the logarithm of the tail.
    moved = float(Fraction(z) ** 2 / 2 - Fraction(t) ** 2)
    return tail * (1.0 - moved * (1.0 + 0.5 / (t * t)))


# Below this both laws are 0 in double precision, and their series divide by squares that vanish.
_NOTHING = 0.03
# From here on the rounding of z / sqrt(2) would cost the normal tail digits.
_FAR = 10.0


def _excursion_near(x: float) -> float:
    if x <= _NOTHING:
        return 0.0
    scale = math.pi**2 / (8.0 * x * x)
    terms = ((-1) ** k / (2 * k + 1) * math.exp(-((2 * k + 1) ** 2) * scale) for k in range(6))
    return 4.0 / math.pi * math.fsum(terms)


def _excursion_far(x: float) -> float:
    return 4.0 * math.fsum((-1) ** k * normal_tail((2 * k + 1) * x) for k in range(12))


def _range_near(r: float) -> float:
    if r <= _NOTHING:
        return 0.0
    points = ((2 * j + 1) * math.pi for j in range(8))
    return 8.0 * math.fsum((1 / r**2 + 1 / a**2) * math.exp(-a * a / (2 * r * r)) for a in points)


def _range_far(r: float) -> float:
    return 8.0 * math.fsum((-1) ** (k - 1) * k * normal_tail(k * r) for k in range(1, 24))
