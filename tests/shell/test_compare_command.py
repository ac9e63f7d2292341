"""`calibcli compare` and `calibcli fit --method auto` from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from command_line import CHURN, SAMPLE, Ran

EVALUATION = SAMPLE / "churn_evaluation.parquet"
Run = Callable[..., Ran]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Return a CSV file with a right score, a, and one that is too sure, b."""
    rng = np.random.default_rng(11)
    a = rng.random(3000).clip(0.01, 0.99)
    b = 1 / (1 + ((1 - a) / a) ** 2)
    label = rng.random(3000) < a
    path = tmp_path / "two.csv"
    lines = [f"{f!r},{g!r},{y:d}\n" for f, g, y in zip(a.tolist(), b.tolist(), label, strict=True)]
    path.write_text("a,b,label\n" + "".join(lines))
    return path


def test_comparison_fits_its_published_schema(run: Run, two: Path, artifact: Path) -> None:
    """What `compare --json` prints validates against `schema compare`, with and without a gate."""
    schema = json.loads(run("schema", "compare").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    for words in (
        [two, "-s", "a", "-s", "b"],
        [two, "-s", "b", "-s", "a", "--fail-if-worse", "--metric", "l2"],
        [EVALUATION, *CHURN, "--artifact", artifact, "--fail-if-worse"],
        [EVALUATION, *CHURN, "-w", "weight", "--artifact", artifact],
    ):
        ended = run("compare", *words, "--json")
        assert ended.code in (0, 1), ended.err
        jsonschema.validate(json.loads(ended.out), schema)


def test_worse_fails_the_gate_and_only_with_the_flag(run: Run, two: Path) -> None:
    """Exit 1 means shown to be worse; better, or unasked, is 0."""
    worse = run("compare", two, "-s", "a", "-s", "b", "-y", "label", "--fail-if-worse")
    assert worse.code == 1
    assert "FAIL  b is shown to be worse by brier and log_loss." in worse.out
    assert run("compare", two, "-s", "a", "-s", "b", "-y", "label").code == 0
    better = run("compare", two, "-s", "b", "-s", "a", "--fail-if-worse")
    assert better.code == 0
    assert "a is better" in better.out
    assert "Not shown to be worse is not shown to be no worse" in better.out


def test_formats_agree_and_go_where_asked(run: Run, two: Path, tmp_path: Path) -> None:
    """Table, Markdown and JSON, on standard output and in a file that is not replaced unasked."""
    words = ["compare", two, "-s", "a", "-s", "b"]
    assert run(*words, "--json").out == run(*words, "--format", "json").out
    assert "| brier |" in run(*words, "--format", "md").out
    out = tmp_path / "c.txt"
    assert run(*words, "-o", out).code == 0
    assert out.read_text() == run(*words).out
    assert run(*words, "-o", out).code == 5
    assert run(*words, "-o", two, "--force").code == 5


def test_verbose_says_what_is_assumed(run: Run, two: Path) -> None:
    """-v adds a sentence and the assumptions of every measure."""
    ended = run("compare", two, "-s", "a", "-s", "b", "-v")
    assert "What they say" in ended.out
    assert "Assumes: rows are independent" in ended.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["-s", "a"], 2, "error: nothing to compare with\nhint: name two scores (-s a -s b)"),
        (["-s", "a", "-s", "a"], 2, "error: column 'a' is named twice as the score\n"),
        (["-s", "a", "-s", "A"], 2, "error: column 'a' is named twice as the score\n"),
        (["-s", "a", "-s", "b", "-s", "c"], 2, "error: 3 scores are named, and two are compared\n"),
        (["-s", "a", "-s", "b", "--artifact", "x.json"], 2, "error: two scores and an artifact"),
        (["-s", "a", "-s", "labell"], 3, "hint: did you mean 'label'?"),
        (["-s", "a", "-s", "label"], 2, "error: column 'label' cannot be two of"),
        (["-s", "a", "-s", "b", "--metric", "bias"], 2, "error: bias cannot be compared"),
        (["-s", "a", "--artifact", "absent.json"], 3, "error: absent.json: there is no such file"),
        (["-s", "a", "-s", "b", "--confidence", "2"], 2, "error: a confidence of 2.0"),
    ],
)
def test_refusals_are_one_line_and_a_hint(
    run: Run, two: Path, words: list[str], code: int, message: str
) -> None:
    """Every mistake has its code, what is wrong and what to do."""
    ended = run("compare", two, "-y", "label", *words)
    assert ended.code == code
    assert message in ended.err
    assert ended.err.count("\n") == 2 or "no such file" in ended.err
    assert ended.out == ""


