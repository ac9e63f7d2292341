"""The figure of a validation paper: numbers stand where no curve is, and the small print says the rest."""

import numpy as np
import pytest

from calibcli.names import AxisScale, FigureSize, Smoother, Theme
from calibcli.show.figures.drawing import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves.clinical import clinical_curve
from calibcli.stats.table.score_table import ScoreTable

WORDS = Words("preds.csv: score", ("O/E 1.00",))
NAMES = ("O/E ratio", "CITL", "Slope", "ICI (spline)", "AUROC")
BOX = tuple((name, "1.02 (0.82 to 1.24)") for name in NAMES)


def table_of(power: float) -> ScoreTable:
    """Return 400 rows whose rates are a power of their scores: below 1 these are too low."""
    rng = np.random.default_rng(0)
    score = rng.random(400)
    return ScoreTable.from_rows(score, rng.random(400) < score**power)


@pytest.mark.parametrize("size", FigureSize)
@pytest.mark.parametrize(("power", "upper"), [(2.0, True), (0.1, False)])
def test_numbers_stand_in_the_free_corner(size: FigureSize, power: float, *, upper: bool) -> None:
    """Names and numbers line by line, within the axes, above the curve or below it."""
    curve = clinical_curve(table_of(power), smoother=Smoother.LOESS, box=BOX, confidence=0.95, seed=0)
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


@pytest.mark.parametrize("smoother", Smoother)
def test_small_print_says_what_drew_the_curve(smoother: Smoother) -> None:
    """And what band and whiskers are, on either axis."""
    curve = clinical_curve(table_of(1.0), smoother=smoother, box=BOX, confidence=0.9, seed=0)
    for scale in AxisScale:
        said = " ".join(text.get_text() for text in figure_of(curve, WORDS, scale=scale).texts)
        for word in (curve.how, curve.band, "10 groups", "the others downwards"):
            assert word in " ".join(said.split())
