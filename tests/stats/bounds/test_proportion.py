"""Bounds for proportions against scipy and against direct sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import binom, binomtest, multinomial, norm

from calibcli.stats.bounds import proportion


@pytest.mark.parametrize("delta", [0.005, 0.05])
def test_clopper_pearson_agrees_with_scipy(delta: float) -> None:
    """Both bounds, for every number of ones among 1, 7 and 40 rows."""
    for n in (1, 7, 40):
        x = np.arange(n + 1.0)
        lower, upper = proportion.clopper_pearson(x, np.full(n + 1, float(n)), delta_each_side=delta)
        for k in range(n + 1):
            exact = binomtest(k, n).proportion_ci(1 - 2 * delta, method="exact")
            assert lower[k] == pytest.approx(exact.low, abs=1e-9)
            assert upper[k] == pytest.approx(exact.high, abs=1e-9)


def test_clopper_pearson_of_one_label_has_one_open_end() -> None:
    """With no ones anywhere the lower bounds are 0, with ones only the upper ones 1; no rows have both."""
    rows = np.array([1.0, 10.0, 0.0])
    lower, upper = proportion.clopper_pearson(np.zeros(3), rows, delta_each_side=0.025)
    assert lower.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(upper, [*(1 - 0.025 ** (1 / rows[:2])), 1.0], rtol=1e-12)
    lower, upper = proportion.clopper_pearson(rows, rows, delta_each_side=0.025)
    np.testing.assert_allclose(lower, [*0.025 ** (1 / rows[:2]), 0.0], rtol=1e-12)
    assert upper.tolist() == [1.0, 1.0, 1.0]


@given(n=st.integers(1, 400), p=st.floats(0.001, 0.999), delta=st.sampled_from([0.01, 0.025, 0.1]))
def test_clopper_pearson_covers(n: int, p: float, delta: float) -> None:
    """By the exact binomial law, either bound misses with probability at most delta."""
    x = np.arange(n + 1.0)
    lower, upper = proportion.clopper_pearson(x, np.full(n + 1, float(n)), delta_each_side=delta)
    mass = binom.pmf(x, n, p)
    assert mass[lower > p].sum() <= delta + 1e-9
    assert mass[upper < p].sum() <= delta + 1e-9


def exhaustive(n: int, delta: float) -> float:
    """d* as the largest margin over every x, by scipy."""
    x = np.arange(n, dtype=float)
    return float((betaincinv(x + 1, n - x, 1 - delta) - x / n).max())


@pytest.mark.parametrize("delta", [0.005, 0.025, 0.05, 0.1, 0.5])
def test_deviation_of_a_mean_is_the_largest_margin(delta: float) -> None:
    """The search agrees with trying every number of ones, for few rows and some numbers of more."""
    sizes = [*range(1, 60 if delta == 0.025 else 2), *range(1, 301, 13), 1000, 2047]
    for n in sizes:
        # Never below 1/n from two rows on, as the proof asks; only delta near 1/2 feels it.
        expected = max(exhaustive(n, delta), 1.0 / n if n > 1 else 0.0)
        expected = min(expected, proportion.hoeffding_deviation(n, delta))
        assert proportion.deviation_of_a_mean(n, delta) == pytest.approx(expected, abs=1e-11), n


@pytest.mark.parametrize("n", [25_000, 1_000_000])
def test_deviation_of_a_mean_is_found_for_many_rows(n: int) -> None:
    """No number of ones in a fine scan around the middle, nor at the ends, has a larger margin."""
    best = proportion.deviation_of_a_mean(n, 0.025)
    x = np.unique(np.concatenate((np.linspace(0, n - 1, 20_001), n / 2 + np.arange(-2000, 2001))).round())
    margin = betaincinv(x + 1, n - x, 0.975) - x / n
    assert best >= float(margin.max()) - 1e-12
    assert best == pytest.approx(float(margin.max()), rel=1e-5)


@pytest.mark.parametrize(("n", "factor"), [(500, 0.845), (10_000, 0.827), (100_000, 0.824)])
def test_deviation_has_its_known_rate(n: int, factor: float) -> None:
    """At delta = 0.05, d* sqrt(n) is .845, .827 and .824."""
    assert proportion.deviation_of_a_mean(n, 0.05) * math.sqrt(n) == pytest.approx(factor, abs=5e-4)


@given(n=st.integers(1, 200), seed=st.integers(0, 999), delta=st.sampled_from([0.025, 0.1]))
def test_deviation_holds_for_unlike_labels(n: int, seed: int, delta: float) -> None:
    """By the exact law of unlike Bernoulli labels, their mean falls d* short with probability <= delta."""
    rng = np.random.default_rng(seed)
    p = rng.beta(*rng.uniform(0.2, 3, 2), n)
    law = law_of(p)
    short = np.arange(n + 1) / n <= p.mean() - proportion.deviation_of_a_mean(n, delta) - 1e-12
    assert law[short].sum() <= delta + 1e-12


@given(n=st.integers(1, 300), v=st.one_of(st.floats(1e-9, 1), st.sampled_from([0.0, 0.5, 1 / 3, 0.25])))
def test_mean_absolute_deviation_is_the_direct_sum(n: int, v: float) -> None:
    """De Moivre's formula equals the sum over all outcomes."""
    x = np.arange(n + 1)
    direct = float((np.abs(x / n - v) * binom.pmf(x, n, v)).sum())
    mine = proportion.mean_absolute_deviation(np.array([float(n)]), np.array([v]))[0]
    assert mine == pytest.approx(direct, abs=1e-12, rel=1e-9)
    assert mine <= 0.5 / math.sqrt(n) + 1e-12