def test_guessed_columns_are_said_beside_json(run: Run, two: Path) -> None:
    """A label that was guessed is a note on standard error, unless quiet."""
    words = ["compare", two, "-s", "a", "-s", "b", "--json"]
    assert "taken as the label" in run(*words).err
    assert run(*words, "-q").err == ""


def test_identical_columns_are_not_told_apart(run: Run, csv_of: Callable[..., Path]) -> None:
    """Two columns of the same values differ by 0, and by as much to either side as was not seen."""
    path = csv_of("a,b,label", *(f"{k / 100},{k / 100},{int(k % 3 == 0)}" for k in range(1, 100)))
    measures = json.loads(run("compare", path, "-s", "a", "-s", "b", "--json").out)["measures"]
    for name in ("brier", "log_loss"):
        difference = measures[name]["difference"]
        assert difference["value"] == 0.0
        assert difference["lower"] == pytest.approx(-difference["upper"], rel=1e-6)
        assert difference["upper"] > 0.0
    assert {measure["verdict"] for measure in measures.values()} == {"not told apart"}


def test_auto_prints_and_records_its_choice(run: Run, tmp_path: Path) -> None:
    """The table is on standard error and in the artifact, which fits its schema and can be applied."""
    out = tmp_path / "cal.json"
    words = ["-m", "auto", "--candidate", "platt", "--candidate", "histogram", "--folds", "4", "-g", "id"]
    ended = run("fit", SAMPLE / "churn_calibration.parquet", *CHURN, *words, "-o", out)
    assert ended.code == 0, ended.err
    assert "fitted platt" in ended.err
    assert "chosen" in ended.err
    selection = json.loads(out.read_text())["fit"]["selection"]
    assert [one["method"] for one in selection["results"]] == ["raw", "platt", "histogram"]
    assert (selection["folds"], selection["grouped_by"], selection["rule"]) == (
        4,
        "id",
        "one standard error",
    )
    jsonschema.validate(json.loads(out.read_text()), json.loads(run("schema", "artifact").out))
    assert run("measure", EVALUATION, *CHURN, "--artifact", out, "--metric", "brier").code == 0


def test_inspect_knows_comparisons_and_choices(run: Run, two: Path, tmp_path: Path) -> None:
    """A saved comparison is summed up, and an artifact says how its method was chosen."""
    comparison, cal = tmp_path / "c.json", tmp_path / "cal.json"
    assert run("compare", two, "-s", "a", "-s", "b", "--json", "-o", comparison).code == 0
    shown = run("inspect", comparison)
    assert shown.code == 0
    assert "comparison" in shown.out
    assert "worse" in shown.out
    words = ["fit", two, "-s", "b", "-m", "auto", "--candidate", "platt", "--folds", "3"]
    assert run(*words, "-o", cal).code == 0
    assert "cross-validated log loss, 3 folds: raw " in run("inspect", cal).out


def test_what_only_auto_heeds_needs_auto(run: Run) -> None:
    """--group and --candidate without auto are usage errors, and so is auto as a candidate."""
    words = ["fit", SAMPLE / "churn_calibration.parquet", *CHURN]
    assert "--group without --method auto" in run(*words, "-g", "group").err
    assert run(*words, "--candidate", "platt").code == 2
    assert run(*words, "-m", "auto", "--candidate", "auto").code == 2


def test_gate_refuses_the_fit_rows(run: Run, two: Path, tmp_path: Path) -> None:
    """Rows that an artifact was fitted on are no judge of it, unless the user insists."""
    cal = tmp_path / "own.json"
    assert run("fit", two, "-s", "a", "-y", "label", "-o", cal).code == 0
    asked = ("compare", two, "-s", "a", "-y", "label", "--artifact", cal)
    assert run(*asked).code == 0
    refused = run(*asked, "--fail-if-worse")
    assert refused.code == 3
    assert "rows that" in refused.err
    assert run(*asked, "--fail-if-worse", "--allow-fit-rows").code == 0


def test_constant_map_has_one_output(run: Run, csv_of: Callable[..., Path], tmp_path: Path) -> None:
    """Summary and inspect count what comes out, not knots or bins."""
    path = csv_of("score,label", "0.1,1", "0.2,1", "0.8,0", "0.9,0")
    cal = tmp_path / "flat.json"
    done = run("fit", path, "-s", "score", "-y", "label", "-m", "isotonic", "-o", cal)
    assert "1 distinct value" in done.err
    facts = run("inspect", cal).out
    assert "1 value" in facts
    assert "many values" not in facts
