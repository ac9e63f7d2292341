"""Every kind of picture against the one that was looked at last.

    pytest tests/show/figures/test_baselines.py -W ignore --mpl-generate-path=tests/show/figures/baseline

makes them anew; look at each before it is committed.
"""

import math
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
from calibcli.stats.recalibrators.family import fit_recalibrator
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import bins_of
from calibcli.stats.table.derived import with_scores

# Pictures of other versions of FreeType differ by a grey value here and there.
compared = pytest.mark.mpl_image_compare(tolerance=6, savefig_kwargs={"dpi": 60})
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


@compared
def test_smooth() -> Figure:
    """The curve without bins, on a page."""
    return figure_of(reliability(PlotKind.SMOOTH), WORDS)


@compared
def test_smooth_in_a_column() -> Figure:
    """On a dark ground, as narrow as a column of a journal."""
    return figure_of(reliability(PlotKind.SMOOTH), WORDS, look=look_of(FigureSize.COLUMN, Theme.DARK))


@compared
def test_binned_on_a_slide() -> Figure:
    """Text beside the picture."""
    return figure_of(reliability(PlotKind.BINNED), WORDS, look=look_of(FigureSize.SLIDE))


@compared
def test_binned_by_log_odds() -> Figure:
    """Scores near 0 and 1 have room."""
    return figure_of(reliability(PlotKind.BINNED), WORDS, scale=AxisScale.LOGIT)


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


@compared
def test_monitor() -> Figure:
    """Evidence above, the estimate with its bounds below."""
    return figure_of(watched(alarm=False), WORDS)


@compared
def test_monitor_of_an_alarm() -> Figure:
    """On a dark slide, with what each start has made."""
    return figure_of(watched(alarm=True), WORDS, look=look_of(FigureSize.SLIDE, Theme.DARK))


@compared
def test_murphy() -> Figure:
    """Mean elementary scores, with what recalibration would save."""
    return figure_of(murphy_curve(overconfident()), WORDS)


@compared
def test_risk_coverage() -> Figure:
    """Risk of the rows that are kept, with its interval and the best order."""
    return figure_of(risk_coverage_curve(overconfident(), confidence=0.95), WORDS)


@compared
def test_decision_on_a_slide() -> Figure:
    """Net benefit after recalibration, the raw score beside it."""
    table = overconfident()
    fitted = fit_recalibrator(RecalibratorName.BETA, table)
    curve = decision_curve(with_scores(table, fitted.predict(table.score)), raw=table)
    return figure_of(curve, WORDS, look=look_of(FigureSize.SLIDE))


@compared
def test_map_in_a_column() -> Figure:
    """Venn-Abers with its ends over observed rates, on a dark ground."""
    table = overconfident(400)
    points = binned_curve(table, bins=bins_of(Binning.EQUAL_MASS, 15, table=table))
    fitted = fit_recalibrator(RecalibratorName.VENN_ABERS, table)
    curve = map_curve(fitted, band=Band(None, ""), table=table, points=points, partition="each of 15 bins")
    return figure_of(curve, WORDS, look=look_of(FigureSize.COLUMN, Theme.DARK))


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


@compared
def test_compare() -> Figure:
    """Two scores without bins, beside each other."""
    return figure_of(side_by_side(PlotKind.COMPARE, PlotKind.SMOOTH, 2), WORDS)


@compared
def test_compare_five_in_a_column() -> Figure:
    """The last row is short, and each heading has the difference from the first."""
    picture = side_by_side(PlotKind.COMPARE, PlotKind.SMOOTH, 5)
    return figure_of(picture, WORDS, look=look_of(FigureSize.COLUMN))


@compared
def test_groups() -> Figure:
    """Nine on a page, on a dark ground."""
    picture = side_by_side(PlotKind.GROUPS, PlotKind.BINNED, 9)
    return figure_of(picture, WORDS, look=look_of(FigureSize.PAGE, Theme.DARK))


@compared
def test_classes_on_a_slide() -> Figure:
    """Seven, by log-odds."""
    picture = side_by_side(PlotKind.CLASSES, PlotKind.BINNED, 7)
    return figure_of(picture, WORDS, look=look_of(FigureSize.SLIDE), scale=AxisScale.LOGIT)


@compared
def test_isotonic() -> Figure:
    """CORP's diagram, on a page."""
    return figure_of(isotonic_curve(overconfident(), generator=np.random.default_rng(0)), WORDS)


@compared
def test_cumulative_in_a_column() -> Figure:
    """The path with its triangle, and scores along the top, on a dark ground."""
    return figure_of(cumulative_curve(overconfident()), WORDS, look=look_of(FigureSize.COLUMN, Theme.DARK))


@compared
def test_residual_on_a_slide() -> Figure:
    """The reliability curve less its diagonal."""
    return figure_of(residual_curve(reliability(PlotKind.SMOOTH)), WORDS, look=look_of(FigureSize.SLIDE))


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


@compared
def test_isotonic_of_five() -> Figure:
    """CORP panels on the same axes; yes and no are two points."""
    curves = [isotonic_curve(one, generator=np.random.default_rng(0)) for one in forecasts(5)]
    return figure_of(together(PlotKind.ISOTONIC, list(curves)), WORDS)


@compared
def test_murphy_of_four_in_a_column() -> Figure:
    """Lines with names where they lie apart."""
    curves = [murphy_curve(one) for one in forecasts(4)]
    return figure_of(together(PlotKind.MURPHY, list(curves)), WORDS, look=look_of(FigureSize.COLUMN))


@compared
def test_decision_of_nine_on_a_slide() -> Figure:
    """Six lines are told apart, three are grey, on a dark ground."""
    curves = [decision_curve(one) for one in forecasts(9)]
    look = look_of(FigureSize.SLIDE, Theme.DARK)
    return figure_of(together(PlotKind.DECISION, list(curves)), WORDS, look=look)


def parts_of(measure: MeasureName) -> McbDsc:
    """Return forecasts by their parts, one of them certain and wrong by the log loss."""
    mcb = np.array([0.0077, 0.0063, 0.0171, 0.0060, 0.0603 if measure is MeasureName.BRIER else math.inf])
    dsc = np.array([0.0736, 0.0657, 0.0752, 0.0110, 0.0431])
    unc, chance = np.full(5, 0.2228), np.array([0.009, 0.009, 0.009, 0.007, 0.0])
    names = ("fc_ensemble", "fc_radar", "fc_sharp", "climatology", "fc_yes_no")
    return McbDsc(measure, names, mcb - dsc + unc, mcb, dsc, unc, chance)


@compared
def test_mcb_dsc() -> Figure:
    """Points with names, and lines of equal Brier scores."""
    return figure_of(parts_of(MeasureName.BRIER), WORDS)


@compared
def test_mcb_dsc_in_a_column() -> Figure:
    """On a dark ground, one forecast at the end."""
    look = look_of(FigureSize.COLUMN, Theme.DARK)
    return figure_of(parts_of(MeasureName.LOG_LOSS), WORDS, look=look)
