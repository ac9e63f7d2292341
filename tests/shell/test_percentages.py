"""Scores that look like percentages are said to, and those of rare events are not."""

from pathlib import Path

import numpy as np

from command_line import Run

REVERSED = "is the outcome coded in reverse? --positive names the value that is label 1"
HINT = "events are a hundredth of what the scores expect: --scale percent reads 0.4 as 0.4 %"


def test_percentages_below_one_are_asked_about(run: Run, tmp_path: Path) -> None:
    """PDs of 0.03 to 0.4 per cent, read as probabilities, expect a hundred times the events."""
    rng = np.random.default_rng(1)
    percent = rng.choice([0.03, 0.1, 0.4], 8_000)
    event = rng.random(8_000) < percent / 100.0
    for name, score in (("percent", percent), ("share", percent / 100.0), ("high", np.full(8_000, 0.05))):
        lines = (f"{one!r},{int(label)}" for one, label in zip(score.tolist(), event, strict=True))
        (tmp_path / f"{name}.csv").write_text("\n".join(["pd,default", *lines]), encoding="utf-8")
    names = ("percent", "share", "high")
    said = {name: HINT in run("measure", tmp_path / f"{name}.csv").out for name in names}
    assert said == {"percent": True, "share": False, "high": False}
    assert HINT not in run("measure", tmp_path / "percent.csv", "--scale", "percent").out


def test_outcomes_in_reverse_are_asked_about(run: Run, tmp_path: Path) -> None:
    """By every command that measures, of the column that is meant; no more of the other value."""
    rng = np.random.default_rng(2)
    score = rng.random(400)
    label = np.where(rng.random(400) < score, "died", "lived")
    path = tmp_path / "cohort.csv"
    lines = (f"{one!r},{1.0 - one!r},{word}" for one, word in zip(score.tolist(), label, strict=True))
    path.write_text("\n".join(["risk,chance,outcome", *lines]), encoding="utf-8")
    words = ("-s", "risk", "-y", "outcome", "--positive")
    assert "(AUROC 0.1" in run("measure", path, *words, "lived").out
    assert REVERSED in run("measure", path, *words, "lived").out
    assert REVERSED not in run("measure", path, *words, "died").out
    assert "column 'chance': the higher" in run("measure", path, "-s", "chance", *words, "died").out
    assert REVERSED in run("verify", path, *words, "lived", "--max-ece", "0.9").out
