"""Several scores as a leaderboard, several models by their questions, and patterns of score columns."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

import calibcli
from calibcli.commands import leaderboard as boards
from calibcli.commands.compare import compare_files
from calibcli.commands.gathering import Gathered
from calibcli.commands.leaderboard import Entries, level_of_each, rankings
from calibcli.commands.measure import measure_files
from calibcli.commands.reading import read_evaluation
from calibcli.commands.two_tables import Seen
from calibcli.data.tally import GatherRequest
from calibcli.documents.sealed import sealed
from calibcli.errors import CalibcliError, InputProblem
from calibcli.names import ComparisonName, MeasureName, OnMissing
from calibcli.options.measuring import CompareOptions, MeasureOptions, Metrics
from calibcli.options.rows import Columns, RowRequest
from calibcli.reports.leaderboard import LeaderboardReport
from calibcli.show.answers import document_of
from calibcli.stats.measures.differences import PAIRED, Difference, PairedSums, skill
from calibcli.stats.measures.matched import Answers, in_common
from calibcli.stats.measures.scores import brier
from calibcli.stats.table import ScoreTable, Weighing
from command_line import in_csv
from published import check

ROWS = 400


def columns_of(seed: int = 0) -> dict[str, np.ndarray]:
    """Return forecasts from good to bad, a reference and what happened."""
    rng = np.random.default_rng(seed)
    good = rng.beta(1, 3, ROWS).round(3).clip(0.001, 0.999)
    logit = np.log(good / (1 - good))
    return {
        "fc_bad": (1 / (1 + np.exp(-2.5 * logit))).clip(0.001, 0.999).round(3),
        "fc_good": good,
        "fc_note": np.array(["x", "y"])[rng.integers(0, 2, ROWS)],
        "climate": np.full(ROWS, 0.25),
        "rain": (rng.random(ROWS) < good).astype(int),
    }


@pytest.fixture(scope="module")
def forecasts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file of them."""
    path = tmp_path_factory.mktemp("forecasts") / "f.csv"
    in_csv(path, columns_of())
    return str(path)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file of three models: one id twice, one that only one model has."""
    rng = np.random.default_rng(1)
    lines = ["model,question,confidence,correct"]
    for model, share in (("a", 0.8), ("b", 0.7), ("c", 0.75)):
        for question in range(200):
            sure = min(0.99, max(0.01, share + rng.normal(0, 0.1)))
            lines.append(f"{model},q{question},{sure:.3f},{int(rng.random() < share)}")
    lines += ["a,q3,0.5,0", "c,q900,0.5,1"]
    path = tmp_path_factory.mktemp("answers") / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def board(path: str, *scores: str, label: str = "rain", **options: object) -> LeaderboardReport:
    """Return the leaderboard of some columns."""
    columns = Columns(scores[0], label, others=scores[1:])
    return compare_files(RowRequest([path], columns), options=CompareOptions(**options))


def as_json(*rows: Any, **ask: Any) -> Any:
    """Return the document of a comparison."""
    return json.loads(calibcli.compare(*rows, **ask).to_json())


def test_pattern_takes_numbers_that_are_no_label_and_says_the_rest(forecasts: str) -> None:
    """In the order of the file; what fits and holds something else is said."""
    report = calibcli.measure(forecasts, score=["climate", "fc_*"], label="rain", metric="brier")
    assert [*report.slices] == ["score=fc_bad", "score=fc_good"]
    assert any("'fc_note' fits the pattern and is left out: it holds text" in one for one in report.notes)
    typed = pa.table(
        {
            "fc_a": [0.1, 0.9],
            "fc_b": pa.array([0.2, 0.8]).dictionary_encode(),
            "fc_is": [True, False],
            "fc_on": pa.array([0, 1], pa.date32()),
            "rain": [0, 1],
        }
    )
    pq.write_table(typed, "typed.parquet")
    report = calibcli.measure("typed.parquet", score="fc_*", label="rain", metric="brier")
    assert [*report.slices] == ["score=fc_b"]
    assert [one for one in report.notes if "left out" in one] == [
        f"column {name!r} fits the pattern and is left out: it holds {kind}"
        for name, kind in (("fc_is", "bool"), ("fc_on", "date32[day]"))
    ]
    np.savez("typed.npz", fc_a=[0.1, 0.9], fc_note=["x", "yz"], rain=[0, 1])
    report = calibcli.measure("typed.npz", score="fc_*", label="rain", metric="brier")
    assert "column 'fc_note' fits the pattern and is left out: it holds text" in report.notes
    everything = calibcli.measure(forecasts, score="*", label="rain", metric="brier")
    assert any("'rain' fits the pattern and is left out: it is the label" in one for one in everything.notes)


def test_pattern_of_a_pipe_reads_every_row(forecasts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header is looked at first, and none of the bytes are lost."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(forecasts).read_bytes())))
    columns = Columns("fc_[bg]*", "rain")
    piped = compare_files(RowRequest(["-"], columns))
    named = compare_files(RowRequest([forecasts], columns))
    assert piped.input.rows == named.input.rows == ROWS
    assert piped.to_dict()["measures"] == named.to_dict()["measures"]


def test_best_comes_first_and_all_pairs_share_the_error(forecasts: str) -> None:
    """Bonferroni over three pairs; with a reference a tenth of the error is for its own loss."""
    report = board(forecasts, "fc_bad", "fc_good", "climate")
    ranking = report.rankings[0]
    values = [one.estimate.value for one in ranking.standings]
    assert values == sorted(values)
    assert ranking.against == ranking.standings[0].name == "fc_good"
    assert (report.each, report.family) == (1 - 0.05 / 3, 3)
    held = board(forecasts, "fc_bad", "fc_good", reference="climate")
    assert (held.each, held.family) == (pytest.approx(1 - 0.045 / 2), 2)


def test_difference_is_that_of_the_pair_alone_at_the_joint_level(forecasts: str) -> None:
    """Whichever of the two was named first."""
    ranking = board(forecasts, "fc_bad", "fc_good", "climate").rankings[0]
    for one in ranking.standings[1:]:
        alone = compare_files(
            RowRequest([forecasts], Columns(ranking.against, "rain", others=(one.name,))),
            options=CompareOptions((MeasureName.BRIER,), confidence=1 - 0.05 / 3),
        )
        assert one.contrast.difference == alone.comparisons[0].difference


def test_skill_is_one_less_the_ratio_of_losses_and_agrees_with_the_verdict(forecasts: str) -> None:
    """Its interval excludes 0 where that of the difference does."""
    for ranking in board(forecasts, "fc_bad", "fc_good", reference="climate").rankings:
        losses = {one.name: one.estimate.value for one in ranking.standings}
        for one in ranking.standings:
            if one.contrast is None or one.skill is None:
                assert one.name == "climate"
                continue
            assert one.skill.value == pytest.approx(1 - losses[one.name] / losses["climate"])
            low, high = one.skill.interval.ends
            assert low <= one.skill.value <= high
            assert (low > 0) == (one.contrast.verdict is ComparisonName.BETTER)
            assert (high < 0) == (one.contrast.verdict is ComparisonName.WORSE)


@given(st.integers(0, 2**32 - 1), st.integers(2, 60))
def test_turned_sums_are_those_of_the_other_order(seed: int, rows: int) -> None:
    """To the last digit, with ties, certain scores and counts."""
    rng = np.random.default_rng(seed)
    one, two = (rng.integers(0, 5, rows) / 4 for _ in range(2))
    label, counts = rng.random(rows) < 0.5, rng.integers(1, 4, rows)
    there, back = PairedSums(), PairedSums()
    there.add(one, two, label, Weighing(counts))
    back.add(two, one, label, Weighing(counts))
    for name in PAIRED:
        assert there.turned().difference(name, confidence=0.9) == back.difference(name, confidence=0.9)


@given(st.integers(0, 2**32 - 1))
def test_matched_answers_are_the_mean_over_common_questions(seed: int) -> None:
    """Against a slow mean over a dictionary; the first of equal ids counts."""
    rng = np.random.default_rng(seed)
    models = [
        (rng.integers(0, 12, 15).astype(np.uint64), rng.random(15), rng.random(15) < 0.5) for _ in range(2)
    ]
    losses = []
    for ids, score, label in models:
        found: dict[int, float] = {}
        for place, f, y in zip(ids.tolist(), score.tolist(), label.tolist(), strict=True):
            found.setdefault(place, (f - y) ** 2)
        losses.append(found)
    one, two = (Answers.of(*model) for model in models)
    common = losses[0].keys() & losses[1].keys()
    assert in_common([one, two]) == len(common)
    assert one.repeated == 15 - len(losses[0])
    value = one.against(two).difference(MeasureName.BRIER, confidence=0.9).value
    expected = np.mean([losses[1][key] - losses[0][key] for key in common]) if common else None
    assert value == (None if expected is None else pytest.approx(expected))


def test_models_in_rows_are_models_in_columns() -> None:
    """Where labels agree, the long form gives the digits of the wide one."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, 90)
    wide = {name: rng.random(90).round(3) for name in "abc"}
    lines = [
        f"{name},{row},{wide[name][row]},{label[row]}"
        for name in "cab"
        for row in rng.permutation(90).tolist()
    ]
    Path("long.csv").write_text("\n".join(["m,q,s,y", *lines]) + "\n")
    one, little = (
        calibcli.compare("long.csv", score="s", label="y", by=["m"], row_id="q", memory=memory)
        for memory in ("1G", "1K")
    )
    # Their tables are exact whatever the memory, and nobody says otherwise.
    assert little.to_json() == one.to_json()
    other = calibcli.compare({**wide, "y": label}, score=["c", "a", "b"], label="y")
    beside = calibcli.compare({name: wide[name] for name in "cab"}, label)
    assert json.loads(beside.to_json())["measures"] == json.loads(other.to_json())["measures"]
    assert json.loads(one.to_json())["measures"] == json.loads(other.to_json())["measures"]


