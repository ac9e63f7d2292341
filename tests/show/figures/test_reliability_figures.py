"""The pictures: the same bytes every time, readable for any table, and nothing of pyplot."""

import io
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from calibcli.errors import UsageProblem
from calibcli.names import AxisScale, Binning, FigureSize, PlotKind, Theme
from calibcli.options.pictures import FORMATS
from calibcli.show.figures import figure_of
from calibcli.show.figures.bars import draw_spread, short_count
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Panel, Words, shortened
from calibcli.stats.curves.limits import (
    Extent,
    Limits,
    Spread,
    binned_extent,
    limits_for,
    limits_of,
    smooth_extent,
)
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve, smooth_curve
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, bins_of
from picture_checks import SHAPES, clashes, content, in_bins, rows_of, spread

CAPTION = ("smECE 0.0560 [0.0460, 0.0610] at 95% confidence", "1,000 rows, 476 with label 1")
KINDS = (PlotKind.SMOOTH, PlotKind.BINNED)
kinds = pytest.mark.parametrize("kind", KINDS)


def curve_of(table: ScoreTable) -> ReliabilityCurve:
    """Return both curves."""
    smooth = smooth_curve(table, bandwidth=0.03)
    return ReliabilityCurve(PlotKind.SMOOTH, in_bins(table), smooth, 0.95)


def test_a_closer_look_leaves_no_rows_out_unsaid() -> None:
    """A wide kernel and a wide bin shrink means, and not the axis of the scores."""
    rng = np.random.default_rng(0)
    table = ScoreTable.from_rows(rng.random(400), np.ones(400, dtype=bool))
    assert limits_for([smooth_extent(smooth_curve(table, bandwidth=0.5))]) == Limits()
    rare = ScoreTable.from_rows(np.minimum(rng.exponential(0.003, 4_000), 0.01), rng.random(4_000) < 0.004)
    lone = binned_curve(rare, bins=bins_of(Binning.EQUAL_WIDTH, 15, table=rare))
    assert lone.rows.size == 1
    assert 0.01 <= limits_for([binned_extent(lone)]).x[1] <= 0.0667
    figure = figure_of(ReliabilityCurve(PlotKind.BINNED, lone, None, 0.95), Words("rare", CAPTION))
    assert any("--binning equal-mass" in one.get_text() for one in figure.texts)


def test_rare_events_are_seen_where_they_are_and_rows_at_0_as_one_score() -> None:
    """By log-odds: next to no rows hold most events, and a score of its own is a narrow bar at any place."""
    counts = np.array([3_000_000, 200_000, 200_000, 20, 10])
    table = ScoreTable(np.array([0.0, 0.001, 0.01, 0.3, 0.4]), counts, np.array([60, 100, 1_000, 8, 5]))
    smooth = smooth_curve(table, bandwidth=0.5, log_odds=True)
    binned = binned_curve(table, bins=bins_of(Binning.EQUAL_WIDTH, 15, table=table))
    for extent in (binned_extent(binned), smooth_extent(smooth)):
        limits = limits_for([extent], AxisScale.LOGIT)
        assert limits.x[1] == 0.5
    curve = ReliabilityCurve(PlotKind.SMOOTH, binned, smooth, 0.95, smooth)
    figure = figure_of(curve, Words("rare", CAPTION), scale=AxisScale.LOGIT)
    paths = [one.get_paths()[0].vertices[:, 0] for one in figure.axes[0].collections]
    bars = [path for path in paths if path.size == 5]
    assert bars
    assert max(np.ptp(limits.shares(bar)) for bar in bars) < 0.01


CURVES = {name: curve_of(table) for name, table in SHAPES.items()}
shapes = pytest.mark.parametrize("shape", SHAPES)


def drawn(curve: ReliabilityCurve, kind: PlotKind, *, title: str = "preds.csv: score") -> Figure:
    """Draw with a caption."""
    return figure_of(replace(curve, kind=kind), Words(title, CAPTION))


@pytest.mark.untraced
def test_the_same_curve_gives_the_same_bytes() -> None:
    """Two figures of one curve are one file in every format, with no date in it."""
    one, other = (drawn(CURVES["fifty rows"], PlotKind.SMOOTH, title="予測.csv: スコア") for _ in range(2))
    for picture_format in FORMATS:
        found = content(one, picture_format)
        assert found == content(other, picture_format)
        assert b"CreationDate" not in found
        assert b"Matplotlib" not in found.replace(b"matplotlib.org", b"")


