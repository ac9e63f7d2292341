"""A grid table says what the exact table says, in every partition that its cells nest."""

import copy
import pickle
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.names import Binning
from calibcli.stats.table import ScoreTable, merge_all
from calibcli.stats.table import grid as cells
from calibcli.stats.table.bins import Bins, binned, equal_width_edges
from calibcli.stats.table.grid import (
    GridAccumulator,
    GridTable,
    grid_of,
    open_variance,
    residuals,
    squared_residuals,
    sums_of_scores,
)
from score_rows import table_of

ROWS = st.lists(st.tuples(st.floats(0.0, 1.0), st.booleans()), min_size=1, max_size=80)
Rows = list[tuple[float, bool]]


def crowded(seed: int = 0, rows: int = 20_000) -> ScoreTable:
    """Many rows in few cells, saturated at both ends."""
    rng = np.random.default_rng(seed)
    score = np.concatenate(
        (rng.random(rows), rng.random(rows) * 1e-5, 1 - rng.random(rows) * 1e-5, np.arange(31) / 30)
    )
    return ScoreTable.from_rows(score, rng.random(score.size) < score)


@given(rows=ROWS, bins=st.integers(1, 16))
def test_bin_sums_agree_with_the_exact_table(rows: Rows, bins: int) -> None:
    """Counts are equal, and residual, score and square sums agree to 1e-12 a row."""
    table = table_of(rows)
    partition = Bins(Binning.EQUAL_WIDTH, equal_width_edges(bins))
    exact, grid = binned(table, partition), binned(grid_of(table), partition)
    assert np.array_equal(exact.rows, grid.rows)
    assert np.array_equal(exact.positive_rows, grid.positive_rows)
    np.testing.assert_allclose(grid.residual, exact.residual, rtol=0, atol=1e-12)
    np.testing.assert_allclose(grid.score_sum, exact.score_sum, rtol=0, atol=1e-12)
    np.testing.assert_allclose(grid.residual_sq, exact.residual_sq, rtol=0, atol=1e-11 * len(rows))
    np.testing.assert_allclose(grid.variance, exact.variance, rtol=0, atol=1e-11 * len(rows))


@pytest.mark.parametrize("bins", [1, 7, 10, 15, 16, 20, 30])
def test_crowded_cells_lose_nothing(bins: int) -> None:
    """With thousands of rows a cell, bin residual sums still agree to 1e-12 a row."""
    table = crowded()
    partition = Bins(Binning.EQUAL_WIDTH, equal_width_edges(bins))
    exact, grid = binned(table, partition), binned(grid_of(table), partition)
    assert np.array_equal(exact.rows, grid.rows)
    np.testing.assert_allclose(grid.residual, exact.residual, rtol=0, atol=1e-12 * table.total_rows)
    np.testing.assert_allclose(grid.score_sum, exact.score_sum, rtol=0, atol=1e-12 * table.total_rows)


def test_scores_move_by_at_most_the_resolution() -> None:
    """Every cell's mean score lies in the cell, overall and by label, and the total mean is kept."""
    table = crowded(1)
    grid = grid_of(table)
    for mean, rows in (
        (grid.score, grid.rows),
        (grid.score_of_positive, grid.positive_rows),
        (grid.score_of_negative, grid.rows - grid.positive_rows),
    ):
        some = rows > 0
        assert np.all(mean[some] <= grid.upper[some])
        assert np.all(grid.upper[some] - mean[some] <= cells.WIDTH)
        assert np.all(mean >= 0.0)
    exact_mean = float((table.rows * table.score).sum()) / table.total_rows
    assert float((grid.rows * grid.score).sum()) / grid.total_rows == pytest.approx(exact_mean, abs=1e-14)
    assert (grid.kind, grid.resolution, grid.weighted) == ("grid", cells.WIDTH, False)


@settings(max_examples=8)
@given(one=ROWS, other=ROWS)
def test_accumulating_is_grid_of_merge(one: Rows, other: Rows) -> None:
    """Tables added in either order, or their rows, give the grid of the merged table bit for bit."""
    a, b = table_of(one), table_of(other)
    expected = grid_of(merge_all([a, b]))
    forth, back = GridAccumulator(), GridAccumulator()
    forth.add(a)
    forth.add(grid_of(b))
    back.add_rows(np.array([s for s, _ in other]), np.array([y for _, y in other]))
    back.add(a)
    assert forth.table() == back.table() == expected


