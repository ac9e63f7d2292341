"""The calibration plot of clinical papers: what each smoother draws, and how far its band may be believed."""

from collections.abc import Callable

import numpy as np
import pytest

from calibcli.commands.measure import measure_table
from calibcli.names import MeasureName, RecalibratorName, Smoother
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.reports.input import InputSummary
from calibcli.stats.curves.clinical import ClinicalCurve, clinical_curve
from calibcli.stats.curves.reliability import NO_WEIGHTED_BAND
from calibcli.stats.recalibrators.spline import Spline
from calibcli.stats.table import ScoreTable, Weighing
from claims.simulation import most_misses
from score_rows import scored_table

BOX = (("Slope", "1.00"),)


def curve_of(table: ScoreTable, smoother: Smoother, confidence: float = 0.95) -> ClinicalCurve:
    """Return the picture."""
    return clinical_curve(table, smoother=smoother, box=BOX, confidence=confidence)


def test_local_regression_draws_a_parabola_through_a_parabola() -> None:
    """Whatever the weights are; rates of 0.2 + score squared over 2, of 10,000 rows a score."""
    score = np.linspace(0.1, 0.9, 41)
    rows = np.full(41, 10_000)
    positive = np.rint(rows * (0.2 + 0.5 * score**2)).astype(np.int64)
    found = curve_of(ScoreTable(score, rows, positive), Smoother.LOESS)
    np.testing.assert_allclose(found.rate, 0.2 + 0.5 * found.at**2, atol=1e-4)
    assert np.all((found.lower < found.rate) & (found.rate < found.upper))


def test_local_regression_takes_as_many_rows_as_that_of_r() -> None:
    """Of 30 rows the nearest 22: three quarters, rounded down; the farthest of them weighs nothing."""
    rng = np.random.default_rng(4)
    score, label = rng.random(30), rng.random(30) < 0.5
    found = curve_of(ScoreTable.from_rows(score, label), Smoother.LOESS)
    for at, rate in list(zip(found.at, found.rate, strict=True))[::40]:
        far = np.abs(score - at)
        root = np.sqrt((1.0 - np.minimum(far / np.sort(far)[21], 1.0) ** 3) ** 3)
        powers = np.vander(score - at, 3, increasing=True)
        best = np.linalg.lstsq(powers * root[:, None], label * root, rcond=None)[0][0]
        assert rate == pytest.approx(np.clip(best, 0.0, 1.0), abs=1e-9)


def test_the_spline_is_that_of_the_recalibrator() -> None:
    """At every place; the band is at the log odds, within [0, 1]."""
    table = scored_table(500, seed=1, beta=(2.0, 3.0))
    found = curve_of(table, Smoother.SPLINE)
    fitted = Spline.fit(table)
    assert fitted.name is RecalibratorName.SPLINE
    np.testing.assert_allclose(found.rate, fitted.predict(found.at), atol=1e-7)
    assert np.all((found.lower > 0.0) & (found.lower < found.rate))
    assert np.all((found.rate < found.upper) & (found.upper < 1.0))


@pytest.mark.parametrize("smoother", Smoother)
def test_every_smoother_draws_awkward_rows(smoother: Smoother) -> None:
    """One score, one label, two scores, labels that a curve parts, weights, huge ones too."""
    tables = [
        ScoreTable.from_rows(np.full(5, 0.3), np.arange(5) > 2),
        ScoreTable.from_rows(np.linspace(0.0, 1.0, 20), np.zeros(20, bool)),
        ScoreTable.from_rows(np.repeat([0.0, 1.0], 5), np.arange(10) > 3),
        ScoreTable.from_rows(np.linspace(0.1, 0.9, 30), np.arange(30) > 14),
    ]
    for heavy in (np.linspace(0.5, 2, 30), np.full(30, 1e140)):
        score, label = np.linspace(0.1, 0.9, 30), np.arange(30) % 3 == 0
        tables.append(ScoreTable.from_rows(score, label, Weighing(weight=heavy)))
    for table in tables:
        found = curve_of(table, smoother)
        drawn = found.rate[~np.isnan(found.rate)]
        assert np.all((drawn >= 0.0) & (drawn <= 1.0))
        assert found.weights[0] == pytest.approx(table.positive.sum())
        assert sum(found.weights) == pytest.approx(table.weight.sum())
        assert found.how
        if table.weighted:
            assert np.isnan(found.lower).all()
            assert found.band == NO_WEIGHTED_BAND


