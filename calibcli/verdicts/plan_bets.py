"""The bets of `bounds.betting` on many tables at once, at one limit: what a simulated gate asks."""

import math
from collections.abc import Iterator

import numpy as np

from calibcli.bounds.betting import Stakes, log_gain, log_mean_over_signs
from calibcli.table.score_table import Floats, Integers
from calibcli.verdicts.plan_population import Population


def log_evidence(
    count: Integers,
    ones: Integers,
    *,
    population: Population,
    limit: float,
    stakes: Stakes,
    above: bool = False,
) -> Floats:
    """
    Return logs of e-values: those of `GroupedResiduals.log_evidence_below`, or `_above`.

    Args:
        count: Rows of each value of the score, shape (..., n_values).

        ones: How many of them have label 1.

        population: The values and the bins.

        limit: The limit that is bet on.

        stakes: The bets.

        above: Whether the bets are against "at most the limit", those of a fail.

    Returns:
        Shape (...).
    """
    positive, negative = ones.astype(np.float64), (count - ones).astype(np.float64)
    rows = count.sum(axis=-1).astype(np.float64)
    score, inside = population.score, _membership(population)

    def log_product(slope: float) -> Floats:
        of_one, of_zero = np.log1p(slope * (1.0 - score)), np.log1p(-slope * score)
        if inside is None:
            return np.asarray(positive * of_one + negative * of_zero)
        return np.asarray(positive @ (of_one[:, None] * inside) + negative @ (of_zero[:, None] * inside))

    terms = []
    for share, slope, growth in _bets(stakes, limit, above=above):
        plus, minus = log_product(slope), log_product(-slope)
        if above:
            average = log_mean_over_signs(plus, minus, population.places, alone=stakes.alone)
            average += log_gain(stakes, rows * slope * limit / (1.0 + slope * limit))
        else:
            average = np.minimum(plus, minus).sum(axis=-1)
        terms.append(math.log(share) + rows * growth + average)
    return np.asarray(np.logaddexp.reduce(terms, axis=0))


def _membership(population: Population) -> Floats | None:
    """Return which value lies in which bin, shape (n_values, n_bins); None where each is a bin of its own."""
    values, bins = population.score.size, population.starts.size - 1
    if values == bins:
        return None
    place = np.repeat(np.arange(bins), np.diff(population.starts))
    return np.asarray(place[:, None] == np.arange(bins), dtype=np.float64)


def _bets(stakes: Stakes, limit: float, *, above: bool) -> Iterator[tuple[float, float, float]]:
    """Yield the share, the slope and the growth in each row of every bet."""
    for size, share in zip(stakes.sizes, stakes.shares, strict=True):
        if above:
            bet = min(size, 0.95 / (1.0 + limit))
            yield share, bet / (1.0 - bet * limit), math.log1p(-bet * limit)
        else:
            yield share, size / (1.0 + size * limit), math.log1p(size * limit)
