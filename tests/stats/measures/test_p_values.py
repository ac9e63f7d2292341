"""P-values where little is open: against every labelling, against exact laws, and by what decides."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from calibcli.names import DEFAULT_TESTS, Binning, TestName
from calibcli.show.words import p_words
from calibcli.stats.bounds.resampling import LEAST_INFORMATION
from calibcli.stats.measures import TestResult
from calibcli.stats.measures.if_calibrated import CalibratedDraws, p_value
from calibcli.stats.measures.tests import (
    bin_information,
    calibration_tests,
    path_information,
    z_information,
    z_p_value,
)
from calibcli.stats.measures.u_test import drawn_u, line_information
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import Bins, binned, equal_width_edges
from calibcli.stats.table.grid import Table, grid_of
from score_rows import scored_table

TEN = Bins(Binning.EQUAL_WIDTH, equal_width_edges(10))
# Those of the rate alone are exact, and have nothing to be drawn.
EXACT = (TestName.BINOMIAL, TestName.BINOMIAL_TWO_SIDED, TestName.JEFFREYS, TestName.JEFFREYS_TWO_SIDED)
DRAWN = tuple(name for name in TestName if name not in EXACT)
WITHOUT_U = tuple(name for name in DRAWN if name is not TestName.U)
NO_CHANCE = 1e-3


@pytest.fixture(autouse=True)
def _no_smece(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference of smECE, which takes longest, is no test's."""
    monkeypatch.setattr("calibcli.stats.measures.if_calibrated.expected_smece", lambda *_, **__: (0.0, None))


def outcomes(
    table: Table, names: tuple[TestName, ...] = DRAWN, *, level: float = 0.05
) -> dict[TestName, TestResult]:
    """Every test, as reports have it."""
    one, two = (np.random.default_rng(seed) for seed in (0, 1))
    calibrated = CalibratedDraws(table, partitions=[TEN], generator=one, smece_generator=two)
    results, _ = calibration_tests(names, table, bins=TEN, calibrated=calibrated, level=level)
    return {result.name: result for result in results}


def statistics(table: ScoreTable) -> dict[TestName, float]:
    """What p-values are about; none of them is drawn."""
    one, two = (np.random.default_rng(seed) for seed in (0, 1))
    calibrated = CalibratedDraws(table, partitions=[TEN], generator=one, smece_generator=two, draws=1)
    results, _ = calibration_tests(WITHOUT_U, table, bins=TEN, calibrated=calibrated)
    return {result.name: _extreme(result) for result in results}


def _extreme(result: TestResult) -> float:
    """Of Z both sides count, of T alone among the others a number below 0 is possible."""
    return result.statistic if result.name is TestName.T else abs(result.statistic)


@pytest.mark.parametrize("certain", [0, 300])
def test_p_values_are_those_of_every_labelling(certain: int) -> None:
    """Seven open rows: the exact p-value sums 128 labellings; draws come near, dense or by surprises."""
    open_rows = np.array([0.02, 0.07, 0.3, 0.31, 0.31, 0.8, 0.97])
    score = np.concatenate((open_rows, np.linspace(1e-12, 2e-12, certain)))
    none = np.zeros(certain)
    every = []
    for labels in product((0, 1), repeat=open_rows.size):
        chance = float(np.prod(np.where(labels, open_rows, 1 - open_rows)))
        table = ScoreTable.from_rows(score, np.concatenate((labels, none)) > 0)
        every.append((chance, statistics(table)))
    for labels in ((0, 0, 0, 0, 0, 1, 1), (1, 0, 0, 1, 1, 1, 1), (0, 0, 1, 1, 0, 0, 1)):
        table = ScoreTable.from_rows(score, np.concatenate((labels, none)) > 0)
        for name, result in outcomes(table, WITHOUT_U).items():
            least = _extreme(result) - 1e-9 * abs(result.statistic)
            exact = sum(p for p, one in every if one[name] >= least)
            assert result.p_method == "monte-carlo"
            assert abs(result.p_value - exact) <= 5 * np.sqrt(exact * (1 - exact) / 999) + NO_CHANCE, name


@pytest.mark.parametrize("events", [0, 1, 2, 4])
@pytest.mark.parametrize(("rows", "rate"), [(1000, 9e-5), (200_000, 2e-6), (5000, 3.3e-4)])
def test_rare_scores_have_binomial_p_values(rows: int, rate: float, events: int) -> None:
    """Scores nearly all alike: Z sees the number of events, whose law is binomial, for any number of rows."""
    score = rate * (1.0 + 1e-10 * np.linspace(-1.0, 1.0, rows))
    table = ScoreTable.from_rows(score, np.arange(rows) < events)
    assert table.distinct == rows
    result = outcomes(table, (TestName.SPIEGELHALTER,))[TestName.SPIEGELHALTER]
    away = abs(events - rows * rate) * (1 - 1e-4)
    exact = binom.sf(np.ceil(rows * rate + away) - 1, rows, rate) + binom.cdf(
        np.floor(rows * rate - away), rows, rate
    )
    assert result.p_method == "monte-carlo"
    assert abs(result.p_value - exact) <= 5 * np.sqrt(exact * (1 - exact) / 999) + NO_CHANCE


