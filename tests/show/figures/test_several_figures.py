"""Several scores in one picture: no text over another, whatever the rows, the names and the size."""

from dataclasses import replace
from itertools import cycle, product

import numpy as np
import pytest
from matplotlib.figure import Figure

from calibcli.names import AxisScale, FigureSize, MeasureName, PlotKind, Smoother, Theme
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words, inches_of, told_apart
from calibcli.show.figures.panels import values_alone
from calibcli.stats.curves import MOST_LINES, CurvePanel, CurvePanels, Picture
from calibcli.stats.curves.clinical import clinical_curve
from calibcli.stats.curves.cumulative import RiskCoverageCurve, risk_coverage_curve
from calibcli.stats.curves.isotonic import McbDsc, isotonic_curve
from calibcli.stats.curves.thresholds import decision_curve, murphy_curve
from calibcli.stats.table import ScoreTable
from picture_checks import clashes, texts_of
from score_rows import scored

WORDS = Words("/a/very/long/path/" * 5 + "f.csv: 12 scores", ("Lowest Brier score: f 0.1569", "600 rows"))
LONG = "a very long name of a forecast, made by team {} in its version of 2024"
NAMES = ("fc", "costs $5 and $6_x", "予測 スコア", "<b>m</b>", "(empty)", *(LONG.format(k) for k in range(7)))
K = PlotKind


def table_of(place: int, rows: int, *, ends: bool = False) -> ScoreTable:
    """Return one forecast of the same rows, the noisier the later; at the ends some are certain."""
    chance, label = scored(rows, seed=7, beta=(1.0, 2.0))
    noise = np.random.default_rng(place).normal(0.0, 0.03 + 0.03 * place, rows)
    score = np.clip(chance + noise, 0.0, 1.0)
    return ScoreTable.from_rows(np.round(score) if ends and place % 3 == 0 else score, label)


def curve_of(kind: PlotKind, table: ScoreTable) -> Picture:
    """Return the curve of one score."""
    if kind is K.MURPHY:
        return murphy_curve(table)
    if kind is K.DECISION:
        return decision_curve(table)
    if kind is K.RISK_COVERAGE:
        return risk_coverage_curve(table, confidence=0.95)
    if kind is K.CLINICAL:
        return clinical_curve(table, smoother=Smoother.SPLINE, box=(("O/E", "1.0"),), confidence=0.95)
    return isotonic_curve(table, generator=np.random.default_rng(0), draws=40)


def several(kind: PlotKind, count: int, rows: int, *, ends: bool = False) -> CurvePanels:
    """Return as many forecasts of the same rows."""
    panels = [
        CurvePanel(
            name, rows, ("0.1569",), curve_of(kind, table_of(place, rows, ends=ends)), ("Brier 0.2", "0.2")
        )
        for place, name in zip(range(count), NAMES, strict=False)
    ]
    return CurvePanels(kind, tuple(panels))


def points(count: int, *, same: bool = True) -> McbDsc:
    """Return scores of which many lie close together, and one far off."""
    rng = np.random.default_rng(count)
    mcb, dsc = 0.02 + 0.004 * rng.random(count), 0.05 + 0.006 * rng.random(count)
    mcb[-1] = 0.08 if count < 5 else np.inf
    unc = np.full(count, 0.22) if same else 0.2 + 0.01 * np.arange(count)
    chance = np.where(np.arange(count) % 2, 0.0, 0.03)
    return McbDsc(MeasureName.LOG_LOSS, NAMES[:count], mcb - dsc + unc, mcb, dsc, unc, chance)


def said(figure: Figure) -> str:
    """Return all text on the page."""
    return " ".join(text.get_text() for text in texts_of(figure))


LOOKS = list(product(FigureSize, Theme))
CASES = [
    (kind, count, rows)
    for kind in (K.MURPHY, K.DECISION, K.RISK_COVERAGE, K.ISOTONIC, K.CLINICAL)
    for count, rows in ((5, 30), (12, 600))
]


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("case", "look", "scale"), list(zip(CASES, cycle(LOOKS), cycle(AxisScale), strict=False))
)
def test_no_text_lies_over_another(
    case: tuple[PlotKind, int, int], look: tuple[FigureSize, Theme], scale: AxisScale
) -> None:
    """Five and twelve scores, thirty rows, forecasts of yes and no, and names of any length."""
    kind, count, rows = case
    most = 9 if kind in (K.ISOTONIC, K.CLINICAL) else count
    picture = several(kind, min(count, most), rows, ends=count > 2)
    scale = scale if kind.facts.logit else AxisScale.LINEAR
    assert clashes(figure_of(picture, WORDS, look=look_of(*look), scale=scale)) == []


def test_small_print_of_a_slide_is_as_small_as_it_takes() -> None:
    """Where names make caption and key long, it stands below them in smaller letters, and lay over them."""
    words = replace(WORDS, caption=("a_very_long_name " * 7, *WORDS.caption[1:]))
    figure = figure_of(several(K.RISK_COVERAGE, 9, 300), words, look=look_of(FigureSize.SLIDE))
    assert clashes(figure) == []


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("count", "look", "same"),
    list(zip((1, 2, 5, 12, 3, 7), LOOKS, cycle((True, False, False, True)), strict=False)),
)
def test_names_of_points_lie_over_nothing(count: int, look: tuple[FigureSize, Theme], *, same: bool) -> None:
    """Neither over each other, nor over the numbers of the lines."""
    assert clashes(figure_of(points(count, same=same), WORDS, look=look_of(*look))) == []


