"""Bounds by betting (e-values): on sums of absolute gaps, and on means of a population."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, Self, cast

import numpy as np

from calibcli.codec import ABSENT, HIDDEN, Between, Declared, Node, Size, Thing
from calibcli.stats.numerics import Floats, Indices, crossing
from calibcli.values import dataclass

# Tables with more cells than this are summed through the moments of their residuals.
_DIRECT_CELLS = 20_000

_MOST_MOMENTS = 120
# Of fewer cells several bets together are faster.
CELLS_AT_ONCE = 1_500

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
        return None if self.alone else "together"

    @classmethod
    def from_dict(cls, node: Node) -> Self:
        """Restore what `to_dict` returned; states of before drew signs bin by bin alone, and say nothing."""
        return cast("Self", Thing(cls).restored(node.knowing(alone=not node.has("signs"))))

    def check(self, node: Node) -> None:
        """Refuse bets that no gate makes."""
        if not self.sizes or max(self.sizes) > 0.6 or min(*self.sizes, *self.shares) <= 0.0:
            msg = "has bets outside (0, 0.6], or without a share"
            raise node.problem(msg)
        if not math.isclose(sum(self.shares), 1.0, rel_tol=1e-9):
            msg = f"has shares that add up to {sum(self.shares)!r}, should be 1"
            raise node.child("shares").problem(msg)


def stakes_for_one_look(rows: float, variance: float, *, delta: float) -> Stakes:
    """Return bets that are sharp at one planned number of rows."""
    budget = 2.0 * math.log(1.0 / delta) / rows
    v0 = min(max(variance, 1e-12), 0.25)
    sizes = tuple(min(0.9, math.sqrt(budget / v)) for v in (v0, min(0.25, 4.0 * v0), v0 / 4.0))
    return Stakes(sizes, (0.8, 0.1, 0.1), once=True)


def stakes_for_a_mean(rows: float, variance: float, *, delta: float) -> Stakes:
    """Return bets on one mean that are sharp at the variance expected, and not lost where it is larger."""
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
    """Return bets that stay valid whenever and however often one looks; sharp from 250 to 65 million rows.

    Most is put on the bets for some thousand rows, where most gates are decided.
    """
    budget = 2.0 * math.log(1.0 / delta) / min(max(variance, 1e-12), 0.25)
    sizes = tuple(min(0.6, math.sqrt(budget / (250.0 * 4**j))) for j in range(10))
    return Stakes(sizes, _ANY_TIME_SHARES)


def stakes_of_gate(rows: float, variance: float | None, *, delta: float) -> Stakes:
    """Return the bets of a gate: for one look by a variance known before, else for any time."""
    if variance is None:
        return stakes_for_any_time(delta=delta)
    return stakes_for_one_look(max(rows, 1), variance, delta=delta)


def against_more(stakes: Stakes, eps: float | Floats) -> tuple[Floats, Floats]:
    """Return the slopes a, and l eps, of bets against a mean of at least eps.

    1 - l (x - eps) = (1 + l eps) (1 - a x) with a = l / (1 + l eps), l the sizes of the stakes.
    """
    sizes = np.array(stakes.sizes)
    return sizes / (1.0 + sizes * eps), sizes * eps


def against_less(stakes: Stakes, eps: float | Floats) -> tuple[Floats, Floats]:
    """Return the slopes b, and l eps, of bets against a mean of at most eps.

    1 + l (x - eps) = (1 - l eps) (1 + b x) with b = l / (1 - l eps), l cut so that no row takes all there is.
    """
    bets = np.minimum(stakes.sizes, 0.95 / (1.0 + eps))
    return np.asarray(bets / (1.0 - bets * eps)), np.asarray(bets * eps)


class ErrorBets(ABC):
    """Bets for and against "an error is at most eps", on rows that are given, at every eps."""

    @abstractmethod
    def log_pass(self, eps: float, stakes: Stakes) -> float:
        """Return the log of the e-value against "the error is at least eps"; grows with eps."""

    @abstractmethod
    def log_fail(self, eps: float, stakes: Stakes) -> float:
        """Return the log of the e-value against "the error is at most eps"; falls with eps."""

    def upper_bound(self, stakes: Stakes, *, delta: float) -> float:
        """Return the least eps at which "at least eps" is refuted at level delta; 1 if none is."""
        level = math.log(1.0 / delta)
        return crossing(lambda eps: self.log_pass(eps, stakes) - level, 0.0, 1.0)[1]

    def lower_bound(self, stakes: Stakes, *, delta: float) -> float:
        """Return the largest eps at which "at most eps" is refuted at level delta; 0 if none is."""
        level = math.log(1.0 / delta)
        return crossing(lambda eps: level - self.log_fail(eps, stakes), 0.0, 1.0)[0]


class GroupedResiduals(ErrorBets):
    """Residuals label - score in groups, ready for the products that bets need.

    Args:
        score: Of each cell, shape (n_cells,); `positive` and `negative` are its rows with label 1 and with 0.
        starts: Where each group begins, shape (n_groups + 1,), ending with n_cells.
        places: Where groups lie in [0, 1], ascending, shape (n_groups,), by no say of the rows; else evenly.
    """

    def __init__(
        self,
        score: Floats,
        *,
        positive: Floats,
        negative: Floats,
        starts: Indices,
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
        return self._from_cells(slope)

    def log_products(self, slopes: Floats) -> Floats:
        """Return the same of several slopes, those of few cells all at once, shape (slopes, groups)."""
        if self._score.size > CELLS_AT_ONCE:
            return np.stack([self.log_product(slope) for slope in slopes.tolist()])
        return self._from_cells(slopes[:, None])

    def _from_cells(self, slope: Floats | float) -> Floats:
        terms = self._positive * np.log1p(slope * (1.0 - self._score))
        terms += self._negative * np.log1p(-slope * self._score)
        return np.add.reduceat(terms, self._starts, axis=-1)

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

    def log_pass(self, eps: float, stakes: Stakes) -> float:
        slopes, won = against_more(stakes, eps)
        least = np.minimum(self.log_products(-slopes), self.log_products(slopes)).sum(axis=-1)
        return log_sum((np.log(stakes.shares) + self.rows * np.log1p(won) + least).tolist())

    def log_fail(self, eps: float, stakes: Stakes) -> float:
        slopes, lost = against_less(stakes, eps)
        both = self.log_products(slopes), self.log_products(-slopes)
        average = log_mean_over_signs(*both, self._places, alone=stakes.alone)
        average += log_gain(stakes, self.rows * lost)
        return log_sum((np.log(stakes.shares) + self.rows * np.log1p(-lost) + average).tolist())

    def mean_upper_bound(self, stakes: Stakes, *, delta: float, sign: int) -> float:
        """Return the least m at which "sign * mean residual is at least m" is refuted at level delta.

        Sizes of stakes above 0.95 / (1 - m) are cut, so that no bet can lose more than it has.
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
    """Return the log of the average over signs of products over groups.

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
        share = np.log(np.diff(np.concatenate(([0.0], places, [1.0]))))
    changed = np.logaddexp(before[0] + after[1], before[1] + after[0]) + share
    kinds = (
        math.log(0.5) + np.logaddexp(before[0][..., -1], before[1][..., -1]),
        math.log(0.25) + np.logaddexp.reduce(changed, axis=-1),
        math.log(0.5) + independent,
    )
    return np.asarray(np.logaddexp.reduce(kinds, axis=0) - math.log(2.0))


def log_gain(stakes: Stakes, size: Floats | float) -> Floats:
    """Return the log of what wealth may be multiplied by where one looks once, or of a little less."""
    # With e^-A in place of e^-2A the evidence falls with the limit everywhere.
    return np.asarray(math.log(2.0) - np.log1p(np.exp(-size)) if stakes.once else 0.0)


def log_sum(terms: list[float]) -> float:
    """Return the log of the sum of exponentials."""
    top = max(terms)
    if math.isinf(top):
        return top
    return top + math.log(sum(math.exp(term - top) for term in terms))


# Guesses at the variance, which may not be looked up in the rows, and what each is given to bet with.
_VARIANCES = (1 / 4, 1 / 16, 1 / 64, 1 / 256)

_SHARES = (1 / 2, 1 / 4, 1 / 8, 1 / 8)

# The largest coefficients of e and of e^2 that values may have.
MOST_RISE, MOST_BEND = 3.0, 2.0


def stakes_of_rows(rows: int, *, delta: float) -> Stakes:
    """Return bets chosen from the number of rows alone."""
    budget = 2.0 * math.log(1.0 / delta) / rows
    return Stakes(tuple(min(0.9, math.sqrt(budget / v)) for v in _VARIANCES), _SHARES, once=True)


def orders_needed(rows: int, *, delta: float, reach: float) -> int:
    """Return up to which power of e a bet's logarithm is expanded, so that at most e^-40 a row is left out.

    A row's factor 1 + u e + v e^2 is (1 - p e)(1 - q e) with |p|, |q| <= (|u| + sqrt(u^2 + 4 |v|)) / 2, and
    the series of log(1 - p e) is cut after |p e|^J / J.
    """
    size = max(stakes_of_rows(rows, delta=delta).sizes)
    # The steepest that `lower_bound_of_size` bets at any eps; `evidence_on_signed_sum` stays below it.
    slope = size / (1.0 - size * min(1.0, 0.95 / size - 1.0))
    u, v = (slope * most / (1.0 - slope) for most in (MOST_RISE, MOST_BEND))
    root = 0.5 * (u + math.sqrt(u * u + 4.0 * v))
    return max(2, math.ceil(-40.0 / math.log(root * reach)))


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """A value that a row has, as a function of e = score - centre of its piece: level + rise e + bend e^2.

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
    """Rows gathered by label in pieces of [0, 1], ready for the products that bets need.

    Args:
        centre: From where e = score - centre is counted, shape (2, n_pieces), rows with label 1 first.
        moments: Sums over the rows of each piece of e^0, e^1, and so on, shape (n_orders + 1, 2, n_pieces);
            of e^0 alone where no row is off its centre.
    """

    centre: Floats
    moments: Floats

    @property
    def rows(self) -> float:
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
            total += self._expanded(share * values.rise, share * values.bend if values.bend else None)
        return np.asarray(total.sum(axis=1))

    def _expanded(self, u: Floats, v: Floats | None) -> Floats:
        """Sum log(1 + u e + v e^2) as a series in e; j times its coefficients obey a recursion."""
        last, spare = -u * u, u.copy()
        if v is not None:
            last += 2.0 * v
        total = u * self.moments[1] + last * (0.5 * self.moments[2])
        before, turned = u, -u
        for j in range(3, len(self.moments)):
            if v is None:
                last *= turned
            else:
                before, last = last, turned * last - v * before
            total += np.multiply(last, self.moments[j] / j, out=spare)
        return np.asarray(total)


