"""Net benefit at named thresholds: by its definition, by dcurves, against another score row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.stats.curves.net_benefit import NetBenefit, Stated, against_first, net_benefits
from calibcli.stats.measures.differences import PairedSums
from calibcli.stats.table.grid import grid_of
from calibcli.stats.table.score_table import ScoreTable

AT = (0.1, 0.2, 0.25, 0.5, 0.8)
# dcurves 1.1.7: dca(data, outcome="y", modelnames=["a", "b"], thresholds=AT), column net_benefit, over the
# rows of `tied`; scores equal the thresholds in several of them.
DCURVES = {
    "a": (0.455555555556, 0.40625, 0.39, 0.275, 0.11),
    "b": (0.453333333333, 0.38375, 0.348333333333, 0.225, 0.01),
    "all": (0.455555555556, 0.3875, 0.346666666667, 0.02, -1.45),
}


def tied() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two scores in steps of a hundredth and their labels, 200 rows."""
    k = np.arange(200)
    first = np.clip((k * 37 % 101) / 100.0, 0.01, 0.99)
    second = np.round(0.5 * first + 0.5 * (k * 53 % 97 / 96.0), 2)
    return first, second, k * 71 % 113 / 113.0 < first


def values(found: tuple[NetBenefit, ...], name: str) -> list[float | None]:
    """Return one number at every threshold."""
    return [one.numbers[name].value for one in found]


def pair(first: np.ndarray, second: np.ndarray, label: np.ndarray) -> tuple[NetBenefit, ...]:
    """Return what the second score is worth more than the first."""
    sums = PairedSums(thresholds=AT)
    for part in np.array_split(np.arange(first.size), 3):
        more = PairedSums(thresholds=AT)
        more.add(first[part], second[part], label[part])
        sums.merge(more)
    both = [net_benefits(ScoreTable.from_rows(one, label), AT, confidence=0.95) for one in (first, second)]
    return against_first(both[1], both[0], sums.moves, rows=sums.rows, confidence=0.95)


def test_values_are_those_of_dcurves() -> None:
    """Model, treat all and their difference; a score that equals the threshold is treated."""
    first, second, label = tied()
    found = pair(first, second, label)
    alone = net_benefits(ScoreTable.from_rows(first, label), AT, confidence=0.95)
    a, b, everyone = (np.array(DCURVES[name]) for name in ("a", "b", "all"))
    np.testing.assert_allclose(values(alone, "net_benefit"), a, atol=1e-11)
    np.testing.assert_allclose(values(found, "net_benefit"), b, atol=1e-11)
    np.testing.assert_allclose([one.treat_all for one in found], everyone, atol=1e-11)
    np.testing.assert_allclose(values(found, "over_all"), b - everyone, atol=1e-11)
    np.testing.assert_allclose(values(found, "over_first"), b - a, atol=1e-11)
    np.testing.assert_allclose(values(alone, "standardised"), a / label.mean(), atol=1e-11)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.8, 1.0]), st.sampled_from([0.1, 0.5, 0.9]), st.booleans()
        ),
        min_size=1,
        max_size=40,
    )
)
def test_each_number_lies_in_its_interval(rows: list[tuple[float, float, bool]]) -> None:
    """And is what the definition makes of the rows; without label 1 nothing is standardised."""
    first, second, label = (np.array(column) for column in zip(*rows, strict=True))
    for one in pair(first, second, label):
        treated = second >= one.threshold
        odds = one.threshold / (1.0 - one.threshold)
        by_hand = np.mean(treated & label) - odds * np.mean(treated & ~label)
        assert one.net_benefit.value == pytest.approx(by_hand, abs=1e-9)
        assert (one.standardised.value is None) == (not label.any())
        for number in one.numbers.values():
            if number.value is not None:
                assert number.interval is not None
                low, high = number.interval.ends
                assert low - 1e-9 <= number.value <= high + 1e-9
        if label.any():
            assert one.standardised.interval is not None
            assert one.standardised.interval.ends[1] <= 1.0


def test_weights_and_clusters_leave_values_alone() -> None:
    """A frequency weight is so many rows; importance weights and dependent rows have no interval."""
    first, second, label = tied()
    ones = np.ones(first.size)
    weighted = ScoreTable.from_rows(first, label, weight=ones)
    plain = net_benefits(ScoreTable.from_rows(first, label), AT, confidence=0.95)
    found = net_benefits(weighted, AT, confidence=0.95)
    assert values(found, "net_benefit") == pytest.approx(values(plain, "net_benefit"))
    for one in (*found, *(each.without_intervals() for each in plain)):
        assert all(number.interval is None for number in one.numbers.values())
    sums = PairedSums(thresholds=AT)
    sums.add(first, second, label, weight=ones)
    less = against_first(found, found, sums.moves, rows=sums.rows, confidence=0.95)
    assert [one.over_first for one in less] == [Stated(0.0, None)] * len(AT)


def test_a_grid_counts_as_the_table_does() -> None:
    """Thresholds are ends of cells, so that scores apart from them are on the same side."""
    score = np.random.default_rng(1).random(5_000)
    label = np.random.default_rng(2).random(5_000) < score
    exact = net_benefits(ScoreTable.from_rows(score, label), AT, confidence=0.9)
    assert net_benefits(grid_of(ScoreTable.from_rows(score, label)), AT, confidence=0.9) == exact
