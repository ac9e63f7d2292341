"""Cumulative differences, against sums by loops and the tests that read them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.errors import EmptyTable
from calibcli.stats.curves.cumulative import cumulative_curve
from calibcli.stats.measures.bias import bias
from calibcli.stats.measures.tests import ks_and_kuiper
from calibcli.stats.table.grid import grid_of
from calibcli.stats.table.score_table import ScoreTable

some_rows = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.floats(0.0, 1.0)),
        st.booleans(),
        st.floats(0.1, 5.0),
    ),
    min_size=1,
    max_size=40,
)


def simulated(rows: int) -> ScoreTable:
    """Return scores that are too high."""
    rng = np.random.default_rng(2)
    score = rng.beta(0.8, 1.6, rows)
    return ScoreTable.from_rows(score, rng.random(rows) < score**1.3)


@given(rows=some_rows, weighted=st.booleans())
def test_path_is_that_of_loops_over_rows(rows: list[tuple[float, bool, float]], *, weighted: bool) -> None:
    """Sums of weight times label - score at the ends of ties, and the standard deviation of the last."""
    if not weighted:
        rows = [(score, label, 1.0) for score, label, _ in rows]
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    table = ScoreTable.from_rows(columns[0], columns[1], weight=columns[2] if weighted else None)
    total = sum(weight for _, _, weight in rows)
    share, value = [0.0], [0.0]
    for score in sorted({score for score, _, _ in rows}):
        upto = [row for row in rows if row[0] <= score]
        share.append(sum(weight for _, _, weight in upto) / total)
        value.append(sum(weight * (label - score) for score, label, weight in upto) / total)
    curve = cumulative_curve(table)
    assert curve.share == pytest.approx(share, abs=1e-12)
    assert curve.value == pytest.approx(value, abs=1e-12)
    variance = sum(weight**2 * score * (1.0 - score) for score, _, weight in rows)
    assert curve.deviation == pytest.approx(math.sqrt(variance) / total)


@pytest.mark.parametrize("rows", [40, 3_000, 60_000])
def test_statistics_are_lengths_in_the_picture(rows: int) -> None:
    """KS is the distance of the farthest point, Kuiper the range, both in standard deviations of the end."""
    table = simulated(rows)
    curve = cumulative_curve(table)
    ks, kuiper = ks_and_kuiper(table)
    low, high = curve.range
    assert abs(curve.value[curve.farthest]) / curve.deviation == pytest.approx(ks.statistic, rel=1e-12)
    assert (high - low) / curve.deviation == pytest.approx(kuiper.statistic, rel=1e-12)
    assert curve.value[-1] == pytest.approx(bias(table).value, abs=1e-15)
    assert curve.share.size < 4_200


def test_grid_table_ends_where_its_rows_do() -> None:
    """Residual sums of cells are exact, so the path passes through the same points."""
    table = simulated(5_000)
    exact, grid = cumulative_curve(table), cumulative_curve(grid_of(table))
    assert grid.value[-1] == pytest.approx(exact.value[-1], abs=1e-12)
    assert np.interp(grid.share, exact.share, exact.value) == pytest.approx(grid.value, abs=2e-3)


def test_no_rows_have_no_path() -> None:
    """A refusal, not an empty picture."""
    with pytest.raises(EmptyTable):
        cumulative_curve(ScoreTable.empty())
