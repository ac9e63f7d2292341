"""Murphy, decision and map from files: what stands in the caption is what is measured."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from calibcli.commands import page
from calibcli.commands.fit import fit_files
from calibcli.commands.measure import measure_files
from calibcli.commands.pictures import of_tables
from calibcli.commands.pictures.diagram import Diagram, PlotRequest
from calibcli.commands.pictures.map import options_of
from calibcli.commands.plot import diagram_of, figure_of_diagram
from calibcli.commands.report import ReportRequest
from calibcli.errors import DocumentProblem, UsageProblem
from calibcli.names import BetaForm, Binning, FitMethod, MeasureName, PlotKind, RecalibratorName
from calibcli.options.conditions import condition_of
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.options.pictures import PageOptions, PictureOptions
from calibcli.options.rows import Columns, Reading, RowRequest, RowSelection
from calibcli.show.figures import figure_of
from calibcli.show.figures.page import Words
from calibcli.show.words import three
from command_line import Run
from score_rows import scored

COLUMNS = Columns("score", "label")


def write(path: Path, *, rows: int = 300, seed: int = 0) -> str:
    """Write scores that are too far out."""
    score, label = scored(rows, lambda score: 0.15 + 0.6 * score, seed=seed, beta=(0.7, 1.2))
    lines = "".join(f"{f!r},{y:d}\n" for f, y in zip(score.tolist(), label, strict=True))
    path.write_text("score,label\n" + lines)
    return str(path)


def fitted(rows: str, path: Path, method: FitMethod, options: FitOptions | None = None) -> str:
    """Fit an artifact."""
    _, text = fit_files(RowRequest([rows], COLUMNS), MapOptions(method), options or FitOptions())
    path.write_text(text)
    return str(path)


def drawn(kind: PlotKind, *inputs: str, columns: Columns = COLUMNS, artifact: str | None = None) -> Diagram:
    """Ask for a diagram."""
    return diagram_of(PlotRequest(inputs, columns, kind=kind, artifact=artifact))


def test_named_thresholds_have_the_net_benefit_that_measure_has() -> None:
    """Value and interval in the caption; two of them limit the axis, and the curve stays the same."""
    rows = write(Path("p.csv"))
    options = MeasureOptions(thresholds=(0.6, 0.25))
    found = diagram_of(PlotRequest([rows], COLUMNS, kind=PlotKind.DECISION, options=options)).drawn
    plain = drawn(PlotKind.DECISION, rows).drawn.picture
    assert found.picture.marked == (0.25, 0.6)
    np.testing.assert_array_equal(found.picture.value, plain.value)
    said = []
    for one in reversed(measure_files(RowRequest([rows], COLUMNS), options=options).net_benefit):
        interval = one.net_benefit.interval
        ends = " to ".join(map(three, interval.ends))
        said.append(f"{one.threshold:g}: {three(one.net_benefit.value)} ({ends})")
    assert f"Net benefit at {'; '.join(said)}" in found.caption
    assert found.caption[0].endswith(", of thresholds between 0.25 and 0.6")
    low, high = figure_of(found.picture, Words("t")).axes[0].get_xlim()
    assert (low, high) == pytest.approx((0.25, 0.6), abs=0.02)
    # The score is a threshold in few rows of many, and on a grid they share its cell with others.
    many = write(Path("many.csv"), rows=9_000)
    with Path(many).open("a") as file:
        file.write("0.25,1\n0.2499999,0\n")
    reading = Reading(memory="16KiB")
    request = PlotRequest([many], COLUMNS, kind=PlotKind.DECISION, options=options, reading=reading)
    assert diagram_of(request).drawn.foot[-1].startswith("2 rows lie so near a threshold that rounding may")


@pytest.mark.parametrize("kind", [PlotKind.BINNED, PlotKind.ISOTONIC])
def test_an_axis_names_the_event_as_its_rows_do(kind: PlotKind) -> None:
    """Where --positive says which label counts as 1; else it is label 1."""
    rows = write(Path("p.csv"))
    named = Path("named.csv")
    text = Path(rows).read_text().replace("score,label", "score,state")
    named.write_text(
        re.sub(r",([01])$", lambda one: ",left" if one[1] == "1" else ",stayed", text, flags=re.MULTILINE)
    )
    columns = Columns("score", "state", positive="left")
    for diagram, event in (
        (drawn(kind, rows), "label 1"),
        (drawn(kind, str(named), columns=columns), "state = left"),
    ):
        axes = figure_of_diagram(diagram, PictureOptions()).axes[0]
        assert axes.get_ylabel().endswith(f" rate of {event}")


@pytest.mark.usefixtures("one_picture")
def test_a_report_remembers_which_label_counted_as_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """So its pictures name it, in a file, in letters and on the page, and so do summaries; older reports know
    of none.
    """
    rows, report, summary = Path("p.csv"), Path("report.json"), Path("summary.json")
    text = Path(write(rows)).read_text().replace("score,label", "score,state")
    rows.write_text(re.sub(r",([01])$", lambda one: f",{int(one[1]) + 1}", text, flags=re.MULTILINE))
    line = ["measure", rows, "-s", "score", "-y", "state", "--positive", "2"]
    assert "label=state positive=2" in run(*line).out
    assert run(*line, "--json", "-o", report, "--summary-out", summary).code == 0
    found = json.loads(report.read_text())
    assert found["input"]["positive"] == "2"
    assert "label=state positive=2" in run("measure", summary).out
    diagram = diagram_of(PlotRequest([str(report)], Columns(), kind=PlotKind.BINNED))
    axes = figure_of_diagram(diagram, PictureOptions()).axes[0]
    assert axes.get_ylabel() == "observed rate of state = 2"
    assert "observed rate of state = 2" in run("plot", report, "--terminal").out
    del found["input"]["positive"]
    report.write_text(json.dumps(found))
    assert "observed rate of label 1" in run("plot", report, "--terminal", "--allow-edited").out
    events = []
    monkeypatch.setattr(
        page, "figure_of", lambda *args, **more: (events.append(args[1].event), figure_of(*args, **more))[1]
    )
    asked = ReportRequest([str(rows)], Columns("score", "state", positive="2"))
    page.html_report(asked, PageOptions(), command="")
    assert set(events) == {"state = 2"}


def test_murphy_caption_is_the_measured_brier_score() -> None:
    """Value, interval and parts are those of `measure`."""
    rows = write(Path("p.csv"))
    names = (MeasureName.BRIER, MeasureName.BRIER_MCB, MeasureName.BRIER_DSC, MeasureName.BRIER_UNC)
    score, *parts = measure_files(
        RowRequest([rows], COLUMNS), options=MeasureOptions(metrics=Metrics(names, ()))
    ).measures
    first, second, third = drawn(PlotKind.MURPHY, rows).drawn.caption
    assert f"Brier score {score.value:.4f}  [{score.interval.lower:.4g}, " in first
    for part in parts:
        assert f"{part.value:.4f}" in second
    mcb, dsc, unc = (float(one) for one in re.findall(r"(?:MCB|DSC|UNC) ([0-9.]+)", second))
    assert mcb - dsc + unc == pytest.approx(score.value, abs=2e-4)
    assert third.startswith("300 rows, ")


def test_decision_caption_says_where_the_score_is_better() -> None:
    """The ranges of the curve, beyond noise first; with an artifact the raw score is drawn beside it."""
    rows = write(Path("p.csv"), rows=2_000)
    diagram = drawn(PlotKind.DECISION, rows)
    curve = diagram.drawn.picture
    assert curve.clearly_better
    assert f"{curve.clearly_better[0][0]:.3g} to" in diagram.drawn.caption[0]
    assert f"to {curve.better[-1][1]:.3g}" in diagram.drawn.caption[1]
    assert "base rate 0." in diagram.drawn.caption[2]
    assert curve.raw is None
    artifact = fitted(rows, Path("cal.json"), FitMethod.BETA)
    through = drawn(PlotKind.DECISION, rows, artifact=artifact).drawn.picture
    np.testing.assert_allclose(np.interp(0.3, *through.raw), np.interp(0.3, curve.at, curve.value))


def test_ends_of_many_ranges_are_rounded_as_those_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 0.101 on is not from 0.1 on, where nothing is shown."""
    monkeypatch.setattr(of_tables, "_MOST_RANGES", 0)
    diagram = drawn(PlotKind.DECISION, write(Path("p.csv"), rows=2_000))
    curve = diagram.drawn.picture
    assert curve.clearly_better
    ends = f"{curve.clearly_better[0][0]:.3g} to {curve.clearly_better[-1][1]:.3g}"
    assert f"from {ends}, in parts" in diagram.drawn.caption[0]


