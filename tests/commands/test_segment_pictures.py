"""Pictures of segments say what `segments` says: the same numbers, and nothing left unsaid."""

import re
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands.pictures.diagram import Diagram, PlotRequest
from calibcli.commands.plot import diagram_of
from calibcli.commands.segments import segments_files
from calibcli.names import FigureSize, PlotKind, Theme
from calibcli.options.rows import Columns, RowRequest
from calibcli.options.segmenting import SegmentOptions
from calibcli.reports.segments import SegmentsReport
from calibcli.show.figures import figure_of
from calibcli.show.figures.look import look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves.segments import SegmentPoints
from command_line import CHURN, in_csv
from picture_checks import clashes

ON = Columns("score", "label", on=("country", "age"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write rows whose scores are wrong for one country, and both ways in another."""
    rng, many = np.random.default_rng(3), 8_000
    score = rng.uniform(0.1, 0.9, many)
    country = rng.choice(
        ["BR", "DE", "LU", "a country with a rather long name"], many, p=[0.4, 0.3, 0.01, 0.29]
    )
    chance = score - 0.1 * (country == "BR") + np.where(country == "DE", np.sign(score - 0.5) * 0.1, 0.0)
    columns = {
        "score": score,
        "label": rng.random(many) < chance,
        "country": country,
        "age": rng.normal(40.0, 9.0, many),
        "shop": [f"shop number {k}" for k in rng.integers(0, 14, many)],
        "month": [f"month {k}" for k in rng.integers(0, 12, many)],
    }
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    return str(path)


def drawn(rows: str, kind: PlotKind | None, columns: Columns = ON) -> Diagram:
    """Return a picture of segments."""
    return diagram_of(PlotRequest([rows], columns, kind=kind))


@pytest.fixture(scope="module")
def report(rows: str) -> SegmentsReport:
    """Return what the command says of the same segments."""
    return segments_files(RowRequest([rows], ON), options=SegmentOptions())


def test_pictures_say_why_segments_are_not_tested() -> None:
    """Thousands of rows that expect hardly an event are not called too few."""
    path = Path("rare.csv")
    in_csv(path, {"score": [0.3, 0.0005] * 3_000, "label": [1] + [0] * 7, "grade": "AB", "shop": "XXYY"})
    on = Columns("score", "label", on=("grade", "shop"))
    said = "\n".join(drawn(str(path), PlotKind.HEATMAP, on).drawn.foot)
    assert said == "3 segments are not tested: too few events or non-events expected."


def test_points_are_the_segments_that_are_tested(rows: str, report: SegmentsReport) -> None:
    """Rows, bias, ends and what stands out are those of the report; the listed ones are named in the foot."""
    found = drawn(rows, None).drawn
    picture, tested = found.picture, [one for one in report.segments if one.not_tested is None]
    assert picture.rows.tolist() == [one.rows for one in tested]
    assert picture.bias.tolist() == [one.bias for one in tested]
    assert picture.upper.tolist() == [
        one.bias_interval.upper for one in tested if one.bias_interval is not None
    ]
    assert picture.stands_out.tolist() == [one.stands_out for one in tested]
    standing, named = sum(one.stands_out for one in tested), len(report.shown)
    assert found.caption[0] == f"Of {len(tested)} segments, {standing} stand out (95 % for all at once)"
    assert len(picture.listed) == named >= 2
    said = "\n".join(found.foot)
    assert "1: country = BR" in said
    assert "too high by" in said
    assert re.search(
        r"country = DE \([0-9,]+ rows\), where scores from [0-9. to]+ are too (high|low) by 0\.", said
    )
    assert f"{standing - named} stand out as far as a larger one does." in said
    reasons = [one.not_tested for one in report.untested]
    assert f"{reasons.count(reasons[0])} segments are not tested: {reasons[0]}." in said


@pytest.mark.parametrize("size", [65, 80_000])
def test_segments_that_are_alike_have_a_number_of_rows(rows: str, size: int) -> None:
    """Where no round number lies among them, or the only one would leave the page."""
    found = drawn(rows, None).drawn.picture
    look = look_of(FigureSize.PAGE, Theme.LIGHT)
    figure = figure_of(
        replace(found, rows=np.full(found.rows.size, float(size))), Words("a", (), ()), look=look
    )
    assert clashes(figure) == []
    axes = figure.axes[0]
    ticks = [axes.xaxis.get_major_formatter()(one) for one in axes.get_xticks()]
    assert ticks
    assert all(size / 1.2 < float(one.replace(",", "")) < 1.3 * size for one in ticks)


def test_an_interval_about_0_is_no_error_in_both_directions() -> None:
    """Of few rows the range of residuals shows an error, and the mean not yet: all scores may be too low."""
    ends = np.array([-0.02]), np.array([0.001])
    points = SegmentPoints(
        np.array([1e3]), np.array([-0.01]), *ends, np.array([True]), ("g = f",), (0,), 0.95
    )
    figure = figure_of(points, Words("x"), look=look_of(FigureSize.PAGE, Theme.LIGHT))
    words = [one.get_text() for one in figure.legends[0].get_texts()]
    assert words == ["wrong, perhaps not on average", "calibrated on average"]


def test_cells_are_pairs_and_their_edges(rows: str, report: SegmentsReport) -> None:
    """Every segment of the report is in its cell, all rows in the last; small ones have no interval."""
    picture = drawn(rows, PlotKind.HEATMAP).drawn.picture
    assert (picture.down, picture.across) == ("country", "age")
    assert picture.lines == ("BR", "DE", "LU", "a country with a rather long name")
    assert picture.columns[0].startswith("≤ ")
    assert "–" in picture.columns[1]
    assert picture.rows[-1, -1] == 8_000
    assert np.count_nonzero(picture.rows) == len(report.segments)
    known = {one.where: one for one in report.segments}
    assert picture.bias[0, -1] == known["country = BR",].bias
    assert picture.lower[0, -1] == known["country = BR",].bias_interval.lower
    assert np.isnan(picture.lower[2]).all()
    assert picture.stands_out.sum() == sum(one.stands_out for one in report.segments)


LOOKS = cycle(product(FigureSize, Theme))


@pytest.mark.untraced
@pytest.mark.parametrize(
    ("kind", "on", "size", "theme"),
    [
        (kind, on, *next(LOOKS))
        for kind in (PlotKind.SEGMENTS, PlotKind.HEATMAP)
        for on in (("shop", "month"), ("month", "country"))
    ],
)
def test_no_text_lies_over_another(
    rows: str, kind: PlotKind, on: tuple[str, str], size: FigureSize, theme: Theme
) -> None:
    """At any size, of few and of many levels."""
    found = drawn(rows, kind, Columns("score", "label", on=on)).drawn
    words = Words("rows.parquet: score", found.caption, found.foot)
    assert clashes(figure_of(found.picture, words, look=look_of(size, theme))) == []


def test_a_long_interval_has_a_line_for_each_end() -> None:
    """Neither end is cut, nothing lies over another text, and a bias of next to nothing is one in digits."""
    rng = np.random.default_rng(2)
    word = rng.choice(["Austria", "Germany"], 4_000)
    size = pa.array(rng.permutation(np.linspace(1e10, 9e10, 4_000)), mask=rng.random(4_000) < 0.2)
    columns = {"score": np.full(4_000, 0.5001), "word": word, "size": size, "label": np.arange(4_000) % 2}
    pq.write_table(pa.table(columns), "rows.parquet")
    found = drawn("rows.parquet", PlotKind.HEATMAP, Columns("score", "label", on=("word", "size")))
    figure = figure_of(found.drawn.picture, Words("x"))
    texts = [one.get_text() for one in figure.axes[0].texts]
    assert any("–\n" in one for one in texts)
    assert not any("…" in one for one in texts)
    assert "+0.0001" in texts
    assert clashes(figure) == []


def test_signs_are_left_where_numbers_do_not_fit(rows: str) -> None:
    """A reader of a grey column still sees which way each cell is off."""
    found = drawn(rows, PlotKind.HEATMAP, Columns("score", "label", on=("shop", "month"))).drawn
    figure = figure_of(found.picture, Words("x"), look=look_of(FigureSize.COLUMN))
    texts = [one.get_text() for one in figure.axes[0].texts]
    assert texts.count("+") == (found.picture.bias[found.picture.is_tested] > 0).sum()


def test_a_page_has_the_section_and_both_pictures(rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`report --on` says what `segments` says, and judges a limit on segments."""
    from calibcli.commands import page as made
    from calibcli.shell.app import main

    # The others are drawn on every page.
    whole = made.full_report
    monkeypatch.setattr(
        made,
        "full_report",
        lambda asked: (found := whole(asked)) and replace(found, pictures=found.pictures[-2:]),
    )
    page = Path("report.html")
    words = ["report", rows, *CHURN, "--on", "country,age", "-o", str(page), "-q"]
    words += ["-m", "brier"]
    assert main([*words, "--max-segment-bias", "0.05"]) == 0
    text = page.read_text(encoding="utf-8")
    assert 'id="segments"' in text
    assert 'id="picture-segments"' in text
    assert 'id="picture-heatmap"' in text
    assert "Scores are too high for country = BR" in text
    assert "FAIL  bias of the worst segment" in text
    assert main(["report", rows, *CHURN, "--depth", "3", "-o", str(page), "--force"]) == 2
    assert main(["report", rows, "--rule", "segment_bias<=0.1", "-o", str(page), "--force"]) == 2
