"""
Bounds on a population's mean, on sums of group-wise signed means and on weighed means, by betting.

For values X_i in [-1, 1] of independent rows from one population, the claim "E X >= eps" is bet against with
prod_i (1 - lambda (X_i - eps)), and "|E X| <= eps" with the average over both signs s of
prod_i (1 + lambda (s X_i - eps)). Where every group of rows has one of two values by an unknown but fixed
sign, the product over groups of the lesser one is below the product with the true signs. Under the claim
each has mean at most 1, so it exceeds 1 / delta with probability at most delta (Markov).

Where X_i = w_i r_i with |w_i| <= 1 and only sum X_i <= n N is known: log(1 - a x) + a x falls as |x| grows,
and faster above 0 than below, so that with a = lambda / (1 + lambda eps) the logarithm of the first product
is at least n log(1 + lambda eps) - a n N + sum_i [log(1 - a |r_i|) + a |r_i|].

References:
    Waudby-Smith & Ramdas (2024), JRSS-B 86, "Estimating means of bounded random variables by betting".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.bounds.betting import Stakes, log_gain, log_sum
from calibcli.bounds.special import Floats
from calibcli.table.crossing import crossing

# Guesses at the variance, which may not be looked up in the rows, and what each is given to bet with.
_VARIANCES = (1 / 4, 1 / 16, 1 / 64, 1 / 256)
_SHARES = (1 / 2, 1 / 4, 1 / 8, 1 / 8)
# The largest coefficients of e and of e^2 that values may have.
MOST_RISE, MOST_BEND = 3.0, 2.0


def stakes_of_rows(rows: int, *, delta: float) -> Stakes:
    """
    Return bets chosen from the number of rows alone.

    Args:
        rows: Number of rows that will be judged.

        delta: Error probability.
    """
    budget = 2.0 * math.log(1.0 / delta) / rows
    return Stakes(tuple(min(0.9, math.sqrt(budget / v)) for v in _VARIANCES), _SHARES, once=True)


def orders_needed(rows: int, *, delta: float, reach: float) -> int:
    """
    Return up to which power of e a bet's logarithm is expanded, so that at most e^-40 a row is left out.

    A row's factor 1 + u e + v e^2 is (1 - p e)(1 - q e) with |p|, |q| <= (|u| + sqrt(u^2 + 4 |v|)) / 2, and
    the series of log(1 - p e) is cut after |p e|^J / J.

    Args:
        rows: Number of rows that will be judged.

        delta: The smallest error probability.

        reach: Largest |e|.
    """
    size = max(stakes_of_rows(rows, delta=delta).sizes)
    # The steepest that `lower_bound_of_size` bets at any eps; `upper_bound_of_signed_sum` stays below it.
    slope = size / (1.0 - size * min(1.0, 0.95 / size - 1.0))
    u, v = (slope * most / (1.0 - slope) for most in (MOST_RISE, MOST_BEND))
    root = 0.5 * (u + math.sqrt(u * u + 4.0 * v))
    return max(2, math.ceil(-40.0 / math.log(root * reach)))


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """
    A value that a row has, as a function of e = score - centre of its piece: level + rise e + bend e^2.

    Args:
        level: Shape (2, n_pieces), rows with label 1 first; in [-1, 1].

        rise: Same shape, at most 3 in size.

        bend: At most 2 in size.
    """

    level: Floats
    rise: Floats
    bend: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """
    Rows gathered by label in pieces of [0, 1], ready for the products that bets need.

    Args:
        centre: From where e = score - centre is counted, shape (2, n_pieces), rows with label 1 first.

        moments: Sums over the rows of each piece of e^0, e^1, and so on, shape (n_orders + 1, 2, n_pieces);
            of e^0 alone where no row is off its centre.
    """

    centre: Floats
    moments: Floats

    @property
    def rows(self) -> float:
        """Number of rows."""
        return float(self.moments[0].sum())

    def sums(self, values: Quadratic) -> Floats:
        """Return the sum of values over each piece, shape (n_pieces,)."""
        total = values.level * self.moments[0]
        for factor, moment in zip((values.rise, values.bend), self.moments[1:3], strict=False):
            total = total + factor * moment
        return np.asarray(total.sum(axis=0))

    def log_products(self, slopes: Floats, values: Quadratic) -> Floats:
        """Return the sum of log(1 + slope x) over each piece, shape (n_slopes, n_pieces); |slope| < 1."""
        slope = slopes[:, None, None]
        excess = slope * values.level
        total = self.moments[0] * np.log1p(excess)
        if len(self.moments) > 1:
            share = slope / (1.0 + excess)
            total += self._expanded(share * values.rise, share * values.bend)
        return np.asarray(total.sum(axis=1))

    def _expanded(self, u: Floats, v: Floats) -> Floats:
        """Sum log(1 + u e + v e^2) as a series in e; j times its coefficients obey a recursion."""
        before, last = u, 2.0 * v - u * u
        total = before * self.moments[1] + last * (0.5 * self.moments[2])
        for j in range(3, len(self.moments)):
            before, last = last, -(u * last + v * before)
            total += last * (self.moments[j] / j)
        return np.asarray(total)


@dataclass(frozen=True, slots=True, eq=False)
class Signed:
    """
    Values of rows by the sign of their group, and what part of the stake is on them.

    Args:
        plus: Values where the group's sign is +1.

        minus: Values of the same rows where it is -1.

        starts: The first piece of each group, shape (n_groups + 1,), ending with n_pieces.

        share: Part of the stake.
    """

    plus: Quadratic
    minus: Quadratic
    starts: npt.NDArray[np.intp]
    share: float


def upper_bound_of_signed_sum(pieces: Pieces, signed: Sequence[Signed], *, delta: float) -> float:
    """
    Return an upper bound of a number that is below the largest mean that signs can give; at most 1.

    Args:
        pieces: The rows.

        signed: Groupings, of which each has a mean that the number is below; shares add up to 1 or less.

        delta: Error probability.
    """
    rows, level = pieces.rows, math.log(1.0 / delta)
    stakes = stakes_of_rows(int(rows), delta=delta)
    sizes, shares = np.array(stakes.sizes), np.log(stakes.shares)
    groups = [one.starts[:-1][one.starts[1:] > one.starts[:-1]] for one in signed]

    def evidence(eps: float) -> float:
        # 1 - l (x - eps) = (1 + l eps) (1 - a x) with a = l / (1 + l eps).
        slopes = -sizes / (1.0 + sizes * eps)
        grown = shares + rows * np.log1p(sizes * eps)
        terms: list[float] = []
        for one, some in zip(signed, groups, strict=True):
            either = (
                np.add.reduceat(pieces.log_products(slopes, values), some, axis=1)
                for values in (one.plus, one.minus)
            )
            terms += (math.log(one.share) + grown + np.minimum(*either).sum(axis=1)).tolist()
        return log_sum(terms) - level

    return crossing(evidence, 0.0, 1.0)[1]


def lower_bound_of_size(pieces: Pieces, values: Quadratic, *, delta: float) -> float:
    """
    Return a lower bound of the size of the mean; at least 0.

    Args:
        pieces: The rows.

        values: What the mean is of.

        delta: Error probability.
    """
    rows, level = pieces.rows, math.log(1.0 / delta)
    stakes = stakes_of_rows(int(rows), delta=delta)
    sizes, shares = np.array(stakes.sizes), np.log(stakes.shares)

    def doubt(eps: float) -> float:
        bets = np.minimum(sizes, 0.95 / (1.0 + eps))
        slopes = bets / (1.0 - bets * eps)
        up, down = (pieces.log_products(sign * slopes, values).sum(axis=1) for sign in (1.0, -1.0))
        average = np.logaddexp(up, down) - math.log(2.0) + log_gain(stakes, rows * bets * eps)
        return level - log_sum((shares + rows * np.log1p(-bets * eps) + average).tolist())

    return crossing(doubt, 0.0, 1.0)[0]


class WeighedResiduals:
    """
    Bets on the mean of residual times a fixed function into [-1, 1] that is not known.

    Args:
        size: |label - score| of some rows or more than it, in [0, 1].

        rows: How many rows have each.
    """

    def __init__(self, size: Floats, rows: Floats) -> None:
        self.rows = float(rows.sum())
        self._size, self._power = size, rows
        self._moments: list[float] = []

    def log_evidence_below(self, eps: float, stakes: Stakes, *, norm: float) -> float:
        """
        Return the log of the e-value against "some such mean is at least eps"; grows with eps.

        Args:
            eps: The limit.

            stakes: The bets.

            norm: The largest that any such mean is in these rows.
        """
        terms = []
        for size, share in zip(stakes.sizes, stakes.shares, strict=True):
            a = size / (1.0 + size * eps)
            kept = self.rows * (math.log1p(size * eps) - a * norm)
            terms.append(math.log(share) + kept - self._bent(a))
        return log_sum(terms)

    def _bent(self, slope: float) -> float:
        """Return minus the sum of log(1 - slope x) + slope x, the series sum_j (slope x)^j / j from j = 2."""
        needed = math.ceil(-40.0 / math.log(slope)) + 1
        while len(self._moments) < needed:
            self._power = self._power * self._size
            self._moments.append(float(self._power.sum()))
        order = np.arange(2, needed + 1)
        return float(np.array(self._moments[1:needed]) @ (slope**order / order))
