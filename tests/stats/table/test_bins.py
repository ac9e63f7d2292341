"""The only definition of a bin, against exact rational arithmetic and plain counting."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import EmptyTable
from calibcli.names import Binning
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import (
    ATOMS,
    Bins,
    bin_index,
    binned,
    bins_of,
    equal_mass_edges,
    equal_width_edges,
    looks_discrete,
    segment_sums,
)
from calibcli.stats.table.grid import grid_of

EVERY_WIDTH = [*range(1, 17), 17, 18, 20, 24, 30, 49, 50, 97, 100]


def at(score: np.ndarray) -> ScoreTable:
    """One row with label 1 at each score."""
    return ScoreTable.from_rows(score, np.ones(score.size, bool))


def rational_bin(score: float, count: int) -> int:
    """Return the 0-based bin by exact arithmetic: the double nearest to i/B belongs to bin i."""
    exact = Fraction(score) * count
    upper = -(-exact.numerator // exact.denominator)
    for near in (upper - 1, upper):
        if score == near / count:
            upper = near
    return max(upper, 1) - 1


@pytest.mark.parametrize("count", EVERY_WIDTH)
def test_score_at_an_edge_belongs_to_the_bin_it_closes(count: int) -> None:
    """Score i/B is in bin i (counted from 1), and its right neighbour in bin i + 1."""
    edges = equal_width_edges(count)
    i = np.arange(1, count + 1)
    score = np.array([k / count for k in i])
    assert np.array_equal(edges[1:], score)
    assert np.array_equal(bin_index(edges, score), i - 1)
    assert np.array_equal(bin_index(edges, np.nextafter(score[:-1], 2.0)), i[:-1])
    assert bin_index(edges, np.array([0.0])).tolist() == [0]


@pytest.mark.parametrize("kind", ["exact", "grid"])
@pytest.mark.parametrize("count", [*range(1, 17), 20, 30])
def test_every_edge_nests_on_exact_and_grid_tables(kind: str, count: int) -> None:
    """All edges of all widths up to 16, with their neighbours, are counted where exact arithmetic says."""
    edges = np.unique(np.concatenate([equal_width_edges(k) for k in [*range(1, 17), 20, 30]]))
    score = np.unique(np.concatenate((edges, np.nextafter(edges, 2)[:-1], np.nextafter(edges, -1)[1:])))
    expected = np.bincount([rational_bin(float(s), count) for s in score], minlength=count)
    table = at(score) if kind == "exact" else grid_of(at(score))
    assert binned(table, bins_of(Binning.EQUAL_WIDTH, count, table=table)).rows.tolist() == expected.tolist()


@given(score=st.floats(0.0, 1.0), count=st.integers(1, 200))
def test_equal_width_rule_is_ceiling_in_rationals(score: float, count: int) -> None:
    """A score is in bin ceil(f B) computed exactly, the doubles nearest to i/B counting as i/B."""
    assert bin_index(equal_width_edges(count), np.array([score]))[0] == rational_bin(score, count)


@given(i=st.integers(0, 200), step=st.integers(-2, 2), count=st.integers(1, 200))
def test_equal_width_rule_holds_next_to_the_edges(i: int, step: int, count: int) -> None:
    """The rule of exact arithmetic holds for the doubles beside every edge."""
    score = min(i, count) / count
    for _ in range(abs(step)):
        score = float(np.clip(np.nextafter(score, 2.0 if step > 0 else -1.0), 0, 1))
    assert bin_index(equal_width_edges(count), np.array([score]))[0] == rational_bin(score, count)


ROWS = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=80)
Rows = list[tuple[int, bool]]


def table_of(rows: Rows) -> ScoreTable:
    """Rows with scores in twentieths."""
    return ScoreTable.from_rows(np.array([s for s, _ in rows]) / 20, np.array([y for _, y in rows]))


@given(rows=ROWS, count=st.integers(1, 30))
def test_equal_mass_edges_are_a_partition_of_distinct_scores(rows: Rows, count: int) -> None:
    """Edges ascend strictly from 0 to 1, ties stay together, and no bin is empty."""
    table = table_of(rows)
    edges = equal_mass_edges(table, count)
    assert (edges[0], edges[-1]) == (0.0, 1.0)
    inner = edges[1:-1]
    assert np.all(np.diff(inner) > 0)
    assert edges.size - 1 <= min(count, table.distinct)
    assert np.all(binned(table, Bins(Binning.EQUAL_MASS, edges)).rows > 0)


@given(rows=ROWS, count=st.integers(1, 30))
def test_equal_mass_cuts_follow_ranks(rows: Rows, count: int) -> None:
    """Cut k is midway right of the score holding rank k floor(n/B) + min(k, n mod B), ties to the left."""
    score = np.sort(np.array([s for s, _ in rows]) / 20)
    each, rest = divmod(score.size, count)
    cuts = set()
    for k in range(1, count):
        rank = k * each + min(k, rest)
        left = score[max(rank - 1, 0)]
        above = score[score > left]
        if above.size:
            cuts.add(float((left + above[0]) / 2))
    edges = equal_mass_edges(table_of(rows), count)
    np.testing.assert_allclose(edges[1:-1], sorted(cuts), rtol=0, atol=1e-15)


def test_midpoint_that_rounds_up_cuts_at_the_left_score() -> None:
    """Between neighbouring doubles the cut is the left one, so that the right one is not drawn in."""
    left = 0.3
    for low in (left, np.nextafter(left, 1)):
        high = np.nextafter(low, 1)
        table = at(np.array([low, high]))
        sums = binned(table, bins_of(Binning.EQUAL_MASS, 2, table=table))
        assert sums.rows.tolist() == [1, 1]


@given(rows=ROWS, count=st.integers(1, 10), scale=st.sampled_from([0.25, 1.0, 8.0]))
def test_weighted_equal_mass_is_scale_free(rows: Rows, count: int, scale: float) -> None:
    """With importance weights only their ratios matter, and unit weights put at least kW/B rows left."""
    score, label = np.array([s for s, _ in rows]) / 20, np.array([y for _, y in rows])
    weight = np.arange(1.0, score.size + 1)
    one = equal_mass_edges(ScoreTable.from_rows(score, label, Weighing(weight=weight)), count)
    other = equal_mass_edges(ScoreTable.from_rows(score, label, Weighing(weight=weight * scale)), count)
    assert np.array_equal(one, other)
    for k, edge in enumerate(one[1:-1], start=1):
        assert weight[score <= edge].sum() >= k * weight.sum() / count - 1e-9


def test_equal_mass_of_a_grid_cuts_between_cells() -> None:
    """Cuts of a grid table are cell edges, so bins hold the same rows as on the exact table."""
    rng = np.random.default_rng(0)
    table = at(np.unique(rng.random(997)))
    exact = binned(table, bins_of(Binning.EQUAL_MASS, 12, table=table))
    grid = grid_of(table)
    assert np.array_equal(binned(grid, bins_of(Binning.EQUAL_MASS, 12, table=grid)).rows, exact.rows)


def test_no_rows_cannot_be_cut() -> None:
    """Equal-mass bins need rows."""
    with pytest.raises(EmptyTable):
        equal_mass_edges(ScoreTable.empty(), 3)


@given(rows=ROWS, count=st.integers(1, 12), weighted=st.booleans())
def test_bin_sums_are_sums_over_rows(rows: Rows, count: int, weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Every column of a binned table is the sum over the rows in the bin, by a plain loop."""
    score, label = np.array([s for s, _ in rows]) / 20, np.array([y for _, y in rows])
    weight = np.linspace(0.5, 2.0, score.size) if weighted else np.ones(score.size)
    table = ScoreTable.from_rows(score, label, Weighing(weight=weight if weighted else None))
    sums = binned(table, bins_of(Binning.EQUAL_WIDTH, count, table=table))
    index = np.array([rational_bin(float(s), count) for s in score])
    residual = label - score
    columns = {
        "rows": np.ones(score.size),
        "positive_rows": label.astype(float),
        "weight": weight,
        "positive": weight * label,
        "score_sum": weight * score,
        "residual": weight * residual,
        "residual_sq": weight**2 * residual**2,
        "weight_sq": weight**2,
        "variance": weight * score * (1 - score),
    }
    for name, column in columns.items():
        expected = np.bincount(index, weights=column, minlength=count)
        np.testing.assert_allclose(getattr(sums, name), expected, rtol=1e-12, atol=1e-12, err_msg=name)
    assert sums.total == pytest.approx(weight.sum())
    assert np.array_equal(sums.occupied, np.bincount(index, minlength=count) > 0)
    assert (sums.starts[0], sums.starts[-1]) == (0, table.distinct)
    assert np.all(np.diff(sums.starts) >= 0)


