"""Temperature scaling where it is delicate."""

import numpy as np
import pytest

from calibcli.codec import Node
from calibcli.errors import DocumentProblem, InputProblem, NotConverged
from calibcli.names import FitLoss, RecalibratorName
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.recalibrators.logistic import Record, RowGradient, solved
from calibcli.stats.recalibrators.newton import Aim, Family, Labelled, line
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.grid import grid_of
from held_rows import HeldRows

R = RecalibratorName
SLOPED = [R.PLATT, R.BETA, R.QUADRATIC, R.SPLINE]
NARROW = ScoreTable.from_rows(
    0.3 + 2e-5 * np.random.default_rng(0).random(4_000), np.random.default_rng(1).random(4_000) < 0.5
)
ONE_CELL = ScoreTable.from_rows(
    0.5000001 + 1e-8 * (np.arange(400) % 7), np.random.default_rng(2).random(400) < 0.5
)


def rows_of(table: ScoreTable) -> HeldRows:
    """Return the rows of a table."""
    label = np.concatenate([np.arange(n) < p for n, p in zip(table.rows, table.positive_rows, strict=True)])
    return HeldRows(np.repeat(table.score, table.rows), label)


@pytest.mark.parametrize("name", SLOPED)
def test_rows_of_one_cell_give_the_fit_of_the_exact_table(name: R) -> None:
    """Seven scores in one cell are seven scores, once its rows are seen."""
    grid = grid_of(ONE_CELL)
    assert grid.distinct == 1
    assert fit_recalibrator(name, grid, rows=rows_of(ONE_CELL)) == fit_recalibrator(name, ONE_CELL)


def test_passes_that_do_not_mend_a_fit_to_few_cells_end_in_an_exact_one() -> None:
    """Scores 2e-5 apart: the parabola of the exact table, which 5 passes over the rows do not reach."""
    rows = rows_of(NARROW)
    exact = fit_recalibrator(R.QUADRATIC, NARROW)
    assert fit_recalibrator(R.QUADRATIC, grid_of(NARROW), rows=rows) == exact
    assert rows.reread == NARROW.total_rows


def test_what_the_rows_say_is_what_is_said() -> None:
    """Two scores in one cell are too few for a parabola; without rows the cell is one score."""
    two = ScoreTable.from_rows(np.array([0.5000001, 0.5000002] * 2), np.array([0, 1, 1, 0], bool))
    with pytest.raises(NotConverged, match="three distinct scores, and there are 2"):
        fit_recalibrator(R.QUADRATIC, grid_of(two), rows=rows_of(two))
    for name in SLOPED:
        with pytest.raises(NotConverged, match=r"distinct scores.*rounded to fit in memory"):
            fit_recalibrator(name, grid_of(ONE_CELL))


def test_more_than_a_million_rows_are_not_held_at_once() -> None:
    """Then the cells have the last word."""
    many = ScoreTable(ONE_CELL.score, ONE_CELL.rows * 2_501, ONE_CELL.positive_rows * 2_501)
    rows = HeldRows(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(NotConverged, match="3 distinct scores, and there is 1"):
        fit_recalibrator(R.BETA, grid_of(many), rows=rows)
    assert rows.passes == 0


def test_gradient_of_as_many_rows_as_are_allowed_is_exact() -> None:
    """2^36 rows in frequencies give the gradient of one of each, and more are refused in one line."""
    rng = np.random.default_rng(3)
    score, label = rng.random(1_024), rng.random(1_024) < 0.1
    aim = Aim(FitLoss.LOG, 0.0, 1.0, smoothed=False, separated=False)
    work = RowGradient(Family(R.PLATT, line), aim, np.array([9.0, 0.0]), np.array([1.0, 37.0]))
    often = np.full(1_024, 2**26)
    expected = work.gradient(work(score, label, None), 1_024)
    assert work.gradient(work(score, label, often), 2**36).tolist() == expected.tolist()
    table = ScoreTable.from_rows(score, label)
    points, family = Labelled.of(table), Family(R.PLATT, line)
    found = solved(family, points, aim=aim)
    nothing = HeldRows(np.zeros(0), np.zeros(0, bool))
    with pytest.raises(
        InputProblem, match=r"68,719,476,737 rows are more than the 68,719,476,736"
    ) as problem:
        found._refined(nothing, 2**36 + 1)
    assert nothing.passes == 0
    assert "--exact" in str(problem.value.hint)


@pytest.mark.parametrize(("key", "value"), [("steps", 10**15), ("gradient", 1e300), ("gradient", 1.5)])
def test_records_that_no_fit_writes_are_refused(key: str, value: float) -> None:
    """More steps than are ever taken, or a gradient that no optimum has."""
    good = Record(FitLoss.LOG, smoothed=False, separated=False, limited_rows=0, steps=105, gradient=1e-9)
    assert Record.from_dict(Node(good.to_dict())) == good
    with pytest.raises(DocumentProblem, match=key):
        Record.from_dict(Node({**good.to_dict(), key: value}))
