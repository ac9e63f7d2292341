"""Every segment is what its definition says, and tests of it see nothing but what they may."""

import itertools
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from calibcli.stats.bounds import holm
from calibcli.stats.bounds.resampling import range_tail
from calibcli.stats.measures import segments
from calibcli.stats.measures.segments import (
    ByCells,
    Entries,
    Segments,
    are_tested,
    beyond,
    bias_bounds,
    joint,
    segments_of,
    smallest_detectable,
    straightened,
    stretch_of,
    without,
)
from stats.segment_rows import added_up, entries_of


def of_rows(level: np.ndarray, score: np.ndarray, label: np.ndarray) -> tuple[float, ...]:
    """Return rows, positives, mean score, and the range of cumulative residuals by a loop over its steps."""
    path = low = high = 0.0
    for value in sorted(set(score.tolist())):
        path += float((label[score == value] - value).sum())
        low, high = min(low, path), max(high, path)
    spread = float((score * (1 - score)).sum())
    sigma = (high - low) / math.sqrt(spread) if spread else math.inf * (high > low)
    sigma = 0.0 if math.isnan(sigma) else sigma
    return float(level.size), float(label.sum()), float(score.mean()), sigma


rows_of_segments = st.integers(1, 60).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=n, max_size=n),
        st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 0.333]), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.randoms(use_true_random=False),
    )
)


def keyed(found: Segments) -> dict[tuple[int, ...], tuple[float, ...]]:
    """Return rows, positives, mean score and statistic of every segment."""
    values = zip(found.rows, found.positive, found.score, found.sigma, strict=True)
    return {tuple(key): one for key, one in zip(found.level.tolist(), values, strict=True)}


@given(rows_of_segments, st.integers(0, 3), st.sampled_from([1, 7, 1 << 16]))
def test_segments_are_what_a_slow_definition_says(drawn: tuple, depth: int, run: int) -> None:
    """Each intersection has its rows and the range of its path, in any order of the rows and runs of them."""
    level, score, label = np.array(drawn[0]).T, np.array(drawn[1]), np.array(drawn[2])
    order = list(range(score.size))
    drawn[3].shuffle(order)
    with patch.object(segments, "_CHUNK", run):
        found = segments_of(entries_of(level, score, label, (3, 2, 4)), depth=depth)
        again = segments_of(entries_of(level[:, order], score[order], label[order], (3, 2, 4)), depth=depth)
    # Entries of rows that agree may be added up before.
    assert keyed(again).keys() == keyed(found).keys()
    held = set()
    for key, one in keyed(found).items():
        inside = np.ones(score.size, bool)
        for k, want in enumerate(key):
            inside &= (level[k] == want) | (want < 0)
        assert one == pytest.approx(of_rows(score[inside], score[inside], label[inside]), abs=1e-7)
        assert keyed(again)[key] == pytest.approx(one, abs=1e-7)
        held.add(key)
    every = {
        tuple(int(row[k]) if k in chosen else -1 for k in range(3))
        for many in range(depth + 1)
        for chosen in itertools.combinations(range(3), many)
        for row in level.T
    }
    assert held == every


@given(rows_of_segments)
def test_entries_that_agree_may_be_added_up_before(drawn: tuple) -> None:
    """Rows of one score and one leaf make one entry without moving a number."""
    level, score, label = np.array(drawn[0]).T, np.array(drawn[1]), np.array(drawn[2])
    keys, place = np.unique(np.vstack((level, score)), axis=1, return_inverse=True)
    place = place.reshape(-1)
    rows = np.bincount(place)
    ones = np.bincount(place, weights=label).astype(np.int64)
    value = keys[3]
    part = np.ravel_multi_index(tuple(keys[:3].astype(np.int64)), (3, 2, 4))
    merged = Entries.of_parts(
        part, (3, 2, 4), value, rows=rows, positive=ones,
        scores=(value * ones, value * (rows - ones)),
    )  # fmt: skip
    one, other = (
        segments_of(merged, depth=2),
        segments_of(entries_of(level, score, label, (3, 2, 4)), depth=2),
    )
    for name in ("level", "rows", "residual", "variance", "squares", "skewness", "sigma", "same"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-7)


def drawn_rows(rows: int, *sizes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, size, rows) for size in sizes]), rng.beta(0.6, 1.4, rows), rng


