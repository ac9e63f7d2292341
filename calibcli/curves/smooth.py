"""The reliability curve without bins: every point is the mean label of the rows a kernel sees."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.curves.reliability import NO_WEIGHTED_BAND, SmoothCurve, percent, refuse_empty
from calibcli.table.grid import Table
from calibcli.table.kernel import LEAST_BANDWIDTH, cosine_series, cosine_series_of_cells
from calibcli.table.score_table import Floats

DRAWS = 200
_CELLS = 1_024
# No place is drawn that is farther from every score than this many bandwidths.
_REACH = 3.0
# Mass beyond this many bandwidths from the end of the window would be felt inside it.
_MARGIN = 6.0
_FINEST = 256
_MOST_INTERVALS = 512
_FEWEST_INTERVALS = 128
# A smoothed mass smaller than this share of all is rounding.
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class _Window:
    """
    The part of [0, 1] that the curve looks at, stretched to [0, 1] so that narrow scores are resolved.

    Args:
        start: Left end: 0, or far enough from every score that reflecting there changes nothing.

        width: Its length.

        bandwidth: Standard deviation of the kernel, in units of the score.
    """

    start: float
    width: float
    bandwidth: float

    @classmethod
    def around(cls, score: Floats, bandwidth: float) -> "_Window":
        """Return the window that holds all scores and what the kernel spreads them to."""
        low, high = float(score.min()), float(score.max())
        sigma = max(bandwidth, LEAST_BANDWIDTH, (high - low) / _FINEST)
        start = max(0.0, low - _MARGIN * sigma)
        return cls(start, min(1.0, high + _MARGIN * sigma) - start, sigma)

    def stretched(self, score: Floats) -> Floats:
        """Return scores in units of the window."""
        return np.clip((score - self.start) / self.width, 0.0, 1.0)

    @property
    def scale(self) -> float:
        """Bandwidth in units of the window."""
        return self.bandwidth / self.width

    @property
    def oversampling(self) -> int:
        """What gives the curve enough points, however wide the kernel."""
        return math.ceil(_FEWEST_INTERVALS * self.scale / 2.8)


def smooth_curve(
    table: Table,
    *,
    bandwidth: float,
    generator: np.random.Generator,
    confidence: float = 0.95,
    draws: int = DRAWS,
) -> SmoothCurve:
    """
    Return the kernel-weighted mean label against the kernel-weighted mean score.

    Args:
        table: The rows.

        bandwidth: Standard deviation of the reflected Gaussian, that of smECE. Bandwidths below 1/256 of the
            scores' range are raised to it: a picture shows no more.

        generator: Where the randomness of the band comes from.

        confidence: Of the band at each single point, in (0, 1).

        draws: Number of times the labels are drawn anew for the band.

    Raises:
        EmptyTable: If the table holds no rows, or no weight.
    """
    refuse_empty(table)
    score, total = table.score, table.weight.sum()
    present = score[table.weight > 0.0]
    window = _Window.around(present, bandwidth)
    masses = np.stack((table.weight, table.weight * score, table.positive)) / total
    series = cosine_series(window.stretched(score), masses)
    weight, score_sum, positive = series.smoothed(window.scale, oversampling=window.oversampling)
    at = window.start + window.width * np.linspace(0.0, 1.0, weight.size)
    seen = _within_reach(at, present, _REACH * window.bandwidth) & (weight * window.scale > _NOTHING)
    mean_score, rate = (_ratio(part, weight, seen) for part in (score_sum, positive))
    if table.weighted:
        lower = upper = np.full_like(at, math.nan)
        band = NO_WEIGHTED_BAND
    else:
        spread = _spread_of_draws(table, window, rate=rate, generator=generator, draws=draws)
        lower, upper = _around(rate, spread, confidence)
        band = f"pointwise {percent(confidence)} resampling band, bandwidth held"
    kept = _shown(seen)
    return SmoothCurve(
        at=np.clip(at[kept], 0.0, 1.0),
        x=mean_score[kept],
        y=rate[kept],
        lower=lower[kept],
        upper=upper[kept],
        density=np.maximum(weight[kept], 0.0) / window.width,
        bandwidth=window.bandwidth,
        band=band,
    )


def _within_reach(at: Floats, score: Floats, reach: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return at which places some score lies within reach."""
    right = np.searchsorted(score, at)
    after = score[np.minimum(right, score.size - 1)]
    before = score[np.maximum(right - 1, 0)]
    return np.minimum(np.abs(after - at), np.abs(at - before)) <= reach


def _shown(seen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> slice:
    """Return the places from the first to the last one with rows, every second one where they are many."""
    places = np.flatnonzero(seen)
    step = 1 if seen.size <= _MOST_INTERVALS + 1 else 2
    return slice(int(places[0]), int(places[-1]) + 1, step)


def _ratio(part: Floats, whole: Floats, seen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Floats:
    """Return a mean of values in [0, 1], NaN where nothing is seen."""
    mean = np.full_like(whole, math.nan)
    np.divide(part, whole, out=mean, where=seen)
    return np.clip(mean, 0.0, 1.0)


def _spread_of_draws(
    table: Table, window: _Window, *, rate: Floats, generator: np.random.Generator, draws: int
) -> Floats:
    """
    Draw the labels anew at the smoothed rate and return the smoothed rates less their expectation.

    The rate of a cell is pulled towards 1/2 by one row's worth against the rows the kernel sees there, as
    Jeffreys would, so that a stretch without a single label 1 has a band, too.

    Returns:
        Shape (draws, n_places).
    """
    cell = np.minimum((window.stretched(table.score) * _CELLS).astype(np.int64), _CELLS - 1)
    rows = np.bincount(cell, weights=table.weight, minlength=_CELLS).astype(np.float64)
    some = np.flatnonzero(rows)
    weight = cosine_series_of_cells(rows).smoothed(window.scale, oversampling=window.oversampling)
    # Sum of squared kernel weights of a Gaussian over the square of their sum.
    seen_rows = np.maximum(weight, 0.0) * window.scale * 2.0 * math.sqrt(math.pi)
    pulled = (seen_rows * rate + 0.5) / (seen_rows + 1.0)
    known = np.flatnonzero(~np.isnan(pulled))
    centre = (some + 0.5) / _CELLS * (rate.size - 1)
    chance = np.interp(centre, known, pulled[known])
    count = rows[some].astype(np.int64)[:, None]
    # Cell by cell, since setting up a binomial costs more than drawing from it.
    drawn = generator.binomial(count, chance[:, None], size=(some.size, draws))
    deviation = np.zeros((draws, _CELLS))
    deviation[:, some] = (drawn - count * chance[:, None]).T
    smoothed = cosine_series_of_cells(deviation).smoothed(window.scale, oversampling=window.oversampling)
    result = np.full_like(smoothed, math.nan)
    np.divide(smoothed, weight, out=result, where=~np.isnan(rate))
    return result


def _around(rate: Floats, spread: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the band: quantiles of the draws about the curve, which stays inside it."""
    # The order statistics just outside the tails: np.quantile would import numpy.ma on the way to a report.
    ranked = np.sort(spread, axis=0)
    cut = int((1.0 - confidence) / 2.0 * len(ranked))
    below, above = ranked[cut], ranked[len(ranked) - 1 - cut]
    return np.clip(rate + below, 0.0, rate), np.clip(rate + above, rate, 1.0)