def test_no_test_takes_a_limit_law_for_little_information() -> None:
    """A saturated net of 12,000 rows that leaves .4 of an event open: one surprise proves nothing."""
    rng = np.random.default_rng(3)
    score = np.concatenate((1e-9 * rng.random(6_000), 1 - 1e-9 * rng.random(6_000), [0.2, 0.7, 0.95]))
    label = np.concatenate((np.zeros(6_000), np.ones(6_000), [1, 1, 1])) > 0
    exact = ScoreTable.from_rows(score, label)
    for table, names in ((exact, DRAWN), (grid_of(exact), WITHOUT_U)):
        for name, result in outcomes(table, names).items():
            assert result.p_method == "monte-carlo", name
            assert result.p_value > 0.05, name


def test_each_test_has_its_own_information() -> None:
    """All rows alike: as much as is open. Few values, thin bins and far-off scores leave less to some."""
    rows = 10_000
    alike = ScoreTable.from_rows(0.21 + 1e-4 * np.linspace(0.0, 1.0, rows), np.zeros(rows, np.bool_))
    whole = rows * 0.21 * 0.79
    for found in (path_information(alike), z_information(alike), bin_information(binned(alike, TEN))):
        assert found == pytest.approx(whole, rel=0.01)
    assert whole / 3 < line_information(alike) < whole / 2
    assert path_information(ScoreTable(np.array([0.2, 0.8]), np.array([rows, rows]), np.array([0, 0]))) == 2
    half = ScoreTable(np.array([0.5, 0.9]), np.array([rows, 10]), np.array([0, 0]))
    assert z_information(half) == pytest.approx(0.9)
    thin = ScoreTable(np.array([0.05, 0.95]), np.array([rows, 1]), np.array([0, 0]))
    assert bin_information(binned(thin, TEN)) == pytest.approx(2 * 0.0475, rel=1e-3)
    far = ScoreTable.from_rows(np.append(alike.score, [1e-9]), np.zeros(rows + 1, np.bool_))
    assert line_information(far) < line_information(alike)
    nothing = ScoreTable(np.array([0.0, 1.0]), np.array([5, 5]), np.array([0, 5]))
    for found in (path_information(nothing), z_information(nothing), line_information(nothing)):
        assert found == 0.0
    assert bin_information(binned(nothing, TEN)) == 0.0


def test_limit_laws_are_taken_where_much_is_open() -> None:
    """40,000 rows that spread over [0, 1]: all but T by their laws, which have no least p-value."""
    table = scored_table(40_000, lambda score: score**1.5)
    for name, result in outcomes(table).items():
        if name is not TestName.T:
            assert result.p_method == "asymptotic"
            assert result.p_value < 1e-6


def test_a_few_rows_away_from_one_half_are_drawn_for_z() -> None:
    """Much is open at 1/2, where Z looks away: it is drawn on cells that keep the few other rows apart."""
    rng = np.random.default_rng(2)
    score = np.concatenate((0.5 + 1e-4 * rng.random(30_000), [0.9, 0.91, 0.92]))
    for wrong in (0, 1, 3):
        label = np.concatenate((rng.random(30_000) < 0.5, np.arange(3) >= wrong))
        table = ScoreTable.from_rows(score, label)
        results = outcomes(table, DEFAULT_TESTS)
        assert results[TestName.KS].p_method == "asymptotic"
        result = results[TestName.SPIEGELHALTER]
        assert result.p_method == "monte-carlo, coarsened"
        # Nearly the number of wrong rows: three with .0007, more than one with .02, any with .25.
        low, high = {0: (0.2, 1.0), 1: (0.02, 0.3), 3: (0.0, 0.006)}[wrong]
        assert low <= result.p_value <= high
        again = z_p_value(table, generator=np.random.default_rng(7), draws=999)[0]
        assert abs(result.p_value - again) < 0.07


