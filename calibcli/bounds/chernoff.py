"""
Chernoff bounds for a weighted sum of squared errors of rates, from counts alone.

With x_k positives of n_k labels and v_k the rate announced, e_k the true rate less v_k, the statistic
G_k = ((x - n v)^2 - x (1 - v)^2 - (n - x) v^2) / (n - 1) has mean n e^2 where labels in a bin are alike. Bins
of one label are left out. For every l > 0, P(sum G <= t) <= exp(l t) prod_k E exp(-l G_k), and over all rates
with sum n_k e_k^2 >= a the logarithm of the product is at most -u a + H(u) for every u >= 0, where
H(u) = sum_k max_m [ln E_m exp(-l G_k) + u n_k (m - v_k)^2]. Turned round, with confidence 1 - delta,
a <= (l sum G + ln(1/delta) + H(u)) / u at the best of l and u: the test at each a may use the l and u that
are best for it, since they depend on rows and announced rates alone. The lower bound is the same with the
other signs, and holds for labels that are not alike: exp(l G) is convex in x (Hoeffding 1956, Theorem 3).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.special import Floats

# Bets on either side, as good as the best for errors from a tenth of the noise to many times it.
_UPPER_BETS = np.geomspace(0.03, 6.0, 9)
_LOWER_BETS = np.geomspace(0.06, 1.7, 6)
# What maxima over rates may miss between the points tried: in units of sum G, and as a share of a maximum.
_SLACK = 0.005
_SHARE_MISSED = 1e-3
_REACH = 40
_POINTS = 30
_PRICES = 18
_PARTS = 6
_LOOKED_UP = 200_000
_NEAR = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """
    Bins of two labels or more.

    Args:
        rows: n_k, shape (n_bins,).

        positive: x_k.

        announced: v_k.
    """

    rows: Floats
    positive: Floats
    announced: Floats

    @property
    def statistic(self) -> float:
        """The sum of G_k, an estimate of sum n_k e_k^2 where labels in a bin are alike."""
        return float(_excess(self.positive, self.rows, self.announced).sum())


def most_energy(counts: Counts, *, delta: float) -> float:
    """
    Return an upper bound of sum n_k e_k^2; labels in a bin must have one probability.

    Args:
        counts: The bins.

        delta: Probability of falling short.
    """
    level = math.log(1.0 / delta)
    found = counts.statistic + _SLACK

    def bound(bet: float, *, parts: int = 1) -> float:
        rates = _Rates(counts, bet, parts=parts)
        return _least(lambda price: (bet * found + level + rates.total(price)) / price, 0.1 * bet, 1.2 * bet)

    # The bet is chosen on the points tried; what it gives is taken on several times as many.
    return max(0.0, bound(min(_UPPER_BETS.tolist(), key=bound), parts=_PARTS))


def least_energy(counts: Counts, *, delta: float) -> float:
    """
    Return a lower bound of sum n_k e_k^2, whether or not labels in a bin have one probability.

    Args:
        counts: The bins.

        delta: Probability of lying above.
    """
    level = math.log(1.0 / delta)
    found = counts.statistic - _SLACK

    def bound(bet: float, *, parts: int = 1) -> float:
        rates = _Rates(counts, -bet, parts=parts)
        fall = level - bet * found
        return _least(lambda price: (rates.total(-price) + fall) / price, 0.8 * bet, 20.0 * bet)

    return max(0.0, -bound(min(_LOWER_BETS.tolist(), key=bound), parts=_PARTS))


class _Rates:
    """The logarithms of E exp(-bet G_k) at many rates m, for one bet; a negative bet is on the other side."""

    def __init__(self, counts: Counts, bet: float, *, parts: int) -> None:
        n, v = counts.rows[:, None], counts.announced[:, None]
        self._rate = _parted(_rates_around(counts), parts)
        pieces = np.array_split(self._rate, parts, axis=1)
        self._log_mean = np.concatenate([_log_mean(n, v, piece, bet=bet) for piece in pieces], axis=1)
        self._energy = n * (self._rate - v) ** 2

    def total(self, price: Floats) -> Floats:
        """Return the sum over bins of the largest log mean + price * energy, shape of `price`."""
        value = self._log_mean + price[:, None, None] * self._energy
        best = value.argmax(axis=-1)
        inner = np.clip(best, 1, value.shape[-1] - 2)[..., None]
        three = [np.take_along_axis(value, inner + step, axis=-1)[..., 0] for step in (-1, 0, 1)]
        rate = np.broadcast_to(self._rate, value.shape)
        at = [np.take_along_axis(rate, inner + step, axis=-1)[..., 0] for step in (-1, 0, 1)]
        top = np.maximum(value.max(axis=-1), _top_of_parabola(three, at))
        return np.asarray((top + _SHARE_MISSED * np.maximum(top, 0.0)).sum(axis=-1))


def _top_of_parabola(value: list[Floats], at: list[Floats]) -> Floats:
    """Return the top of the parabola through three points if it lies between them, else the middle value."""
    left, right = at[1] - at[0], at[2] - at[1]
    apart = (left > 0.0) & (right > 0.0)
    left, right = np.where(apart, left, 1.0), np.where(apart, right, 1.0)
    rise, fall = (value[1] - value[0]) / left, (value[1] - value[2]) / right
    bend = (rise + fall) / (left + right)
    slope = (rise * right - fall * left) / (left + right)
    top = apart & (bend > 0.0) & (rise > 0.0) & (fall > 0.0)
    return np.where(top, value[1] + slope**2 / (4.0 * np.where(top, bend, 1.0)), value[1])


def _rates_around(counts: Counts) -> Floats:
    """Return the rates tried in each bin, dense around v_k and by constant factors beyond, ascending."""
    n, v = counts.rows[:, None], counts.announced[:, None]
    spread = np.maximum(np.sqrt(v * (1.0 - v) / n), 1.0 / n)
    near = v + spread * np.linspace(-_NEAR, _NEAR, 8 * int(_NEAR) + 1)
    factor = np.linspace(0.0, 1.0, _POINTS + 1)[1:]
    far = []
    for side, room in ((-1.0, v), (1.0, 1.0 - v)):
        start = _NEAR * spread
        far.append(v + side * start * np.maximum(room / start, 1.0) ** factor)
    tiny = np.finfo(np.float64).eps
    rate = np.clip(np.concatenate((near, *far), axis=1), tiny, 1.0 - tiny)
    return np.asarray(np.sort(rate, axis=1))


def _parted(rate: Floats, parts: int) -> Floats:
    """Return rates with so many equal steps between neighbours."""
    step = np.arange(parts) / parts
    between = rate[:, :-1, None] + step * np.diff(rate, axis=1)[..., None]
    return np.concatenate((between.reshape(rate.shape[0], -1), rate[:, -1:]), axis=1)


def _excess(positive: Floats, rows: Floats, announced: Floats) -> Floats:
    """Return G_k."""
    # The noise x (1 - v)^2 + (n - x) v^2 is x (1 - 2 v) + n v^2.
    gap = positive - rows * announced
    return np.asarray((gap * gap - positive * (1.0 - 2.0 * announced) - rows * announced**2) / (rows - 1.0))


def _log_mean(n: Floats, v: Floats, rate: Floats, *, bet: float) -> Floats:
    """
    Return ln E exp(-bet G) of a binomial at each rate, shape (k, points).

    Up to 80 labels every count is summed over. Beyond, the integrand is a smooth bump, of which every h-th
    count within eight of its widths is taken, h at most two fifths of a width: exact to many digits.
    """
    x, step = _counts_that_matter(n, v, rate, bet=bet)
    rows, announced, m = n[..., None], v[..., None], rate[..., None]
    inside = (x >= 0.0) & (x <= rows)
    x = np.where(inside, x, 0.0)
    log_choose = _log_factorial(rows) - _log_factorial(x) - _log_factorial(rows - x)
    term = log_choose + x * np.log(m) + (rows - x) * np.log1p(-m) - bet * _excess(x, rows, announced)
    term = np.where(inside, term, -np.inf)
    top = term.max(axis=-1, keepdims=True)
    return np.asarray(top[..., 0] + np.log(np.exp(term - top).sum(axis=-1)) + np.log(step))


def _log_factorial(x: Floats) -> Floats:
    """Return ln x! of whole numbers, looked up where that is faster."""
    from scipy.special import gammaln

    most = int(x.max())
    if most > _LOOKED_UP or most > x.size:
        return np.asarray(gammaln(x + 1.0))
    return np.asarray(gammaln(np.arange(1.0, most + 2.0))[x.astype(np.intp)])


def _counts_that_matter(n: Floats, v: Floats, rate: Floats, *, bet: float) -> tuple[Floats, Floats]:
    """Return the counts to sum over, shape (k, points, 81), and how far apart they are, (k, points)."""
    few = n <= 2.0 * _REACH
    pull = 2.0 * bet * n / (n - 1.0)
    low, high = np.zeros_like(rate), np.ones_like(rate)
    odds = np.log(rate) - np.log1p(-rate)
    with np.errstate(divide="ignore"):
        for _ in range(40):
            middle = 0.5 * (low + high)
            rises = np.log(middle) - np.log1p(-middle) - odds + pull * (middle - v) > 0.0
            low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    peak = 0.5 * (low + high)
    sharpness = 1.0 / np.maximum(peak * (1.0 - peak), 1e-300) + pull
    width = np.sqrt(n / np.where(few, 1.0, sharpness))
    step = np.where(few, 1.0, np.maximum(np.floor(width / 2.5), 1.0))
    centre = np.where(few, float(_REACH), np.rint(n * peak))
    return centre[..., None] + step[..., None] * np.arange(-_REACH, _REACH + 1), step


def _least(objective: Callable[[Floats], Floats], low: float, high: float) -> float:
    """Return the least value on a grid by constant factors, refined around the best."""
    grid = np.geomspace(low, high, _PRICES)
    value = objective(grid)
    best = int(value.argmin())
    around = np.geomspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], _PRICES)
    return float(min(value.min(), objective(around).min()))
