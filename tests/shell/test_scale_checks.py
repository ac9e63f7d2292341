"""Scores on another scale than that of the fit, through every door that applies a map."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibcli
from calibcli.documents.sealed import sealed_text
from calibcli.errors import InputProblem
from command_line import CHURN, Run, in_csv

SAID = "every value lies in [0, 1], and the map was fitted to logits"
KINDS = ("logit", "prob", "percent")
OF_CLASSES = ("--probs", "p_*", "-y", "label")


def _share(logits: Any) -> Any:
    small = np.exp(-np.abs(logits))
    return np.where(logits >= 0, 1.0, small) / (1.0 + small)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of 600 rows of a score on three scales, fit rows and others, and the same of classes."""
    folder = tmp_path_factory.mktemp("scales")
    rng = np.random.default_rng(3)
    logits = rng.normal(-0.5, 2, 1_200)
    label = (rng.random(logits.size) < _share(0.8 * logits)).astype(int)
    forms = dict(zip(KINDS, (logits, _share(logits), 100 * _share(logits)), strict=True))
    several = rng.normal(0, 2, (1_200, 3))
    shares = np.exp(several) / np.exp(several).sum(axis=1, keepdims=True)
    truth = (shares.cumsum(axis=1) < rng.random((1_200, 1))).sum(axis=1)
    class_forms = dict(zip(KINDS, (several, shares, 100 * shares), strict=True))
    for kind in KINDS:
        for name, some in (("fit", slice(600)), ("new", slice(600, None)), ("few", slice(600, 690))):
            one = {"score": forms[kind][some], "by": "ab", "label": label[some]}
            in_csv(folder / f"{name}_{kind}.csv", one)
            each = {f"p_{place}": column for place, column in enumerate(class_forms[kind][some].T)}
            in_csv(folder / f"{name}_classes_{kind}.csv", {**each, "label": truth[some]})
    return folder


@pytest.fixture(scope="module")
def artifacts(rows: Path) -> dict[str, Path]:
    """Maps fitted to logits: of one score, of groups, and of classes."""
    from calibcli.shell.app import main

    found = {name: rows / f"{name}.json" for name in ("one", "groups", "classes")}
    fit = ["fit", str(rows / "fit_logit.csv"), *CHURN, "--scale", "logit", "-q"]
    assert main([*fit, "--method", "platt", "-o", str(found["one"])]) == 0
    assert main([*fit, "--method", "platt", "--by", "by", "-o", str(found["groups"])]) == 0
    words = ["fit", str(rows / "fit_classes_logit.csv"), *OF_CLASSES, "--scale", "logit", "-q"]
    assert main([*words, "-o", str(found["classes"])]) == 0
    return found


def _one(artifact: Path, data: Path, folder: Path) -> dict[str, list[object]]:
    """Every command that applies a map of one score."""
    source = [data, *CHURN, "--artifact", artifact]
    return {
        "apply": ["apply", artifact, data, "-s", "score", "-o", folder / "out.csv"],
        "apply to a folder": ["apply", artifact, data, "-s", "score", "--out-dir", folder / "many"],
        "apply to Parquet": ["apply", artifact, data, "-s", "score", "-o", folder / "out.parquet"],
        "apply to compressed": ["apply", artifact, data, "-s", "score", "-o", folder / "out.csv.gz"],
        "apply to standard output": ["apply", artifact, data, "-s", "score", "-o", "-"],
        "measure": ["measure", *source],
        "verify": ["verify", "--max-ece", "0.9", *source],
        "verify with a state": ["verify", "--max-ece", "0.9", "--state", folder / "gate.json", *source],
        "compare": ["compare", *source],
        "plot": ["plot", *source, "-o", folder / "out.svg"],
        "plot the map": ["plot", "--kind", "map", *source, "-o", folder / "map.svg"],
        "report": ["report", *source, "-o", folder / "out.html"],
        "plan": ["plan", "--max-ece", "0.2", "--like", data, "-s", "score", "--artifact", artifact],
    }


DOORS = tuple(_one(Path(), Path(), Path()))
# Whose whole work takes no time.
QUICK = ("apply", "measure", "verify", "verify with a state", "compare")
# These take a map for each group, too.
OF_GROUPS = ("apply", "measure", "verify")


