"""Bounds on a mean of bounded rows: one added row of the worst value (Gaffke's bound); closed form."""

import math
from collections.abc import Callable
from functools import cache
from typing import Self

import numpy as np

from calibcli.stats.numerics import Floats, crossing, crossings, normal_quantile
from calibcli.values import dataclass, replace

METHOD = "Gaffke's bound"

_TURNS = 60

# Of the distance between mean and bound, how much the bound may be off.
_PART = 1e-5

# Nearer to 0 a signed root needs its limit.
_NEAR = 1e-4

# A tilt has arrived where a step changes it by no more than this part, or what is left is so few standard
# deviations: one of about 0 never changes by a small part of itself.
_STILL, _NO_EVIDENCE = 1e-9, 1e-10

# What is off by no more than this part of the largest value is off by rounding.
_ROUNDED = 2.0**-48

# Of more values than these, several means are as fast one by one.
_AT_ONCE = 1_500


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """How often rows had which value.

    Args:
        value: Shape (n,), finite.
        rows: How many rows had it, shape (n,), positive.
        added: How much the added row weighs, in mean weights of these rows: their values are then what they
            add to the mean, by their weights.
        rough: Whether what they add is known about another mean than theirs, and so not quite its shape: then
            no bound is nearer than that of two values with this mean and standard error.
    """

    value: Floats
    rows: Floats
    added: float = 1.0
    rough: bool = False

    @property
    def total(self) -> float:
        return float(self.rows.sum())

    @property
    def mean(self) -> float:
        return float(self.rows @ self.value) / self.total

    @property
    def standard_error(self) -> float:
        return math.sqrt(float(self.rows @ (self.value - self.mean) ** 2)) / self.total

    @property
    def costly_rows(self) -> float:
        """How many rows the variance rests on: (sum d^2)^2 / sum d^4 of the distances d from the mean.

        Where k rows of n are costly by the same amount and the others by nothing it is k, for few k.
        """
        away = self.value - self.mean
        # Of rows that all cost the same none is costly, whatever the last digit of their mean.
        square = np.where(abs(away) > _ROUNDED * abs(self.value).max(), away, 0.0) ** 2
        fourth = float(self.rows @ (square * square))
        return float(self.rows @ square) ** 2 / fourth if fourth > 0.0 else 0.0

    def negated(self) -> Self:
        return type(self)(-self.value, self.rows, self.added, self.rough)

    def upper_bound(self, *, most: float, delta: float) -> float:
        """Return an upper bound of the true mean."""
        if math.isinf(most):
            return math.inf
        if self.rough:
            plain = as_many(self.mean, self.standard_error, rows=self.total / self.added)
            ends = (one.upper_bound(most=most, delta=delta) for one in (replace(self, rough=False), plain))
            return max(ends)
        if self.added != 1.0:
            most = self.mean + self.added * (most - self.mean)
        most = max(most, float(self.value.max()))
        scale = most - float(self.value.min())
        if scale <= 0.0:
            return most
        # From -1, the least value, to 0, the largest there can be, so that nothing under- or overflows.
        unit = Values((self.value - most) / scale, self.rows)
        n, z = unit.total, normal_quantile(1.0 - delta)
        mean = n * unit.mean / (n + 1.0)
        spread = math.sqrt(float(unit.rows @ (unit.value - mean) ** 2) + mean * mean) / n
        added = Values(np.append(unit.value, 0.0), np.append(unit.rows, 1.0))
        rises = cache(lambda at: _evidence_below(added, at) - z)
        high = min(0.0, mean + spread)
        while high < 0.0 and rises(high) < 0.0:
            high = min(0.0, mean + 2.0 * (high - mean))
        return most + scale * crossing(rises, mean, high, within=_PART * (high - mean))[1]

    def lower_bound(self, *, least: float, delta: float) -> float:
        """Return a lower bound likewise, `least` being the smallest value that a row can have."""
        return -self.negated().upper_bound(most=-least, delta=delta)


def as_many(mean: float, spread: float, *, rows: float) -> Values:
    """Return rows of two values that have a mean with a standard error, where no more is known of them."""
    away = spread * math.sqrt(max(rows - 1.0, 0.0))
    return Values(np.array([mean - away, mean + away]), np.full(2, 0.5 * rows))


def _evidence_below(values: Values, mean: float) -> float:
    """Return how many standard deviations of evidence there are that the true mean is below a number.

    It is the normal quantile of the probability that the randomly weighted mean is below, inf or -inf where
    it always or never is; the added row is among the values.
    """
    distance = values.value - mean
    least, most = float(distance.min()), float(distance.max())
    if most <= 0.0:
        return math.inf
    if least >= 0.0:
        return -math.inf
    return _signed_root(distance, values.rows, least=least, most=most)


# The inverse of a smaller distance is no number.
_TINY = 1e-300


