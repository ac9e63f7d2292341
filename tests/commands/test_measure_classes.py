"""Several classes of files: slices of both views, what is said of them, and gates on every class."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.commands import measure as module
from calibcli.commands.measure import FEW, MOST_IN_FULL, measure_files
from calibcli.commands.pictures.diagram import PlotRequest
from calibcli.commands.plot import diagram_of
from calibcli.commands.slices import Group
from calibcli.commands.verify import verify_files
from calibcli.errors import EmptyTable, UsageProblem
from calibcli.names import (
    Binning,
    Bound,
    ClassMeasure,
    MeasureName,
    OnSum,
    Relation,
    VerdictName,
    ViewName,
    WeightMeaning,
)
from calibcli.options.gating import VerifyOptions
from calibcli.options.measuring import MeasureOptions, Metrics, metrics_of
from calibcli.options.rows import Columns, Reading, RowRequest, SeveralClasses
from calibcli.options.rules import Rule
from calibcli.reports.measure import MeasureReport
from calibcli.show.answers import answer_of
from calibcli.stats.measures.classes.binned import ClassViews, Seen
from calibcli.stats.table import Floats, Integers, sliced
from class_rows import drawn_rows, views_of

M = MeasureName
QUICK = Metrics((M.ECE, M.BIAS), ())
ONE = MeasureOptions(QUICK, complete=False)
OPTIONS = replace(ONE, least_rows=1)
NAMES = ("ant", "bee", "cat", "dog")
SEVERAL = SeveralClasses("p_*")
COLUMNS = Columns(label="label", several=SEVERAL)


def written(
    path: Path, probability: Floats, label: Integers, *, names: tuple[str, ...] = NAMES, **others: Any
) -> str:
    """Write rows as Parquet, and return the path."""
    columns = {f"p_{name}": probability[:, place] for place, name in enumerate(names)}
    table = pa.table({**columns, "label": np.array(names)[label], **others})
    pq.write_table(table, path, row_group_size=100)
    return str(path)


@pytest.fixture
def rows() -> tuple[Floats, Integers]:
    """Return rows of four classes."""
    return drawn_rows(600, 4, seed=1)


def slice_numbers(report: MeasureReport) -> dict[str, list[Any]]:
    """Return rows, values and intervals of every slice."""
    return {
        key: [part.table.rows, *((one.value, one.interval) for one in part.measures)]
        for key, part in report.slices.items()
    }


def together(report: MeasureReport) -> dict[str, Any]:
    """Return values and intervals of the measures of all classes."""
    return {one.name.value: (one.value, one.interval, one.null) for one in report.classes.measures}


def test_sums_of_each_class_over_its_bins_are_taken_once(
    rows: tuple[Floats, Integers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the measures of all classes together, the lower bounds of each and what it shows by chance."""
    seen = []

    def counted(group: Group, options: MeasureOptions) -> Seen:
        seen.append(group.key)
        return found(group, options)

    found = module._seen
    monkeypatch.setattr(module, "_seen", counted)
    path = written(Path("rows.parquet"), *rows)
    report = measure_files(RowRequest([path], COLUMNS), options=replace(OPTIONS, drawn=False))
    assert len(seen) == len(set(seen)) == len(report.slices)


def test_slices_are_the_classes_in_both_views(rows: tuple[Floats, Integers]) -> None:
    """Each slice has the ECE of its binary table, with confidence shared out over the slices of its view."""
    report = measure_files(RowRequest([written(Path("rows.parquet"), *rows)], COLUMNS), options=OPTIONS)
    views = views_of(*rows)
    assert report.classes.names == NAMES
    assert [one.view for one in report.classes.views] == [ViewName.ONE_VS_REST, ViewName.TOP_LABEL]
    for view, seen, word in zip(
        report.classes.views, (views.rest, views.top), ("class", "top-label"), strict=True
    ):
        assert view.measured == tuple(f"{word}={name}" for name in NAMES)
        assert view.confidence == pytest.approx(1 - 0.05 / 4)
        for key, one in zip(view.measured, seen, strict=True):
            ece = report.slices[key].measures[0]
            assert ece.value == pytest.approx(np.abs(one.sums.residual).sum() / one.sums.total)
            assert ece.interval.confidence == view.confidence
    assert [one.name for one in report.classes.measures] == list(ClassMeasure)