def test_u_is_drawn_on_cells_where_scores_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gathered in cells or not, draws of U give the same p-value but for chance."""
    rng = np.random.default_rng(12)
    score = np.concatenate((rng.random(300), 1e-6 * rng.random(1000)))
    table = ScoreTable.from_rows(score, rng.random(score.size) < score)
    gathered = drawn_u(table, generator=np.random.default_rng(0), draws=999)
    assert gathered.z.size < table.distinct
    monkeypatch.setattr("calibcli.stats.measures.u_test._FEW_SCORES", table.distinct)
    by_each = drawn_u(table, generator=np.random.default_rng(1), draws=499)
    assert by_each.z.size == table.distinct
    assert gathered.p_value(table.positive) == pytest.approx(by_each.p_value(table.positive), abs=0.12)
    assert line_information(table) < LEAST_INFORMATION


def test_certain_scores_leave_nothing_to_test_but_a_contradiction() -> None:
    """Every score 0 or 1: no test where labels follow, and p = 0 for every test where one does not."""
    for wrong, p, method in ((0, None, "undefined"), (1, 0.0, "contradiction")):
        results = outcomes(ScoreTable(np.array([0.0, 1.0]), np.array([9, 9]), np.array([wrong, 9]))).values()
        assert {(result.p_value, result.p_method) for result in results} == {(p, method)}
        if not wrong:
            assert {result.statistic for result in results} == {None}
            assert all(result.assumptions[0].startswith("undefined") for result in results)


@pytest.mark.parametrize("seed", range(8))
def test_equal_labels_have_equal_u_among_a_million_certain_rows(seed: int) -> None:
    """One open row among a million as good as certain: rounding tells draws of the same labels not apart."""
    rng = np.random.default_rng(seed)
    nearly, open_score = 1e-9 / np.array([3.0, 2.0, 1.0]), 0.05 + 0.1 * rng.random()
    rows = rng.multinomial(999_999, np.full(6, 1 / 6))
    table = ScoreTable(
        np.concatenate((nearly, [open_score], 1.0 - nearly[::-1])),
        np.insert(rows, 3, 1),
        np.concatenate(([0, 0, 0, 1], rows[3:])),
    )
    p = drawn_u(table, generator=rng, draws=199).p_value(table.positive)
    assert abs(p - open_score) <= 5 * np.sqrt(open_score / 199)
    assert p >= 0.015


def test_draws_of_a_tiny_statistic_are_told_apart() -> None:
    """What counts as equal is relative: T of ten million rows is of the order of 1e-14."""
    drawn = np.array([1.0, 2.0, 3.0]) * 1e-14
    assert p_value(drawn, 2.5e-14) == 0.5
    assert p_value(drawn, 2e-14 * (1 + 1e-13)) == 0.75
    assert p_value(np.zeros(3), 0.0) == 1.0
    assert p_value(np.array([1.0, 2.0, np.inf]), 3.0) == 0.5
    assert p_value(np.array([1.0, 2.0, 3.0]), np.inf) == 0.25


def test_more_labels_are_drawn_where_none_was_as_far_off_and_that_settles_nothing() -> None:
    """A group of many: 0.001 times their number is above any level, however far off it is."""
    off = ScoreTable.from_rows(np.linspace(0.3, 0.9, 60), np.zeros(60) > 0)
    few, more = outcomes(off), outcomes(off, level=0.05 / 60)
    assert {few[name].p_value for name in DRAWN} == {1e-3}
    assert {more[name].p_value for name in DRAWN} == {1e-4}
    assert all(more[name].p_method.endswith(", 9,999 draws") for name in DRAWN)
    # Nine of 9,999 draws are no least p-value.
    assert p_words(1e-3, more[TestName.KS].p_method) == "0.001"
    assert p_words(1e-4, more[TestName.KS].p_method) == "at most 0.0001"
    calibrated = ScoreTable.from_rows(np.linspace(0.3, 0.9, 60), np.arange(60) % 5 > 1)
    assert outcomes(calibrated) == outcomes(calibrated, level=0.05 / 60)


@pytest.mark.slow
@pytest.mark.parametrize("level", [1e-3, 5e-4])
def test_p_values_of_more_draws_are_valid(level: float) -> None:
    times, score = 20_000, np.array([0.02] * 4 + [0.3] * 4 + [0.6] * 4)
    random = np.random.default_rng(5)
    names = (TestName.KS, TestName.HOSMER_LEMESHOW)
    rejected = dict.fromkeys(names, 0)
    for place in range(times):
        table = ScoreTable.from_rows(score, random.random(score.size) < score)
        calibrated = CalibratedDraws.of(table, TEN, seed=place)
        results, _ = calibration_tests(names, table, bins=TEN, calibrated=calibrated, level=level, seed=place)
        for one in results:
            rejected[one.name] += one.p_value is not None and one.p_value <= level
    assert all(binom.sf(count - 1, times, level) > NO_CHANCE for count in rejected.values())
