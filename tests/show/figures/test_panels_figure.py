"""Small multiples: one pair of axes for all panels, headings that are whole, no text over another."""

from dataclasses import replace
from itertools import cycle, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from calibcli.errors import UsageProblem
from calibcli.names import AxisScale, Binning, FigureSize, PlotKind, Theme
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words, inches_of, printable, wrapped
from calibcli.show.figures.reliability import BinnedPlots
from calibcli.stats.curves import CurvePanel, CurvePanels
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve, smooth_curve
from calibcli.stats.table import ScoreTable
from calibcli.stats.table.bins import ATOMS, bins_of
from picture_checks import SHAPES, clashes, in_bins, rows_of, spread, texts_of

WORDS = Words(
    "/a/very/long/path/" * 9 + "preds.parquet: score by country",
    (
        "ECE of all rows 0.0427 [0.0100, 0.0584] at 95 % confidence",
        "40,000 rows, 339 with label 1; worst: DE",
    ),
    ("9 of 12 groups, the largest lower bound of the ECE first, then the largest ECE.",),
)
NAMES = (
    "DE",
    "costs $5 and $6_x",
    "予測 スコア",
    "W" * 300,
    "<b>m</b>",
    "a\tb\n\x1b[31mred",
    "(empty)",
    "i",
    "/",
)
ERROR = ("ECE 0.0554 [0.0000, 0.0721]", "0.0554 [0.0000, 0.0721]", "0.055 [0.000, 0.072]", "0.055")
AGAINST = (
    "differs by -0.0554 [-0.1044, 0.0721]",
    "-0.0554 [-0.1044, 0.0721]",
    "-0.055 [-0.1, 0.1]",
    "-0.055",
)
LINEAR = AxisScale.LINEAR


def curve_of(table: ScoreTable, kind: PlotKind) -> ReliabilityCurve:
    """Return both curves."""
    smooth = smooth_curve(table, bandwidth=0.03)
    return ReliabilityCurve(kind, in_bins(table), smooth, 0.994444)


CURVES = {
    name: curve_of(table, PlotKind.BINNED)
    for name, table in (SHAPES | {"one label only": rows_of(spread(100), 0.0)}).items()
}


def panels(*names: str, kind: PlotKind = PlotKind.BINNED, against: bool = False) -> CurvePanels:
    """Return panels with awkward names."""
    found = [
        CurvePanel(name, 10**place, ERROR, replace(CURVES[which], kind=kind), AGAINST if against else ())
        for place, (which, name) in enumerate(zip(names, cycle(NAMES), strict=False))
    ]
    return CurvePanels(PlotKind.GROUPS, tuple(found))


def drawn(
    picture: CurvePanels, size: FigureSize, theme: Theme = Theme.LIGHT, scale: AxisScale = LINEAR
) -> Figure:
    """Draw with awkward words."""
    return figure_of(picture, WORDS, look=look_of(size, theme), scale=scale)


SOME = tuple(SHAPES)[:9]
SMOOTH, BINNED, LOGIT = PlotKind.SMOOTH, PlotKind.BINNED, AxisScale.LOGIT
COLUMN, PAGE, SLIDE = FigureSize
CASES = [
    (SOME, BINNED, COLUMN, LINEAR),
    (SOME, BINNED, PAGE, LINEAR),
    (("fifty rows", "one row", "weighted", "saturated", "ten scores"), SMOOTH, SLIDE, LINEAR),
    (("rare events", "rows at 0 only"), BINNED, COLUMN, LINEAR),
    (("rare events", "fifty million rows", "one label only"), SMOOTH, PAGE, LOGIT),
    (("saturated", "saturated", "saturated", "saturated"), BINNED, SLIDE, LOGIT),
]


@pytest.mark.untraced
@pytest.mark.parametrize(("names", "kind", "size", "scale"), CASES)
def test_no_text_lies_over_another(
    names: tuple[str, ...], kind: PlotKind, size: FigureSize, scale: AxisScale
) -> None:
    """Whatever the rows, the names and the number of panels, on both grounds; warnings are errors here."""
    theme = Theme.DARK if kind is SMOOTH else Theme.LIGHT
    assert clashes(drawn(panels(*names, kind=kind, against=len(names) > 3), size, theme, scale)) == []


@pytest.mark.parametrize("event", ["Pathology = malignant", "W" * 28])
@pytest.mark.parametrize(("count", "size"), [(3, PAGE), (2, SLIDE), (3, COLUMN)])
def test_a_long_name_of_the_event_stays_beside_the_panels(count: int, size: FigureSize, event: str) -> None:
    """Beside one row of panels it lay over the first mark of the key."""
    words = replace(WORDS, event=event)
    figure = figure_of(panels(*SOME[:count]), words, look=look_of(size, Theme.LIGHT), scale=LINEAR)
    assert clashes(figure) == []
    (name,) = (text for text in figure.texts if text.get_rotation() == 90.0)
    assert event[-8:] in name.get_text()
    box = name.get_window_extent()
    assert not any(box.overlaps(key.get_window_extent()) for key in figure.legends)


@pytest.mark.parametrize(("count", "size"), list(zip((2, 5, 9), FigureSize, strict=True)))
def test_every_number_of_panels_is_drawn_on_the_same_axes(count: int, size: FigureSize) -> None:
    """Each panel has the ends of the others, so that they can be compared by eye."""
    figure = drawn(panels(*SOME[:count]), size)
    mains = [axes for axes in figure.axes if axes.get_ylim() == figure.axes[0].get_ylim()]
    assert len(mains) == count
    assert {axes.get_xlim() for axes in figure.axes} == {figure.axes[0].get_xlim()}
    boxes = [axes.get_position() for axes in figure.axes]
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])