def _signed_root(distance: Floats, rows: Floats, *, least: float, most: float) -> float:
    """Return r* of P(sum G_i d_i <= 0), G_i gamma with as many degrees as rows, d_i of both signs."""
    scale = max(-least, most)
    d = distance / scale
    low, high = 1.0 / min(least / scale, -_TINY), 1.0 / max(most / scale, _TINY)
    slope, bend = float(rows @ d), float(rows @ (d * d))
    pole = low if slope > 0.0 else high
    low, high = min(pole, 0.0), max(pole, 0.0)
    tilt = -slope / bend
    for _ in range(_TURNS):
        if not low < tilt < high:
            tilt = 0.5 * (low + high)
        tilted = d / (1.0 - tilt * d)
        slope, bend = float(rows @ tilted), float(rows @ (tilted * tilted))
        low, high = (low, tilt) if slope > 0.0 else (tilt, high)
        # As if all of it were a + b / (pole - tilt); a plain step where rounding leaves nothing of a.
        model = bend - slope / (pole - tilt)
        step = -slope / (model if model > 0.0 else bend)
        tilt += step
        if abs(step) <= _STILL * abs(tilt) or abs(slope) <= _NO_EVIDENCE * math.sqrt(bend):
            break
    tilt = min(max(tilt, low), high)
    tilted = d / (1.0 - tilt * d)
    bend = float(rows @ (tilted * tilted))
    size = 2.0 * float(rows @ np.log1p(-tilt * d))
    root = math.copysign(math.sqrt(max(size, 0.0)), tilt)
    if abs(root) < _NEAR:
        # The limit of log(u / r) / r as both tend to 0.
        return root - float(rows @ tilted**3) / float(3.0 * bend**1.5)
    return root + float(math.log(tilt * math.sqrt(bend) / root)) / root


def evidence_below(distance: Floats, rows: Floats) -> Floats:
    """Return what `_evidence_below` gives for several means at once, in half of the time.

    Args:
        distance: What every row is above the mean, and the added row, one mean a line; shape (k, n).
        rows: How many rows that are, shape (n,), or (k, n) where lines have rows of their own, some of them
            none.
    """
    rows = np.broadcast_to(rows, distance.shape)
    distance = np.where(rows > 0.0, distance, 0.0)
    least, most = distance.min(axis=1), distance.max(axis=1)
    found = np.where(most <= 0.0, math.inf, -math.inf)
    both = (least < 0.0) & (most > 0.0)
    if both.any():
        lines, rows = distance[both], rows[both]
        found[both] = (_signed_roots if rows.shape[1] <= _AT_ONCE else _one_by_one)(lines, rows)
    return found


def _one_by_one(distance: Floats, rows: Floats) -> list[float]:
    return [
        _signed_root(one, own, least=float(one.min()), most=float(one.max()))
        for one, own in zip(distance, rows, strict=True)
    ]


def _signed_roots(distance: Floats, rows: Floats) -> Floats:
    """Return what `_signed_root` gives for each line, by the same steps until all lines have arrived."""
    d = distance / np.abs(distance).max(axis=1, keepdims=True)
    low, high = 1.0 / np.minimum(d.min(axis=1), -_TINY), 1.0 / np.maximum(d.max(axis=1), _TINY)
    slope, bend = _slope_and_bend(d, rows)
    pole = np.where(slope > 0.0, low, high)
    low, high = np.minimum(pole, 0.0), np.maximum(pole, 0.0)
    tilt, moves = -slope / bend, np.ones(slope.size, bool)
    for _ in range(_TURNS):
        tilt = np.where((low < tilt) & (tilt < high) | ~moves, tilt, 0.5 * (low + high))
        slope, bend = _slope_and_bend(_tilted(d, tilt), rows)
        low, high = np.where(slope > 0.0, low, tilt), np.where(slope > 0.0, tilt, high)
        model = bend - slope / (pole - tilt)
        step = np.where(moves, -slope / np.where(model > 0.0, model, bend), 0.0)
        tilt = tilt + step
        # One that has arrived stays, or rounding would send it to the middle of its ends.
        moves &= (np.abs(step) > _STILL * np.abs(tilt)) & (np.abs(slope) > _NO_EVIDENCE * np.sqrt(bend))
        if not moves.any():
            break
    tilt = np.minimum(np.maximum(tilt, low), high)
    size = 2.0 * np.einsum("ij,ij->i", np.log1p(-tilt[:, np.newaxis] * d), rows)
    bend = _slope_and_bend(_tilted(d, tilt), rows)[1]
    root = np.copysign(np.sqrt(np.maximum(size, 0.0)), tilt)
    near = np.abs(root) < _NEAR
    away = np.where(near, 1.0, root)
    found: Floats = root + np.log(np.where(near, 1.0, tilt * np.sqrt(bend) / away)) / away
    if near.any():
        found[near] = _one_by_one(distance[near], rows[near])
    return found


