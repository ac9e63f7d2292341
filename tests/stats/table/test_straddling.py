"""Cells that straddle the edge of a bin, shared out by their rows."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.names import Binning
from calibcli.stats.table import Floats, ScoreTable
from calibcli.stats.table import grid as cells
from calibcli.stats.table.again import PartedGrid, split_at, straddling
from calibcli.stats.table.bins import BinnedTable, Bins, binned, equal_width_edges
from calibcli.stats.table.grid import grid_of
from held_rows import HeldRows


def beside(edges: Floats, rows: int, seed: int = 0) -> HeldRows:
    """Rows crowded around edges, some of them on an edge, and rows anywhere."""
    rng = np.random.default_rng(seed)
    near = rng.choice(edges, rows) + rng.integers(-12, 13, rows) * 1e-7
    score = np.clip(np.concatenate((near, edges, rng.random(rows))), 0.0, 1.0)
    return HeldRows(score, rng.random(score.size) < score)


def assert_same_sums(one: BinnedTable, two: BinnedTable) -> None:
    """Counts are equal, and sums of scores and residuals agree to 1e-12 a row."""
    assert np.array_equal(one.rows, two.rows)
    assert np.array_equal(one.positive_rows, two.positive_rows)
    scale = 1.0 + float(one.rows.max())
    for name in ("score_sum", "residual"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("count", [17, 19, 23, 25, 50, 100, 997])
def test_parted_grid_has_the_sums_of_the_exact_table(count: int) -> None:
    """In partitions that the cells do not nest, counts are exact and sums those of a nested partition."""
    edges = equal_width_edges(count)
    rows = beside(edges, 3000)
    exact = ScoreTable.from_rows(rows.score, rows.label)
    partition = Bins(Binning.EQUAL_WIDTH, edges)
    parted = split_at(grid_of(exact), edges, rows=rows)
    assert_same_sums(binned(parted, partition), binned(exact, partition))
    assert not np.array_equal(binned(grid_of(exact), partition).rows, binned(exact, partition).rows)
    assert parted.total_rows == rows.score.size
    assert np.all(parted.score <= parted.upper + 2.0**-52)


@given(
    rows=st.lists(st.tuples(st.integers(0, 60), st.booleans()), min_size=1, max_size=60),
    cuts=st.sets(st.integers(1, 599), min_size=1, max_size=12),
    start=st.sampled_from([0.0, 0.3, 1.0 - 6e-6, 1e-12]),
)
def test_several_edges_may_part_one_cell(rows: list[tuple[int, bool]], cuts: set[int], start: float) -> None:
    """Wherever edges fall, twelve in one cell too, counts are those of the exact table."""
    score = np.array([start + place * 1e-7 for place, _ in rows])
    held = HeldRows(score, np.array([label for _, label in rows]))
    edges = np.concatenate(([0.0], [start + cut * 1e-8 for cut in sorted(cuts)], [1.0]))
    exact = ScoreTable.from_rows(held.score, held.label)
    partition = Bins(Binning.EQUAL_WIDTH, edges)
    parted = split_at(grid_of(exact), edges, rows=held)
    assert_same_sums(binned(parted, partition), binned(exact, partition))


def test_edges_of_two_partitions_can_be_put_together() -> None:
    """A table parted at the union of edges has the exact sums of either partition."""
    one, two = equal_width_edges(17), equal_width_edges(25)
    edges = np.union1d(one, two)
    rows = beside(edges, 2000, seed=1)
    exact = ScoreTable.from_rows(rows.score, rows.label)
    parted = split_at(grid_of(exact), edges, rows=rows)
    for part in (one, two, equal_width_edges(15)):
        partition = Bins(Binning.EQUAL_WIDTH, part)
        assert_same_sums(binned(parted, partition), binned(exact, partition))


@pytest.mark.parametrize("count", [*range(1, 17), 20, 30])
def test_nested_partitions_read_nothing_again(count: int) -> None:
    """Where every edge closes a cell the table stays the object it was."""
    rows = beside(equal_width_edges(7), 500)
    grid = grid_of(ScoreTable.from_rows(rows.score, rows.label))
    assert split_at(grid, equal_width_edges(count), rows=rows) is grid
    assert rows.passes == 0


def test_only_occupied_cells_that_straddle_are_asked_for() -> None:
    """Of 24 inner edges of 25 bins, only those with rows in their cell cost a look."""
    edges = equal_width_edges(25)
    score = np.array([0.04, 0.04 + 1e-7, 0.5, 0.9])
    rows = HeldRows(score, np.array([True, False, True, False]))
    grid = grid_of(ScoreTable.from_rows(rows.score, rows.label))
    assert straddling(grid, edges).tolist() == [0]
    parted = split_at(grid, edges, rows=rows)
    assert rows.requested == cells.cell_of(np.array([0.04])).tolist()
    assert parted.rows.tolist() == [1, 1, 1, 1]
    assert (parted.kind, parted.resolution) == ("grid", cells.WIDTH)


def test_copies_of_a_parted_grid_are_equal_and_read_only() -> None:
    """Pickling and copying keep what decides the bin; whole cells are another table."""
    edges = equal_width_edges(50)
    rows = beside(edges, 300)
    grid = grid_of(ScoreTable.from_rows(rows.score, rows.label))
    parted = split_at(grid, edges, rows=rows)
    assert isinstance(parted, PartedGrid)
    for twin in (copy.deepcopy(parted), pickle.loads(pickle.dumps(parted))):  # noqa: S301 - our own bytes
        assert twin == parted
        assert np.array_equal(twin.upper, parted.upper)
        assert not twin.limit.flags.writeable
    assert grid != parted
    assert parted != PartedGrid(*parted.columns, parted.limit / 2)
    assert parted != PartedGrid(parted.code, parted.rows, *parted.columns[3:], parted.rows, parted.limit)


@pytest.mark.parametrize("change", ["label", "row", "score"])
def test_changed_rows_are_noticed(change: str) -> None:
    """Rows that are no longer those of the table are refused rather than mixed with it."""
    edges = equal_width_edges(17)
    rows = HeldRows(np.full(5, edges[3]), np.array([True, False, True, False, False]))
    grid = grid_of(ScoreTable.from_rows(rows.score, rows.label))
    changed = {
        "label": HeldRows(rows.score, ~rows.label),
        "row": HeldRows(rows.score[1:], rows.label[1:]),
        "score": HeldRows(rows.score + 0.1, rows.label),
    }
    with pytest.raises(InputProblem, match="changed while it was read"):
        split_at(grid, edges, rows=changed[change])
