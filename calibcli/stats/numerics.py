"""Numbers without scipy, which takes 200 ms to import: special functions, roots, sums, streams."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Self

import numpy as np
import numpy.typing as npt

from calibcli.names import Purpose

# The arrays of the house; tables hand them on with their columns.
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

# Where a and b are both at least this they are near enough to the normal law to integrate. Where one alone is
# far above it the continued fraction loses digits on its side, and the binomial terms are added up.
_QUADRATURE_LIMIT = 2_000.0

_FRACTION_LIMIT = 20_000.0

# So few numbers are added up faster one by one than as an array.
_FEW = 12

# Of more numbers the levels of a fraction are worked out one after the other, so that they stay in the cache.
_BY_LEVEL = 500


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile of a probability in (0, 1)."""
    return NormalDist().inv_cdf(probability)


def skewed_quantile(z: float, skew: float) -> float:
    """Return the quantile of a gamma variable of mean 0, variance 1 and a skewness, where a normal one has z.

    References:
        Wilson & Hilferty (1931), PNAS 17: the cube root of a gamma variable is as good as normal.
    """
    if abs(skew) < 1e-6:
        return z
    root = 1.0 + skew * z / 6.0 - skew**2 / 36.0
    return 2.0 / skew * (max(root, 0.0) ** 3 - 1.0)