def test_copies_of_a_grid_stay_read_only() -> None:
    """Pickling and deep-copying give an equal grid table that cannot be written to."""
    grid = grid_of(crowded(2, 100))
    for twin in (copy.deepcopy(grid), pickle.loads(pickle.dumps(grid))):  # noqa: S301 - our own bytes
        assert twin == grid
        assert not any(column.flags.writeable for column in twin.columns)
    assert grid != crowded(2, 100)


@pytest.mark.parametrize("asked", ["part", "whole"])
def test_tables_cut_from_one_are_as_if_made_alone(asked: str) -> None:
    """What each entry has is the same to the last bit, whichever of them is asked for it first."""
    whole = grid_of(crowded())
    starts = np.array([0, 1, 1, 700, whole.distinct])
    names = ("weight", "positive", "edge", "score", "score_of_positive", "score_of_negative")
    works = (*map(attrgetter, names), residuals, squared_residuals, open_variance, sums_of_scores)
    if asked == "whole":
        assert all(work(whole).size == whole.distinct for work in works)
    for part, start, stop in zip(whole.cut(starts), starts[:-1], starts[1:], strict=True):
        alone = GridTable(*(column[start:stop] for column in whole.columns))
        assert part == alone == pickle.loads(pickle.dumps(part))  # noqa: S301 - its own
        assert all(np.array_equal(work(part), work(alone)) for work in works)
        assert not any(column.flags.writeable for column in (*part.columns, part.score))
        assert part.total_rows == alone.total_rows


def test_counts_of_a_grid_are_its_weights() -> None:
    """A grid table never carries importance weights: its weight columns are counts."""
    table = crowded(3, 50)
    grid = grid_of(table)
    assert grid.total_rows == table.total_rows
    assert grid.total_positive_rows == table.total_positive_rows
    assert np.array_equal(grid.weight, grid.rows)
    assert np.array_equal(grid.weight_sq, grid.rows)
    assert np.array_equal(grid.positive, grid.positive_rows)
    assert np.array_equal(grid.positive_sq, grid.positive_rows)


def test_empty_table_has_an_empty_grid() -> None:
    """No rows, no cells."""
    grid = grid_of(ScoreTable.empty())
    assert grid.distinct == 0
    assert grid == GridAccumulator().table()


def test_too_many_rows_in_a_cell_are_refused() -> None:
    """Sums of distances are integers of 64 bits, so a thousand million rows a cell are the limit."""
    one = np.array([1])
    GridTable(one, np.array([10**9]), one, one, one)
    with pytest.raises(InputProblem, match="have nearly the same score"):
        GridTable(one, np.array([10**9 + 1]), one, one, one)


def test_sums_stay_exact_however_many_rows_share_a_cell() -> None:
    """Sums of distances are whole numbers, counted in parts or at once, far beyond what a double holds."""
    score, rows = 0.3 + 1e-9, 4_300_001
    grown = GridAccumulator()
    for start in range(0, rows, 1_000_003):
        part = np.full(min(1_000_003, rows - start), score)
        grown.add_rows(part, np.zeros(part.size, np.bool_))
    one = grid_of(ScoreTable.from_rows(np.array([score]), np.array([False])))
    table = grown.table()
    assert table.rows.tolist() == [rows]
    assert table.below_negative.tolist() == [rows * int(one.below_negative[0])]
    assert rows * int(one.below_negative[0]) > 2**53


EDGE_SCORES = st.builds(
    lambda i, steps: float(
        np.clip(np.nextafter(i / cells.CELLS, 2.0 if steps > 0 else -1.0) if steps else i / cells.CELLS, 0, 1)
    ),
    st.integers(0, cells.CELLS),
    st.integers(-1, 1),
)
TINY = st.floats(0.0, 2 * cells.WIDTH)
scores = st.lists(
    st.one_of(st.floats(0.0, 1.0), EDGE_SCORES, TINY, TINY.map(lambda x: 1.0 - x)), min_size=1, max_size=200
)


@given(values=scores)
def test_codes_ascend_with_the_score(values: list[float]) -> None:
    """Sorted scores have sorted codes, all of them codes that exist."""
    code = cells.cell_of(np.sort(np.array(values)))
    assert np.all(np.diff(code) >= 0)
    assert code.min() >= 0
    assert code.max() < cells.CODES


