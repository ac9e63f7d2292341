"""
Bounds on a sum of absolute gaps by betting against them (e-values).

With residuals r_i in [-1, 1] in fixed groups, the claim "sum_k |sum_{i in k} r_i| / n >= eps in expectation"
is bet against with prod_k min_s prod_{i in k} (1 - lambda (s r_i - eps)): under the claim the product with
the true signs is a supermartingale and this is below it, so it exceeds 1/delta with probability at
most delta (Ville). The claim "<= eps" is bet against with the average over signs of
prod (1 + lambda (s r_i - eps)), the signs of groups being drawn half of the time as one, a quarter of the
time with one change at an even place of [0, 1], and else each by itself. Several lambdas are mixed with fixed
weights.

Where one looks once, the average may be multiplied by 2 / (1 + e^-A), A = lambda eps n. Under the claim the
product for signs s has a mean of at most exp(sum_k s_k a_k - A), a_k lambda times the expected sum of group
k, so that sum |a_k| <= A. That is convex in a, so its average is largest where all of A is in one group, and
there it is (1 + e^-2A) / 2, since a group has either sign as often as the other.

References:
    Waudby-Smith & Ramdas (2024), JRSS-B 86, "Estimating means of bounded random variables by betting".
"""

import math
from dataclasses import dataclass
from typing import Annotated, Literal, Self, cast

import numpy as np
import numpy.typing as npt

from calibcli.bounds.special import Floats
from calibcli.codec import ABSENT, HIDDEN, Between, Declared, Node, Size, thing
from calibcli.table.crossing import crossing

# Tables with more cells than this are summed through the moments of their residuals.
_DIRECT_CELLS = 20_000
_MOST_MOMENTS = 120
# Of bets for 250 * 4^j rows; they sum to 1 without rounding.
_ANY_TIME_SHARES = tuple(weight / 16.0 for weight in (1.0, 2.0, 3.5, 3.5, 2.0, 1.25, 1.0, 0.75, 0.5, 0.5))


