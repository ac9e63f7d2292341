"""Conventions of other tools, told apart where they differ from each other and from ours."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.names import Binning, CompatTool
from calibcli.stats.measures import compat
from calibcli.stats.measures.binned import binned_ece
from calibcli.stats.measures.scores import brier
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import bins_of, equal_mass_edges

ROWS = st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=2, max_size=60)


def table_of(rows: list[tuple[int, bool]], *, among: int = 30) -> ScoreTable:
    """Return rows with scores that are multiples of 1/among."""
    score = np.array([k for k, _ in rows]) / among
    return ScoreTable.from_rows(score, np.array([label for _, label in rows]))


def number(tool: CompatTool, name: str, table: ScoreTable) -> float:
    """Return one number of a tool, which it must give."""
    (value,) = [one.value for one in compat.peer_numbers(tool, table).numbers if one.name == name]
    assert value is not None
    return value


@given(rows=ROWS)
def test_closing_rules_agree_where_no_score_is_on_an_edge(rows: list[tuple[int, bool]]) -> None:
    """Away from edges every tool with 15 equal-width bins gives our ECE."""
    table = table_of([(2 * k + 1, label) for k, label in rows], among=61 * 7)
    ours = binned_ece(table, bins=bins_of(Binning.EQUAL_WIDTH, 15, table=table)).value
    assert number(CompatTool.TORCHMETRICS, "binary_calibration_error norm=l1", table) == pytest.approx(ours)
    assert number(CompatTool.UNCERTAINTY_CALIBRATION, "get_ece", table) == pytest.approx(ours)


def test_mapie_depends_on_the_order_of_tied_rows() -> None:
    """Jitter orders ties by where they stand; the statistic follows."""
    label = np.arange(40) % 2 == 0
    score = np.full(40, 0.5)
    table = ScoreTable.from_rows(score, label)
    found = {
        compat.peer_numbers(CompatTool.MAPIE, table, rows=compat.OrderedRows(score, order)).numbers[1].value
        for order in (label, np.sort(label), np.sort(label)[::-1])
    }
    assert len(found) == 3


def test_rows_of_a_table_are_its_rows() -> None:
    """By score, those with label 0 first, each as often as it is there."""
    table = ScoreTable.from_rows(np.array([0.5, 0.2, 0.5, 0.5]), np.array([True, True, False, True]))
    rows = compat.OrderedRows.of_table(table)
    assert rows.score.tolist() == [0.2, 0.5, 0.5, 0.5]
    assert rows.label.tolist() == [True, False, True, True]
    assert ScoreTable.from_rows(rows.score, rows.label) == table


@given(rows=ROWS)
def test_equal_mass_cuts_are_ours_but_for_what_ties_do(rows: list[tuple[int, bool]]) -> None:
    """Theirs fall midway between rows at the same ranks; ours move on past a tie to the next score."""
    table = table_of(rows)
    theirs = compat.equal_mass_ends(table)[:-1]
    if table.distinct == table.total_rows and table.total_rows >= 15:
        assert theirs == pytest.approx(equal_mass_edges(table, 15)[1:-1], rel=1e-15)
    assert (np.diff(theirs) > 0).all()
    assert theirs.size <= 14


def test_scikit_learn_weighs_rows() -> None:
    """Importance weights go into the mean, as sample_weight does."""
    score, label = np.array([0.2, 0.7, 0.7]), np.array([False, True, False])
    table = ScoreTable.from_rows(score, label, Weighing(weight=np.array([1.0, 2.5, 0.5])))
    assert number(CompatTool.SKLEARN, "brier_score_loss", table) == pytest.approx(brier(table).value)


def test_certain_and_wrong_rows_have_a_price_in_scikit_learn() -> None:
    """The price is that of a probability of 2^-52, and the reason says how many paid it."""
    table = ScoreTable.from_rows(np.array([0.0, 1.0, 0.5]), np.array([True, False, True]))
    (loss,) = [
        one for one in compat.peer_numbers(CompatTool.SKLEARN, table).numbers if one.name == "log_loss"
    ]
    assert loss.value == pytest.approx((2.0 * 52.0 * math.log(2.0) + math.log(2.0)) / 3.0)
    assert "36.04 for each of 2 rows" in loss.why


def test_bins_are_closed_on_the_side_that_their_name_says() -> None:
    """On an edge the two rules part; below the first edge neither has a bin."""
    cuts, score = np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.25, 0.5, 1.0])
    assert compat.left_closed(cuts, score).tolist() == [0, 0, 1, 2]
    assert compat.right_closed(cuts, score).tolist() == [-1, 0, 0, 1]


def test_statistics_too_far_out_for_a_series_have_no_p_value_of_mapie() -> None:
    """Its series take as many terms as the statistic is large, which ends it for want of memory."""
    table = ScoreTable.from_rows(np.array([1e-250, 1e-200, 1e-190]), np.array([False, True, False]))
    numbers = {one.name: one for one in compat.peer_numbers(CompatTool.MAPIE, table).numbers}
    for name in ("kolmogorov_smirnov", "kuiper"):
        assert numbers[f"{name}_statistic"].value is not None
        assert numbers[f"{name}_statistic"].value > 1e90
        assert numbers[f"{name}_p_value"].value is None
        assert "fit in memory" in numbers[f"{name}_p_value"].why


def test_numbers_that_a_tool_does_not_give_have_a_reason() -> None:
    """Labels all the same are an error of scikit-learn, and two bins leave no degree of freedom."""
    table = ScoreTable.from_rows(np.array([0.2, 0.7]), np.array([True, True]))
    for tool, name in (
        (CompatTool.SKLEARN, "log_loss"),
        (CompatTool.SKLEARN, "d2_log_loss_score"),
        (CompatTool.CALZONE, "HL-H p-value"),
    ):
        (found,) = [one for one in compat.peer_numbers(tool, table).numbers if one.name == name]
        assert found.value is None
        assert "none: " in found.why
