"""Calibration in the large: mean label minus mean score."""

import numpy as np

from calibcli.bounds.betting import GroupedResiduals, stakes_for_one_look
from calibcli.bounds.interval import Interval
from calibcli.measures.binned_ece import deviation
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS, Estimate
from calibcli.measures.if_calibrated import of_mean
from calibcli.names import MeasureName, Target
from calibcli.table.grid import Table
from calibcli.table.residuals import residuals


def bias(table: Table, *, confidence: float = 0.95) -> Estimate:
    """
    Mean label minus mean score; positive when events are more frequent than announced.

    Args:
        table: The rows.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

    Returns:
        The estimate with a finite-sample interval by betting, for these scores with labels drawn anew.

    References:
        Waudby-Smith & Ramdas (2024), JRSS-B 86, with bets fixed by the scores.
    """
    total = float(table.weight.sum())
    value = float(residuals(table).sum()) / total
    delta = (1.0 - confidence) / 2.0
    if table.weighted:
        margin = deviation(table, delta=delta)
        bounds, method = (value - margin, value + margin), "Hoeffding at the effective number of rows"
    else:
        bounds, method = _by_betting(table, delta=delta), "betting"
    lower, upper = max(-1.0, bounds[0]), min(1.0, bounds[1])
    return Estimate(
        name=MeasureName.BIAS,
        value=value,
        interval=Interval(lower, upper, confidence, method, Target.FIXED_DESIGN, finite_sample=True),
        null=0.0,
        assumptions=(INDEPENDENT_ROWS, HELD_OUT),
        rows=table.total_rows,
        details={
            "mean_label": float(table.positive.sum()) / total,
            "mean_score": float((table.weight * table.score).sum()) / total,
        },
        null_range=of_mean(table, 0.0, np.ones_like(table.score)),
    )


def _by_betting(table: Table, *, delta: float) -> tuple[float, float]:
    score = table.score
    variance = float((table.weight * score * (1.0 - score)).sum()) / table.total_rows
    stakes = stakes_for_one_look(table.total_rows, variance, delta=delta)
    whole = GroupedResiduals(
        score,
        positive=table.positive,
        negative=table.weight - table.positive,
        starts=np.array([0, table.distinct]),
    )
    upper = whole.mean_upper_bound(stakes, delta=delta, sign=1)
    return -whole.mean_upper_bound(stakes, delta=delta, sign=-1), upper