@dataclass(frozen=True, slots=True)
class Stakes(Declared):
    """A mixture of bets, chosen without looking at the labels that will be judged."""

    sizes: Annotated[tuple[float, ...], Between(0.0, 1.0), "The lambdas."]
    shares: Annotated[
        tuple[float, ...], Between(0.0, 1.0), Size(of="sizes", reason="one for each size"), "Their weights."
    ]
    # Whether the bets are looked at once only, and so may be multiplied by what they are short of 1.
    once: Annotated[bool, HIDDEN] = False
    # Whether the sign of every group is drawn by itself, as states that were begun so have it.
    alone: Annotated[bool, HIDDEN] = False

    @property
    def signs(
        self,
    ) -> Annotated[
        Literal["together"] | None,
        ABSENT,
        "Whether bets on a FAIL draw the signs of bins together too; without it bin by bin.",
    ]:
        """How the signs of groups are drawn."""
        return None if self.alone else "together"

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore what `to_dict` returned; states of before drew signs bin by bin alone, and say nothing."""
        return cast("Self", thing(cls).read(node.knowing(alone=not node.has("signs"))))

    def check(self, node: Node) -> None:
        """Refuse bets that no gate makes."""
        if not self.sizes or max(self.sizes) > 0.6 or min(*self.sizes, *self.shares) <= 0.0:
            msg = "has bets outside (0, 0.6], or without a share"
            raise node.problem(msg)
        if not math.isclose(sum(self.shares), 1.0, rel_tol=1e-9):
            msg = f"has shares that add up to {sum(self.shares)!r}, should be 1"
            raise node.child("shares").problem(msg)


def stakes_for_one_look(rows: float, variance: float, *, delta: float) -> Stakes:
    """
    Return bets that are sharp at one planned number of rows.

    Args:
        rows: Number of rows that will be judged.

        variance: What the mean of f (1 - f) is expected to be; from scores or from training counts.

        delta: Error probability.
    """
    budget = 2.0 * math.log(1.0 / delta) / rows
    v0 = min(max(variance, 1e-12), 0.25)
    sizes = tuple(min(0.9, math.sqrt(budget / v)) for v in (v0, min(0.25, 4.0 * v0), v0 / 4.0))
    return Stakes(sizes, (0.8, 0.1, 0.1), once=True)


def stakes_for_a_mean(rows: float, variance: float, *, delta: float) -> Stakes:
    """
    Return bets on one mean that are sharp at the variance expected, and not lost where it is far larger.

    Args:
        rows: Number of rows that will be judged.

        variance: What the mean of f (1 - f) is expected to be.

        delta: Error probability.
    """
    level = math.log(1.0 / delta)
    guesses = [max(rows * variance, 0.05 * level)]
    while guesses[-1] < 0.25 * rows:
        guesses.append(4.0 * guesses[-1])
    # By Bennett's inequality a sum of this variance strays so far; the bet is the one that is best there.
    strays = [math.sqrt(2.0 * level * guess) + level / 3.0 for guess in guesses]
    sizes = tuple(stray / (guess + stray) for guess, stray in zip(guesses, strays, strict=True))
    # Half on the first, a quarter on the next, and so on; what the halves leave goes with the last.
    shares = [0.5 ** (j + 1) for j in range(len(sizes))]
    shares[-1] *= 2.0
    return Stakes(sizes, tuple(shares))


def stakes_for_any_time(*, delta: float, variance: float = 0.25) -> Stakes:
    """
    Return bets that stay valid whenever and however often one looks; sharp from 250 to 65 million rows.

    Most is put on the bets for some thousand rows, where most gates are decided.

    Args:
        delta: Error probability.

        variance: What the mean of f (1 - f) is expected to be, from rows that will not be judged; 1/4, the
            most there is, where nothing else is known.
    """
    budget = 2.0 * math.log(1.0 / delta) / min(max(variance, 1e-12), 0.25)
    sizes = tuple(min(0.6, math.sqrt(budget / (250.0 * 4**j))) for j in range(10))
    return Stakes(sizes, _ANY_TIME_SHARES)


class GroupedResiduals:
    """
    Residuals label - score in groups, ready for the products that bets need.

    Args:
        score: Score of each cell, shape (n_cells,).

        positive: Number of rows with label 1 in each cell.

        negative: Number of rows with label 0 in each cell.

        starts: Where each group begins, shape (n_groups + 1,), ending with n_cells.

        places: Where groups lie in [0, 1], ascending, shape (n_groups,), by no say of the rows; else evenly.
    """

    def __init__(
        self,
        score: Floats,
        *,
        positive: Floats,
        negative: Floats,
        starts: npt.NDArray[np.intp],
        places: Floats | None = None,
    ) -> None:
        self.rows = float(positive.sum() + negative.sum())
        self._score, self._positive, self._negative = score, positive, negative
        some = starts[1:] > starts[:-1]
        self._starts = starts[:-1][some]
        self._places = (np.arange(1.0, starts.size) / (starts.size - 1) if places is None else places)[some]
        self._powers = [positive.astype(np.float64), negative.astype(np.float64)]
        self._residuals: tuple[Floats, Floats] | None = None
        self._moments: list[Floats] = []

    def log_product(self, slope: float) -> Floats:
        """Return sum of log(1 + slope r_i) in each group that is not empty; |slope| < 1."""
        needed = math.ceil(-40.0 / math.log(abs(slope))) + 1 if slope else 1
        if self._score.size > _DIRECT_CELLS and needed <= _MOST_MOMENTS:
            return self._from_moments(slope, needed)
        terms = self._positive * np.log1p(slope * (1.0 - self._score))
        terms += self._negative * np.log1p(-slope * self._score)
        return np.add.reduceat(terms, self._starts)

    def _from_moments(self, slope: float, needed: int) -> Floats:
        """Sum the series log(1 + slope r) = sum_j -(-slope r)^j / j, whose rest is below e^-40 a row."""
        if self._residuals is None:
            self._residuals = 1.0 - self._score, -self._score
        while len(self._moments) < needed:
            # Weight times r^j of the rows with label 1 and of those with label 0, from the powers before.
            self._powers[0] *= self._residuals[0]
            self._powers[1] *= self._residuals[1]
            self._moments.append(np.add.reduceat(self._powers[0] + self._powers[1], self._starts))
        total = np.zeros(self._starts.size)
        for j in range(needed, 0, -1):
            total -= (-slope) ** j / j * self._moments[j - 1]
        return total

    def log_evidence_below(self, eps: float, stakes: Stakes) -> float:
        """Return the log of the e-value against "the error is at least eps"; grows with eps."""
        terms = []
        for size, share in zip(stakes.sizes, stakes.shares, strict=True):
            # 1 - l (s r - eps) = (1 + l eps) (1 - a s r) with a = l / (1 + l eps).
            a = size / (1.0 + size * eps)
            least = np.minimum(self.log_product(-a), self.log_product(a)).sum()
            terms.append(math.log(share) + self.rows * math.log1p(size * eps) + float(least))
        return log_sum(terms)

    def log_evidence_above(self, eps: float, stakes: Stakes) -> float:
        """Return the log of the e-value against "the error is at most eps"; falls with eps."""
        terms = []
        for size, share in zip(stakes.sizes, stakes.shares, strict=True):
            bet = min(size, 0.95 / (1.0 + eps))
            b = bet / (1.0 - bet * eps)
            both = self.log_product(b), self.log_product(-b)
            average = log_mean_over_signs(*both, self._places, alone=stakes.alone)
            gain = log_gain(stakes, self.rows * bet * eps)
            terms.append(math.log(share) + self.rows * math.log1p(-bet * eps) + float(average + gain))
        return log_sum(terms)

    def upper_bound(self, stakes: Stakes, *, delta: float) -> float:
        """Return the least eps at which "at least eps" is refuted at level delta; 1 if none is."""
        level = math.log(1.0 / delta)
        return crossing(lambda eps: self.log_evidence_below(eps, stakes) - level, 0.0, 1.0)[1]

    def lower_bound(self, stakes: Stakes, *, delta: float) -> float:
        """Return the largest eps at which "at most eps" is refuted at level delta; 0 if none is."""
        level = math.log(1.0 / delta)
        return crossing(lambda eps: level - self.log_evidence_above(eps, stakes), 0.0, 1.0)[0]

    def mean_upper_bound(self, stakes: Stakes, *, delta: float, sign: int) -> float:
        """
        Return the least m at which "sign * mean residual is at least m" is refuted at level delta.

        Args:
            stakes: The bets; sizes above 0.95 / (1 - m) are cut, so that no bet can lose more than it has.

            delta: Error probability.

            sign: 1 bounds the mean from above; -1 bounds minus the mean from above.
        """
        level = math.log(1.0 / delta)

        def evidence(m: float) -> float:
            terms = []
            for size, share in zip(stakes.sizes, stakes.shares, strict=True):
                bet = size if size * (1.0 - m) <= 0.95 else 0.95 / (1.0 - m)
                growth = float(self.log_product(-sign * bet / (1.0 + bet * m)).sum())
                terms.append(math.log(share) + self.rows * math.log1p(bet * m) + growth)
            return log_sum(terms) - level

        return crossing(evidence, -1.0, 1.0)[1]


def log_mean_over_signs(plus: Floats, minus: Floats, places: Floats, *, alone: bool = False) -> Floats:
    """
    Return the log of the average over signs of products over groups.

    Args:
        plus: Log of the factor of each group if its sign is +1, shape (..., n_groups).

        minus: The same if it is -1.

        places: Where groups lie, ascending in [0, 1], shape (n_groups,).

        alone: Whether every sign is drawn by itself.
    """
    independent = (np.logaddexp(plus, minus) - math.log(2.0)).sum(axis=-1)
    if alone:
        return np.asarray(independent)
    zero = np.zeros((*plus.shape[:-1], 1))
    # Of as many groups as come before the change, and of those after it.
    before, after = [], []
    for one in (plus, minus):
        path = np.concatenate((zero, np.cumsum(one, axis=-1)), axis=-1)
        before.append(path)
        after.append(path[..., -1:] - path)
    with np.errstate(divide="ignore"):
        share = np.log(np.diff(places, prepend=0.0, append=1.0))
    changed = np.logaddexp(before[0] + after[1], before[1] + after[0]) + share
    kinds = (
        math.log(0.5) + np.logaddexp(before[0][..., -1], before[1][..., -1]),
        math.log(0.25) + np.logaddexp.reduce(changed, axis=-1),
        math.log(0.5) + independent,
    )
    return np.asarray(np.logaddexp.reduce(kinds, axis=0) - math.log(2.0))


def log_gain(stakes: Stakes, size: Floats | float) -> Floats:
    """
    Return the log of what wealth may be multiplied by where one looks once, or of a little less.

    Args:
        stakes: The bets.

        size: The bet times the limit times the rows.
    """
    # With e^-A in place of e^-2A the evidence falls with the limit everywhere.
    return np.asarray(math.log(2.0) - np.log1p(np.exp(-size)) if stakes.once else 0.0)


def log_sum(terms: list[float]) -> float:
    """Return the log of the sum of exponentials."""
    top = max(terms)
    if math.isinf(top):
        return top
    return top + math.log(sum(math.exp(term - top) for term in terms))