def test_models_are_compared_by_the_questions_that_each_gets_right(answers: str) -> None:
    """Accuracy, or the observed rate as it is called of one: paired, more is better, with AUROC and AURC."""
    ask: dict[str, object] = {"score": "confidence", "label": "correct", "by": "model", "row_id": "question"}
    found = as_json(answers, metric="accuracy,auroc,aurc", **ask)
    same = as_json(answers, metric="observed_rate", **ask)
    assert same["measures"]["accuracy"] == found["measures"]["accuracy"]
    gate = {"reference": found["measures"]["accuracy"]["against"], "fail_if_worse": True, "confidence": 0.5}
    # By its other name a gate passed whoever was worse.
    for metric in ("accuracy", "observed_rate"):
        gated = as_json(answers, metric=metric, **gate, **ask)
        assert gated["gate"] == {"measures": ["accuracy"], "worse": ["c", "b"]}
    columns = Columns("confidence", "correct", by=("model",))
    only = MeasureOptions(Metrics((MeasureName.AUROC,), ()))
    alone = measure_files(RowRequest([answers], columns), options=only)
    rows = [one.split(",") for one in Path(answers).read_text().splitlines()[1:]]
    right = {}
    for model, question, _, correct in rows:
        right.setdefault((model, question), int(correct))
    for name, way in (("accuracy", -1), ("auroc", -1), ("aurc", 1)):
        standings = found["measures"][name]["standings"]
        values = [way * one["estimate"]["value"] for one in standings]
        assert values == sorted(values)
        for one in standings[1:]:
            assert (one["contrast"]["difference"]["value"] > 0) == (way > 0)
    best, *others = found["measures"]["accuracy"]["standings"]
    for one in others:
        pairs = [right[one["name"], f"q{k}"] - right[best["name"], f"q{k}"] for k in range(200)]
        assert one["contrast"]["difference"]["value"] == pytest.approx(np.mean(pairs))
    # The other two have a question twice, or one that nobody else has.
    standing = next(one for one in found["measures"]["auroc"]["standings"] if one["name"] == "b")
    assert standing["estimate"]["value"] == alone.slices["model=b"].measures[0].value


