"""
Bounds on a population's mean, and on sums of group-wise signed means, by betting.

For values X_i in [-1, 1] of independent rows from one population, the claim "E X >= eps" is bet against with
prod_i (1 - lambda (X_i - eps)), and "|E X| <= eps" with the average over both signs s of
prod_i (1 + lambda (s X_i - eps)). Where every group of rows has one of two values by an unknown but fixed
sign, the product over groups of the lesser one is below the product with the true signs. Under the claim
each has mean at most 1, so it exceeds 1 / delta with probability at most delta (Markov).

References:
    Waudby-Smith & Ramdas (2024), JRSS-B 86, "Estimating means of bounded random variables by betting".
"""

import math

import numpy as np
import numpy.typing as npt

from calibcli.bounds.betting import Stakes, log_sum
from calibcli.bounds.special import Floats
from calibcli.table.crossing import crossing

# Larger collections are summed through the moments of their values.
_DIRECT = 20_000
_MOST_MOMENTS = 120
# Guesses at the variance, which may not be looked up in the rows, and what each is given to bet with.
_VARIANCES = (1 / 4, 1 / 16, 1 / 64, 1 / 256)
_SHARES = (1 / 2, 1 / 4, 1 / 8, 1 / 8)


def stakes_of_rows(rows: int, *, delta: float) -> Stakes:
    """
    Return bets chosen from the number of rows alone.

    Args:
        rows: Number of rows that will be judged.

        delta: Error probability.
    """
    budget = 2.0 * math.log(1.0 / delta) / rows
    return Stakes(tuple(min(0.9, math.sqrt(budget / v)) for v in _VARIANCES), _SHARES)


class GroupedValues:
    """
    Values in [-1, 1] in groups, ready for the products that bets need.

    Args:
        values: Shape (..., n), each within a group along the last axis.

        counts: How many rows have each value, same shape.

        starts: Where each group begins, shape (n_groups + 1,), ending with n.
    """

    def __init__(self, values: Floats, *, counts: Floats, starts: npt.NDArray[np.intp]) -> None:
        self.rows = float(counts.sum())
        self._values, self._counts = values, counts
        self._starts = starts[:-1][starts[1:] > starts[:-1]]
        self._power = counts
        self._moments: list[Floats] = []

    def log_product(self, slope: float) -> Floats:
        """Return the sum of log(1 + slope x) over each group that is not empty; |slope| < 1."""
        needed = math.ceil(-40.0 / math.log(abs(slope))) + 1 if slope else 1
        if self._values.size > _DIRECT and needed <= _MOST_MOMENTS:
            return self._from_moments(slope, needed)
        return self._summed(self._counts * np.log1p(slope * self._values))

    def _from_moments(self, slope: float, needed: int) -> Floats:
        """Sum the series log(1 + slope x) = sum_j -(-slope x)^j / j, whose rest is below e^-40 a row."""
        while len(self._moments) < needed:
            self._power = self._power * self._values
            self._moments.append(self._summed(self._power))
        total = np.zeros(self._starts.size)
        for j in range(needed, 0, -1):
            total -= (-slope) ** j / j * self._moments[j - 1]
        return total

    def _summed(self, terms: Floats) -> Floats:
        flat = terms.reshape(-1, terms.shape[-1]).sum(axis=0)
        return np.asarray(np.add.reduceat(flat, self._starts))


def upper_bound_of_signed_sum(plus: GroupedValues, minus: GroupedValues, *, delta: float) -> float:
    """
    Return an upper bound of the largest mean that signs, one to a group, can give; at most 1.

    Args:
        plus: Values where the group's sign is +1.

        minus: Values of the same rows where it is -1.

        delta: Error probability.
    """
    rows, level = plus.rows, math.log(1.0 / delta)
    stakes = stakes_of_rows(int(rows), delta=delta)

    def evidence(eps: float) -> float:
        terms = []
        for size, share in zip(stakes.sizes, stakes.shares, strict=True):
            # 1 - l (x - eps) = (1 + l eps) (1 - a x) with a = l / (1 + l eps).
            a = size / (1.0 + size * eps)
            least = np.minimum(plus.log_product(-a), minus.log_product(-a)).sum()
            terms.append(math.log(share) + rows * math.log1p(size * eps) + float(least))
        return log_sum(terms) - level

    return crossing(evidence, 0.0, 1.0)[1]


def lower_bound_of_size(values: GroupedValues, *, delta: float) -> float:
    """
    Return a lower bound of the size of the mean; at least 0.

    Args:
        values: All rows.

        delta: Error probability.
    """
    rows, level = values.rows, math.log(1.0 / delta)
    stakes = stakes_of_rows(int(rows), delta=delta)

    def doubt(eps: float) -> float:
        terms = []
        for size, share in zip(stakes.sizes, stakes.shares, strict=True):
            bet = min(size, 0.95 / (1.0 + eps))
            b = bet / (1.0 - bet * eps)
            signs = [float(values.log_product(sign * b).sum()) for sign in (1.0, -1.0)]
            average = log_sum(signs) - math.log(2.0)
            terms.append(math.log(share) + rows * math.log1p(-bet * eps) + average)
        return level - log_sum(terms)

    return crossing(doubt, 0.0, 1.0)[0]
