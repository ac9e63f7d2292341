"""Tables of parts of the rows, exact or on a coarse grid."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import InputProblem
from calibcli.names import Binning
from calibcli.stats.table.bins import binned, bins_of
from calibcli.stats.table.grid import Table, grid_of
from calibcli.stats.table.score_table import ScoreTable
from calibcli.stats.table.sliced import RunningSlices


@given(st.data())
def test_running_slices_are_tables_of_their_rows(data: Any) -> None:
    """In any cut into parts and batches, exact and grid, a slice is the table of its rows."""
    rows = data.draw(st.integers(1, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    score = np.round(rng.random(rows), data.draw(st.sampled_from([1, 12])))
    label, code = rng.random(rows) < score, rng.integers(0, 3, rows)
    limit = data.draw(st.sampled_from([None, 7, 1000]))
    names = [("a",), ("b",), ("c",)]
    whole, part = RunningSlices(limit), RunningSlices(limit)
    for chosen in np.array_split(np.arange(rows), data.draw(st.integers(1, 5))):
        turned = data.draw(st.permutations(range(3)))
        local = np.argsort(turned)[code[chosen]]
        part.add_rows(score[chosen], label[chosen], names=[names[k] for k in turned], code=local)
        if data.draw(st.booleans()):
            whole.add(part)
            part = RunningSlices(limit)
    whole.add(part)
    expected = {
        names[k]: ScoreTable.from_rows(score[code == k], label[code == k])
        for k in range(3)
        if (code == k).any()
    }
    together = sum(table.distinct for table in expected.values())
    found, once = whole.tables(), RunningSlices(limit)
    once.add_rows(score, label, names=names, code=code)
    assert found == once.tables()
    assert list(found) == list(expected)
    if limit is None or together <= limit:
        assert found == expected
    else:
        assert all(coarse_as(found[key], table) for key, table in expected.items())


def coarse_as(grid: Table, table: ScoreTable) -> bool:
    """Whether a coarse grid keeps counts and sums of scores over bins, and every score to a cell."""
    assert grid.resolution == 1 / 5040
    for count in (1, 7, 15, 20, 5040):
        bins = bins_of(Binning.EQUAL_WIDTH, count, table=table)
        one, two = binned(grid, bins), binned(table, bins)
        assert np.array_equal(one.rows, two.rows)
        assert np.array_equal(one.positive, two.positive)
        assert one.score_sum == pytest.approx(two.score_sum, abs=1e-12)
    nearest = grid.score[np.abs(grid.score[:, None] - table.score).argmin(axis=0)]
    return bool(np.abs(nearest - table.score).max() <= grid.resolution)


def test_scores_at_the_ends_stay_apart_on_a_coarse_grid() -> None:
    """Within the first and the last cell scores are kept to the fine cells, for the log loss."""
    score = np.concatenate([[0.0, 1.0], np.geomspace(1e-9, 1.9e-4, 50), 1 - np.geomspace(1e-9, 1.9e-4, 50)])
    label = np.arange(score.size) % 2 == 0
    slices = RunningSlices(10)
    slices.add_rows(score, label, names=[("a",)], code=np.zeros(score.size, np.int64))
    grid = slices.tables()["a",]
    assert grid.kind == "grid"
    exact = ScoreTable.from_rows(score, label)
    assert grid.score == pytest.approx(grid_of(exact).score, abs=1e-15)


def test_more_rows_in_a_cell_than_sums_can_hold_are_refused() -> None:
    """Ten million rows within a cell of a group's grid are refused before a sum could wrap round."""
    score = np.arange(1, 31) / 31
    counts = np.full(30, 10_000_001)
    slices = RunningSlices(10)
    slices.add_rows(score, score > 0.5, names=[("a",)], code=np.zeros(30, np.int64), counts=counts)
    with pytest.raises(InputProblem, match="rows of a group have nearly the same score"):
        slices.tables()


def test_weights_past_the_limit_are_refused() -> None:
    """Sums of importance weights are no whole numbers, and need exact tables."""
    slices = RunningSlices(10)
    ones = np.ones(50)
    slices.add_rows(np.arange(50) / 50, ones > 0, names=[("a",)], code=np.zeros(50, np.int64), weight=ones)
    with pytest.raises(InputProblem, match="the groups have over 10 distinct scores"):
        slices.tables()
