"""The plug-in l2 error: what the debiased one would be without its correction."""

import math

from calibcli.measures.calibrated import CalibratedDraws
from calibcli.measures.estimate import Estimate
from calibcli.measures.gaps import estimate_of_gaps, for_these_scores, gaps_if_calibrated, gaps_in
from calibcli.measures.l2 import l2_squared_plug_in
from calibcli.measures.l2_bounds import lower_bound
from calibcli.measures.lp import margin_of_norm, p_mean
from calibcli.names import MeasureName
from calibcli.table.bins import Partition, binned
from calibcli.table.grid import Table


def plug_in_l2(
    table: Table, *, bins: Partition, confidence: float = 0.95, calibrated: CalibratedDraws | None = None
) -> Estimate:
    """
    Root of (1/n) sum_k S_k^2 / n_k: the plug-in l2 error, biased upward by the noise of every bin.

    Args:
        table: The rows.

        bins: The partition, or sums over it; it may depend on the scores, never on the labels.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        calibrated: Labels drawn from the scores, for the null reference.

    Returns:
        The estimate with a finite-sample interval for the true l2 error at these scores: above by
        Hoeffding, below by a Chernoff bound or, where it has none, by that of the ECE.

    References:
        Kumar, Liang & Ma (2019), NeurIPS, definition 4.1; bounds in `measure --explain l2_plug_in`.
    """
    sums = binned(table, bins)
    found = gaps_in(sums)
    value = math.sqrt(l2_squared_plug_in(sums))
    delta = (1.0 - confidence) / 2.0
    lower, method = lower_bound(table, sums, delta=delta)
    interval = for_these_scores(
        value,
        lower=lower,
        upper=value + margin_of_norm(found, power=2.0, delta=delta),
        confidence=confidence,
        method=f"upper: Hoeffding; lower: {method}",
    )
    null = gaps_if_calibrated(sums, calibrated, lambda gap: p_mean(gap, share=found.share, power=2.0))
    return estimate_of_gaps(MeasureName.L2_PLUG_IN, value, sums=sums, interval=interval, null=null)
