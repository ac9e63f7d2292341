"""The bounds of Murphy and decision curves: how often they hold at a threshold."""

from itertools import product

import numpy as np
import pytest

from calibcli.stats.bounds.proportion import Shares
from calibcli.stats.curves.thresholds import standardised_ends
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
                factors = np.stack((np.full(len(pairs), a), np.full(len(pairs), b)))
                shares = Shares.of(pairs.T.astype(np.float64), rows=float(rows), confidence=0.95)
                lower, upper = shares.bounds(factors)
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


# Label 1 treated and not, label 0 treated: rare events, and tests that are hardly ever right.
TREATED = [
    (base * hit, base * (1.0 - hit), (1.0 - base) * alarm)
    for base, hit, alarm in product((0.01, 0.05, 0.2, 0.5), (0.05, 0.3, 0.9, 1.0), (0.005, 0.1, 0.6))
]
# Rows that only one of two scores treats: label 1 gained and lost, label 0 gained and lost.
MOVED = list(product((0.0, 0.002, 0.05, 0.2), (0.0, 0.01, 0.1), (0.005, 0.1, 0.3), (0.0, 0.02, 0.2)))


def misses(shares: tuple[float, ...], *, rows: int, at: float) -> int:
    """Return how often the standardised net benefit (three shares) or a difference (four) was missed."""
    rng = np.random.default_rng(rows)
    drawn = rng.multinomial(rows, [*shares, 1.0 - sum(shares)], size=REPETITIONS)[:, :-1].astype(np.float64).T
    odds, every = at / (1.0 - at), np.ones(REPETITIONS)
    if len(shares) == 3:
        lower, upper = standardised_ends(Shares.of(drawn, rows=float(rows), confidence=0.95), odds * every)
        truth = (shares[0] - odds * shares[2]) / (shares[0] + shares[1])
        # Without label 1 nothing is said.
        return int((((lower > truth + 1e-9) | (upper < truth - 1e-9)) & (drawn[0] + drawn[1] > 0.0)).sum())
    factors = np.array([1.0, -1.0, -odds, odds])[:, None] * every
    lower, upper = Shares.of(drawn, rows=float(rows), confidence=0.95).bounds(factors)
    truth = float(factors[:, 0] @ shares)
    return int(((lower > truth + 1e-12) | (upper < truth - 1e-12)).sum())


@pytest.mark.slow
@pytest.mark.parametrize("rows", [50, 500, 5_000])
@pytest.mark.parametrize("shares", [TREATED, MOVED], ids=["standardised", "between scores"])
def test_standardised_net_benefit_and_differences_cover(shares: list[tuple[float, ...]], rows: int) -> None:
    """Of every world at thresholds from 0.01 to 0.8: 4,000 repetitions of each."""
    worst = max(misses(one, rows=rows, at=at) for one, at in product(shares, (0.01, 0.1, 0.3, 0.5, 0.8)))
    assert worst <= most_misses(REPETITIONS, 0.05)
