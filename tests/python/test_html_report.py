"""The page itself: well-formed, harmless, readable, and with the numbers of the other commands."""

import base64
import hashlib
import math
import re
import shlex
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.commands.measure import measure_files
from calibcli.commands.page import MOST, WrittenReport, marks_of
from calibcli.commands.report import FullReport, ReportRequest, full_report
from calibcli.commands.verify import verify_files
from calibcli.families import LABELS
from calibcli.names import MeasureName, PlotKind
from calibcli.options.measuring import MeasureOptions
from calibcli.options.rows import Columns, RowRequest
from calibcli.show.figures.look import LIGHT
from calibcli.show.words import four
from calibcli.stats.curves.cumulative import cumulative_curve
from calibcli.stats.curves.reliability import BinnedCurve, ReliabilityCurve
from command_line import Run
from html_pages import HOSTILE, Page, drawings, read
from score_rows import scored_table

MOST_BYTES = 1_500_000


def test_the_page_is_well_formed(page: WrittenReport) -> None:
    """Every element is closed where it was opened, no attribute stands twice, and every svg is XML."""
    found = read(page.html)
    assert found.faults == []
    assert drawings(page.html)


def test_ids_are_unique_and_references_hold(page: WrittenReport) -> None:
    """No id occurs twice, and whatever is referred to is there."""
    found = read(page.html)
    ids = Counter(attributes["id"] for _, attributes, _ in found.elements if "id" in attributes)
    assert max(ids.values()) == 1
    referred = [
        one[1:]
        for _, attributes, _ in found.elements
        for one in [attributes.get("href", "")]
        if one[:1] == "#"
    ]
    referred += re.findall(r"url\(#([^)]+)\)", page.html)
    for _, attributes, _ in found.elements:
        referred += attributes.get("aria-labelledby", "").split()
    assert set(referred) <= set(ids)
    assert len(set(referred)) > 20


def test_nothing_is_loaded_from_anywhere(page: WrittenReport) -> None:
    """No attribute names an address, and the policy forbids every one but that of the empty icon."""
    found = read(page.html)
    for tag, attributes, _ in found.elements:
        assert not {"src", "srcset", "xlink:href", "action", "style", "xmlns"} & set(attributes), tag
        assert attributes.get("href", "#")[:1] == "#" or (tag, attributes["href"]) == ("link", "data:,")
    assert "@import" not in page.html
    policy = next(one["content"] for one in found.all("meta") if "http-equiv" in one)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_only_the_script_and_the_style_of_the_package_run(page: WrittenReport) -> None:
    """There is one script and one style, and the policy names their hashes."""
    found = read(page.html)
    policy = next(one["content"] for one in found.all("meta") if "http-equiv" in one)
    for tag in ("script", "style"):
        (text,) = found.said(tag)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
        assert "alert" not in text


def test_hostile_names_stay_text(hostile_page: WrittenReport) -> None:
    """Markup, scripts, attributes, templates and escapes in names of columns, groups and files do nothing."""
    found = read(hostile_page.html)
    assert not any(name.startswith("on") for _, attributes, _ in found.elements for name in attributes)
    assert not {"img", "b", "i", "iframe"} & {tag for tag, _, _ in found.elements}
    assert len(found.all("script")) == 1
    assert "\x1b" not in hostile_page.html
    assert "\u202e" not in hostile_page.html
    said = " ".join(data for _, data in found.words)
    for name in (HOSTILE["score"], HOSTILE["other"], HOSTILE["label"], HOSTILE["by"], HOSTILE["title"]):
        assert str(name) in said or repr(name) in said, name
    assert "49" not in re.findall(r"\{\{(.*?)\}\}", said)


def test_hostile_names_of_classes_stay_text(classes_page: WrittenReport) -> None:
    """Names of classes are written letter for letter."""
    found = read(classes_page.html)
    said = " ".join(data for _, data in found.words)
    assert not {"i", "b"} & {tag for tag, _, _ in found.elements}
    assert all(name in said for name in ("<i>a</i>", "b&b", "'c\""))


def test_every_drawing_says_its_numbers(page: WrittenReport) -> None:
    """Every svg has a role and a title; pictures have a description with the first line of the caption."""
    trees = drawings(page.html)
    assert all(tree.get("role") in {"img", "group"} and tree.find("title") is not None for tree in trees)
    pictures = [tree for tree in trees if tree.get("role") == "img"]
    captions = [drawn.caption[0] for _, drawn in page.found.pictures]
    for picture, caption in zip(pictures, captions, strict=True):
        assert caption.rstrip(".") in (picture.findtext("desc") or "")


