"""
The lower end that errors have in common: no error of the score is below the size of the mean residual.

Most errors have one sign, or mostly one, and are seen in the mean with a fraction of the rows that it takes
to see them bin by bin. So three quarters of the error of the end go to the mean, and a quarter to a bound
that sees errors which cancel; the end is the larger of the two.
"""

import math
from collections.abc import Callable

from calibcli.bounds.special import normal_quantile
from calibcli.measures.bias import interval_of_bias
from calibcli.table.grid import Table
from calibcli.table.residuals import residuals, squared_residuals

BY_MEAN = "|bias|"
BY_MEAN_OR_NOISE = f"{BY_MEAN} or McDiarmid"
_SHARE_OF_MEAN = 0.75


def least_error(
    table: Table, otherwise: Callable[[float], float], *, delta: float, factor: float = 1.0, parts: int = 1
) -> float:
    """
    Return a lower bound of an error that is never below the size of the mean residual times a factor.

    Args:
        table: The rows.

        otherwise: Another lower bound of the error, from the probability of its lying above.

        delta: Error probability.

        factor: Fixed by the scores, at most 1.

        parts: How many groups of rows have gaps of their own at the same score.

    Returns:
        At least 0.
    """
    of_mean, of_other = error_shares(delta, signs=table.distinct * parts)
    other = max(0.0, otherwise(of_other)) if of_other else 0.0
    # The bound of a mean lies below the mean, which is found sooner.
    found = factor * abs(float(residuals(table).sum())) / float(table.weight.sum())
    return other if found <= other else max(other, factor * least_by_mean(table, delta=of_mean))


def error_shares(delta: float, *, signs: int) -> tuple[float, float]:
    """
    Return what of the error of a lower bound goes to the mean residual, and what to the other bound.

    Args:
        delta: Error probability of the bound.

        signs: How many gaps there may be; any error of a single one is the mean.
    """
    share = 1.0 if signs == 1 else _SHARE_OF_MEAN
    return share * delta, delta - share * delta


def least_by_mean(table: Table, *, delta: float) -> float:
    """Return a lower bound of |mean of label - score| at these scores, wrong with probability delta."""
    return max(least_rise_and_fall(table, delta=delta))


def least_rise_and_fall(table: Table, *, delta: float) -> tuple[float, float]:
    """
    Return by how much labels are at least above scores on average, or below, at these scores; 0 if unknown.

    Args:
        table: The rows.

        delta: Error probability, half of which each end of the interval of the mean gets.
    """
    # A mean within its spread has an interval around 0, whose ends are dear where they are found by bets.
    spread = math.sqrt(float(squared_residuals(table).sum()))
    if abs(float(residuals(table).sum())) <= -normal_quantile(0.5 * delta) * spread:
        return 0.0, 0.0
    low, high = interval_of_bias(table, confidence=1.0 - delta).ends
    return max(0.0, low), max(0.0, -high)