@pytest.mark.untraced
@kinds
@shapes
def test_every_shape_of_table_makes_a_picture(shape: str, kind: PlotKind) -> None:
    """No table warns (warnings are errors here), and text stands outside the axes."""
    figure = drawn(CURVES[shape], kind, title="/a/very/long/path/" * 9 + "predictions.parquet: score")
    page, main = figure.bbox, figure.axes[0]
    assert figure.legends
    for box in [one.get_window_extent() for one in (*figure.texts, *figure.legends)]:
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert not box.overlaps(main.bbox.shrunk(0.998, 0.998))
    figure.draw_without_rendering()
    if (shape, kind) == ("ten scores", PlotKind.BINNED):
        picture = Image.open(io.BytesIO(content(figure, "png")))
        assert picture.width == 900
        assert 850 < picture.height < 1_300
        assert np.asarray(picture.convert("L")).std() > 10.0
    (left, right), (bottom, top) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    assert -0.02 < left < right < 1.02
    assert -0.02 < bottom < top < 1.02


@pytest.mark.parametrize("letter", ["W", "i", "予", "/"])
def test_a_long_title_fits_in_a_few_lines(letter: str) -> None:
    """Whatever letters it is made of; the page is used."""
    figure = drawn(CURVES["fifty rows"], PlotKind.BINNED, title="a" + 900 * letter + "z")
    lines = [text for text in figure.texts if text.get_weight() == "bold"]
    assert 2 <= len(lines) <= 4
    assert figure.bbox.width * 0.85 < lines[0].get_window_extent().x1
    assert all(line.get_window_extent().x1 <= figure.bbox.x1 for line in lines)
    assert lines[0].get_text().startswith("a")
    assert lines[-1].get_text().endswith("z")


@pytest.mark.parametrize("size", FigureSize)
def test_a_title_of_some_words_is_whole(size: FigureSize) -> None:
    """Names of files and columns, and conditions, are not cut; what is below makes room."""
    title = (
        "predictions_of_the_production_model_2024_11_final.parquet where country==AT and device==phone: score"
    )
    curve = replace(CURVES["fifty rows"], kind=PlotKind.BINNED)
    figure = figure_of(curve, Words(title, CAPTION), look=look_of(size, Theme.LIGHT))
    lines = [text for text in figure.texts if text.get_weight() == "bold"]
    assert "".join(line.get_text() for line in lines).replace(" ", "") == title.replace(" ", "")
    assert clashes(figure) == []


def test_svg_is_xml_with_outlined_text() -> None:
    """Letters are paths, so the picture looks the same without the font."""
    figure = drawn(CURVES["fifty rows"], PlotKind.SMOOTH)
    root = ET.fromstring(content(figure, "svg"))  # noqa: S314 - our own bytes
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) > 30
    titles = [node.text for node in root.iter() if node.tag.endswith("}title")]
    assert "preds.csv: score" in titles


def test_pdf_embeds_its_font() -> None:
    """As TrueType, which printers and journals accept."""
    pdf = content(drawn(CURVES["fifty rows"], PlotKind.BINNED), "pdf")
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("costs $5 and $6_x: score", "costs $5 and $6_x: score"),
        ("予測.csv", "□□.csv"),
        ("a\tb\nc", "a b c"),
        ("", ""),
        ("\x07 bell", "\\x07 bell"),
    ],
)
def test_any_title_is_only_text(title: str, shown: str) -> None:
    """Dollar signs are no formula, letters that the font lacks become boxes, and nothing warns."""
    figure = drawn(CURVES["fifty rows"], PlotKind.SMOOTH, title=title)
    figure.draw_without_rendering()
    assert [text.get_text() for text in figure.texts if text.get_weight() == "bold"] == [shown]
    assert not any(text.get_parse_math() for text in figure.texts)


def test_the_measured_error_stands_in_the_picture() -> None:
    """As handed in, with the small print that says what is drawn."""
    texts = [text.get_text() for text in drawn(CURVES["rare events"], PlotKind.SMOOTH).texts]
    assert CAPTION[0] in texts
    assert CAPTION[1] in texts
    assert any("Clopper-Pearson's for effective rows" in text for text in texts)
    assert any(text.startswith("Zoomed: ") for text in texts)


def test_importance_weights_are_drawn_without_a_band() -> None:
    """And the small print says why."""
    table = ScoreTable.from_rows(spread(40), spread(40) > 0.4, Weighing(weight=1.0 + spread(40)))
    binned = binned_curve(table, bins=bins_of(Binning.EQUAL_WIDTH, 5, table=table))
    smooth = smooth_curve(table, bandwidth=0.1)
    curve = ReliabilityCurve(PlotKind.SMOOTH, binned, smooth, 0.95)
    for kind in KINDS:
        figure = drawn(curve, kind)
        figure.draw_without_rendering()
        assert any("importance weights" in text.get_text() for text in figure.texts)


