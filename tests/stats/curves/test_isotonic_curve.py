"""The isotonic fit that is drawn, and where fits lie if calibrated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from calibcli.errors import EmptyTable
from calibcli.names import Band, MeasureName
from calibcli.stats.bounds.resampling import ends_of_draws
from calibcli.stats.curves.isotonic import TOO_FEW_DRAWS, IsotonicCurve, enough_draws, isotonic_curve
from calibcli.stats.measures.decompositions import corp_part
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.grid import Table, grid_of
from score_rows import scored_table, table_of

some_rows = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.floats(0.0, 1.0)), st.booleans()),
    min_size=1,
    max_size=25,
)


def curve_of(table: Table, *, draws: int = 40) -> IsotonicCurve:
    """Return the curve, with a fixed seed."""
    return isotonic_curve(table, generator=np.random.default_rng(0), draws=draws)


def simulated(rows: int, *, seed: int = 1) -> ScoreTable:
    """Return scores that are too high."""
    return scored_table(rows, lambda score: score**1.3, seed=seed, beta=(0.8, 1.6))


@given(rows=some_rows)
def test_levels_are_those_of_the_max_min_formula(rows: list[tuple[float, bool]]) -> None:
    """The fit at a score: max over starts up to it of min over ends from it of the mean between, by loops."""
    table = table_of(rows)
    weight, ones = table.weight.tolist(), table.positive.tolist()
    size = len(weight)
    wanted = [
        max(
            min(sum(ones[a : b + 1]) / sum(weight[a : b + 1]) for b in range(place, size))
            for a in range(place + 1)
        )
        for place in range(size)
    ]
    assert curve_of(table).level == pytest.approx(wanted, abs=1e-12)


@given(rows=some_rows)
def test_fit_and_band_rise_within_bounds(rows: list[tuple[float, bool]]) -> None:
    """Rates and both ends of the band lie in [0, 1] and never fall; the shares of the cells add up to 1."""
    curve = curve_of(table_of(rows))
    for column in (curve.rate, curve.level, curve.lower, curve.upper):
        assert np.all((column >= 0.0) & (column <= 1.0))
        assert np.all(np.diff(column) >= -1e-12)
    assert np.all(curve.lower <= curve.upper)
    assert np.all(np.diff(curve.x) >= 0.0)
    assert curve.share.sum() == pytest.approx(1.0)


@given(rows=some_rows)
def test_mean_squared_height_of_the_area_is_at_most_mcb(rows: list[tuple[float, bool]]) -> None:
    """As the small print says: the score is a rising function, too, and the fit the nearest to the labels."""
    table = table_of(rows)
    curve = curve_of(table)
    mcb = corp_part(MeasureName.BRIER_MCB, table).value
    assert float(curve.share @ (curve.level - curve.at) ** 2) <= mcb + 1e-12


def test_band_of_one_score_is_that_of_its_binomial_rate() -> None:
    """With one score there is nothing to pool: the band is binomial quantiles over the number of rows.

    Quantiles from scipy.stats.binom(400, 0.3).ppf([0.025, 0.975]) / 400.
    """
    table = ScoreTable(np.array([0.3]), np.array([400]), np.array([90]))
    curve = curve_of(table, draws=4_000)
    assert curve.lower[0] == pytest.approx(102 / 400, abs=2.1 / 400)
    assert curve.upper[0] == pytest.approx(138 / 400, abs=2.1 / 400)
    assert curve.level.tolist() == [90 / 400]


def test_many_scores_become_cells_with_single_rows_at_both_ends() -> None:
    """So that the cost is that of about 512 scores, and the ends of the fit stay as free as they are."""
    table = simulated(30_000)
    curve = curve_of(table)
    assert 512 < curve.at.size < 560
    assert curve.share[[0, -1]] == pytest.approx(1.0 / 30_000)
    assert curve.share.sum() == pytest.approx(1.0)
    assert float(curve.share @ curve.at) == pytest.approx(float(table.score.mean()))


def test_grid_table_has_the_fit_of_its_rows() -> None:
    """But for what rounding to cells moves: blocks end within a cell of each other."""
    table = simulated(20_000)
    exact, grid = curve_of(table), curve_of(grid_of(table))
    places = np.linspace(0.05, 0.95, 50)
    assert np.interp(places, grid.x, grid.rate) == pytest.approx(
        np.interp(places, exact.x, exact.rate), abs=1e-3
    )


def test_few_scores_are_points_of_their_own() -> None:
    """With all their rows; a score that many rows share is no line."""
    table = ScoreTable(np.array([0.1, 0.4, 0.8]), np.array([50, 60, 70]), np.array([9, 20, 50]))
    points = curve_of(table).points
    assert points is not None
    assert points.rows.tolist() == [50, 60, 70]
    assert points.rate == pytest.approx([9 / 50, 20 / 60, 50 / 70])
    assert curve_of(simulated(2_000)).points is None


def test_importance_weights_leave_no_band() -> None:
    """The fit is weighted; where labels would lie if calibrated cannot be drawn, and it says so."""
    rng = np.random.default_rng(0)
    score = rng.random(80)
    table = ScoreTable.from_rows(
        score, rng.random(80) < score, Weighing(weight=rng.random(80) * (score > 0.1))
    )
    curve = curve_of(table)
    assert np.isnan(curve.lower).all()
    assert "importance weights" in curve.band
    assert curve.at.min() > 0.1


def test_no_rows_have_no_curve() -> None:
    """A refusal, not an empty picture."""
    with pytest.raises(EmptyTable):
        curve_of(ScoreTable.empty())


def band_of(table: Table, confidence: float = 0.95) -> IsotonicCurve:
    """Return the curve with bounds of all rates at once."""
    return isotonic_curve(
        table, generator=np.random.default_rng(0), confidence=confidence, band=Band.SIMULTANEOUS
    )


@settings(max_examples=settings.default.max_examples // 2)
@given(rows=some_rows)
def test_simultaneous_band_is_that_of_exact_tests_of_every_run(rows: list[tuple[float, bool]]) -> None:
    """By loops: the best exact bounds of runs that end up to a score, or start from it; and the p-value."""
    table = table_of(rows)
    size, weight, ones = table.distinct, table.weight, table.positive
    lengths = [1]
    while lengths[-1] < size:
        lengths.append(min(size, max(lengths[-1] + 1, int(lengths[-1] * 1.5))))
    runs = [(a, a + length) for length in lengths for a in range(size - length + 1)]
    low, high, least = np.zeros(size), np.ones(size), 1.0
    for a, b in runs:
        k, n = int(ones[a:b].sum()), int(weight[a:b].sum())
        ends = binomtest(k, n).proportion_ci(1.0 - 0.05 / len(runs), method="exact")
        low[b - 1], high[a] = max(low[b - 1], ends.low), min(high[a], ends.high)
        for chance, side in ((table.score[b - 1], "greater"), (table.score[a], "less")):
            least = min(least, 2 * len(runs) * binomtest(k, n, float(chance), alternative=side).pvalue)
    low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    curve = band_of(table)
    assert curve.p_value == pytest.approx(least, rel=1e-6)
    if np.isnan(curve.lower).any():
        assert np.any(low > high) or np.any(low[:-1] > high[1:])
        assert "no simultaneous 95 %" in curve.band
        return
    # At a score the band is the one after its step below, and the one before its step above.
    for place, score in enumerate(table.score):
        here = curve.at == score
        assert curve.lower[here].max() == pytest.approx(low[place], abs=1e-9)
        assert curve.upper[here].min() == pytest.approx(high[place], abs=1e-9)


@given(rows=some_rows)
def test_diagonal_leaves_the_simultaneous_band_when_its_p_value_says_so(
    rows: list[tuple[float, bool]],
) -> None:
    """And a band of more confidence holds one of less."""
    table = table_of(rows)
    curve, wider = band_of(table), band_of(table, 0.99)
    if not np.isnan(curve.lower).any():
        out = np.any((curve.lower > curve.at + 1e-12) | (curve.upper < curve.at - 1e-12))
        assert bool(out) == (curve.p_value is not None and curve.p_value < 0.05)
        assert np.all(wider.lower <= curve.lower)
        assert np.all(wider.upper >= curve.upper)


def test_falling_rates_have_no_simultaneous_band() -> None:
    """Scores that rank the wrong way round are not calibrated, and no rising curve is near their rates."""
    score = np.linspace(0.01, 0.99, 2_000)
    curve = band_of(ScoreTable.from_rows(score, np.random.default_rng(0).random(2_000) > score))
    assert np.isnan(curve.lower).all()
    assert "rates fall somewhere" in curve.band
    assert curve.p_value is not None
    assert curve.p_value < 1e-9


@pytest.mark.parametrize("usual", [200, 1_000])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.97, 0.99, 0.9937, 0.999])
def test_draws_are_enough_for_a_confidence(usual: int, confidence: float) -> None:
    """The order statistic that ends a band is left by as few draws as asked, and not many fewer."""
    draws = enough_draws(usual, confidence=confidence)
    assert draws is not None
    tail = (1.0 - confidence) / 2.0
    first, last = ends_of_draws(np.arange(draws), confidence=confidence)
    assert 0.83 * tail <= (first + 1) / (draws + 1) <= tail * (1.0 + 1e-9)
    assert first + last == draws - 1
    assert draws == usual or tail * usual < 5.0
    assert enough_draws(usual, confidence=0.9999) is None


def test_a_confidence_of_too_many_draws_has_no_band() -> None:
    """It says why."""
    curve = isotonic_curve(simulated(30), generator=np.random.default_rng(0), confidence=0.9999)
    assert np.isnan(curve.lower).all()
    assert curve.band == TOO_FEW_DRAWS
