"""
Bounds of a weighted mean of the chances of labels, each label having a chance of its own.

W is the weighted number of labels 1, the weights w_i in [0, 1] being settled without labels, and p_i their
chances. By Markov's inequality for e^(-l W), a sum so small has a probability of at most delta unless
sum_i -ln(1 - p_i a_i) <= ln(1 / delta) + l W, a_i = 1 - e^(-l w_i). The largest sum_i w_i p_i that this
leaves is at most e (ln(1 / delta) + l W) + sum_i max_p (w_i p + e ln(1 - p a_i)) for every e > 0 (weak
duality). So whatever l and e are tried, the least value is a bound: a search that stops early makes it wider
and not wrong. With equal weights it is that of Chernoff for the binomial.
"""

import math

import numpy as np

from calibcli.stats.numerics import Floats

# Bets l are tried from this share of the one that is best for labels of chance 1/2 up to the largest, and
# rates of rows of the largest weight by log odds, so many of each; then around the best, ever nearer.
_LEAST_BET, _LARGEST_BET, _BETS = 0.3, 40.0, 10
_LARGEST_ODDS, _RATES = 12.0, 9
_TURNS = 3
# A smaller share of the largest weight is taken for this one.
_NOTHING = 1e-150


def kernel_mean_bounds(
    weight: Floats, rows: Floats, *, ones: Floats, zeros: Floats, delta_each_side: float
) -> tuple[Floats, Floats]:
    """
    Return bounds of weighted means of the chances of labels, for many weightings.

    Args:
        weight: Of each label of a cell, at least 0, and above 0 for some label, shape (means, cells). Must
            not depend on the labels.
        rows: How many labels a cell has, shape (means, cells).
        ones: Weight of the labels 1 of each mean, shape (means,).
        zeros: Weight of its labels 0, shape (means,).
        delta_each_side: Probability with which either bound of one mean is wrong at most, in (0, 1).

    Returns:
        Lower and upper bounds of sum(weight * rows * chance) / sum(weight * rows), shape (means,) each, at
        any number of rows, whatever the chance of each single label is.

    References:
        Chernoff (1952), Ann. Math. Statist. 23, for equal weights; the bound is derived in `docs/methods.md`.
    """
    most = np.where(rows > 0.0, weight, 0.0).max(axis=1)
    scaled, level = np.maximum(weight / most[:, None], _NOTHING), -math.log(delta_each_side)
    upper = _upper(scaled, rows, ones / most, level=level)
    return 1.0 - _upper(scaled, rows, zeros / most, level=level), upper


def _upper(weight: Floats, rows: Floats, found: Floats, *, level: float) -> Floats:
    total = (weight * rows).sum(axis=1)
    least = np.minimum(_LEAST_BET * np.sqrt(8.0 * level / (weight**2 * rows).sum(axis=1)), 0.1 * _LARGEST_BET)
    best, bet, odds = total.copy(), least.copy(), np.zeros_like(total)

    def try_at(new_bet: Floats, new_odds: Floats) -> None:
        tried = _value(weight, rows, new_bet, new_odds, level + new_bet * found)
        better = tried < best
        for old, new in ((best, tried), (bet, new_bet), (odds, new_odds)):
            old[better] = new[better]

    steps = np.log(_LARGEST_BET / least) / (_BETS - 1), 2.0 * _LARGEST_ODDS / (_RATES - 1)
    for i in range(_BETS):
        for one in np.linspace(-_LARGEST_ODDS, _LARGEST_ODDS, _RATES):
            try_at(least * np.exp(i * steps[0]), np.full_like(total, one))
    for turn in range(1, _TURNS + 1):
        centre = bet.copy(), odds.copy()
        for i, j in ((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j):
            try_at(centre[0] * np.exp(0.5**turn * i * steps[0]), centre[1] + 0.5**turn * j * steps[1])
    return np.asarray(np.minimum(best / total, 1.0))


def _value(weight: Floats, rows: Floats, bet: Floats, odds: Floats, known: Floats) -> Floats:
    """Return the bound of the sum for a bet and the price at which rows of weight 1 have such log odds."""
    most = -np.expm1(-bet)
    price = ((1.0 - most / (1.0 + np.exp(-odds))) / most)[:, None]
    lost = bet[:, None] * weight
    refuted = -np.expm1(-lost)
    rate = np.clip((weight / refuted - price) / weight, 0.0, 1.0)
    log = np.where(rate < 1.0, np.log1p(-np.minimum(rate * refuted, 1.0 - 1e-16)), -lost)
    return np.asarray((rows * (weight * rate + price * log)).sum(axis=1) + price[:, 0] * known)
