"""Chernoff bounds of bins with gaps of one sign, and draws that several measures share."""

from unittest.mock import patch

import numpy as np

from calibcli.names import Binning
from calibcli.stats.bounds.chernoff import least_energy, most_energy
from calibcli.stats.measures.if_calibrated import CalibratedDraws
from calibcli.stats.measures.l2 import counted
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import binned, bins_of
from claims.simulation import generator_of, most_misses


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


def test_draws_for_nulls_do_not_move_other_digits() -> None:
    """Keeping gaps of the draws takes no random number: the ECE of each draw is that of its gaps."""
    rng = np.random.default_rng(0)
    score = rng.random(300)
    table = ScoreTable.from_rows(score, rng.random(300) < score)
    sums = binned(table, bins_of(Binning.EQUAL_WIDTH, 10, table=table))
    with patch("calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.0, None)):
        drawn = CalibratedDraws(table, partitions=[sums], generator=rng, smece_generator=rng, draws=50)
    gaps = drawn.drawn.over(sums.bins).gaps
    assert gaps is not None
    assert np.allclose(np.abs(gaps).sum(axis=1) / 300, drawn.drawn.over(sums.bins).ece, rtol=0, atol=1e-15)
