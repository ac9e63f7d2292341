"""Binned l_p errors as they are, among them the plug-in l2: the p-th mean of the gaps."""

import math

import numpy as np

from calibcli.measures.binned_ece import lower_bound
from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import Estimate
from calibcli.measures.gaps import Gaps, estimate_of_gaps, for_these_scores, gaps_if_calibrated, gaps_in
from calibcli.names import MeasureName
from calibcli.table.bins import Partition, binned
from calibcli.table.grid import Table
from calibcli.table.score_table import Floats


def lp_error(
    table: Table,
    *,
    bins: Partition,
    power: float = 2.0,
    confidence: float = 0.95,
    calibrated: CalibratedDraws | None = None,
    name: MeasureName = MeasureName.LP,
) -> Estimate:
    """
    (sum_k p_k |e_k|^p)^(1/p), p_k the share of the rows in bin k and e_k its rate less its mean score.

    Args:
        table: The rows.

        bins: The partition, or sums over it; it may depend on the scores, never on the labels.

        power: p, at least 1.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

        name: The name the estimate carries.

    Returns:
        The plug-in estimate, biased upward. The interval is finite-sample, for these scores: above by
        Hoeffding in the direction in which the norm is attained, below by the lower bound of the ECE,
        which no l_p falls short of.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, definition 2.3; bounds in `measure --explain lp`.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = float(p_mean(found.gap, share=found.share, power=power))
    delta = (1.0 - confidence) / 2.0
    interval = for_these_scores(
        value,
        lower=lower_bound(table, sums, delta=delta),
        upper=value + margin_of_norm(found, power=power, delta=delta),
        confidence=confidence,
        method="upper: Hoeffding; lower: that of the ECE",
    )
    return estimate_of_gaps(
        name,
        value,
        sums=sums,
        interval=interval,
        null=gaps_if_calibrated(sums, calibrated, lambda gap: p_mean(gap, share=found.share, power=power)),
        details={"power": power},
    )


def p_mean(gap: Floats, *, share: Floats, power: float) -> Floats:
    """
    Return the p-th mean of the sizes of gaps, without underflow at large p.

    Args:
        gap: Shape (..., n_bins).

        share: Weights that sum to 1, shape (n_bins,).

        power: p, at least 1.
    """
    size = np.abs(gap)
    largest = size.max(axis=-1, keepdims=True)
    part = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0.0)
    return np.asarray(largest[..., 0] * (share * part**power).sum(axis=-1) ** (1.0 / power))


def margin_of_norm(found: Gaps, *, power: float, delta: float) -> float:
    """
    Return how far the plug-in falls short of the true l_p error, exceeded with probability at most delta.

    The true norm is sum_k p_k u_k e_k in a fixed direction u with sum_k p_k |u_k|^q = 1, 1/p + 1/q = 1, and
    no direction gives the plug-in more than itself. Each label has range p_k u_k / n_k; sum_k p_k u_k^2 is at
    most 1 for p <= 2 and s^((2 - p) / p) for p > 2, s the smallest share.
    """
    # For unit weights lightness * share is 1 / n in every bin.
    per_row = float((found.lightness * found.share).max())
    stretch = float(found.share.min()) ** ((2.0 - power) / power) if power > 2.0 else 1.0
    return math.sqrt(math.log(1.0 / delta) / 2.0 * per_row * stretch)
