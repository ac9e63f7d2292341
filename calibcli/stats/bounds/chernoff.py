"""Chernoff bounds for a weighted sum of squared errors of rates, from counts alone.

With x_k positives of n_k labels and v_k the rate announced, e_k the true rate less v_k, the statistic
G_k = ((x - n v)^2 - x (1 - v)^2 - (n - x) v^2) / (n - 1) has mean n e^2 where labels in a bin are alike. For
every bet l > 0 and whatever prices are put on errors, P(sum G <= t) is at most exp(l t) times the product
over bins of the largest E exp(price - l G_k) over all rates, divided by the least that the prices can add up
to where sum n_k e_k^2 >= a. Two prices are tried, as the proofs in docs/methods.md say: c n e^2, and
n ln(1 / (1 - c e^2)) with a cap. The lower bound has the other signs, gives n ln(1 + c e^2) back, and counts
no G_k beyond what is decisive by itself.
"""

import math
from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np

from calibcli.stats.numerics import Booleans, Floats
from calibcli.values import dataclass, field

# Bets are sought from the first over a mean of v (1 - v), and not beyond the largest.
_FIRST_BET, _LARGEST_BET = 0.35, 1.5
# So many are tried at most on the way to the best, and so many near it, no nearer than this share of a step.
_MOST_TRIED, _SHARPENED, _NEARER = 24, 3, 0.02
# Where labels in a bin differ no G_k may be cut, and bets must stay below 1 / (2 v (1 - v)) >= 2.
_LARGEST_BET_UNLIKE = 1.7
# What is counted of one G_k at most is a power of this.
_ROUNDED = 1.02
# What a maximum over rates may miss between the points tried.
_MISSED = 2e-4
# How far caps are above what all must pay together, roughly.
_BEYOND = np.array([2.0, 4.0, 8.0, 20.0])
_PRICES = 16
# Rates are tried up to so many standard deviations from v_k, so many in each, and in so many parts between;
# beyond by factors with this logarithm, and by halves towards 0 and 1.
_NEAR, _EACH, _PARTS, _FAR, _HALVES = 10, 4, 6, 0.1, 10
# What values may bend between neighbours for cubics to be good.
_BENT = 0.1
# How often uneven steps are halved.
_TURNS = 4
# Bins of more labels are summed over some counts of theirs, these for bets on a large statistic.
_MOST_COUNTS, _MOST_CUT = 600, 220
_REACH = 40
# The logarithm of what counts left out may add.
_LEFT_OUT = 25.0
_LOOKED_UP = 1 << 18
# Bins that are kept for other tables with the same rows, some ten kilobytes each.
_KEPT = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Bins of two labels or more, of one chance if `alike`; `alone` are rates of bins of one label."""

    rows: Floats
    positive: Floats
    announced: Floats
    alone: Floats = field(default_factory=lambda: np.zeros(0))
    alike: bool = True

    @property
    def statistic(self) -> float:
        """The sum of G_k, an estimate of sum n_k e_k^2 where labels in a bin are alike."""
        return float(_excess(self.positive, self.rows, self.announced).sum())

    @property
    def most(self) -> float:
        """The largest that sum n_k e_k^2 can be over bins of two labels or more."""
        return float((self.rows * _farthest(self.announced) ** 2).sum())

    @property
    def first_bet(self) -> float:
        """A bet to begin with: over the mean of v (1 - v), each bin by the noise that it adds."""
        each = self._noise
        return _FIRST_BET * float(each.sum()) / float((each**2).sum())

    @property
    def largest_bet(self) -> float:
        """The largest bet on a small statistic: over the mean of v (1 - v) among rows.

        Larger ones would take labels that fit by chance for proof that no rate is off by anything.
        """
        return _LARGEST_BET * float(self.rows.sum()) / float((self.rows * self._noise).sum())

    @property
    def _noise(self) -> Floats:
        return np.maximum(self.announced * (1.0 - self.announced), 0.1 / self.rows)


def most_energy(counts: Counts, *, delta: float) -> float:
    """Return an upper bound of sum n_k e_k^2, bins of one label among them; labels in a bin must be alike."""
    level, found = math.log(1.0 / delta), counts.statistic
    largest = counts.most + float((_farthest(counts.alone) ** 2).sum())

    def bound(bet: float) -> float:
        if bet > most:
            return math.inf
        return _refuted_above(counts, bet, known=bet * found + level)

    most = counts.largest_bet
    return min(largest, max(0.0, _least_around(min(most, counts.first_bet), bound)))


def least_energy(counts: Counts, *, delta: float) -> float:
    """Return a lower bound of sum n_k e_k^2, whether or not labels in a bin have one probability."""
    level, found = math.log(1.0 / delta), counts.statistic
    if found <= 0.0:
        return 0.0
    most = math.inf if counts.alike else _LARGEST_BET_UNLIKE

    def bound(bet: float) -> float:
        return -_refuted_below(counts, bet, known=bet * found - level) if bet <= most else math.inf

    # Of a million million labels rounding leaves a millionth.
    return min(counts.most, max(0.0, -_least_around(min(most, counts.first_bet), bound)))


def _refuted_above(counts: Counts, bet: float, *, known: float) -> float:
    """Return the least sum that is refuted, `known` being bet * statistic + level; infinite if none is."""
    bins = [_bin_of(n, v, bet, math.inf) for n, v in zip(counts.rows, counts.announced, strict=True)]
    caps = max(0.1, known + sum(float(one.log_mean.max()) for one in bins)) + _BEYOND
    alone = _farthest(counts.alone) ** 2

    def best(prices: Floats) -> tuple[float, int]:
        price = prices[:, None]
        plain = known + (price * alone).sum(axis=1)
        total = known + np.minimum(_minus_log_less(price * alone)[..., None], caps).sum(axis=1)
        for one in bins:
            plain = plain + _MISSED + (one.log_mean + price * one.rows * one.gap**2).max(axis=-1)
            total = total + _MISSED + one.most_capped(prices, caps)
        # Refuted from where e^-(price a) + e^-cap is e^-total.
        capped = np.where(
            total < caps, total + _minus_log_less(np.exp(np.minimum(total - caps, 0.0))), math.inf
        )
        least = np.minimum(capped.min(axis=1), plain) / prices
        return float(least.min()), int(least.argmin())

    return _refined(best, bet / (2.0 + bet), 1.3 * bet)


def _refuted_below(counts: Counts, bet: float, *, known: float) -> float:
    """Return the largest sum that is refuted from below, `known` being bet * statistic - level."""
    cuts = _decisive(counts) if counts.alike else np.full(counts.rows.shape, math.inf)
    columns = zip(counts.rows, counts.announced, cuts, strict=True)
    bins = [_bin_of(n, v, -bet, cut) for n, v, cut in columns]

    def best(prices: Floats) -> tuple[float, int]:
        total = np.full(prices.shape, -known)
        for one in bins:
            given_back = prices[:, None] * one.gap**2
            given_back = one.rows * (np.log1p(given_back) if counts.alike else given_back)
            total = total + _MISSED + (one.log_mean - given_back).max(axis=-1)
        least = total / prices
        return float(least.min()), int(least.argmin())

    return -_refined(best, 0.5 * bet, 20.0 * bet)


@dataclass(frozen=True, slots=True, eq=False)
class _Bin:
    """One bin; `log_mean` is the logarithm of E exp(-bet min(G, cut)) at each error."""

    rows: float
    gap: Floats
    log_mean: Floats

    def most_capped(self, prices: Floats, caps: Floats) -> Floats:
        """Return the largest log mean + price, of which no more than a cap is paid, (n_prices, n_caps)."""
        price = self.rows * _minus_log_less(prices[:, None] * self.gap**2)
        top = (self.log_mean + np.minimum(price[:, None, :], caps[:, None])).max(axis=-1)
        # Between two of the errors tried the price reaches the cap, unless that is beyond the last.
        corner = np.sqrt(-np.expm1(-caps / self.rows) / prices[:, None])
        above = np.interp(corner, self.gap, self.log_mean, right=-math.inf)
        below = np.interp(corner, -self.gap[::-1], self.log_mean[::-1], right=-math.inf)
        return np.asarray(np.maximum(top, np.maximum(above, below) + caps))


@lru_cache(maxsize=_KEPT)
def _bin_of(rows: float, announced: float, bet: float, cut: float) -> _Bin:
    """Return a bin for a bet, one below 0 being on the other side; many tables may share it."""
    rate = _rates_around(rows, announced)
    log_mean = _log_mean(rows, announced, rate, bet=bet, cut=cut)
    for _ in range(_TURNS):
        middle = 0.5 * (rate[:-1] + rate[1:])
        # Next to 1 there may be no double between two rates.
        apart = (middle > rate[:-1]) & (middle < rate[1:])
        more = middle[_uneven(rate, log_mean) & apart]
        if not more.size:
            break
        values = _log_mean(rows, announced, more, bet=bet, cut=cut)
        rate, log_mean = np.concatenate((rate, more)), np.concatenate((log_mean, values))
        order = rate.argsort()
        rate, log_mean = rate[order], log_mean[order]
    rate, log_mean = _between(rate, log_mean, _PARTS)
    return _Bin(rows, rate - announced, log_mean)


def _farthest(announced: Floats) -> Floats:
    """Return how far a rate can be at most from the one announced."""
    return np.maximum(announced, 1.0 - announced)


def _minus_log_less(lost: Floats) -> Floats:
    """Return -ln(1 - lost), infinite from 1 on."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-np.minimum(lost, 1.0)))