def incomplete_beta(
    a: Floats, b: Floats, x: Floats, *, log_betas: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Return the regularised incomplete beta function I_x(a, b) and its complement, both small ones accurate.

    References:
        DLMF 8.17.22, evaluated on the side where it converges fast; Gauss-Legendre quadrature
        where both arguments are large.
    """
    small, large = np.empty_like(x), np.empty_like(x)
    integrated = np.minimum(a, b) >= _QUADRATURE_LIMIT
    near = ~integrated
    # At 0 and 1 a logarithm is infinite, and the density 0.
    with np.errstate(divide="ignore"):
        if integrated.any():
            far = a[integrated], b[integrated], x[integrated]
            small[integrated], large[integrated] = _by_quadrature(*far)
        if near.any():
            both = log_betas or _log_betas(a, b)
            logs = both[0][near], both[1][near]
            small[near], large[near] = _by_fraction(a[near], b[near], x[near], logs)
    return small, large


def _by_fraction(a: Floats, b: Floats, x: Floats, log_betas: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    swap = x > (a + 1.0) / (a + b + 2.0)
    p, q = np.where(swap, b, a), np.where(swap, a, b)
    t = np.where(swap, 1.0 - x, x)
    log_front = a * np.log(x) + b * np.log1p(-x) - np.where(swap, log_betas[1], log_betas[0]) - np.log(p)
    part = np.exp(log_front) / _fraction(p, q, t)
    for one in np.flatnonzero((p > _FRACTION_LIMIT) & (q == np.floor(q))):
        rest = x[one] if swap[one] else 1.0 - x[one]
        part[one] = math.exp(log_front[one]) / rest * _terms(p[one], q[one], t[one] / rest)
    return np.where(swap, 1.0 - part, part), np.where(swap, part, 1.0 - part)


# Quantiles below it are as good as 0.
_NOTHING = 1e-300


def beta_quantile(probability: float | Floats, a: Floats, b: Floats) -> Floats:
    """Return the x with I_x(a, b) = probability, by Halley's steps kept inside a shrinking bracket."""
    if a.size == 0:
        return np.zeros_like(a)
    # Next to 1 it would have few digits left of its distance from there.
    turned = (np.asarray(probability) > 0.5) & (b < 1.0)
    if turned.any():
        rest = np.where(turned, 1.0 - np.asarray(probability), probability)
        found = beta_quantile(rest, np.where(turned, b, a), np.where(turned, a, b))
        return np.where(turned, 1.0 - found, found)
    low, high = np.zeros_like(a), np.ones_like(a)
    mean = a / (a + b)
    spread = np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    requested, which = np.unique(probability, return_inverse=True)
    # Only a place to start from, so a probability that is 1 after rounding may be the one before it.
    ahead = np.array([normal_quantile(min(one, 1.0 - 2.0**-53)) for one in requested.tolist()])[which]
    x = np.clip(mean + ahead * spread, 0.1 * mean, 1.0 - 0.1 * (1.0 - mean))
    lower_tail = np.asarray(probability) <= 0.5
    log_betas = _log_betas(a, b)
    # Of next to no rows, as effective ones may be, it lies far below what halving comes down to.
    least = lower_tail & (a < 1.0)
    if least.any():
        with np.errstate(over="ignore", under="ignore"):
            power = np.exp((np.log(probability) + np.log(a) + log_betas[0]) / a)
        x = np.where(least, np.clip(power, _NOTHING, x), x)
    for _ in range(100):
        below, above = incomplete_beta(a, b, x, log_betas=log_betas)
        excess = np.where(lower_tail, below - probability, (1.0 - probability) - above)
        low, high = np.where(excess < 0, x, low), np.where(excess > 0, x, high)
        with np.errstate(all="ignore"):
            log_density = (a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - log_betas[0]
            newton = excess / np.exp(log_density)
            bend = newton * ((a - 1.0) / x - (b - 1.0) / (1.0 - x))
            step = x - newton / (1.0 - 0.5 * np.minimum(bend, 1.0))
        inside = (step >= low) & (step <= high)
        moved = np.where(excess == 0, x, np.where(inside, step, 0.5 * (low + high)))
        if np.all(np.abs(moved - x) <= 1e-13 * x + _NOTHING):
            return np.asarray(moved)
        x = moved
    return np.asarray(x)


def _log_betas(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return ln B(a, b) and ln B(b, a), with Stirling terms paired so that large arguments lose no digits.

    ln Gamma(a) = (a - 1/2) ln a - a + ln(2 pi)/2 + s(a), so that in ln B the large parts combine into
    logarithms of ratios. The two differ in rounding only: the last digits of each side of a quantile.
    """
    of_a, of_b, of_both = _stirling(np.stack((a, b, a + b)))
    shift = of_a + of_b - of_both
    share, other = _log_share(a, b), _log_share(b, a)
    half = 0.5 * np.log(2.0 * np.pi)
    return (
        (a - 0.5) * share + b * other - 0.5 * np.log(b) + half + shift,
        (b - 0.5) * other + a * share - 0.5 * np.log(a) + half + shift,
    )


def _log_share(part: Floats, rest: Floats) -> Floats:
    """Return ln(part / (part + rest)), without loss of digits where the share is near 0 or 1."""
    total = part + rest
    # Of the two the one that is not taken may be infinite.
    with np.errstate(divide="ignore"):
        return np.where(part < rest, np.log(part / total), np.log1p(-rest / total))


def _stirling(a: Floats) -> Floats:
    """Return ln Gamma(a) minus Stirling's leading terms, by recursion up to 10 and the asymptotic series."""
    total = np.zeros_like(a)
    while np.any(a < 10.0):
        # s(a) = s(a + 1) + (a + 1/2) ln(1 + 1/a) - 1.
        step = a < 10.0
        total = np.where(step, total + (a + 0.5) * np.log1p(1.0 / a) - 1.0, total)
        a = np.where(step, a + 1.0, a)
    z = 1.0 / (a * a)
    terms = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
    series = np.zeros_like(a)
    for term in reversed(terms):
        series = series * z + term
    return np.asarray(total + series / a)


def _fraction(p: Floats, q: Floats, t: Floats) -> Floats:
    """Return the denominator of the incomplete beta function's continued fraction, from the tail inwards."""
    # However large the other, the smaller of the two says how many levels matter.
    depth = 20 + int(2.0 * np.sqrt(2.0 * float(np.max(np.minimum(p, q)))))
    if t.size > _BY_LEVEL:
        value = np.ones_like(t)
        for level in range(depth - 1, -1, -1):
            first, second = _level(p, q, t, level)
            value = 1.0 + first / (1.0 + second / value)
        return value
    odd, even = _level(p, q, t, np.arange(depth)[:, None])
    if t.size <= _FEW:
        return np.array([_folded(*column) for column in zip(odd.T.tolist(), even.T.tolist(), strict=True)])
    value = np.ones_like(t)
    for level in range(depth - 1, -1, -1):
        value = 1.0 + odd[level] / (1.0 + even[level] / value)
    return value


def _level(p: Floats, q: Floats, t: Floats, m: int | npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the coefficients 2 m + 1 and 2 m + 2 of the continued fraction."""
    odd = -(p + m) * (p + q + m) * t / ((p + 2 * m) * (p + 2 * m + 1))
    m = m + 1
    return odd, m * (q - m) * t / ((p + 2 * m - 1) * (p + 2 * m))


def _folded(odd: list[float], even: list[float]) -> float:
    """Return what a continued fraction of these levels comes to, by the steps that arrays would take."""
    value = 1.0
    for one, other in zip(reversed(odd), reversed(even), strict=True):
        value = 1.0 + one / (1.0 + other / value)
    return value


def _terms(p: float, q: float, odds: float) -> float:
    """Return the sum of binomial terms over fewer than q of p + q - 1, in units of the last of them."""
    k = np.arange(q - 1.0, 0.0, -1.0)
    return 1.0 + float(np.cumprod(k / (p + q - k) * odds).sum())


def _by_quadrature(a: Floats, b: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Integrate the density on both sides of x, as far as it matters there."""
    mean = a / (a + b)
    spread = np.sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    # The density is cut ten spreads from its middle, or from x where x lies farther out. Between the two is
    # next to nothing, and the middle must not be lost between the nodes of a stretch so long.
    low, high = mean - 10.0 * spread, mean + 10.0 * spread
    start = np.maximum(np.minimum(x - 10.0 * spread, low), 0.0)
    stop = np.minimum(np.maximum(x + 10.0 * spread, high), 1.0)
    below = _mass_between(a, b, start, np.minimum(x, high))
    above = _mass_between(a, b, np.maximum(x, low), stop)
    return below / (below + above), above / (below + above)


def _mass_between(a: Floats, b: Floats, start: Floats, stop: Floats) -> Floats:
    """Return the integral of the beta density, up to a factor that depends on (a, b) only."""
    half = 0.5 * (stop - start)
    nodes, weights = _gauss_legendre()
    t = (start + half)[:, None] + half[:, None] * nodes
    mode = ((a - 1.0) / (a + b - 2.0))[:, None]
    away = t - mode
    rise = (a - 1.0)[:, None] * np.log1p(away / mode)
    fall = (b - 1.0)[:, None] * np.log1p(-away / (1.0 - mode))
    return np.asarray(half * (np.exp(rise + fall) * weights).sum(axis=1))


def chi_squared_tail(x: float, degrees: int) -> float:
    """Return P(X > x) of the chi-squared law with a whole number of degrees of freedom, accurate far out.

    References:
        DLMF 8.4.10 and 8.8.2: a finite sum of positive terms, after exp(-x/2) or erfc(sqrt(x/2)).
    """
    half, odd = 0.5 * x, degrees % 2
    if half <= 0.0:
        return 1.0
    if math.isinf(half):
        return 0.0
    powers = (j + 0.5 * odd for j in range(degrees // 2))
    terms = [math.exp(s * math.log(half) - half - math.lgamma(s + 1.0)) for s in powers]
    return min(1.0, math.fsum([*terms, math.erfc(math.sqrt(half)) if odd else 0.0]))


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    """Return 64 nodes and weights; when needed, as numpy.polynomial takes as long to import as the rest."""
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return nodes, weights


def summed_products(one: Floats, other: Floats) -> float:
    """Return sum_i a_i b_i in one order, where a product of vectors is rounded by its number of threads."""
    return float((one * other).sum())


def crossing(
    rises: Callable[[float], float], low: float, high: float, *, within: float = 1e-9
) -> tuple[float, float]:
    """Enclose the point where an increasing function changes sign, to `within`.

    An end is returned twice if the function is not negative at the low one, or not positive at the high one.
    """
    at_low, at_high = rises(low), rises(high)
    if at_low >= 0.0:
        return low, low
    if at_high <= 0.0:
        return high, high
    # The Illinois variant of false position: an end that stays put counts half at the next turn. Where the
    # bracket is not halved in three turns, or a value is infinite, its middle is taken instead.
    turn, width, last = 0, high - low, 0
    while high - low > within and low < 0.5 * (low + high) < high:
        turn += 1
        middle = 0.5 * (low + high)
        if math.isfinite(at_low) and math.isfinite(at_high) and (turn % 3 or high - low <= 0.5 * width):
            middle = min(max(low - at_low * (high - low) / (at_high - at_low), low), high)
            # Never on an end, and never nearer to it than half of what is asked.
            middle = min(max(middle, low + 0.4 * within), high - 0.4 * within)
        if turn % 3 == 0:
            width = high - low
        value = rises(middle)
        side = -1 if value < 0.0 else 1
        if side < 0:
            low, at_low = middle, value
            at_high *= 0.5 if last == side else 1.0
        else:
            high, at_high = middle, value
            at_low *= 0.5 if last == side else 1.0
        last = side
    return low, high


def crossings(
    rises: Callable[[Floats], Floats], low: Floats, high: Floats, *, within: Floats
) -> tuple[Floats, Floats]:
    """Enclose the points where many increasing functions change sign, by the steps of `crossing`, at once."""
    at_low, at_high = rises(low), rises(high)
    high = np.where(at_low >= 0.0, low, high)
    low = np.where((at_low < 0.0) & (at_high <= 0.0), high, low)
    turn, width, last = 0, high - low, np.zeros(low.size)
    while np.any(wide := (high - low > within) & (low < 0.5 * (low + high)) & (0.5 * (low + high) < high)):
        turn += 1
        middle = 0.5 * (low + high)
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = low - at_low * (high - low) / (at_high - at_low)
        drawn = np.clip(drawn, low + 0.4 * within, high - 0.4 * within)
        finite = np.isfinite(at_low) & np.isfinite(at_high)
        middle = np.where(finite & ((turn % 3 != 0) | (high - low <= 0.5 * width)), drawn, middle)
        if turn % 3 == 0:
            width = high - low
        value = rises(middle)
        side = np.where(value < 0.0, -1.0, 1.0)
        left, right = wide & (side < 0.0), wide & (side > 0.0)
        at_high = np.where(left & (last == side), 0.5 * at_high, at_high)
        at_low = np.where(right & (last == side), 0.5 * at_low, at_low)
        low, at_low = np.where(left, middle, low), np.where(left, value, at_low)
        high, at_high = np.where(right, middle, high), np.where(right, value, at_high)
        last = side
    return low, high


# From here on five terms of the expansion are exact to ten digits.
_MANY = 1_000.0


@lru_cache(maxsize=256)
def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t.

    References:
        Abramowitz & Stegun 26.5.27 for the tail, 26.7.5 for many degrees of freedom.
    """
    z = normal_quantile(probability)
    if freedom >= _MANY:
        return _expanded(z, freedom)
    tail = 2.0 * (1.0 - probability)

    halves = np.array([0.5 * freedom]), np.array([0.5])
    log_betas = _log_betas(*halves)

    def beyond(t: float) -> float:
        share = np.array([freedom / (freedom + t * t)])
        return tail - float(incomplete_beta(*halves, share, log_betas=log_betas)[0][0])

    high = 2.0 * z
    while beyond(high) < 0.0:
        high *= 2.0
    return sum(crossing(beyond, z, high, within=1e-12 * high)) / 2.0


def _expanded(z: float, freedom: float) -> float:
    """Return the quantile as a normal one with corrections in powers of 1 / freedom."""
    terms = (
        z,
        (z**3 + z) / 4.0,
        (5.0 * z**5 + 16.0 * z**3 + 3.0 * z) / 96.0,
        (3.0 * z**7 + 19.0 * z**5 + 17.0 * z**3 - 15.0 * z) / 384.0,
        (79.0 * z**9 + 776.0 * z**7 + 1482.0 * z**5 - 1920.0 * z**3 - 945.0 * z) / 92160.0,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


# A finite double is a whole number below 2^53 times a power of 2; these are the powers there are, as
# numpy's frexp counts them.
_LEAST_EXPONENT = -1073

_EXPONENTS = 1024 - _LEAST_EXPONENT + 1

_DIGITS = 53

_HALF = 27

# Splits a double into halves whose products are exact.
_SPLITTER = float((1 << _HALF) + 1)


class ExactSum:
    """The sum of any finite doubles, kept as whole numbers by exponent.

    Good for 2^36 additions; the memory is that of the exponents met, for any number of them.

    References:
        Kulisch & Miranker (1986), SIAM Review 28, on long accumulators; Dekker (1971), Numerische
        Mathematik 18, on products.
    """

    __slots__ = ("_high", "_low", "_places")

    def __init__(self) -> None:
        self._places = self._high = self._low = np.zeros(0, np.int64)

    def add(self, values: Floats) -> None:
        """Add values, finite, shape (n,)."""
        mantissa, exponent = np.frexp(values)
        digits = np.ldexp(mantissa, _DIGITS).astype(np.int64)
        self._add_at(exponent - _LEAST_EXPONENT, digits >> _HALF, digits & ((1 << _HALF) - 1))

    def _add_at(self, places: Integers, high: Integers, low: Integers) -> None:
        sums = np.zeros((2, _EXPONENTS), np.int64)
        np.add.at(sums[0], places, high)
        np.add.at(sums[1], places, low)
        sums[0][self._places] += self._high
        sums[1][self._places] += self._low
        self._places = np.flatnonzero(sums[0] | sums[1])
        self._high, self._low = sums[0][self._places], sums[1][self._places]

    def add_repeated(self, values: Floats, counts: Integers) -> None:
        times = counts.astype(np.float64)
        product = values * times
        self.add(product)
        self.add(_lost(values, times, product))

    def merge(self, other: Self) -> None:
        self._add_at(other._places, other._high, other._low)

    def negated(self) -> Self:
        other = type(self)()
        other._places, other._high, other._low = self._places, -self._high, -self._low  # noqa: SLF001
        return other

    def exact(self) -> Fraction:
        total = 0
        # Every exponent is at least the least one, so that whole numbers do.
        for place, high, low in zip(
            *map(np.ndarray.tolist, (self._places, self._high, self._low)), strict=True
        ):
            total += ((high << _HALF) + low) << place
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


def stream(seed: int, purpose: Purpose, *of: int) -> np.random.Generator:
    """Return the random numbers of a purpose, and of what they are drawn for where that has its own."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(int(purpose), *of)))


Ordinals = Integers


def ordinals_of(numbers: Floats) -> Ordinals:
    """Return the place of each number among all there are, 0 for 0."""
    places = np.abs(numbers).view(np.int64)
    return np.where(np.signbit(numbers), -places, places)


def numbers_at(places: Ordinals) -> Floats:
    return np.asarray(np.copysign(np.abs(places).view(np.float64), places))


def first_number(holds: Callable[[Floats], Booleans], low: Ordinals, high: Ordinals) -> Ordinals:
    """Return the place of the first number behind each low one for which a condition holds, by halving."""
    while np.any(low + 1 < high):
        # Half of each, since their sum may be too large, as may their difference.
        middle = low // 2 + high // 2 + (low % 2 + high % 2) // 2
        held = holds(numbers_at(middle))
        low, high = np.where(held, low, middle), np.where(held, middle, high)
    return high