def test_models_of_several_classes_are_compared_by_whole_rows() -> None:
    """Each by the digits that `measure` gives it, in pairs by the mean over common questions."""
    rng = np.random.default_rng(6)
    lines, losses = ["m,q,p_a,p_b,p_c,y"], {}
    label = rng.integers(0, 3, 80)
    for model in "xyz":
        probability = rng.dirichlet(np.ones(3), 80).round(3)
        probability[:, 2] = (1.0 - probability[:, :2].sum(axis=1)).round(3).clip(0.0)
        lines += [
            f"{model},{k},{','.join(map(str, probability[k]))},{'abc'[label[k]]}"
            for k in range(model == "z", 80)
        ]
        losses[model] = ((probability - np.eye(3)[label]) ** 2).sum(axis=1)
    Path("mc.csv").write_text("\n".join(lines))
    ask: dict[str, object] = {"probs": "p_*", "label": "y"}
    found = as_json("mc.csv", by="m", row_id="q", **ask)
    assert {*found["measures"]} == {"class_log_loss", "class_brier", "accuracy"}
    for model in "xyz":
        Path("one.csv").write_text("\n".join([lines[0], *(one for one in lines if one.startswith(model))]))
        alone = json.loads(calibcli.measure("one.csv", metric="classes", **ask).to_json())
        for name, ranking in found["measures"].items():
            seen = next(one for one in ranking["standings"] if one["name"] == model)["estimate"]
            assert {key: seen[key] for key in ("value", "lower", "upper")} == {
                key: alone["measures"][name][key] for key in ("value", "lower", "upper")
            }
    for one in found["measures"]["class_brier"]["standings"]:
        if one["contrast"] is not None:
            apart = losses[one["name"]] - losses[one["contrast"]["first"]]
            common = apart[1:] if "z" in (one["name"], one["contrast"]["first"]) else apart
            assert one["contrast"]["difference"]["value"] == pytest.approx(common.mean(), abs=1e-12)
    check(found, "compare")


def test_models_and_questions_that_are_swapped_are_asked_about(answers: str) -> None:
    """200 models of three questions are more likely three models."""
    columns = Columns("confidence", "correct", by=("question",), identity="model")
    with pytest.raises(InputProblem, match="names 201 models") as refused:
        compare_files(RowRequest([answers], columns))
    assert refused.value.hint == "are --by and --id swapped? Try --by model --id question"


def test_repeated_and_lone_ids_are_counted(answers: str) -> None:
    """Of equal ids the first row counts; an id of one model is in no pair."""
    report = compare_files(
        RowRequest([answers], Columns("confidence", "correct", by=("model",), identity="question"))
    )
    said = "a: 1 row repeats an id of the model with other values: of equal ids the first row counts"
    assert said in report.notes
    assert any(
        "--id question,COLUMN tells such rows apart by a further column" in one for one in report.notes
    )
    assert any("all models answered 200 ids; beyond these answered: c 1." in one for one in report.notes)
    assert {one.name: one.rows for one in report.rankings[0].standings} == {"a": 200, "b": 200, "c": 201}
    assert all(one.contrast is None or one.contrast.rows == 200 for one in report.rankings[0].standings)


