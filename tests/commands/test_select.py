"""Choosing a method by cross-validation, from files to artifact."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.commands.fit import Folds, drawn_folds, fit_files, gathered_folds, select
from calibcli.documents.artifact import read_artifact
from calibcli.documents.sealed import sealed
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import FitLoss, FitMethod, Purpose, RecalibratorName
from calibcli.options import rows
from calibcli.options.fitting import FitOptions, MapOptions
from calibcli.options.rows import Columns, Reading, RowRequest
from calibcli.stats.measures.scores import brier, log_loss
from calibcli.stats.numerics import stream
from calibcli.stats.recalibrators import fit_recalibrator
from calibcli.stats.recalibrators.selection import DEFAULT_CANDIDATES, NOTHING_CHANGED, Selection, too_few_for
from calibcli.stats.table import ScoreTable, Weighing, merge_all
from calibcli.stats.table.derived import draw_folds, with_scores
from calibcli.stats.table.grid import grid_of
from command_line import CHURN, Run, in_csv
from score_rows import scored_table

R = RecalibratorName
FEW = (R.INTERCEPT, R.PLATT, R.ISOTONIC)
ASKED = Columns("score", "label")


def bent(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores that are too sure, and labels."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1.0, 1.5, rows)
    return score, rng.random(rows) < 1 / (1 + np.exp(-(0.4 + 0.6 * np.log(score / (1 - score)))))


def write(path: Path, rows: int, *, seed: int = 0, groups: int = 40) -> Path:
    """Write such rows, with groups and weights."""
    score, label = bent(rows, seed)
    rng = np.random.default_rng(seed + 1)
    lines = [
        f"{f!r},{y:d},g{rng.integers(groups)},{rng.exponential() + 0.1}\n"
        for f, y in zip(score.tolist(), label, strict=True)
    ]
    path.write_text("score,label,g,w\n" + "".join(lines))
    return path


def resolved(path: Path, columns: Columns = ASKED, **options: Any) -> tuple[Selection, dict[str, Any]]:
    """Fit by auto and return the choice and the artifact."""
    candidates = options.pop("candidates", FEW)
    how = options.pop("reading", Reading())
    report, text = fit_files(
        RowRequest([str(path)], columns, reading=how),
        MapOptions(FitMethod.AUTO, candidates),
        FitOptions(**options),
    )
    return report.selection, json.loads(text)


@pytest.mark.parametrize("loss", FitLoss)
def test_losses_are_those_of_rows_left_out(loss: FitLoss) -> None:
    """Each number is what fitting without the fold and measuring on it gives, by hand."""
    table = ScoreTable.from_rows(*bent(600))
    options = FitOptions(loss=loss, seed=4)
    found = select(drawn_folds(table, 5, seed=4), [R.PLATT], options=options).selection
    by_hand = draw_folds(table, 5, generator=stream(4, Purpose.FOLDS))
    measure = brier if loss is FitLoss.BRIER else log_loss
    values = []
    for place, fold in enumerate(by_hand):
        rest = merge_all([other for k, other in enumerate(by_hand) if k != place])
        fitted = fit_recalibrator(R.PLATT, rest, options=options)
        values.append(measure(with_scores(fold, fitted.predict(fold.score))).value)
    rows = np.array([fold.total_rows for fold in by_hand])
    assert found.trials[1].loss == pytest.approx(np.average(values, weights=rows), rel=1e-12)
    assert found.trials[0].loss == pytest.approx(measure(table).value, rel=1e-12)


def test_chosen_method_is_fitted_to_all_rows() -> None:
    """But for the selection, the artifact is what naming the method would have made, byte for byte."""
    path = write(Path("p.csv"), 800)
    selection, artifact = resolved(path)
    assert selection.chosen is R.PLATT
    _, named = fit_files(RowRequest([str(path)], ASKED), MapOptions(FitMethod.PLATT), FitOptions())
    assert "selection" not in json.loads(named)["fit"]
    assert artifact["fit"].pop("selection") == selection.to_dict()
    assert sealed(artifact) == json.loads(named)


def test_artifact_with_a_selection_is_read() -> None:
    """The selection survives the disk."""
    out = Path("cal.json")
    selection, artifact = resolved(write(Path("p.csv"), 500))
    out.write_text(json.dumps(artifact))
    assert read_artifact(out).fit.selection == selection
    artifact["method"] = "isotonic"
    out.write_text(json.dumps(artifact))
    with pytest.raises(InputProblem):
        read_artifact(out)


def test_default_candidates_are_tried_from_simple_to_complex() -> None:
    """Nothing named: every method but the two for other purposes, after the scores as they are."""
    selection, _ = resolved(write(Path("p.csv"), 400), candidates=(), folds=3)
    assert [trial.method for trial in selection.trials] == ["raw", *DEFAULT_CANDIDATES]
    assert selection.folds == 3
    assert selection.grouped_by is None


@settings(max_examples=4)
@given(order=st.randoms(), grouped=st.booleans())
def test_order_of_rows_has_no_say(order: "st.random.Random", grouped: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Shuffled rows give the same bytes, drawn folds or grouped."""
    path = write(Path("p.csv"), 300)
    columns = replace(ASKED, group="g") if grouped else ASKED
    _, expected = resolved(path, columns, folds=4)
    header, *lines = path.read_text().splitlines(keepends=True)
    order.shuffle(lines)
    path.write_text(header + "".join(lines))
    assert resolved(path, columns, folds=4)[1] == expected


