"""What paired differences are for: a gate that rarely fails a score that is no worse, on few rows."""

import numpy as np
import pytest
from scipy.special import expit, logit

from calibcli.names import ComparisonName, MeasureName
from calibcli.stats.measures.differences import PAIRED, PairedSums
from claims.simulation import generator_of, most_misses


def usual(u: np.ndarray) -> np.ndarray:
    """Return label probabilities all over the interval."""
    return 0.02 + 0.96 * u


@pytest.mark.parametrize("times", [150, pytest.param(2_000, marks=pytest.mark.slow)])
def test_gate_rarely_fails_a_score_that_is_no_worse(times: int) -> None:
    """With two equally good scores `worse by either loss` is said at most 5 % of the time in all."""
    rng = generator_of("paired", "gate")
    wrong = 0
    for _ in range(times):
        p = usual(rng.random(1000))
        # Errors of one size in opposite directions, at random by row: neither score is better.
        turn = np.where(rng.random(1000) < 0.5, 0.3, -0.3)
        sums = PairedSums()
        sums.add(expit(logit(p) + turn), expit(logit(p) - turn), rng.random(1000) < p)
        verdicts = [sums.difference(name, confidence=0.95).verdict for name in PAIRED]
        wrong += ComparisonName.WORSE in verdicts
    assert wrong <= most_misses(times, 0.05)


def test_pairing_is_worth_it() -> None:
    """The paired interval is a small part of what the two intervals by themselves would give."""
    rng = generator_of("paired", "width")
    p = usual(rng.random(5000))
    first, second, label = expit(1.02 * logit(p)), p, rng.random(5000) < p
    sums = PairedSums()
    sums.add(first, second, label)
    interval = sums.difference(MeasureName.BRIER, confidence=0.95).interval
    assert interval is not None
    paired = (interval.upper or 0.0) - (interval.lower or 0.0)
    alone = 2 * 1.96 * np.hypot(*(np.std((score - label) ** 2) for score in (first, second))) / np.sqrt(5000)
    assert paired < 0.15 * alone
