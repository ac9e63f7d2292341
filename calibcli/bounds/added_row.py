"""
Bounds of a mean of bounded rows: one row is added that has the worst value there can be.

For independent rows whose values are at most `most`, add one row of that value, and give the n + 1 rows
random weights that sum to 1 (those of a flat Dirichlet law). The upper bound at delta is the quantile
1 - delta of the weighted mean. For rows of two values this is the bound of Clopper and Pearson; for many rows
of moderate spread it is the normal one; in between it makes room for the costly row that has not been seen
yet. That it holds at every number of rows is proved for two values and conjectured for all others.

The weights are G_i / sum G of independent exponential G_i, so that the weighted mean is above m with the
probability that sum G_i (x_i - m) is above 0: a sum of independent gammas, whose tail a saddlepoint gives to
about one part in a hundred.

References:
    Gaffke (2005), Mathematical Methods of Statistics 14, for the bound; Learned-Miller & Thomas (2020),
    arXiv:1905.06208, for the conjecture; Barndorff-Nielsen (1986), Biometrika 73, for r*.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from calibcli.bounds.special import Floats, normal_quantile
from calibcli.table.crossing import crossing

METHOD = "one added row"
_TURNS = 60
# Of the distance between mean and bound, how much the bound may be off.
_PART = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """
    How often rows had which value.

    Args:
        value: Shape (n,), finite.

        rows: How many rows had it, shape (n,), positive; for importance weights, as many as they count for.
    """

    value: Floats
    rows: Floats

    @property
    def total(self) -> float:
        """Number of rows."""
        return float(self.rows.sum())

    @property
    def mean(self) -> float:
        """Mean value."""
        return float(self.rows @ self.value) / self.total

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return math.sqrt(float(self.rows @ (self.value - self.mean) ** 2)) / self.total

    @property
    def costly_rows(self) -> float:
        """
        How many rows the variance rests on: (sum d^2)^2 / sum d^4 of the distances d from the mean.

        Where k rows of n are costly by the same amount and the others by nothing it is k, for few k.
        """
        square = (self.value - self.mean) ** 2
        fourth = float(self.rows @ (square * square))
        return float(self.rows @ square) ** 2 / fourth if fourth > 0.0 else 0.0

    def negated(self) -> Self:
        """Return the same with every sign turned."""
        return type(self)(-self.value, self.rows)

    def evidence_below(self, mean: float, *, most: float) -> float:
        """
        Return how many standard deviations of evidence there are that the true mean is below a number.

        Args:
            mean: The number.

            most: The largest value that a row can have.

        Returns:
            The normal quantile of the probability that the randomly weighted mean is below; inf or -inf
            where it always or never is.
        """
        distance = np.append(self.value, most) - mean
        rows = np.append(self.rows, 1.0)
        if distance.max() <= 0.0:
            return math.inf
        if distance.min() >= 0.0:
            return -math.inf
        return _signed_root(distance, rows)

    def upper_bound(self, *, most: float, delta: float) -> float:
        """
        Return an upper bound of the true mean.

        Args:
            most: The largest value that a row can have; inf where there is no largest.

            delta: Probability of falling short, below 1/2.
        """
        if math.isinf(most):
            return math.inf
        most = max(most, float(self.value.max()))
        scale = most - float(self.value.min())
        if scale <= 0.0:
            return most
        # From -1, the least value, to 0, the largest there can be, so that nothing under- or overflows.
        unit = Values((self.value - most) / scale, self.rows)
        n, z = unit.total, normal_quantile(1.0 - delta)
        mean = n * unit.mean / (n + 1.0)
        spread = math.sqrt(float(unit.rows @ (unit.value - mean) ** 2) + mean * mean) / n
        high = min(0.0, mean + spread)
        while high < 0.0 and unit.evidence_below(high, most=0.0) < z:
            high = min(0.0, mean + 2.0 * (high - mean))
        within = _PART * (high - mean)
        found = crossing(lambda at: unit.evidence_below(at, most=0.0) - z, mean, high, within=within)
        return most + scale * found[1]

    def lower_bound(self, *, least: float, delta: float) -> float:
        """Return a lower bound likewise, `least` being the smallest value that a row can have."""
        return -self.negated().upper_bound(most=-least, delta=delta)


def as_many(mean: float, spread: float, *, rows: float) -> Values:
    """
    Return rows of two values that have a mean with a standard error, where no more is known of them.

    Args:
        mean: Of the rows.

        spread: The standard error of the mean.

        rows: How many rows of equal weight they count as.
    """
    away = spread * math.sqrt(max(rows - 1.0, 0.0))
    return Values(np.array([mean - away, mean + away]), np.full(2, 0.5 * rows))


def _signed_root(distance: Floats, rows: Floats) -> float:
    """Return r* of P(sum G_i d_i <= 0), G_i gamma with as many degrees as rows, d_i of both signs."""
    scale = float(np.abs(distance).max())
    d = distance / scale
    low, high = 1.0 / float(d.min()), 1.0 / float(d.max())
    slope, bend = float(rows @ d), float(rows @ (d * d))
    low, high = (low, 0.0) if slope > 0.0 else (0.0, high)
    tilt = -slope / bend
    for _ in range(_TURNS):
        if not low < tilt < high:
            tilt = 0.5 * (low + high)
        tilted = d / (1.0 - tilt * d)
        slope, bend = float(rows @ tilted), float(rows @ (tilted * tilted))
        low, high = (low, tilt) if slope > 0.0 else (tilt, high)
        step = -slope / bend
        tilt += step
        if abs(step) <= 1e-9 * abs(tilt):
            break
    tilt = min(max(tilt, low), high)
    tilted = d / (1.0 - tilt * d)
    bend = float(rows @ (tilted * tilted))
    size = 2.0 * float(rows @ np.log1p(-tilt * d))
    root = math.copysign(math.sqrt(max(size, 0.0)), tilt)
    if abs(root) < 1e-4:
        # The limit of log(u / r) / r as both tend to 0.
        return root - float(rows @ tilted**3) / float(3.0 * bend**1.5)
    return root + float(math.log(tilt * math.sqrt(bend) / root)) / root
