"""The figure of a validation paper: numbers stand where no curve is, and the small print says the rest."""

import re

import numpy as np
import pytest

from calibcli.commands.pictures.of_tables import Asked, clinical_drawn
from calibcli.names import AxisScale, FigureSize, Smoother, Theme
from calibcli.options.measuring import MeasureOptions
from calibcli.reports.input import InputSummary
from calibcli.show.figures import figure_of
from calibcli.show.figures.clinical import ClinicalPlots
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves.clinical import ClinicalCurve, clinical_curve
from calibcli.stats.curves.limits import limits_for
from calibcli.stats.recalibrators.newton import logistic, logit
from calibcli.stats.recalibrators.spline import Spline
from calibcli.stats.table import ScoreTable
from score_rows import uniform

pytestmark = pytest.mark.usefixtures("few_draws")

WORDS = Words("preds.csv: score", ("O/E 1.00",))
NAMES = ("O/E ratio", "CITL", "Slope", "ICI (spline)", "AUROC")
BOX = tuple((name, "1.02 (0.82 to 1.24)") for name in NAMES)


@pytest.mark.parametrize(
    ("size", "power", "upper"), list(zip(FigureSize, (2.0, 0.1, 0.1), (True, False, False), strict=True))
)
def test_numbers_stand_in_the_free_corner(size: FigureSize, power: float, *, upper: bool) -> None:
    """Names and numbers line by line, within the axes, above the curve or below it."""
    curve = clinical_curve(uniform(400, power), smoother=Smoother.LOESS, box=BOX, confidence=0.95)
    figure = figure_of(curve, WORDS, look=look_of(size, Theme.DARK))
    axes = figure.axes[0]
    names, numbers = axes.texts
    assert names.get_text() == "\n".join(NAMES)
    assert numbers.get_text() == "\n".join(number for _, number in BOX)
    figure.canvas.draw()
    inside = axes.get_window_extent()
    for text in (names, numbers):
        box = text.get_window_extent()
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1 + 2.0
        assert (box.y0 > inside.y0 + 0.5 * inside.height) == upper
    assert names.get_window_extent().x1 < numbers.get_window_extent().x0


def test_numbers_hide_no_end_of_the_band_where_another_place_is_free() -> None:
    """Few events: the band reaches into both corners, wide at the lowest scores and beyond the last."""
    rng = np.random.default_rng(0)
    score = logistic(rng.normal(-2.3, 1.1, 180))
    table = ScoreTable.from_rows(score, rng.random(180) < score)
    curve = clinical_curve(table, smoother=Smoother.SPLINE, box=BOX, confidence=0.95)
    figure = figure_of(curve, WORDS, look=look_of(FigureSize.PAGE, Theme.LIGHT))
    figure.canvas.draw()
    axes = figure.axes[0]
    for text in axes.texts:
        box = text.get_window_extent()
        for ends in (curve.lower, curve.upper, curve.rate):
            places = axes.transData.transform(np.stack((curve.at, ends), axis=1))
            assert not any(box.contains(*place) for place in places)


def test_numbers_hide_no_count_of_a_group_without_events() -> None:
    """By log-odds such counts stand at the lower end, where the free corner is."""
    score = np.geomspace(1e-6, 0.01, 5_000)
    table = ScoreTable.from_rows(score, np.random.default_rng(3).random(5_000) < score)
    curve = clinical_curve(table, smoother=Smoother.SPLINE, box=BOX, confidence=0.95)
    figure = figure_of(curve, WORDS, scale=AxisScale.LOGIT)
    figure.canvas.draw()
    *counts, names, numbers = (text.get_window_extent() for text in figure.axes[0].texts)
    assert counts
    assert not any(one.overlaps(box) for one in counts for box in (names, numbers))


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.3], "Points: the one score."),
        ([0.1, 0.4], "Points: each of two scores."),
        ([0.1] * 50 + [0.15, 0.16, 0.17], "Points: 2 groups of "),
    ],
)
def test_points_are_of_scores_where_these_are_few(scores: list[float], said: str) -> None:
    """Two groups may hold many scores, where most rows have one."""
    score = np.array(scores * 20)
    table = ScoreTable.from_rows(score, np.arange(score.size) % 5 == 0)
    curve = clinical_curve(table, smoother=Smoother.LOESS, box=BOX, confidence=0.95)
    assert any(note.startswith(said) for note in ClinicalPlots((curve,)).notes())