def test_decision_caption_of_a_score_that_says_nothing() -> None:
    """No range is claimed."""
    path = Path("p.csv")
    path.write_text("score,label\n" + "0.4,1\n0.4,0\n" * 20)
    assert drawn(PlotKind.DECISION, str(path)).drawn.caption[0].startswith("At no threshold")


def test_an_artifact_is_drawn_alone() -> None:
    """Its map, with the losses of its fit; and what would have no effect is refused."""
    rows = write(Path("p.csv"))
    artifact = fitted(rows, Path("cal.json"), FitMethod.HISTOGRAM)
    diagram = drawn(PlotKind.MAP, artifact, columns=Columns())
    curve = diagram.drawn.picture
    assert curve.method is RecalibratorName.HISTOGRAM
    assert curve.points is None
    assert "needs the fit rows" in curve.band
    fit = json.loads(Path(artifact).read_text())["fit"]
    sentence = f"log loss {fit['loss_before']:.4g} before, {fit['loss_after']:.4g} after"
    assert sentence in diagram.drawn.caption[1]
    with pytest.raises(UsageProblem, match="no effect"):
        drawn(PlotKind.MAP, artifact)


def test_a_map_over_other_rows_has_no_band() -> None:
    """Observed rates, and the Brier score of these rows through the map and before it."""
    artifact = fitted(write(Path("fit.csv")), Path("cal.json"), FitMethod.PLATT)
    rows = write(Path("p.csv"), seed=1)
    diagram = drawn(PlotKind.MAP, rows, artifact=artifact)
    curve = diagram.drawn.picture
    assert curve.points.total_rows == 300
    assert np.isnan(curve.lower).all()
    assert "these are others" in curve.band
    only = MeasureOptions(metrics=Metrics((MeasureName.BRIER,), ()), beside_raw=True)
    report = measure_files(RowRequest([rows], COLUMNS, artifact=artifact), options=only)
    assert f"{report.measures[0].value:.4g}" in diagram.drawn.caption[0]
    assert f"{report.slices['score=score'].measures[0].value:.4g}" in diagram.drawn.caption[1]


