"""What a binned ECE would be for labels that follow the scores, without drawing any."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calibcli.bounds.proportion import mean_absolute_deviation
from calibcli.measures.if_calibrated import Reference, of_moments
from calibcli.table.bins import BinnedTable


class Moments(NamedTuple):
    """The first three moments of a sum: its mean, and the second and third about the mean."""

    mean: float
    variance: float
    third: float

    def times(self, factor: float) -> "Moments":
        """Return those of a multiple."""
        return Moments(factor * self.mean, factor**2 * self.variance, factor**3 * self.third)

    @property
    def reference(self) -> Reference:
        """Mean and range, of what is not negative."""
        return self.mean, of_moments(*self, least=0.0)


def size_if_calibrated(sums: BinnedTable) -> Moments:
    """
    Return the moments of the sum over bins of |S_k| for labels that follow the scores.

    The number of positives in a bin is then a sum of unlike Bernoulli labels. Its mean absolute deviation
    is taken as that of the binomial with the same rows and mean score, times the ratio of their standard
    deviations: exact where the scores of a bin are equal, and right in the limits of many rows (both are
    normal) and of few events (both are Poisson). The third moment is that of normal sums, for which it is as
    good as the standard deviation of |S_k| cubed.

    Args:
        sums: The table over its bins, without importance weights.
    """
    some = sums.occupied & (sums.variance > 0.0)
    rows = sums.weight[some]
    mean = np.clip(sums.score_sum[some] / rows, 0.0, 1.0)
    spread = rows * mean * (1.0 - mean)
    ratio = np.sqrt(np.divide(sums.variance[some], spread, out=np.zeros_like(spread), where=spread > 0.0))
    size = rows * mean_absolute_deviation(rows, mean) * ratio
    own = np.maximum(sums.variance[some] - size**2, 0.0)
    return Moments(float(size.sum()), float(own.sum()), float((own**1.5).sum()))


def alike(parts: Sequence[Moments]) -> Moments:
    """
    Return the moments of a sum over classes, each class seen against the rest.

    One row is right for one class and wrong for the others, so residuals of two of C classes have the
    correlation -1 / (C - 1), if classes are alike, and their sizes about
    (sqrt(1 - r^2) + r arcsin r - 1) / (pi / 2 - 1), as the sizes of normal variables have.
    """
    r = 1.0 / max(len(parts) - 1, 1)
    together = (math.sqrt(1.0 - r * r) + r * math.asin(r) - 1.0) / (math.pi / 2.0 - 1.0)
    spread = sum(math.sqrt(one.variance) for one in parts)
    own = sum(one.variance for one in parts)
    return Moments(
        sum(one.mean for one in parts),
        own + together * (spread**2 - own),
        sum(one.third for one in parts),
    )
