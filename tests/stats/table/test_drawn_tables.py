"""Tables made from tables: split at random, and moved to other scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import InputProblem, UsageProblem
from calibcli.stats.table.derived import split_table, with_scores
from calibcli.stats.table.grid import grid_of
from calibcli.stats.table.score_table import ScoreTable, merge_all

rows_of_table = st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=60)


def table_of(rows: list[tuple[int, bool]], weight: np.ndarray | None = None) -> ScoreTable:
    """Rows with scores in twelfths."""
    score = np.array([score for score, _ in rows], dtype=float) / 12
    return ScoreTable.from_rows(score, np.array([label for _, label in rows], dtype=bool), weight=weight)


@given(rows=rows_of_table, parts=st.integers(1, 5), seed=st.integers(0, 99))
def test_split_is_a_partition(rows: list[tuple[int, bool]], parts: int, seed: int) -> None:
    """Parts merge back into the table, and their sizes differ by at most one."""
    table = table_of(rows)
    drawn = split_table(table, parts, generator=np.random.default_rng(seed))
    assert merge_all(drawn) == table
    sizes = [part.total_rows for part in drawn]
    assert len(sizes) == parts
    assert max(sizes) - min(sizes) <= 1


def test_split_is_the_same_for_the_same_seed() -> None:
    """The generator decides, and nothing else."""
    table = table_of([(k % 13, k % 3 == 0) for k in range(200)])
    one, same, other = (split_table(table, 3, generator=np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert one == same
    assert one != other


def test_split_is_fair() -> None:
    """Each row lands in each part equally often, on average over 2,000 splits."""
    table = table_of([(3, False)] * 4 + [(3, True)] * 2 + [(9, True)] * 3)
    rng = np.random.default_rng(8)
    firsts = [split_table(table, 3, generator=rng)[0] for _ in range(2000)]
    positive = np.mean([first.total_positive_rows for first in firsts])
    assert positive == pytest.approx(5 / 3, abs=0.08)


def test_split_refuses_what_a_table_does_not_know() -> None:
    """Weights, grid cells and a thousand million rows cannot be split, and the error says why."""
    rng = np.random.default_rng(0)
    rows = [(1, True), (2, False)]
    with pytest.raises(UsageProblem, match="importance weights"):
        split_table(table_of(rows, weight=np.array([1.0, 2.0])), 2, generator=rng)
    with pytest.raises(UsageProblem, match="cannot be split at random"):
        split_table(grid_of(table_of(rows)), 2, generator=rng)
    many = ScoreTable(np.array([0.5]), np.array([10**9]), np.array([5]))
    with pytest.raises(InputProblem, match="too many to split"):
        split_table(many, 2, generator=rng)


@given(rows=rows_of_table, weighted=st.booleans())
def test_moving_scores_is_moving_rows(rows: list[tuple[int, bool]], weighted: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Moving the table's scores gives the table of the rows with their scores moved, merging ties."""
    weight = np.arange(1.0, len(rows) + 1) if weighted else None
    table = table_of(rows, weight)
    moved = with_scores(table, np.abs(table.score - 0.5))
    rows_moved = np.abs(np.array([score for score, _ in rows]) / 12 - 0.5)
    label = np.array([label for _, label in rows], dtype=bool)
    expected = ScoreTable.from_rows(rows_moved, label, weight=weight) if rows else ScoreTable.empty()
    assert moved == expected


def test_moving_a_grid_moves_its_cells() -> None:
    """Rows of a cell move together and give an exact table."""
    table = grid_of(table_of([(1, True), (2, False), (2, True)]))
    moved = with_scores(table, np.array([0.25, 0.75]))
    assert moved == ScoreTable(np.array([0.25, 0.75]), np.array([1, 2]), np.array([1, 1]))