def law_of(chances: np.ndarray) -> np.ndarray:
    """The exact law of a sum of unlike labels."""
    law = np.ones(1)
    for q in chances:
        law = np.convolve(law, [1 - q, q])
    return law


@pytest.mark.parametrize("delta", [0.001, 0.025, 0.25, 0.5])
def test_rate_bounds_hold_for_the_hardest_chances(delta: float) -> None:
    """Of chances 0, 1 and one other, among which Hoeffding (1956) found the extremes, none misses more."""
    for n in (1, 2, 3, 6, 11):
        count = np.arange(n + 1.0)
        lower, upper = proportion.rate_bounds(count, np.full(n + 1, float(n)), delta_each_side=delta)
        near = [n * one * (1 + step) for one in (lower, upper) for step in (-1e-9, 1e-9)]
        means = np.unique(np.concatenate([np.linspace(0, n, 101), *near]))
        for ones, others in ((r, b) for r in range(n) for b in range(1, n - r + 1)):
            chance = (means - ones) / others
            some = means[(chance >= 0) & (chance <= 1)]
            mass = binom.pmf(np.arange(others + 1), others, (some[:, None] - ones) / others)
            x = np.arange(others + 1) + ones
            assert ((mass * (lower[x] > some[:, None] / n)).sum(axis=1) <= delta * (1 + 1e-7)).all()
            assert ((mass * (upper[x] < some[:, None] / n)).sum(axis=1) <= delta * (1 + 1e-7)).all()


def proven_error(spread: float) -> float:
    """The derivation of docs/methods.md, summed up: the integral of the difference of both transforms."""
    t = (np.arange(60_000) + 0.5) * (1.5 / 60_000)
    actual, normal = np.exp(-2 * spread**2 * np.sin(t / 2) ** 2), np.exp(-((spread * t) ** 2) / 2)
    near = actual * (1 / (2 * np.sin(t / 2)) - 1 / t) + spread**2 * t**3 / 24 * actual
    near += normal * (spread**2 * t**3 / 6) ** 2 / (2 * t)
    far = (np.pi - 1.5) / (2 * math.sin(0.75)) * math.exp(-2 * spread**2 * math.sin(0.75) ** 2)
    beyond = math.exp(-((1.5 * spread) ** 2) / 2) * (1 / (1.5 * spread) ** 2 + 1)
    return (float(near.sum()) * 1.5 / 60_000 + far + beyond) / math.pi


def test_error_of_the_normal_law_is_as_derived() -> None:
    """The integral is at most 0.08 over the variance from a variance of 10 on."""
    for spread in (math.sqrt(10.0), 3.3, 4.0, 6.0, 10.0, 30.0, 300.0):
        assert proven_error(spread) <= 0.08 / spread**2


