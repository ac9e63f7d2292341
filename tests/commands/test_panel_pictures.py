"""What small multiples say is what was measured: the same numbers, the worst first, nothing left unsaid."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibcli
from calibcli.commands.compare import compare_files
from calibcli.commands.fit import fit_files
from calibcli.commands.gathering import FIT_ROWS
from calibcli.commands.measure import measure_files
from calibcli.commands.pictures.diagram import Diagram, PlotRequest, confidence_words
from calibcli.commands.pictures.reliability import brief, number_words
from calibcli.commands.plot import diagram_of
from calibcli.documents.sealed import sealed_text
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import Binning, FitMethod, MeasureName, OnMissing, PlotKind, Target, ViewName
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.measuring import CompareOptions, MeasureOptions, Metrics
from calibcli.options.rows import Columns, RowRequest, SeveralClasses
from calibcli.reports.measure import MeasureReport
from calibcli.stats.bounds import Interval
from calibcli.stats.curves import CurvePanels
from calibcli.stats.measures import Estimate

K = PlotKind
BY = Columns("score", "label", by=("country",))
TWO = Columns("score", "label", others=("other",))
ONE = Columns("score", "label")
CLASSES = Columns(label="kind", several=SeveralClasses("p_*"))


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write rows of two scores, twelve groups of which two are small, and four classes."""
    rng, count = np.random.default_rng(5), 4_000
    score = rng.beta(2.0, 3.0, count)
    group = rng.choice(12, count, p=[*[0.099] * 10, 0.007, 0.003])
    label = rng.random(count) < np.where(group == 3, score**2.0, score)
    chance = rng.dirichlet(np.ones(4), count)
    kind = (rng.random((count, 1)) > chance.cumsum(axis=1)).sum(axis=1).clip(0, 3)
    names = np.array(["ant", "bee", "cat", "dog"])
    columns: dict[str, object] = {
        "score": score,
        "other": score**1.4,
        "few": np.round(score, 1),
        "label": label,
        "country": [f"c{one}" for one in group],
        "kind": names[kind],
        **{f"p_{name}": chance[:, place] for place, name in enumerate(names)},
    }
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    return str(path)