def test_values_are_reached_by_keyboard_and_said(page: WrittenReport) -> None:
    """Every value can be focused, has a label and a title that say the same, and stands in a table too."""
    points = [attributes for tag, attributes, _ in read(page.html).elements if tag == "circle"]
    assert len(points) > 30
    assert all(one["tabindex"] == "0" and one["aria-label"] for one in points)
    titles = [one.text for tree in drawings(page.html) for one in tree.findall("circle/title")]
    assert titles == [one["aria-label"] for one in points]
    assert page.html.count('<details class="values">') == len(page.found.pictures)


def test_values_are_those_of_the_curve(artifact_page: WrittenReport) -> None:
    """The points of the binned diagram say the bins, and stand where the bins are drawn."""
    curve = artifact_page.found.measured.curve.binned
    found = read(artifact_page.html)
    binned = next(
        one
        for one in drawings(artifact_page.html)
        if "Reliability by bins" in (one.findtext("title") or "") and one.get("class") == "points"
    )
    circles = binned.findall("circle")
    assert len(circles) == curve.rows.size
    for circle, score, rate in zip(circles, curve.score.tolist(), curve.rate.tolist(), strict=True):
        assert f"mean score {four(score)}, observed rate {four(rate)}" in circle.get("data-words", "")
    start = found.text.index('id="picture-binned"')
    marks = re.findall(
        r'<use href="#picture-binned-[^"]*" x="([\d.]+)" y="([\d.]+)"', found.text[start : start + 90_000]
    )
    places = [(float(x), float(y)) for x, y in marks]
    for circle in circles:
        x, y = float(circle.get("cx", "nan")), float(circle.get("cy", "nan"))
        assert min(abs(x - other[0]) + abs(y - other[1]) for other in places) < 0.2


def test_tables_have_captions_and_headers(page: WrittenReport) -> None:
    """Every table has a caption, heads of columns, and a head in every row."""
    for table in re.findall(r"<table>.*?</table>", page.html, flags=re.DOTALL):
        found = Page(table)
        assert len(found.all("caption")) == 1
        assert "., by" not in table  # the answer above a table is no name of it
        scopes = Counter(one["scope"] for one in found.all("th"))
        assert scopes["col"] > 1
        assert scopes["row"] == len(found.all("tr")) - 1


def test_the_page_has_landmarks_and_headings_in_order(page: WrittenReport) -> None:
    """There is a language, one h1, no level left out, and a link that skips to the content."""
    found = read(page.html)
    assert found.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _, _ in found.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    first = found.all("a")[0]
    assert first == {"class": "skip", "href": "#content"}
    assert found.all("main")[0]["id"] == "content"


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_colours_can_be_told_from_the_ground(hostile_page: WrittenReport) -> None:
    """By WCAG's formula all text has a contrast of 4.5 or more: light, dark, printed, and in the drawings."""
    (style,) = read(hostile_page.html).said("style")
    blocks = re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)
    grounds = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks]
    assert len(grounds) == 3
    for colours in grounds:
        for name in ("ink", "faint", "link", "pass", "fail", "inconclusive"):
            for ground in ("paper", "card"):
                assert _contrast(colours[name], colours[ground]) >= 4.5, (name, ground, colours)
    assert _contrast(LIGHT.faint, LIGHT.paper) >= 4.5
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_numbers_are_those_of_measure_and_verify(
    artifact_request: ReportRequest, artifact_page: WrittenReport
) -> None:
    """One reading gives the measures of `measure` and the verdicts of `verify`, digit by digit."""
    found, request = artifact_page.found, artifact_request
    assert request.gate is not None
    assert found.verdicts is not None
    measured = measure_files(
        RowRequest(request.inputs, request.columns, artifact=request.artifact),
        options=MeasureOptions(beside_raw=True),
    )
    judged = verify_files(
        RowRequest(request.inputs, request.columns, artifact=request.artifact), options=request.gate
    )
    assert found.measured.to_dict() == measured.to_dict()
    assert found.verdicts.to_dict() == judged.to_dict()
    assert found.against_raw is not None
    brier = next(one for one in found.against_raw.comparisons if one.name is MeasureName.BRIER)
    said = " ".join(data for _, data in read(artifact_page.html).words)
    assert four(brier.difference.value) in said
    assert all(four(one.value) in said for one in measured.measures)


