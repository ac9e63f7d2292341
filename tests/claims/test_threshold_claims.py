"""The bounds of Murphy and decision curves: how often they hold at a threshold."""

from itertools import product

import numpy as np
import pytest

from calibcli.stats.bounds.proportion import bounds_of_two_shares
from claims.simulation import most_misses

REPETITIONS = 4_000
THRESHOLDS = (0.01, 0.1, 0.3, 0.5, 0.8, 0.97)
SHARES = [(p, q) for p, q in product((0.0, 0.002, 0.01, 0.05, 0.2, 0.45), (0.002, 0.01, 0.05, 0.2, 0.5))]
FEW = [(0.01, 0.01), (0.05, 0.5), (0.45, 0.2)]


def worst_misses(shares: list[tuple[float, float]], *, rows: int) -> int:
    """Draw rows that are missed, alarms or neither; return the most misses of either curve at a threshold."""
    rng = np.random.default_rng(rows)
    worst = 0
    for p, q in shares:
        drawn = rng.multinomial(rows, [p, q, 1.0 - p - q], size=REPETITIONS)[:, :2]
        pairs, place = np.unique(drawn, axis=0, return_inverse=True)
        for at in THRESHOLDS:
            for a, b in ((2.0 * (1.0 - at), 2.0 * at), (1.0, -at / (1.0 - at))):
                factors = np.full(len(pairs), a), np.full(len(pairs), b)
                first, second = pairs.T.astype(np.float64)
                lower, upper = bounds_of_two_shares(
                    first, second, rows=float(rows), factors=factors, confidence=0.95
                )
                truth = a * p + b * q
                missed = (lower > truth + 1e-12) | (upper < truth - 1e-12)
                worst = max(worst, int(missed[place.reshape(-1)].sum()))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("rows", [20, 100, 1_000, 100_000])
def test_bounds_of_two_shares_cover(rows: int) -> None:
    """Every mix of rare and common errors, at thresholds from 0.01 to 0.97: 4,000 repetitions of each."""
    assert worst_misses(SHARES, rows=rows) <= most_misses(REPETITIONS, 0.05)


def test_bounds_of_two_shares_cover_in_short() -> None:
    """Three mixes at 100 rows."""
    assert worst_misses(FEW, rows=100) <= most_misses(REPETITIONS, 0.05)
