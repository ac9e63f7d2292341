"""Probabilities where a map of logits is applied, through the command line."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
    """By apply, measure and verify, where there are rows enough; logits go without a word."""
    said = kind == "prob" and rows >= 100
    logits = np.random.default_rng(3).normal(0, 2, 300)
    fitted = _written(tmp_path / "fit.csv", logits, prob=False)
    artifact, output = tmp_path / "cal.json", tmp_path / "out.csv"
    assert run("fit", fitted, "--method", "platt", "--scale", "logit", "-o", artifact).code == 0
    asked = _written(tmp_path / "rows.csv", logits[::-1][:rows], prob=kind == "prob")
    applied = run("apply", artifact, asked, "-o", output)
    assert applied.code == 0
    assert (SAID in " ".join(applied.err.split())) is said
    for words in (["measure"], ["verify", "--max-ece", "0.9"]):
        shown = run(*words, asked, "--artifact", artifact)
        assert (SAID in " ".join((shown.out + shown.err).split())) is said, shown.out + shown.err