@pytest.mark.parametrize("door", DOORS)
def test_scores_on_another_scale_are_refused(
    run: Run, tmp_path: Path, rows: Path, artifacts: dict[str, Path], door: str
) -> None:
    """In one line that says so, with what to type, exit code 3, and no output."""
    for kind in ("prob", "percent"):
        for name in ("one", "groups") if door in OF_GROUPS else ("one",):
            ended = run(*_one(artifacts[name], rows / f"new_{kind}.csv", tmp_path)[door], code=3)
            what = {"prob": "probabilities", "percent": "percentages"}[kind]
            assert "fitted to (" in ended.err
            assert f"read as {what} they do" in ended.err
            assert f"pass --scale {kind}" in ended.err
            assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


@pytest.mark.parametrize("door", QUICK)
def test_scores_on_the_scale_of_the_fit_are_not(
    run: Run, tmp_path: Path, rows: Path, artifacts: dict[str, Path], door: str
) -> None:
    """Neither those, nor 90 rows of another, nor what --scale says they are."""
    ended = run(*_one(artifacts["one"], rows / "new_logit.csv", tmp_path)[door])
    assert ended.code in (0, 4), ended.err
    assert SAID not in ended.shown
    for number, (name, more) in enumerate(
        (("few_prob.csv", []), ("new_prob.csv", ["--scale", "prob"]), ("new_prob.csv", ["--scale", "logit"]))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        ended = run(*_one(artifacts["one"], rows / name, folder)[door], *more)
        assert ended.code in (0, 4), ended.err
        assert SAID not in ended.shown


def test_a_scale_that_is_said_is_the_one_that_is_read(
    run: Run, rows: Path, artifacts: dict[str, Path]
) -> None:
    """Probabilities go through a map of logits as the logits would: of a score, of groups, of classes."""
    for name, of in (("one", ""), ("groups", ""), ("classes", "_classes")):
        taken = []
        for kind in ("logit", "prob"):
            output = Path(f"{name}_{kind}.csv")
            scale = ["--scale", kind] if kind == "prob" else []
            run("apply", artifacts[name], rows / f"new{of}_{kind}.csv", "-o", output, *scale, code=0)
            lines = output.read_text().splitlines()
            place = -1 if of == "" else -4
            taken.append([float(line.split(",")[place]) for line in lines[1:]])
        assert np.allclose(*taken, rtol=1e-12)
        assert len(taken[0]) == 600


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_classes_on_another_scale_are_refused(
    run: Run, rows: Path, artifacts: dict[str, Path], kind: str
) -> None:
    """By every command that applies a map of several classes; logits are taken."""
    artifact = artifacts["classes"]
    for name in ("new", "few"):
        requested = rows / f"{name}_classes_{kind}.csv"
        gate = ["verify", "--max-ece", "0.9", *OF_CLASSES, "--artifact", artifact]
        for place, words in enumerate(
            (
                ["apply", artifact, requested, "-o", f"{name}.csv"],
                ["measure", requested, *OF_CLASSES, "--artifact", artifact, "-m", "accuracy"],
                [*gate, requested],
                [*gate, requested, "--state", f"{name}.json"],
                ["compare", requested, *OF_CLASSES, "--artifact", artifact, "-m", "accuracy"],
            )
        ):
            ended = run(*words)
            refused = kind != "logit" and name == "new"
            assert ended.code in ((3,) if refused else (0, 4)), (place, ended.err)
            if refused:
                assert f"rows sum to {'1' if kind == 'prob' else '100'} with no number below 0" in ended.err


def test_an_artifact_that_does_not_say_where_its_scores_lay_notes_as_it_did(
    run: Run, rows: Path, artifacts: dict[str, Path]
) -> None:
    """Older artifacts are read, and probabilities are noted, not refused."""
    for name, of in (("one", ""), ("classes", "_classes")):
        document = json.loads(artifacts[name].read_text())
        del document["fit"]["score_quantiles"]
        old = Path(f"{name}.json")
        old.write_text(sealed_text(document))
        ended = run("apply", old, rows / f"new{of}_prob.csv", "-o", f"{name}.csv", code=0)
        assert SAID in " ".join(ended.err.split())


def test_logits_that_all_lie_between_0_and_1_are_refused_by_a_map_of_probabilities(run: Run) -> None:
    """Where the fit rows say so: as logits they are what was fitted to, as probabilities they are not."""
    rng = np.random.default_rng(4)
    logits = rng.uniform(0, 1, 2_000)
    label = rng.random(2_000) < _share(logits)
    for name, scores in (
        ("fit", _share(logits[:1_000])),
        ("prob", _share(logits[1_000:])),
        ("logit", logits[1_000:]),
    ):
        side = label[:1_000] if name == "fit" else label[1_000:]
        in_csv(f"{name}.csv", {"score": scores, "label": side})
    artifact = Path("cal.json")
    assert run("fit", "fit.csv", "--method", "platt", "-o", artifact).code == 0
    assert run("apply", artifact, "prob.csv", "-o", "a.csv").code == 0
    ended = run("apply", artifact, "logit.csv", "-o", "b.csv")
    assert (ended.code, Path("b.csv").exists()) == (3, False)
    assert "read as log-odds they do" in ended.err
    for scale in ("logit", "prob"):
        run("apply", artifact, "logit.csv", "--scale", scale, "-o", f"{scale}.out.csv", code=0)


def test_without_a_fit_what_looks_like_probabilities_is_noted(run: Run, rows: Path) -> None:
    """By fit and measure, for one score and for several classes; not by those who read them as they are."""
    for of, words in (("", []), ("_classes", OF_CLASSES)):
        for kind, noted in (("prob", True), ("percent", bool(of)), ("logit", False)):
            data = rows / f"new{of}_{kind}.csv"
            output = Path(f"{of}{kind}.json")
            for ended in (
                run("measure", data, *words, "--scale", "logit"),
                run("fit", data, *words, "--scale", "logit", "-o", output),
            ):
                assert ended.code == 0, ended.err
                assert ("was read as log-odds" in ended.shown) is noted
    grades = Path("grades.csv")
    grades.write_text("score,label\n" + "0.01,0\n0.05,0\n0.2,1\n" * 40)
    assert "was read as log-odds" in " ".join(run("measure", grades, "--scale", "logit").out.split())


@pytest.mark.parametrize(
    ("of", "said"),
    [(lambda risk: 100.0 * risk, True), (lambda risk: np.log(risk / (1.0 - risk)) + 8.0, False)],
)
def test_percentages_that_were_read_as_log_odds_are_said(
    run: Run, of: Callable[[Any], Any], *, said: bool
) -> None:
    """Where none is below 0, and the events are those of percentages."""
    rng = np.random.default_rng(2)
    risk = rng.beta(1.0, 20.0, 1_000)
    path = in_csv("rows.csv", {"score": of(risk), "label": rng.random(1_000) < risk})
    shown = run("measure", path, *CHURN, "--scale", "logit", "-m", "ece", code=0).out
    assert ("were read as log-odds; --scale percent reads" in " ".join(shown.split())) is said


def test_logarithms_that_no_double_can_tell_from_0_or_1_are_counted(run: Run) -> None:
    """Each column's rows, as log loss is infinite for one of them that is wrong; of classes that is said."""
    data = Path("sure.csv")
    data.write_text("a,b,label\n" + "40,2,1\n-800,-2,0\n37,38,0\n36.7,1,1\n3,-740,1\n" * 20)
    asked = (data, "-y", "label", "--scale")

    def notes(*words: object) -> list[str]:
        return [note.partition(",")[0] for note in run(*words, "--json").document["notes"]]

    one, zero = ("with log-odds above 36.7 have a score of exactly 1", "rows with log-odds below -745 have")
    assert notes("measure", *asked, "logit", "-s", "a", "-m", "brier") == [
        f"40 rows {one}",
        f"20 {zero} a score of exactly 0",
    ]
    alone = notes("measure", *asked, "logit", "-s", "a", "-m", "brier", "--limit", 1)
    assert alone[-1].startswith("1 row with log-odds above 36.7 has a score")
    assert notes("compare", *asked, "logit", "-s", "a", "-s", "b", "-m", "brier")[-3:] == [
        f"column 'a': 40 rows {one}",
        f"column 'a': 20 {zero} a score of exactly 0",
        f"column 'b': 20 rows {one}",
    ]
    few = ("-m", "brier", "--where", "b < 1.5", "--where", "a < 0")
    assert notes("measure", *asked, "logprob", "-s", "b", *few)[-1:] != ["20 rows with log-probabilities"]
    assert notes("measure", *asked, "logprob", "-s", "a", *few)[-1].startswith(
        "20 rows with log-probabilities"
    )
    classes = Path("classes.csv")
    classes.write_text("p_a,p_b,label\n" + "0,-900,a\n-900,0,a\n0,-700,b\n" * 40)
    said = "log-probabilities below -745 have a probability of exactly 0"
    asked = (classes, "--probs", "p_*", "-y", "label", "--scale", "logprob", "-m", "class_log_loss")
    assert said in notes("measure", *asked)
    assert said not in notes("measure", *asked, "--where", "p_b > -800", "--where", "p_a > -800")


def _of_python(logits: Any) -> dict[str, Callable[..., Any]]:
    label = np.random.default_rng(5).random(logits.size) < _share(logits)
    by = np.where(np.arange(logits.size) % 2, "a", "b")
    one = calibcli.fit(logits, label, scale="logit")
    many = calibcli.fit(logits, label, scale="logit", by=by)
    ends = calibcli.fit(logits, label, scale="logit", method="venn-abers")
    return {
        "predict": one.predict,
        "ends": lambda scores, **more: ends.ends(scores, **more)[1],
        "groups": lambda scores, **more: many.predict(scores, by=by, **more),
        "frame": lambda scores, **more: calibcli.apply(one, {"score": scores}, **more)["calibrated"],
        "frame by groups": lambda scores, **more: calibcli.apply(many, {"score": scores, "by": by}, **more)[
            "calibrated"
        ],
        "measure": lambda scores, **more: calibcli.measure(scores, label, artifact=one, **more)["bias"].value,
    }


def test_python_refuses_them_too() -> None:
    """With the keyword to pass, which reads them as what they are."""
    logits = np.random.default_rng(3).normal(0, 2, 400)
    for name, call in _of_python(logits).items():
        with pytest.raises(InputProblem, match="read as probabilities they do") as caught:
            call(_share(logits))
        assert "scale='prob'" in str(caught.value.hint), name
        assert np.allclose(call(_share(logits), scale="prob"), call(logits), rtol=1e-9)
        call(_share(logits), scale="logit")
        call(_share(logits)[0:0]) if name == "predict" else None


def test_python_refuses_rows_of_classes_too() -> None:
    """As arrays and as frames; of what sums to 1 with numbers below 0 nothing is said."""
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 2, (400, 3))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    label = (shares.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1)
    found = calibcli.fit(logits, label, scale="logit")
    for rows in (shares, {f"p_{place}": shares[:, place] for place in range(3)}):
        with pytest.raises(InputProblem, match="sum to 1 with no number below 0"):
            calibcli.apply(found, rows)
        calibcli.apply(found, rows, scale="prob")
    calibcli.apply(found, shares + np.array([1.0, 0.0, -1.0]))
    assert np.allclose(calibcli.apply(found, shares, scale="prob"), calibcli.apply(found, logits))