def test_what_is_tested_depends_on_no_label() -> None:
    """Other labels leave segments, which are tested, and the smallest detectable bias as they are."""
    level, score, rng = drawn_rows(3_000, 4, 6, 9)
    one = segments_of(entries_of(level, score, rng.random(3_000) < score), depth=2)
    other = segments_of(entries_of(level, score, rng.random(3_000) < 0.9), depth=2)
    assert np.array_equal(one.level, other.level)
    assert np.array_equal(are_tested(one, least_rows=50), are_tested(other, least_rows=50))
    assert smallest_detectable(one, error=1e-3) == pytest.approx(smallest_detectable(other, error=1e-3))
    few = are_tested(one, least_rows=50)
    assert few.any()
    assert not few.all()


def test_segments_of_the_same_rows_are_tested_once() -> None:
    """A column that another one settles adds its own values, and no intersections."""
    level, score, rng = drawn_rows(4_000, 4)
    twice = np.vstack((level, level[0] // 2))
    found = segments_of(entries_of(twice, score, rng.random(4_000) < score), depth=2)
    alone = ~found.same
    # All rows, four values, two values; each pair of both is one of the four.
    assert found.size == 1 + 4 + 2 + 4
    assert int(alone.sum()) == 1 + 4 + 2


def test_joint_values_are_those_of_holm() -> None:
    """The smallest is multiplied by their number, and none is below one before it."""
    first, none, *others = holm([0.04, None, 0.001, 0.03, 0.9])
    assert none is None
    assert [first, *others] == pytest.approx([0.09, 0.004, 0.09, 0.9])


@pytest.mark.parametrize("few", [False, True], ids=["single rows", "equal scores"])
def test_joint_values_are_those_of_drawn_labels(*, few: bool) -> None:
    """The share of other draws whose largest range is larger, whether or not scores are equal."""
    level, score, rng = drawn_rows(240, 3, 2)
    score = np.round(score, 1) if few else score
    entries = (added_up if few else entries_of)(level, score, rng.random(240) < 0.8 * score, (3, 2))
    assert (entries.rows.size < 100) == few
    found = segments_of(entries, depth=2)
    seen = are_tested(found, least_rows=20)
    together = joint(entries, found, seen, names="ab", depth=2, error=0.05)
    largest = []
    for _ in range(150):
        other = segments_of(entries_of(level, score, rng.random(240) < score, (3, 2)), depth=2)
        largest.append(other.worth(other.sigma)[seen].max())
    worth = found.worth(found.sigma)[seen]
    single = np.array([np.mean(np.array(largest) >= one * (1.0 - 1e-9)) for one in worth])
    # Steps only lower what is not the largest.
    assert together.p_values.min() == pytest.approx(single.min(), abs=0.1)
    assert np.all(together.p_values <= single + 0.1)
    assert np.all(np.diff(together.p_values[np.argsort(-worth)]) >= 0.0)
    assert together.draws == 999
    # In so few rows the law is too careful: each segment by itself may have more than its share of the error.
    assert 1.2 * 0.05 / seen.sum() < together.each < 0.05
    assert np.array_equal(
        together.p_values, joint(entries, found, seen, names="ab", depth=2, error=0.05).p_values
    )


def test_draws_do_not_depend_on_the_order_of_the_columns() -> None:
    """Labels are drawn in the order of names, whichever column counts most."""
    level, score, rng = drawn_rows(240, 3, 2)
    label = rng.random(240) < 0.8 * score
    one, other = entries_of(level, score, label, (3, 2)), entries_of(level[::-1], score, label, (2, 3))
    founds = [segments_of(entries, depth=2) for entries in (one, other)]
    first, second = (
        joint(entries, found, are_tested(found, least_rows=20), names=names, depth=2, error=0.05)
        for entries, found, names in zip((one, other), founds, ("xy", "yx"), strict=True)
    )
    assert first.draws == 999
    assert first.each == second.each
    assert sorted(first.p_values) == sorted(second.p_values)


def test_the_law_joins_what_draws_cannot_tell() -> None:
    """A value far out has the p-value of the law; of many entries all have."""
    level, score, rng = drawn_rows(600, 2)
    found = segments_of(entries := entries_of(level, score, rng.random(600) < score**3), depth=1)
    seen = are_tested(found, least_rows=20)
    together = joint(entries, found, seen, names="a", depth=1, error=0.05)
    assert (together.draws, together.p_values.max() < 1e-3) == (999, True)
    assert together.p_values.tolist() == list(holm(found.p_values()[seen].tolist()))
    level, score, rng = drawn_rows(50_000, 2)
    found = segments_of(entries := entries_of(level, score, rng.random(50_000) < score), depth=1)
    together = joint(entries, found, np.ones(3, np.bool_), names="a", depth=1, error=0.05)
    assert (together.draws, together.each) == (0, pytest.approx(0.05 / 3))
    assert together.p_values.tolist() == list(holm(found.p_values().tolist()))


def test_fewer_labels_are_drawn_of_larger_tables_of_small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to ten times the entries, where a segment has few of them."""
    monkeypatch.setattr(segments, "_MOST_DRAWN", 1_000)
    level, score, rng = drawn_rows(600, 3, 2)
    label = rng.random(600) < score
    found = segments_of(entries := entries_of(level, score, label), depth=2)
    assert (
        joint(entries, found, are_tested(found, least_rows=20), names="ab", depth=2, error=0.05).draws == 199
    )
    monkeypatch.setattr(segments, "_SMALL", 100)
    assert joint(entries, found, are_tested(found, least_rows=20), names="ab", depth=2, error=0.05).draws == 0


def test_skewed_jumps_are_worth_less_the_fewer_they_are() -> None:
    """Without skewness, and with many rows, a range is worth itself; with few rare events far less."""
    sigma = np.array([4.0, 4.0, 4.0])
    worth = straightened(sigma, np.array([5.0, 1e9, 5.0]), np.array([0.0, 1.0, 1.0]))
    assert worth[:2].tolist() == pytest.approx([4.0, 4.0], rel=1e-4)
    # 2 V h(x / V) by Bennett, with V = 5 and x = 4 sqrt(5).
    u = 4.0 / math.sqrt(5.0)
    assert worth[2] == pytest.approx(math.sqrt(10.0 * ((1 + u) * math.log1p(u) - u)))


def test_a_range_beside_scores_next_to_nothing_is_worth_much() -> None:
    """Labels of 1 at scores of 1e-200 are far out, and no square of that is finite."""
    worth = straightened(np.array([1e101, 1e151]), np.array([1e-198, 1e-298]), np.array([1.0, 1.0]))
    assert np.all(np.isfinite(worth) & (worth > 1e20))


def test_smallest_detectable_bias_is_detected_as_often_as_said() -> None:
    """Labels that miss by it leave a range beyond the critical one in about eight draws of ten."""
    level, score, rng = drawn_rows(4_000, 1)
    score = 0.2 + 0.6 * score
    found = segments_of(entries_of(level, score, rng.random(4_000) < score), depth=0)
    least = float(smallest_detectable(found, error=1e-3)[0])
    seen = [
        segments_of(entries_of(level, score, rng.random(4_000) < score + least), depth=0).p_values()[0]
        <= 1e-3
        for _ in range(200)
    ]
    assert 0.7 <= np.mean(seen) <= 0.95
    critical = least * 4_000 / math.sqrt(found.variance[0]) - norm.ppf(0.8)
    assert range_tail(critical) == pytest.approx(1e-3, rel=0.2)


@pytest.mark.parametrize(("score", "rows"), [(0.002, 3_000), (0.01, 1_000), (0.998, 3_000), (0.5, 400)])
def test_it_is_detected_as_often_where_events_are_rare(score: float, rows: int) -> None:
    """Of one score by the exact law: labels that err into the open vary more than the scores say."""
    level, scores = np.zeros((1, rows), np.int64), np.full(rows, score)
    found = segments_of(entries_of(level, scores, np.zeros(rows, np.bool_)), depth=0)
    rate = score + float(smallest_detectable(found, error=2e-3)[0]) * (1.0 if score <= 0.5 else -1.0)
    ones = np.arange(rows + 1)
    worth = straightened(
        np.abs(ones - rows * score) / math.sqrt(found.variance[0]), found.variance, found.skewness
    )
    seen = np.array([range_tail(float(one)) for one in worth]) <= 2e-3
    assert 0.75 <= binom.pmf(ones, rows, rate)[seen].sum() <= 0.9


def test_a_part_differs_from_the_whole_only_where_it_differs() -> None:
    """A value as wrong as all others does not differ from them; one that is wrong alone does."""
    level, score, rng = drawn_rows(20_000, 5)
    all_wrong = rng.random(20_000) < 0.7 * score
    one_wrong = rng.random(20_000) < np.where(level[0] == 2, 0.6 * score, score)
    assert min(beyond(ByCells(entries_of(level, score, all_wrong), 2), (-1,), [(0,)]).values()) > 0.01
    alone = beyond(ByCells(entries_of(level, score, one_wrong), 2), (-1,), [(0,)])
    assert min(alone, key=lambda key: alone[key]) == (2,)
    assert alone[2,] < 1e-6
    few = entries_of(level[:, :30], score[:30], all_wrong[:30])
    assert set(beyond(ByCells(few, 2), (-1,), [(0,)]).values()) == {1.0}


def test_a_part_of_rare_high_scores_does_not_differ_by_these() -> None:
    """All scores are too high by half; those of one value are higher, and no row of it is any more wrong."""
    rng = np.random.default_rng(5)
    rare = rng.random(200_000) < 0.004
    score = np.where(rare, rng.beta(1.5, 1.5, rare.size), rng.beta(1.0, 999.0, rare.size))
    level = np.where(score > 0.5, 2, np.where(score > 0.002, 1, 0))[None]
    found = beyond(ByCells(entries_of(level, score, rng.random(rare.size) < 0.5 * score), 1), (-1,), [(0,)])
    assert min(found.values()) > 1e-3


def test_parts_of_a_part_are_compared_with_its_rows_alone() -> None:
    """What is wrong outside of the larger segment does not matter to its parts."""
    level, score, rng = drawn_rows(20_000, 2, 4)
    wrong = rng.random(20_000) < np.where((level[0] == 1) & (level[1] == 3), 0.5 * score, score)
    entries = entries_of(level, score, wrong)
    assert min(beyond(ByCells(entries, 2), (0, -1), [(1,)]).values()) > 1e-3
    assert beyond(ByCells(entries, 2), (1, -1), [(1,)])[1, 3] < 1e-6


def test_what_is_left_without_the_wrong_part_is_calibrated() -> None:
    """A segment that is wrong for one of its parts alone is not wrong without it."""
    level, score, rng = drawn_rows(20_000, 2, 4)
    wrong = rng.random(20_000) < np.where((level[0] == 1) & (level[1] == 3), 0.5 * score, score)
    entries = entries_of(level, score, wrong)
    found = segments_of(entries, depth=1)
    assert found.p_values()[found.level.tolist().index([1, -1])] < 1e-6
    assert without(entries, (1, -1), (1, 3)) > 0.01
    assert without(entries, (1, -1), (1, 2)) < 1e-6
    # Nothing is left without itself.
    assert without(entries, (1, -1), (1, -1)) == 1.0


def test_the_stretch_is_where_the_scores_are_wrong() -> None:
    """Scores above 0.6 are too high by 0.2, and those below are right."""
    level, score, rng = drawn_rows(20_000, 1)
    wrong = rng.random(20_000) < np.where(score > 0.6, score - 0.2, score)
    found = stretch_of(entries_of(level, score, wrong), (-1,))
    assert 0.3 < found.lower < 0.65
    assert found.upper == pytest.approx(1.0, abs=0.05)
    assert 0.05 < found.gap < 0.23


def test_intervals_of_bias_enclose_it_and_stay_where_it_can_be() -> None:
    """They hold the estimate, lie between score - 1 and score, and shrink with a larger error."""
    level, score, rng = drawn_rows(5_000, 5, 7)
    found = segments_of(entries_of(level, score, rng.random(5_000) < score), depth=2)
    strict, loose = bias_bounds(found, delta=1e-5), bias_bounds(found, delta=1e-2)
    for ends in (strict, loose):
        assert np.all(ends.lower <= found.bias + 1e-12)
        assert np.all(ends.upper >= found.bias - 1e-12)
        assert np.all(ends.upper <= found.score + 1e-12)
        assert np.all(ends.lower >= found.score - 1.0 - 1e-12)
    assert np.all(strict.upper - strict.lower >= loose.upper - loose.lower - 1e-12)
