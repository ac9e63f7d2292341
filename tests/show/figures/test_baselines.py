"""Every kind of picture against the one that was looked at last.

    pytest tests/show/figures/test_baselines.py -W ignore --mpl-generate-path=tests/show/figures/baseline

makes them anew; look at each before it is committed.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibcli.names import AxisScale, Binning, FigureSize, MeasureName, PlotKind, RecalibratorName, Theme
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves import CurvePanel, CurvePanels, Picture
from calibcli.stats.curves.cumulative import cumulative_curve, risk_coverage_curve
from calibcli.stats.curves.isotonic import McbDsc, isotonic_curve
from calibcli.stats.curves.map import Band, map_curve
from calibcli.stats.curves.monitor import MonitorCurve, Starts
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve, residual_curve, smooth_curve
from calibcli.stats.curves.thresholds import decision_curve, murphy_curve
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import bins_of
from calibcli.stats.table.derived import with_scores

K = PlotKind
PAGE, COLUMN, SLIDE = FigureSize.PAGE, FigureSize.COLUMN, FigureSize.SLIDE
LIGHT, DARK = Theme.LIGHT, Theme.DARK
WORDS = Words("preds.parquet: score", ("the error it shows [0.01, 0.02]", "2,000 rows"))


def overconfident(rows: int = 2_000) -> ScoreTable:
    """Return scores too far out, with labels drawn by a fixed seed."""
    rng = np.random.default_rng(3)
    chance = rng.beta(2.0, 3.0, rows)
    score = chance**2 / (chance**2 + (1.0 - chance) ** 2)
    return ScoreTable.from_rows(score, rng.random(rows) < chance)


def reliability(kind: PlotKind, rows: int = 2_000) -> ReliabilityCurve:
    """Return the curve of overconfident scores, with that of bins."""
    table, smooth = overconfident(rows), None
    bins = bins_of(Binning.EQUAL_WIDTH, 15, table=table)
    if kind is PlotKind.SMOOTH:
        smooth = smooth_curve(table, bandwidth=0.06)
    return ReliabilityCurve(kind, binned_curve(table, bins=bins), smooth, 0.95)


def watched(*, alarm: bool) -> MonitorCurve:
    """Return a gate, or an alarm, whose rates change after two thirds of its looks."""
    rows = 500 * np.arange(1, 31)
    drift = np.maximum(0.0, np.arange(30) - 19.0)
    value = 0.008 + 0.05 / np.sqrt(np.arange(1, 31)) + 0.002 * drift
    half, none = 0.03 / np.sqrt(np.arange(1, 31)), np.full(30, math.nan)
    return MonitorCurve(
        rows=rows,
        value=value,
        lower=none if alarm else np.maximum(value - half, 0.0),
        upper=none if alarm else value + half,
        log_pass=none if alarm else np.linspace(-0.5, 9.0, 30) - 0.1 * drift**2,
        log_fail=-1.0 - 0.05 * np.arange(30) + 0.2 * drift**2,
        threshold=math.log(20.0),
        confidence=0.95,
        limit=0.04,
        measure="binned ECE",
        own=none,
        stands_out=np.zeros(30, np.bool_),
        passed_at=None if alarm else 6_000,
        failed_at=13_500 if alarm else None,
        starts=Starts(rows - 500, 14.0 - 0.1 * (np.arange(30) - 20.0) ** 2) if alarm else None,
    )


def side_by_side(kind: PlotKind, of_each: PlotKind, count: int) -> CurvePanels:
    """Return as many panels of rows that are fewer and fewer."""
    panels = []
    for place in range(count):
        rows = 2_000 // (place + 1)
        error = ("ECE 0.0554 [0.0100, 0.0721]", "0.0554 [0.0100, 0.0721]")
        against = ("differs by +0.0100 [-0.0200, 0.0300]",) if place else ("",)
        part = CurvePanel(f"part {place}", rows, error, reliability(of_each, rows))
        panels.append(replace(part, against=against) if kind is PlotKind.COMPARE and count > 2 else part)
    return CurvePanels(kind, tuple(panels))


def forecasts(count: int, rows: int = 600) -> list[ScoreTable]:
    """Return forecasts of the same rows, the noisier the later, the last of which says yes or no."""
    rng = np.random.default_rng(7)
    chance = rng.beta(1.0, 2.0, rows)
    label = rng.random(rows) < chance
    scores = [np.clip(chance + rng.normal(0.0, 0.04 + 0.05 * k, rows), 0.0, 1.0) for k in range(count)]
    scores[-1] = np.round(scores[-1])
    return [ScoreTable.from_rows(score, label) for score in scores]


def together(kind: PlotKind, curves: list[Picture]) -> CurvePanels:
    """Return curves with names and numbers."""
    lines = ("MCB 0.0077, DSC 0.0736",), ("Brier 0.1569, UNC 0.2228",)
    panels = [CurvePanel(f"fc_{place}", 600, lines[0], one, lines[1]) for place, one in enumerate(curves)]
    return CurvePanels(kind, tuple(panels))


def parts_of(measure: MeasureName) -> McbDsc:
    """Return forecasts by their parts, one of them certain and wrong by the log loss."""
    mcb = np.array([0.0077, 0.0063, 0.0171, 0.0060, 0.0603 if measure is MeasureName.BRIER else math.inf])
    dsc = np.array([0.0736, 0.0657, 0.0752, 0.0110, 0.0431])
    unc, chance = np.full(5, 0.2228), np.array([0.009, 0.009, 0.009, 0.007, 0.0])
    names = ("fc_ensemble", "fc_radar", "fc_sharp", "climatology", "fc_yes_no")
    return McbDsc(measure, names, mcb - dsc + unc, mcb, dsc, unc, chance)


def worth_of_a_map() -> Picture:
    """Return net benefit after recalibration, the raw score beside it."""
    table = overconfident()
    fitted = fit_recalibrator(RecalibratorName.BETA, table)
    return decision_curve(with_scores(table, fitted.predict(table.score)), raw=table)


def map_with_ends() -> Picture:
    """Return Venn-Abers with its ends over observed rates."""
    table = overconfident(400)
    points = binned_curve(table, bins=bins_of(Binning.EQUAL_MASS, 15, table=table))
    fitted = fit_recalibrator(RecalibratorName.VENN_ABERS, table)
    return map_curve(fitted, band=Band(None, ""), table=table, points=points, partition="each of 15 bins")


def corp(table: ScoreTable) -> Picture:
    """Return CORP's diagram, with a fixed seed."""
    return isotonic_curve(table, generator=np.random.default_rng(0))


