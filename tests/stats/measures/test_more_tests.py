"""Hosmer-Lemeshow and U: statistics, p-values by law and by drawing, and what leaves them undefined."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import chi2

from calibcli.errors import NotConverged
from calibcli.names import Binning, TestName
from calibcli.stats.measures import u_test as u_module
from calibcli.stats.measures.if_calibrated import CalibratedDraws, p_value
from calibcli.stats.measures.tests import bin_information, calibration_tests, hosmer_lemeshow
from calibcli.stats.measures.u_test import drawn_u, likelihood_ratios, line_information, u_test
from calibcli.stats.numerics import chi_squared_tail
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, Bins, binned, equal_width_edges
from calibcli.stats.table.grid import Table
from score_rows import PAIRS, TEN, table_of

BOTH = (TestName.HOSMER_LEMESHOW, TestName.U)


def following(rows: int, *, slope: float = 1.0, seed: int = 0, decimals: int | None = None) -> ScoreTable:
    """Rows whose labels follow a line in the logit."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows) if decimals is None else rng.random(rows).round(decimals).clip(0.1, 0.9)
    return ScoreTable.from_rows(score, rng.random(rows) < expit(slope * logit(score)))


def drawn(table: Table, bins: Bins, *, seed: int = 0, draws: int = 999) -> CalibratedDraws:
    """Labels drawn from the scores."""
    one, two = (np.random.default_rng((seed, purpose)) for purpose in (0, 1))
    with patch("calibcli.stats.measures.if_calibrated.expected_smece", return_value=(0.0, None)):
        return CalibratedDraws(table, partitions=[bins], generator=one, smece_generator=two, draws=draws)


def outcomes(table: Table, *, bins: Bins = TEN, seed: int = 0) -> dict[TestName, object]:
    """Both tests as reports have them."""
    calibrated = drawn(table, bins, seed=seed)
    results, combined = calibration_tests(BOTH, table, bins=bins, calibrated=calibrated, seed=seed)
    assert combined is None
    return {result.name: result for result in results}


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 15, 16, 51, 1000])
def test_chi_squared_tail_is_that_of_scipy(degrees: int) -> None:
    """Whole degrees of freedom: 1e-12 relative, far into the tail."""
    for x in (0.0, 1e-9, 0.1, 1.0, 5.0, 15.0, 60.0, 400.0, 1300.0, math.inf):
        expected = float(chi2.sf(x, degrees))
        assert chi_squared_tail(x, degrees) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@given(rows=PAIRS, count=st.integers(1, 12))
def test_hosmer_lemeshow_is_its_sum(rows: list[tuple[float, int]], count: int) -> None:
    """H and its degrees of freedom by a loop over bins."""
    table, bins = table_of(rows), Bins(Binning.EQUAL_WIDTH, equal_width_edges(count))
    h, degrees = 0.0, 0
    score, label = np.array([s for s, _ in rows]), np.array([y for _, y in rows])
    place = np.maximum(np.searchsorted(bins.edges, score, side="left"), 1)
    for k in range(1, count + 1):
        inside = place == k
        variance = float((score * (1 - score))[inside].sum())
        if variance > 0:
            h += float((label - score)[inside].sum()) ** 2 / variance
            degrees += 1
    result = hosmer_lemeshow(table, bins=bins)
    if degrees == 0:
        assert result.statistic is None
        return
    assert result.statistic == pytest.approx(h, rel=1e-9, abs=1e-12)
    assert result.p_value == pytest.approx(float(chi2.sf(h, degrees)), rel=1e-6, abs=1e-300)
    assert any(f"{degrees} degree" in text for text in result.assumptions)


@given(rows=PAIRS)
def test_turning_the_labels_round_changes_no_test(rows: list[tuple[float, int]]) -> None:
    """U is the same for 1 - f, 1 - y, and so is H at atoms."""
    rows = [(round(s * 4096) / 4096, y) for s, y in rows]
    one, other = table_of(rows), table_of([(1.0 - s, 1 - y) for s, y in rows])
    for mine, theirs in (
        (u_test(one), u_test(other)),
        (hosmer_lemeshow(one, bins=ATOMS), hosmer_lemeshow(other, bins=ATOMS)),
    ):
        assert (mine.statistic is None) == (theirs.statistic is None)
        if mine.statistic is not None:
            assert mine.statistic == pytest.approx(theirs.statistic, rel=1e-6, abs=1e-6)


@given(rows=PAIRS)
def test_u_of_many_sets_is_u_of_each(rows: list[tuple[float, int]]) -> None:
    """The damped steps for many sets of labels end at the likelihood ratio that one fit finds."""
    rows = [(0.02 + 0.96 * round(s, 2), y) for s, y in rows]
    table = table_of(rows)
    single = u_test(table)
    if single.statistic is None:
        assert table.distinct == 1
        return
    positive = np.stack((table.positive, table.rows - table.positive))
    found = likelihood_ratios(logit(table.score), table.rows, positive)
    assert found[0] == pytest.approx(single.statistic, abs=1e-7)
    other = u_test(ScoreTable(table.score, table.rows, table.rows - table.positive_rows))
    assert found[1] == pytest.approx(other.statistic, abs=1e-7)


