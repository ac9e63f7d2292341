"""What is printed of one row, of sure scores, of undefined numbers and of round ones is a true sentence."""

import json
from pathlib import Path

from command_line import Make, Run
from score_rows import scored

ONE = ("score,label", ".3,1")


def test_what_would_have_been_found_in_the_largest_segment(run: Run, csv_of: Make) -> None:
    """A smaller one whose scores are surer shows smaller errors."""
    lines = [f".5,{k % 2},a" for k in range(400)] + [f".01,{int(k % 100 == 50)},b" for k in range(1000)]
    path = csv_of("score,label,site", *lines)
    found = run("segments", path, "--on", "site", "--json").document
    least = {one["rows"]: one["smallest_detectable"] for one in found["segments"]}
    assert least[1000] < least[1400]
    assert f"and of {least[1400]:#.3g} in the largest" in run("segments", path, "--on", "site").out


def test_every_format_answers_alike_of_groups(run: Run, csv_of: Make) -> None:
    """JSON measures more of a group than a table of groups shows, and says no more of it in the answer."""
    score, label = scored(100, lambda score: 0.5 + 0.4 * (score - 0.5))
    lines = [f"{one!r},{int(y)},{x}" for one, y in zip(score.tolist(), label, strict=True) for x in "ab"]
    words = ("measure", csv_of("score,label,site", *lines), "--by", "site")
    found = run(*words, "--json").document
    assert max(found["groups"]["adjusted"]["kuiper"].values()) < 0.05
    shown, _, _ = run(*words).out.partition("\n\n")
    assert found["answer"] == shown.replace("\n", " ")
    assert shown.endswith("Of 2 groups none by itself is shown to be miscalibrated by ECE or bias.")


def test_frequencies_are_told_apart_from_lines(run: Run, csv_of: Make) -> None:
    """Tables count rows, and files have lines."""
    old = csv_of("score,n", ".1,3", ".2,4", name="old.csv")
    new = csv_of("score,n", ".1,400", ".9,500", name="new.csv")
    words = (old, new, "-w", "n", "--weights-are", "frequency", "--max-psi", "0")
    said = run("drift", *words).out
    assert "old.csv  score=score weight=n, 2 rows that count as 7\n" in said
    assert "new.csv  score=score weight=n, 2 rows that count as 900\n" in said
    assert "shifted at all" not in said


def test_a_report_without_an_interval_is_inspected_in_words(run: Run, csv_of: Make) -> None:
    """What JSON has as null is no number of Python."""
    report = Path("report.json")
    run("measure", csv_of(*ONE), "-m", "brier,auroc", "--json", "-o", report)
    said = run("inspect", report).out
    assert json.loads(report.read_text())["answer"] in said
    assert "(no interval)" in said
    assert "undefined (no interval)" in said
    assert "None" not in said


def test_small_errors_on_average_are_drawn_with_their_digits(run: Run, csv_of: Make) -> None:
    """Four decimals would make the error of rare events 0."""
    path = csv_of("score,label", *(f"{k / 1e7},0" for k in range(1, 400)))
    picture = Path("rare.svg")
    assert run("plot", path, "--kind", "residual", "-o", picture).code == 0
    assert "-0.000020" in picture.read_text().replace("\u2212", "-")
