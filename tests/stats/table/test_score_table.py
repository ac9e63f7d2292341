"""Laws of the score table: what it keeps, and that order and splits do not matter."""

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibcli
from calibcli.stats.curves.reliability import BinnedCurve
from calibcli.stats.numerics import ExactSum
from calibcli.stats.table import ScoreTable, Weighing, WeightColumns, merge_all
from calibcli.stats.table import grid as counting
from calibcli.stats.table.grid import ROW, Counting, digest, digest_of_rows, grid_of, is_of_rows
from score_rows import table_of

AWKWARD = [0.0, -0.0, 5e-324, 0.1, 0.3, 1 / 3, 0.5, 1.0 - 2.0**-53, 1.0]
scores = st.one_of(st.sampled_from(AWKWARD), st.floats(0.0, 1.0))
Rows = list[tuple[float, bool]]
rows_of_table = st.lists(st.tuples(scores, st.booleans()), max_size=40)


def weighted_table(seed: int = 0, rows: int = 50) -> ScoreTable:
    """Rows with importance weights and tied scores."""
    rng = np.random.default_rng(seed)
    score = rng.integers(0, 12, rows) / 11
    return ScoreTable.from_rows(score, rng.random(rows) < 0.4, Weighing(weight=rng.exponential(size=rows)))


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
    for weighing in (Weighing(), Weighing(np.array([1, 1])), Weighing(weight=np.array([1.0, 1.0]))):
        table = ScoreTable.from_rows(np.array([-0.0, 0.0]), np.array([True, False]), weighing)
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


def test_curves_own_their_arrays_and_stay_read_only_in_another_process() -> None:
    """A value made of arrays copies what it is given, in the type that it declares, also out of a pickle."""
    given_rows, given_score = np.array([2.0, 3.0]), np.array([0.25, 0.5])
    bins = BinnedCurve(*[given_score] * 2, given_rows, *[given_score] * 4, band="none")  # type: ignore[arg-type]
    given_rows[0], given_score[0] = 7.0, 0.0
    for curve in (bins, pickle.loads(pickle.dumps(bins))):  # noqa: S301 - our own bytes
        assert curve.rows.dtype == np.int64
        assert curve.rows.tolist() == [2, 3]
        assert curve.score.tolist() == [0.25, 0.5]
        assert not any(one.flags.writeable for one in (curve.rows, curve.score, curve.rate_upper))


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
        merge_all([weighted_table(), table_of([(0.5, True)])])
    assert weighted_table() != table_of([(0.5, True)])
    assert table_of([]) != "a table"


@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(0, 50), max_size=4))
def test_weighted_split_agrees_to_rounding(seed: int, cuts: list[int]) -> None:
    """Sums of importance weights do not depend on the split beyond 4 eps a fragment; counts not at all."""
    rng = np.random.default_rng(seed)
    score, label = rng.integers(0, 7, 50) / 6, rng.random(50) < 0.4
    weight = rng.exponential(size=50)
    places = [0, *sorted(cuts), 50]
    parts = [
        ScoreTable.from_rows(score[a:b], label[a:b], Weighing(weight=weight[a:b]))
        for a, b in pairwise(places)
    ]
    merged, whole = merge_all(parts), ScoreTable.from_rows(score, label, Weighing(weight=weight))
    assert np.array_equal(merged.rows, whole.rows)
    assert np.array_equal(merged.positive_rows, whole.positive_rows)
    rtol = 4 * np.finfo(float).eps * len(parts)
    for mine, theirs in zip(merged.columns[3:], whole.columns[3:], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=0)


def test_weight_columns_keep_squares_by_label() -> None:
    """Rows (w=3, y=1), (w=1, y=0) and four unit rows have one weight but different squared weights."""
    few = ScoreTable.from_rows(
        np.full(2, 0.5), np.array([True, False]), Weighing(weight=np.array([3.0, 1.0]))
    )
    many = ScoreTable.from_rows(np.full(4, 0.5), np.array([True] * 3 + [False]), Weighing(weight=np.ones(4)))
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


