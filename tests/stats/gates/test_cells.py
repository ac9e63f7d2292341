"""What a gate counts is a sum over rows, whatever tables they came in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.errors import UsageProblem
from calibcli.stats.gates.cells import Partition, Sums, sums_of, table_of
from calibcli.stats.table import grid as cells
from calibcli.stats.table.again import split_at
from calibcli.stats.table.bins import bin_index
from calibcli.stats.table.grid import grid_of
from calibcli.stats.table.score_table import ScoreTable
from gate_rows import ATOMS, TEN, rows_of
from held_rows import HeldRows

QUICK = settings(max_examples=25, deadline=None)


def cut(score: np.ndarray, label: np.ndarray, ends: list[float]) -> list[ScoreTable]:
    """Return tables of consecutive parts of the rows, some perhaps empty."""
    places = sorted(int(end * score.size) for end in ends)
    parts = zip(np.split(score, places), np.split(label, places), strict=True)
    return [ScoreTable.from_rows(f, y) for f, y in parts]


@QUICK
@given(
    st.integers(0, 10**6),
    st.integers(1, 2000),
    st.lists(st.floats(0, 1), max_size=5),
    st.sampled_from([1, 7, 15, 17, 100, 140]),
)
def test_sums_do_not_depend_on_splits_order_or_kind_of_table(
    seed: int, count: int, ends: list[float], bins: int
) -> None:
    """However rows are split, ordered and tabled, their sums are the same whole numbers."""
    generator = np.random.default_rng(seed)
    score, label = rows_of(generator, count)
    score[: count // 10] = generator.choice([0.0, 1.0, 1 / 15, 2 / 15, 0.5], count // 10)
    partition = Partition.of_bins(bins)
    whole = sums_of(ScoreTable.from_rows(score, label), partition)
    order = generator.permutation(count)
    parts = [sums_of(table, partition) for table in cut(score[order], label[order], ends)]
    assert sum(parts, Sums.none(partition.size)) == whole
    rows = HeldRows(score, label)
    assert (
        sums_of(split_at(grid_of(ScoreTable.from_rows(score, label)), partition.edges, rows=rows), partition)
        == whole
    )


@QUICK
@given(st.integers(0, 10**6), st.integers(1, 500), st.sampled_from([3, 15, 1000]))
def test_sums_are_those_of_the_definition(seed: int, count: int, bins: int) -> None:
    """Counts are exact, and distances those of the scores to a unit of 2^-52 or two for each row."""
    score, label = rows_of(np.random.default_rng(seed), count)
    partition = Partition.of_bins(bins)
    sums = sums_of(ScoreTable.from_rows(score, label), partition)
    place = bin_index(partition.edges, score)
    assert sums.rows == tuple(np.bincount(place, minlength=partition.size).tolist())
    assert sums.positive == tuple(np.bincount(place[label], minlength=partition.size).tolist())
    distance = np.bincount(place[label], (partition.upper[place] - score)[label], minlength=partition.size)
    assert np.array(sums.below_positive, float) * 2.0**-52 == pytest.approx(distance, abs=1e-12)


def test_counts_of_many_rows_do_not_overflow() -> None:
    """Frequency weights of a billion rows a score add up as whole numbers of any size."""
    many = 3 * 10**9
    table = ScoreTable(np.array([0.2995, 0.31]), np.array([many, many]), np.array([many // 2, 0]))
    partition = Partition.of_bins(3)
    sums = sums_of(table, partition)
    edge = partition.upper[bin_index(partition.edges, table.score)[0]]
    exact = many // 2 * round((edge - 0.2995) * 2**52)
    assert sum(sums.below_positive) == pytest.approx(exact, rel=1e-12)
    assert sum(sums.below_positive) > 2**63
    doubled = sums + sums
    assert sum(doubled.below_positive) == 2 * sum(sums.below_positive)


@pytest.mark.parametrize("bins", [1, 2, 7, 10, 15, 16, 20, 30, 140, 1001])
def test_cells_nest_those_of_a_grid_table_where_bins_do(bins: int) -> None:
    """Bins that a grid table nests are cut into cells that it nests, at least 720 of them."""
    assert cells.CELLS % bins == 0
    assert cells.CELLS % Partition.of_bins(bins).size == 0
    assert 720 <= Partition.of_bins(bins).size <= 4000
    assert Partition.of_bins(bins, halved=True).per_bin % 2 == 0


def test_outputs_are_counted_by_their_bits() -> None:
    """A score that is none of the outputs is refused, not rounded to one."""
    with pytest.raises(ValueError, match="none of the outputs"):
        sums_of(ScoreTable.from_rows(np.array([0.05, 0.1500001]), np.array([True, False])), ATOMS)


def test_importance_weights_are_refused() -> None:
    """No bet can use rows of unequal importance."""
    table = ScoreTable.from_rows(np.array([0.05]), np.array([True]), weight=np.array([2.5]))
    with pytest.raises(UsageProblem, match="no valid bound for importance weights"):
        sums_of(table, ATOMS)


def test_table_of_sums_has_their_rows() -> None:
    """Sums give back a table: of outputs the very same, of cells one score in each."""
    generator = np.random.default_rng(1)
    table = ScoreTable.from_rows(*rows_of(generator, 500, outputs=TEN))
    assert table_of(sums_of(table, ATOMS), ATOMS) == table
    partition = Partition.of_bins(15)
    fine = ScoreTable.from_rows(*rows_of(generator, 5000))
    again = table_of(sums_of(fine, partition), partition)
    assert sums_of(again, partition).rows == sums_of(fine, partition).rows
    assert again.total_positive_rows == fine.total_positive_rows
    assert (again.score * again.rows).sum() == pytest.approx((fine.score * fine.rows).sum(), abs=1e-9)
