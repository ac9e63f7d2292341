"""Bets on the sums of a state that may be asked at any time (e-values), and the alarm made of them."""

import math
from collections.abc import Callable
from typing import Annotated

import numpy as np

from calibcli.codec import INLINE, Between, Declared
from calibcli.names import MeasureName
from calibcli.stats.bounds import betting
from calibcli.stats.gates.cells import SPARSE, Partition, Sums
from calibcli.stats.table import Floats, Indices, run_starts
from calibcli.stats.table.grid import UNIT
from calibcli.values import dataclass

ROUNDING = 2.0**-46

# Sizes are kept to so many decimals: they are free to choose, and logarithms differ between processors.
_DECIMALS = 9


def frozen_stakes(*, delta: float, variance: float | None) -> betting.Stakes:
    """Return the bets that a state keeps for good."""
    stakes = betting.stakes_for_any_time(delta=delta, variance=0.25 if variance is None else variance)
    return betting.Stakes(tuple(round(size, _DECIMALS) for size in stakes.sizes), stakes.shares)


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """What a bet multiplies up: 1 + slope * x(f) for each row.

    Args:
        values: x at the mean score of each cell, for rows with label 1 and with label 0; shape (2, n_cells).
        starts: Where each group of cells starts whose sign is chosen by itself.
        places: Where groups lie in [0, 1]: the output, or the right edge of the bin.
        steepness: Largest |x'| over all scores.
        bend: Largest |x''|.
        scale: What the limit is multiplied by before it is compared with a mean of x.
    """

    values: Floats
    starts: Indices
    places: Floats
    steepness: float = 1.0
    bend: float = 0.0
    scale: float = 1.0


class Bets(betting.ErrorBets):
    """Bets for and against "the error is at most eps" on the rows behind some sums.

    For the ECE with residuals r = y - f and bins k, and for every lambda of the stakes:

        against ">= eps":  prod_k min_s prod_{i in k} (1 - lambda (s r_i - eps))
        against "<= eps":  the average over signs s_k of prod_k prod_{i in k} (1 + lambda (s_k r_i - eps))

    For the distance to calibration, above: the same with s (y - m_k) + |f - m_k| for s r, m_k the middle of
    the bin; below: over one bin, the average of the bets on r with eps and on r (2 f - 1) with 3 eps.
    """

    def __init__(self, sums: Sums, partition: Partition, *, measure: MeasureName) -> None:
        rows, positive, *below = (np.array(column, np.float64) for column in sums.columns)
        some = rows > 0
        self.rows = float(rows.sum())
        self._width = partition.width
        self._counts = np.stack((positive, rows - positive))[:, some]
        distance = np.stack(below)[:, some] / np.maximum(self._counts, 1.0) / UNIT
        score = np.clip(partition.upper[some] - distance, 0.0, 1.0)
        residual = np.stack((1.0 - score[0], -score[1]))
        inside = np.flatnonzero(some) // partition.per_bin
        starts = run_starts(inside)
        places = partition.places[inside[starts]]
        bins = Factors(residual, starts, places)
        if measure is MeasureName.DCE:
            middle = (inside + 0.5) / max(partition.bins, 1)
            gap, moved = np.stack((1.0 - middle, -middle)), np.abs(score - middle)
            whole = np.zeros(min(1, starts.size), np.intp)
            self._signed = (Factors(gap + moved, starts, places), Factors(moved - gap, starts, places))
            end = np.ones(whole.size)
            tilted = Factors(residual * (2.0 * score - 1.0), whole, end, steepness=3.0, bend=4.0, scale=3.0)
            self._tests: tuple[Factors, ...] = (Factors(residual, whole, end), tilted)
            self._moved = float((self._counts * moved).sum())
            self._gap = gap
        else:
            self._signed = (bins, Factors(-residual, starts, places))
            self._tests = (bins,)
            self._moved, self._gap = 0.0, residual

    @property
    def value(self) -> float:
        """The plug-in estimate."""
        gaps = np.add.reduceat((self._counts * self._gap).sum(axis=0), self._signed[0].starts)
        return min(1.0, (float(np.abs(gaps).sum()) + self._moved) / self.rows)

    def log_pass(self, eps: float, stakes: betting.Stakes) -> float:
        slopes, won = betting.against_more(stakes, eps)
        plus, minus = (self._log_products(terms, -slopes) for terms in self._signed)
        wealth = np.log(stakes.shares) + self.rows * np.log1p(won) + np.minimum(plus, minus).sum(axis=1)
        return betting.log_sum(wealth.tolist())

    def log_fail(self, eps: float, stakes: betting.Stakes) -> float:
        wealth: list[float] = []
        for terms in self._tests:
            slopes, lost = betting.against_less(stakes, terms.scale * eps)
            both = self._log_products(terms, slopes), self._log_products(terms, -slopes)
            average = betting.log_mean_over_signs(*both, terms.places, alone=stakes.alone)
            shares = np.array(stakes.shares) / len(self._tests)
            wealth += (np.log(shares) + self.rows * np.log1p(-lost) + average).tolist()
        return betting.log_sum(wealth)

    def _log_products(self, terms: Factors, slopes: Floats) -> Floats:
        """Return sums of log(1 + slope x) over the rows of groups, or less, (slopes, groups); |slope| < 1."""
        if self._counts.shape[1] > betting.CELLS_AT_ONCE and slopes.size > 1:
            return np.concatenate([self._log_products(terms, one) for one in slopes[:, None]])
        slope = slopes[:, None, None]
        steep = slope / (1.0 - np.abs(slope))
        bent = (steep * terms.steepness) ** 2 + np.abs(steep) * terms.bend
        loss = bent * self._width**2 / 8.0 + ROUNDING
        logs = (self._counts * (np.log1p(slope * terms.values) - loss)).sum(axis=1)
        return np.asarray(np.add.reduceat(logs, terms.starts, axis=-1))