def test_a_page_shows_what_there_is(
    hostile_page: WrittenReport,
    artifact_page: WrittenReport,
    classes_page: WrittenReport,
    classes_found: FullReport,
) -> None:
    """Scores and groups, a map, and classes each have a section and a picture; without rules no verdict."""
    usual = [PlotKind.SMOOTH, PlotKind.BINNED, PlotKind.ISOTONIC, PlotKind.CUMULATIVE, PlotKind.RESIDUAL]
    for page, whole, sections, kinds, outcome in (
        (
            hostile_page,
            hostile_page.found,
            {"short", "verdict", "scores", "groups"},
            [PlotKind.MCB_DSC, PlotKind.COMPARE, PlotKind.GROUPS],
            True,
        ),
        (
            artifact_page,
            artifact_page.found,
            {"short", "verdict", "recalibration"},
            [PlotKind.MAP, PlotKind.COMPARE],
            True,
        ),
        (classes_page, classes_found, {"verdict", "classes"}, [PlotKind.CLASSES], False),
    ):
        found = read(page.html)
        assert sections | {"diagrams", "measures", "definitions", "origin", "again"} == {
            one["id"] for one in found.all("section")
        }
        assert [kind for kind, _ in whole.pictures] == [*usual, *kinds]
        assert any(one.get("class", "").startswith("badge") for one in found.all("p")) is outcome
        assert len(set(found.said("dt")) & set(LABELS)) == len(LABELS)


def test_digests_and_the_command_are_printed(
    artifact_request: ReportRequest, artifact_page: WrittenReport
) -> None:
    """A reader can check file, artifact and table, and make the page again."""
    said = " ".join(data for _, data in read(artifact_page.html).words)
    assert artifact_request.artifact is not None
    for path in (*artifact_request.inputs, artifact_request.artifact):
        with open(path, "rb") as file:  # noqa: PTH123 - a text
            assert hashlib.sha256(file.read()).hexdigest() in said
    assert str(artifact_page.found.measured.table.digest) in said
    assert "calibcli report --score" in said


@pytest.mark.untraced
def test_the_printed_command_makes_the_same_page(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    artifact_request: ReportRequest,
    artifact_page: WrittenReport,
) -> None:
    """What stands at the end of a page, pasted into a shell, gives that page byte for byte; exit code 0."""
    (command,) = Page(artifact_page.html).said("pre")
    assert artifact_request.artifact in shlex.split(command)
    monkeypatch.chdir(tmp_path)
    ran = run(*shlex.split(command)[1:], code=0)
    page = Path("report.html").read_bytes()
    assert page == artifact_page.html.encode()
    assert len(page) < MOST_BYTES
    assert ran.out == ""
    assert "report.html: PASS" in ran.err


def test_a_few_measures_are_enough(hostile_file: object) -> None:
    """Without smECE there is no smooth picture, and without ECE none of groups; nothing fails."""
    from calibcli.options.measuring import metrics_of

    columns = Columns(HOSTILE["score"], HOSTILE["label"], by=(HOSTILE["by"],))
    options = replace(MeasureOptions(), metrics=metrics_of(["brier"]))
    found = full_report(ReportRequest([str(hostile_file)], columns, options=options))
    kinds = [kind for kind, _ in found.pictures]
    assert kinds == [PlotKind.BINNED, PlotKind.ISOTONIC, PlotKind.CUMULATIVE, PlotKind.RESIDUAL]


unit = st.floats(0.0, 1.0)


def bins(scores: list[float]) -> BinnedCurve:
    """Return a bin a score, of rates without intervals."""
    score = np.array(scores)
    none = np.full(score.size, math.nan)
    rows = np.ones(score.size, np.int64)
    return BinnedCurve(score, score, rows, score, 1.0 - score, none, none, "no interval")


@given(st.lists(unit, min_size=1, max_size=120, unique=True).map(sorted))
def test_values_told_are_few_and_reach_both_ends(scores: list[float]) -> None:
    """However many bins there are, at most 25 are told, from left to right, with the first and the last."""
    curve = ReliabilityCurve(PlotKind.BINNED, bins(scores), None, 0.95)
    found = marks_of(curve)
    x = [one.place.x for one in found.marks]
    assert x == sorted(set(x))
    assert len(x) == len(scores) if len(scores) <= MOST else len(x) <= MOST
    assert (x[0], x[-1]) == (scores[0], scores[-1])
    assert all(one.place.y == 1.0 - one.place.x for one in found.marks)
    # As in the table of bins, different ones are called differently.
    assert len({one.cells[0] for one in found.marks}) == len(x)


def test_the_cumulative_path_tells_its_extremes() -> None:
    """Lowest and highest value, which the tests are taken from, are told whatever is left out."""
    curve = cumulative_curve(scored_table(3_000, lambda score: score**2, seed=2))
    y = [one.place.y for one in marks_of(curve).marks]
    assert (min(y), max(y)) == curve.range


def test_a_value_is_said_with_its_names() -> None:
    """The line that is read aloud names every number."""
    found = marks_of(ReliabilityCurve(PlotKind.BINNED, bins([0.25]), None, 0.95))
    assert found.words(found.marks[0]) == (
        "scores 0.25, rows 1, mean score 0.2500, observed rate 0.7500, interval of the rate none"
    )
