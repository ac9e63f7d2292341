"""Maps as curves: what is drawn is what the map gives, and its steps are where they are."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.names import Binning, RecalibratorName
from calibcli.options.fitting import FitOptions
from calibcli.stats.curves.limits import Spread, thinned
from calibcli.stats.curves.map import Band, map_curve, with_steps
from calibcli.stats.curves.monitor import MonitorCurve, with_fewer_looks
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable

NOTHING = Band(None, "no band")


def fit_rows(rows: int = 800, *, digits: int | None = None) -> ScoreTable:
    """Rows of both labels at every score."""
    rng = np.random.default_rng(2)
    score = rng.random(rows)
    score = score if digits is None else np.round(score, digits)
    return ScoreTable.from_rows(score, rng.random(rows) < 0.2 + 0.6 * score**2)


@pytest.mark.parametrize("name", RecalibratorName)
def test_every_method_is_drawn_as_it_predicts(name: RecalibratorName) -> None:
    """All twelve, on all of [0, 1], with ends around the output where the method has some."""
    fitted = fit_recalibrator(name, fit_rows())
    curve = map_curve(fitted, band=NOTHING)
    assert curve.score[0] == 0.0
    assert curve.score[-1] == 1.0
    assert np.all(np.diff(curve.score) > 0.0)
    np.testing.assert_array_equal(curve.output, fitted.predict(curve.score))
    has_ends = name is RecalibratorName.VENN_ABERS
    assert np.isnan(curve.lower).all() != has_ends
    if has_ends:
        assert np.all((curve.lower <= curve.output) & (curve.output <= curve.upper))


def test_steps_are_found_to_the_last_digit() -> None:
    """Every edge at which a binned map changes lies between two neighbouring points, next to each other."""
    for options in (FitOptions(bins=13), FitOptions(bins=7, binning=Binning.EQUAL_WIDTH)):
        fitted = fit_recalibrator(RecalibratorName.HISTOGRAM, fit_rows(), options=options)
        assert fitted.bins is not None
        curve = map_curve(fitted, band=NOTHING)
        for one, after in pairwise(fitted.bins):
            if one.value == after.value:
                continue
            right = int(np.searchsorted(curve.score, one.upper, side="right"))
            assert curve.score[right] - curve.score[right - 1] < 1e-14
            assert curve.output[right - 1] == one.value


def test_a_continuous_function_has_no_steps() -> None:
    """However steep it is; a step added to it is found."""
    at = np.linspace(0.0, 1.0, 101)
    assert with_steps(lambda x: np.clip((x - 0.3) * 1e4, 0.0, 1.0), at).size == 101
    found = with_steps(lambda x: 0.2 * x + 0.5 * (x > 1.0 / 3.0), at)
    assert found.size == 103
    near = found[np.abs(found - 1.0 / 3.0) < 1e-12]
    assert near.size == 2


def test_few_scores_are_marked() -> None:
    """Venn-Abers has outputs of its own at the fit scores, which rows have: they are marked with them."""
    table = fit_rows(digits=1)
    fitted = fit_recalibrator(RecalibratorName.VENN_ABERS, table)
    for curve in (map_curve(fitted, band=NOTHING), map_curve(fitted, band=NOTHING, table=table)):
        marked = curve.score[curve.marks]
        assert np.isin(marked, table.score).all()
        np.testing.assert_array_equal(curve.output[curve.marks], fitted.predict(marked))
    many = fit_recalibrator(RecalibratorName.PLATT, fit_rows())
    assert map_curve(many, band=NOTHING, table=fit_rows()).marks.size == 0


def test_a_band_is_asked_where_the_map_is_drawn() -> None:
    """And Venn-Abers keeps its own ends."""
    around = Band(lambda x: (0.5 * x, 0.5 + 0.5 * x), "made up")
    curve = map_curve(fit_recalibrator(RecalibratorName.PLATT, fit_rows()), band=around)
    np.testing.assert_array_equal(curve.lower, 0.5 * curve.score)
    assert curve.band == "made up"
    ends = map_curve(fit_recalibrator(RecalibratorName.VENN_ABERS, fit_rows()), band=around)
    assert "p0 and p1" in ends.band


def curve_of(looks: int, *, since_first: bool = True, passed_at: int | None = None) -> MonitorCurve:
    """Return a gate whose evidence grows by one power of ten a look."""
    rows = 100 * np.arange(1, looks + 1)
    log = np.arange(looks) * math.log(10.0)
    value, none = np.full(looks, 0.1), np.full(looks, math.nan)
    no = np.zeros(looks, np.bool_)
    return MonitorCurve(
        rows, value, none, none, log, -log, math.log(20.0), 0.95, 0.2, "ECE", none, no,
        passed_at=passed_at, since_first=since_first,
    )  # fmt: skip


def test_everyone_begins_with_one_before_the_first_row() -> None:
    """10^0 at no rows, where no look is missing; nothing is made up where batches were merged."""
    rows, wealth = curve_of(3).powers(curve_of(3).log_pass)
    assert rows.tolist() == [0.0, 100.0, 200.0, 300.0]
    assert np.allclose(wealth, [0.0, 0.0, 1.0, 2.0])
    merged = curve_of(3, since_first=False)
    assert merged.powers(merged.log_fail)[0].tolist() == [100.0, 200.0, 300.0]


@given(looks=st.integers(1, 3000), most=st.integers(2, 500), at=st.integers(1, 3000))
def test_thinning_keeps_first_last_and_the_deciding_look(looks: int, most: int, at: int) -> None:
    """Looks that are kept are the curve's own, in order, and no more than asked but the deciding one."""
    whole = curve_of(looks, passed_at=100 * min(at, looks))
    thin = with_fewer_looks(whole, most=most)
    assert thin.rows.size <= max(most + 1, 1)
    assert (thin.rows[0], thin.rows[-1]) == (whole.rows[0], whole.rows[-1])
    assert whole.passed_at in thin.rows
    places = np.searchsorted(whole.rows, thin.rows)
    assert np.array_equal(whole.rows[places], thin.rows)
    assert np.array_equal(whole.log_pass[places], thin.log_pass)
    assert (thin.passed_at, thin.limit, thin.measure) == (whole.passed_at, whole.limit, whole.measure)


