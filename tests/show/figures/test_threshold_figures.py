"""Murphy, decision and map: no text overlaps, at any size, whatever the rows."""

from dataclasses import replace
from itertools import cycle, product

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibcli.names import AxisScale, Benefit, Binning, FigureSize, RecalibratorName, Theme
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves.map import Band, MapCurve, map_curve
from calibcli.stats.curves.reliability import binned_curve
from calibcli.stats.curves.thresholds import decision_curve, murphy_curve
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, bins_of, looks_discrete
from picture_checks import SHAPES, clashes, rows_of, spread

CAPTION = ("Brier score 0.1831  [0.1804, 0.1859] at 95 % confidence: the area under the curve", "1,000 rows")
WORDS = Words("/a/very/long/path/" * 5 + "predictions.parquet: score", CAPTION)
LOOKS = list(product(FigureSize, Theme))


FITTED = fit_recalibrator(RecalibratorName.VENN_ABERS, SHAPES["ten scores"])


def map_over(table: ScoreTable) -> MapCurve:
    """A map with ends, over rows."""
    bins = ATOMS if looks_discrete(table) else bins_of(Binning.EQUAL_MASS, 15, table=table)
    points = binned_curve(table, bins=bins)
    return map_curve(FITTED, band=Band(None, ""), table=table, points=points, partition="each bin")


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("made", "shape", "size", "theme"),
    [
        (made, shape, *look)
        for row, (shape, look) in enumerate(zip(SHAPES, cycle(LOOKS), strict=False))
        for column, made in enumerate((murphy_curve, decision_curve, map_over))
        if (row + column) % 3 == 1
    ],
)
def test_no_text_overlaps(made, shape: str, size: FigureSize, theme: Theme) -> None:  # noqa: ANN001
    """Every shape, size and theme is drawn without a warning, and every text has its place."""
    assert clashes(figure_of(made(SHAPES[shape]), WORDS, look=look_of(size, theme))) == []


def test_marks_of_few_scores_are_explained() -> None:
    """Squares stand at the scores that rows have, and the small print says what they are."""
    assert "Squares: the output at each score that rows have" in said(
        figure_of(map_over(SHAPES["ten scores"]), WORDS)
    )
    assert "Squares" not in said(figure_of(map_over(SHAPES["fifty rows"]), WORDS))


@pytest.mark.parametrize(
    ("made", "shape"),
    [(murphy_curve, "rare events"), (decision_curve, "rows at 0 only"), (map_over, "saturated")],
)
def test_scores_are_laid_out_by_log_odds(made, shape: str) -> None:  # noqa: ANN001
    """Near 0 and 1 there is room, and the small print says so."""
    figure = figure_of(made(SHAPES[shape]), WORDS, scale=AxisScale.LOGIT)
    assert clashes(figure) == []
    assert figure.axes[0].get_xscale() == "logit"
    assert "by log-odds" in said(figure)


def said(figure: Figure) -> str:
    """Return all text on the page."""
    return " ".join(text.get_text() for text in figure.texts)


def names(figure: Figure) -> list[str]:
    """Return what the key names."""
    return [text.get_text() for key in figure.legends for text in key.get_texts()]


@pytest.mark.parametrize(
    ("shape", "marked"),
    [("ten scores", (0.2, 0.5)), ("fifty rows", (0.31, 0.3101)), ("rows at 0 only", (0.3,))],
)
def test_named_thresholds_are_marked(shape: str, marked: tuple[float, ...]) -> None:
    """A line at each, one word in the key, and texts that have their place, also where no score lies."""
    for scale, size in ((AxisScale.LINEAR, FigureSize.COLUMN), (AxisScale.LOGIT, FigureSize.SLIDE)):
        curve = replace(decision_curve(SHAPES[shape]), marked=marked)
        figure = figure_of(curve, WORDS, look=look_of(size), scale=scale)
        assert clashes(figure) == []
        assert names(figure).count("thresholds named") == 1
        upright = {
            float(np.mean(one.get_xdata())) for one in figure.axes[0].lines if np.ptp(one.get_xdata()) == 0
        }
        assert set(marked) <= upright


