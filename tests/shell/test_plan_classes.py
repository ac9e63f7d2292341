"""Gates on several classes are planned, and what `apply` wrote of them is found again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import calibcli
from calibcli.documents.artifact import artifact_text, read_class_artifact
from command_line import Run


@pytest.fixture(scope="module")
def of_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows of three classes, a map of them, and what `apply` makes of the rows."""
    folder = tmp_path_factory.mktemp("classes")
    rng = np.random.default_rng(7)
    probs = rng.dirichlet((0.4, 0.8, 1.6), 2_000)
    label = (probs.cumsum(axis=1) < rng.random((2_000, 1))).sum(axis=1)
    frame = pd.DataFrame(probs, columns=["p_a", "p_b", "p_c"]).assign(label=np.array(list("abc"))[label])
    frame.to_parquet(folder / "rows.parquet")
    frame.assign(top=probs.max(axis=1)).to_parquet(folder / "top.parquet")
    found = calibcli.fit(frame, probs="p_*", label="label", multiclass="vector")
    found.save(folder / "cal.json")
    calibcli.apply(found, frame).to_parquet(folder / "applied.parquet")
    return folder


def rows_needed(run: Run, *words: object) -> dict[str, Any]:
    """What `plan --max-ece 0.08` says."""
    return run("plan", *map(str, words), "--max-ece", "0.08", "--bins", "5", "--json", code=0).document


def test_a_view_of_classes_is_planned_as_the_score_that_it_is(run: Run, of_classes: Path) -> None:
    """The largest probability, and that of one class, are scores like any other; no label is needed."""
    rows, top = of_classes / "rows.parquet", of_classes / "top.parquet"
    unlabelled = of_classes / "unlabelled.parquet"
    pd.read_parquet(rows).drop(columns="label").to_parquet(unlabelled)
    alone = rows_needed(run, top, "-s", "top")["rows"]
    assert rows_needed(run, unlabelled, "--probs", "p_*")["rows"] == alone
    one = rows_needed(run, rows, "--probs", "p_*", "--view", "one-vs-rest", "--class", "b")["rows"]
    assert one == rows_needed(run, top, "-s", "p_b")["rows"]


def test_a_map_of_classes_is_planned_on_rows_that_it_is_applied_to(run: Run, of_classes: Path) -> None:
    """As on the file that `apply` writes; of one class nothing but rows says where its outputs fall."""
    through = rows_needed(run, of_classes / "rows.parquet", "--artifact", of_classes / "cal.json")
    written = rows_needed(run, of_classes / "applied.parquet", "-s", "calibrated_confidence")
    assert through["rows"] == written["rows"]
    older = of_classes / "older.json"
    known = read_class_artifact(of_classes / "cal.json")
    known = replace(known, fit=replace(known.fit, output_quantiles=None))
    older.write_text(artifact_text(known), encoding="utf-8")
    for words in (
        ("--artifact", older),
        ("--probs", "p_*", "--view", "top-label", "--artifact", of_classes / "cal.json"),
    ):
        ended = run("plan", *map(str, words), "--max-ece", "0.08", code=2)
        assert "does not say where t" in ended.err
        assert "calibcli plan ROWS --artifact" in ended.err


@pytest.mark.parametrize(
    "options",
    [
        {"probs": "p_*", "multiclass": "temperature"},
        {"probs": "p_*", "multiclass": "confidence", "method": "histogram"},
        {"score": "p_b", "by": "country", "method": "platt", "positive": "b"},
        {"score": "p_b", "on": ["country", "device"], "method": "segments", "positive": "b"},
    ],
    ids=["temperature", "histogram of the confidence", "groups", "segments"],
)
def test_any_map_says_where_its_outputs_fall(options: dict[str, Any], run: Run, of_classes: Path) -> None:
    """The artifact alone asks for nearly as many rows as rows of the same population do."""
    frame = pd.read_parquet(of_classes / "rows.parquet")
    if "score" in options:
        frame["label"] = np.where(frame["label"] == "b", "b", "other")
    frame["country"] = np.resize(["DE", "FR", "it's"], len(frame))
    frame["device"] = np.resize(["old", "new"], len(frame))
    frame.to_parquet("rows.parquet")
    calibcli.fit(frame, label="label", **options).save(Path("cal.json"))
    alone = rows_needed(run, "--artifact", Path("cal.json"))
    column = ("-s", "p_b") if "score" in options else ()
    rows = rows_needed(run, Path("rows.parquet"), *column, "--artifact", Path("cal.json"))
    assert alone["rows"] == pytest.approx(rows["rows"], rel=0.1)
    assert alone["partition"] == rows["partition"]
    assert "by 11 of their quantiles" in alone["scores_from"]