def test_lines_are_told_apart_without_colour() -> None:
    """Six have dashes of their own; the others are grey, and named in the small print with their numbers."""
    axes = (figure := figure_of(several(K.MURPHY, 9, 300), WORDS)).axes[0]
    drawn = [one for one in axes.lines if one.get_zorder() == 3.0]
    assert len({str(one.get_linestyle()) + str(one._unscaled_dash_pattern) for one in drawn}) == MOST_LINES  # type: ignore[attr-defined]
    grey = [one for one in axes.lines if one.get_zorder() == 2.5]
    assert len(grey) == 3
    assert len({one.get_color() for one in grey}) == 1
    assert "Grey lines: " in said(figure)
    assert "3 more" in said(figure)


def test_lines_of_other_base_rates_have_one_each() -> None:
    """What depends on the base rate is drawn once where all have the same, and else dotted for each line."""
    same = several(K.RISK_COVERAGE, 2, 300)
    first, second = same.panels
    label = np.arange(200) % 5 == 0
    other = risk_coverage_curve(ScoreTable.from_rows(np.linspace(0.0, 1.0, 200), label), confidence=0.95)
    mixed = replace(same, panels=(first, replace(second, curve=other)))
    dotted = "kept at random, each by itself"
    assert "kept at random" in said(figure_of(same, WORDS))
    assert dotted not in said(figure_of(same, WORDS))
    assert dotted in said(figure_of(mixed, WORDS))
    heights = {float(one.get_ydata()[0]) for one in figure_of(mixed, WORDS).axes[0].lines}  # type: ignore[index,arg-type]
    assert {one.curve.base for one in mixed.panels if isinstance(one.curve, RiskCoverageCurve)} <= heights
    assert "Base rates differ" in " ".join(said(figure_of(mixed, WORDS)).split())


@pytest.mark.parametrize("same", [True, False])
def test_lines_of_equal_scores_are_where_their_numbers_say(*, same: bool) -> None:
    """On each of them DSC - MCB is UNC less the number; the base rate's goes through the origin."""
    picture = points(4, same=same)
    axes = figure_of(picture, WORDS).axes[0]
    base = float(picture.unc[0]) if same else 0.0
    numbers = {
        float(one.get_text()) for one in axes.texts if one.get_text().lstrip("-").replace(".", "").isdigit()
    }
    gaps = {
        round(base - float(line.get_ydata()[0] - line.get_xdata()[0]), 9)  # type: ignore[index, arg-type]
        for line in axes.lines
        if line.get_zorder() <= 1.5
    }
    assert numbers
    assert numbers < gaps
    assert round(base, 9) in gaps


def test_infinite_points_stand_at_the_end_and_are_said() -> None:
    """A score that was certain and wrong has no place on the axis."""
    figure = figure_of(points(6), WORDS)
    assert "infinite, as some rows gave probability 0 to what happened" in " ".join(said(figure).split())
    markers = [one.get_marker() for one in figure.axes[0].lines]
    assert markers.count(">") == 1


def test_names_that_are_cut_alike_keep_what_differs() -> None:
    """What all have in common is left out first; names that differ as they are stay."""
    shown = told_apart([LONG.format(k) for k in range(4)], 7.0, [1.0] * 4)
    assert len(set(shown)) == 4
    assert all(str(k) in one and inches_of(one, 7.0) <= 1.0 for k, one in enumerate(shown))
    assert told_apart(["fc_a", "fc_b"], 7.0, [1.0, 1.0]) == ["fc_a", "fc_b"]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["model = a, topic = law", "model = b, topic = law"], ["a, law", "b, law"]),
        (["g = 1", "g = (missing)"], ["1", "(missing)"]),
        (["g = 1", "h = 1"], ["g = 1", "h = 1"]),
        (["g = a, b", "g = c"], ["g = a, b", "g = c"]),
        (["fc_a", "fc_b"], ["fc_a", "fc_b"]),
    ],
)
def test_groups_without_their_columns_are_their_values(names: list[str], shown: list[str]) -> None:
    """Where all have the same columns, which the title names; whatever may be read otherwise stays."""
    assert values_alone(names) == shown


def test_panels_of_two_columns_are_named_in_full() -> None:
    """By the values, where names with both columns have no room."""
    found = several(PlotKind.ISOTONIC, 3, 200)
    topics = ("law", "mathematics", "bio")
    named = [
        replace(one, name=f"model = gpt-x, topic = {topic}")
        for one, topic in zip(found.panels, topics, strict=True)
    ]
    drawn = said(figure_of(replace(found, panels=tuple(named)), WORDS))
    assert all(f"gpt-x, {topic} " in drawn for topic in topics)


def test_by_log_odds_certain_scores_have_linear_axes() -> None:
    """There is no place for them, and the picture says so."""
    label = np.arange(60) % 3 == 0
    table = ScoreTable.from_rows((np.arange(60) % 2).astype(float), label)
    figure = figure_of(curve_of(K.ISOTONIC, table), WORDS, scale=AxisScale.LOGIT)
    assert figure.axes[0].get_xscale() == "linear"
    assert "log-odds have no room" in " ".join(said(figure).split())
    joined = [one for one in figure.axes[0].lines if one.get_zorder() == 2.9]
    assert joined == []
