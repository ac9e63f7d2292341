"""Comparing two scores, or two recalibrations of one."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibcli.commands.compare import compare_files
from calibcli.commands.fit import fit_files
from calibcli.commands.measure import measure_files
from calibcli.errors import UsageProblem
from calibcli.names import Binning, ComparisonName, FitMethod, MeasureName, Scale, Target, WeightMeaning
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.measuring import SHOWN, CompareOptions, MeasureOptions, Metrics
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.reports.compare import CompareReport, Comparison
from calibcli.stats.measures.differences import PAIRED
from command_line import in_csv

TWO = Columns("a", "label", others=("b",))
ONE = Columns("a", "label")


def write(path: Path, rows: int = 400, seed: int = 0) -> Path:
    """Write two scores: a is right, b too sure; and a weight of either kind."""
    rng = np.random.default_rng(seed)
    a = rng.beta(1, 1, rows).clip(0.001, 0.999)
    b = 1 / (1 + ((1 - a) / a) ** 2.5)
    label = rng.random(rows) < a
    return in_csv(
        path, {"a": a, "b": b, "label": label, "n": rng.integers(0, 4, rows), "w": rng.exponential(size=rows)}
    )


def fitted(path: Path, out: Path, method: FitMethod, **options: Any) -> str:
    """Fit an artifact to the first score."""
    columns = options.pop("columns", ONE)
    _, text = fit_files(RowRequest([str(path)], columns), MapOptions(method), FitOptions(**options))
    out.write_text(text)
    return str(out)


def found_of(report: CompareReport) -> dict[MeasureName, Comparison]:
    """Return the comparisons by name."""
    return {one.name: one for one in report.comparisons}


def test_values_and_intervals_are_those_of_measure() -> None:
    """Each side reads as `measure` would have it, over equal-width bins."""
    path = write(Path("p.csv"))
    report = compare_files(RowRequest([str(path)], TWO))
    for side, column in (("first", "a"), ("second", "b")):
        alone = measure_files(
            RowRequest([str(path)], replace(ONE, score=column)),
            options=MeasureOptions(metrics=Metrics(SHOWN, ())),
        )
        for mine, theirs in zip(report.comparisons, alone.measures, strict=True):
            estimate = getattr(mine, side)
            assert (estimate.name, estimate.value, estimate.interval) == (
                theirs.name,
                theirs.value,
                theirs.interval,
            )


def test_differences_are_second_less_first() -> None:
    """The sharper score is worse in loss, and in calibration error by intervals at 97.5 %."""
    path = write(Path("p.csv"), 4000)
    report = compare_files(RowRequest([str(path)], TWO))
    for name, one in found_of(report).items():
        assert one.difference.value == pytest.approx(one.second.value - one.first.value, abs=1e-12)
        assert one.difference.verdict is ComparisonName.WORSE, name
    assert (report.first.name, report.second.name) == ("a", "b")
    halves = [
        measure_files(
            RowRequest([str(path)], replace(ONE, score=column)),
            options=MeasureOptions(Metrics((MeasureName.ECE,), ()), confidence=0.975),
        ).measures[0]
        for column in ("a", "b")
    ]
    ends = [one.interval for one in halves]
    interval = found_of(report)[MeasureName.ECE].difference.interval
    assert interval.lower == pytest.approx((ends[1].lower or 0.0) - (ends[0].upper or 0.0))
    assert interval.upper == pytest.approx((ends[1].upper or 0.0) - (ends[0].lower or 0.0))


def test_two_artifacts_compare_as_their_applied_columns_do() -> None:
    """Maps applied while reading give what two columns of their outputs give, within narrower bounds."""
    path = write(Path("p.csv"))
    artifacts = [
        fitted(write(Path("q.csv"), seed=1), Path(f"{method}.json"), method)
        for method in (FitMethod.PLATT, FitMethod.ISOTONIC)
    ]
    through = compare_files(
        RowRequest([str(path)], ONE), artifacts=artifacts, options=CompareOptions(metrics=PAIRED)
    )
    from calibcli.documents.artifact import read_artifact

    rows = [line.split(",") for line in path.read_text().split()[1:]]
    score = np.array([float(row[0]) for row in rows])
    applied = [read_artifact(one).recalibrator.predict(score).tolist() for one in artifacts]
    in_csv("r.csv", {"a": applied[0], "b": applied[1], "label": [row[2] for row in rows]})
    columns = compare_files(RowRequest(["r.csv"], TWO), options=CompareOptions(metrics=PAIRED))
    for one, other in zip(through.comparisons, columns.comparisons, strict=True):
        assert (one.name, one.difference.value) == (other.name, other.difference.value)
        near, far = one.difference.interval, other.difference.interval
        if near is None or far is None:
            assert one.difference == other.difference
            continue
        # Two columns may differ in rows to come by more than two maps of one score do.
        assert near.lower is None or near.lower >= (-np.inf if far.lower is None else far.lower)
        assert near.upper is None or near.upper <= (np.inf if far.upper is None else far.upper)
    assert [through.first.artifact, through.second.artifact] == artifacts


def test_raw_score_is_the_baseline_of_one_artifact() -> None:
    """One score and one artifact: before against after; the overconfident score is repaired."""
    artifact = fitted(
        write(Path("q.csv"), 2000, seed=1), Path("cal.json"), FitMethod.PLATT, columns=replace(ONE, score="b")
    )
    path = write(Path("p.csv"), 3000)
    report = compare_files(RowRequest([str(path)], replace(ONE, score="b")), artifacts=[artifact])
    assert (report.first.artifact, report.second.artifact) == (None, artifact)
    found = found_of(report)
    assert {found[name].difference.verdict for name in PAIRED} == {ComparisonName.BETTER}
    assert found[MeasureName.ECE].difference.verdict is ComparisonName.BETTER
    assert report.notes == ()


def test_fit_rows_are_noticed() -> None:
    """Judged by the rows of the fit, a note says that this flatters it."""
    path = write(Path("p.csv"))
    artifact = fitted(path, Path("cal.json"), FitMethod.PLATT)
    report = compare_files(RowRequest([str(path)], ONE), artifacts=[artifact])
    assert report.notes == (f"these are the rows that {artifact} was fitted on: the comparison flatters it",)


def test_jobs_and_parts_change_no_digit() -> None:
    """One file or two, one worker or three: the same report but for the names of the files."""
    path = write(Path("p.csv"), 300)
    header, *lines = path.read_text().splitlines(keepends=True)
    for name, part in (("x.csv", lines[:100]), ("y.csv", lines[100:])):
        Path(name).write_text(header + "".join(part))
    parts = ["y.csv", "x.csv"]
    for columns in (TWO, replace(TWO, weight="n", weights_are=WeightMeaning.FREQUENCY)):
        whole = compare_files(RowRequest([str(path)], columns))
        split = compare_files(RowRequest(parts, columns, reading=Reading(jobs=3)))
        assert replace(split, input=whole.input) == whole


def test_grid_tables_keep_the_paired_difference() -> None:
    """Past the memory allowed tables are rounded, and the differences of losses are not."""
    path = write(Path("p.csv"), 3000)
    exact = compare_files(RowRequest([str(path)], TWO), options=CompareOptions(metrics=PAIRED))
    grid = compare_files(
        RowRequest([str(path)], TWO, reading=Reading(memory="64K")), options=CompareOptions(metrics=PAIRED)
    )
    assert grid.first.table.kind == "grid"
    assert [one.difference for one in grid.comparisons] == [one.difference for one in exact.comparisons]


@pytest.mark.parametrize("memory", ["1M", "1B"])
def test_a_row_that_a_map_gives_0_leaves_no_upper_end_in_any_cell(memory: str) -> None:
    """It shares a cell with rows of other outputs: at the mean of the cell, no loss could be infinite."""
    score = 21_622 / 720_720 + np.repeat([1e-7, 1e-6], [200, 600])
    label = np.append(np.zeros(200, np.bool_), np.arange(600) % 3 == 0)
    path = in_csv("p.csv", {"a": score, "label": label})
    cal = fitted(path, Path("cal.json"), FitMethod.ISOTONIC)
    options = CompareOptions(metrics=PAIRED)
    report = compare_files(
        RowRequest([str(path)], ONE, reading=Reading(memory=memory)), artifacts=[cal], options=options
    )
    assert report.first.table.kind == ("grid" if memory == "1B" else "exact")
    found = found_of(report)[MeasureName.LOG_LOSS].difference
    assert found.interval.upper is None
    assert found.verdict is ComparisonName.NOT_TOLD_APART


def test_bins_that_cut_cells_need_the_exact_table() -> None:
    """Two scores are read once, so that bins a grid does not nest are refused with a way out."""
    path = write(Path("p.csv"), 1000)
    with path.open("a") as file:
        file.writelines(f"{k / 17 + shift!r},0.5,1,1,1\n" for k in range(1, 17) for shift in (-1e-7, 1e-7))
    requested = CompareOptions(metrics=(MeasureName.ECE,), bins=17)
    with pytest.raises(UsageProblem, match="17 equal-width bins would cut the cells"):
        compare_files(RowRequest([str(path)], TWO, reading=Reading(memory="64K")), options=requested)
    assert compare_files(
        RowRequest([str(path)], TWO, reading=Reading(exact=True)), options=requested
    ).comparisons


def test_importance_weights_leave_the_differences_they_can() -> None:
    """Losses keep their interval, and errors have those of both for these very scores."""
    found = found_of(compare_files(RowRequest([str(write(Path("p.csv")))], replace(TWO, weight="w"))))
    assert found[MeasureName.BRIER].difference.interval is not None
    assert found[MeasureName.ECE].difference.interval is not None
    smece = found[MeasureName.SMECE].difference.interval
    assert (smece.target, smece.finite_sample) == (Target.FIXED_DESIGN, True)


def test_few_values_are_compared_by_value_only_if_both_have_few() -> None:
    """A discrete map against a continuum is measured on the partition of the continuum."""
    path = write(Path("p.csv"), 2000)
    other = write(Path("q.csv"), 2000, seed=1)
    bins, more, platt = (
        fitted(other, Path(f"{name}.json"), method, bins=count)
        for name, method, count in (
            ("ten", FitMethod.HISTOGRAM, 10),
            ("five", FitMethod.HISTOGRAM, 5),
            ("platt", FitMethod.PLATT, 10),
        )
    )
    requested = CompareOptions(metrics=(MeasureName.ECE,))

    def partitions(*artifacts: str) -> list[object]:
        report = compare_files(RowRequest([str(path)], ONE), artifacts=artifacts, options=requested)
        one = report.comparisons[0]
        return [one.first.details["partition"], one.second.details["partition"]]

    assert partitions(platt, bins) == ["15 equal-width bins"] * 2
    assert partitions(bins, more) == ["each distinct score by itself"] * 2


def test_gate_looks_at_losses_unless_measures_are_named() -> None:
    """By default the gate is Brier score and log loss; named measures are both shown and gated."""
    path = str(write(Path("p.csv"), 4000))
    report = compare_files(RowRequest([path], TWO), options=CompareOptions(fail_if_worse=True))
    assert report.gate == report.worse_by == PAIRED
    assert report.to_dict()["gate"] == {
        "measures": ["brier", "log_loss"],
        "worse_by": ["brier", "log_loss"],
        "status": "fail",
    }
    back = compare_files(
        RowRequest([path], Columns("b", "label", others=("a",))), options=CompareOptions(fail_if_worse=True)
    )
    assert back.worse_by == ()
    named = CompareOptions(metrics=(MeasureName.SMECE, MeasureName.SMECE), fail_if_worse=True)
    report = compare_files(RowRequest([path], TWO), options=named)
    assert report.gate == (MeasureName.SMECE,)
    assert len(report.comparisons) == 1
    assert compare_files(RowRequest([path], TWO)).to_dict()["gate"] is None


def test_infinite_log_loss_fails_the_gate() -> None:
    """A certain and wrong score makes the second worse, with a reason in words and no NaN."""
    path = Path("p.csv")
    path.write_text("a,b,label\n0.2,0,1\n0.3,0.4,0\n0.6,0.7,1\n")
    report = compare_files(RowRequest([str(path)], TWO), options=CompareOptions(fail_if_worse=True))
    assert report.worse_by == (MeasureName.LOG_LOSS,)
    measures = json.loads(json.dumps(report.to_dict(), allow_nan=False))["measures"]
    assert measures["log_loss"]["second"]["value"] == "inf"
    assert measures["log_loss"]["difference"]["value"] == "inf"
    assert measures["log_loss"]["verdict"] == "worse"
    why = measures["log_loss"]["difference"]["assumptions"][-1]
    assert "1 row gave probability 0 to what happened" in why


def test_one_label_and_one_row_are_compared_as_far_as_it_goes() -> None:
    """One label is no obstacle; one row has no interval and says so."""
    path = Path("p.csv")
    path.write_text("a,b,label\n0.2,0.3,1\n0.3,0.4,1\n0.6,0.5,1\n")
    assert (
        found_of(compare_files(RowRequest([str(path)], TWO)))[MeasureName.BRIER].difference.interval
        is not None
    )
    path.write_text("a,b,label\n0.2,0.3,1\n")
    for one in compare_files(RowRequest([str(path)], TWO)).comparisons:
        assert one.difference.verdict is ComparisonName.NOT_TOLD_APART


def test_artifacts_of_different_columns_are_refused() -> None:
    """Maps of logits and of probabilities cannot both be applied to one column."""
    path = write(Path("p.csv"))
    one = fitted(path, Path("one.json"), FitMethod.PLATT)
    two = fitted(path, Path("two.json"), FitMethod.PLATT, columns=replace(ONE, scale=Scale.LOGIT))
    with pytest.raises(UsageProblem, match="fitted to another scale"):
        compare_files(RowRequest([str(path)], ONE), artifacts=[one, two])
    yes = fitted(path, Path("yes.json"), FitMethod.PLATT, columns=replace(ONE, positive="1"))
    with pytest.raises(UsageProblem, match="fitted to another positive label"):
        compare_files(RowRequest([str(path)], ONE), artifacts=[one, yes])


def test_bins_are_cut_as_asked() -> None:
    """In number and in kind."""
    path = write(Path("p.csv"))
    few = CompareOptions(metrics=(MeasureName.ECE, MeasureName.L2), bins=4, binning=Binning.EQUAL_MASS)
    report = compare_files(RowRequest([str(path)], TWO), options=few)
    assert report.comparisons[0].first.details["partition"] == "4 equal-mass bins"
