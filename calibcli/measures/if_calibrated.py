"""What a calibrated score would show on the same rows: a value on average, and between which it falls."""

import math

import numpy as np

from calibcli.table.grid import Table
from calibcli.table.score_table import Floats

# Nine of ten calibrated scores show a value between these two quantiles.
_LOW, _HIGH = 0.05, 0.95
_Z = 1.6448536269514722
_MOST_SKEWED = 1e100
# Entries worked on at once: they stay in the processor's cache.
_CHUNK = 1 << 14
Range = tuple[float, float]
# The value on average and its range; either is None where it is not known.
Reference = tuple[float | None, Range | None]
UNKNOWN: Reference = (None, None)


def of_draws(values: Floats) -> Reference:
    """Return mean and range of values that were drawn."""
    low, high = ends_of_draws(values).tolist()
    return float(values.mean()), (low, high)


def ends_of_draws(values: Floats) -> Floats:
    """Return both ends of the range of values that were drawn, shape (draws, ...) -> (2, ...)."""
    last = len(values) - 1
    # Not np.quantile, which imports masked arrays.
    return np.asarray(np.sort(values, axis=0)[[math.floor(_LOW * last), math.ceil(_HIGH * last)]])


def of_moments(
    mean: float, variance: float, third: float = 0.0, *, least: float = -math.inf, most: float = math.inf
) -> Range:
    """
    Return the range of a sum of many independent parts: that of a shifted gamma variable with three moments.

    The cube root of a gamma variable is as good as normal. With few rare events nearly all mass lies at one
    end of such a variable, as it does for the sum.

    Args:
        mean: Of the sum.

        variance: Of the sum.

        third: Its third central moment; 0 gives the normal law.

        least: No value is below.

        most: No value is above.

    References:
        Wilson & Hilferty (1931), PNAS 17.
    """
    if not variance > 0.0:
        return mean, mean
    spread = math.sqrt(variance)
    # Of the rarest events the square of the skewness would be no number any more.
    skew = max(-_MOST_SKEWED, min(third / variance / spread, _MOST_SKEWED))

    def at(z: float) -> float:
        if abs(skew) < 1e-6:
            return z
        root = 1.0 + skew * z / 6.0 - skew**2 / 36.0
        return 2.0 / skew * (max(root, 0.0) ** 3 - 1.0)

    low, high = (mean + spread * at(z) for z in (-_Z, _Z))
    return min(max(low, least), most), max(min(high, most), least)


def of_size(mean: float, variance: float) -> Range:
    """
    Return the range of the size of something random, such as |Z| or the length of a vector of normal parts.

    The third moment follows from the first two nearly in the same way for all of these (chi variables).
    """
    third = 1.25 * variance**2 / mean if mean > 0.0 else 0.0
    return of_moments(mean, variance, third, least=0.0)


def of_mean(table: Table, mean: float, step: Floats) -> Range:
    """
    Return the range of a mean over rows to which each label contributes by itself.

    Args:
        table: The rows.

        mean: On average over labels that follow the scores.

        step: By how much the contribution of a row of weight 1 is greater with label 1 than with label 0, at
            each entry of the table, shape (n_entries,).
    """
    squares, score, weight = table.weight_sq, table.score, table.weight
    second, third = 0.0, 0.0
    for start in range(0, score.size, _CHUNK):
        near = slice(start, start + _CHUNK)
        f, tall = score[near], step[near]
        noise = f * (1.0 - f)
        # A certain score has the one label that it announces, whatever the other would contribute.
        tall = np.where(noise > 0.0, tall, 0.0)
        noise *= squares[near]
        noise *= tall * tall
        second += float(noise.sum())
        tall = tall * (1.0 - 2.0 * f)
        if table.weighted:
            tall *= squares[near] / np.maximum(weight[near], np.finfo(float).tiny)
        noise *= tall
        third += float(noise.sum())
    total = float(weight.sum())
    return of_moments(mean, second / total**2, third / total**3)