@dataclass(frozen=True, slots=True, eq=False)
class Signed:
    """Values of rows by the sign of their group, and what part of the stake is on them.

    Args:
        plus: Values where the group's sign is +1.
        minus: Values of the same rows where it is -1.
        starts: The first piece of each group, shape (n_groups + 1,), ending with n_pieces.
    """

    plus: Quadratic
    minus: Quadratic
    starts: Indices
    share: float


def evidence_on_signed_sum(
    pieces: Pieces, signed: Sequence[Signed], *, delta: float
) -> Callable[[float], float]:
    """Return log evidence that the largest mean that signs can give is below a number, less what it takes."""
    rows, level = pieces.rows, math.log(1.0 / delta)
    stakes = stakes_of_rows(int(rows), delta=delta)
    groups = [one.starts[:-1][one.starts[1:] > one.starts[:-1]] for one in signed]

    def evidence(eps: float) -> float:
        slopes, won = against_more(stakes, eps)
        grown = np.log(stakes.shares) + rows * np.log1p(won)
        terms: list[float] = []
        for one, some in zip(signed, groups, strict=True):
            either = (
                np.add.reduceat(pieces.log_products(-slopes, values), some, axis=1)
                for values in (one.plus, one.minus)
            )
            terms += (math.log(one.share) + grown + np.minimum(*either).sum(axis=1)).tolist()
        return log_sum(terms) - level

    return evidence


