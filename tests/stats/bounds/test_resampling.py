"""Labels drawn anew from the scores have the law they should have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.names import Binning
from calibcli.stats.bounds import resampling
from calibcli.stats.bounds.resampling import (
    EXACT_ROWS,
    LEAST_INFORMATION,
    DrawCells,
    DrawnLabels,
    calibrated_positives,
    draw_cells,
    extremes,
    label_draws,
    open_variance,
)
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import binned, bins_of, segment_sums
from calibcli.stats.table.grid import grid_of
from score_rows import scored_table


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


HARD_SCORES = st.one_of(
    st.floats(0.0, 1.0),
    st.sampled_from([0.0, 1e-300, 1e-9, 0.25, 0.5, np.nextafter(0.5, 1.0), 0.7, 1.0 - 1e-9, 1.0]),
)


def among_certain_rows(score: np.ndarray, *, certain: int = 400) -> ScoreTable:
    """Rows among so many that hardly ever surprise that drawing surprises costs least."""
    nearly = np.linspace(1e-9, 2e-9, certain)
    score = np.concatenate((score, nearly, 1.0 - nearly))
    return ScoreTable.from_rows(score, score > 0.5)


def blocks_of(table: ScoreTable, *, draws: int, bins: int = 15) -> tuple[list[DrawnLabels], DrawCells]:
    """Labels drawn for equal-width bins."""
    starts = binned(table, bins_of(Binning.EQUAL_WIDTH, bins, table=table)).starts
    labels = label_draws(table, [starts], draws=draws, generator=np.random.default_rng(5))
    return list(labels.blocks), labels.cells


@given(
    score=st.lists(HARD_SCORES, min_size=1, max_size=12),
    times=st.integers(1, 3),
    bins=st.integers(1, 20),
)
def test_sums_over_surprises_are_those_over_all_labels(score: list[float], times: int, bins: int) -> None:
    """Every statistic of a draw is what its labels give when all are added up, ties read as one step."""
    table = among_certain_rows(np.repeat(score, times))
    blocks, cells = blocks_of(table, draws=40, bins=bins)
    starts = binned(table, bins_of(Binning.EQUAL_WIDTH, bins, table=table)).starts
    whole = np.arange(table.distinct + 1)
    assert sum(len(block.positives(whole)) for block in blocks) == 40
    for block in blocks:
        assert type(block).__name__ == "_Surprises"
        ones = block.positives(whole)
        assert np.all((ones >= 0) & (ones <= table.rows))
        residual = ones - table.rows * table.score
        np.testing.assert_allclose(block.positives(starts), segment_sums(ones, starts), atol=1e-9)
        np.testing.assert_allclose(block.residuals(starts), segment_sums(residual, starts), atol=1e-9)
        square = ones * (1 - table.score) ** 2 + (table.rows - ones) * table.score**2
        np.testing.assert_allclose(block.squares(starts), segment_sums(square, starts), atol=1e-9)
        np.testing.assert_allclose(block.tilted(), residual @ (1 - 2 * cells.score), atol=1e-9)
        np.testing.assert_allclose(block.extremes(), extremes(residual), atol=1e-9)


@pytest.mark.parametrize("ties", [1, 4])
def test_surprises_have_the_law_of_labels(ties: int) -> None:
    """20,000 draws: mean, variance, correlation and the law of the highest point are those of dense draws."""
    score = np.repeat([0.01, 0.1, 0.3, 0.5, 0.501, 0.8, 0.95], ties)
    table = among_certain_rows(score, certain=60)
    draws = 20_000
    blocks, cells = blocks_of(table, draws=draws)
    open_cells = np.flatnonzero(cells.variance > 1e-6)
    ones = np.concatenate([block.positives(np.arange(table.distinct + 1)) for block in blocks])
    mean, variance = (one[open_cells] for one in (cells.rows * cells.score, cells.variance))
    assert np.all(np.abs(ones[:, open_cells].mean(axis=0) - mean) <= 5 * np.sqrt(variance / draws))
    np.testing.assert_allclose(ones[:, open_cells].var(axis=0), variance, rtol=0.2)
    correlation = np.corrcoef(ones[:, open_cells].T)[np.triu_indices(open_cells.size, 1)]
    assert np.abs(correlation).max() <= 5 / np.sqrt(draws)
    found = np.concatenate([block.extremes()[0] for block in blocks])
    dense = calibrated_positives(cells, draws=draws, generator=np.random.default_rng(8))
    expected = np.concatenate([extremes(block - cells.rows * cells.score)[0] for block in dense])
    for level in np.unique(expected.round(6))[::7]:
        share = (expected <= level + 1e-6).mean()
        error = np.sqrt(2 * share * (1 - share) / draws)
        assert abs((found <= level + 1e-6).mean() - share) <= 5 * error + 1e-9


def test_the_information_decides_how_labels_are_drawn() -> None:
    """Many rows that leave little open are drawn exactly, as are few; many that leave much, on sub-cells."""
    rng = np.random.default_rng(4)
    rare = ScoreTable.from_rows(rng.random(200_000) * 1e-3, np.zeros(200_000, np.bool_))
    assert 0 < open_variance(rare).sum() < LEAST_INFORMATION
    blocks, cells = blocks_of(rare, draws=50)
    assert (cells.coarsened, type(blocks[0]).__name__) == (False, "_Surprises")
    events = np.concatenate([block.positives(np.array([0, rare.distinct])) for block in blocks])
    assert events.mean() == pytest.approx(rare.score.sum(), abs=5 * np.sqrt(rare.score.sum() / 50))
    assert blocks_of(table_of(0, 500), draws=5)[0][0].__class__.__name__ == "_Dense"
    assert blocks_of(table_of(0, EXACT_ROWS + 1), draws=5)[1].coarsened


def test_certain_scores_have_no_surprises() -> None:
    """With every score 0 or 1 all labels are certain, and the path stays at 0."""
    table = ScoreTable(np.array([0.0, 1.0]), np.array([30_000, 30_000]), np.array([0, 30_000]))
    for block in blocks_of(table, draws=7)[0]:
        assert np.all(block.residuals(np.array([0, 1, 2])) == 0.0)
        assert np.all(np.array(block.extremes()) == 0.0)


def test_sub_cells_are_narrow_in_log_odds() -> None:
    """However scores pile up, cells that are drawn on have labels of nearly binomial variance."""
    rng = np.random.default_rng(9)
    score = np.concatenate((rng.random(60_000) ** 8, 1.0 - rng.random(60_000) ** 2))
    table = ScoreTable.from_rows(score, rng.random(score.size) < score)
    cells = draw_cells(table, [])
    assert cells.coarsened
    true = segment_sums(table.rows * table.score * (1 - table.score), cells.starts)
    np.testing.assert_allclose(cells.variance, true, rtol=0.002, atol=1e-12)


def test_draws_of_few_cells_are_worked_on_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 20 rows in one block; the draws are the same however they are cut into blocks."""
    table = scored_table(20, seed=3)
    (block,), _ = blocks_of(table, draws=999)
    monkeypatch.setattr(resampling, "_CELLS_AT_ONCE", 0)
    blocks, _ = blocks_of(table, draws=999)
    assert len(blocks) == 16
    whole = np.arange(21)
    cut = np.concatenate([one.residuals(whole) for one in blocks])
    np.testing.assert_array_equal(block.residuals(whole), cut)
    np.testing.assert_array_equal(block.extremes()[0], np.concatenate([one.extremes()[0] for one in blocks]))