@pytest.mark.parametrize("method", ["platt", "isotonic", "histogram"])
def test_a_map_over_its_own_output_is_noted(run: Run, method: str) -> None:
    """By every command that applies one, in text and in columns; rows that it was not applied to are not."""
    rng = np.random.default_rng(11)
    for name in ("fit.csv", "new.csv"):
        logits = rng.normal(-0.5, 2, 1_500)
        label = rng.random(logits.size) < _share(0.4 * logits + 0.8)
        in_csv(Path(name), {"score": _share(logits), "label": label})
    artifact, new = Path("cal.json"), Path("new.csv")
    assert run("fit", "fit.csv", "--method", method, "-o", artifact, "-q").code == 0
    for kind in ("csv", "parquet") if method == "platt" else ("parquet",):
        once = Path(f"once.{kind}")
        found = {}
        assert "applied to them already" not in run("apply", artifact, new, "-s", "score", "-o", once).err
        for score in ("score", "calibrated"):
            source = [once, "-s", score, "-y", "label", "--artifact", artifact]
            output = ["-o", f"out-{score}.{kind}"]
            for words in (
                ["apply", artifact, once, "-s", score, "--name", "z", *output],
                ["measure", *source, "--metric", "bias"],
                ["verify", *source, "--max-ece", "0.9"],
                ["compare", *source, "--metric", "brier"],
            ):
                ended = run(*words)
                said = ended.shown
                # What a discrete map gives is known for certain where all rows are counted.
                refused = "already applied?" in said
                exact = method == "histogram" and score == "calibrated" and words[0] != "apply"
                assert (ended.code, refused) == (2 if exact else 0, exact), said
                found[words[0], score] = refused or "applied to them already" in said
        assert found == {(one, of): of == "calibrated" for one, of in found}