PLACES = 5
MOST = (1 << 33) - 1
BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, PLACES - 1), st.integers(0, MOST)), max_size=8), max_size=12
)


def fill(found: Counting, rows: list[tuple[int, int]]) -> None:
    """Add rows given as place and distance."""
    place, packed = found.room(len(rows))
    place[:] = [at for at, _ in rows]
    packed[:] = [far + ROW for _, far in rows]


def loop(rows: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Count rows one by one."""
    number, below = [0] * PLACES, [0] * PLACES
    for at, far in rows:
        number[at] += 1
        below[at] += far
    return number, below


@given(batches=BATCHES, again=st.booleans())
def test_counting_aside_is_counting_one_by_one(batches: list[list[tuple[int, int]]], *, again: bool) -> None:
    """However often the thread is asked to count, and whether or not the sums are looked at in between."""
    with mock.patch.object(counting, "COUNTED", 16):
        found = Counting(PLACES)
        for batch in batches:
            fill(found, batch)
            if again:
                found.sums()
        number, below = found.sums()
    assert (number.tolist(), below.tolist()) == loop([row for batch in batches for row in batch])


@pytest.mark.parametrize("crowd", [900, 3_000])
def test_crowded_places_lose_nothing(crowd: int) -> None:
    """Of more rows at one place than share a double with their distances, in one batch or in several."""
    rows = [(1, MOST)] * crowd + [(2, 7)] * 10
    with mock.patch.object(counting, "COUNTED", len(rows)):
        found = Counting(PLACES)
        for _ in range(3):
            fill(found, rows)
        number, below = found.sums()
    assert (number.tolist(), below.tolist()) == loop(3 * rows)


def test_a_pickle_holds_what_was_counted() -> None:
    """Rows that wait are counted first, and more may be added afterwards."""
    found = Counting(PLACES)
    fill(found, [(0, 3), (4, 5)])
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301
    fill(copy, [(4, 6)])
    assert [part.tolist() for part in copy.sums()] == [[1, 0, 0, 0, 2], [3, 0, 0, 0, 11]]
    assert len(pickle.dumps(found)) < 2_000


FINITE = st.floats(allow_nan=False, allow_infinity=False)
MODERATE = st.one_of(st.just(0.0), st.floats(1e-200, 1e200), st.floats(-1e200, -1e-200))


def summed(*parts: list[float]) -> ExactSum:
    """Add each part by itself and merge."""
    whole = ExactSum()
    for part in parts:
        one = ExactSum()
        one.add(np.array(part, dtype=float))
        whole.merge(one)
    return whole


@given(values=st.lists(FINITE, max_size=40), cut=st.integers(0, 40), order=st.randoms())
def test_sum_is_exact_in_every_order_and_cut(
    values: list[float], cut: int, order: "st.random.Random"
) -> None:
    """Doubles of any size add up as fractions do, subnormal ones included."""
    expected = sum((Fraction(value) for value in values), Fraction(0))
    shuffled = list(values)
    order.shuffle(shuffled)
    assert summed(values).exact() == expected
    assert summed(shuffled[:cut], shuffled[cut:]).exact() == expected


@given(rows=st.lists(st.tuples(MODERATE, st.integers(0, 2**53 - 1)), max_size=20))
def test_repeated_values_are_exact(rows: list[tuple[float, int]]) -> None:
    """A value counted so many times adds its product with the count, without rounding."""
    whole = ExactSum()
    whole.add_repeated(
        np.array([value for value, _ in rows]), np.array([count for _, count in rows], np.int64)
    )
    assert whole.exact() == sum((Fraction(value) * count for value, count in rows), Fraction(0))


def test_sum_survives_the_way_to_another_process() -> None:
    """Pickled and back it is the same sum."""
    whole = summed([0.1, 0.2, -1e300])
    assert pickle.loads(pickle.dumps(whole)).exact() == whole.exact()  # noqa: S301 - our own sum


FIFTHS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=12)
Fifths = list[tuple[int, bool]]


def fifths(rows: Fifths) -> ScoreTable:
    """Rows with scores in fifths."""
    return ScoreTable.from_rows(np.array([s for s, _ in rows]) / 5, np.array([y for _, y in rows], bool))


@given(rows=FIFTHS, seed=st.integers(0, 9), cut=st.integers(0, 12))
def test_digest_is_stable_to_order_and_fragments(rows: Fifths, seed: int, cut: int) -> None:
    """Shuffled and split rows have the digest of the whole, exact and on the grid."""
    shuffled = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    merged = merge_all([fifths(shuffled[:cut]), fifths(shuffled[cut:])])
    assert digest(merged) == digest(fifths(rows))
    assert digest(grid_of(merged)) == digest(grid_of(fifths(rows)))


@given(one=FIFTHS, other=FIFTHS)
def test_different_tables_have_different_digests(one: Fifths, other: Fifths) -> None:
    """Two tables have one digest exactly if they are equal."""
    a, b = fifths(one), fifths(other)
    assert (digest(a) == digest(b)) == (a == b)


def test_rows_are_known_whatever_they_weigh() -> None:
    """By their own digest, or by one of them together with these weights, as maps had before."""
    score, label = np.array([0.2, 0.2, 0.7]), np.array([True, False, True])
    plain, heavy, other = (
        ScoreTable.from_rows(score, label, Weighing(weight=None if one is None else np.array(one)))
        for one in (None, [1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    )
    assert digest_of_rows(heavy) == digest(plain)
    assert all(is_of_rows(digest(plain), table) for table in (plain, heavy, other))
    assert [is_of_rows(digest(heavy), table) for table in (plain, heavy, other)] == [False, True, False]


def test_more_rows_of_a_score_than_a_grid_holds_have_a_digest() -> None:
    """An exact table takes ten billion rows of one score, and so does its digest, however they came."""
    score, rows, ones = np.array([0.3101, 0.7]), np.array([10**10, 7]), np.array([3 * 10**9, 5])
    whole, half = ScoreTable(score, rows, ones), ScoreTable(score, rows // 2, ones // 2)
    rest = ScoreTable(score, rows - rows // 2, ones - ones // 2)
    assert digest(whole) == digest(merge_all([half, rest])) != digest(ScoreTable(score, rows + 1, ones))
    counts = np.concatenate((rows - ones, ones))
    label = np.array([0, 0, 1, 1])
    found = calibcli.measure(np.tile(score, 2), label, weight=counts, weights_are="frequency", metric="ece")
    assert (found.report.table.rows, found.report.table.digest) == (10**10 + 7, digest(whole))


def test_kind_and_weights_are_part_of_the_digest() -> None:
    """The same rows exact or on a grid have one digest; with unit weights another, and none a third."""
    score, label = np.array([0.2, 0.6]), np.array([True, False])
    plain = ScoreTable.from_rows(score, label)
    weighted = ScoreTable.from_rows(score, label, Weighing(weight=np.ones(2)))
    assert digest(plain) == digest(grid_of(plain))
    assert len({digest(plain), digest(weighted), digest(ScoreTable.empty())}) == 3


def test_digest_is_frozen() -> None:
    """The digest of one small table, worked out by hand from its bytes, never changes."""
    import hashlib
    import struct

    table = ScoreTable.from_rows(np.array([0.25, 0.5, 0.5]), np.array([True, False, True]))
    # 0.25 and 0.5 are edges of cells, so nothing lies below them: codes, rows, positives, and two sums of 0.
    codes = [32_112 - 2 + 720_720 // 4, 32_112 - 2 + 720_720 // 2]
    packed = b"calibcli.table/1 grid 5 2\n" + struct.pack("<10q", *codes, 1, 2, 1, 1, 0, 0, 0, 0)
    assert digest(table) == f"sha256:{hashlib.sha256(packed).hexdigest()}"