def test_order_of_columns_permutes_slices_and_leaves_the_rest(rows: tuple[Floats, Integers]) -> None:
    """Classes in another order have the same slices; measures of all of them keep every digit they show."""
    probability, label = rows
    order = np.array([2, 0, 3, 1])
    names = tuple(NAMES[place] for place in order)
    one = measure_files(RowRequest([written(Path("a.parquet"), *rows)], COLUMNS), options=OPTIONS)
    path = written(Path("b.parquet"), probability[:, order], np.argsort(order)[label], names=names)
    two = measure_files(RowRequest([path], COLUMNS), options=OPTIONS)
    assert slice_numbers(one) == slice_numbers(two)
    assert list(one.slices) != list(two.slices)
    for key, (value, interval, null) in together(one).items():
        again = together(two)[key]
        assert again[0] == pytest.approx(value, rel=1e-9)
        assert again[2] is null is None or again[2] == pytest.approx(null, rel=1e-9)
        assert again[1].lower == pytest.approx(interval.lower, rel=1e-9)
        assert again[1].upper == pytest.approx(interval.upper, rel=1e-9)


@pytest.mark.parametrize("memory", ["256MiB", "4KiB"])
def test_shards_and_workers_change_no_digit(
    rows: tuple[Floats, Integers], monkeypatch: pytest.MonkeyPatch, memory: str
) -> None:
    """Files cut in three, and read by one worker or two, give the same report, grids included."""
    monkeypatch.setattr(sliced, "_BUFFER_ROWS", 100)
    probability, label = rows
    whole = written(Path("whole.parquet"), *rows)
    cuts = [slice(0, 50), slice(50, 420), slice(420, 600)]
    shards = [
        written(Path(f"{place}.parquet"), probability[some], label[some]) for place, some in enumerate(cuts)
    ]
    found = [
        measure_files(RowRequest(inputs, COLUMNS, reading=Reading(jobs=jobs, memory=memory)), options=OPTIONS)
        for inputs, jobs in (([whole], 1), (shards, 1), (shards, 2))
    ]
    # Few scores of the largest probability lie so close together that a grid would save any.
    kinds = {part.table.kind for key, part in found[0].slices.items() if key.startswith("class=")}
    assert kinds == {"exact" if memory == "256MiB" else "grid"}
    assert slice_numbers(found[0]) == slice_numbers(found[1]) == slice_numbers(found[2])
    assert together(found[0]) == together(found[1]) == together(found[2])


def test_frequency_weights_are_repeated_rows(rows: tuple[Floats, Integers]) -> None:
    """A column of counts gives the slices and measures of the rows written out."""
    probability, label = rows
    times = np.random.default_rng(0).integers(0, 3, label.size)
    weighted = written(Path("w.parquet"), *rows, times=times)
    repeated = written(Path("r.parquet"), np.repeat(probability, times, axis=0), np.repeat(label, times))
    counted = replace(COLUMNS, weight="times", weights_are=WeightMeaning.FREQUENCY)
    one = measure_files(RowRequest([weighted], counted), options=OPTIONS)
    two = measure_files(RowRequest([repeated], COLUMNS), options=OPTIONS)
    assert slice_numbers(one) == slice_numbers(two)
    assert together(one) == together(two)


def test_classes_are_ordered_by_the_bound_of_a_gate() -> None:
    """Errors of either sign in few bins are seen; calibrated rows are hardly ever called off."""
    generator = np.random.default_rng(5)
    probability = generator.dirichlet((0.7, 0.7, 0.7), 6000)
    away = np.where(probability[:, 0] > 0.5, -0.12, 0.12) * probability[:, 1]
    true = probability + np.stack((away, -away, np.zeros(6000)), axis=1)
    true = np.clip(true, 0.0, 1.0) / np.clip(true, 0.0, 1.0).sum(1, keepdims=True)
    counted = []
    for chance in (true, probability):
        label = (generator.random((6000, 1)) > chance.cumsum(1)).sum(1).clip(max=2)
        path = written(Path("rows.parquet"), probability, label, names=NAMES[:3])
        report = measure_files(RowRequest([path], COLUMNS), options=OPTIONS)
        view, top = report.classes.views
        assert top.at_least is None
        assert view.worst is not None
        counted.append(sum(bound > 0.0 for bound in view.at_least.values()))
        drawn = diagram_of(PlotRequest([path], COLUMNS, view=ViewName.ONE_VS_REST)).drawn
        bounds = [view.at_least[f"class={one.name}"] for one in drawn.picture.panels]
        assert bounds == sorted(bounds, reverse=True)
        assert "of the interval or by betting" in drawn.foot[0]
        if chance is true:
            assert view.worst.by_lower == max(view.at_least, key=lambda key: view.at_least[key])
            # Half of the share of a class is that of the interval.
            gate = VerifyOptions((rule(M.ECE, 0.5),), confidence=1.0 - 0.05 / 6)
            one = view.worst.by_lower.partition("=")[2]
            assert f"above all class {one}, off by" in " ".join(answer_of(report))
            several = replace(SEVERAL, view=ViewName.ONE_VS_REST, one_class=one)
            gated = verify_files(RowRequest([path], replace(COLUMNS, several=several)), options=gate)
            assert gated.verdicts["max-ece"].lower == pytest.approx(view.worst.lower, abs=1e-12)
    assert counted == [2, 0]