def test_fourth_order_of_a_label_is_at_most_that_of_the_poisson_law() -> None:
    """|log E e^(it(y - p)) + v t^2/2 + i v (1 - 2p) t^3/6| <= v t^4/24 for t up to 1.5, over all p."""
    p = np.concatenate([np.geomspace(1e-5, 0.5, 300), 1 - np.geomspace(1e-5, 0.5, 300)])
    t, v = np.linspace(0.05, 1.5, 200)[:, None], p * (1 - p)
    transform = (1 - p) * np.exp(-1j * p * t) + p * np.exp(1j * (1 - p) * t)
    rest = np.abs(np.log(transform) + v * t**2 / 2 + 1j * v * (1 - 2 * p) * t**3 / 6)
    assert (rest <= v * t**4 / 24 * (1 + 1e-3)).all()


@given(n=st.integers(40, 300), seed=st.integers(0, 999))
def test_sums_of_unlike_labels_are_as_near_to_the_normal_law_as_derived(n: int, seed: int) -> None:
    """By the exact law, the normal one with its skewness term is off by at most 0.08 over the variance."""
    rng = np.random.default_rng(seed)
    p = rng.choice([rng.beta(*rng.uniform(0.3, 3, 2), n), np.full(n, rng.uniform(0.1, 0.9)), rng.random(n)])
    variance = float((p * (1 - p)).sum())
    if variance < 10.0:
        return
    spread = math.sqrt(variance)
    x = (np.arange(n + 1) + 0.5 - p.sum()) / spread
    bend = float((p * (1 - p) * (1 - 2 * p)).sum()) / spread**3 * (1 - x * x) / 6
    gap = np.abs(law_of(p).cumsum() - norm.cdf(x) - bend * norm.pdf(x))
    assert gap.max() <= 0.08 / variance


@given(
    n=st.integers(1, 400),
    seed=st.integers(0, 999),
    delta=st.sampled_from([0.001, 0.025, 0.25]),
    score=st.sampled_from([0.0, 0.1, 0.5, 0.8]),
)
def test_margin_of_a_sum_holds_for_unlike_labels(n: int, seed: int, delta: float, score: float) -> None:
    """By the exact law, sums stray beyond the margin that their squared residuals give with at most delta."""
    rng = np.random.default_rng(seed)
    p = rng.beta(*rng.uniform(0.2, 3, 2), n)
    count = np.arange(n + 1)
    squares = count * (1 - score) ** 2 + (n - count) * score**2
    margin = np.array([proportion.sum_margin(float(one), delta=delta) for one in squares])
    law = law_of(p)
    assert law[p.sum() - count >= margin].sum() <= delta
    assert law[count - p.sum() >= margin].sum() <= delta


def test_margin_of_a_sum_grows_with_squares_and_with_confidence() -> None:
    """More spread or a smaller delta never make the margin shorter."""
    for delta in (0.25, 0.025, 1e-4, 1e-9):
        margins = [proportion.sum_margin(squares, delta=delta) for squares in np.geomspace(0.01, 1e8, 60)]
        assert margins == sorted(margins)
    assert proportion.sum_margin(100.0, delta=0.001) > proportion.sum_margin(100.0, delta=0.01)
    assert proportion.sum_margin(1e8, delta=0.025) == pytest.approx(norm.isf(0.025 * 0.95) * 1e4, rel=1e-3)


def test_margin_of_a_range_is_its_formula_and_holds() -> None:
    """Beyond the margin of one sum; of 2,000 draws the range of the partial sums is seldom beyond it."""
    delta, squares = 0.05, 120.0
    spread = math.sqrt(0.5 * math.log(400.0)) + math.sqrt(squares + 0.5 * math.log(400.0))
    step = proportion.range_margin(squares, delta=delta) - 0.45 * spread
    tail = spread**2 * ((1 + step / spread**2) * math.log1p(step / spread**2) - step / spread**2)
    assert 2 * (1 + 1 / 0.45**2) * math.exp(-tail) == pytest.approx(0.95 * delta)
    margins = [proportion.range_margin(one, delta=delta) for one in np.geomspace(0.01, 1e8, 60)]
    assert margins == sorted(margins)
    rng = np.random.default_rng(5)
    for chance in (rng.beta(0.3, 1.0, 600), np.full(600, 0.02)):
        label = rng.random((2_000, 600)) < chance
        path = np.cumsum(label - chance, axis=1)
        size = np.maximum(path.max(axis=1), 0.0) - np.minimum(path.min(axis=1), 0.0)
        beyond = [
            proportion.range_margin(float(one), delta=0.25) < seen
            for one, seen in zip(((label - 0.1) ** 2).sum(axis=1), size, strict=True)
        ]
        assert np.mean([proportion.sum_margin(120.0, delta=0.25) < one for one in size]) > 0
        assert np.mean(beyond) <= 0.25


