"""Two scores by measures that are no means over rows: their difference is bounded by both intervals."""

import math

from calibcli.bounds.interval import Interval
from calibcli.measures.estimate import ClassEstimate, Estimate
from calibcli.measures.paired import Difference
from calibcli.names import Target

_OF_BOTH = (
    "upper bounds speak of the population and lower ones of these scores, so that the difference is bounded "
    "only as far as these scores stand for the population"
)


def difference_of_intervals(
    first: Estimate | ClassEstimate, second: Estimate | ClassEstimate, *, confidence: float
) -> Difference:
    """
    Return a difference from two estimates that are no means over rows, such as calibration errors.

    By Bonferroni: if each interval misses with probability at most half of 1 - confidence, then with
    `confidence` both hold and the difference lies in [L2 - U1, U2 - L1]. This does not use that the rows are
    the same, and is wide for it.

    Args:
        first: With an interval at confidence 1 - (1 - confidence) / 2.

        second: The same of the second score.

        confidence: Coverage asked of the interval of the difference.
    """
    value = second.value - first.value
    one, two = first.interval, second.interval
    assumptions = tuple(dict.fromkeys((*first.assumptions, *second.assumptions)))
    if not math.isfinite(value):
        return Difference(first.name, None, None, assumptions)
    if one is None or two is None:
        if not any(sentence.startswith("no interval") for sentence in assumptions):
            assumptions = (*assumptions, "no interval: one of the two scores has none")
        return Difference(first.name, value, None, assumptions)
    lower = None if two.lower is None or one.upper is None else two.lower - one.upper
    upper = None if two.upper is None or one.lower is None else two.upper - one.lower
    each = f"{100.0 * one.confidence:.6g} %"
    finite = one.finite_sample and two.finite_sample
    if one.target is Target.MIXED:
        assumptions = (*assumptions, _OF_BOTH)
    interval = Interval(
        lower, upper, confidence, f"Bonferroni of both intervals at {each}", one.target, finite
    )
    return Difference(first.name, value, interval, assumptions)