def test_no_class_is_off_by_less_than_its_interval_shows() -> None:
    """Probabilities of odds sum to 1.05: errors of one sign, of which an interval shows more than a gate."""
    generator = np.random.default_rng(0)
    probability = generator.dirichlet((4.0, 2.0, 3.0), 6000)
    label = (generator.random((6000, 1)) > probability.cumsum(1)).sum(1).clip(max=2)
    path = written(Path("odds.parquet"), np.minimum(1.08 * probability, 1.0), label, names=NAMES[:3])
    columns = replace(COLUMNS, several=replace(SEVERAL, on_sum=OnSum.ACCEPT))
    report = measure_files(RowRequest([path], columns), options=OPTIONS)
    view, _ = report.classes.views
    shown = {
        key: one.interval.lower
        for key in view.measured
        for one in report.slices[key].measures
        if one.name is M.ECE and one.interval is not None
    }
    assert all(view.at_least[key] >= (lower or 0.0) for key, lower in shown.items())
    assert max(lower or 0.0 for lower in shown.values()) > 0.01


@pytest.mark.parametrize("view", [ViewName.ONE_VS_REST, ViewName.TOP_LABEL])
def test_one_class_is_its_slice(rows: tuple[Floats, Integers], view: ViewName) -> None:
    """With --class the whole report is that of the slice, and rows of other predictions are counted."""
    path = written(Path("rows.parquet"), *rows)
    every = measure_files(RowRequest([path], COLUMNS), options=replace(OPTIONS, binning=Binning.EQUAL_WIDTH))
    columns = replace(COLUMNS, several=replace(SEVERAL, view=view, one_class="bee"))
    one = measure_files(RowRequest([path], columns), options=replace(ONE, confidence=1 - 0.05 / 4))
    key = "class=bee" if view is ViewName.ONE_VS_REST else "top-label=bee"
    values = [(each.value, each.interval) for each in one.measures]
    assert values == [(each.value, each.interval) for each in every.slices[key].measures]
    assert one.classes is None
    predicted = int((rows[0].argmax(axis=1) == 1).sum())
    expected = (600, 0) if view is ViewName.ONE_VS_REST else (predicted, 600 - predicted)
    assert (one.input.rows, one.input.classes.elsewhere) == expected


def test_a_view_without_a_class_shows_its_slices_only(rows: tuple[Floats, Integers]) -> None:
    """The rest of the report is that of both views."""
    path = written(Path("rows.parquet"), *rows)
    columns = replace(COLUMNS, several=replace(SEVERAL, view=ViewName.TOP_LABEL))
    some = measure_files(RowRequest([path], columns), options=OPTIONS)
    assert set(some.slices) == {f"top-label={name}" for name in NAMES}
    assert together(some) == together(measure_files(RowRequest([path], COLUMNS), options=OPTIONS))


def test_classes_of_few_rows_are_listed() -> None:
    """Those that too few rows predict are named with their rows, and those that none does with 0."""
    probability = np.tile([[0.7, 0.2, 0.1, 0.0]], (200, 1))
    probability[:30] = [0.1, 0.6, 0.3, 0.0]
    path = written(Path("rows.parquet"), probability, np.arange(200) % 4)
    report = measure_files(RowRequest([path], COLUMNS), options=replace(OPTIONS, least_rows=100))
    rest, top = report.classes.views
    assert (rest.left_out, len(rest.measured)) == ({}, 4)
    assert top.measured == ("top-label=ant",)
    assert top.left_out == {"top-label=bee": 30, "top-label=cat": 0, "top-label=dog": 0}
    assert top.confidence == 0.95


def test_ties_and_sums_are_counted() -> None:
    """Rows with several most probable classes, and rows divided by their sum, are said in the input; ties of
    rows that predict another class than the one that is looked at are not.
    """
    probability = np.array([[0.4, 0.4, 0.2, 0.0], [0.1, 0.7, 0.1, 0.1], [0.6, 0.6, 0.4, 0.4]] * 10)
    path = written(Path("rows.parquet"), probability, np.zeros(30, int))
    several = replace(SEVERAL, on_sum=OnSum.NORMALISE)
    for one, counts in ((None, (4, 20, 10)), ("ant", (4, 20, 10)), ("bee", (4, 0, 10))):
        view = ViewName.CONFIDENCE if one is None else ViewName.TOP_LABEL
        columns = replace(COLUMNS, several=replace(several, view=view, one_class=one))
        read = measure_files(RowRequest([path], columns), options=ONE).input.classes
        assert (read.count, read.tied, read.normalised) == counts


