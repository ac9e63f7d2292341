"""Labels drawn anew from the scores have the law they should have."""

import numpy as np
import pytest

from calibcli.bounds.resampling import EXACT_ROWS, DrawCells, calibrated_positives, draw_cells
from calibcli.names import Binning
from calibcli.table.bins import binned, bins_of
from calibcli.table.grid import grid_of
from calibcli.table.score_table import ScoreTable


def table_of(seed: int, rows: int, decimals: int | None = None) -> ScoreTable:
    """Calibrated rows."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows) if decimals is None else rng.random(rows).round(decimals)
    return ScoreTable.from_rows(score, rng.random(rows) < score)


def all_draws(cells: DrawCells, draws: int, seed: int = 0) -> np.ndarray:
    """Every draw in one array."""
    blocks = calibrated_positives(cells, draws=draws, generator=np.random.default_rng(seed))
    return np.concatenate(list(blocks))


def test_few_rows_are_drawn_exactly() -> None:
    """Up to 20,000 rows the cells are the table's own."""
    table = table_of(0, 500)
    cells = draw_cells(table, [binned(table, bins_of(Binning.EQUAL_WIDTH, 15, table=table)).starts])
    assert not cells.coarsened
    assert cells.method == "monte-carlo"
    assert np.array_equal(cells.score, table.score)
    assert np.array_equal(cells.rows, table.rows)


@pytest.mark.parametrize("decimals", [None, 1])
def test_draws_have_mean_and_variance_of_the_scores(decimals: int | None) -> None:
    """Per cell the number of ones has mean n f and variance n f (1 - f), within five standard errors."""
    table = table_of(1, 300, decimals)
    cells = draw_cells(table, [])
    draws = all_draws(cells, 4000)
    assert draws.shape == (4000, table.distinct)
    assert np.all((draws >= 0) & (draws <= cells.rows))
    mean, variance = cells.rows * cells.score, cells.rows * cells.score * (1 - cells.score)
    assert np.all(np.abs(draws.mean(axis=0) - mean) <= 5 * np.sqrt(variance / 4000) + 1e-12)
    total = draws.sum(axis=1)
    assert total.var() == pytest.approx(variance.sum(), rel=5 * np.sqrt(2 / 4000))


def test_draws_of_different_cells_are_independent() -> None:
    """The variance of a sum is the sum of variances, for cells of one row and of many."""
    table = ScoreTable(np.array([0.2, 0.4, 0.6, 0.8]), np.array([1, 1, 9, 9]), np.zeros(4, np.int64))
    draws = all_draws(draw_cells(table, []), 20_000)
    correlation = np.corrcoef(draws.T)[np.triu_indices(4, 1)]
    assert np.abs(correlation).max() <= 5 / np.sqrt(20_000)


@pytest.mark.parametrize("kind", ["exact", "grid"])
def test_coarsened_cells_are_nested_in_the_bins(kind: str) -> None:
    """Above 20,000 rows sub-cells never straddle a bin of any partition, and keep rows and mean scores."""
    exact = table_of(2, EXACT_ROWS + 5000)
    table = exact if kind == "exact" else grid_of(exact)
    partitions = [
        binned(table, bins_of(Binning.EQUAL_WIDTH, 15, table=table)),
        binned(table, bins_of(Binning.EQUAL_MASS, 15, table=table)),
        binned(table, bins_of(Binning.EQUAL_WIDTH, 7, table=table)),
    ]
    cells = draw_cells(table, [sums.starts for sums in partitions])
    assert cells.coarsened
    assert cells.method == "monte-carlo, coarsened"
    assert cells.score.size <= 4096
    assert cells.rows.sum() == table.total_rows
    assert np.all(np.diff(cells.score) > 0)
    for sums in partitions:
        assert np.all(np.isin(sums.starts, cells.starts))
        segments = cells.segments(sums.starts)
        score_sum = np.add.reduceat(cells.rows * cells.score, segments[:-1])
        np.testing.assert_allclose(score_sum, sums.score_sum, rtol=1e-9)
        assert np.add.reduceat(cells.rows, segments[:-1]).tolist() == sums.rows.tolist()


def test_many_rows_of_few_scores_stay_exact() -> None:
    """Many rows at few distinct scores need no coarsening."""
    table = ScoreTable(np.arange(1, 11) / 11, np.full(10, 10**6), np.zeros(10, np.int64))
    cells = draw_cells(table, [])
    assert not cells.coarsened
    draws = all_draws(cells, 300)
    z = (draws.mean(axis=0) - cells.rows * cells.score) / np.sqrt(
        cells.rows * cells.score * (1 - cells.score) / 300
    )
    assert np.abs(z).max() < 5


def test_draws_repeat_with_their_seed() -> None:
    """The generator decides every draw."""
    cells = draw_cells(table_of(3, 200, 1), [])
    assert np.array_equal(all_draws(cells, 50, seed=1), all_draws(cells, 50, seed=1))
    assert not np.array_equal(all_draws(cells, 50, seed=1), all_draws(cells, 50, seed=2))


def test_certain_scores_draw_certain_labels() -> None:
    """At 0 no label is drawn as 1, at 1 every one."""
    table = ScoreTable(np.array([0.0, 1.0]), np.array([1, 1]), np.array([0, 1]))
    assert all_draws(draw_cells(table, []), 500).tolist() == [[0.0, 1.0]] * 500