def test_a_map_over_its_fit_rows_has_a_resampling_band() -> None:
    """Around the map, the same each time; and the picture says that these are the fit rows."""
    rows = write(Path("p.csv"))
    artifact = fitted(rows, Path("cal.json"), FitMethod.SCALING_BINNING)
    first, second = (drawn(PlotKind.MAP, rows, artifact=artifact) for _ in range(2))
    curve, again = first.drawn.picture, second.drawn.picture
    np.testing.assert_array_equal(curve.upper, again.upper)
    assert "resampling band" in curve.band
    inside = (curve.score > 0.1) & (curve.score < 0.6)
    held = (curve.lower <= curve.output) & (curve.output <= curve.upper)
    assert held[inside].mean() > 0.9
    assert 0.01 < np.median((curve.upper - curve.lower)[inside]) < 0.5
    assert any("fitted on" in note for note in first.notes)
    sure = PlotRequest(
        [rows], COLUMNS, kind=PlotKind.MAP, artifact=artifact, options=MeasureOptions(confidence=0.99)
    )
    without = diagram_of(sure).drawn.picture
    assert without.band == "no band around the map: 99 % takes more than 100 refits"


def test_venn_abers_keeps_its_ends() -> None:
    """Over its fit rows, too."""
    rows = write(Path("p.csv"))
    curve = drawn(
        PlotKind.MAP, rows, artifact=fitted(rows, Path("cal.json"), FitMethod.VENN_ABERS)
    ).drawn.picture
    assert "p0 and p1" in curve.band


