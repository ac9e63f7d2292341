"""What labels alone leave uncertain: intervals of functions of the rate of label 1."""

from collections.abc import Callable

import numpy as np

from calibcli.bounds.interval import Interval
from calibcli.bounds.proportion import clopper_pearson
from calibcli.names import Target


def rate_interval(
    rows: int, positive_rows: int, *, value: float, confidence: float, of: Callable[[float], float]
) -> Interval:
    """
    Return the interval of a loss of the rate of label 1, from the Clopper-Pearson interval of the rate.

    Args:
        rows: Number of rows.

        positive_rows: How many of them have label 1.

        value: The estimate, which the interval takes in.

        confidence: Coverage asked of the two-sided interval, in (0, 1).

        of: The loss: rises up to the rate 1/2 and falls beyond.
    """
    counts = np.array([float(positive_rows)]), np.array([float(rows)])
    low, high = clopper_pearson(*counts, delta_each_side=(1.0 - confidence) / 2.0)
    ends = of(float(low[0])), of(float(high[0]))
    top = of(0.5) if low[0] <= 0.5 <= high[0] else max(ends)
    lower, upper = min(*ends, value), max(top, value)
    return Interval(lower, upper, confidence, "Clopper-Pearson", Target.POPULATION, finite_sample=True)