@pytest.mark.parametrize("rows", [5, 16])
def test_difference_of_shares_is_bounded_whatever_the_shares(rows: int) -> None:
    """By the exact law, from shares that never differ to rows that always count for one of them alone."""
    counts = [(g, m) for g in range(rows + 1) for m in range(rows + 1 - g)]
    ends = np.array([proportion.difference_of_shares(g, m, rows, delta=0.05) for g, m in counts])
    table = np.array([(g, m, rows - g - m) for g, m in counts])
    for gained in (0.0, 0.01, 0.05, 0.3, 0.5):
        for lost in (0.0, 0.01, 0.1, 0.5):
            chance = multinomial.pmf(table, rows, [gained, lost, 1.0 - gained - lost])
            true = gained - lost
            missed = (ends[:, 0] > true + 1e-12) | (ends[:, 1] < true - 1e-12)
            assert chance[missed].sum() <= 0.05


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 60))
def test_sign_of_a_difference_of_shares_is_that_of_mcnemars_exact_test(
    gained: int, lost: int, others: int
) -> None:
    """At nine tenths of the error; turned round it is the difference the other way."""
    rows = gained + lost + others
    lower, upper = proportion.difference_of_shares(gained, lost, rows, delta=0.05)
    if gained + lost:
        p_value = binomtest(gained, gained + lost, alternative="greater").pvalue
        assert (lower > 0.0) == (p_value < 0.0225)
    assert lower <= (gained - lost) / rows <= upper
    assert proportion.difference_of_shares(lost, gained, rows, delta=0.05) == pytest.approx((-upper, -lower))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("delta", [0.3, 0.05])
def test_margins_of_weighted_sums_hold_for_every_label(sign: float, delta: float) -> None:
    """Added up over all 128 outcomes of seven rare labels: how often the margin of an outcome is exceeded."""
    rng = np.random.default_rng(5)
    score, weight = rng.beta(0.5, 20.0, 7), rng.lognormal(0.0, 1.2, 7)
    outcomes = (np.arange(128)[:, None] >> np.arange(7)) & 1
    variance, back = weight**2 * score * (1.0 - score), score if sign > 0 else 1.0 - score
    squares = (weight * (outcomes - score)) ** 2
    margins = [proportion.weighted_sum_margin(weight**2, variance, one, back, delta=delta) for one in squares]
    # As announced, three times as often, even where the weight is large, and even.
    heavy = np.where(weight > 1.5, 0.5, score)
    for true in (score, np.minimum(3.0 * score, 1.0), heavy, np.full(7, 0.5)):
        chance = np.prod(np.where(outcomes == 1, true, 1.0 - true), axis=1)
        assert chance.sum() == pytest.approx(1.0)
        assert chance @ (sign * (outcomes - true) @ weight > margins) <= delta


def test_margins_of_weighted_sums_are_hoeffdings_where_labels_are_coins() -> None:
    """And half of it where events are rare and exposures differ, whatever the labels are."""
    rng = np.random.default_rng(6)
    weight = rng.lognormal(0.0, 1.0, 4_000)
    coins = math.sqrt(0.5 * math.log(40.0) * float((weight**2).sum()))
    for score, least, most in ((rng.random(4_000), 1.0, 1.0), (rng.beta(0.5, 30.0, 4_000), 0.0, 0.5)):
        spread = weight**2 * score * (1.0 - score)
        margin = proportion.weighted_sum_margin(weight**2, spread, spread, score, delta=0.025)
        # Of numpy it would be one whose text names its type.
        assert type(margin) is float
        assert least * coins <= margin <= most * coins + 1e-9
        # Labels that the scores did not expect cost no more than half of the error does.
        wrong = proportion.weighted_sum_margin(weight**2, spread, weight**2, score, delta=0.025)
        assert wrong <= coins * math.sqrt(math.log(80.0) / math.log(40.0)) + 1e-9
