"""Several diagrams in one picture from the command line: `plot` of scores, groups and classes."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from command_line import CHURN, SAMPLE, Ran

Run = Callable[..., Ran]
EVALUATION = SAMPLE / "churn_evaluation.parquet"
FOREST = SAMPLE / "digits_forest_evaluation.csv"


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Write a CSV file of two scores and a column of groups with awkward names."""
    rng = np.random.default_rng(2)
    score = rng.random(900)
    names = rng.choice(["DE", "$US", "<b>予</b>", "W" * 300], 900)
    label = rng.random(900) < score
    path = tmp_path / "rows.csv"
    lines = [
        f"{one!r},{one**2!r},{int(hit)},{name}"
        for one, hit, name in zip(score.tolist(), label, names, strict=True)
    ]
    path.write_text("old,new,label,country\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def drawn(ran: Ran, path: Path) -> str:
    """Return what the command said of a picture that it wrote."""
    assert ran.code == 0, ran.err
    assert path.stat().st_size > 5_000
    return ran.err


def test_scores_groups_and_classes_are_drawn(run: Run, rows: Path, tmp_path: Path) -> None:
    """Named scores, groups and views of classes say by themselves which diagram is meant."""
    out = tmp_path / "p.svg"
    words = ("plot", rows, "-y", "label", "-o", out, "--force")
    said = drawn(run(*words, "-s", "old", "-s", "new"), out)
    assert re.search(r"smECE, new less old: \+0\.1\d+ \[0\.\d+, 0\.\d+\] at 95 % confidence", said)
    assert "ECE of all rows" in drawn(run(*words, "-s", "old", "--by", "country", "--size", "slide"), out)
    digits = ("plot", FOREST, "--probs", "p_*", "-y", "label", "-o", out, "--force", "--theme", "dark")
    words = ("--view", "top-label", "--min-group-rows", "94", "--axis", "logit")
    assert "top-label ECE" in drawn(run(*digits, *words), out)


def test_compare_is_short_for_a_kind_and_an_artifact(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Both give the same bytes."""
    one, other = tmp_path / "one.png", tmp_path / "other.png"
    words = ("plot", EVALUATION, *CHURN)
    assert "recalibrated less raw: -" in drawn(run(*words, "--compare", artifact, "-o", one), one)
    assert run(*words, "--kind", "compare", "--artifact", artifact, "-o", other).code == 0
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--compare", "cal.json", "--artifact", "cal.json"], "--artifact is there as well"),
        (["--compare", "cal.json", "--kind", "binned"], "--kind binned is there as well"),
        (["--kind", "cumulative", "--axis", "logit"], "has no effect on --kind cumulative"),
        (["--kind", "compare"], "nothing to compare with"),
        (["--by", "country", "--kind", "smooth"], "--by has no effect on --kind smooth"),
        (["--by", "country", "-s", "new"], "ask for different diagrams"),
        (["--view", "top-label"], "--probs names none"),
    ],
)
def test_combinations_without_effect_are_refused(
    run: Run, rows: Path, tmp_path: Path, more: list[str], said: str
) -> None:
    """One line and what to do; nothing is written."""
    out = tmp_path / "p.png"
    ran = run("plot", rows, "-s", "old", "-y", "label", "-o", out, *more)
    assert (ran.code, len(ran.err.splitlines()), said in ran.err) == (2, 2, True), ran.err
    assert not out.exists()


def test_parts_of_a_report_are_drawn(run: Run, rows: Path, tmp_path: Path) -> None:
    """A view of classes may be asked of a report by itself, and of nothing else."""
    report, out = tmp_path / "r.json", tmp_path / "p.svg"
    scores = ("-s", "old", "-s", "new", "-y", "label")
    words = (*scores, "--by", "country", "--metric", "ece")
    assert run("measure", rows, *words, "--json", "-o", report).code == 0
    for kind in ("compare", "groups"):
        drawn(run("plot", report, "--kind", kind, "-o", out, "--force"), out)
    refused = run("plot", report, "--view", "top-label", "-o", out, "--force")
    assert (refused.code, "has no 'classes'" in refused.err) == (3, True)
    assert run("plot", report, "--kind", "groups", "--by", "country", "-o", out, "--force").code == 2
    assert run("plot", report, "--kind", "smooth", "--view", "top-label", "-o", out, "--force").code == 2


def test_kinds_are_completed(shell: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch) -> None:
    """As every other choice is."""
    monkeypatch.setenv("_CALIBCLI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "calibcli plot --kind c")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert set(shell().out.split()) == {"compare", "classes", "cumulative"}