def test_calibrated_rows_are_not_rejected_and_others_are() -> None:
    """Slope 1 passes, slope .5 is refuted by both, by law and by drawing."""
    for rows in (400, 4000):
        honest, bent = outcomes(following(rows)), outcomes(following(rows, slope=0.5))
        for name in BOTH:
            assert honest[name].p_value > 0.05
            assert bent[name].p_value < 0.01


@pytest.mark.parametrize(
    ("rows", "decimals", "by_drawing"), [(499, None, True), (40_000, None, False), (2000, 1, True)]
)
def test_monte_carlo_replaces_the_law_where_it_is_poor(
    rows: int,
    decimals: int | None,
    by_drawing: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Where the scores leave little open p-values are drawn, near those of the law."""
    table = following(rows, decimals=decimals, seed=3)
    first, again, other = outcomes(table), outcomes(table), outcomes(table, seed=1)
    for result in first.values():
        assert result.p_method == ("monte-carlo" if by_drawing else "asymptotic")
        assert abs(result.p_value - result.p_asymptotic) < (0.06 if by_drawing else 1e-15)
    for name, result in first.items():
        assert result == again[name]
        assert (result.p_value != other[name].p_value) == by_drawing


def test_thin_bins_are_drawn_at_any_number_of_rows() -> None:
    """Rare events leave the bins above .2 little variance: H is drawn, on sub-cells of 30,000 rows."""
    rng = np.random.default_rng(6)
    score = np.concatenate((rng.random(30_000) * 0.1, [0.35, 0.62]))
    table = ScoreTable.from_rows(score, rng.random(score.size) < score)
    assert bin_information(binned(table, TEN)) < 1.0
    result = outcomes(table)[TestName.HOSMER_LEMESHOW]
    assert result.p_method == "monte-carlo, coarsened"
    assert outcomes(following(40_000))[TestName.HOSMER_LEMESHOW].p_method == "asymptotic"
    # A million-to-one row: the law calls it impossible, the draws know how often it comes.
    odd = table_of([(0.5, k % 2) for k in range(600)] + [(0.95, 1)] * 5 + [(0.999, 0)])
    found = outcomes(odd, bins=ATOMS)[TestName.HOSMER_LEMESHOW]
    assert found.p_asymptotic < 1e-100
    assert found.p_value == pytest.approx(0.001, abs=0.005)


def test_p_values_of_calibrated_labels_are_uniform() -> None:
    """With 40 rows, drawn p-values of calibrated labels fall below .2 a fifth of the time, not more."""
    rng = np.random.default_rng(7)
    score = rng.random(40)
    below = dict.fromkeys(BOTH, 0)
    for seed in range(100):
        table = ScoreTable.from_rows(score, rng.random(40) < score)
        h = hosmer_lemeshow(table, bins=TEN).statistic
        calibrated = drawn(table, TEN, seed=seed, draws=99)
        u = drawn_u(table, generator=np.random.default_rng(seed), draws=99)
        ps = (p_value(calibrated.drawn.over(TEN).h, h), u.p_value(table.positive))
        for name, p in zip(BOTH, ps, strict=True):
            below[name] += p <= 0.2
    assert all(6 <= count <= 36 for count in below.values())


def test_scores_next_to_nothing_leave_u_no_information_and_no_warning() -> None:
    """Where what labels leave open is no number once it is squared, U is drawn."""
    table = ScoreTable.from_rows(np.array([1e-300, 5e-324, 1.0 - 2.0**-53]), np.array([False, False, True]))
    assert line_information(table) == 0.0
    nearer = ScoreTable.from_rows(np.array([1e-200, 3e-200]), np.array([False, False]))
    assert line_information(nearer) == 0.0


def test_one_score_leaves_u_undefined() -> None:
    """It has no slope; Hosmer and Lemeshow's sum has its cell."""
    halves = outcomes(table_of([(0.5, k % 2) for k in range(30)]))
    assert halves[TestName.U].statistic is None
    assert halves[TestName.HOSMER_LEMESHOW].statistic == pytest.approx(0.0)


def test_certain_and_wrong_refutes() -> None:
    """A row that was certain and wrong makes both p-values 0."""
    table = table_of([(0.0, 1), (0.3, 0), (0.6, 1), (0.7, 0)])
    for result in outcomes(table).values():
        assert (result.p_value, result.p_method) == (0.0, "contradiction")
    assert any("limited" in text for text in u_test(table).assumptions)


def test_one_label_and_parted_labels_have_a_u() -> None:
    """Where the likelihood has its bound at infinity, U is the distance to that bound."""
    rows = [(0.2, 0), (0.4, 0), (0.7, 1)]
    expected = -2 * (math.log(0.8) + math.log(0.6) + math.log(0.7))
    assert u_test(table_of(rows)).statistic == pytest.approx(expected, rel=1e-12)
    zeros = [(0.2, 0), (0.4, 0)]
    assert u_test(table_of(zeros)).statistic == pytest.approx(-2 * math.log(0.48), rel=1e-12)


def test_u_without_a_fit_is_undefined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Newton steps reach no optimum, U is undefined and says why."""

    def fails(*_: object) -> None:
        msg = "the log loss has no minimum"
        raise NotConverged(msg)

    monkeypatch.setattr(u_module.cox, "fitted_line", fails)
    assert u_test(following(50)).assumptions == ("undefined: the log loss has no minimum",)
