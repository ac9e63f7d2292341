"""
The full grid of simulated coverage: every promise, scenario, number of rows and confidence.

These are the friendly worlds at 90 and 95 %; `test_hard_worlds.py` has the hard ones, `docs/coverage.md` all.
"""

import pytest

from claims.simulation import (
    SCENARIOS,
    allowed_error,
    every_promise,
    most_misses,
    promised,
    rejections,
    wrong_verdicts,
    wrong_verdicts_at_any_time,
)

pytestmark = pytest.mark.slow

REPETITIONS = {200: 2000, 1000: 2000, 5000: 2000, 50_000: 200}


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("rows", REPETITIONS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_interval_covers(scenario: str, rows: int, confidence: float) -> None:
    """No interval misses more often than it may, at any number of rows for which that is promised."""
    tallies = every_promise(scenario, rows, confidence=confidence, repetitions=REPETITIONS[rows])
    for name, tally in tallies.items():
        if promised(name, rows):
            assert tally.misses <= most_misses(tally.repetitions, allowed_error(name, tally)), name


@pytest.mark.parametrize("rows", [200, 1000, 5000])
@pytest.mark.parametrize("scenario", ["calibrated", "discrete", "rare", "rare, 15 atoms"])
def test_every_test_keeps_its_level(scenario: str, rows: int) -> None:
    """No test rejects calibrated labels more often than 5 %."""
    repetitions = 4000 if rows < 5000 else 1000
    for name, count in rejections(scenario, rows, repetitions=repetitions).items():
        assert count <= most_misses(repetitions, 0.05), name


def test_coarsened_draws_keep_the_level_of_t() -> None:
    """Above 20,000 rows, where labels are drawn on sub-cells, T still rejects at its level."""
    assert rejections("calibrated", 25_000, repetitions=300)["t"] <= most_misses(300, 0.05)


@pytest.mark.parametrize("one_look", [True, False])
@pytest.mark.parametrize(("rows", "eps"), [(500, 0.1), (2000, 0.05), (20_000, 0.02)])
@pytest.mark.parametrize("count", [1, 2, 10])
def test_one_look_keeps_its_error(count: int, rows: int, eps: float, one_look: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """With the error exactly at the limit, each wrong verdict has probability at most 5 %."""
    passed, failed = wrong_verdicts(count, eps=eps, rows=rows, repetitions=2000, one_look=one_look)
    assert passed <= most_misses(2000, 0.05)
    assert failed <= most_misses(2000, 0.05)


@pytest.mark.parametrize("eps", [0.02, 0.05])
@pytest.mark.parametrize("count", [1, 2, 10])
def test_two_hundred_looks_keep_their_error(count: int, eps: float) -> None:
    """Asked after every 100 rows up to 20,000, the any-time gate is ever wrong at most 5 % of the time."""
    passed, failed = wrong_verdicts_at_any_time(count, eps=eps, step=100, looks=200, streams=400)
    assert passed <= most_misses(400, 0.05)
    assert failed <= most_misses(400, 0.05)