@pytest.mark.parametrize("benefit", Benefit)
def test_every_scale_of_a_decision_curve_is_said(benefit: Benefit) -> None:
    """Beside the axis and in the small print; the gain is what all or none are not worth."""
    curve = decision_curve(SHAPES["ten scores"], benefit=benefit)
    plain = decision_curve(SHAPES["ten scores"])
    figure = figure_of(curve, WORDS)
    assert benefit.value in f"{figure.axes[0].get_ylabel()} {said(figure)}".lower()
    assert ("treat all" in names(figure)) == (benefit is not Benefit.GAIN)
    default = np.maximum(plain.all, 0.0)
    expected = {
        Benefit.NET: plain.value,
        Benefit.STANDARDISED: plain.value / plain.base,
        Benefit.GAIN: plain.value - default,
    }[benefit]
    np.testing.assert_allclose(curve.value, expected, atol=1e-12)
    assert np.all((curve.lower <= curve.value + 1e-9) & (curve.value <= curve.upper + 1e-9))


def test_the_curve_is_never_hidden() -> None:
    """The decision curve stays in its axes, or the small print says that it does not."""
    curve = decision_curve(SHAPES["ten scores"])
    axes = figure_of(curve, WORDS).axes[0]
    low, high = axes.get_ylim()
    shown = curve.at <= axes.get_xlim()[1]
    assert low < curve.value[shown].min()
    assert curve.value[shown].max() < high
    assert low < 0.0
    wild = decision_curve(rows_of(np.repeat([0.2, 0.999], 50), np.repeat([0.2, 0.4], 50)))
    figure = figure_of(wild, WORDS)
    assert figure.axes[0].get_ylim()[0] >= -1.5 * wild.base
    assert "leaves the picture below" in said(figure)


def test_the_raw_score_stands_beside_the_recalibrated_one() -> None:
    """As a line of its own, named in the key."""
    raw = SHAPES["fifty rows"]
    assert "by raw score" in names(figure_of(decision_curve(raw, raw=raw), WORDS))
    assert "by raw score" not in names(figure_of(decision_curve(raw), WORDS))


def test_weighted_rows_have_no_band() -> None:
    """Neither in the picture nor in the key, and the small print says why."""
    for made in (murphy_curve, decision_curve):
        figure = figure_of(made(SHAPES["weighted"]), WORDS)
        assert not any("interval" in name for name in names(figure))
        assert "No interval: importance weights" in said(figure)


def test_a_map_alone_shows_all_of_the_unit_square() -> None:
    """Without rows there is no strip, and nothing is made up around the map."""
    fitted = fit_recalibrator(RecalibratorName.SMOOTH, SHAPES["ten scores"])
    for scale in AxisScale:
        figure = figure_of(map_curve(fitted, band=Band(None, "no band: reason")), WORDS, scale=scale)
        assert clashes(figure) == []
        assert len(figure.axes) == 1
        assert "No band: reason." in said(figure)
        assert names(figure) == ["smooth map", "score unchanged"]


def test_outputs_far_from_the_scores_are_seen_by_log_odds() -> None:
    """Axes hold what the map gives, not the scores alone; the line ends where they end."""
    low = rows_of(spread(500, last=0.01) + 1e-4, 0.5)
    fitted = fit_recalibrator(RecalibratorName.PLATT, low)
    points = binned_curve(low, bins=bins_of(Binning.EQUAL_MASS, 5, table=low))
    curve = map_curve(fitted, band=Band(None, ""), table=low, points=points)
    figure = figure_of(curve, WORDS, scale=AxisScale.LOGIT)
    assert figure.axes[0].get_ylim()[1] > 0.6
    drawn = figure.axes[0].lines[0].get_xdata()
    assert np.all(np.diff(np.asarray(drawn)) > 0.0)