def test_numbers_of_an_error_are_never_cut() -> None:
    """A heading takes another wording where it has no room: half a number would be another number."""
    for size, count in ((PAGE, 3), (SLIDE, 6), (COLUMN, 2)):
        texts = [one.get_text() for one in texts_of(drawn(panels(*SOME[:count], against=True), size))]
        said = [one for one in texts if one in (*ERROR, *AGAINST)]
        assert len(said) == 2 * count
        assert len(set(said)) == 2


def test_zoom_is_that_of_all_panels_together() -> None:
    """Scores within 0.01 are looked at closely, unless another panel has them everywhere."""
    close = drawn(panels("rare events", "rows at 0 only"), FigureSize.PAGE)
    assert 0.01 < close.axes[0].get_xlim()[1] < 0.03
    assert any("Zoomed" in one.get_text() for one in close.texts)
    whole = drawn(panels("rare events", "fifty rows"), FigureSize.PAGE)
    assert whole.axes[0].get_xlim()[1] > 1.0


def test_a_panel_of_many_rows_does_not_set_the_limits_alone() -> None:
    """Panels count alike, so that fifty million rows do not make thirty rows strays."""
    rare = ScoreTable(spread(101, 0.0, 0.01), np.full(101, 500_000), np.full(101, 2_000))
    heavy = CurvePanel("heavy", 1, ERROR, curve_of(rare, PlotKind.BINNED))
    light = CurvePanel("light", 1, ERROR, curve_of(rows_of(spread(30, 0.1, 0.2), 0.1), PlotKind.BINNED))
    figure = drawn(CurvePanels(PlotKind.GROUPS, (heavy, light)), FigureSize.PAGE)
    assert figure.axes[0].get_xlim()[1] > 0.18


def test_names_are_only_text() -> None:
    """Dollar signs are no formula, what is unseen is an escape, and what the font lacks is a box."""
    texts = {one.get_text(): one for one in texts_of(drawn(panels(*SOME[:6]), FigureSize.PAGE))}
    assert not texts["costs $5 and $6_x"].get_parse_math()
    assert "a b \\x1b[31mred" in texts
    assert "□□ □□□" in texts


def test_importance_weights_have_no_band_and_the_picture_says_so() -> None:
    """In a panel beside others that have one."""
    for kind in (PlotKind.BINNED, PlotKind.SMOOTH):
        figure = drawn(panels("fifty rows", "weighted", kind=kind), FigureSize.PAGE)
        said = " ".join(one.get_text() for one in figure.texts)
        assert "importance weights" in said
        assert "Clopper-Pearson" in said or "resampling" in said


def test_a_missing_smooth_curve_is_a_usage_problem() -> None:
    """A report of binned measures has none to show."""
    picture = panels("fifty rows", kind=PlotKind.SMOOTH)
    gone = replace(picture.panels[0], curve=replace(picture.panels[0].curve, smooth=None))
    with pytest.raises(UsageProblem):
        drawn(replace(picture, panels=(gone,)), FigureSize.PAGE)


@given(
    text=st.lists(st.sampled_from(["i", "a", "rate", "(95", "calibration_error", *NAMES[:4]]), max_size=40),
    room=st.sampled_from([0.02, 0.4, 2.2, 6.5]),
)
def test_lines_hold_as_many_words_as_fit(text: list[str], room: float) -> None:
    """No letter is lost, no line but one of a letter is wider than the room, and none had room for more."""
    lines = wrapped(" ".join(text), 8.0, room)
    assert "".join(lines).replace(" ", "") == "".join(printable(" ".join(text)).split())
    assert all(len(line) == 1 or inches_of(line, 8.0) <= room for line in lines)
    for line, after in pairwise(lines):
        assert inches_of(f"{line} {after.split()[0]}", 8.0) > room


def test_a_line_is_measured_a_few_times_not_once_a_word() -> None:
    """Letters are fitted to pixels, which takes its time: lines of 200 words were measured 200 times."""
    inches_of.cache_clear()
    lines = wrapped(" ".join(f"word{k}" for k in range(200)), 8.0, 6.5)
    assert inches_of.cache_info().misses <= 4 * len(lines) < 100


def test_a_count_of_scores_is_that_of_each_panel() -> None:
    """Of seven grades in panels of their own there are seven scores, and one in each."""
    table = rows_of(np.full(50, 0.25), 0.2)
    curve = binned_curve(table, bins=ATOMS)
    assert BinnedPlots((curve, curve), 0.95).notes()[0].startswith("1 distinct score each.")
    assert BinnedPlots((curve,), 0.95).notes()[0].startswith("1 distinct score.")


def test_panels_whose_rows_lie_in_one_bin_are_counted() -> None:
    """A score whose only value is its bin has none to cut, and of eight panels one does not speak for all."""
    table = ScoreTable.from_rows(spread(100, 0.7, 0.71), np.arange(100) % 2)
    lone = binned_curve(table, bins=bins_of(Binning.EQUAL_WIDTH, 15, table=table))
    atom = binned_curve(rows_of(np.full(50, 0.25), 0.2), bins=ATOMS)
    said = "lie in one bin: --binning"
    three = BinnedPlots((curve_of(SHAPES["fifty rows"], PlotKind.BINNED).binned, atom, lone), 0.95)
    assert f"All rows in 1 of 3 panels {said}" in three.notes()[1]
    assert not any(said in one for one in BinnedPlots((three.curves[0], atom), 0.95).notes())
    assert f"All rows {said}" in BinnedPlots((lone, lone), 0.95).notes()[1]
