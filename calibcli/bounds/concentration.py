"""Bounds on a mean of bounded rows drawn from a population, in closed form."""

import math


def bounded_differences(rows: float, delta: float) -> float:
    """
    Return sqrt(2 ln(1/delta) / n): how far a function strays that one row moves by 2/n at most, one side.

    Args:
        rows: Number of rows.

        delta: Probability of straying further.

    References:
        McDiarmid (1989), "On the method of bounded differences".
    """
    return math.sqrt(2.0 * math.log(1.0 / delta) / rows)


def empirical_bernstein(mean_size: float, mean_square: float, *, rows: int, delta: float) -> float:
    """
    Return an upper bound for the mean of a variable in [-1, 1] whose sign pattern is fixed but unknown.

    With x the sample mean under that pattern, |x| <= mean_size, the bound of Maurer and Pontil is
    x + sqrt(2 V ln(2/delta) / n) + 14 ln(2/delta) / (3 (n - 1)), V = (mean_square - x^2) n / (n - 1). It is
    largest at x = mean_size, or at the root of mean_square / (1 + 2 ln(2/delta) / (n - 1)) where that is
    less; the largest holds whichever x it is.

    Args:
        mean_size: The largest that the sample mean can be under any pattern.

        mean_square: Mean of squares, the same under every pattern.

        rows: Number of rows.

        delta: Probability of falling short.

    Returns:
        The bound, 1 where there are fewer than two rows.

    References:
        Maurer & Pontil (2009), COLT, Theorem 4, for a range of 2.
    """
    if rows < 2:
        return 1.0
    log_term = math.log(2.0 / delta)
    stretch = 2.0 * log_term / (rows - 1.0)
    mean = min(mean_size, math.sqrt(mean_square / (1.0 + stretch)))
    spread = math.sqrt(stretch * max(mean_square - mean**2, 0.0))
    return min(1.0, mean + spread + 14.0 * log_term / (3.0 * (rows - 1.0)))
