"""The answer begins with what was asked for, also where other rows of the report show more."""

from pathlib import Path

import numpy as np
import pytest

from command_line import Run


@pytest.fixture
def crossed(tmp_path: Path) -> Path:
    """As many events as predicted, but too few where scores are high and too many where they are low."""
    rng = np.random.default_rng(4)
    score = np.repeat((0.3, 0.7), 600)
    label = (rng.permutation(np.repeat((0, 1), 300)) for _ in range(2))
    path = tmp_path / "rows.csv"
    lines = (f"{one!r},{y}" for one, y in zip(score.tolist(), np.concatenate([*label]), strict=True))
    path.write_text("\n".join(["score,label", *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("metric", "first"),
    [
        ("oe", "The O/E ratio is 1.00 "),
        ("citl", "The calibration intercept (CITL) is "),
        ("hl", "Scores are miscalibrated (Hosmer-Lemeshow test: p "),
        ("bias", "The bias is "),
    ],
)
def test_what_was_asked_for_stands_first(run: Run, crossed: Path, metric: str, first: str) -> None:
    """And what the ranges of scores show, after it."""
    said = run("measure", crossed, "-m", metric).out.split("\n")
    assert said[0].startswith(first)
    assert said[1].startswith("Scores are too low ")


def test_scores_that_are_the_same_are_said_to_be(run: Run, crossed: Path, tmp_path: Path) -> None:
    """A map that changes nothing is no comparison; one that changes some rows is."""
    for name, method in (("same", "identity"), ("other", "intercept")):
        made = run("fit", crossed, "-m", method, "-o", tmp_path / f"{name}.json", "--limit", "900")
        assert made.code == 0, made.err
    same = run("compare", crossed, "--artifact", tmp_path / "same.json").out
    assert "have the same score in every row." in same.split("\n")[0]
    assert "same score in every row" not in run("compare", crossed, "--artifact", tmp_path / "other.json").out


def test_a_note_on_few_values_names_the_score_that_has_them(run: Run, tmp_path: Path) -> None:
    """Of two that are compared."""
    rng = np.random.default_rng(5)
    fine = rng.random(3_000)
    path = tmp_path / "two.csv"
    lines = (f"{s!r},{round(s, 2)!r},{int(rng.random() < s)}" for s in fine.tolist())
    path.write_text("\n".join(["fine,coarse,label", *lines]), encoding="utf-8")
    said = run("compare", path, "-s", "fine", "-s", "coarse", "-y", "label").out
    assert "note: coarse takes 101 values, and 15 equal-width bins" in said


def test_a_guess_says_that_the_repaired_score_is_there_too(run: Run, crossed: Path, tmp_path: Path) -> None:
    """A gate after `apply` is hardly meant for the raw score."""
    assert run("fit", crossed, "-m", "platt", "-o", tmp_path / "map.json").code == 0
    both = tmp_path / "both.csv"
    assert run("apply", tmp_path / "map.json", crossed, "-o", both).code == 0
    note = "column 'calibrated', as `apply` writes it, is there too: --score calibrated looks at it"
    assert note in run("verify", both, "--max-ece", "0.5").out
    assert note not in run("verify", both, "-s", "score", "--max-ece", "0.5").out
    assert note not in run("verify", crossed, "--max-ece", "0.5").out