def _decisive(counts: Counts) -> Floats:
    """Return a G_k of each bin from which on the sum is as large as was found, whatever the others are."""
    n, v = counts.rows, counts.announced
    lowest = np.clip(np.floor(n * v + 0.5 - v), 0.0, n - 1.0)
    least = np.minimum(_excess(lowest, n, v), _excess(lowest + 1.0, n, v))
    decisive = counts.statistic - (float(least.sum()) - least)
    # Rounded up, so that tables with nearly the same statistic share their bins.
    return np.asarray(_ROUNDED ** np.ceil(np.log(np.maximum(decisive, 1e-12)) / math.log(_ROUNDED)))


def _least_around(start: float, value: Callable[[float], float]) -> float:
    """Return the least value of a function that falls and then rises on a scale of factors, from a start."""
    found = {0.0: value(start)}

    def tried(power: float) -> float:
        found[power] = value(start * 2.0**power)
        return found[power]

    step = 1.0 if tried(1.0) < found[0.0] else -1.0
    last = max(0.0, step)
    while len(found) < _MOST_TRIED and tried(last + step) < found[last]:
        last, step = last + step, 1.5 * step
    for _ in range(_SHARPENED):
        power = min(found, key=lambda one: found[one])
        left = max((one for one in found if one < power), default=power - 1.0)
        right = min((one for one in found if one > power), default=power + 1.0)
        tried(_vertex([(one, found.get(one, math.inf)) for one in (left, power, right)]))
    return min(found.values())