@pytest.mark.parametrize(
    ("score", "label", "unlike"), [(0.3, 1, 0), (0.4, 1, 2), (0.3, 0, 2), (np.nan, 1, 2)]
)
def test_copies_of_a_row_that_say_otherwise_are_counted(score: float, label: int, unlike: int) -> None:
    """A copy tells nothing new; another answer under its id does, in either column of classes too."""
    ids = np.array([7, 5, 7, 9, 7], np.uint64)
    scores, labels = np.array([0.3, 0.1, score, 0.2, score]), np.array([1, 0, label, 1, label]) == 1
    for probability in (None, np.column_stack((1.0 - scores, scores))):
        found = Answers.of(ids, scores, labels, probability)
        assert (found.repeated, found.unlike) == (2, unlike)
        assert found.score.tolist() == [0.1, 0.3, 0.2]


@pytest.fixture
def holes() -> str:
    """Return a file: each score is missing in other rows, one row has none and one no label."""
    rng = np.random.default_rng(8)
    lines = ["a,b,c,y"]
    for row in range(120):
        cells = [f"{one:.3f}" for one in rng.random(3)]
        cells = ["" if row % 10 == place + 1 or row == 0 else one for place, one in enumerate(cells)]
        lines.append(",".join([*cells, "" if row == 9 else str(rng.integers(0, 2))]))
    Path("holes.csv").write_text("\n".join(lines) + "\n")
    return "holes.csv"


@pytest.mark.parametrize("names", [None, (MeasureName.ECE, MeasureName.SMECE), (MeasureName.AUROC,)])
def test_pairwise_takes_the_rows_that_each_pair_has(
    holes: str, names: tuple[MeasureName, ...] | None
) -> None:
    """Each pair as if it were compared alone and other rows dropped; each score over its own rows."""
    columns = Columns("a", "y", others=("b", "c"), on_missing=OnMissing.PAIRWISE)
    report = compare_files(RowRequest([holes], columns), options=CompareOptions(names, pairs=True))
    assert (report.input.rows, report.input.dropped) == (118, 2)
    for ranking in report.rankings:
        assert {one.rows for one in ranking.standings} == {106}
        for one in ranking.standings:
            alone = calibcli.measure(
                holes, score=one.name, label="y", on_missing="drop", metric=ranking.name.value
            )
            assert alone[ranking.name.value].value == one.estimate.value
        for pair in ranking.pairs or ():
            assert pair.rows == 94
            drop = Columns(pair.first, "y", others=(pair.second,), on_missing=OnMissing.DROP)
            options = CompareOptions((MeasureName(ranking.name),), confidence=report.each)
            both = compare_files(RowRequest([holes], drop), options=options)
            alone_of_both = both.comparisons[0].difference
            assert pair.difference.value == pytest.approx(alone_of_both.value, rel=1e-14)
            # Ranks row by row are kept where all scores have the same rows.
            if names != (MeasureName.AUROC,):
                assert pair.difference == alone_of_both