@given(values=scores)
def test_cell_contains_its_score(values: list[float]) -> None:
    """A score is at most its cell's edge, above the edges before, and no cell is wider than 1/720720."""
    score = np.array(values)
    code = cells.cell_of(score)
    top = cells.upper_edge(code)
    assert np.all(score <= top)
    assert np.all(top - score <= cells.WIDTH * (1 + 1e-9))
    # Beyond 1 - 1/720720 lie parts finer than doubles are; they share an edge with the score and are empty.
    inner = (code > 0) & (score <= 1.0 - cells.WIDTH)
    assert np.all(score[inner] > cells.upper_edge(code[inner] - 1))
    for edge in cells.upper_edge(code):
        assert np.all(code[score <= edge] <= cells.cell_of(np.array([edge])))


@given(values=scores)
def test_codes_and_distances_are_found_in_two_ways(values: list[float]) -> None:
    """With edges and without, as doubles and as whole numbers."""
    score = np.array(values)
    code, edge = cells.cell_and_edge(score)
    assert np.array_equal(cells.cell_of(score), code)
    assert np.array_equal(edge, cells.upper_edge(code))
    apart = cells.distances(score, edge.copy())
    assert np.array_equal(cells.whole_distances(score, edge), apart.astype(np.int64))


@given(values=scores)
def test_upper_edge_is_in_its_own_cell(values: list[float]) -> None:
    """The largest score of a cell belongs to that cell."""
    code = cells.cell_of(np.array(values))
    assert np.array_equal(cells.cell_of(cells.upper_edge(code)), code)


def test_main_cells_equal_searchsorted() -> None:
    """On all edges and their neighbours, main cells are (i/720720, (i+1)/720720] as searchsorted has them."""
    edges = np.arange(cells.CELLS + 1) / cells.CELLS
    score = np.concatenate((edges, np.nextafter(edges, 2.0)[:-1], np.nextafter(edges, -1.0)[1:]))
    index = np.searchsorted(edges, score, side="left")
    main = (index >= 2) & (index <= cells.CELLS - 1)
    code = cells.cell_of(score[main])
    assert np.array_equal(code - code.min(), index[main] - index[main].min())
    assert np.array_equal(cells.upper_edge(code), edges[index[main]])


def test_zero_and_one_are_cells_of_their_own() -> None:
    """No other score shares the cell of 0 or of 1."""
    code = cells.cell_of(np.array([0.0, 5e-324, 1e-300, 1.0 - 2.0**-53, 1.0]))
    assert code[0] == 0
    assert np.all(code[1:3] > 0)
    assert code[4] == cells.CODES - 1
    assert code[3] < code[4]
    assert cells.upper_edge(code[[0, 4]]).tolist() == [0.0, 1.0]


def test_every_code_is_reached_or_empty_in_order() -> None:
    """Upper edges never fall along the codes, so a partition cuts the codes into runs."""
    top = cells.upper_edge(np.arange(cells.CODES))
    assert np.all(np.diff(top) >= 0)
    assert top[0] == 0.0
    assert top[-1] == 1.0


@pytest.mark.parametrize("bins", [*range(1, 17), 18, 20, 21, 22, 24, 26, 28, 30])
def test_cells_nest_every_usual_partition(bins: int) -> None:
    """Neither an inner edge i/B nor its neighbours share a cell with a score on the other side."""
    edge = np.arange(1, bins) / bins
    assert np.all(cells.upper_edge(cells.cell_of(edge)) == edge)
    assert np.all(cells.cell_of(np.nextafter(edge, 2.0)) == cells.cell_of(edge) + 1)
    assert Fraction(cells.CELLS, bins).denominator == 1


@given(values=st.lists(TINY.filter(lambda x: x > 0), min_size=1, max_size=50))
def test_ends_are_cut_into_relative_parts(values: list[float]) -> None:
    """Near 0 a cell spans at most 1/32 of its distance from 0, so the log loss there is settled."""
    score = np.array([v for v in values if v <= cells.WIDTH and v > 1e-300] or [cells.WIDTH])
    top = cells.upper_edge(cells.cell_of(score))
    assert np.all(top / score <= 1 + 1 / 32)
