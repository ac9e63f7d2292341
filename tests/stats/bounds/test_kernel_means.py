"""Bounds of weighted means of chances, against all sets of labels, and Chernoff's for equal weights."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.curves.kernel_band import kernel_mean_bounds
from calibcli.stats.numerics import crossing


@given(
    weight=st.lists(st.one_of(st.just(1.0), st.floats(1e-9, 1.0)), min_size=1, max_size=7),
    seed=st.integers(0, 2**32 - 1),
    delta=st.sampled_from([0.2, 0.05, 1e-3]),
)
def test_each_bound_is_wrong_no_more_often_than_it_may(weight: list[float], seed: int, delta: float) -> None:
    """The chances of all sets of labels whose bound lies on the wrong side, added up, are at most delta."""
    rng = np.random.default_rng(seed)
    weights, chance = np.array(weight), rng.random(len(weight)) ** rng.choice([0.1, 1.0, 5.0])
    label = np.array(list(product((0.0, 1.0), repeat=weights.size)))
    likely = np.prod(np.where(label == 1.0, chance, 1.0 - chance), axis=1)
    many = np.broadcast_to(weights, label.shape)
    lower, upper = kernel_mean_bounds(
        many, np.ones(label.shape), ones=label @ weights, zeros=(1.0 - label) @ weights, delta_each_side=delta
    )
    true, mean = weights @ chance / weights.sum(), label @ weights / weights.sum()
    assert likely[lower > true + 1e-12].sum() <= delta
    assert likely[upper < true - 1e-12].sum() <= delta
    assert np.all((lower <= mean + 1e-12) & (mean - 1e-12 <= upper))


@pytest.mark.parametrize(("rows", "ones"), [(1, 0), (30, 0), (30, 7), (1_000, 10), (1e6, 300.0), (1e6, 5e5)])
def test_equal_weights_have_the_bound_of_chernoff(rows: float, ones: float) -> None:
    """Found by the divergence of Kullback and Leibler, up to what a search on few bets leaves."""
    delta, share = 1e-5, ones / rows

    def excess(chance: float) -> float:
        apart = (1.0 - share) * math.log((1.0 - share) / (1.0 - chance))
        return rows * (apart + (share * math.log(share / chance) if share else 0.0)) + math.log(delta)

    best = crossing(excess, max(share, 1e-12), 1.0 - 1e-12)[1]
    counts = np.array([ones]), np.array([rows - ones])
    cell = np.ones((1, 1))
    _, upper = kernel_mean_bounds(
        0.3 * cell, rows * cell, ones=0.3 * counts[0], zeros=0.3 * counts[1], delta_each_side=delta
    )
    lower, _ = kernel_mean_bounds(cell, rows * cell, ones=counts[1], zeros=counts[0], delta_each_side=delta)
    assert best - 1e-9 <= upper[0] <= share + 1.03 * (best - share)
    assert lower[0] == pytest.approx(1.0 - upper[0])