def _vertex(points: list[tuple[float, float]]) -> float:
    """Return where the parabola through three points is least, within and not too near to any of them."""
    (a, at_a), (b, at_b), (c, at_c) = points
    longer = a if b - a > c - b else c
    if not all(math.isfinite(one) for one in (at_a, at_b, at_c)):
        return 0.5 * (b + longer)
    rise, fall = (b - a) * (at_b - at_c), (b - c) * (at_b - at_a)
    vertex = b - 0.5 * ((b - a) * rise - (b - c) * fall) / (rise - fall) if rise != fall else b
    inside = a + 0.1 * (b - a) < vertex < c - 0.1 * (c - b)
    return vertex if inside and abs(vertex - b) > _NEARER * (c - a) else b + 0.2 * (longer - b)


def _refined(best: Callable[[Floats], tuple[float, int]], low: float, high: float) -> float:
    """Return the least value on prices by constant factors, sought once more around the best."""
    grid = np.geomspace(low, high, _PRICES)
    value, place = best(grid)
    around = np.geomspace(grid[max(place - 1, 0)], grid[min(place + 1, grid.size - 1)], _PRICES)
    return min(value, best(around)[0])


@lru_cache(maxsize=_KEPT)
def _rates_around(n: float, v: float) -> Floats:
    """Return the rates tried in a bin: evenly around v, by constant factors beyond, and near 0 and 1."""
    spread = max(math.sqrt(v * (1.0 - v) / n), 1.0 / n)
    rates = [v + spread * np.linspace(-_NEAR, _NEAR, 2 * _NEAR * _EACH + 1)]
    start = _NEAR * spread
    for side, room in ((-1.0, v), (1.0, 1.0 - v)):
        if room > start:
            steps = math.ceil(math.log(room / start) / _FAR)
            rates.append(v + side * np.geomspace(start, room, steps + 1)[1:])
    rate = np.unique(np.clip(np.concatenate(rates), 0.0, 1.0))
    halves = 0.5 ** np.arange(1.0, _HALVES + 1.0)
    rate = np.concatenate((rate[1] * halves if rate[0] == 0.0 else rate[0] * halves, rate))
    room = 1.0 - (rate[-2] if rate[-1] == 1.0 else rate[-1])
    tiny = float(np.finfo(np.float64).eps)
    return np.unique(np.clip(np.concatenate((rate, 1.0 - room * halves, [0.0, 1.0])), tiny, 1.0 - tiny))