def test_atoms_are_the_distinct_scores() -> None:
    """Every distinct score is a bin, and its edges are the score."""
    table = table_of([(3, True), (3, False), (7, True)])
    sums = binned(table, bins_of(Binning.ATOMS, 15, table=table))
    assert sums.bins is ATOMS
    assert sums.rows.tolist() == [2, 1]
    assert sums.lower.tolist() == sums.upper.tolist() == [0.15, 0.35]
    assert ATOMS.described == "each distinct score by itself"
    assert bins_of(Binning.EQUAL_WIDTH, 15, table=table).described == "15 equal-width bins"


def test_edges_are_read_only() -> None:
    """A partition keeps a copy of its edges that cannot be written to."""
    edges = np.array([0.0, 0.5, 1.0])
    partition = Bins(Binning.EQUAL_WIDTH, edges)
    edges[1] = 0.7
    assert partition.edges is not None
    assert partition.edges.tolist() == [0.0, 0.5, 1.0]
    assert not partition.edges.flags.writeable


@pytest.mark.parametrize(
    ("distinct", "rows", "expected"), [(50, 1000, True), (50, 999, False), (51, 5100, False), (1, 20, True)]
)
def test_discrete_means_few_scores_with_many_rows(distinct: int, rows: int, expected: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """At most 50 distinct scores, with 20 rows each on average; never on a grid, never without rows."""
    counts = np.full(distinct, rows // distinct)
    counts[0] += rows - counts.sum()
    table = ScoreTable(np.arange(1, distinct + 1) / 100, counts, np.zeros(distinct, np.int64))
    assert looks_discrete(table) is expected
    assert not looks_discrete(grid_of(table))
    assert not looks_discrete(ScoreTable.empty())


@given(lengths=st.lists(st.integers(0, 4), min_size=1, max_size=8), rows=st.integers(1, 3))
def test_segment_sums_allow_empty_segments(lengths: list[int], rows: int) -> None:
    """Empty segments sum to 0 wherever they stand, along the last axis."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    column = np.arange(1.0, rows * starts[-1] + 1).reshape(rows, starts[-1])
    expected = [[row[a:b].sum() for a, b in pairwise(starts)] for row in column]
    assert segment_sums(column, starts).tolist() == expected
