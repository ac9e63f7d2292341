"""The consistency band of the isotonic fit: how often fits to calibrated labels leave it, place by place."""

import numpy as np
import pytest

from calibcli.stats.curves.isotonic import isotonic_curve
from calibcli.stats.table.score_table import ScoreTable
from claims.simulation import generator_of, most_misses

PLACES = np.linspace(0.1, 0.9, 9)


def misses(rows: int, *, repetitions: int, between: bool = False) -> np.ndarray:
    """
    Return how often the fit leaves the band, labels drawn from the scores each time.

    Args:
        rows: How many.

        repetitions: How often labels are drawn.

        between: Whether to look between each two neighbouring cells of the band, and not at nine scores.
    """
    rng = generator_of("isotonic band", rows)
    score = np.sort(rng.beta(0.8, 1.6, rows))
    at = np.quantile(score, PLACES)
    missed, band = np.zeros(0, dtype=int), None
    for _ in range(repetitions):
        curve = isotonic_curve(
            ScoreTable.from_rows(score, rng.random(rows) < score),
            generator=generator_of("draws", rows),
            draws=1_000 if band is None else 1,
        )
        if band is None:
            band = curve
            at = 0.5 * (band.at[1:] + band.at[:-1]) if between else at
            missed = np.zeros(at.size, dtype=int)
        level = np.interp(at, curve.x, curve.rate)
        low, high = (np.interp(at, band.at, end) for end in (band.lower, band.upper))
        missed += (level < low - 1e-12) | (level > high + 1e-12)
    return missed


def check(rows: int, *, repetitions: int) -> None:
    """Fail on strong evidence that the fit leaves the band more often than in 8 % of the draws at a score."""
    assert misses(rows, repetitions=repetitions).max() <= most_misses(repetitions, 0.08)


@pytest.mark.parametrize("rows", [400, 5_000])
def test_fits_to_calibrated_labels_lie_in_the_band(rows: int) -> None:
    """At 95 % and each score by itself, with cells and without; taking 1,000 draws may cost 3 points."""
    check(rows, repetitions=100)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [200, 2_000, 20_000, 50_000])
def test_fits_to_calibrated_labels_lie_in_the_band_at_length(rows: int) -> None:
    """The same with a thousand repetitions, in tables small and large."""
    check(rows, repetitions=1_000)


@pytest.mark.slow
def test_between_cells_near_the_ends_fits_leave_the_band_more_often() -> None:
    """On average 5 %, and at the worst of 500 places a few times as often: the small print says so."""
    share = misses(50_000, repetitions=200, between=True) / 200.0
    assert share.mean() < 0.065
    assert share.max() < 0.35
    assert min(int(share.argmax()), share.size - 1 - int(share.argmax())) < 25