def _between(x: Floats, y: Floats, parts: int) -> tuple[Floats, Floats]:
    """Return points with so many equal steps between neighbours, on the cubics through four of them.

    Values rise up to a peak and fall from there, or the other way round, so that none lies beyond those of
    its neighbours but next to a peak; where they bend much in a step, the larger neighbour stands for all.
    """
    first = np.clip(np.arange(x.size - 1) - 1, 0, x.size - 4)
    new = x[:-1, None] + np.arange(parts) / parts * (x[1:] - x[:-1])[:, None]
    # Newton's form: the slopes of y, the slopes of those, and so on, each over one point more.
    slopes = [y]
    for apart in (1, 2, 3):
        slopes.append((slopes[-1][1:] - slopes[-1][:-1]) / (x[apart:] - x[:-apart]))
    value = slopes[3][first, None]
    for i in (2, 1, 0):
        value = slopes[i][first, None] + (new - x[first + i, None]) * value
    least, most = np.minimum(y[:-1], y[1:]), np.maximum(y[:-1], y[1:])
    uneven, peak = _uneven(x, y), int(y.argmax())
    if 0 < peak < y.size - 1:
        most[peak - 1 : peak + 1] += _BENT
    value = np.where(uneven[:, None], most[:, None], np.clip(value, least[:, None], most[:, None]))
    value[:, 0] = np.where(uneven, value[:, 0], y[:-1])
    return np.append(new.ravel(), x[-1]), np.append(value.ravel(), y[-1])


def _uneven(x: Floats, y: Floats) -> Booleans:
    """Whether values bend so much within each step that cubics may miss them."""
    step, rise = x[1:] - x[:-1], y[1:] - y[:-1]
    slope = rise / step
    bend = np.zeros(x.size)
    bend[1:-1] = np.abs(slope[1:] - slope[:-1])
    return np.asarray(np.maximum(bend[1:], bend[:-1]) * step > _BENT + 0.25 * np.abs(rise))