def test_the_spline_is_drawn_by_log_odds_as_it_is() -> None:
    """Of rare events too, where all but a few scores are nearer to 0 than the second of even places."""
    rng = np.random.default_rng(3)
    score = logistic(rng.normal(-8.0, 1.5, 20_000))
    table = ScoreTable.from_rows(score, rng.random(score.size) < np.minimum(3.0 * score, 1.0))
    curve = clinical_curve(table, smoother=Smoother.SPLINE, box=BOX, confidence=0.95)
    figure = figure_of(curve, WORDS, scale=AxisScale.LOGIT)
    main, strip = figure.axes[:2]
    x, y = next(line.get_data() for line in main.lines if line.get_zorder() == 3.0)
    low, high = main.get_xlim()
    # It spans the scores, so that none is drawn at an end of the axis.
    assert low < score.min() == x[0]
    assert x[-1] == score.max() < high
    assert np.diff(logit(x)).max() < 0.1
    np.testing.assert_allclose(logit(y), logit(Spline.fit(table).predict(x)), atol=1e-3)
    bars = [patch.get_data() for patch in strip.patches]
    assert sum(np.abs(one.values).sum() for one in bars) == pytest.approx(score.size)
    assert all((one.values != 0.0).sum() > 8 for one in bars)


def test_the_index_of_rare_events_has_digits() -> None:
    """Two of the largest of value and ends, and three decimals at least."""
    rng = np.random.default_rng(5)
    score = logistic(rng.normal(-8.0, 1.0, 5_000))
    table = ScoreTable.from_rows(score, rng.random(score.size) < 5.0 * score)
    source = InputSummary(("rows",), "score", "label", None, 5_000, 0, 0)
    curve = clinical_drawn(table, Asked(source, MeasureOptions())).picture
    assert isinstance(curve, ClinicalCurve)
    ((name, said),) = curve.box[3:4]
    digits = re.findall(r"[.\d]+", said)
    assert name == "ICI (spline)"
    assert len(digits) == 3
    assert 10.0 <= float(digits[-1]) * 10 ** (len(digits[-1]) - 2) < 100.0


def test_a_curve_that_leaves_the_axis_does_not_run_along_its_edge() -> None:
    """By log-odds the line ends where it leaves; a rate at the edge would be another."""
    rng = np.random.default_rng(4)
    odds = rng.normal(-2.0, 1.0, 1_500)
    table = ScoreTable.from_rows(logistic(odds), rng.random(odds.size) < logistic(2.0 * odds + 2.0))
    curve = clinical_curve(table, smoother=Smoother.SPLINE, box=BOX, confidence=0.95)
    ends = limits_for(ClinicalPlots((curve,)).extents, AxisScale.LOGIT).y
    assert curve.rate[-1] > ends[1]
    main = figure_of(curve, WORDS, scale=AxisScale.LOGIT).axes[0]
    _, y = next(line.get_data() for line in main.lines if line.get_zorder() == 3.0)
    assert np.isnan(y[-1])
    assert np.nanmax(y) < ends[1]


@pytest.mark.parametrize("smoother", Smoother)
def test_small_print_says_what_drew_the_curve(smoother: Smoother) -> None:
    """And what band and whiskers are, on either axis."""
    curve = clinical_curve(uniform(400), smoother=smoother, box=BOX, confidence=0.9)
    for scale in AxisScale:
        said = " ".join(text.get_text() for text in figure_of(curve, WORDS, scale=scale).texts)
        for word in (curve.how, curve.band, "10 groups", "the others downwards"):
            assert word in " ".join(said.split())
