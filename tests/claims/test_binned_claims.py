"""
Coverage of every bound over bins, those behind `--bounds` too, with the error exactly known.

Each end of an interval and each listed bound is counted by itself at half the error. The short version runs a
cell of each kind; the slow one all cells at 90 and 95 %.
"""

from unittest.mock import patch

import numpy as np
import pytest

from calibcli.bounds.chernoff import least_energy, most_energy
from calibcli.measures.calibrated import draw_calibrated
from calibcli.measures.l2_bounds import counted
from calibcli.names import Binning
from calibcli.table.bins import binned, bins_of
from calibcli.table.score_table import ScoreTable
from claims.over_bins import (
    OF_THE_POPULATION,
    bounds_of_the_population,
    bounds_of_these_scores,
    holds,
)
from claims.simulation import SCENARIOS, check_promises, generator_of, most_misses


@pytest.mark.parametrize(("scenario", "rows"), [("strong", 1000), ("disc4", 1000), ("rare, wrong", 1000)])
def test_bounds_of_these_scores_hold(scenario: str, rows: int) -> None:
    """Every bound over bins for these scores at 95 %, labels drawn anew."""
    found = bounds_of_these_scores(scenario, rows, confidence=0.95, repetitions=30)
    assert {"ace", "linf upper", "ece d_star upper", "l2 sun", "l2_plug_in"} <= set(found)
    check_promises(found, rows=rows)


@pytest.mark.parametrize("scenario", ["mild", "one atom"])
def test_bounds_of_the_population_hold(scenario: str) -> None:
    """Theorem 12.4, empirical Bernstein and any-time betting at 95 %, rows drawn anew."""
    found = bounds_of_the_population(scenario, 1000, confidence=0.95, repetitions=60)
    assert {name.split()[1] for name in found} == set(OF_THE_POPULATION)
    check_promises(found, rows=1000)


def test_set_of_sun_is_read_as_it_is_printed() -> None:
    """A set in words holds 0 if it names it, and what lies between its ends."""
    assert holds("0 or 0.01 to 0.03", 0.0)
    assert holds("0 or 0.01 to 0.03", 0.02)
    assert not holds("0.01 to 0.03", 0.0)
    assert not holds("0.01 to 0.03", 0.04)
    assert not holds("0", 0.04)


def test_chernoff_bounds_hold_where_all_gaps_have_one_sign() -> None:
    """Two bins with gaps of .1 each: upper and lower bound of the energy miss at most 5 % of the time."""
    rng = generator_of("chernoff")
    score, truth, rows = np.array([0.3, 0.6]), np.array([0.4, 0.7]), np.array([150, 150])
    missed = np.zeros(2, int)
    for _ in range(40):
        table = ScoreTable(score, rows, rng.binomial(rows, truth))
        counts = counted(table, binned(table, bins_of(Binning.ATOMS, 1, table=table)))
        assert counts is not None
        missed += [most_energy(counts, delta=0.05) < 3.0, least_energy(counts, delta=0.05) > 3.0]
    assert missed.max() <= most_misses(40, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("rows", [200, 1000, 5000])
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_bound_over_bins_holds(scenario: str, rows: int, confidence: float) -> None:
    """All cells at 90 and 95 %: 300 repetitions, the Chernoff bounds in every tenth."""
    found = bounds_of_these_scores(scenario, rows, confidence=confidence, repetitions=300)
    check_promises(found, rows=rows)
    found = bounds_of_the_population(scenario, rows, confidence=confidence, repetitions=200)
    check_promises(found, rows=rows)


def test_draws_for_nulls_do_not_move_other_digits() -> None:
    """Keeping gaps of the draws takes no random number: the ECE of each draw is that of its gaps."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    table = ScoreTable.from_rows(score, rng.random(300) < score)
    sums = binned(table, bins_of(Binning.EQUAL_WIDTH, 10, table=table))
    with patch("calibcli.measures.calibrated.expected_smece", return_value=(0.0, None)):
        drawn = draw_calibrated(table, partitions=[sums], generator=rng, smece_generator=rng, draws=50)
    gaps = drawn.gaps_of(sums.bins)
    assert gaps is not None
    assert np.allclose(np.abs(gaps).sum(axis=1) / 300, drawn.ece_of(sums.bins), rtol=0, atol=1e-15)