def test_rows_taken_as_they_are_have_no_loss_of_whole_rows(rows: tuple[Floats, Integers]) -> None:
    """Each class is measured as it stands, and what needs a distribution is left out, and said."""
    probability, label = rows
    path = written(Path("rows.parquet"), 0.5 * probability, label)
    columns = replace(COLUMNS, several=replace(SEVERAL, on_sum=OnSum.ACCEPT))
    report = measure_files(RowRequest([path], columns), options=OPTIONS)
    assert set(together(report)) == set(ClassMeasure) - {"class_log_loss", "class_brier"}
    assert any("sums of rows were not looked at" in note for note in report.notes)
    assert report.input.classes.normalised == 0
    found = next(one.value for one in report.slices["class=bee"].measures if one.name is M.BIAS)
    assert found == pytest.approx(float(np.mean((label == 1) - 0.5 * probability[:, 1])), abs=1e-12)


def test_a_bin_for_each_score_that_stands_alone_is_refused() -> None:
    """Distinct scores are bins where they repeat; else there is one row in each."""
    probability, label = drawn_rows(1_200, 4, seed=8)
    options = replace(OPTIONS, metrics=metrics_of(["ece"]), binning=Binning.ATOMS)
    alone = written(Path("alone.parquet"), probability, label, names=NAMES)
    with pytest.raises(UsageProblem, match=r"class=ant has 1,200 distinct scores in 1,200 rows") as problem:
        measure_files(RowRequest([alone], COLUMNS), options=options)
    assert "equal-width" in str(problem.value.hint)
    tenths = np.round(probability[:, :3], 1) / 2.0
    repeated = np.column_stack((tenths, 1.0 - tenths.sum(axis=1)))
    path = written(Path("repeated.parquet"), repeated, label, names=NAMES)
    assert "class=ant" in measure_files(RowRequest([path], COLUMNS), options=options).slices


def test_many_classes_are_measured_by_few_measures() -> None:
    """Above twenty classes a slice has ECE, bias and Brier score, unless others are asked for."""
    count = MOST_IN_FULL + 1
    probability, label = drawn_rows(80, count, seed=3)
    names = tuple(f"{place:02}" for place in range(count))
    path = written(Path("rows.parquet"), probability, label, names=names)
    plain = measure_files(RowRequest([path], COLUMNS), options=MeasureOptions(complete=False, least_rows=1))
    assert plain.classes.few
    part = plain.slices["class=07"]
    assert (tuple(one.name for one in part.measures), part.tests) == (FEW, ())
    assert part.measures[0].null is not None
    requested = replace(OPTIONS, metrics=metrics_of(["linf", "accuracy"]))
    found = measure_files(RowRequest([path], COLUMNS), options=requested)
    assert [one.name for one in found.slices["class=07"].measures] == [M.LINF]
    assert list(together(found)) == ["accuracy"]


def test_measures_of_all_classes_alone_have_no_slices(rows: tuple[Floats, Integers]) -> None:
    """Where nothing is asked that a single class has, no class is measured."""
    options = replace(OPTIONS, metrics=metrics_of(["top-label-ece"]))
    report = measure_files(RowRequest([written(Path("rows.parquet"), *rows)], COLUMNS), options=options)
    assert (report.slices, report.measures, list(together(report))) == ({}, (), ["top_label_ece"])


def test_measures_of_classes_need_all_of_them(rows: tuple[Floats, Integers]) -> None:
    """One score, one class, or dependent rows do not have them, and that is said."""
    path = written(Path("rows.parquet"), *rows, site=np.arange(600) % 60)
    options = replace(ONE, metrics=metrics_of(["accuracy"]))
    one_class = replace(SEVERAL, view=ViewName.TOP_LABEL, one_class="bee")
    for columns, words in (
        (Columns("p_bee", "label", positive="bee"), "--probs names none"),
        (replace(COLUMNS, several=one_class), "--class bee looks at one"),
        (replace(COLUMNS, cluster="site"), "depend on each other"),
    ):
        with pytest.raises(UsageProblem, match=words):
            measure_files(RowRequest([path], columns), options=options)
    report = measure_files(RowRequest([path], replace(COLUMNS, cluster="site")), options=ONE)
    assert (report.classes, report.slices) == (None, {})
    assert any("classes are not measured" in note for note in report.notes)


