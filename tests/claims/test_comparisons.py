"""The simulated promise of paired differences: seeded, in a few seconds."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, logit

from calibcli.measures.paired import PAIRED, PairedSums
from calibcli.names import ComparisonName, MeasureName
from claims.simulation import generator_of, most_misses

REPETITIONS = 2000
FINE = (np.arange(200_000) + 0.5) / 200_000
Map = Callable[[np.ndarray], np.ndarray]


def bent(slope: float, shift: float) -> Map:
    """Return a map that is linear in log odds."""
    return lambda p: expit(shift + slope * logit(p))


def usual(u: np.ndarray) -> np.ndarray:
    """Return label probabilities all over the interval."""
    return 0.02 + 0.96 * u


def rare(u: np.ndarray) -> np.ndarray:
    """Return label probabilities of an event that is seldom."""
    return 0.01 + 0.1 * u**3


SCENARIOS: dict[str, tuple[Map, Map, Map]] = {
    "equally wrong": (usual, bent(1.0, 0.3), bent(1.0, -0.3)),
    "mild": (usual, bent(1.2, 0.0), bent(1.0, 0.2)),
    "strong": (usual, bent(2.0, 0.0), bent(1.0, 0.0)),
    "nearly the same": (usual, bent(1.02, 0.0), bent(1.0, 0.01)),
    "rare": (rare, bent(1.0, 0.5), bent(1.2, 0.0)),
}


def true_difference(name: MeasureName, p: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the expected difference of losses, by quadrature over label probabilities."""
    if name is MeasureName.BRIER:
        return float(np.mean((second - p) ** 2 - (first - p) ** 2))
    return float(np.mean(p * np.log(first / second) + (1 - p) * np.log((1 - first) / (1 - second))))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_paired_intervals_cover(scenario: str) -> None:
    """At 1,000 rows the 95 % interval misses the true difference no more often than 5 % can explain."""
    truth, *maps = SCENARIOS[scenario]
    rng = generator_of("paired", scenario)
    expected = {
        name: true_difference(name, truth(FINE), *(of(truth(FINE)) for of in maps)) for name in PAIRED
    }
    misses = dict.fromkeys(PAIRED, 0)
    for _ in range(REPETITIONS):
        p = truth(rng.random(1000))
        sums = PairedSums()
        sums.add(*(of(p) for of in maps), rng.random(1000) < p)
        for name in PAIRED:
            interval = sums.difference(name, confidence=0.95).interval
            assert interval is not None
            misses[name] += not (interval.lower or 0.0) <= expected[name] <= (interval.upper or 0.0)
    for name in PAIRED:
        # Where the event is rare, differences are skewed: one point more is allowed, and called approximate.
        assert misses[name] <= most_misses(REPETITIONS, 0.06 if scenario == "rare" else 0.05), name


def test_gate_rarely_fails_a_score_that_is_no_worse() -> None:
    """With two equally good scores `worse by either loss` is said at most 5 % of the time in all."""
    rng = generator_of("paired", "gate")
    wrong = 0
    for _ in range(REPETITIONS):
        p = usual(rng.random(1000))
        # Errors of one size in opposite directions, at random by row: neither score is better.
        turn = np.where(rng.random(1000) < 0.5, 0.3, -0.3)
        sums = PairedSums()
        sums.add(expit(logit(p) + turn), expit(logit(p) - turn), rng.random(1000) < p)
        verdicts = [sums.difference(name, confidence=0.95).verdict for name in PAIRED]
        wrong += ComparisonName.WORSE in verdicts
    assert wrong <= most_misses(REPETITIONS, 0.05)


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
    assert paired < 0.05 * alone
