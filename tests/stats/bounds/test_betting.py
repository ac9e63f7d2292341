"""Laws of the bets: monotone evidence, bounds that enclose the plug-in, two ways to the same sums."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from calibcli.stats.bounds import betting
from calibcli.stats.bounds.betting import (
    GroupedResiduals,
    Stakes,
    stakes_for_a_mean,
    stakes_for_any_time,
    stakes_for_one_look,
)

SEEDS = st.integers(0, 100_000)


def drawn(seed: int, cells: int = 40, groups: int = 5, most: int = 30) -> tuple[np.ndarray, ...]:
    """Cells with counts by label, and starts of groups, some of which may be empty."""
    rng = np.random.default_rng(seed)
    score = np.sort(rng.random(cells))
    positive = rng.integers(0, most, cells).astype(float)
    negative = rng.integers(0, most, cells).astype(float)
    if seed % 3 == 0:
        # Close to calibrated.
        total = positive + negative
        positive = rng.binomial(total.astype(int), score).astype(float)
        negative = total - positive
    starts = np.concatenate(([0], np.sort(rng.integers(0, cells + 1, groups - 1)), [cells]))
    return score, positive, negative, starts


def grouped(parts: tuple[np.ndarray, ...]) -> GroupedResiduals:
    """Residuals of drawn cells."""
    score, positive, negative, starts = parts
    return GroupedResiduals(score, positive=positive, negative=negative, starts=starts)


def stakes_of(parts: tuple[np.ndarray, ...], delta: float) -> list[Stakes]:
    """Both kinds of bets for drawn cells."""
    score, positive, negative, _ = parts
    rows = positive + negative
    variance = float((rows * score * (1 - score)).sum() / rows.sum())
    return [stakes_for_one_look(float(rows.sum()), variance, delta=delta), stakes_for_any_time(delta=delta)]


@given(seed=SEEDS, delta=st.sampled_from([0.01, 0.05]))
def test_bounds_are_where_the_evidence_reaches_the_level(seed: int, delta: float) -> None:
    """At the upper bound the evidence is 1 / delta to a part in a million, unless the bound is 1."""
    parts = drawn(seed)
    residuals = grouped(parts)
    level = math.log(1 / delta)
    for stakes in stakes_of(parts, delta):
        upper = residuals.upper_bound(stakes, delta=delta)
        assert upper == 1.0 or residuals.log_pass(upper, stakes) >= level - 1e-12
        assert residuals.log_pass(max(upper - 1e-6, 0.0), stakes) < level
        lower = residuals.lower_bound(stakes, delta=delta)
        assert lower == 0.0 or residuals.log_fail(lower, stakes) >= level - 1e-12
        assert residuals.log_fail(min(lower + 1e-6, 1.0), stakes) < level


def signs_drawn(groups: int) -> dict[tuple[int, ...], float]:
    """How probable each choice of signs is, of groups that lie evenly, the last at 1."""
    drawn = dict.fromkeys(product((1, -1), repeat=groups), 0.25 / 2**groups)
    for first in (1, -1):
        drawn[(first,) * groups] += 0.5 / 2
        for place in range(groups):
            drawn[(first,) * place + (-first,) * (groups - place)] += 0.25 / 2 / groups
    return drawn


@given(seed=SEEDS, eps=st.floats(0, 1), once=st.booleans())
def test_counts_are_the_product_over_rows(seed: int, eps: float, once: bool) -> None:  # noqa: FBT001
    """Evidence from counts is the product of one factor per row, over the least signs or their average."""
    parts = drawn(seed, cells=8, groups=3, most=4)
    score, positive, negative, starts = parts
    assume((positive + negative).sum() > 0)
    stakes = Stakes((0.4, 0.1), (0.7, 0.3), once=once)
    rows = int((positive + negative).sum())
    residual = [
        np.concatenate(
            [np.repeat([1 - score[i], -score[i]], [int(positive[i]), int(negative[i])]) for i in range(a, b)]
            or [np.zeros(0)]
        )
        for a, b in pairwise(starts)
    ]
    passing = failing = 0.0
    for size, share in zip(stakes.sizes, stakes.shares, strict=True):
        products = [[np.prod(1 - size * (s * r - eps)) for s in (1, -1)] for r in residual]
        passing += share * math.prod(min(pair) for pair in products)
        bet = min(size, 0.95 / (1 + eps))
        products = [[np.prod(1 + bet * (s * r - eps)) for s in (1, -1)] for r in residual]
        average = sum(
            weight * math.prod(pair[s < 0] for pair, s in zip(products, signs, strict=True))
            for signs, weight in signs_drawn(len(products)).items()
        )
        failing += share * average * (2 / (1 + math.exp(-bet * eps * rows)) if once else 1)
    residuals = grouped(parts)
    assert residuals.log_pass(eps, stakes) == pytest.approx(math.log(passing), abs=1e-9)
    assert residuals.log_fail(eps, stakes) == pytest.approx(math.log(failing), abs=1e-9)


def test_moments_give_the_direct_sums() -> None:
    """Above 20,000 cells the series of moments gives what the logarithms give, at every size of bet."""
    rng = np.random.default_rng(0)
    cells = 20_500
    score = np.sort(np.concatenate((rng.random(cells - 2), [0.0, 1.0])))
    positive = (rng.random(cells) < score).astype(float)
    starts = np.concatenate(([0], np.sort(rng.integers(0, cells, 7)), [cells]))
    slopes = [1e-3, -1e-3, 0.02, -0.05, 0.3, -0.3, 0.7, 0.9, -0.95]
    moments = GroupedResiduals(score, positive=positive, negative=1 - positive, starts=starts)
    by_moments = [moments.log_product(slope) for slope in slopes]
    assert moments._moments, "the moments were not used"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(betting, "_DIRECT_CELLS", 10**9)
        direct = GroupedResiduals(score, positive=positive, negative=1 - positive, starts=starts)
        for slope, mine in zip(slopes, by_moments, strict=True):
            np.testing.assert_allclose(mine, direct.log_product(slope), rtol=1e-10, atol=1e-10)
        assert not direct._moments


@pytest.mark.parametrize("cells", [1, 30, 499, 501])
def test_bets_together_have_the_products_of_each(cells: int) -> None:
    """To the last digit, of few cells and of many."""
    rng = np.random.default_rng(cells)
    score = np.sort(rng.random(cells))
    positive, negative = rng.integers(0, 4, (2, cells)).astype(float)
    starts = np.array([0, cells // 3, cells // 3, cells])
    residuals = GroupedResiduals(score, positive=positive, negative=negative, starts=starts)
    slopes = np.array([-0.9, -1e-3, 0.0, 0.2, 0.95])
    expected = [residuals.log_product(slope) for slope in slopes.tolist()]
    np.testing.assert_array_equal(residuals.log_products(slopes), expected)


def test_moments_give_the_direct_bounds() -> None:
    """Bounds by moments equal bounds by logarithms to 1e-8, on a table of 2,100 distinct scores."""
    rng = np.random.default_rng(1)
    score = np.sort(rng.random(2_100))
    positive = (rng.random(score.size) < score**1.2).astype(float)
    starts = np.searchsorted(score, np.arange(16) / 15)
    starts[-1] = score.size
    stakes = stakes_for_any_time(delta=0.05)
    bounds = []
    for limit in (2_000, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(betting, "_DIRECT_CELLS", limit)
            both = GroupedResiduals(score, positive=positive, negative=1 - positive, starts=starts)
            bounds.append(
                [
                    both.upper_bound(stakes, delta=0.05),
                    both.lower_bound(stakes, delta=0.05),
                    both.mean_upper_bound(stakes, delta=0.05, sign=1),
                ]
            )
    np.testing.assert_allclose(bounds[0], bounds[1], rtol=0, atol=3e-9)


@given(seed=SEEDS, delta=st.sampled_from([0.01, 0.05]))
def test_mean_bounds_enclose_the_mean(seed: int, delta: float) -> None:
    """The betting interval of a mean residual contains the mean and turns with the sign."""
    parts = drawn(seed)
    score, positive, negative, _ = parts
    mean = float((positive * (1 - score) - negative * score).sum() / (positive + negative).sum())
    residuals = grouped(parts)
    for stakes in stakes_of(parts, delta):
        upper = residuals.mean_upper_bound(stakes, delta=delta, sign=1)
        lower = -residuals.mean_upper_bound(stakes, delta=delta, sign=-1)
        assert -1.0 <= lower <= mean <= upper <= 1.0
        turned = GroupedResiduals(
            (1 - score)[::-1],
            positive=negative[::-1],
            negative=positive[::-1],
            starts=np.array([0, score.size]),
        )
        assert -turned.mean_upper_bound(stakes, delta=delta, sign=-1) == pytest.approx(-upper, abs=1e-8)


@given(rows=st.floats(1, 1e9), variance=st.floats(0, 0.25), delta=st.floats(1e-6, 0.5))
def test_stakes_cannot_lose_more_than_they_have(rows: float, variance: float, delta: float) -> None:
    """Every bet lies in (0, 1), and the shares are positive and sum to 1."""
    for stakes in (
        stakes_for_one_look(rows, variance, delta=delta),
        stakes_for_a_mean(rows, variance, delta=delta),
        stakes_for_any_time(delta=delta),
    ):
        assert all(0 < size < 1 for size in stakes.sizes)
        assert all(share > 0 for share in stakes.shares)
        assert sum(stakes.shares) == pytest.approx(1.0)
        assert len(stakes.sizes) == len(stakes.shares)


def test_any_time_mixture_is_the_one_of_ten_scales() -> None:
    """Ten bets, sharp at 250 * 4^j rows, cut at 0.6, with most on those for some thousand rows."""
    stakes = stakes_for_any_time(delta=0.05)
    expected = [min(0.6, math.sqrt(2 * math.log(20) / (250 * 4**j * 0.25))) for j in range(10)]
    assert stakes.sizes == pytest.approx(expected)
    assert [16 * share for share in stakes.shares] == [1, 2, 3.5, 3.5, 2, 1.25, 1, 0.75, 0.5, 0.5]
    assert sum(stakes.shares) == 1.0


def test_one_row_proves_nothing() -> None:
    """With one row the bounds are as wide as they can be, or nearly so."""
    one = GroupedResiduals(
        np.array([0.5]), positive=np.array([1.0]), negative=np.array([0.0]), starts=np.array([0, 1])
    )
    stakes = stakes_for_any_time(delta=0.05)
    assert one.upper_bound(stakes, delta=0.05) == 1.0
    assert one.lower_bound(stakes, delta=0.05) == 0.0