def test_a_grid_table_is_drawn_like_an_exact_one() -> None:
    """Over the memory allowed nothing moves that could be seen, in any of the three."""
    rows = write(Path("p.csv"), rows=3_000)
    artifact = fitted(write(Path("fit.csv"), seed=4), Path("cal.json"), FitMethod.BETA)
    for kind in (PlotKind.MURPHY, PlotKind.DECISION, PlotKind.MAP):
        applied = artifact if kind is PlotKind.MAP else None
        exact, grid = (
            diagram_of(
                PlotRequest([rows], COLUMNS, kind=kind, artifact=applied, reading=Reading(memory=memory))
            )
            for memory in ("256MiB", "16KiB")
        )
        assert exact.drawn.caption == grid.drawn.caption
        rounded = any("Scores are rounded to 1.4e-6" in line for line in grid.drawn.foot)
        assert rounded == (kind is not PlotKind.MAP)
        assert not any("rounded to" in line for line in exact.drawn.foot)


def test_every_picture_of_scores_says_that_they_are_rounded() -> None:
    """Whatever is drawn, and of a score before and after an artifact."""
    rows = write(Path("p.csv"), rows=300)
    artifact = fitted(write(Path("fit.csv"), seed=4), Path("cal.json"), FitMethod.BETA)
    little = Reading(memory="1KiB")
    kinds = (None, PlotKind.BINNED, PlotKind.RESIDUAL, PlotKind.ISOTONIC, PlotKind.CUMULATIVE)
    for kind, applied in (*((one, None) for one in kinds), (PlotKind.COMPARE, artifact)):
        requested = PlotRequest([rows], COLUMNS, kind=kind, artifact=applied, reading=little)
        assert "Scores are rounded to 1.4e-6." in diagram_of(requested).drawn.foot, kind


def test_options_of_a_fit_come_back_as_they_were() -> None:
    """Every method's plain record, with its choices as members again."""
    requested = FitOptions(
        bins=7, binning=Binning.EQUAL_WIDTH, form=BetaForm.AB, base=RecalibratorName.BETA, seed=5
    )
    for method in RecalibratorName:
        plain = requested.used_by(method)
        found = options_of(json.loads(json.dumps(plain)))
        assert found.used_by(method) == plain
        assert isinstance(found.base, RecalibratorName)


@pytest.mark.parametrize(("schema", "first"), [("calibcli.gate/1", "ids"), ("calibcli.artifact/1", "method")])
def test_a_document_without_its_kind_is_read_as_what_it_is(schema: str, first: str) -> None:
    """A state can only be drawn as a monitor, and an artifact as a map: what is missing in it is said."""
    path = Path("it.json")
    path.write_text(json.dumps({"schema": schema}))
    with pytest.raises(DocumentProblem, match=f"has no '{first}'"):
        diagram_of(PlotRequest([str(path)]))


def test_a_base_rate_that_counts_do_not_give_is_called_weighted() -> None:
    """With importance weights the share of label 1 is not that of the rows beside it."""
    path = Path("weighted.csv")
    path.write_text("score,label,w\n0.2,0,1.5\n0.4,1,0.5\n0.7,1,2.0\n0.1,0,4.0\n")
    diagram = drawn(PlotKind.DECISION, str(path), columns=Columns("score", "label", "w"))
    assert diagram.drawn.caption[-1] == "4 rows, 2 with label 1: weighted base rate 0.3125"


def test_conditions_stand_in_the_title_and_shares_in_the_caption() -> None:
    """A picture of some rows says which; the risk of the surest rows is said in percent."""
    rows = write(Path("p.csv"))
    some = Columns("score", "label", rows=RowSelection(where=(condition_of("score<0.9"),)))
    for kind in (PlotKind.RISK_COVERAGE, PlotKind.SMOOTH):
        assert drawn(kind, rows, columns=some).title == "p.csv where score<0.9: score"
    assert drawn(PlotKind.SMOOTH, rows).title == "p.csv: score"
    found = drawn(PlotKind.RISK_COVERAGE, rows).drawn.caption[1]
    wrong = 100.0 * float(np.mean(np.loadtxt(rows, delimiter=",", skiprows=1)[:, 1] == 0))
    assert found.startswith(f"Wrong (label 0): {wrong:.3g} % of all, ")
    assert re.search(r"% of the surest 80 %, [0-9.]+ % of the surest 50 %; 300 rows", found)