def test_percentages_that_are_all_below_1_are_noted_beside_the_fit_rows(run: Run) -> None:
    """PDs of a good portfolio: no value is out of range, and log-odds are as far apart as they were."""
    rng = np.random.default_rng(8)
    share = 10 ** rng.uniform(-4.0, -2.1, 4_000)
    label = (rng.random(share.size) < share).astype(int)
    forms = {"prob": share, "percent": 100.0 * share}
    paths = {kind: in_csv(f"{kind}.csv", {"pd": found, "label": label}) for kind, found in forms.items()}
    for own, other, words in (
        ("prob", "percent", "percentages they would lie where those did: --scale percent reads them so"),
        ("percent", "prob", "probabilities they would lie where those did: --scale prob reads them so"),
    ):
        artifact = Path(f"{own}.json")
        fit = ("fit", paths[own], "-s", "pd", "-y", "label", "--scale", own, "-o", artifact)
        run(*fit, code=0)
        apply = ("apply", artifact, paths[other], "-s", "pd", "-o", "out.csv", "--force")
        assert words in run(*apply, code=0).err
        measure = ("measure", paths[other], "-s", "pd", "-y", "label", "--artifact", artifact, "-m", "brier")
        assert words in run(*measure, code=0).out
        assert "would lie where" not in run(*apply, "--scale", other, code=0).err
        assert "would lie where" not in run(*measure[:1], paths[own], *measure[2:], code=0).out


