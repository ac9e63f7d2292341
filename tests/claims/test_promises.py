"""
One simulated cell per statistical promise, seeded, in under a minute.

A promise fails only on strong evidence: more misses than its error rate gives with probability 1e-6.
Conservative intervals are allowed. The full grid is in `test_coverage.py` (slow).
"""

import pytest
from scipy.stats import binom

from calibcli.gate_names import Bound, Relation
from calibcli.names import MeasureName, VerdictName
from calibcli.table.bins import ATOMS
from calibcli.verdicts.claim import Ground, Rule
from calibcli.verdicts.ece_below import ece_below
from claims.simulation import (
    allowed_error,
    boundary_atoms,
    drawn_atoms,
    fixed_design,
    generator_of,
    most_misses,
    population,
    rejections,
    wrong_verdicts,
    wrong_verdicts_at_any_time,
)


def test_thresholds_are_those_of_the_house() -> None:
    """At 95 %, 269 misses in 4,000 and 149 in 2,000 are still allowed, and a bad interval is caught."""
    assert most_misses(4000, 0.05) == 269
    assert most_misses(2000, 0.05) == 149
    assert binom.sf(most_misses(1000, 0.05), 1000, 0.10) > 0.9


@pytest.mark.parametrize(
    ("scenario", "rows"),
    [
        ("calibrated", 1000),
        ("strong", 1000),
        ("disc4", 2000),
        pytest.param("rare", 1000, marks=pytest.mark.slow),
        pytest.param("one atom", 1000, marks=pytest.mark.slow),
    ],
)
def test_intervals_of_these_scores_cover(scenario: str, rows: int) -> None:
    """ECE (both ends, equal width, atoms and equal mass), bias and l2, at 95 % with labels drawn anew."""
    names = ("ece", "ece_equal_mass", "bias", "l2")
    cell = fixed_design(scenario, rows, confidence=0.95, repetitions=500, names=names)
    assert set(cell.tallies) == {*names, "ece upper", "ece lower"}
    for name, tally in cell.tallies.items():
        assert tally.repetitions == 500
        assert tally.misses <= most_misses(500, allowed_error(name, tally)), name
        assert 0.0 < tally.width / 500 <= 1.0


@pytest.mark.parametrize("scenario", ["strong", "one atom"])
def test_lower_bound_of_smece_covers(scenario: str) -> None:
    """The lower end for these scores holds where the error is large enough for it to be above 0."""
    tally = fixed_design(scenario, 5000, confidence=0.95, repetitions=300, names=("smece lower",)).tallies[
        "smece lower"
    ]
    assert tally.misses <= most_misses(300, 0.025)
    if scenario == "strong":
        assert tally.width / 300 < 0.99


@pytest.mark.parametrize("scenario", ["calibrated", "strong"])
def test_upper_bound_of_smece_covers(scenario: str) -> None:
    """The upper end for the population holds, and is not vacuous."""
    tally = population(scenario, 1000, confidence=0.95, repetitions=300, names=("smece upper",)).tallies[
        "smece upper"
    ]
    assert tally.misses <= most_misses(300, 0.025)
    assert tally.width / 300 < 0.25


@pytest.mark.parametrize("scenario", ["calibrated", "strong", "rare"])
def test_intervals_of_losses_cover(scenario: str) -> None:
    """Brier score and log loss at 1,000 rows: no more than three points below 95 %."""
    cell = population(scenario, 1000, confidence=0.95, repetitions=2000, names=("brier", "log_loss"))
    for name, tally in cell.tallies.items():
        assert tally.misses <= most_misses(2000, allowed_error(name, tally)), name


@pytest.mark.parametrize(
    ("scenario", "rows"),
    [
        ("calibrated", 300),
        pytest.param("calibrated", 800, marks=pytest.mark.slow),
        ("discrete", 800),
        pytest.param("rare", 800, marks=pytest.mark.slow),
    ],
)
def test_false_alarms_of_the_tests_are_five_per_cent(scenario: str, rows: int) -> None:
    """KS, Kuiper, Z, T and their combination reject calibrated labels 5 % of the time or less."""
    counts = rejections(scenario, rows, repetitions=500)
    assert set(counts) == {"ks", "kuiper", "spiegelhalter", "t", "combined"}
    for name, count in counts.items():
        assert count <= most_misses(500, 0.05), name
    # Exact Monte-Carlo levels are not just bounds: T rejects at its level, neither more nor less.
    assert counts["t"] >= binom.ppf(1e-6, 500, 0.05)


def test_tests_find_a_strong_error() -> None:
    """Against a strongly miscalibrated score every test rejects nearly always at 1,000 rows."""
    counts = rejections("strong", 1000, repetitions=50)
    assert all(count >= 48 for count in counts.values())


@pytest.mark.parametrize("count", [1, pytest.param(2, marks=pytest.mark.slow), 10])
def test_one_look_is_wrong_at_most_five_per_cent(count: int) -> None:
    """With an artifact's bets and the error exactly at the limit, wrong passes and wrong fails are rare."""
    passed, failed = wrong_verdicts(count, eps=0.05, rows=2000, repetitions=600)
    assert passed <= most_misses(600, 0.05)
    assert failed <= most_misses(600, 0.05)


@pytest.mark.parametrize(
    "count", [pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow), 10]
)
def test_fifty_looks_are_wrong_at_most_five_per_cent(count: int) -> None:
    """Asked again after every 400 rows up to 20,000, the any-time gate is still wrong at most 5 %."""
    passed, failed = wrong_verdicts_at_any_time(count, eps=0.05, step=400, looks=50, streams=120)
    assert passed <= most_misses(120, 0.05)
    assert failed <= most_misses(120, 0.05)


def test_gate_is_careful_but_not_silent() -> None:
    """The rows that leave the limit itself open pass at twice and fail at two fifths of it."""
    score, truth = boundary_atoms(10, 0.05)
    table = next(drawn_atoms(generator_of("gate"), 20_000, score, truth))
    rules = [Rule("max-ece", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, eps) for eps in (0.1, 0.02)]
    found = [ece_below(table, rule, ground=Ground(bins=ATOMS)).outcome for rule in rules]
    assert found == [VerdictName.PASS, VerdictName.FAIL]