@pytest.fixture(scope="module")
def artifact(rows: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Fit a recalibrator to the same rows."""
    path = tmp_path_factory.mktemp("cal") / "cal.json"
    path.write_text(
        fit_files(RowRequest([rows], Columns("other", "label")), MapOptions(FitMethod.BETA), FitOptions())[1]
    )
    return str(path)


def report_of(report: MeasureReport, folder: Path) -> str:
    """Write a report as `measure --json` does."""
    path = folder / "report.json"
    path.write_text(sealed_text(report.to_dict()))
    return str(path)


def picture(diagram: Diagram) -> CurvePanels:
    """Return the panels of a diagram."""
    return diagram.drawn.picture


def ece(report: MeasureReport) -> Estimate:
    """Return the measured ECE."""
    return next(one for one in report.measures if one.name is MeasureName.ECE)


def stated(value: float, lower: float | None = None, upper: float | None = None) -> Estimate:
    """Return a number with an interval, none where there are no ends."""
    none = lower is upper is None
    interval = Interval(lower, upper, 0.95, "some", Target.POPULATION, finite_sample=True)
    return Estimate(MeasureName.ECE, value, None if none else interval, None, (), 1)


def test_a_map_has_the_interval_that_compare_has(rows: str, artifact: str) -> None:
    """One method and one pair of numbers for a score and its map, in a picture and in `compare`."""
    said = diagram_of(PlotRequest([rows], ONE, artifact, kind=K.COMPARE)).drawn.caption[1]
    options = CompareOptions((MeasureName.BRIER,))
    (found,) = compare_files(RowRequest([rows], ONE), artifacts=(artifact,), options=options).comparisons
    interval = found.difference.interval
    assert said.endswith(f"{found.difference.value:+.4f} [{interval.lower:.4f}, {interval.upper:.4f}]")


def test_two_scores_stand_beside_each_other_with_their_difference(rows: str) -> None:
    """In the picture stands what `measure` finds of both and of their difference."""
    diagram = diagram_of(PlotRequest([rows], TWO))
    metrics = Metrics((MeasureName.SMECE, MeasureName.BRIER), ())
    report = measure_files(RowRequest([rows], TWO), options=MeasureOptions(metrics, drawn=False))
    first, second = picture(diagram).panels
    assert (first.name, second.name) == ("score", "other")
    assert first.error[1].startswith(f"{report.measures[0].value:.4f} [")
    assert second.error[1].startswith(f"{report.slices['score=other'].measures[0].value:.4f} [")
    differs, paired = report.differences["score=other"]
    assert diagram.drawn.caption[0].startswith(f"smECE, other less score: {differs.value:+.4f} [")
    assert f"{paired.value:+.4f} [{paired.interval.lower:.4f}, " in diagram.drawn.caption[1]


def test_few_values_are_binned_in_every_panel(rows: str) -> None:
    """And so is anything where bins were asked for; one score of many values keeps both without bins."""
    mixed = picture(diagram_of(PlotRequest([rows], Columns("few", "label", others=("other",)))))
    assert {one.curve.kind for one in mixed.panels} == {PlotKind.SMOOTH}
    requested = picture(
        diagram_of(PlotRequest([rows], TWO, options=MeasureOptions(bins=6, binning=Binning.EQUAL_MASS)))
    )
    assert {one.curve.kind for one in requested.panels} == {PlotKind.BINNED}
    assert [one.curve.binned.rows.size for one in requested.panels] == [6, 6]
    assert requested.panels[0].error[0].startswith("ECE ")


def test_more_than_two_scores_differ_from_the_first(rows: str) -> None:
    """Each heading has its own difference, and the paired ones stand in the small print."""
    diagram = diagram_of(PlotRequest([rows], Columns("score", "label", others=("other", "few"))))
    first, *others = picture(diagram).panels
    assert first.against[0] == ""
    assert all(one.against[0].startswith("differs by ") for one in others)
    assert "3 scores" in diagram.drawn.caption[0]
    assert "Brier score less that of score, row by row: other " in diagram.drawn.foot[0]


def test_raw_stands_beside_recalibrated(rows: str, artifact: str) -> None:
    """Rows that were fitted on are admitted."""
    columns = Columns("other", "label")
    diagram = diagram_of(PlotRequest([rows], columns, kind=K.COMPARE, artifact=artifact))
    assert [one.name for one in picture(diagram).panels] == ["raw", "recalibrated"]
    assert "recalibrated less raw: -" in diagram.drawn.caption[0]
    assert "row by row, recalibrated less raw: -" in diagram.drawn.caption[1]
    assert FIT_ROWS in diagram.notes
    assert "raw and through" in diagram.title


def test_worst_groups_come_first_and_small_ones_are_listed(rows: str) -> None:
    """By the largest lower bound, then by the error; intervals are those of `measure`."""
    diagram = diagram_of(PlotRequest([rows], BY))
    report = measure_files(
        RowRequest([rows], BY), options=MeasureOptions(Metrics((MeasureName.ECE,), ()), drawn=False)
    )
    found = picture(diagram)
    assert found.kind is K.GROUPS
    assert len(found.panels) == 9
    assert found.panels[0].name == "country = c3"
    assert found.panels[0].error[1] == number_words(ece(report.slices["country=c3"]))
    every = {key: ece(part) for key, part in report.slices.items()}
    bounds = {key: (one.interval.ends[0], one.value) for key, one in every.items() if one.interval}
    shown = [bounds[one.name.replace(" = ", "=")] for one in found.panels]
    assert shown == sorted(bounds.values(), reverse=True)[:9]
    assert "9 of 10 groups" in diagram.drawn.foot[0]
    assert "at 99.5 %, so that those of all 10 groups hold at once with 95 %" in diagram.drawn.foot[0]
    assert "Fewer than 100 rows, so not measured: country = c10 (" in diagram.drawn.foot[0]
    whole = f"ECE of all rows {number_words(ece(report))} at 95 % confidence"
    assert diagram.drawn.caption[0].startswith(whole)


def test_partitions_are_one_title_and_dropped_rows_are_said() -> None:
    """A picture of groups names the folder, not a file that nobody named, and what it leaves out."""
    frame = pd.DataFrame({"score": np.linspace(0.1, 0.9, 400), "label": np.arange(400) % 2})
    for year, part in frame.groupby(np.arange(400) // 200 + 2023):
        folder = Path(f"loans/year={year}")
        folder.mkdir(parents=True)
        part.assign(label=part["label"].mask(part.index == part.index[0])).to_csv(folder / "x.csv")
    columns = Columns("score", "label", by=("year",), on_missing=OnMissing.DROP)
    diagram = diagram_of(PlotRequest(["loans"], columns))
    assert diagram.title == "loans, 2 files: score by year"
    assert "2 rows with a missing value left out." in diagram.drawn.foot


def test_fewer_rows_may_be_enough(rows: str) -> None:
    """Then none is left out, and one that errs by noise does not come before one that surely errs."""
    diagram = diagram_of(PlotRequest([rows], BY, options=MeasureOptions(least_rows=1)))
    first, second, *_ = (float(one.error[1].split()[0]) for one in picture(diagram).panels)
    assert picture(diagram).panels[0].name == "country = c3"
    assert first < second
    assert "9 of 12 groups" in diagram.drawn.foot[0]
    assert "not measured" not in diagram.drawn.foot[0]


@pytest.mark.parametrize(
    ("view", "word"), [("one-vs-rest", "class-wise ECE"), ("top-label", "top-label ECE")]
)
def test_classes_are_drawn_in_the_view_asked_for(rows: str, view: str, word: str) -> None:
    """All four of them, with the error of all together in the caption."""
    several = SeveralClasses("p_*", view=ViewName(view))
    diagram = diagram_of(PlotRequest([rows], Columns(label="kind", several=several), view=ViewName(view)))
    assert {one.name for one in picture(diagram).panels} == {"ant", "bee", "cat", "dog"}
    assert diagram.drawn.caption[0].startswith(f"{word} 0.")
    assert "All 4 classes" in diagram.drawn.foot[0]
    assert "98.75 %" in diagram.drawn.foot[0]


def test_classes_without_a_view_stand_against_the_rest(rows: str) -> None:
    """That is what `--kind classes` means by itself."""
    diagram = diagram_of(PlotRequest([rows], CLASSES, kind=K.CLASSES))
    assert "against the rest" in diagram.title
    assert all(one.rows == 4_000 for one in picture(diagram).panels)


def test_a_report_shows_what_its_rows_show(rows: str, tmp_path: Path) -> None:
    """Groups, scores and classes from JSON have the panels of the files, number for number."""
    metrics = Metrics((MeasureName.ECE, MeasureName.SMECE, MeasureName.BRIER), ())
    for columns, kind, view in (
        (BY, K.GROUPS, None),
        (TWO, K.COMPARE, None),
        (CLASSES, K.CLASSES, ViewName.TOP_LABEL),
    ):
        options = MeasureOptions(metrics, drawn=False, complete=kind is K.COMPARE)
        report = report_of(measure_files(RowRequest([rows], columns), options=options), tmp_path)
        taken = diagram_of(PlotRequest([report], kind=kind, view=view))
        direct = diagram_of(PlotRequest([rows], columns, kind=kind, view=view))
        assert taken.drawn.caption == direct.drawn.caption
        assert taken.drawn.foot == direct.drawn.foot
        assert taken.title == direct.title
        for one, other in zip(picture(taken).panels, picture(direct).panels, strict=True):
            assert (one.name, one.rows, one.error) == (other.name, other.rows, other.error)
            assert one.curve.to_dict()["bins"] == other.curve.to_dict()["bins"]


def test_a_damaged_report_is_a_document_problem(rows: str) -> None:
    """Slices that are named must be there, and hold numbers."""
    options = MeasureOptions(Metrics((MeasureName.ECE,), ()), drawn=False)
    tree = measure_files(RowRequest([rows], BY), options=options).to_dict()
    for damage in ({"slices": {}}, {"groups": {"columns": ["country"]}}, {"groups": 3}):
        path = Path("damaged.json")
        path.write_text(json.dumps({**tree, **damage}))
        with pytest.raises(DocumentProblem, match=r"damaged\.json"):
            diagram_of(PlotRequest([str(path)], kind=K.GROUPS))


@pytest.mark.parametrize("cluster", [None, [0, 0, 1, 1, 2, 2]])
def test_bins_of_weighted_rows_hold_no_base_rate(cluster: list[int] | None) -> None:
    """Nor where rows are in clusters, of which there is no band for another reason."""
    frame = {
        "s": [0.1, 0.2, 0.3, 0.7, 0.8, 0.9],
        "y": [0, 0, 1, 0, 1, 1],
        "w": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
    asked = {"score": "s", "label": "y", "weight": "w", "weights_are": "importance", "metric": "ece"}
    found = calibcli.measure(frame, **asked, cluster=cluster)
    with pytest.raises(UsageProblem, match="needs a base rate"):
        calibcli.plot(found, attributes=True)


def test_small_numbers_are_not_rounded_to_nothing() -> None:
    """Nor is a zero below zero."""
    assert number_words(stated(0.00004)) == "0.000040"
    # Of rare events: [0.0000, 0.0003] said nothing.
    assert number_words(stated(0.00004, 0.0, 0.00031)) == "0.000040 [0.000000, 0.000310]"
    assert number_words(stated(-0.000001, -0.0002, 0.3), signed=True) == "+0.0000 [-0.0002, 0.3000]"
    assert number_words(stated(0.12345, 0.1, 0.2), 3) == "0.123 [0.100, 0.200]"
    assert confidence_words(stated(0.1, 0.0, None).interval) == ""


def test_long_names_are_cut_in_sentences() -> None:
    """Both ends stay; nothing at all has a name, too."""
    assert brief("DE") == "DE"
    assert brief("") == "(empty)"
    cut = brief("a" * 150 + "z" * 150)
    assert len(cut) == 31
    assert cut.startswith("a")
    assert cut.endswith("z")


def test_a_forecast_of_yes_and_no_is_two_rates_beside_others() -> None:
    """Not a curve through scores that no row has; without it the others are curves."""
    rng = np.random.default_rng(4)
    score = rng.random(300)
    columns = {"a": score, "b": score**2, "yes": np.round(score), "y": (rng.random(300) < score).astype(int)}
    path = Path("f.parquet")
    pq.write_table(pa.table(columns), path)

    def kinds(*others: str) -> list[PlotKind]:
        picture = diagram_of(PlotRequest([str(path)], Columns("a", "y", others=others))).drawn.picture
        assert len(picture.panels[-1].curve.binned.rows) == (2 if others[-1] == "yes" else 15)
        return [one.curve.kind for one in picture.panels]

    assert kinds("b", "yes") == [PlotKind.BINNED] * 3
    assert kinds("b") == [PlotKind.SMOOTH] * 2