def test_a_file_of_a_shift_that_seems_to_be_on_another_scale_is_noted(run: Run) -> None:
    """Old probabilities beside new percentages are no shift: `--scale` holds for both files."""
    share = np.random.default_rng(3).uniform(0.001, 0.4, 300)
    old, new, hard = (
        in_csv(f"{name}.csv", {"pd": pd})
        for name, pd in (("old", share), ("new", 100.0 * share), ("hard", np.round(share + 0.3)))
    )
    said = "no value is above 1, and they were read as percentages"
    shown = run("drift", old, new, "-s", "pd", "--scale", "percent", code=0).out
    assert shown.count(said) == 1
    assert shown.index("old  ") < shown.index(said) < shown.index("new  ")
    assert "every score is 0 or 1" in run("drift", old, hard, "-s", "pd", code=0).out


def test_predicted_labels_in_place_of_probabilities_are_noted(run: Run) -> None:
    """As where columns were mixed up; fewer than 100 rows, and one score between, say nothing."""
    rng = np.random.default_rng(2)
    said = "every score is 0 or 1, like predicted labels"
    for name, rows, first, expected in (("a", 120, 1, True), ("b", 90, 1, False), ("c", 120, 0.75, False)):
        scores = [first, *rng.integers(0, 2, rows - 1).tolist()]
        path = in_csv(f"{name}.csv", {"s": scores, "y": rng.random(rows) < 0.5})
        requested = [path, "-s", "s", "-y", "y"]
        for words in (
            ["measure", "--metric", "bias"],
            ["verify", "--max-ece", "0.9"],
            ["fit", "-m", "platt"],
        ):
            ended = run(*words, *requested)
            assert ended.code in (0, 4), ended.err
            assert (said in ended.shown) == expected, (name, words)
        # Unless a map was fitted to such scores.
        for fitted_to, noted in ((rng.random(300), expected), (rng.integers(0, 2, 300), False)):
            rows_of_fit = in_csv("fit.csv", {"s": fitted_to, "y": rng.random(300) < 0.5})
            artifact = Path("map.json")
            run("fit", rows_of_fit, "-s", "s", "-y", "y", "-m", "platt", "-o", artifact, "--force", code=0)
            for words in (["apply", artifact, path, "-s", "s", "-o", "out.csv", "--force"],
                          ["measure", *requested, "--artifact", artifact, "-m", "bias"]):  # fmt: skip
                ended = run(*words, code=0)
                assert (said in ended.shown) == noted, (name, words)


def test_scores_beyond_the_fit_rows_are_said(run: Run) -> None:
    """A map of small scores gave 1 to every large one without a word; fresh rows, and the same in single
    precision, are none beyond.
    """
    rng = np.random.default_rng(6)
    score = rng.uniform(0.02, 0.4, 1_000).round(4)
    fresh = rng.choice(score, 1_000)
    names = {"fit": score, "fresh": fresh, "single": fresh.astype(np.float32), "large": 0.2 + fresh}
    paths = {
        name: in_csv(f"{name}.csv", {"score": one, "label": rng.random(1_000) < one})
        for name, one in names.items()
    }
    for scale in ("prob", "percent"):
        cal = Path(f"{scale}.json")
        run("fit", paths["fit"], "-s", "score", "--scale", scale, "-o", cal, "-q", code=0)
        for name, path in paths.items():
            ended = run("apply", cal, path, "-s", "score", "-o", "out.csv", "--force", code=0)
            found = " ".join(ended.err.split())
            said = "% of these scores lie beyond those that the map was fitted to (0.0"
            assert (said in found) == (name == "large"), (scale, name)
    shown = run("measure", paths["large"], "-s", "score", "--artifact", "prob.json").out
    assert "what it makes of them no fit row has shown" in " ".join(shown.split())
