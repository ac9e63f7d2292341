"""What a binned ECE would be on average for labels that follow the scores, without drawing any."""

import numpy as np

from calibcli.bounds.proportion import mean_absolute_deviation
from calibcli.table.bins import BinnedTable


def mean_size_if_calibrated(sums: BinnedTable) -> float:
    """
    Return the sum over bins of E|S_k| for labels that follow the scores.

    The number of positives in a bin is then a sum of unlike Bernoulli labels. Its mean absolute deviation
    is taken as that of the binomial with the same rows and mean score, times the ratio of their standard
    deviations: exact where the scores of a bin are equal, and right in the limits of many rows (both are
    normal) and of few events (both are Poisson).

    Args:
        sums: The table over its bins, without importance weights.
    """
    some = sums.occupied & (sums.variance > 0.0)
    rows = sums.weight[some]
    mean = np.clip(sums.score_sum[some] / rows, 0.0, 1.0)
    spread = rows * mean * (1.0 - mean)
    ratio = np.sqrt(np.divide(sums.variance[some], spread, out=np.zeros_like(spread), where=spread > 0.0))
    return float((rows * mean_absolute_deviation(rows, mean) * ratio).sum())