# What is drawn, the size of the page, its ground; by the name of the picture that is kept.
PICTURES: dict[str, tuple[Callable[[], Picture], FigureSize, Theme]] = {
    "smooth": (lambda: reliability(K.SMOOTH), PAGE, LIGHT),
    "smooth_in_a_column": (lambda: reliability(K.SMOOTH), COLUMN, DARK),
    "binned_on_a_slide": (lambda: reliability(K.BINNED), SLIDE, LIGHT),
    "binned_by_log_odds": (lambda: reliability(K.BINNED), PAGE, LIGHT),
    "monitor": (lambda: watched(alarm=False), PAGE, LIGHT),
    "monitor_of_an_alarm": (lambda: watched(alarm=True), SLIDE, DARK),
    "murphy": (lambda: murphy_curve(overconfident()), PAGE, LIGHT),
    "risk_coverage": (lambda: risk_coverage_curve(overconfident(), confidence=0.95), PAGE, LIGHT),
    "decision_on_a_slide": (worth_of_a_map, SLIDE, LIGHT),
    "map_in_a_column": (map_with_ends, COLUMN, DARK),
    "compare": (lambda: side_by_side(K.COMPARE, K.SMOOTH, 2), PAGE, LIGHT),
    # The last row is short, and each heading has the difference from the first.
    "compare_five_in_a_column": (lambda: side_by_side(K.COMPARE, K.SMOOTH, 5), COLUMN, LIGHT),
    "groups": (lambda: side_by_side(K.GROUPS, K.BINNED, 9), PAGE, DARK),
    "classes_on_a_slide": (lambda: side_by_side(K.CLASSES, K.BINNED, 7), SLIDE, LIGHT),
    "isotonic": (lambda: corp(overconfident()), PAGE, LIGHT),
    "cumulative_in_a_column": (lambda: cumulative_curve(overconfident()), COLUMN, DARK),
    "residual_on_a_slide": (lambda: residual_curve(reliability(K.SMOOTH)), SLIDE, LIGHT),
    # Yes and no are two points.
    "isotonic_of_five": (lambda: together(K.ISOTONIC, [*map(corp, forecasts(5))]), PAGE, LIGHT),
    "murphy_of_four_in_a_column": (
        lambda: together(K.MURPHY, [*map(murphy_curve, forecasts(4))]),
        COLUMN,
        LIGHT,
    ),
    # Six lines are told apart, three are grey.
    "decision_of_nine_on_a_slide": (
        lambda: together(K.DECISION, [*map(decision_curve, forecasts(9))]),
        SLIDE,
        DARK,
    ),
    "mcb_dsc": (lambda: parts_of(MeasureName.BRIER), PAGE, LIGHT),
    "mcb_dsc_in_a_column": (lambda: parts_of(MeasureName.LOG_LOSS), COLUMN, DARK),
}
BY_LOG_ODDS = ("binned_by_log_odds", "classes_on_a_slide")


def kept_as(name: str) -> pytest.MarkDecorator:
    """Compare with the picture of a name; other versions of FreeType differ by a grey value."""
    return pytest.mark.mpl_image_compare(tolerance=6, savefig_kwargs={"dpi": 60}, filename=f"test_{name}.png")


@pytest.mark.parametrize("name", [pytest.param(name, marks=kept_as(name)) for name in PICTURES])
def test_a_picture_is_the_one_that_was_looked_at(name: str) -> Figure:
    """At a size, on a ground, on axes of scores or of their log-odds."""
    picture, size, theme = PICTURES[name]
    scale = AxisScale.LOGIT if name in BY_LOG_ODDS else AxisScale.LINEAR
    return figure_of(picture(), WORDS, look=look_of(size, theme), scale=scale)
