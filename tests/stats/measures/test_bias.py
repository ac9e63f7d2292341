"""The interval of bias: possible, exact for few rows, near the normal one for many, settled by the scores."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, norm

from calibcli.stats.measures.bias import bias, interval_of_bias, least_rise_and_fall
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.grid import GridTable

WORLDS = {
    "one value": lambda _, n: np.full(n, 0.05),
    "even": lambda rng, n: rng.random(n),
    "rare": lambda rng, n: 0.001 * rng.random(n),
    "near 0 and 1": lambda rng, n: np.where(rng.random(n) < 0.5, 1e-9, 1 - 1e-9),
    "two clumps": lambda rng, n: np.where(rng.random(n) < 0.9, 0.02, 0.97),
}


def ends(table: ScoreTable | GridTable, confidence: float = 0.95) -> tuple[float, float]:
    """Return the interval."""
    interval = bias(table, confidence=confidence).interval
    assert interval is not None
    return interval.lower, interval.upper


def test_no_event_among_few_rows_gives_the_exact_interval() -> None:
    """81 rows at 5 % without an event: -0.05 to -0.0055, Clopper-Pearson less the mean score."""
    lower, upper = ends(ScoreTable.from_rows(np.full(81, 0.05), np.zeros(81, bool)))
    assert lower == pytest.approx(-0.05, abs=1e-12)
    assert upper == pytest.approx(1 - 0.025 ** (1 / 81) - 0.05, abs=1e-9)
    assert upper == pytest.approx(-0.0055, abs=5e-5)


@pytest.mark.parametrize("count", [0, 2, 5, 9, 10])
def test_one_value_gives_clopper_pearson_less_the_score(count: int) -> None:
    """Ten rows at 0.3: the exact bounds of the rate, less 0.3."""
    table = ScoreTable(np.array([0.3]), np.array([10]), np.array([count]))
    exact = binomtest(count, 10).proportion_ci(0.95, method="exact")
    # With one label 0 the upper end is that of labels of unlike chances.
    high = max(exact.high, 1 - 0.025 / 10) if count == 9 else exact.high
    np.testing.assert_allclose(ends(table), (exact.low - 0.3, high - 0.3), atol=1e-9)


@given(
    world=st.sampled_from(sorted(WORLDS)),
    n=st.sampled_from([1, 2, 5, 30, 400]),
    seed=st.integers(0, 999),
    rate=st.sampled_from([None, 0.0, 0.2, 1.0]),
    confidence=st.sampled_from([0.2, 0.9, 0.95, 0.999]),
)
def test_the_interval_is_possible_holds_the_value_and_turns_with_the_labels(
    world: str, n: int, seed: int, rate: float | None, confidence: float
) -> None:
    """Never beyond [-mean score, 1 - mean score]; scores 1 - f with the other label give its mirror image."""
    rng = np.random.default_rng(seed)
    score = WORLDS[world](rng, n)
    label = rng.random(n) < (score if rate is None else rate)
    found = bias(ScoreTable.from_rows(score, label), confidence=confidence)
    lower, upper = ends(ScoreTable.from_rows(score, label), confidence)
    mean = found.details["mean_score"]
    assert -mean - 1e-12 <= lower <= found.value <= upper <= 1 - mean + 1e-12
    turned = ends(ScoreTable.from_rows(1 - score, ~label), confidence)
    np.testing.assert_allclose(turned, (-upper, -lower), atol=1e-8)


@settings(max_examples=12)
@given(world=st.sampled_from(sorted(WORLDS)), seed=st.integers(0, 999))
def test_either_end_misses_with_delta_at_most_by_the_exact_law(world: str, seed: int) -> None:
    """Over all labels of seven rows whose chances may be anything, each end misses with at most 0.05."""
    rng = np.random.default_rng(seed)
    n, delta = 7, 0.05
    score = np.sort(WORLDS[world](rng, n))
    chance = np.clip(rng.choice([0.0, 1.0, rng.random(), rng.random(), 0.1], n), 0, 1)
    truth = float((chance - score).mean())
    missed = np.zeros(2)
    for label in itertools.product((False, True), repeat=n):
        mass = float(np.where(label, chance, 1 - chance).prod())
        if mass > 0:
            lower, upper = ends(ScoreTable.from_rows(score, np.array(label)), 1 - 2 * delta)
            missed += mass * np.array([lower > truth + 1e-9, upper < truth - 1e-9])
    assert missed.max() <= delta + 1e-9


def test_scores_alone_settle_the_method() -> None:
    """Counts for scores of one value or few rows, the normal law for many, bets near 0 and 1."""
    rng = np.random.default_rng(0)
    expected = {
        ("one value", 4000): "Clopper-Pearson",
        ("rare", 4000): "Clopper-Pearson",
        ("even", 30): "Clopper-Pearson",
        ("even", 4000): "normal law with a proven error",
        ("near 0 and 1", 4000): "betting beside both others",
    }
    for (world, n), method in expected.items():
        score = WORLDS[world](rng, n)
        for p in (score, 0.0, 0.3, 1.0):
            found = bias(ScoreTable.from_rows(score, rng.random(n) < p)).interval
            assert found is not None
            assert found.method.removesuffix("; of these scores only") == method


@pytest.mark.parametrize(("n", "most"), [(1_000, 1.25), (10_000, 1.09), (1_000_000, 1.03)])
def test_many_rows_are_near_the_normal_interval(n: int, most: float) -> None:
    """Even, calibrated scores: 21, 7 and 2 % wider than z times the deviation of the residuals."""
    grid = (np.arange(500) + 0.5) / 500
    rows = np.full(500, n // 500)
    table = ScoreTable(grid, rows, np.rint(rows * grid).astype(int))
    lower, upper = ends(table)
    plain = 2 * norm.isf(0.025) * math.sqrt(float((grid * (1 - grid)).mean()) / n)
    assert plain < upper - lower < most * plain


def test_wrong_scores_near_0_and_1_do_not_cost_the_interval() -> None:
    """Bets for sure scores are lost where they are wrong: counts and squares bound what is lost."""
    score, rows = np.array([1e-6, 1 - 1e-6]), np.array([500_000, 500_000])
    for n, wrong in ((1_000, 0.5), (1_000_000, 0.003)):
        each = rows * n // 1_000_000
        table = ScoreTable(score, each, np.rint(each * np.array([wrong, 1 - wrong])).astype(int))
        lower, upper = ends(table)
        assert upper - lower < 1.6 * 2 * norm.isf(0.025) * math.sqrt(wrong / n)


def test_scores_that_say_nothing_of_labels_widen_the_interval() -> None:
    """Residuals of shuffled scores scatter more than labels: by so much the interval is longer."""
    rng = np.random.default_rng(3)
    score, missed = rng.beta(2, 2, 400), 0
    for _ in range(300):
        drawn = rng.beta(2, 2, 400)
        lower, upper = ends(ScoreTable.from_rows(drawn, rng.random(400) < 0.9))
        missed += not lower <= 0.9 - 0.5 <= upper
    assert missed <= 30  # binomial, 300 of 0.05, once in 10,000
    with_spread = ends(ScoreTable.from_rows(score, rng.random(400) < 0.9))
    without = ends(ScoreTable.from_rows(np.full(400, score.mean()), rng.random(400) < 0.9))
    assert with_spread[1] - with_spread[0] > 1.1 * (without[1] - without[0])


@pytest.mark.parametrize("score", [0.0, 0.01, 0.2, 0.9])
def test_what_an_error_is_at_least_is_what_the_interval_leaves(score: float) -> None:
    """Of rare events more than announced, too: five of 50 rows of score 0 said nothing of an ECE."""
    for count in range(51):
        table = ScoreTable.from_rows(np.full(50, score), np.arange(50) < count)
        lower, upper = interval_of_bias(table, confidence=0.975).ends
        assert least_rise_and_fall(table, delta=0.025) == (max(0.0, lower), max(0.0, -upper))


def test_rare_events_are_rare_under_weights_too() -> None:
    """40,000 loans whose exposures vary, and half as many defaults again as announced: it is shown."""
    rng = np.random.default_rng(3)
    score, weight = rng.beta(0.4, 18.0, 40_000), rng.lognormal(9.0, 1.2, 40_000)
    table = ScoreTable.from_rows(score, rng.random(40_000) < 1.5 * score, Weighing(weight=weight))
    value = bias(table).value
    lower, upper = ends(table)
    hoeffding = math.sqrt(0.5 * math.log(40.0) * float((weight**2).sum())) / float(weight.sum())
    assert value - hoeffding < 0.0 < lower < value < upper < value + hoeffding
