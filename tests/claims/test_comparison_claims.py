"""Paired differences: how seldom equally good scores, and maps of rare and costly ones, are told apart."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from calibcli.names import ComparisonName, MeasureName
from calibcli.stats.measures.differences import PAIRED, PairedSums, reach_of_maps
from claims.simulation import generator_of, most_misses
from claims.worlds import WORLDS, Law


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


@pytest.mark.parametrize("times", [60, pytest.param(1_000, marks=pytest.mark.slow)])
def test_maps_of_one_score_are_compared_as_promised(times: int) -> None:
    """Where 0.3 % of scores are rare and costly, a map of all is told apart wrongly as rarely as promised."""

    def moved(f: np.ndarray) -> np.ndarray:
        return f / (f + (1 - f) * 0.43)

    law = Law.of(WORLDS["fraud, calibrated"])
    score, shift = law.table.score, moved(law.table.score)
    after = Law(replace(law.table, score=shift), law.rate).means()
    for rows in (300, 3_000):
        rng, missed = generator_of("maps", rows), np.zeros((2, 2))
        for _ in range(times):
            count = rng.multinomial(rows, law.share)
            ones = rng.binomial(count, law.rate)
            sums = PairedSums()
            label = np.repeat([True, False], 2)
            sums.add(np.tile(score, 2), np.tile(shift, 2), label, counts=np.append(ones, count - ones))
            sums.reach = reach_of_maps(np.asarray, moved, score[count > 0])
            for place, measure in enumerate(PAIRED):
                true = after[measure] - law.means()[measure]
                interval = sums.difference(measure, confidence=0.95).interval
                missed[place] += interval.upper < true, interval.lower > true
        assert missed.max() <= most_misses(times, 0.025)
