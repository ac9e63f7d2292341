"""Bands of the isotonic diagram: how often fits to calibrated labels, and true rates, leave them."""

import numpy as np
import pytest

from calibcli.names import Band
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


def _rare(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    score = rng.beta(0.3, 60.0, rows)
    return score, score


def _saturated(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores within 1e-9 of 0 and 1, one row in a hundred being wrong there."""
    score = np.where(rng.random(rows) < 0.5, 1e-9 * rng.random(rows), 1.0 - 1e-9 * rng.random(rows))
    return score, np.where(score < 0.5, 0.01, 0.99)


def _one_bad_score(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ties at ten scores, the highest of which is never right to be so high."""
    score = rng.integers(0, 10, rows) / 10.0
    return score, np.where(score == 0.9, 0.8, score)


def _steep(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a rate that jumps from 0 to 1."""
    score = rng.random(rows)
    return score, (score > 0.5).astype(float)


RISING = {"rare": _rare, "saturated": _saturated, "one bad score": _one_bad_score, "steep": _steep}


def outside(world: str, rows: int, *, repetitions: int) -> int:
    """Return how often some row's rate lies outside the simultaneous band, anywhere."""
    rng, missed = generator_of(f"simultaneous {world}", rows), 0
    for _ in range(repetitions):
        score, rate = RISING[world](rng, rows)
        curve = isotonic_curve(
            ScoreTable.from_rows(score, rng.random(rows) < rate), generator=rng, band=Band.SIMULTANEOUS
        )
        # Of the corners at and before a row, and of those at and after it, one says what holds there.
        before = np.searchsorted(curve.at, score, side="right") - 1
        after = np.searchsorted(curve.at, score)
        wrong = (rate < curve.lower[before] - 1e-12) | (rate > curve.upper[after] + 1e-12)
        missed += bool(np.isnan(curve.lower).any() or wrong.any())
    return missed


@pytest.mark.parametrize("rows", [30, 300])
@pytest.mark.parametrize("world", RISING)
def test_all_rates_lie_in_the_simultaneous_band(world: str, rows: int) -> None:
    """At 95 % at once, where events are rare, scores certain, rates steep, and one score is bad."""
    assert outside(world, rows, repetitions=10) <= most_misses(10, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "repetitions"), [(30, 2_000), (300, 500), (10_000, 200)])
@pytest.mark.parametrize("world", RISING)
def test_all_rates_lie_in_the_simultaneous_band_at_length(world: str, rows: int, repetitions: int) -> None:
    """The same with more repetitions, and in a table of many cells."""
    assert outside(world, rows, repetitions=repetitions) <= most_misses(repetitions, 0.05)
