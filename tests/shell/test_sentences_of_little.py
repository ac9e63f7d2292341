"""What is printed of one row, of sure scores, of undefined numbers and of round ones is a true sentence."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from command_line import Make, Run
from score_rows import scored

ONE = ("score,label", ".3,1")
SURE = ("score,label", *("0,0",) * 5)
TWO = ("score,label,site", ".3,1,a", ".6,0,b")
RIGHT, WRONG = (("score,label", *(f"{k / 50},{label}" for k in range(1, 50))) for label in (1, 0))
PERFECT, BLIND = ("score,label", *("0,0", "1,1") * 200), ("a,b,c,label", ".1,.2,.3,0")
NEAR = ("score,label", ".00005,0", *(f".{k},{k % 2}" for k in range(11, 60)))
STEPS = ("score,label", *(f".25,{int(k < 251)}\n.75,{int(k < 750)}" for k in range(1000)))
MANY = ("a,b,c,label", *(f"{k / 200},{k / 200},{1 - k / 200},{int(k % 7 < k / 30)}" for k in range(1, 200)))
SURE_OF_ONE = ("a,b,label", "0,0,0", *(f".{k},.{k + k % 3 - 1},{k % 2}" for k in range(11, 90)))
MONTHS = ("score,month", *(f".{k},{month}" for month in (1, 2) for k in range(1, 4 + month)))


@pytest.mark.parametrize(
    ("lines", "words", "said", "unsaid"),
    [
        (
            ONE,
            "measure",
            ["could be shown in this row;", '"by chance": about what values'],
            ["these 1", "90 %"],
        ),
        (ONE, "measure -m jeffreys", ["This row does not show that scores are too low"], ["These 1"]),
        (ONE, "measure -m ici", ["Of one rate for all rows: ici."], ["0 knots"]),
        (TWO, "measure -m ici", ["Of a straight line in log odds: ici."], ["2 knots"]),
        (ONE, "verify --rule auroc>=0.7", ["(undefined; no lower", "the only row has label 1"], ["nan"]),
        (SURE, "verify --rule spiegelhalter.p>=0.05", ["(p undefined)", "about Spiegelhalter's"], ["nan"]),
        (TWO, "verify --max-ece 0.1 --by site", ["up to 100 % of future rows"], ["e+02"]),
        (
            SURE_OF_ONE,
            "compare -s a -s b -y label",
            ["clear difference: there are scores of exactly 0 or 1"],
            [],
        ),
        (RIGHT, "measure -m aurc", ["Of all rows, at least 90 % have label 1;"], []),
        (WRONG, "measure -m aurc", ["At none of twenty cutoffs do 90 % or more of the rows above"], []),
        (
            NEAR,
            "measure -m smece_logit,slope",
            ["1 row has a score within 0.0001 of 0 or 1 and counts as if 0.0001 from it: it may"],
            ["36.7"],
        ),
        (
            STEPS,
            "fit --method platt -o /dev/null --force",
            ["The log loss stays at 0.5629 on the fit rows."],
            [],
        ),
        (
            MANY,
            "measure -s a -s b -s c -m brier",
            ["c is worse than a; b is not clearly different from a."],
            [],
        ),
        (MANY, "compare -s a -s b -w c --weights-are importance --reference a", ["weight=c"], []),
        (MONTHS, "drift --by month", ["is empty on one side,"], ["in one file"]),
        (ONE, "plan --max-ece 0.9", ["give or take 1.2 percentage", "100 rows, as many."], ["rows half of"]),
        (ONE, "inspect", ["(the only row has label 1)"], ["1 rows"]),
        (PERFECT, "measure -m ici,emax", ["No miscalibration could be shown in these 400 rows;"], []),
        (PERFECT, "measure -m clinical", [" No error is shown.\nStrong"], ["departs from the diagonal"]),
        (
            BLIND,
            "compare -s a -s b -s c --reference a --fail-if-worse -m brier",
            ["Without an interval, and so no part of this verdict: b and c by Brier score."],
            [],
        ),
    ],
)
def test_sentences_are_true_of_little(
    run: Run, csv_of: Make, lines: Sequence[str], words: str, said: Sequence[str], unsaid: Sequence[str]
) -> None:
    """One row is no rows, what is undefined has no number, and what all did is not sure."""
    first, *more = words.split()
    path = csv_of(*lines)
    ended = run(first, *(["--like"] if first == "plan" else []), path, *more)
    text = ended.out + ended.err
    for one in said:
        assert one in text, text
    for one in unsaid:
        assert one not in text, text


def test_what_would_have_been_found_in_the_largest_segment(run: Run, csv_of: Make) -> None:
    """A smaller one whose scores are surer shows smaller errors."""
    lines = [f".5,{k % 2},a" for k in range(400)] + [f".01,{int(k % 100 == 50)},b" for k in range(1000)]
    path = csv_of("score,label,site", *lines)
    found = run("segments", path, "--on", "site", "--json").document
    least = {one["rows"]: one["smallest_detectable"] for one in found["segments"]}
    assert least[1000] < least[1400]
    assert f"and of {least[1400]:#.3g} in the largest" in run("segments", path, "--on", "site").out


def test_groups_may_be_wrong_where_all_rows_are_not(run: Run, csv_of: Make) -> None:
    """Errors of two groups that cancel are none of all rows together, and are shown."""
    lines = [f".5,{int(k % 10 < rate)},{name}" for k in range(300) for name, rate in (("a", 8), ("b", 2))]
    said = run("measure", csv_of("score,label,site", *lines), "--by", "site").out
    assert said.startswith("No miscalibration could be shown over all 600 rows;")
    assert "Both groups are shown to be miscalibrated, above all" in said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("oe,binomial", "to be miscalibrated by O/E ratio or binomial test."),
        ("binomial", "to have scores that are too low, by binomial test."),
        # One score has no slope.
        ("clinical", "to be miscalibrated by O/E ratio or calibration intercept (CITL)."),
        ("brier,auroc", ""),
        # It calls right scores wrong too often where few events are expected, and the table may show that.
        ("jeffreys", ""),
    ],
)
def test_groups_of_which_none_is_off_are_not_passed_over(
    run: Run, csv_of: Make, asked: str, said: str
) -> None:
    """Whoever asks by grade is answered by grade; without an ECE nothing was said of groups that are fine."""
    rows = csv_of("pd,default,g", *(f"0.05,{int(k % 20 == 7)},{'ab'[k % 300 < 140]}" for k in range(300)))
    found = run("measure", rows, "-s", "pd", "-y", "default", "--by", "g", "-m", asked, code=0).out
    first, *_ = found.partition("\n\n")
    assert ("Of 2 groups none by itself is shown " in first) == bool(said), first
    assert said in first


def test_nothing_is_said_of_columns_that_clusters_leave_empty(run: Run, csv_of: Make) -> None:
    """Lights without a light, and a reason that sends to a column which has none."""
    lines = [f"{(k % 2 + 1) / 10},{int(k % 4 == 3)},{k % 40},{'ab'[k % 2]}" for k in range(400)]
    rows = csv_of("pd,default,loan,g", *lines)
    asked = ("measure", rows, "-s", "pd", "-y", "default", "--by", "g", "-m", "jeffreys,oe,brier_mcb")
    alone, clustered = run(*asked, code=0).out, run(*asked, "--cluster", "loan", code=0).out
    assert ("Lights (Tasche 2003)" in alone, "Lights (Tasche 2003)" in clustered) == (True, False)
    assert "the isotonic fit follows the noise\n" in clustered


def test_groups_that_one_measure_shows_are_not_called_shown_by_none(run: Run, csv_of: Make) -> None:
    """The noise of all bins drowns what one of them shows."""
    score, label = scored(500, lambda score: 0.5 + 0.4 * (score - 0.5))
    lines = [
        f"{one!r},{int(y)},{'ab'[k % 2]}"
        for k, (one, y) in enumerate(zip(score.tolist(), label, strict=True))
    ]
    said = run("measure", csv_of("score,label,site", *lines), "--by", "site", "-m", "ece,linf").out
    assert "By maximum calibration error, scores are miscalibrated in site=a and site=b; all at once" in said
    assert "none by itself" not in said


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


def test_a_report_without_an_interval_is_inspected_in_words(run: Run, csv_of: Make, tmp_path: Path) -> None:
    """What JSON has as null is no number of Python."""
    report = tmp_path / "report.json"
    run("measure", csv_of(*ONE), "-m", "brier,auroc", "--json", "-o", report)
    said = run("inspect", report).out
    assert json.loads(report.read_text())["answer"] in said
    assert "(no interval)" in said
    assert "undefined (no interval)" in said
    assert "None" not in said


def test_small_errors_on_average_are_drawn_with_their_digits(run: Run, csv_of: Make, tmp_path: Path) -> None:
    """Four decimals would make the error of rare events 0."""
    path = csv_of("score,label", *(f"{k / 1e7},0" for k in range(1, 400)))
    picture = tmp_path / "rare.svg"
    assert run("plot", path, "--kind", "residual", "-o", picture).code == 0
    assert "-0.000020" in picture.read_text().replace("\u2212", "-")
