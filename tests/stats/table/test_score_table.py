"""Laws of the score table: what it keeps, and that order and splits do not matter."""

import copy
import pickle
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.stats.table.score_table import ScoreTable, WeightColumns, merge_all

AWKWARD = [0.0, -0.0, 5e-324, 0.1, 0.3, 1 / 3, 0.5, 1.0 - 2.0**-53, 1.0]
scores = st.one_of(st.sampled_from(AWKWARD), st.floats(0.0, 1.0))
Rows = list[tuple[float, bool]]
rows_of_table = st.lists(st.tuples(scores, st.booleans()), max_size=40)


def table_of(rows: Rows) -> ScoreTable:
    """Count rows."""
    return ScoreTable.from_rows(np.array([s for s, _ in rows], float), np.array([y for _, y in rows], bool))


def weighted_table(seed: int = 0, rows: int = 50) -> ScoreTable:
    """Rows with importance weights and tied scores."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 12, rows) / 11
    return ScoreTable.from_rows(score, rng.random(rows) < 0.4, weight=rng.exponential(size=rows))


@given(one=rows_of_table, other=rows_of_table)
def test_merge_is_table_of_concatenation(one: Rows, other: Rows) -> None:
    """Merging tables is counting all their rows at once."""
    assert table_of(one).merge(table_of(other)) == table_of(one + other)


@given(one=rows_of_table, two=rows_of_table, three=rows_of_table)
def test_merge_is_associative(one: Rows, two: Rows, three: Rows) -> None:
    """Brackets do not matter."""
    a, b, c = table_of(one), table_of(two), table_of(three)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))


@given(one=rows_of_table, other=rows_of_table)
def test_merge_is_commutative(one: Rows, other: Rows) -> None:
    """The order of two tables does not matter."""
    assert table_of(one).merge(table_of(other)) == table_of(other).merge(table_of(one))


@given(rows=rows_of_table)
def test_empty_is_the_unit_of_merge(rows: Rows) -> None:
    """Adding no rows changes nothing, on either side."""
    table = table_of(rows)
    assert table.merge(ScoreTable.empty()) == table
    assert ScoreTable.empty().merge(table) == table


@given(rows=rows_of_table, cuts=st.lists(st.integers(0, 40), max_size=5), seed=st.integers(0, 9))
def test_any_split_in_any_order_gives_the_whole(rows: Rows, cuts: list[int], seed: int) -> None:
    """Fragments of shuffled rows merge into the same table, bit for bit."""
    shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    places = [0, *sorted(cuts), len(rows)]
    parts = [table_of(shuffled[a:b]) for a, b in pairwise(places)]
    merged = merge_all(parts)
    assert merged == table_of(rows)
    for mine, theirs in zip(merged.columns, table_of(rows).columns, strict=True):
        assert mine.tobytes() == theirs.tobytes()


@given(rows=st.lists(st.tuples(scores, st.booleans(), st.integers(0, 4)), max_size=30))
def test_frequency_counts_are_repeated_rows(rows: list[tuple[float, bool, int]]) -> None:
    """A row with count w is w rows, and a row with count 0 is none."""
    score = np.array([s for s, _, _ in rows], float)
    label = np.array([y for _, y, _ in rows], bool)
    counts = np.array([c for _, _, c in rows], np.int64)
    counted = ScoreTable.from_rows(score, label, counts=counts)
    assert counted == ScoreTable.from_rows(np.repeat(score, counts), np.repeat(label, counts))


@given(rows=rows_of_table)
def test_table_keeps_every_row(rows: Rows) -> None:
    """Each distinct score has as many rows and ones as were given, by plain counting."""
    table = table_of(rows)
    counted = {
        s: (n, p)
        for s, n, p in zip(
            table.score.tolist(), table.rows.tolist(), table.positive_rows.tolist(), strict=True
        )
    }
    expected: dict[float, tuple[int, int]] = {}
    for score, label in rows:
        n, p = expected.get(score, (0, 0))
        expected[score] = (n + 1, p + label)
    assert counted == expected


def test_minus_zero_is_zero() -> None:
    """Both zeros are one score, and it has no sign."""
    for kwargs in ({}, {"counts": np.array([1, 1])}, {"weight": np.array([1.0, 1.0])}):
        table = ScoreTable.from_rows(np.array([-0.0, 0.0]), np.array([True, False]), **kwargs)
        assert table.distinct == 1
        assert not np.signbit(table.score[0])
    assert not np.signbit(ScoreTable(np.array([-0.0]), np.array([1]), np.array([0])).score[0])


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda table: pickle.loads(pickle.dumps(table))])  # noqa: S301 - our own bytes
@pytest.mark.parametrize("table", [table_of([(0.25, True), (0.5, False)]), weighted_table()])
def test_copies_stay_read_only(duplicate: Callable[[ScoreTable], ScoreTable], table: ScoreTable) -> None:
    """Pickling and deep-copying give an equal table whose columns cannot be written to."""
    twin = duplicate(table)
    assert twin == table
    for column in twin.columns:
        assert not column.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_column_that_was_a_view_does_not_change() -> None:
    """A table holds copies, so writing to the arrays it was made of leaves it alone."""
    base = np.array([0.1, 0.2, 0.3, 0.4])
    rows, ones, weights = np.array([3, 3]), np.array([1, 2]), np.ones((4, 2))
    table = ScoreTable(base[::2], rows, ones, WeightColumns(*weights))
    base[:], rows[:], ones[:], weights[:] = 0.9, 9, 0, 5.0
    assert table.score.tolist() == [0.1, 0.3]
    assert table.rows.tolist() == [3, 3]
    assert table.positive_rows.tolist() == [1, 2]
    assert table.weight.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("score", "rows", "positive", "what"),
    [
        ([0.2, 0.1], [1, 1], [0, 0], "strictly ascending"),
        ([0.1, 0.1], [1, 1], [0, 0], "strictly ascending"),
        ([-0.1, 0.1], [1, 1], [0, 0], "strictly ascending"),
        ([0.1, 1.1], [1, 1], [0, 0], "strictly ascending"),
        ([0.1, float("nan")], [1, 1], [0, 0], "strictly ascending"),
        ([float("nan")], [1], [0], "strictly ascending"),
        ([float("inf")], [1], [0], "strictly ascending"),
        ([0.1], [1], [2], "positive_rows"),
        ([0.1], [1], [-1], "positive_rows"),
        ([0.1, 0.2], [1], [1], "differ in shape"),
        ([0.1], [1], [1, 1], "differ in shape"),
    ],
)
def test_invalid_tables_are_refused(
    score: list[float], rows: list[int], positive: list[int], what: str
) -> None:
    """A table that breaks an invariant cannot be made."""
    with pytest.raises(ValueError, match=what):
        ScoreTable(np.array(score), np.array(rows), np.array(positive))


def test_weighted_and_unweighted_do_not_merge() -> None:
    """Importance weights and counts are different things and are not added up."""
    with pytest.raises(ValueError, match="cannot be merged"):
        weighted_table().merge(table_of([(0.5, True)]))
    assert weighted_table() != table_of([(0.5, True)])
    assert table_of([]) != "a table"


@settings(deadline=None)
@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(0, 50), max_size=4))
def test_weighted_split_agrees_to_rounding(seed: int, cuts: list[int]) -> None:
    """Sums of importance weights do not depend on the split beyond 4 eps a fragment; counts not at all."""
    rng = np.random.default_rng(seed)
    score, label = rng.integers(0, 7, 50) / 6, rng.random(50) < 0.4
    weight = rng.exponential(size=50)
    places = [0, *sorted(cuts), 50]
    parts = [ScoreTable.from_rows(score[a:b], label[a:b], weight=weight[a:b]) for a, b in pairwise(places)]
    merged, whole = merge_all(parts), ScoreTable.from_rows(score, label, weight=weight)
    assert np.array_equal(merged.rows, whole.rows)
    assert np.array_equal(merged.positive_rows, whole.positive_rows)
    rtol = 4 * np.finfo(float).eps * len(parts)
    for mine, theirs in zip(merged.columns[3:], whole.columns[3:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=0)


def test_weight_columns_keep_squares_by_label() -> None:
    """Rows (w=3, y=1), (w=1, y=0) and four unit rows have one weight but different squared weights."""
    few = ScoreTable.from_rows(np.full(2, 0.5), np.array([True, False]), weight=np.array([3.0, 1.0]))
    many = ScoreTable.from_rows(np.full(4, 0.5), np.array([True] * 3 + [False]), weight=np.ones(4))
    assert few.weight.tolist() == many.weight.tolist() == [4.0]
    assert few.positive.tolist() == many.positive.tolist() == [3.0]
    assert (few.weight_sq.tolist(), few.positive_sq.tolist()) == ([10.0], [9.0])
    assert (many.weight_sq.tolist(), many.positive_sq.tolist()) == ([4.0], [3.0])


def test_unweighted_sums_are_counts() -> None:
    """Without weights every weight column is a count, and nothing extra is stored."""
    table = table_of([(0.5, True), (0.5, False), (0.75, True)])
    assert not table.weighted
    assert (table.kind, table.resolution) == ("exact", 0.0)
    assert table.weight.tolist() == table.weight_sq.tolist() == [2.0, 1.0]
    assert table.positive.tolist() == table.positive_sq.tolist() == [1.0, 1.0]
    assert (table.total_rows, table.total_positive_rows) == (3, 2)
    assert len(table.columns) == 3
