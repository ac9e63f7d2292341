"""Several scores, or groups, in one picture: what is drawn is what each gives by itself."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibcli.commands.measure import measure_files
from calibcli.commands.pictures.diagram import Diagram, PlotRequest
from calibcli.commands.pictures.over_time import shows_trend
from calibcli.commands.plot import diagram_of
from calibcli.commands.report import ReportRequest, full_report
from calibcli.errors import EmptyTable, UsageProblem
from calibcli.names import Band, MeasureName, OnMissing, PlotKind, Smoother
from calibcli.options.measuring import CLINICAL, MeasureOptions, Metrics
from calibcli.options.pictures import PictureOptions
from calibcli.options.rows import Columns, RowRequest
from calibcli.show.figures.clinical import ClinicalPlots
from calibcli.stats.curves import MOST_LINES, CurvePanels, Picture, curves_of
from calibcli.stats.curves.clinical import ClinicalCurve
from calibcli.stats.curves.isotonic import McbDsc
from calibcli.stats.curves.segments import TrendCurve
from command_line import in_csv

K = PlotKind
TOGETHER = [kind for kind in K if kind.facts.several]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write eleven scores of 400 rows, one of which says yes or no, and two groups."""
    rng = np.random.default_rng(2)
    chance = rng.beta(1.0, 2.0, 400)
    label = rng.random(400) < chance
    columns = {f"f{k}": np.clip(chance + rng.normal(0.0, 0.02 * k, 400), 0.01, 0.99) for k in range(10)}
    columns |= {"yes": np.round(chance).astype(int), "y": label.astype(int)}
    path = tmp_path_factory.mktemp("several") / "f.csv"
    in_csv(path, {**columns, "group": "ab"})
    return str(path)


def drawn(rows: str, kind: PlotKind, *names: str, by: tuple[str, ...] = (), **requested: object) -> Diagram:
    """Ask for a diagram."""
    columns = Columns(names[0], "y", others=names[1:], by=by)
    return diagram_of(PlotRequest([rows], columns, kind=kind, **requested))


@pytest.mark.parametrize("kind", [one for one in TOGETHER if one is not K.MCB_DSC])
def test_each_of_several_is_drawn_as_it_is_by_itself(kind: PlotKind, rows: str) -> None:
    """The same values, the name of its column, and the number that stands in the caption of one."""
    together = drawn(rows, kind, "f1", "f5", "yes").drawn
    assert together.picture.kind is kind
    assert [one.name for one in together.picture.panels] == ["f1", "f5", "yes"]
    for panel in together.picture.panels:
        alone = drawn(rows, kind, panel.name).drawn
        assert panel.error == alone.brief.lines[0]
        assert type(panel.curve) is type(alone.picture)
        for name in ("at", "value", "rate", "risk", "level", "lower"):
            if hasattr(panel.curve, name):
                np.testing.assert_array_equal(getattr(panel.curve, name), getattr(alone.picture, name))
    assert together.caption[1].startswith("400 rows, ")