def lower_bound_of_size(pieces: Pieces, values: Quadratic, *, delta: float) -> float:
    """Return a lower bound of the size of the mean; at least 0."""
    rows, level = pieces.rows, math.log(1.0 / delta)
    stakes = stakes_of_rows(int(rows), delta=delta)

    def doubt(eps: float) -> float:
        slopes, lost = against_less(stakes, eps)
        up, down = (pieces.log_products(sign * slopes, values).sum(axis=1) for sign in (1.0, -1.0))
        average = np.logaddexp(up, down) - math.log(2.0) + log_gain(stakes, rows * lost)
        return level - log_sum((np.log(stakes.shares) + rows * np.log1p(-lost) + average).tolist())

    return crossing(doubt, 0.0, 1.0)[0]


class WeighedResiduals:
    """Bets on the mean of residual times a fixed function into [-1, 1]; `size` is |residual| or more."""

    def __init__(self, size: Floats, rows: Floats) -> None:
        self.rows = float(rows.sum())
        self._size, self._power = size, rows
        self._moments: list[float] = []

    def log_pass(self, eps: float, stakes: Stakes, *, norm: float) -> float:
        """Return the log of the e-value against "some such mean is at least eps"; grows with eps."""
        slopes, won = against_more(stakes, eps)
        kept = np.log(stakes.shares) + self.rows * (np.log1p(won) - slopes * norm)
        bent = [self._bent(slope) for slope in slopes.tolist()]
        return log_sum((kept - bent).tolist())

    def _bent(self, slope: float) -> float:
        """Return minus the sum of log(1 - slope x) + slope x, the series sum_j (slope x)^j / j from j = 2."""
        needed = math.ceil(-40.0 / math.log(slope)) + 1
        while len(self._moments) < needed:
            self._power = self._power * self._size
            self._moments.append(float(self._power.sum()))
        order = np.arange(2, needed + 1)
        return float(np.array(self._moments[1:needed]) @ (slope**order / order))