def test_every_class_passes_at_what_a_view_of_all_asks_for(run: Run, of_classes: Path) -> None:
    """More rows than the hardest class takes by itself, less than at a power that leaves a third to each."""
    view = ["--probs", "p_*", "--view", "one-vs-rest"]
    every = rows_needed(run, of_classes / "rows.parquet", *view)
    alone = [rows_needed(run, of_classes / "rows.parquet", *view, "--class", one)["rows"] for one in "abc"]
    power = ["--class", "abc"[int(np.argmax(alone))], "--power", 1 - 0.1 / 3]
    surer = rows_needed(run, of_classes / "rows.parquet", *view, *power)["rows"]
    assert max(alone) <= every["rows"] <= 1.05 * surer
    assert every["reached"] >= 0.9
    assert "all 3 classes must pass; class=" in " ".join(every["notes"])
    errs = rows_needed(run, of_classes / "rows.parquet", *view, "--error", 0.2)
    assert errs["wanted"] == "fail"
    assert "any of 3 classes may be off" in " ".join(errs["notes"])


def test_a_pattern_leaves_out_what_apply_wrote_beside_the_classes(run: Run, of_classes: Path) -> None:
    """`calibrated_*` names the classes alone, says so, and is what `inspect` offers; so does `compare`."""
    applied = str(of_classes / "applied.parquet")
    ended = run("measure", applied, "--probs", "calibrated_*", "-y", "label", "-m", "ece", code=0)
    assert "'calibrated_class', 'calibrated_confidence' fit the pattern" in ended.out
    assert "of 3 classes" in ended.out
    assert "--probs 'calibrated_*' -y label" in run("inspect", applied).out
    line = ["compare", str(of_classes / "rows.parquet"), "-y", "label", "--artifact"]
    assert run(*line, str(of_classes / "cal.json"), "-m", "brier").code == 0


def test_inspect_offers_the_score_that_apply_wrote(run: Run) -> None:
    """A file with `calibrated` beside its score is measured by the former."""
    rows = pd.DataFrame({"score": [0.2, 0.4, 0.9], "label": [0, 1, 1]})
    rows.assign(calibrated=rows["score"] / 2).to_csv("applied.csv", index=False)
    assert "-s calibrated -y label" in run("inspect", "applied.csv").out


@pytest.mark.parametrize(("times", "least"), [(12, 7), pytest.param(40, 29, marks=pytest.mark.slow)])
def test_rows_of_a_top_label_are_a_matter_of_chance(
    run: Run, of_classes: Path, times: int, least: int
) -> None:
    """Every class passes as often as promised where each gets as many of the rows as happen to name it."""
    view = ["--probs", "p_*", "--view", "top-label"]
    rows = rows_needed(run, of_classes / "rows.parquet", *view)["rows"]
    probs = pd.read_parquet(of_classes / "rows.parquet").drop(columns="label").to_numpy()
    rng = np.random.default_rng(11)
    passed = []
    for _ in range(times):
        drawn = probs[rng.integers(len(probs), size=rows)]
        label = np.array(list("abc"))[(drawn.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)]
        frame = pd.DataFrame(drawn, columns=["p_a", "p_b", "p_c"]).assign(label=label)
        found = calibcli.verify(frame, probs="p_*", label="label", view="top-label", max_ece=0.08, bins=5)
        passed.append(found.passed)
    # At 90 % one in 1,800 such tests has fewer, and one in 2,600 of the long ones.
    assert sum(passed) >= least