def test_a_class_that_no_row_predicts_is_an_empty_table() -> None:
    """Looking at its predictions alone says that there are none."""
    path = written(Path("rows.parquet"), np.tile([[0.7, 0.3, 0.0, 0.0]], (20, 1)), np.zeros(20, int))
    columns = replace(COLUMNS, several=replace(SEVERAL, view=ViewName.TOP_LABEL, one_class="dog"))
    with pytest.raises(EmptyTable, match="none of 20 rows predicts the requested class"):
        measure_files(RowRequest([path], columns), options=ONE)


def test_bins_that_cut_cells_of_many_scores_are_refused(
    rows: tuple[Floats, Integers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grids of classes take numbers of bins that divide 5,040, and the message names the way out."""
    monkeypatch.setattr(sliced, "_BUFFER_ROWS", 100)
    path = written(Path("rows.parquet"), *rows)
    with pytest.raises(UsageProblem, match="cut the cells"):
        measure_files(
            RowRequest([path], COLUMNS, reading=Reading(memory="4KiB")), options=replace(OPTIONS, bins=17)
        )


def test_importance_weights_reach_every_view(rows: tuple[Floats, Integers]) -> None:
    """Slices and measures are those of weighted tables."""
    weight = np.random.default_rng(2).random(600) + 0.1
    path = written(Path("rows.parquet"), *rows, heavy=weight)
    columns = replace(COLUMNS, weight="heavy", weights_are=WeightMeaning.IMPORTANCE)
    report = measure_files(RowRequest([path], columns), options=OPTIONS)
    assert all(part.table.weighted for part in report.slices.values())
    right = rows[0].argmax(axis=1) == rows[1]
    assert together(report)["accuracy"][0] == pytest.approx(weight[right].sum() / weight.sum())


def rule(name: MeasureName, limit: float) -> Rule:
    """Return a claim that a measure is at most a limit."""
    return Rule(f"max-{name.value}", name, Bound.UPPER, Relation.AT_MOST, limit)


@pytest.mark.parametrize("view", [ViewName.ONE_VS_REST, ViewName.TOP_LABEL])
def test_a_gate_on_a_view_judges_every_class(rows: tuple[Floats, Integers], view: ViewName) -> None:
    """Each rule is a claim for each class and for no whole; fails share out the error probability."""
    path = written(Path("rows.parquet"), *rows)
    columns = replace(COLUMNS, several=replace(SEVERAL, view=view))
    options = VerifyOptions((rule(M.ECE, 0.4), rule(M.BIAS, 0.3)))
    report = verify_files(RowRequest([path], columns), options=options)
    assert report.verdicts == {}
    assert report.rules == ("max-ece", "max-bias")
    assert len(report.claims) == 8
    assert [claim.confidence_of_fail for claim in report.claims] == pytest.approx([1 - 0.05 / 8] * 8)
    seen = views_of(*rows)
    parts = seen.rest if view is ViewName.ONE_VS_REST else seen.top
    values = [one.verdicts["max-ece"].value for one in report.groups.values()]
    assert values == pytest.approx([np.abs(one.sums.residual).sum() / one.sums.total for one in parts])
    assert report.outcome is VerdictName.PASS
    strict = verify_files(RowRequest([path], columns), options=replace(options, rules=(rule(M.ECE, 0.001),)))
    assert strict.outcome is not VerdictName.PASS


def test_a_gate_on_confidence_or_one_class_judges_one_score(rows: tuple[Floats, Integers]) -> None:
    """Without a view it is the largest probability, with a class that binary view."""
    path = written(Path("rows.parquet"), *rows)
    options = VerifyOptions((rule(M.ECE, 0.4),), binning=Binning.EQUAL_WIDTH)
    seen: ClassViews = views_of(*rows, bins=None)
    whole = verify_files(RowRequest([path], COLUMNS), options=options)
    assert whole.groups == {}
    assert whole.table.rows == 600
    joint = Rule("class_brier", ClassMeasure.CLASS_BRIER, Bound.UPPER, Relation.AT_MOST, 2.0)
    both = verify_files(RowRequest([path], COLUMNS), options=replace(options, rules=(*options.rules, joint)))
    assert both.verdicts.keys() == {"max-ece", "class_brier"}
    columns = replace(COLUMNS, several=replace(SEVERAL, view=ViewName.ONE_VS_REST, one_class="cat"))
    one = verify_files(RowRequest([path], columns), options=options)
    expected = np.abs(seen.rest[2].sums.residual).sum() / 600
    assert one.verdicts["max-ece"].value == pytest.approx(expected)
