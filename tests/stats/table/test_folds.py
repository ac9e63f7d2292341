"""Folds of a cross-validation, drawn from a table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import InputProblem, UsageProblem
from calibcli.stats.table.derived import cells_as_scores, draw_folds
from calibcli.stats.table.grid import grid_of
from calibcli.stats.table.score_table import ScoreTable, merge_all
from score_rows import table_of

ROWS = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), st.booleans()),
    min_size=5,
    max_size=60,
)


@given(rows=ROWS, folds=st.integers(2, 5), seed=st.integers(0, 9))
def test_folds_are_a_partition_that_the_seed_decides(
    rows: list[tuple[float, bool]], folds: int, seed: int
) -> None:
    """Folds of nearly one size merge back into the table, and the same seed draws the same ones."""
    table = table_of(rows)
    drawn, again = (draw_folds(table, folds, generator=np.random.default_rng(seed)) for _ in range(2))
    assert merge_all(drawn) == table
    assert drawn == again
    sizes = [fold.total_rows for fold in drawn]
    assert max(sizes) - min(sizes) <= 1


@given(rows=ROWS)
def test_cells_keep_counts_and_move_scores_little(rows: list[tuple[float, bool]]) -> None:
    """Each cell of a grid becomes two scores, that of its label: by label nothing is lost but the spread."""
    table = table_of(rows)
    grid = grid_of(table)
    cells = cells_as_scores(grid)
    assert cells.total_rows == table.total_rows
    assert cells.total_positive_rows == table.total_positive_rows
    assert cells.distinct <= 2 * grid.distinct
    for ones in (True, False):
        mine, whole = (one.positive_rows if ones else one.rows - one.positive_rows for one in (cells, table))
        assert mine @ cells.score == pytest.approx(whole @ table.score, abs=1e-12)


def test_grid_tables_are_shared_out_by_their_cells() -> None:
    """A grid table gives exact folds whose rows add up to its own."""
    rng = np.random.default_rng(5)
    grid = grid_of(
        table_of(list(zip(rng.random(500).tolist(), (rng.random(500) < 0.5).tolist(), strict=True)))
    )
    drawn = draw_folds(grid, 7, generator=rng)
    assert merge_all(drawn) == cells_as_scores(grid)


def test_what_cannot_be_shared_out_is_refused() -> None:
    """Importance weights, fewer rows than folds, and more rows than can be drawn."""
    rng = np.random.default_rng(0)
    rows = [(0.1, True), (0.2, False)]
    with pytest.raises(UsageProblem, match="importance weights") as weighted:
        draw_folds(table_of(rows, np.array([1.0, 2.0])), 2, generator=rng)
    assert "--group" in str(weighted.value.hint)
    with pytest.raises(InputProblem, match="2 rows cannot be shared out to 3 folds"):
        draw_folds(table_of(rows), 3, generator=rng)
    with pytest.raises(InputProblem, match="too many to share out"):
        draw_folds(ScoreTable(np.array([0.5]), np.array([10**9]), np.array([5])), 2, generator=rng)