def test_tables_of_many_pairs_are_read_a_few_at_a_time(holes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them at once would take the memory of as many scores; what is said is the same."""
    columns = Columns("a", "y", others=("b", "c"), on_missing=OnMissing.PAIRWISE)
    names = (MeasureName.ECE, MeasureName.BRIER, MeasureName.SMECE)
    rows, options = RowRequest([holes], columns), CompareOptions(names, pairs=True)
    held: list[int] = []

    def seen(rows: RowRequest, request: GatherRequest) -> Gathered:
        held.append(len(request.where))
        return read_evaluation(rows, request)

    monkeypatch.setattr(boards, "read_evaluation", seen)
    at_once = compare_files(rows, options=options)
    monkeypatch.setattr(boards, "_MOST_BESIDE", 2)
    assert compare_files(rows, options=options) == at_once
    assert held == [6, 0, 2, 2, 2]


def test_errors_of_models_in_rows_differ_by_the_questions_of_both() -> None:
    """An ECE is no mean over rows, and is taken anew over the questions that both models answered."""
    rng = np.random.default_rng(3)
    lines, shared = ["model,id,f,y"], ["a,b,y"]
    for row in range(400):
        a, b = rng.random(2)
        # What b alone does not answer is what a gets wrong.
        y = int(rng.random() < a) if row < 200 else 0
        lines += [f"a,{row},{a:.3f},{y}", *([f"b,{row},{b:.3f},{y}"] if row < 200 else [])]
        shared += [f"{a:.3f},{b:.3f},{y}"] if row < 200 else []
    for name, text in (("rows", lines), ("columns", shared)):
        Path(f"{name}.csv").write_text("\n".join(text) + "\n")
    models = Columns("f", "y", by=("model",), identity="id")
    names = (MeasureName.ECE, MeasureName.SMECE)
    options = CompareOptions(names, pairs=True)
    found = compare_files(RowRequest(["rows.csv"], models), options=options)
    both = compare_files(
        RowRequest(["columns.csv"], Columns("a", "y", others=("b",))), options=CompareOptions(names)
    )
    for ranking, alone in zip(found.rankings, both.comparisons, strict=True):
        (pair,) = ranking.pairs or ()
        assert pair.difference == alone.difference


@pytest.mark.parametrize("pairs", [False, True])
def test_pairwise_skill_is_that_of_the_rows_of_both(holes: str, pairs: bool) -> None:  # noqa: FBT001
    """As if other scores were not there and other rows dropped; other commands refuse pairs."""
    columns = Columns("a", "y", others=("b",), on_missing=OnMissing.PAIRWISE)
    report = compare_files(RowRequest([holes], columns), options=CompareOptions(reference="c", pairs=pairs))
    for ranking in report.rankings:
        for one in ranking.standings:
            if one.contrast is None or ranking.name not in PAIRED:
                assert one.skill is None
                continue
            drop = Columns(one.name, "y", on_missing=OnMissing.DROP)
            alone = compare_files(RowRequest([holes], drop), options=CompareOptions(reference="c"))
            (same,) = (found.standings for found in alone.rankings if found.name is ranking.name)
            expected = next(found.skill for found in same if found.name == one.name)
            assert one.skill.value == expected.value
    check(json.loads(json.dumps(sealed(document_of(report)))), "compare")
    with pytest.raises(CalibcliError, match="compare"):
        calibcli.measure(holes, score="a", label="y", on_missing="pairwise")


def test_gate_names_whoever_is_shown_to_be_worse(forecasts: str) -> None:
    """And only where there is a reference."""
    report = board(forecasts, "fc_bad", "climate", reference="fc_good", fail_if_worse=True)
    assert report.worse_by == ("fc_bad", "climate")
    assert board(forecasts, "fc_good", reference="climate", fail_if_worse=True).worse_by == ()


def test_document_is_what_its_schema_says(forecasts: str, answers: str) -> None:
    """With pairs, a reference and a gate, and of models."""
    one = calibcli.compare(
        forecasts,
        score=["fc_bad", "fc_good"],
        label="rain",
        reference="climate",
        pairs=True,
        fail_if_worse=True,
    )
    check(json.loads(one.to_json()), "compare")
    assert len(one.to_frame()) == 6
    other = calibcli.compare(answers, score="confidence", label="correct", by="model", row_id="question")
    check(json.loads(other.to_json()), "compare")


def test_levels_do_not_depend_on_which_is_the_best() -> None:
    """All pairs count, since the best is seen on the rows; of two scores there is one."""
    assert level_of_each(CompareOptions(), 2) == (0.95, 1)
    assert level_of_each(CompareOptions(), 5) == (pytest.approx(1 - 0.05 / 10), 10)
    assert level_of_each(CompareOptions(reference="a"), 5) == (pytest.approx(1 - 0.045 / 4), 4)


def test_equal_scores_are_never_told_apart() -> None:
    """A score and itself, twice, where no row has label 1, too."""
    label = np.zeros(50, np.bool_)
    score = np.full(50, 0.1)
    seen = tuple(Seen(name, name, ScoreTable.from_rows(score, label)) for name in "abc")
    sums = PairedSums()
    sums.add(score, score, label)
    for ranking in rankings(Entries(seen, lambda *_: sums), CompareOptions(), None):
        for one in ranking.standings[1:]:
            assert one.contrast.difference.value == 0.0
            assert one.contrast.verdict is ComparisonName.NOT_TOLD_APART


def test_skill_of_what_cannot_be_divided_is_none() -> None:
    """A reference that is always right leaves nothing to save."""
    label = np.array([0, 1, 1], np.bool_)
    loss = brier(ScoreTable.from_rows(label.astype(float), label))
    assert skill(Difference(MeasureName.BRIER, 0.1, None, ()), loss, confidence=0.95).value is None


def test_skill_of_models_is_that_of_common_questions(answers: str) -> None:
    """A question that only one of them answered changes nothing but the value of that model."""
    found = []
    lines = Path(answers).read_text().splitlines()
    Path("common.csv").write_text(
        "\n".join(one for one in lines if ",q900," not in one.replace("c,", ",", 1))
    )
    for file in (answers, "common.csv"):
        columns = Columns("confidence", "correct", by=("model",), identity="question")
        report = compare_files(RowRequest([file], columns), options=CompareOptions(reference="c"))
        found.append([[one.skill for one in each.standings if one.contrast] for each in report.rankings])
    assert found[0] == found[1]
    assert any(one is not None for one in found[0][0])


def test_a_score_without_any_value_is_left_out_and_named() -> None:
    """Wherever it stands; the others have the digits that they have without it."""
    rng = np.random.default_rng(4)
    columns = {name: rng.random(60) for name in "abc"} | {"y": rng.random(60) < 0.5}
    for more in ({}, {"reference": "b"}):
        ask: dict[str, object] = {"label": "y", "on_missing": "pairwise", **more}
        plain = calibcli.compare(columns, score=["a", "b", "c"], **ask)
        ghost = {**columns, "ghost": np.full(60, np.nan)}
        for names in (["ghost", "a", "b", "c"], ["a", "b", "ghost", "c"]):
            found = as_json(ghost, score=names, **ask)
            assert "'ghost' is left out: it has no value in any row" in found["notes"]
            assert found["measures"] == json.loads(plain.to_json())["measures"]


def test_a_score_without_any_value_is_refused_where_too_few_are_left() -> None:
    """Each score has rows of its own in pairs, and one of them none."""
    gaps = np.full(60, np.nan)
    label = np.arange(60) % 3 == 0
    for names, reference in ((["ghost", "a"], None), (["a", "b", "ghost"], "ghost")):
        with pytest.raises(CalibcliError, match="'ghost' has no value in any of 60 rows"):
            calibcli.compare(
                {"a": np.linspace(0, 1, 60), "b": np.linspace(1, 0, 60), "ghost": gaps, "y": label},
                score=names, label="y", on_missing="pairwise", reference=reference,
            )  # fmt: skip


def test_easy_questions_make_no_best_model() -> None:
    """B answers the easy ones alone, and worse than A does: values of other rows are no comparison."""
    rng = np.random.default_rng(0)
    place = np.arange(600)
    chance = np.where(place >= 200, 0.5, np.where(place % 2, 0.97, 0.03))
    label = (rng.random(600) < chance).astype(int)
    rows = [f"A,{k},{chance[k]},{label[k]}" for k in place]
    rows += [f"B,{k},{0.8 if chance[k] > 0.5 else 0.2},{label[k]}" for k in place[:200]]
    file = Path("ab.csv")
    file.write_text("\n".join(("m,id,s,y", *rows)))
    report = compare_files(RowRequest([str(file)], Columns("s", "y", by=("m",), identity="id")))
    for ranking in report.rankings:
        assert ranking.against == "A"
        assert ranking.names_the_best()
        assert ranking.of_verdict(ComparisonName.WORSE) == ("B",)
    file.write_text(file.read_text().replace("B,", "B,9000"))
    alone = compare_files(RowRequest([str(file)], Columns("s", "y", by=("m",), identity="id")))
    assert not any(ranking.names_the_best() for ranking in alone.rankings)


def test_clusters_have_the_differences_of_measure_and_a_formula() -> None:
    """Paired differences over clusters at the joint level, by the jackknife over clusters written out."""
    columns, week = columns_of(3), np.arange(ROWS) // 8
    frame = pd.DataFrame(columns | {"week": week})
    ask = {"score": ["fc_good", "fc_bad", "climate"], "label": "rain", "cluster": "week", "metric": "brier"}
    found = calibcli.compare(frame, **ask, reference="fc_good", confidence=0.9)
    assert isinstance(found, calibcli.Ranked)
    report = json.loads(found.to_json())
    assert report["clusters"] == {"column": "week", "count": 50, "effective": 50.0}
    for standing in report["measures"]["brier"]["standings"]:
        if standing["contrast"] is None:
            continue
        told = standing["contrast"]["difference"]
        y = columns["rain"]
        apart = (columns[standing["name"]] - y) ** 2 - (columns["fc_good"] - y) ** 2
        spread = np.sqrt((np.bincount(week, apart - apart.mean()) ** 2).sum() * (50 / 49)) / ROWS
        margin = t.ppf(0.5 + report["difference_confidence"] / 2, 49) * spread
        assert told["value"] == pytest.approx(apart.mean(), rel=1e-9)
        # No narrower than rows give it, for the costly row that was not seen.
        assert told["lower"] <= apart.mean() - margin * (1 - 1e-9)
        assert told["upper"] >= apart.mean() + margin * (1 - 1e-9)
    pair = {**ask, "score": ["fc_good", "fc_bad"]}
    (beside,) = json.loads(calibcli.measure(frame, **pair).to_json())["differences"].values()
    alone = as_json(frame, **pair)["measures"]["brier"]["standings"][1]
    assert alone["contrast"]["difference"]["lower"] == pytest.approx(beside["brier"]["lower"], rel=1e-12)


def test_few_clusters_and_other_measures_have_no_interval(forecasts: str) -> None:
    """With the reason, and no verdict."""
    frame = pd.read_csv(forecasts).assign(site=np.arange(ROWS) % 5)
    ask = {"score": ["fc_good", "fc_bad"], "label": "rain", "cluster": "site"}
    for metric, why in (("brier", "fewer than 20"), ("auroc", "exact bounds need independent rows")):
        told = as_json(frame, metric=metric, **ask)["measures"][metric]["standings"][1]["contrast"]
        assert told["verdict"] == "not told apart"
        assert told["difference"]["lower"] is None
        assert any(why in one for one in told["difference"]["assumptions"])


@pytest.mark.parametrize(
    ("values", "on_missing"),
    [((1, 2, 9), "drop"), (("1", "b c", 'x"y'), "error"), ((0.5, 0.25, 2.0), "drop")],
)
def test_groups_are_compared_as_files_of_their_own(
    forecasts: str, values: tuple[object, ...], on_missing: str
) -> None:
    """By text or numbers, at the level at which all hold at once; rows in no group are said."""
    frame = pd.read_csv(forecasts)
    place = np.where(np.arange(ROWS) < 30, 2, np.arange(ROWS) % 2)
    frame["site"] = pd.Series([values[one] for one in place], dtype=object)
    frame.loc[40:46, "site"] = None
    path = Path("f.csv")
    frame.to_csv(path, index=False)
    ask = {"score": ["fc_good", "fc_bad"], "label": "rain", "metric": "brier", "reference": "climate"}
    found = calibcli.compare(str(path), by="site", on_missing=on_missing, **ask)
    report = found.report
    assert report.groups.left_out == {str(values[2]): 30}
    assert "7 rows have no value in 'site', and are in no group" in report.notes
    assert {*found.groups} == {str(values[0]), str(values[1])}
    assert set(found.to_frame()["group"].dropna()) == {*found.groups}
    for name, group in found.groups.items():
        part = Path("part.csv")
        frame[frame["site"].astype(str) == name].to_csv(part, index=False)
        assert group == calibcli.compare(str(part), confidence=0.975, **ask).measures
    page = json.loads(found.to_json())
    check(page, "compare")
    assert [one["name"] for one in page["groups"]["boards"]] == [*found.groups]
    plain = calibcli.compare(str(path), **ask)
    assert plain.measures == found.measures
    assert "groups" not in json.loads(plain.to_json())


def test_groups_stand_in_the_order_of_their_numbers_or_of_time(forecasts: str) -> None:
    """Lead times and months as a forecaster reads them, in the table and in the answer."""
    frame = pd.read_csv(forecasts)
    ask = {"score": ["fc_good", "fc_bad"], "label": "rain", "metric": "brier", "by": "part"}
    for names in (["+24h", "+72h", "+120h"], ["9", "48", "120"], ["Dec-23", "Feb-24", "Apr-24"]):
        found = calibcli.compare(frame.assign(part=[names[row % 3] for row in range(ROWS)]), **ask)
        assert [*found.groups] == names
        # As of rain by its name, in groups without any.
        words = np.where(frame["rain"] & (np.arange(ROWS) % 3 > 0), "wet", "dry")
        named = frame.assign(part=[names[row % 3] for row in range(ROWS)], rain=words)
        assert [*calibcli.compare(named, positive="wet", **ask).groups] == names
        assert f"In part {names[0]}, {names[1]} and {names[2]}" in found.text()


def test_groups_over_clusters_are_those_of_their_own_rows(forecasts: str) -> None:
    """A season of weeks that depend on each other only within."""
    path = Path("f.csv")
    pd.read_csv(forecasts).assign(week=np.arange(ROWS) // 4).to_csv(path, index=False)
    ask = {"score": ["fc_good", "fc_bad"], "label": "rain", "metric": "brier", "cluster": "week"}
    found = calibcli.compare(str(path), by="fc_note", **ask)
    for name, group in found.groups.items():
        alone = calibcli.compare(str(path), where=f"fc_note=={name}", confidence=0.975, **ask)
        assert group == alone.measures
        assert group["brier"].standings[1].contrast is not None


def test_groups_of_rows_that_count_several_times_are_those_of_repeated_rows(forecasts: str) -> None:
    """And rows that count not at all are in no group; importance weights of 0 refuse no group either."""
    often = np.arange(ROWS) % 3
    frame = pd.read_csv(forecasts).assign(site=np.arange(ROWS) % 2, often=often)
    ask = {"score": ["fc_good", "fc_bad"], "label": "rain", "metric": "brier", "by": "site"}
    counted = calibcli.compare(frame, weight="often", weights_are="frequency", **ask)
    assert counted.groups == calibcli.compare(frame.loc[frame.index.repeat(often)], **ask).groups
    assert [one.rows for one in counted.report.groups.boards] == [
        int(often[frame["site"] == site].sum()) for site in (0, 1)
    ]
    assert not any("in no group" in note for note in counted.report.notes)
    rain = int(often[frame["rain"] == 1].sum())
    assert f"{often.sum():,} rows, {rain:,} positive" in counted.text()
    assert {*calibcli.compare(frame, weight="often", **ask).groups} == {"0", "1"}


def test_missing_values_are_counted_by_column(holes: str) -> None:
    """Of several scores, the most first, the label among them."""
    columns = Columns("a", "y", others=("b", "c"), on_missing=OnMissing.DROP)
    counts = pd.read_csv(holes).isna().sum()
    notes = measure_files(RowRequest([holes], columns)).input.notes
    told = ", ".join(f"'{name}' ({counts[name]})" for name in "abcy")
    assert any(one.endswith(f"values are missing in {told}") for one in notes), notes
    board = compare_files(RowRequest([holes], columns)).input.notes
    assert [one for one in board if "missing" in one] == [one for one in notes if "missing" in one]
    # Of pairs, what a dropped row lacks is not what a column lacks.
    pairwise = Columns("a", "y", others=("b", "c"), on_missing=OnMissing.PAIRWISE)
    found = [one for one in compare_files(RowRequest([holes], pairwise)).input.notes if "missing" in one]
    assert found == [f"{holes}: values are missing in 'y' (1), every score at once (1)"]


def test_models_without_a_question_in_common_are_not_compared() -> None:
    """Which is not the same as no clear difference, in the answer and in the table."""
    frame = pd.DataFrame(
        {
            "q": [*range(40)] * 2,
            "m": np.repeat(["a", "b"], 40),
            "topic": ["law", "maths"] * 40,
            "s": np.linspace(0.1, 0.9, 80),
            "y": [0, 1, 1, 0] * 20,
        }
    )
    frame.to_csv("long.csv", index=False)
    found = calibcli.compare("long.csv", score="s", label="y", by=["m", "topic"], row_id="q", metric="brier")
    text = str(found)
    answer = text.splitlines()[0]
    assert "no row in common: " in answer
    assert answer.split("no row in common: ")[1].count("law") in (0, 2)
    assert text.count("not compared: there is no row of both") == 2
    assert "not told apart" not in text


def test_models_in_rows_have_clusters_as_models_in_columns_have() -> None:
    """Where labels agree, the long form gives the digits of the wide one; with skill, and in any order."""
    rng = np.random.default_rng(4)
    label, site = rng.integers(0, 2, 120), rng.integers(0, 25, 120)
    wide = {name: (0.3 + 0.3 * label + 0.3 * rng.random(120)).round(3) for name in "abc"}
    lines = [
        f"{name},{row},{wide[name][row]},{label[row]},{site[row]}"
        for name in "cab"
        for row in rng.permutation(120).tolist()
    ]
    Path("long.csv").write_text("\n".join(["m,q,s,y,site", *lines]) + "\n")
    how = {"label": "y", "cluster": "site", "reference": "b"}
    one = calibcli.compare("long.csv", score="s", by=["m"], row_id="q", **how)
    other = calibcli.compare({**wide, "y": label, "site": site}, score=["c", "a", "b"], **how)
    first, second = json.loads(one.to_json()), json.loads(other.to_json())
    assert first["clusters"] == second["clusters"]
    for name in ("brier", "log_loss"):
        for mine, theirs in zip(
            *(each["measures"][name]["standings"] for each in (first, second)), strict=True
        ):
            assert mine["name"] == theirs["name"]
            ends = [[each["estimate"][end] for end in ("value", "lower", "upper")] for each in (mine, theirs)]
            assert ends[0] == pytest.approx(ends[1], rel=1e-9)
            if mine["contrast"] is not None:
                for key in ("difference", "skill"):
                    told = [
                        each["skill"] if key == "skill" else each["contrast"][key] for each in (mine, theirs)
                    ]
                    ends = [[one[end] for end in ("value", "lower", "upper")] for one in told]
                    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_accuracy_over_clusters_is_the_jackknife_written_out_and_no_narrower_than_over_rows() -> None:
    """Of models in rows; a cluster is one of questions, which is refused where models disagree on it."""
    rng = np.random.default_rng(5)
    passage = np.repeat(np.arange(40), 10)
    hard = rng.random(40)[passage] < 0.5
    right = {"a": rng.random(400) < 0.8, "b": np.where(hard, rng.random(400) < 0.2, rng.random(400) < 0.9)}
    frame = pd.concat(
        pd.DataFrame({"m": name, "q": np.arange(400), "s": 0.7, "y": one.astype(int), "passage": passage})
        for name, one in right.items()
    )
    frame.to_csv("long.csv", index=False)
    ask = {"score": "s", "label": "y", "by": ["m"], "row_id": "q", "metric": "accuracy"}
    ends = {}
    for how in ({}, {"cluster": "passage"}):
        found = as_json("long.csv", **ask, **how)
        ends[len(how)] = found["measures"]["accuracy"]["standings"][1]["contrast"]["difference"]
    apart = right["b"].astype(float) - right["a"]
    sums = np.bincount(passage, apart - apart.mean())
    spread = np.sqrt((sums**2).sum() * 40 / 39) / 400
    skew = ((sums * 40 / 39 / 400 / spread) ** 3).sum()
    margin = (t.ppf(0.975, 39) + max(0.0, -skew) * (2 * t.ppf(0.975, 39) ** 2 + 1) / 6) * spread
    assert ends[1]["value"] == pytest.approx(apart.mean(), rel=1e-12)
    assert ends[1]["lower"] == pytest.approx(apart.mean() - margin, rel=1e-9)
    assert ends[1]["lower"] < ends[0]["lower"]
    assert ends[1]["upper"] > ends[0]["upper"]
    moved = frame.assign(passage=np.where(frame.m == "a", frame.passage, (frame.passage + 1) % 40))
    moved.to_csv("moved.csv", index=False)
    with pytest.raises(CalibcliError, match="400 ids are in another cluster of"):
        calibcli.compare("moved.csv", **ask, cluster="passage")