# Rates are drawn about an output as if so many rows had been seen at it.
_PRIOR_ROWS = 30.0


def log_evidence_against_calibration(sums: Sums, partition: Partition) -> float:
    """Return the log of the e-value against "every output is the rate of label 1 exactly".

    With x of n rows positive at output v it is the sum over outputs of
    ln B(k v + x, k (1 - v) + n - x) - ln B(k v, k (1 - v)) - x ln v - (n - x) ln(1 - v): the odds of labels
    whose rates are drawn from Beta distributions about the outputs. A label that an output of 0 or 1 rules
    out makes it infinite.
    """
    total = 0.0
    for v, n, x in zip(partition.outputs, sums.rows, sums.positive, strict=True):
        if n == 0:
            continue
        if v in (0.0, 1.0):
            if x != n * v:
                return math.inf
            continue
        a, b = _PRIOR_ROWS * v, _PRIOR_ROWS * (1.0 - v)
        drawn = _log_beta(a + x, b + n - x) - _log_beta(a, b)
        total += drawn - x * math.log(v) - (n - x) * math.log1p(-v) - 4.0 * n * ROUNDING
    return total


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


MOST_EPOCHS = 64


@dataclass(frozen=True, slots=True)
class Epoch(Declared):
    """Consecutive batches added up."""

    first: Annotated[int, Between(1), "Number of the first batch, from 1 on."]
    sums: Annotated[Sums, SPARSE, INLINE]


@dataclass(frozen=True, slots=True)
class Start:
    """What the bet that starts with batch `first` has made: the log of its wealth, its weight included."""

    first: int
    log_wealth: float


def thinned(epochs: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
    """Return at most `MOST_EPOCHS` epochs.

    While there are more, the two neighbours are put together that span the fewest batches for their age,
    so that for a change at any time in the past a start is kept within a small part of the time since.
    """
    found = list(epochs)
    while len(found) > MOST_EPOCHS:
        last = found[-1].first + 1
        ends = [*(epoch.first for epoch in found[1:]), last]
        # The last epoch is the batch that has just come and stays by itself.
        spans = [(ends[i + 1] - found[i].first) / (last - found[i + 1].first) for i in range(len(found) - 2)]
        i = spans.index(min(spans))
        found[i : i + 2] = [Epoch(found[i].first, found[i].sums + found[i + 1].sums)]
    return tuple(found)


def starts_of(
    epochs: tuple[Epoch, ...],
    partition: Partition,
    stakes: betting.Stakes,
    *,
    bets: Callable[[Sums], Bets],
    limit: float | None,
) -> list[Start]:
    """Return what each start has made by the bets on its rows, the latest first."""
    found = []
    since = Sums.none(partition.size)
    for epoch in reversed(epochs):
        since = since + epoch.sums
        if limit is None and partition.outputs:
            wealth = log_evidence_against_calibration(since, partition)
        else:
            wealth = bets(since).log_fail(limit or 0.0, stakes)
        found.append(Start(epoch.first, wealth - math.log(epoch.first * (epoch.first + 1.0))))
    return found


def changed_since(starts: list[Start], *, batches: int, confidence: float) -> tuple[int, int, int]:
    """Return the batch with which a change came, by the strongest start, and the first and last it may be.

    The wealth of each start, without its weight, is how much more probable the rows since are where they are
    no longer calibrated. With any batch as probable as another beforehand, shares of wealth are the posterior
    of the change; the largest that reach the confidence together make the ends, whose coverage is in
    tests/claims. The latest start comes first.
    """
    firsts = np.array([start.first for start in starts])
    log = np.array([start.log_wealth for start in starts]) + np.log(firsts * (firsts + 1.0))
    # Rows that an output of 0 or 1 rules out settle all starts before them.
    beyond = np.isposinf(log)
    share = np.where(beyond, 1.0, 0.0) if beyond.any() else np.exp(log - log.max())
    order = np.argsort(-share, kind="stable")
    enough = int(np.searchsorted(np.cumsum(share[order]), confidence * share.sum())) + 1
    inside = order[:enough]
    # A start stands for all batches from it to the next. That before them is ruled out by its rows together,
    # but the change may have come among them.
    ends = np.append(batches + 1, firsts)
    earliest = int(np.append(firsts, 1)[inside.max() + 1])
    return int(firsts[order[0]]), earliest, int(ends[inside.min()]) - 1


def log_evidence(starts: list[Start]) -> float:
    """Return the log of the e-value against "the score has been calibrated throughout"."""
    return betting.log_sum([start.log_wealth for start in starts]) if starts else -math.inf
