"""Exact bounds for a proportion, and how much of what is still to come may be of kinds not seen."""

import math
from functools import cache, lru_cache

import numpy as np

from calibcli.stats.numerics import Floats, Integers, beta_quantile, crossing

_AT_ONCE = 4_096

# Of the error probability, what is spent on how far the labels may scatter more than they were seen to.
_SHARE_ON_SPREAD = 0.05

# |P(S <= k) - normal law with its skewness term| <= this / variance for labels of any chances, from 10 on.
_NORMAL_ERROR = 0.08

_LEAST_VARIANCE = 10.0


def clopper_pearson(positive: Floats, rows: Floats, *, delta_each_side: float) -> tuple[Floats, Floats]:
    """Return lower and upper Clopper-Pearson bounds, each failing with probability at most `delta_each_side`.

    References:
        Clopper & Pearson (1934), Biometrika 26.
    """
    lower, upper = np.zeros_like(rows), np.ones_like(rows)
    some, short = positive > 0, positive < rows
    x, n = positive[some], rows[some]
    y, m = positive[short], rows[short]
    # Both sides at once: for a few bins the steps cost more than what they work on.
    levels = np.repeat([delta_each_side, 1.0 - delta_each_side], [x.size, y.size])
    ends = beta_quantile(levels, np.concatenate((x, y + 1.0)), np.concatenate((n - x + 1.0, m - y)))
    lower[some], upper[short] = ends[: x.size], ends[x.size :]
    return lower, upper


# Of the error probability, what is spent on how often two shares differ at all.
_SHARE_ON_DISCORDANT = 0.1


def difference_of_shares(gained: float, lost: float, rows: float, *, delta: float) -> tuple[float, float]:
    """Return bounds of the difference of two shares of the same rows, both failing with probability <= delta.

    It is d(2t - 1), d the chance that a row counts for one share only and t that it is the first then. Each
    has Clopper-Pearson bounds; those of t alone settle the sign, as in the exact test of McNemar.

    Args:
        gained: Rows that count for the first share only.
        lost: Rows that count for the second share only.

    References:
        McNemar (1947), Psychometrika 12; Clopper & Pearson (1934), Biometrika 26.
    """
    apart, whole = np.array([gained + lost], np.float64), np.array([rows], np.float64)
    some, half = 0.5 * delta * _SHARE_ON_DISCORDANT, 0.5 * delta * (1.0 - _SHARE_ON_DISCORDANT)
    few, many = (float(end[0]) for end in clopper_pearson(apart, whole, delta_each_side=some))
    first = clopper_pearson(np.array([gained], np.float64), apart, delta_each_side=half)
    low, high = (2.0 * float(end[0]) - 1.0 for end in first)
    return low * (few if low > 0.0 else many), high * (few if high < 0.0 else many)


