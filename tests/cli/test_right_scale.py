"""Probabilities where a map of logits is applied, through the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibcli

Run = Any
SAID = "every value lies in [0, 1], and the map was fitted to logits"


def _written(path: Path, logits: Any, *, prob: bool) -> Path:
    label = np.random.default_rng(5).random(logits.size) < 1 / (1 + np.exp(-logits))
    score = 1 / (1 + np.exp(-logits)) if prob else logits
    path.write_text(
        "score,label\n" + "".join(f"{s!r},{y:d}\n" for s, y in zip(score.tolist(), label, strict=True))
    )
    return path


@pytest.mark.parametrize(("rows", "kind"), [(300, "prob"), (300, "logit"), (60, "prob")])
def test_probabilities_read_as_logits_are_noted(run: Run, tmp_path: Path, rows: int, kind: str) -> None:
    """By every command that applies a map, where there are rows enough; logits go without a word."""
    said = kind == "prob" and rows >= 100
    logits = np.random.default_rng(3).normal(0, 2, 300)
    fitted = _written(tmp_path / "fit.csv", logits, prob=False)
    artifact, output = tmp_path / "cal.json", tmp_path / "out.csv"
    assert run("fit", fitted, "--method", "platt", "--scale", "logit", "-o", artifact).code == 0
    asked = _written(tmp_path / "rows.csv", logits[::-1][:rows], prob=kind == "prob")
    applied = run("apply", artifact, asked, "-o", output)
    assert applied.code == 0
    assert (SAID in " ".join(applied.err.split())) is said
    kept = ["verify", "--max-ece", "0.9", "--state", tmp_path / "gate.json"]
    for words in (["measure"], ["verify", "--max-ece", "0.9"], kept, ["compare"]):
        shown = run(*words, asked, "--artifact", artifact)
        assert (SAID in " ".join((shown.out + shown.err).split())) is said, shown.out + shown.err


@pytest.mark.parametrize("kind", ["prob", "logit"])
def test_rows_of_classes_read_as_logits_are_noted(run: Run, tmp_path: Path, kind: str) -> None:
    """By every command that applies a map of several classes."""
    generator = np.random.default_rng(4)
    logits = generator.normal(0, 2, (300, 3))
    power = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    label = (power.cumsum(axis=1) < generator.random((300, 1))).sum(axis=1)
    asked, fitted = tmp_path / "rows.csv", tmp_path / "fit.csv"
    for path, scores in ((fitted, logits), (asked, (power if kind == "prob" else logits)[::-1])):
        order = label if path == fitted else label[::-1]
        rows = [f"{','.join(map(repr, row))},{y}\n" for row, y in zip(scores.tolist(), order, strict=True)]
        path.write_text("p_0,p_1,p_2,label\n" + "".join(rows))
    artifact = tmp_path / "cal.json"
    of_classes = ["--probs", "p_*", "-y", "label"]
    assert run("fit", fitted, *of_classes, "--scale", "logit", "-o", artifact).code == 0
    applied = run("apply", artifact, asked, "-o", tmp_path / "out.csv")
    gate = ["verify", "--max-ece", "0.9", *of_classes, "--artifact", artifact]
    for ended in (
        applied,
        run("measure", asked, *of_classes, "--artifact", artifact),
        run(*gate, asked),
        run(*gate, asked, "--state", tmp_path / "gate.json"),
        run("compare", asked, *of_classes, "--artifact", artifact),
    ):
        assert (SAID in " ".join((ended.out + ended.err).split())) is (kind == "prob"), ended.out + ended.err


def test_predictions_in_python_warn() -> None:
    """A warning of the line that called, for one score, for groups, and for frames; none for logits."""
    logits = np.random.default_rng(3).normal(0, 2, 400)
    label = np.random.default_rng(5).random(400) < 1 / (1 + np.exp(-logits))
    share, by = 1 / (1 + np.exp(-logits)), np.where(np.arange(400) % 2, "a", "b")
    one = calibcli.fit(logits, label, scale="logit")
    many = calibcli.fit(logits, label, scale="logit", by=by)
    calls = (
        one.predict,
        lambda scores: many.predict(scores, by=by),
        lambda scores: calibcli.apply(one, {"score": scores}),
        lambda scores: calibcli.apply(many, {"score": scores, "by": by}),
    )
    for call in calls:
        with pytest.warns(UserWarning, match="fitted to logits") as caught:
            call(share)
        assert [warning.filename for warning in caught] == [__file__]
        with pytest.warns(UserWarning, match="fitted to logits"):
            exec("call(share)", {"call": call, "share": share})  # noqa: S102 - where nothing has a name
        call(logits)