def _excess(positive: Floats, rows: Floats | float, announced: Floats | float) -> Floats:
    """Return G_k."""
    # The noise x (1 - v)^2 + (n - x) v^2 is x (1 - 2 v) + n v^2.
    gap = positive - rows * announced
    return np.asarray((gap * gap - positive * (1.0 - 2.0 * announced) - rows * announced**2) / (rows - 1.0))


def _log_mean(n: float, v: float, rate: Floats, *, bet: float, cut: float) -> Floats:
    """Return ln E exp(-bet min(G, cut)) of a binomial at each rate.

    Of many counts, those are summed over that matter, every h-th of them where they are more than fit.
    """
    step = np.ones(rate.size)
    if n <= _MOST_COUNTS:
        x = np.arange(n + 1.0)[None, :]
    elif math.isinf(cut):
        x, step = _counts_around_the_peak(n, v, rate, bet=bet)
    else:
        x, step = _counts_within_reach(n, rate, matter=_LEFT_OUT + abs(bet) * max(cut, 0.0))
    inside = (x >= 0.0) & (x <= n)
    x = np.where(inside, x, 0.0)
    log_choose = _log_factorial(np.array([n])) - _log_factorial(x) - _log_factorial(n - x)
    term = log_choose - bet * np.minimum(_excess(x, n, v), cut)
    term = np.where(inside, term, -np.inf) + x * np.log(rate)[:, None] + (n - x) * np.log1p(-rate)[:, None]
    top = term.max(axis=1)
    return np.asarray(top + np.log(np.exp(term - top[:, None]).sum(axis=1)) + np.log(step))


def _log_factorial(x: Floats) -> Floats:
    """Return ln x! of whole numbers, looked up where they are small enough."""
    most = int(x.max())
    if most < _LOOKED_UP:
        return _log_factorials(1 << most.bit_length())[x.astype(np.intp)]
    from scipy.special import gammaln

    return np.asarray(gammaln(x + 1.0))


@cache
def _log_factorials(count: int) -> Floats:
    """Return ln x! of so many whole numbers from 0."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(1.0, count + 1.0)))


def _counts_around_the_peak(n: float, v: float, rate: Floats, *, bet: float) -> tuple[Floats, Floats]:
    """Return the counts to sum over, shape (points, 81), and how far apart they are.

    The integrand is a smooth bump, of which every h-th count within eight of its widths is taken, h at most
    two fifths of a width: exact to many digits.
    """
    pull = 2.0 * bet * n / (n - 1.0)
    low, high = np.zeros_like(rate), np.ones_like(rate)
    odds = np.log(rate) - np.log1p(-rate)
    with np.errstate(divide="ignore"):
        for _ in range(40):
            middle = 0.5 * (low + high)
            rises = np.log(middle) - np.log1p(-middle) - odds + pull * (middle - v) > 0.0
            low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    peak = 0.5 * (low + high)
    width = np.sqrt(n / (1.0 / np.maximum(peak * (1.0 - peak), 1e-300) + pull))
    step = np.maximum(np.floor(width / 2.5), 1.0)
    return np.rint(n * peak)[:, None] + step[:, None] * np.arange(-_REACH, _REACH + 1), step


def _counts_within_reach(n: float, rate: Floats, *, matter: float) -> tuple[Floats, Floats]:
    """Return the counts outside of which a binomial has e^-matter at most (Bernstein), and their distance."""
    reach = matter / 3.0 + np.sqrt((matter / 3.0) ** 2 + 2.0 * n * rate * (1.0 - rate) * matter)
    low = np.maximum(np.floor(n * rate - reach), 0.0)
    high = np.minimum(np.ceil(n * rate + reach), n)
    step = np.maximum(np.ceil((high - low) / _MOST_CUT), 1.0)
    return low[:, None] + step[:, None] * np.arange(min(_MOST_CUT, int((high - low).max())) + 1.0), step
