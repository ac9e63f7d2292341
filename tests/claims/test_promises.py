"""
Gates on atoms whose error is exactly the limit, at one look and at many.

A promise fails only on strong evidence: more misses than its error rate gives with probability 1e-6.
"""

import pytest
from scipy.stats import binom

from calibcli.names import Bound, MeasureName, Relation, VerdictName
from calibcli.options.rules import Rule
from calibcli.stats.gates.claim import Ground
from calibcli.stats.gates.ece import ece_below
from calibcli.stats.table.bins import ATOMS
from claims.simulation import (
    boundary_atoms,
    drawn_atoms,
    generator_of,
    most_misses,
    wrong_verdicts,
    wrong_verdicts_at_any_time,
)


def test_thresholds_are_those_of_the_house() -> None:
    """At 95 %, 269 misses in 4,000 and 149 in 2,000 are still allowed, and a bad interval is caught."""
    assert most_misses(4000, 0.05) == 269
    assert most_misses(2000, 0.05) == 149
    assert binom.sf(most_misses(1000, 0.05), 1000, 0.10) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("one_look", [True, False])
@pytest.mark.parametrize(("rows", "eps"), [(500, 0.1), (2000, 0.05), (20_000, 0.02)])
@pytest.mark.parametrize("count", [1, 2, 10])
def test_one_look_keeps_its_error(count: int, rows: int, eps: float, one_look: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """With the error exactly at the limit, each wrong verdict has probability at most 5 %."""
    wrong = wrong_verdicts(count, eps=eps, rows=rows, repetitions=2000, one_look=one_look)
    assert max(wrong) <= most_misses(2000, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.02, 0.05])
@pytest.mark.parametrize("count", [1, 2, 10])
def test_two_hundred_looks_keep_their_error(count: int, eps: float) -> None:
    """Asked after every 100 rows up to 20,000, the any-time gate is ever wrong at most 5 % of the time."""
    wrong = wrong_verdicts_at_any_time(count, eps=eps, step=100, looks=200, streams=200)
    assert max(wrong) <= most_misses(200, 0.05)


@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.slow), 10])
def test_one_look_is_wrong_at_most_five_per_cent(count: int) -> None:
    """With an artifact's bets and the error exactly at the limit, wrong passes and wrong fails are rare."""
    times = 600 if count == 1 else 200
    passed, failed = wrong_verdicts(count, eps=0.05, rows=2000, repetitions=times)
    assert passed <= most_misses(times, 0.05)
    assert failed <= most_misses(times, 0.05)


@pytest.mark.slow
def test_fifty_looks_are_wrong_at_most_five_per_cent() -> None:
    """Asked again after every 400 rows up to 20,000, the any-time gate is still wrong at most 5 %."""
    passed, failed = wrong_verdicts_at_any_time(10, eps=0.05, step=400, looks=50, streams=120)
    assert passed <= most_misses(120, 0.05)
    assert failed <= most_misses(120, 0.05)


def test_gate_is_careful_but_not_silent() -> None:
    """The rows that leave the limit itself open pass at twice and fail at two fifths of it."""
    score, truth = boundary_atoms(10, 0.05)
    table = next(drawn_atoms(generator_of("gate"), 20_000, score, truth))
    rules = [Rule("max-ece", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, eps) for eps in (0.1, 0.02)]
    found = [ece_below(table, rule, ground=Ground(bins=ATOMS)).outcome for rule in rules]
    assert found == [VerdictName.PASS, VerdictName.FAIL]
