"""Adaptive calibration error: every equal-mass bin counts alike."""

import math

import numpy as np

from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import Estimate
from calibcli.measures.gaps import estimate_of_gaps, for_these_scores, gaps_if_calibrated, gaps_in
from calibcli.measures.least_error import BY_MEAN_OR_NOISE, least_error
from calibcli.names import MeasureName
from calibcli.table.bins import Partition, binned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats


def adaptive_error(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """
    Plain mean over the bins that hold rows of |rate - mean score|.

    Args:
        table: The rows.

        bins: The partition, equal-mass in the paper, or sums over it; never chosen by the labels.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

    Returns:
        The mean, biased upward as the ECE is. The interval is finite-sample, for these scores: with d the
        square root of ln(1/delta) sum_k (1/n_k) / 2 over the number K of bins, the upper end adds d and the
        lower one, at a quarter of the error, subtracts d and (1/K) sum_k 1 / (2 sqrt(n_k)), the most that
        noise adds on average; or it is that of |bias| times n / (K max n_k), which no such mean is below.

    References:
        Nixon, Dusenberry, Zhang, Jerfel & Tran (2019), CVPR workshops, equation 4 with one class.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = float(_mean_size(found.gap))
    delta, count = (1.0 - confidence) / 2.0, found.gap.size
    noise = float(np.sqrt(found.lightness).mean()) / 2.0
    # Of what a bin counts, and what its rows do: the ECE has the latter, and is at least |bias|.
    lightest = 1.0 / (count * float(found.share.max()))

    def margin(delta: float) -> float:
        return math.sqrt(math.log(1.0 / delta) * float(found.lightness.sum()) / 2.0) / count

    interval = for_these_scores(
        value,
        lower=least_error(table, lambda one: value - noise - margin(one), delta=delta, factor=lightest),
        upper=value + margin(delta),
        confidence=confidence,
        method=f"upper: Hoeffding; lower: {BY_MEAN_OR_NOISE}",
    )
    null = gaps_if_calibrated(sums, calibrated, _mean_size)
    return estimate_of_gaps(MeasureName.ACE, value, sums=sums, interval=interval, null=null)


def _mean_size(gap: Floats) -> Floats:
    return np.asarray(np.abs(gap).mean(axis=-1))
