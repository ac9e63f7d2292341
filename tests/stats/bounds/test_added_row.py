"""Bounds of a mean by one added row, against exact laws and as laws of their own."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, norm

from added_row import bounds
from calibcli.stats.bounds import means
from calibcli.stats.bounds.means import Values, _evidence_below, as_many, evidence_below
from claims.simulation import generator_of, most_misses


def values(value: np.ndarray, rows: np.ndarray | None = None) -> Values:
    """Return values with how often they are there."""
    return Values(np.asarray(value, float), np.ones(len(value)) if rows is None else np.asarray(rows, float))


@pytest.mark.parametrize("delta", [0.2, 0.05, 0.025, 0.001])
@pytest.mark.parametrize(
    ("rows", "ones"), [(30, 1), (30, 15), (100, 5), (1000, 3), (10_000, 9_000), (10**6, 40)]
)
def test_rows_of_two_values_have_the_bounds_of_clopper_and_pearson(
    rows: int, ones: int, delta: float
) -> None:
    """For zeros and ones both ends are the exact ones, within 1 % of their distance from the share."""
    found = values(np.array([0.0, 1.0]), np.array([rows - ones, ones]))
    upper = beta.ppf(1.0 - delta, ones + 1, rows - ones)
    lower = beta.ppf(delta, ones, rows - ones + 1)
    share = ones / rows
    assert found.upper_bound(most=1.0, delta=delta) == pytest.approx(upper, abs=0.01 * (upper - share))
    assert found.lower_bound(least=0.0, delta=delta) == pytest.approx(lower, abs=0.01 * (share - lower))


@pytest.mark.parametrize("rows", [20, 300])
@pytest.mark.parametrize("power", [0.3, 1.0, 6.0])
def test_bounds_are_quantiles_of_the_randomly_weighted_mean(rows: int, power: float) -> None:
    """Against inversion of the characteristic function, for laws skewed to either side."""
    value = np.random.default_rng(rows).random(rows) ** power
    lower, upper = bounds(value, least=-0.5, most=2.0, confidence=0.95)
    found = values(value)
    assert found.upper_bound(most=2.0, delta=0.025) == pytest.approx(upper, abs=0.01 * (upper - lower))
    assert found.lower_bound(least=-0.5, delta=0.025) == pytest.approx(lower, abs=0.01 * (upper - lower))


def test_many_rows_have_the_normal_bound() -> None:
    """Of a million rows of moderate spread the margin is the normal one, within half a percent."""
    found = values(np.array([0.1, 0.2, 0.4]), np.array([4e5, 4e5, 2e5]))
    margin = norm.ppf(0.95) * found.standard_error
    assert found.upper_bound(most=1.0, delta=0.05) - found.mean == pytest.approx(margin, rel=0.005)
    assert found.mean - found.lower_bound(least=0.0, delta=0.05) == pytest.approx(margin, rel=0.005)


@settings(max_examples=2 * settings.default.max_examples)
@given(
    value=st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=30),
    beyond=st.floats(0.0, 30.0),
    delta=st.floats(1e-4, 0.25),
    scale=st.sampled_from([1e-9, 1.0, 1e6]),
)
def test_upper_bound_obeys_its_laws(value: list[float], beyond: float, delta: float, scale: float) -> None:
    """It lies between mean and largest value, scales, and grows with confidence and with the added value."""
    found = values(np.array(value) * scale)
    most = float(found.value.max()) + beyond * scale
    upper = found.upper_bound(most=most, delta=delta)
    slack = 1e-5 * max(most - found.mean, 1e-300) + 1e-12 * scale
    assert found.mean - slack <= upper <= most
    assert values(np.array(value)).upper_bound(most=most / scale, delta=delta) == pytest.approx(
        upper / scale, abs=slack / scale
    )
    assert found.upper_bound(most=most, delta=0.5 * delta) >= upper - slack
    assert found.upper_bound(most=most + scale, delta=delta) >= upper - slack


@given(
    value=st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=30),
    means=st.lists(st.floats(-1.5, 1.5), min_size=1, max_size=12),
    most=st.floats(0.9, 3.0),
)
@example(value=[0.0, 0.0], means=[2.2e-311], most=1.0)
def test_several_means_have_the_evidence_of_each(value: list[float], means: list[float], most: float) -> None:
    """All at once, and of more values than are looked at at once; the mean of the values among them."""
    for times in (1, 60):
        found = values(np.tile(value, times))
        lines = [*means, found.mean, found.upper_bound(most=most, delta=0.05)]
        distance = np.append(found.value, most) - np.array(lines)[:, np.newaxis]
        rows = np.append(found.rows, 1.0)
        added = values(np.append(found.value, most), rows)
        expected = [_evidence_below(added, mean) for mean in lines]
        np.testing.assert_allclose(evidence_below(distance, rows), expected, rtol=1e-9, atol=1e-9)


def test_several_means_arrive_in_few_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has arrived, or has no evidence, does not keep the others going until the turns are over."""
    turns = []
    summed = means._slope_and_bend

    def counted(tilted: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turns.append(tilted.shape)
        return summed(tilted, rows)

    monkeypatch.setattr(means, "_slope_and_bend", counted)
    found = values(np.linspace(0.0, 1.0, 40) ** 3)
    value = np.append(found.value, 1.0)
    distance = value - np.array([value.mean(), 0.01, 0.9, *np.linspace(0.2, 0.6, 9)])[:, None]
    evidence = evidence_below(distance, np.append(found.rows, 1.0))
    assert abs(evidence[0]) < 0.2
    assert len(turns) < 20


def test_no_mean_is_looked_at_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end at which the search for a bound begins is looked at once, before it and in it."""
    seen = []
    root = means._signed_root

    def counted(distance: np.ndarray, rows: np.ndarray, **ends: float) -> float:
        seen.append(float(distance[0]))
        return root(distance, rows, **ends)

    monkeypatch.setattr(means, "_signed_root", counted)
    values(np.array([0.1, 0.2, 0.7])).upper_bound(most=1.0, delta=0.05)
    assert len(seen) == len(set(seen)) > 3


def test_no_largest_value_leaves_no_upper_bound() -> None:
    """Where a row may lose anything nothing bounds the mean from above."""
    assert math.isinf(values(np.array([0.0, 1.0])).upper_bound(most=math.inf, delta=0.05))


def test_standard_error_that_is_all_that_is_known_gives_its_own_margin() -> None:
    """Two values stand for rows of which a mean and a standard error are known."""
    found = as_many(0.3, 0.01, rows=4_000.0)
    assert (found.mean, found.total) == pytest.approx((0.3, 4_000.0))
    assert found.standard_error == pytest.approx(0.01, rel=0.001)
    assert found.upper_bound(most=0.3, delta=0.05) - 0.3 == pytest.approx(norm.ppf(0.95) * 0.01, rel=0.02)


def test_costly_rows_are_counted() -> None:
    """Of 1,000 rows of which four cost something there are four."""
    found = values(np.array([0.0, 7.0]), np.array([996.0, 4.0]))
    assert found.costly_rows == pytest.approx(4.0, rel=0.02)
    assert values(np.array([2.0, 2.0])).costly_rows == 0.0
    # Where the mean of equal losses is off by its last digit none is costly either: all three were.
    assert values(np.array([0.1]), np.array([3.0])).costly_rows == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("event", [0.002, 0.02, 0.2])
def test_bounds_of_a_rare_cost_miss_no_more_often_than_delta(event: float) -> None:
    """Four hundred samples of 300 rows that cost 1, or else little: each end misses in at most 5 %."""
    rng = generator_of("added row", str(event))
    true, missed = event + (1.0 - event) * 0.01, np.zeros(2)
    for _ in range(400):
        costly = rng.binomial(300, event)
        small = 0.02 * rng.random(300 - costly)
        found = values(np.append(small, 1.0), np.append(np.ones(small.size), costly))
        found = Values(found.value[found.rows > 0], found.rows[found.rows > 0])
        missed += (
            found.upper_bound(most=1.0, delta=0.05) < true,
            found.lower_bound(least=0.0, delta=0.05) > true,
        )
    assert missed.max() <= most_misses(400, 0.05)