@pytest.mark.slow
@pytest.mark.parametrize("smoother", [Smoother.SPLINE, Smoother.LOESS])
def test_bands_hold_at_nine_in_ten_places_and_more(smoother: Smoother) -> None:
    """Over calibrated scores, 1,000 repetitions of 400 rows, where nine in ten of them lie; at 95 %."""
    held = []
    for seed in range(1_000):
        found = curve_of(scored_table(400, seed=seed, beta=(2.0, 3.0)), smoother)
        inside = (found.at > 0.1) & (found.at < 0.75)
        held.append(np.mean((found.lower <= found.at)[inside] & (found.at <= found.upper)[inside]))
    assert np.mean(held) > 0.935


GRADES = np.array([0.0005, 0.001, 0.003, 0.01, 0.03, 0.08, 0.2])
WORLDS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "thirty": lambda rng: rng.random(30),
    "rare": lambda rng: rng.beta(1.0, 49.0, 200),
    "grades": lambda rng: rng.choice(GRADES, 300),
    "uniform": lambda rng: rng.random(400),
}


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_band_of_local_regression_holds_with_few_events(world: str) -> None:
    """At each tenth of calibrated scores at most one band in ten misses, of the tables that have one."""
    rng, wrong, bands = np.random.default_rng(3), np.zeros(9, np.int64), 0
    for _ in range(200):
        score = WORLDS[world](rng)
        found = curve_of(ScoreTable.from_rows(score, rng.random(score.size) < score), Smoother.LOESS)
        if not np.isnan(found.lower).all():
            at = np.quantile(score, np.arange(1, 10) / 10)
            lower, upper = np.interp(at, found.at, found.lower), np.interp(at, found.at, found.upper)
            wrong += (lower > at + 1e-12) | (upper < at - 1e-12)
            bands += 1
    assert bands > 40
    assert wrong.max() <= most_misses(bands, 0.1)


def test_local_regression_has_no_band_of_few_events_and_never_one_of_no_width() -> None:
    """Four rows of label 1 leave none, and it is said; where the curve is cut at 0 the band has a width."""
    score = np.linspace(0.001, 0.2, 200)
    few = curve_of(ScoreTable.from_rows(score, np.arange(200) > 195), Smoother.LOESS)
    assert np.isnan(few.lower).all()
    assert few.band == "no band: fewer than 5 rows of one label"
    some = curve_of(ScoreTable.from_rows(score, np.arange(200) > 190), Smoother.LOESS)
    assert some.rate.min() == 0.0
    assert np.all(some.upper - some.lower > 0.001)
    assert np.all((some.lower <= some.rate) & (some.rate <= some.upper))


@pytest.mark.parametrize("smoother", Smoother)
def test_indices_are_of_the_curve_that_is_drawn(smoother: Smoother) -> None:
    """Mean, median, 90th percentile and maximum distance of the drawn line; only a spline has an interval."""
    table = scored_table(400, lambda score: score**1.3, seed=8, beta=(1.5, 3.0))
    names = (MeasureName.ICI, MeasureName.E50, MeasureName.E90, MeasureName.EMAX)
    options = MeasureOptions(metrics=Metrics(names, ()), smoother=smoother, drawn=False)
    source = InputSummary(("rows",), "score", "label", None, 400, 0, 0)
    found = {one.name: one for one in measure_table(table, source, options=options).measures}
    curve = clinical_curve(table, smoother=smoother, box=(), confidence=0.95)
    drawn = np.isfinite(curve.rate)
    gap = np.abs(np.interp(table.score, curve.at[drawn], curve.rate[drawn]) - table.score)
    expected = (
        gap.mean(),
        *(np.quantile(gap, share, method="inverted_cdf") for share in (0.5, 0.9)),
        gap.max(),
    )
    # The spline of the numbers is not straight between the places of the picture.
    close = 2e-4 if smoother is Smoother.SPLINE else 1e-12
    for name, value in zip(names, expected, strict=True):
        assert found[name].value == pytest.approx(value, abs=close), name
        assert (found[name].interval is None) is (smoother is not Smoother.SPLINE)
        assert found[name].null is None or smoother is Smoother.SPLINE


def test_local_regression_of_scores_of_0_and_1_gives_no_warning() -> None:
    """Next to 0 the curve is 0 but for rounding, and so is the share whose interval its band is."""
    table = ScoreTable(np.array([0.0, 0.5, 1.0]), np.array([102, 101, 97]), np.array([0, 47, 97]))
    found = curve_of(table, Smoother.LOESS)
    assert np.all((found.lower <= found.rate) & (found.rate <= found.upper))
