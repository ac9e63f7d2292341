"""The simulated promise of paired differences: seeded, in a few seconds."""

import numpy as np
import pytest
from scipy.special import expit, logit

from calibcli.measures.paired import PAIRED, PairedSums
from calibcli.names import ComparisonName, MeasureName
from claims.dependent_rows import PAIRS, by_bonferroni, paired, usual
from claims.simulation import check_promises, generator_of, most_misses

REPETITIONS = 500


@pytest.mark.parametrize("pair", PAIRS)
def test_paired_intervals_cover(pair: str) -> None:
    """At 1,000 rows the 95 % interval misses the true difference no more often than 5 % can explain."""
    for name, tally in paired(pair, 1000, confidence=0.95, repetitions=250).tallies.items():
        assert tally.misses <= most_misses(250, 0.05), name


def test_differences_of_errors_cover() -> None:
    """The difference of two ECEs by their two intervals misses at most 5 % of the time."""
    check_promises(by_bonferroni("strong", 1000, confidence=0.95, repetitions=200).tallies, rows=1000)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("rows", [200, 1000, 5000])
@pytest.mark.parametrize("pair", PAIRS)
def test_differences_cover_in_full(pair: str, rows: int, confidence: float) -> None:
    """Every pair, number of rows and confidence: 2,000 repetitions, 500 of the difference of ECEs."""
    found = paired(pair, rows, confidence=confidence, repetitions=2000).tallies
    found |= by_bonferroni(pair, rows, confidence=confidence, repetitions=500).tallies
    check_promises(found, rows=rows)


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
    assert paired < 0.15 * alone