def _tilted(d: Floats, tilt: Floats) -> Floats:
    """Return d / (1 - tilt d), in one piece of memory."""
    found: Floats = -tilt[:, np.newaxis] * d
    found += 1.0
    np.divide(d, found, out=found)
    return found


def _slope_and_bend(tilted: Floats, rows: Floats) -> tuple[Floats, Floats]:
    return np.einsum("ij,ij->i", tilted, rows), np.einsum("ij,ij->i", tilted * tilted, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """How many rows are of which one kind, shape (kinds + 1, places), the last those of none."""

    rows: Floats

    @classmethod
    def of(cls, counts: Floats, *, rows: float) -> Self:
        """Take what is left of so many rows for those of no kind."""
        return cls(np.concatenate((counts, rows - counts.sum(axis=0, keepdims=True))))

    def mean(self, worth: Floats) -> tuple[Floats, Floats]:
        """Return what rows are worth on average, and its standard error; those of no kind are worth nothing.

        `worth` is that of each kind, shape (kinds, places).
        """
        counts, total = self.rows[:-1], self.rows.sum(axis=0)
        mean = np.asarray((worth * counts).sum(axis=0) / total)
        square = (counts * (worth - mean) ** 2).sum(axis=0) + self.rows[-1] * mean**2
        return mean, np.sqrt(square) / total

    def evidence_below(self, mean: Floats | float, worth: Floats) -> Floats:
        """Return how much there is that what rows are worth is below a mean, a row added of the best kind."""
        best = worth.max(axis=0, keepdims=True, initial=0.0)
        value = np.concatenate((worth, np.zeros_like(best), best))
        rows = np.concatenate((self.rows, np.ones_like(self.rows[:1])))
        return evidence_below((value - mean).T, rows.T)

    def bounds(self, worth: Floats, *, delta: float) -> tuple[Floats, Floats]:
        """Return bounds of what rows are worth on average, each failing with probability delta."""
        mean, spread = self.mean(worth)
        most, least = worth.max(axis=0, initial=0.0), worth.min(axis=0, initial=0.0)
        # Both at once: for a few places the steps cost more than what they work on.
        twice, turned = type(self)(np.tile(self.rows, 2)), np.concatenate((-worth, worth), axis=1)
        ends = first_shown(
            lambda at: twice.evidence_below(at, turned),
            np.concatenate((-mean, mean)),
            step=np.tile(spread + (most - least) / self.rows.sum(axis=0), 2),
            most=np.concatenate((-least, most)),
            delta=delta,
        )
        return 0.0 - ends[: mean.size], ends[mean.size :]


def first_shown(
    evidence: Callable[[Floats], Floats], start: Floats, *, step: Floats, most: Floats, delta: float
) -> Floats:
    """Return the least numbers from `start` on, or `most`, at which growing evidence is enough."""
    z = normal_quantile(1.0 - delta)

    def rises(at: Floats) -> Floats:
        return evidence(at) - z

    reach = step
    high = np.minimum(start + reach, most)
    while np.any(short := (high < most) & (rises(high) < 0.0)):
        reach = np.where(short, 2.0 * reach, reach)
        high = np.minimum(start + reach, most)
    return crossings(rises, start, high, within=_PART * (high - start))[1]


def bounded_differences(rows: float, delta: float) -> float:
    """Return sqrt(2 ln(1/delta) / n): how far a function strays that one row moves by 2/n at most, one side.

    References:
        McDiarmid (1989), "On the method of bounded differences".
    """
    return math.sqrt(2.0 * math.log(1.0 / delta) / rows)


def empirical_bernstein(mean_size: float, mean_square: float, *, rows: int, delta: float) -> float:
    """Return an upper bound for the mean of a variable in [-1, 1] whose sign pattern is fixed but unknown.

    With x the sample mean under that pattern, |x| <= mean_size, the bound of Maurer and Pontil is
    x + sqrt(2 V ln(2/delta) / n) + 14 ln(2/delta) / (3 (n - 1)), V = (mean_square - x^2) n / (n - 1). It is
    largest at x = mean_size, or at the root of mean_square / (1 + 2 ln(2/delta) / (n - 1)) where that is
    less; the largest holds whichever x it is. With fewer than two rows the bound is 1.

    References:
        Maurer & Pontil (2009), COLT, Theorem 4, for a range of 2.
    """
    if rows < 2:
        return 1.0
    log_term = math.log(2.0 / delta)
    stretch = 2.0 * log_term / (rows - 1.0)
    mean = min(mean_size, math.sqrt(mean_square / (1.0 + stretch)))
    spread = math.sqrt(stretch * max(mean_square - mean**2, 0.0))
    return min(1.0, mean + spread + 14.0 * log_term / (3.0 * (rows - 1.0)))