some_scores = st.lists(
    st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0.0, 1.0)), min_size=1, max_size=60
)


def spread_of(scores: np.ndarray) -> Spread:
    """Return the spread of rows with label 0."""
    score, rows = np.unique(scores, return_counts=True)
    return Spread.of(score, rows)


@given(scores=some_scores)
def test_shares_count_rows(scores: list[float]) -> None:
    """Below a score, up to it, and between edges that are scores; no row is lost at 0 or 1."""
    rows = np.array(scores)
    spread = spread_of(rows)
    for score in scores:
        below, upto = spread.around(score)
        assert below == pytest.approx(np.mean(rows < score), abs=1e-12)
        assert upto == pytest.approx(np.mean(rows <= score), abs=1e-12)
        assert rows.min() <= spread.at(0.5 * (below + upto)) <= rows.max()
    assert spread.between(np.linspace(0.0, 1.0, 8)).sum() == pytest.approx(1.0)
    edges = np.unique(rows)
    if edges.size > 1:
        counted = [np.mean((rows > low) & (rows <= high)) for low, high in pairwise(edges)]
        counted[0] += np.mean(rows == edges[0])
        assert spread.between(edges) == pytest.approx(counted, abs=1e-12)


def test_many_scores_are_thinned_without_moving_the_shares() -> None:
    """A few thousand places stand for 200,000 scores; none of the shares moves by what could be seen."""
    rows = np.random.default_rng(0).beta(0.3, 3.0, 200_000)
    spread = spread_of(rows)
    assert spread.score.size < 4_500
    places = np.quantile(rows, np.linspace(0.01, 0.99, 50))
    wanted = [np.mean(rows <= place) for place in places]
    assert [spread.around(float(place))[1] for place in places] == pytest.approx(wanted, abs=1e-3)


@given(seed=st.integers(0, 1_000), parts=st.integers(1, 20))
def test_thinning_keeps_ends_and_extremes_of_every_part(seed: int, parts: int) -> None:
    """What is left out lies between what is kept, part by part."""
    rng = np.random.default_rng(seed)
    x, y = np.sort(rng.random(300)), rng.normal(size=300).round(1)
    kept = thinned(x, y, parts=parts)
    assert kept.size <= 4 * parts or kept.size == 300
    assert {0, 299} <= set(kept.tolist())
    part = np.minimum((x - x[0]) * parts / (x[-1] - x[0]), parts - 1).astype(int)
    for one in np.unique(part):
        mine = kept[part[kept] == one]
        assert y[mine].min() == y[part == one].min()
        assert y[mine].max() == y[part == one].max()