def test_seed_draws_other_folds() -> None:
    """Another seed, other folds; the same seed, the same."""
    path = write(Path("p.csv"), 300)
    one, same, other = (resolved(path, seed=seed)[0].trials for seed in (1, 1, 2))
    assert one == same
    assert one[2].loss != other[2].loss


def test_groups_are_never_torn() -> None:
    """Where a group has one label, only grouped folds see that a fit has learnt groups by heart."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(60), 10)
    score = (np.repeat(rng.random(60), 10) + rng.normal(scale=1e-4, size=600)).clip(0.01, 0.99)
    label = np.repeat(rng.random(60) < 0.5, 10)
    path = Path("p.csv")
    in_csv(path, {"score": score, "label": label, "g": group})
    options = {"loss": FitLoss.BRIER, "candidates": (R.HISTOGRAM,), "folds": 5, "bins": 60}
    torn, _ = resolved(path, **options)
    whole, artifact = resolved(path, replace(ASKED, group="g"), **options)
    assert (torn.trials[1].loss or 0.0) < 0.1
    assert (whole.trials[1].loss or 0.0) > 0.25
    assert artifact["fit"]["selection"]["grouped_by"] == "g"


def test_rows_with_importance_weights_are_drawn_while_they_are_read() -> None:
    """Losses are weighted, and those of fits without the fold by hand; the format of the file has no say."""
    path = write(Path("p.csv"), 700)
    weighted = replace(ASKED, weight="w")
    selection, artifact = resolved(path, weighted, folds=4, seed=3)
    read = pd.read_csv(path, engine="pyarrow")
    read.to_parquet("p.parquet")
    assert resolved(Path("p.parquet"), weighted, folds=4, seed=3)[1] == artifact
    fold = (stream(3, Purpose.FOLDS, 0).random(700) * 4).astype(int)
    score, label, weight = (read[name].to_numpy() for name in ("score", "label", "w"))
    losses = []
    for k in range(4):
        held, rest = (
            ScoreTable.from_rows(score[some], label[some] == 1, Weighing(weight=weight[some]))
            for some in (fold == k, fold != k)
        )
        fitted = fit_recalibrator(R.PLATT, rest, options=FitOptions())
        losses.append(log_loss(with_scores(held, fitted.predict(held.score))).value)
    found = {trial.method: trial.loss for trial in selection.trials}
    by_fold = np.bincount(fold, weight)
    assert found["platt"] == pytest.approx(np.average(losses, weights=by_fold), rel=1e-9)
    assert selection.chosen is R.PLATT
    assert selection.grouped_by is None
    assert resolved(path, replace(weighted, group="g"))[0].grouped_by == "g"


def test_weights_decide_what_auto_takes() -> None:
    """Calibrated rows stay as they are; counted four times with label 1 they get another intercept."""
    rng = np.random.default_rng(5)
    score = rng.beta(2.0, 3.0, 3_000)
    label = rng.random(3_000) < score
    path = Path("p.csv")
    in_csv(path, {"score": score, "label": label.astype(int), "w": 1.0 + 3.0 * label})
    assert resolved(path)[0].chosen is R.IDENTITY
    assert resolved(path, replace(ASKED, weight="w"))[0].chosen is R.INTERCEPT


def test_summary_of_weighted_rows_cannot_be_shared_out(run: Run) -> None:
    """It holds no rows: refused, with the way out."""
    path, out = write(Path("p.csv"), 100), Path("s.json")
    run("measure", path, *CHURN, "-w", "w", "--summary-out", out)
    with pytest.raises(UsageProblem, match="cannot be shared out to folds") as refused:
        resolved(out, Columns())
    assert "files" in str(refused.value.hint)


def test_groups_too_few_or_badly_spread_are_refused() -> None:
    """Fewer groups than folds, and all rows in one fold, are errors that say what to do."""
    path = write(Path("p.csv"), 200, groups=3)
    columns = replace(ASKED, group="g")
    with pytest.raises(InputProblem, match="column 'g' has 3 groups, fewer than the 10 folds") as few:
        resolved(path, columns)
    assert few.value.hint == "--folds 3 asks for fewer"
    with pytest.raises(InputProblem, match="has 1 group,") as one:
        resolved(write(Path("q.csv"), 50, groups=1), columns, folds=2)
    assert "more values" in str(one.value.hint)
    table, empty = ScoreTable.from_rows(*bent(20)), ScoreTable.empty()
    with pytest.raises(InputProblem, match="fall into one of the 2 folds"):
        gathered_folds([table, empty], column="g", groups=2, rounded=False)


def test_folds_without_a_group_are_left_out_and_said() -> None:
    """The hash may leave a fold empty: it is not counted."""
    tables = [ScoreTable.from_rows(*bent(50, seed)) for seed in range(3)]
    folds = gathered_folds([*tables, ScoreTable.empty()], column="g", groups=9, rounded=False)
    assert folds.tables == tuple(tables)
    choice = select(folds, [R.PLATT], options=FitOptions())
    assert choice.selection.folds == 3
    assert choice.notes[0] == "1 of 4 folds got no group and were left out"


def test_calibrated_scores_are_left_in_peace() -> None:
    """Where no method beats the scores by a standard error, nothing is changed, and a note says so."""
    table = scored_table(2000, seed=1)
    choice = select(drawn_folds(table, 10, seed=0), FEW, options=FitOptions())
    assert choice.notes == (NOTHING_CHANGED,)
    assert (choice.selection.chosen, choice.repair) == (R.IDENTITY, R.INTERCEPT)
    bad = ScoreTable.from_rows(*bent(2000))
    other = select(drawn_folds(bad, 10, seed=0), FEW, options=FitOptions())
    assert (other.notes, other.selection.chosen, other.repair) == ((), R.PLATT, R.PLATT)


@pytest.mark.parametrize("rarer", [1, 0])
def test_methods_that_nobody_named_are_tried_from_ten_rows_a_coefficient_on(rarer: int) -> None:
    """With 25 rows of the rarer label those of one and two coefficients are; what is named always is."""
    score, rare = np.linspace(0.02, 0.6, 300), np.arange(300) % 12 == 5
    rows = (score, rare) if rarer else (1.0 - score, ~rare)
    folds = drawn_folds(ScoreTable.from_rows(*rows), 10, seed=0)
    reasons = {one.method: one.reason for one in select(folds, (), options=FitOptions()).selection.trials}
    least = dict.fromkeys(DEFAULT_CANDIDATES[3:], 50) | {R.BETA: 30, R.QUADRATIC: 30}
    few = {name.value: f"fewer than {rows} rows of the rarer label" for name, rows in least.items()}
    assert {name: reason for name, reason in reasons.items() if reason is not None} == few
    (_, spline) = select(folds, [R.SPLINE], options=FitOptions()).selection.trials
    assert spline.loss is not None


def test_rows_of_unequal_importance_count_for_what_they_are_worth() -> None:
    """Of 300 rows of either label 16 count for nearly all: no map of several coefficients is tried."""
    score, label = np.linspace(0.02, 0.98, 600), np.arange(600) % 2 == 0
    weighing = Weighing(weight=np.where(np.arange(600) % 38 < 2, 1e6, 1.0))
    places = [np.arange(600) // 2 % 10 == fold for fold in range(10)]
    folds = Folds(tuple(ScoreTable.from_rows(score[one], label[one], weighing.of(one)) for one in places))
    trials = select(folds, (), options=FitOptions()).selection.trials
    assert {one.method for one in trials if one.reason is None} <= {"raw", "intercept", "temperature"}
    said = next(one.reason for one in trials if one.method == "spline")
    assert said == "fewer than 50 rows of the rarer label, by their weights"


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 1.1, 3.0])
def test_rows_of_equal_importance_count_once_each(weight: float) -> None:
    """Fifty that weigh .3 each came to a little less, and what weighs 1 beside a label of 1e9 to none."""
    score, label = np.linspace(0.02, 0.98, 250), np.arange(250) % 5 == 0
    for weights in (np.full(250, weight), np.where(label, weight * 1e9, weight)):
        table = ScoreTable.from_rows(score, label, Weighing(weight=weights))
        assert too_few_for(R.SPLINE, (table,)) is None


def test_rates_of_0_and_1_are_infinite_though_no_row_was_an_exception() -> None:
    """By log loss: forty rows with a score of .97 have label 1, and the next may not; a logistic map, and the
    Brier score, take no harm.
    """
    table = ScoreTable(np.array([0.2, 0.5, 0.97]), np.array([80, 80, 40]), np.array([16, 40, 40]))
    folds = drawn_folds(table, 10, seed=0)
    for loss, infinite in ((FitLoss.LOG, {"isotonic"}), (FitLoss.BRIER, set[str]())):
        trials = select(folds, FEW, options=FitOptions(loss=loss)).selection.trials
        assert {one.method for one in trials if one.loss == np.inf} == infinite


def test_method_that_cannot_be_fitted_is_listed() -> None:
    """Venn-Abers takes no importance weights: it is listed with the reason, and another is chosen."""
    columns = replace(ASKED, weight="w", group="g")
    selection, artifact = resolved(write(Path("p.csv"), 300), columns, candidates=(R.PLATT, R.VENN_ABERS))
    failed = selection.trials[-1]
    assert (failed.method, failed.loss, failed.chosen) == ("venn-abers", None, False)
    assert failed.reason.startswith("without fold 1: venn-abers cannot use importance weights")
    assert artifact["fit"]["selection"]["results"][-1]["reason"] == failed.reason
    with pytest.raises(InputProblem, match="no candidate can be fitted; venn-abers: without fold 1"):
        resolved(Path("p.csv"), columns, candidates=(R.VENN_ABERS,))


def test_grid_tables_are_judged_as_exact_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding to cells moves losses by next to nothing, drawn folds or grouped."""
    path = write(Path("p.csv"), 1200)
    for columns in (ASKED, replace(ASKED, group="g")):
        exact, _ = resolved(path, columns)
        with monkeypatch.context() as patch:
            patch.setattr(rows, "EXACT_LIMIT", 400)
            grid, artifact = resolved(path, columns, reading=Reading())
        assert artifact["fit"]["table"] == "grid"
        assert grid.chosen is exact.chosen
        for mine, theirs in zip(grid.trials, exact.trials, strict=True):
            if mine.loss not in (None, float("inf")) and columns.group is not None:
                assert mine.loss == pytest.approx(theirs.loss, abs=1e-4)


def test_rounded_folds_become_grids() -> None:
    """Where the table of all rows is a grid, so are the folds that are still exact."""
    table = ScoreTable.from_rows(*bent(50))
    folds = gathered_folds([table, grid_of(table)], column="g", groups=5, rounded=True)
    assert [one.kind for one in folds.tables] == ["grid", "grid"]