@cache
def deviation_of_a_mean(rows: int, delta: float) -> float:
    """Return d*: a mean of so many labels falls this far below its expectation with probability <= delta.

    The labels may have different probabilities: d* is the largest Clopper-Pearson upper margin,
    max_x CP_U(x, n; delta) - x / n, as sums of unlike labels are no more spread (Hoeffding).

    References:
        Hoeffding (1956), Ann. Math. Statist. 27, Theorem 4.
    """
    # The margin is widest near the middle; with many rows there is no need to look elsewhere.
    low, high = (0, rows - 1) if rows <= 20_000 else (rows // 4, rows - rows // 4)
    while True:
        count = min(high - low + 1, 101)
        x = low + np.floor(np.linspace(0.0, high - low, count))
        margin = beta_quantile(1.0 - delta, x + 1.0, rows - x) - x / rows
        best = int(margin.argmax())
        if x.size == high - low + 1:
            # Hoeffding's comparison needs n d* >= 1 (so it is for delta <= 1/4), or a single label; his
            # inequality of 1963 needs neither.
            compared = max(float(margin[best]), 1.0 / rows if rows > 1 else 0.0)
            return min(compared, hoeffding_deviation(rows, delta))
        low, high = int(x[max(best - 1, 0)]), int(x[min(best + 1, x.size - 1)])


def hoeffding_deviation(rows: float, delta: float) -> float:
    """Return sqrt(ln(1/delta) / (2 n)): how far a mean of independent values of range 1 strays, one side."""
    return math.sqrt(math.log(1.0 / delta) / (2.0 * rows))


def mean_absolute_deviation(rows: Floats, proportion: Floats) -> Floats:
    """Return E|X / n - v| for X binomial(n, v), exactly (De Moivre's formula)."""
    result = np.zeros_like(rows)
    for index, (n, v) in enumerate(zip(rows.tolist(), proportion.tolist(), strict=True)):
        if 0.0 < v < 1.0:
            c = min(math.floor(n * v) + 1, n)
            log_choose = math.lgamma(n + 1) - math.lgamma(c + 1) - math.lgamma(n - c + 1)
            log_term = log_choose + c * math.log(v) + (n - c + 1) * math.log1p(-v)
            result[index] = 2.0 / n * c * math.exp(log_term)
    return result


# The comparison of Hoeffding (1956) behind bounds of a rate needs an error probability of at most so much.
MOST_DELTA = 0.25


def rate_bounds(positive: Floats, rows: Floats, *, delta_each_side: float) -> tuple[Floats, Floats]:
    """Return bounds for the mean probability of labels that may each have their own.

    Those of Clopper and Pearson, by Hoeffding (1956): a tail of the sum of unlike labels that ends at least 1
    away from its mean is no heavier than the binomial's. That leaves out rows - 1 positives for the upper
    bound and 1 for the lower: there the chance that any label is 0, at most the sum of the chances, gives
    1 - delta / rows, which is hardly wider. Equal pairs of counts are worked out once.

    Args:
        rows: Number of labels, shape (n,), at least 1.
        delta_each_side: Error probability of each end; it has `MOST_DELTA` where more is allowed.

    References:
        Hoeffding (1956), Ann. Math. Statist. 27, Theorem 4; Greenberg & Mohri (2014), Stat. Probab. Lett.
        86, for the quarter.
    """
    delta_each_side = min(delta_each_side, MOST_DELTA)
    pairs, place = np.unique(np.stack((rows, positive)), axis=1, return_inverse=True)
    n, x = pairs
    lower, upper = np.zeros_like(n), np.ones_like(n)
    for start in range(0, n.size, _AT_ONCE):
        near = slice(start, start + _AT_ONCE)
        lower[near], upper[near] = clopper_pearson(x[near], n[near], delta_each_side=delta_each_side)
    upper = np.where(x == n - 1.0, np.maximum(upper, 1.0 - delta_each_side / n), upper)
    lower = np.where(x == 1.0, np.minimum(lower, delta_each_side / n), lower)
    place = place.reshape(-1)
    return lower[place], upper[place]


# Several measures of one table ask for the bounds of the same rate.
@lru_cache(maxsize=256)
def bounds_of_a_rate(positive: float, rows: float, *, delta_each_side: float) -> tuple[float, float]:
    """Return what `rate_bounds` gives for one rate."""
    low, high = rate_bounds(np.array([positive]), np.array([rows]), delta_each_side=delta_each_side)
    return float(low[0]), float(high[0])


@lru_cache(maxsize=256)
def clopper_pearson_of_a_rate(positive: int, rows: int, *, delta_each_side: float) -> tuple[float, float]:
    counts = np.array([float(positive)]), np.array([float(rows)])
    low, high = clopper_pearson(*counts, delta_each_side=delta_each_side)
    return float(low[0]), float(high[0])


@lru_cache(maxsize=4_096)
def sum_margin(squares: float, *, delta: float) -> float:
    """Return how far, but for a probability of delta, a sum of unlike labels lies from its mean on one side.

    The variance of the sum is not known. It is at most the mean of the sum of squared residuals, label less
    any number fixed for the row, which `squares` bound but for a twentieth of delta. At each variance the
    tail is at most that of the normal law with its skewness term and a proven error; below a least one
    Bennett's.

    References:
        Volkova (1996), Theory Probab. Appl. 40, for the form of the approximation; Maurer (2003), J. Inequal.
        Pure Appl. Math. 4, for the lower tail of squares; derived in `docs/methods.md`.
    """
    spread, left = _most_spread(squares, delta=delta)
    least = math.sqrt(max(_LEAST_VARIANCE, 4.0 * _NORMAL_ERROR / left))
    margin = _bennett_margin(least**2, delta=left)
    return margin if spread <= least else max(margin, 0.5 + spread * _normal_deviate(spread, delta=left))


def _most_spread(squares: float, *, delta: float) -> tuple[float, float]:
    """Return a bound of the standard deviation of a sum of labels, and what it leaves of the error."""
    half_log = 0.5 * math.log(1.0 / (_SHARE_ON_SPREAD * delta))
    return math.sqrt(half_log) + math.sqrt(squares + half_log), (1.0 - _SHARE_ON_SPREAD) * delta


# Another bound of a weighted sum than Hoeffding's is tried where it promises no more than this share of it.
_WORTH_TRYING = 0.9
# Beyond this share of the largest bet a row is worth Hoeffding's bound at best.
_MOST_BET = 0.9
# Rows that may fall equally far but for this factor are taken together.
_STEPS_PER_OCTAVE = 4


def weighted_sum_margin(
    weight_sq: Floats, expected: Floats, squares: Floats, back: Floats, *, delta: float
) -> float:
    """Return how far, but for a probability of delta, a sum of weighted labels rises above its mean.

    Hoeffding's bound takes every label for a coin: where events are rare it is several times too wide. Let
    x be a residual, label less score, times its weight w, and never below -c. For a bet b with b c < 1 the
    mean of exp(b x - psi(b c) (x / c)^2) is at most exp(b times the mean of x), psi(u) = -log(1 - u) - u
    (Fan, Grama & Liu), and so is that of exp(b x - b^2 w^2 / 8) (Hoeffding). Each entry takes one of the
    two, and all take one bet, that promise the least margin if the scores are right; labels settle none of
    it. Half of the error is kept for Hoeffding's bound, in case the scores are wrong.

    Args:
        weight_sq: Sums of squared weights, one an entry of rows of one score.
        expected: Mean of `squares` if the scores are right.
        squares: Sums of squared weighted residuals.
        back: How far below 0 a residual of weight 1 can be: for a sum of label - score the score.

    References:
        Hoeffding (1963), J. Amer. Statist. Assoc. 58; Fan, Grama & Liu (2015), Electron. J. Probab. 20;
        Howard, Ramdas, McAuliffe & Sekhon (2021), Ann. Statist. 49, Theorem 4, for squares as observed.
    """
    level = math.log(2.0 / delta)
    whole = float(weight_sq.sum())
    alone = math.sqrt(0.5 * whole * math.log(1.0 / delta))
    # No row of an entry weighs more than the root of its sum of squares. In units of all of them the unit of
    # the weights settles nothing.
    farthest = np.maximum(np.sqrt(weight_sq / whole) * back, 2.0**-1000)
    place, entry = np.unique(np.ceil(_STEPS_PER_OCTAVE * np.log2(farthest)), return_inverse=True)
    farthest = math.sqrt(whole) * np.exp2(place / _STEPS_PER_OCTAVE)
    whole_of, expected_of, squares_of = (
        np.bincount(entry.reshape(-1), column, minlength=place.size)
        for column in (weight_sq, expected, squares)
    )
    best, costs, bet = math.inf, np.empty(0), 0.0
    for bet_here in math.sqrt(8.0 * level / whole) * np.exp2(np.arange(17) / 2.0):
        reach = bet_here * farthest
        known = reach < _MOST_BET
        u = np.minimum(reach, _MOST_BET)
        # psi(u) / u^2 is 1/2 + u/3 + ..., which takes fewer digits away where u is small.
        by_squares = bet_here**2 * np.where(u < 1e-4, 0.5 + u, (-np.log1p(-u) - u) / np.maximum(u, 1e-4) ** 2)
        by_weight = bet_here**2 * whole_of / 8.0
        known &= by_squares * expected_of < by_weight
        promised = (level + float(np.where(known, by_squares * expected_of, by_weight).sum())) / bet_here
        if promised < best:
            best, bet = promised, bet_here
            costs = np.where(known, by_squares * squares_of, by_weight)
    if not best < _WORTH_TRYING * alone:
        return alone
    return min((level + float(costs.sum())) / float(bet), math.sqrt(0.5 * whole * level))


# How far a sum may fall back, in standard deviations: about where the range is bounded best.
_FALLS_BACK = 0.45


@lru_cache(maxsize=4_096)
def range_margin(squares: float, *, delta: float) -> float:
    """Return what the range of the partial sums of unlike labels, less their means, exceeds but for delta.

    The variance v is bounded as for `sum_margin`. From where a sum stands r above an earlier one it falls by
    less than c = a sqrt(v) in a^2 / (1 + a^2) of cases or more (Cantelli), so that the last sum stands r - c
    above one at least so often, which has Bennett's tail (Doob). A fall is the same the other way round.

    References:
        Bennett (1962), JASA 57; Hoeffding (1963), J. Amer. Statist. Assoc. 58, (2.17), for the largest of
        partial sums; Ottaviani's inequality, for the step back.
    """
    spread, left = _most_spread(squares, delta=delta)
    keeps = _FALLS_BACK**2 / (1.0 + _FALLS_BACK**2)
    return _FALLS_BACK * spread + _bennett_margin(spread**2, delta=0.5 * keeps * left)


def _normal_deviate(spread: float, *, delta: float) -> float:
    """Return the x at which Phi(-x), the worst skewness term and the error of both add up to delta."""

    def room(x: float) -> float:
        density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
        tail = 0.5 * math.erfc(x / math.sqrt(2.0))
        return delta - tail - abs(x * x - 1.0) * density / (6.0 * spread) - _NORMAL_ERROR / spread**2

    return crossing(room, 0.0, 40.0)[1]


@lru_cache(maxsize=256)
def _bennett_margin(variance: float, *, delta: float) -> float:
    """Return what a sum of independent values, each at most 1 above its mean, exceeds its mean by at most."""
    level = math.log(1.0 / delta)

    def beyond(x: float) -> float:
        return (variance + x) * math.log1p(x / variance) - x - level

    return crossing(beyond, 0.0, math.sqrt(2.0 * variance * level) + level)[1]


# So many rows of the first, in any order, show the kinds that later rows are held against.
_FIRST = 4


def unseen_share(counts: Integers, *, delta: float) -> float:
    """Return an upper bound of the probability that a new row is of a kind that no row here is.

    With kinds of many rows each it is about 4.9 / n, where all rows differ it is 1.

    References:
        Good (1953), Biometrika 40, for the estimate; derived in `docs/methods.md`, "Values and groups that no
        row shows".
    """
    rows = int(counts.sum())
    first = rows // _FIRST
    if first == 0:
        return 1.0
    later = rows - first
    fresh = float(_chances_to_miss(counts, rows=rows, first=first).sum())
    none = 1.0 - (0.5 * delta * max(0.0, 1.0 - fresh)) ** (1.0 / later)
    some = -math.expm1((math.log(0.5 * delta) - fresh) / later) / -math.expm1(-1.0)
    return float(min(1.0, none, some))


def _chances_to_miss(counts: Integers, *, rows: int, first: int) -> Floats:
    """Return the probability that the first rows in random order have none of a kind, for each kind."""
    kinds, times = np.unique(counts, return_counts=True)
    found = np.zeros(kinds.size)
    for place, held in enumerate(kinds.tolist()):
        if held <= rows - first:
            log = math.lgamma(rows - held + 1) - math.lgamma(rows - first - held + 1)
            found[place] = math.exp(min(0.0, log + math.lgamma(rows - first + 1) - math.lgamma(rows + 1)))
    return found * times