def test_a_missing_smooth_curve_is_a_usage_problem() -> None:
    """A report of binned measures cannot be drawn smooth."""
    full = CURVES["fifty rows"]
    curve = ReliabilityCurve(PlotKind.SMOOTH, full.binned, None, 0.95)
    with pytest.raises(UsageProblem):
        figure_of(curve, Words("x"))


def test_drawing_never_imports_pyplot() -> None:
    """No global state, no window: pyplot stays out, and matplotlib's settings stay as they were."""
    program = """
import io, sys, warnings
# An older matplotlib calls newer pyparsing by names that are on their way out.
warnings.filterwarnings("ignore", ".*' deprecated - use '", DeprecationWarning, "matplotlib")
import matplotlib as mpl
def settings():  # asking for the backend would import pyplot
    return {key: mpl.rcParams[key] for key in mpl.rcParams if key != "backend"}
before = settings()
import numpy as np
from calibcli.stats.curves.reliability import ReliabilityCurve, binned_curve
from calibcli.stats.curves.reliability import smooth_curve
from calibcli.show.figures import figure_of
from calibcli.show.figures.page import Words
from calibcli.show.figures import save
from calibcli.names import PlotKind
from calibcli.stats.table.bins import ATOMS
from calibcli.stats.table import ScoreTable
table = ScoreTable.from_rows(np.array([0.2, 0.7]), np.array([False, True]))
smooth = smooth_curve(table, bandwidth=0.1)
binned = binned_curve(table, bins=ATOMS)
figure = figure_of(ReliabilityCurve(PlotKind.SMOOTH, binned, smooth, 0.95), Words("t"))
for picture_format in ("png", "svg", "pdf"):
    save(figure, io.BytesIO(), picture_format)
assert "matplotlib.pyplot" not in sys.modules
assert settings() == before
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)


def test_counts_stand_within_the_panel() -> None:
    """Those of scores of 0 and 1, too, which lay on the axis."""
    score = np.linspace(0.0, 1.0, 11)
    curve = curve_of(rows_of(score, score, counts=245))
    figure = figure_of(
        replace(curve, kind=PlotKind.BINNED),
        Words("p", CAPTION),
        look=look_of(FigureSize.COLUMN, Theme.LIGHT),
    )
    figure.canvas.draw()
    strip = figure.axes[1]
    inside = strip.get_window_extent()
    counts = [text.get_window_extent() for text in strip.texts]
    assert len(counts) > 2
    assert all(inside.x0 <= one.x0 and one.x1 <= inside.x1 for one in counts)


def test_short_counts() -> None:
    """Counts over bars take at most four letters and a unit."""
    shown = [
        short_count(n) for n in (0, 7, 950, 999, 1_000, 3_449, 9_960, 44_000, 999_499, 999_500, 5_000_000)
    ]
    assert shown == ["0", "7", "950", "999", "1k", "3.4k", "10k", "44k", "999k", "1M", "5M"]


def test_long_names_are_cut_in_the_middle() -> None:
    """Both ends stay."""
    assert shortened("short", 10) == "short"
    cut = shortened("/data/team/2026/predictions_of_the_model.parquet: score", 30)
    assert len(cut) == 30
    assert cut.startswith("/data/team/")
    assert cut.endswith("parquet: score")


def limits(score: list[float], rate: list[float], mass: list[float] | None = None) -> Limits:
    """Without intervals."""
    nothing = np.full(len(score), np.nan)
    share = np.ones(len(score)) if mass is None else np.array(mass)
    return limits_of(Extent(np.array(score), np.array(rate), share, nothing, nothing))


def test_scores_over_half_the_interval_show_the_unit_square() -> None:
    """No zoom, nothing to say."""
    assert limits([0.1, 0.9], [0.0, 1.0]) == Limits()
    assert Limits().sentence == ""


def test_rates_of_nothing_and_of_all_have_their_counts_by_log_odds() -> None:
    """Such a rate has no place there: an arrow and how many events it is of; linear axes need none."""
    table = ScoreTable(np.array([0.01, 0.2, 0.9]), np.array([40, 100, 7]), np.array([0, 20, 7]))
    curve = ReliabilityCurve(PlotKind.BINNED, binned_curve(table, bins=ATOMS), None, 0.95)
    for scale, counts in ((AxisScale.LOGIT, ["0 of 40", "7 of 7"]), (AxisScale.LINEAR, [])):
        axes = figure_of(curve, Words("grades"), scale=scale).axes[0]
        assert [one.get_text() for one in axes.texts if " of " in one.get_text()] == counts
        arrows = [str(one.get_marker()) for one in axes.lines]
        assert [one for one in arrows if one in {"^", "v"}] == (["v", "^"] if counts else [])


@pytest.mark.parametrize(
    ("shape", "kind", "scale"),
    [
        ("rare events", PlotKind.SMOOTH, AxisScale.LINEAR),
        ("rare events", PlotKind.BINNED, AxisScale.LOGIT),
        ("ten scores", PlotKind.BINNED, AxisScale.LINEAR),
        ("ten scores", PlotKind.SMOOTH, AxisScale.LOGIT),
    ],
)
def test_lines_of_no_skill_are_drawn_where_they_are(shape: str, kind: PlotKind, scale: AxisScale) -> None:
    """The base rate across and upright, and halfway between it and the diagonal; texts have their place."""
    curve = replace(CURVES[shape], kind=kind, attributes=True)
    figure = figure_of(curve, Words("t", CAPTION), scale=scale)
    assert clashes(figure) == []
    assert {"no skill", f"base rate {curve.base:.3g} (climatology)"} <= {
        text.get_text() for key in figure.legends for text in key.get_texts()
    }
    lines = [np.asarray(one.get_xydata()) for one in figure.axes[0].lines]
    halfway = [one for one in lines if len(one) == 200]
    assert len(halfway) == 1
    np.testing.assert_allclose(halfway[0][:, 1], 0.5 * (halfway[0][:, 0] + curve.base))
    assert any(np.all(one[:, 1] == curve.base) for one in lines)
    assert any(np.all(one[:, 0] == curve.base) for one in lines)


@pytest.mark.parametrize("score", [np.array([0.3]), 1e-7 * np.arange(1.0, 400.0)])
def test_rows_are_drawn_where_scores_lie_and_not_where_a_wide_kernel_reaches(score: np.ndarray) -> None:
    """One score, and scores next to 0 on an axis that has to hold a rate far above them."""
    table = ScoreTable.from_rows(score, np.arange(score.size) == 0)
    smooth = smooth_curve(table, bandwidth=0.5 if score.size == 1 else 0.003)
    figure = figure_of(replace(curve_of(table), smooth=smooth), Words("few", CAPTION))
    main, strip = figure.axes[:2]
    (drawn,) = (one.get_paths()[0].vertices[:, 0] for one in strip.collections)
    near = 0.02 * np.ptp(main.get_xlim())
    assert np.abs(drawn - score.mean()).max() < near


def test_narrow_scores_are_looked_at_closely() -> None:
    """From 0 where that is near, up to 1 where that is near, and the reader is told."""
    low = limits([0.001, 0.005, 0.01], [0.001, 0.004, 0.012])
    assert low.x == low.y
    assert low.x[0] == 0.0
    assert 0.012 < low.x[1] < 0.02
    high = limits([0.96, 0.99], [0.95, 0.99])
    assert high.x[1] == 1.0
    assert high.x[0] > 0.9
    assert "Zoomed" in high.sentence


def test_a_stray_score_does_not_undo_the_zoom() -> None:
    """One row in ten thousand may lie outside, and the sentence says so."""
    found = limits([0.001, 0.005, 0.01, 0.4], [0.0, 0.0, 0.01, 0.0], [5_000.0, 4_000.0, 999.0, 1.0])
    assert found.x[1] < 0.02
    assert "0.01 % of the rows lie outside" in found.sentence


def test_rates_far_from_the_scores_get_a_scale_of_their_own() -> None:
    """Scores to 0.01 with rates near 0.4 cannot share one scale."""
    found = limits([0.001, 0.005, 0.01], [0.4, 0.4, 0.42])
    assert found.x[1] < 0.02
    assert found.y[1] > 0.42
    assert "different scales" in found.sentence


@pytest.mark.parametrize(
    "limits",
    [Limits(), Limits((1e-3, 0.999), (1e-3, 0.999), scale=AxisScale.LOGIT)],
    ids=["scores", "log-odds"],
)
def test_every_row_is_drawn_once(limits: Limits) -> None:
    """Those at 0 and 1, on the outer edges, too; by log-odds they stand at the ends."""
    table = ScoreTable(
        np.array([0.0, 1e-3, 0.3, 0.999, 1.0]), np.array([40, 5, 30, 5, 20]), np.zeros(5, np.int64)
    )
    axes = Figure().add_subplot()
    panel = Panel(axes, axes, first=True, last=True, look=look_of(), limits=limits)
    draw_spread(panel, Spread.of(table.score, table.weight))
    heights = axes.patches[0].get_data().values  # type: ignore[attr-defined]
    assert heights.sum() == pytest.approx(1.0)
