"""The decision curve of a table, with the thresholds at which the score is worth acting on."""

from collections.abc import Sequence

import numpy as np

from calibcli.bounds.proportion import clopper_pearson
from calibcli.curves.decision import DecisionCurve, Range, decision_curve
from calibcli.curves.reliability import percent
from calibcli.options.measuring import MeasureOptions
from calibcli.table.grid import Table
from calibcli.tasks.pictures.diagram import Drawn, rounding_foot, rows_line

_MOST_RANGES = 3


def decision_drawn(table: Table, *, raw: Table | None, options: MeasureOptions) -> Drawn:
    """
    Return the decision curve with the range of thresholds in which the score is better than all and none.

    Args:
        table: The rows.

        raw: The same rows under the score before recalibration, or None.

        options: Of which the confidence is read.
    """
    curve = decision_curve(table, raw=raw, confidence=options.confidence)
    rows = rows_line(table.total_rows, table.total_positive_rows)
    kind = "weighted base rate" if table.weighted else "base rate"
    caption = (*_finding(curve), f"{rows}: {kind} {_base_rate(table, options.confidence)}")
    return Drawn(curve, caption, rounding_foot(table))


def _finding(curve: DecisionCurve) -> tuple[str, ...]:
    """Say where the score is better than treating all and treating none."""
    if not curve.better:
        return ("At no threshold is the score worth more than treating all or none",)
    plain = f"at thresholds {_spoken(curve.better)} by the estimate"
    if curve.clearly_better is None:
        return (f"Better than treating all and none {plain}",)
    at_each = f"beyond noise ({percent(curve.confidence)} at each threshold by itself)"
    if not curve.clearly_better:
        return (f"Nowhere better than treating all and none {at_each}", f"better {plain}")
    clear = _spoken(curve.clearly_better)
    return (f"Better than treating all and none at thresholds {clear}", f"{at_each}; {plain}")


def _spoken(ranges: Sequence[Range]) -> str:
    """Return ranges in words; of many the first and the last end."""
    if len(ranges) > _MOST_RANGES:
        return f"{ranges[0][0]:.3g} to {ranges[-1][1]:.3g}, with gaps"
    return " and ".join(f"{start:.3g} to {stop:.3g}" for start, stop in ranges)


def _base_rate(table: Table, confidence: float) -> str:
    rate = float(table.positive.sum() / table.weight.sum())
    if table.weighted:
        return f"{rate:.4g}"
    positive, rows = np.array([float(table.total_positive_rows)]), np.array([float(table.total_rows)])
    lower, upper = clopper_pearson(positive, rows, delta_each_side=(1.0 - confidence) / 2.0)
    return f"{rate:.4g} [{lower[0]:.4g}, {upper[0]:.4g}]"
