"""An independent computation of bounds by one added row: the law of a weighted sum of gammas by inversion."""

import numpy as np
from scipy.optimize import brentq

_POINTS = 600


def chance_above(value: np.ndarray, rows: np.ndarray, mean: float) -> float:
    """Return P(sum G_i (x_i - mean) > 0), G_i gamma with `rows` degrees, by Gil-Pelaez (1951)."""
    distance = value - mean
    distance = distance / np.sqrt((rows * distance**2).sum())
    reach = 8.0
    while (rows * np.log1p((reach * distance) ** 2)).sum() < 60.0:
        reach *= 1.5
    t = (np.arange(_POINTS) + 0.5) * (reach / _POINTS)
    turns = np.outer(t, distance)
    size, angle = -0.5 * np.log1p(turns**2) @ rows, np.arctan(turns) @ rows
    return float(0.5 + (np.exp(size) * np.sin(angle) / t).sum() * (reach / _POINTS) / np.pi)


def upper_bound(value: np.ndarray, rows: np.ndarray, *, most: float, delta: float) -> float:
    """Return the quantile 1 - delta of the randomly weighted mean of rows and one of value `most`."""
    value, place = np.unique(value, return_inverse=True)
    value, rows = np.append(value, most), np.append(np.bincount(place, rows), 1.0)
    mean = (rows * value).sum() / rows.sum()
    top = mean + (1.0 - 1e-9) * (value.max() - mean)
    return float(brentq(lambda at: chance_above(value, rows, at) - delta, mean, top, xtol=1e-7))


def bounds(
    value: np.ndarray, *, least: float, most: float, confidence: float, rows: np.ndarray | None = None
) -> tuple[float, float]:
    """Return both ends of the interval of a mean."""
    times = np.ones(value.size) if rows is None else rows
    delta = (1.0 - confidence) / 2.0
    below = -upper_bound(-value, times, most=-least, delta=delta)
    return below, upper_bound(value, times, most=most, delta=delta)