@pytest.fixture(scope="module")
def holes(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write two scores of which one lacks every tenth value, and one that has none."""
    rng = np.random.default_rng(3)
    lines = ["a,b,ghost,y"]
    for place, (one, other) in enumerate(rng.random((200, 2)).round(3).tolist()):
        lines.append(f"{one},{other if place % 10 else ''},,{int(rng.random() < one)}")
    path = tmp_path_factory.mktemp("holes") / "h.csv"
    path.write_text("\n".join(lines))
    return str(path)


def test_points_of_pairs_are_those_of_each_score_alone(holes: str) -> None:
    """Each over the rows that it has; a score without any value is named and not drawn."""
    pairs = Columns("ghost", "y", others=("a", "b"), on_missing=OnMissing.PAIRWISE)
    found = diagram_of(PlotRequest([holes], pairs, kind=K.MCB_DSC)).drawn
    assert found.picture.names == ("a", "b")
    assert "Without any value, so not drawn: ghost." in found.foot
    for place, name in enumerate("ab"):
        drop = Columns(name, "y", on_missing=OnMissing.DROP)
        alone = diagram_of(PlotRequest([holes], drop, kind=K.MCB_DSC)).drawn.picture
        assert (found.picture.mcb[place], found.picture.dsc[place]) == (alone.mcb[0], alone.dsc[0])


@pytest.mark.parametrize("kind", [K.ISOTONIC, K.MURPHY, K.MCB_DSC, K.SMOOTH, K.COMPARE])
def test_pictures_say_which_rows_they_leave_out(holes: str, kind: PlotKind) -> None:
    """As the terminal does; nothing where none are."""
    others = ("b",) if kind is not K.SMOOTH else ()
    score = "b" if kind is K.SMOOTH else "a"
    drop = Columns(score, "y", others=others, on_missing=OnMissing.DROP)
    sentence = "20 rows with a missing value left out."
    assert sentence in diagram_of(PlotRequest([holes], drop, kind=kind)).drawn.foot
    whole = diagram_of(PlotRequest([holes], Columns("a", "y"), kind=K.MURPHY)).drawn
    assert not any("left out" in line for line in whole.foot)


def test_brier_scores_of_several_have_as_many_decimals() -> None:
    """However well one of them is calibrated: alone its parts have more, to add up to it."""
    path = Path("rows.csv")
    told = [(k, row <= 40 * k) for k in range(1, 4) for row in range(400)]
    fine, plain = np.array([k for k, _ in told]) / 10, np.tile([0.15, 0.25], 600)
    in_csv(path, {"fine": fine, "plain": plain, "y": np.array([one for _, one in told], dtype=int)})
    found = drawn(str(path), K.MURPHY, "fine", "plain").drawn.picture
    assert [len(one.error[0]) for one in found.panels] == [6, 6]


def test_the_best_and_the_worst_stand_in_the_caption(rows: str) -> None:
    """By the number that the picture encodes, as `measure` gives it."""
    said = drawn(rows, K.MURPHY, "f9", "f1", "f5").drawn.caption[0]
    only = MeasureOptions(metrics=Metrics((MeasureName.BRIER,), ()))
    found = sorted(
        (measure_files(RowRequest([rows], Columns(one, "y")), options=only).measures[0].value, one)
        for one in ("f1", "f5", "f9")
    )
    (low, best), *_, (high, worst) = found
    assert said == f"Lowest Brier score: {best} {low:.4f}; highest: {worst} {high:.4f}"
    between = MeasureOptions(thresholds=(0.45, 0.5))
    first, *_ = alone = drawn(rows, K.DECISION, "f1", options=between).drawn.caption
    assert " from 0.45 to 0.5, of thresholds between 0.45 and 0.5" in first
    assert not any(line.startswith("Point estimate") for line in alone)
    elsewhere = MeasureOptions(thresholds=(0.0001, 0.0002))
    for scores in (("f1",), ("f1", "f5")):
        sentence = " between 0.0001 and 0.0002 "
        assert sentence in drawn(rows, K.DECISION, *scores, options=elsewhere).drawn.caption[0]
    worth = drawn(rows, K.DECISION, "f1", "f5").drawn.caption[0]
    assert worth.endswith(" of 2 are clearly worth using at some threshold (95 %, all at once)")


def test_of_scores_in_one_order_none_ranks_better() -> None:
    """A score and its half have one AURC; of two equal ones the first that was named is the lowest."""
    path, score = Path("rows.csv"), np.arange(1, 101) / 101
    in_csv(path, {"b": score, "a": score / 2, "c": 1.0 - score, "y": np.arange(100) % 3 // 2})
    said = drawn(str(path), K.RISK_COVERAGE, "b", "a").drawn.caption[0]
    assert re.fullmatch(r"AURC 0\.\d{4}, the same for all", said)
    assert drawn(str(path), K.RISK_COVERAGE, "b", "a", "c").drawn.caption[0].startswith("Lowest AURC: b 0.")


def test_of_many_lines_the_best_are_told_apart(rows: str) -> None:
    """They come first, in the order in which they were named; no score is left out."""
    names = [f"f{k}" for k in reversed(range(10))]
    picture = drawn(rows, K.MURPHY, *names).drawn.picture
    shown = [one.name for one in picture.panels]
    score = {one.name: float(one.error[0]) for one in picture.panels}
    first, rest = shown[:MOST_LINES], shown[MOST_LINES:]
    assert sorted(shown) == sorted(names)
    assert first == [name for name in names if name in first]
    assert max(score[name] for name in first) <= min(score[name] for name in rest)


@pytest.mark.parametrize("kind", [K.ISOTONIC, K.CLINICAL])
def test_more_panels_than_a_page_holds_are_refused(kind: PlotKind, rows: str) -> None:
    """With the kinds that show all in one."""
    with pytest.raises(UsageProblem, match="at most 9 beside each other") as refused:
        drawn(rows, kind, *(f"f{k}" for k in range(10)))
    assert "--kind mcb-dsc" in str(refused.value.hint)


@pytest.mark.parametrize("kind", TOGETHER)
def test_groups_are_drawn_as_files_of_their_own(kind: PlotKind, rows: str) -> None:
    """Each group by its name, with the curve that its rows alone give."""
    picture = drawn(rows, kind, "f3", by=("group",)).drawn.picture
    lines = Path(rows).read_text().splitlines()
    some = Path("a.csv")
    some.write_text("\n".join([lines[0], *(line for line in lines if line.endswith(",a"))]))
    alone = drawn(str(some), kind, "f3").drawn.picture
    if isinstance(alone, McbDsc):
        assert picture.names == ("group = a", "group = b")
        assert not picture.one_base
        assert (picture.mcb[0], picture.dsc[0]) == (alone.mcb[0], alone.dsc[0])
        return
    assert [one.name for one in picture.panels] == ["group = a", "group = b"]
    for name in ("value", "rate", "risk", "level"):
        if hasattr(alone, name):
            np.testing.assert_array_equal(getattr(picture.panels[0].curve, name), getattr(alone, name))


def test_small_groups_are_left_out_and_said(rows: str) -> None:
    """And where none is large enough there is nothing to draw."""
    with pytest.raises(EmptyTable, match="no group has 201 rows"):
        drawn(rows, K.MURPHY, "f3", by=("group",), options=MeasureOptions(least_rows=201))
    columns = Columns("f3", "y", by=("yes",))
    options = MeasureOptions(least_rows=150)
    found = diagram_of(PlotRequest([rows], columns, kind=K.MCB_DSC, options=options))
    assert found.drawn.picture.names == ("yes = 0",)
    assert any("Fewer than 150 rows, so not drawn: yes = 1 (" in line for line in found.drawn.foot)


def test_small_print_of_panels_is_of_what_they_show(rows: str) -> None:
    """Panels have slopes without intervals, and said that these were rough; the rest is said once."""
    foot = drawn(rows, K.CLINICAL, "f1", by=("group",)).drawn.foot
    assert not [line for line in foot if "interval of" in line]
    assert len([line for line in foot if line.startswith("ICI")]) == 1
    assert any("is rough" in line for line in drawn(rows, K.CLINICAL, "f1").drawn.foot)


def test_curves_of_other_bandwidths_are_named(rows: str) -> None:
    """Each in the small print, by the score it is of; what is the same for all has no name."""
    options = MeasureOptions(smoother=Smoother.KERNEL)
    picture = drawn(rows, K.CLINICAL, "f1", "f9", options=options).drawn.picture
    notes = ClinicalPlots(curves_of(picture, ClinicalCurve), ("f1", "f9")).notes()
    assert [line.split(":")[0] for line in notes[:2]] == ["Curve of f1", "Curve of f9"]
    first, last = curves_of(picture, ClinicalCurve)
    notes = ClinicalPlots((first, last, first), ("a", "b", "c")).notes()
    assert [line.split(":")[0] for line in notes[:2]] == ["Curve of a and c", "Curve of b"]
    splines = drawn(rows, K.CLINICAL, "f1", "f9").drawn.picture
    notes = ClinicalPlots(curves_of(splines, ClinicalCurve), ("f1", "f9")).notes()
    assert [line.split(":")[0] for line in notes[:2]] == ["Curve", "Points"]


def test_each_simultaneous_band_says_of_which_score_it_is(rows: str) -> None:
    """After what holds of all."""
    look = PictureOptions(band=Band.SIMULTANEOUS)
    several = drawn(rows, K.ISOTONIC, "f1", "yes", look=look).drawn
    alone = drawn(rows, K.ISOTONIC, "yes", look=look).drawn
    (told,) = (line for line in alone.foot if line.startswith("The diagonal leaves the band"))
    assert several.foot[-1] == f"yes: {told}"
    assert several.foot[-2].startswith("f1: The diagonal stays in the band (p")
    assert not [line for line in drawn(rows, K.ISOTONIC, "yes").drawn.foot if "diagonal" in line]


def test_yes_and_no_are_two_points_in_every_picture(rows: str) -> None:
    """No curve goes through scores that no row has, even where one was asked for."""
    smooth = drawn(rows, K.SMOOTH, "yes").drawn
    assert smooth.picture.kind is K.BINNED
    assert "no curve between" in smooth.foot[0]
    assert smooth.caption[0].startswith("ECE ")
    assert np.isnan(drawn(rows, K.CLINICAL, "yes").drawn.picture.rate).all()


def test_reports_draw_what_was_asked_for(rows: str) -> None:
    """The clinical figure and net benefit, before all others, several scores, and groups that are months."""
    months = Path("months.csv")
    lines = Path(rows).read_text().splitlines()
    moments = ["month", *(f"2024-0{1 + k % 2}" for k in range(400))]
    months.write_text("\n".join(f"{line},{month}" for line, month in zip(lines, moments, strict=True)))

    def kinds(columns: Columns, options: MeasureOptions) -> dict[PlotKind, Picture]:
        found = full_report(ReportRequest([str(months)], columns, options=options)).pictures
        return {kind: drawn.picture for kind, drawn in found}

    requested = MeasureOptions(metrics=Metrics(CLINICAL, (), selected=True), thresholds=(0.2,))
    found = kinds(Columns("f1", "y", others=("f5",), by=("month",)), requested)
    assert [*found][:2] == [K.CLINICAL, K.DECISION]
    assert {K.TREND, K.MCB_DSC} <= {*found}
    assert isinstance(found[K.TREND], TrendCurve)
    assert found[K.TREND].names == ("2024-01", "2024-02")
    for kind in (K.ISOTONIC, K.CLINICAL, K.DECISION):
        assert isinstance(found[kind], CurvePanels)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("2023", "2024"), True),
        (("2024-01", "2024-12"), True),
        (("2024Q1", "2024-W07"), True),
        (("20240315", "2024-03-15 06:00"), True),
        (("2024-01", "unknown"), False),
        (("1", "2"), False),
        (("20240", "2024x"), False),
        (("2024",), False),
    ],
)
def test_moments_are_told_from_other_names(values: tuple[str, ...], rows: str, *, expected: bool) -> None:
    """By a year in front of every value, and there must be two to be a trend."""
    columns = Columns("f1", "y", by=("group",))
    only = MeasureOptions(metrics=Metrics((MeasureName.BIAS,), ()))
    report = measure_files(RowRequest([rows], columns), options=only)
    groups = replace(report.groups, columns=("when",), measured=tuple(f"when={one}" for one in values))
    assert shows_trend(replace(report, groups=groups)) is expected
