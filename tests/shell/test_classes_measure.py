"""Several classes from the command line: `measure`, `verify` and `plot` with --probs."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from calibcli.names import ClassMeasure
from class_rows import drawn_rows
from command_line import Ran

Run = Callable[..., Ran]
NAMES = ("ant", "bee", "cat")


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Return a CSV file of three classes, one row of which is tied."""
    probability, label = drawn_rows(500, 3, seed=2)
    probability[0] = [0.4, 0.4, 0.2]
    rows = [
        ",".join([*map(repr, row), NAMES[place]])
        for row, place in zip(probability.tolist(), label, strict=True)
    ]
    path = tmp_path / "zoo.csv"
    path.write_text("\n".join([",".join([*(f"p_{name}" for name in NAMES), "label"]), *rows]) + "\n")
    return path


def test_reports_of_classes_fit_their_schema(run: Run, zoo: Path) -> None:
    """Measurements and gates of several classes are described by `schema report`."""
    schema = json.loads(run("schema", "report").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    probs = ("--probs", "p_*", "-y", "label")
    for words in (
        ("measure", zoo, *probs, "--metric", "ece", "--metric", "classes"),
        ("measure", zoo, *probs, "--metric", "ece", "--view", "top-label", "--class", "bee"),
        ("verify", zoo, *probs, "--max-ece", "0.4", "--view", "one-vs-rest"),
        ("verify", zoo, *probs, "--max-ece", "0.4"),
    ):
        document = json.loads(run(*words, "--json").out)
        validator.validate(document)
        document["input"]["classes"]["mood"] = "good"
        assert not validator.is_valid(document)
    compat = json.loads(run("schema", "compat").out)
    document = json.loads(run("measure", zoo, *probs, "--compat", "netcal", "--json").out)
    jsonschema.Draft202012Validator(compat).validate(document)


def test_the_page_says_what_was_seen(run: Run, zoo: Path) -> None:
    """Classes together, each against the rest and by prediction, the worst first, with ties counted."""
    page = run("measure", zoo, "--probs", "p_*", "-y", "label", "--metric", "ece", "--metric", "classes").out
    for words in (
        "The largest probability of 3 classes; positive where that class is the right one.",
        "note: 1 row with several most probable classes: the first counts",
        "All classes together",
        "classwise_ece",
        "Each class against the rest, the worst first",
        "Rows by the class they predict, the worst first",
        "(Bonferroni)",
    ):
        assert words in page
    tables = page.split("Each class against the rest, the worst first")[1].splitlines()
    assert {line.split()[0] for line in tables[3:6]} == set(NAMES)


def test_many_classes_show_the_ten_worst(run: Run, tmp_path: Path) -> None:
    """Ten of them have a line, how many have none is said, and -v lists all."""
    probability, label = drawn_rows(200, 25, seed=4)
    names = [f"p_{place:02}" for place in range(25)]
    lines = [
        ",".join(map(repr, [*row, place]))
        for row, place in zip(probability.tolist(), label.tolist(), strict=True)
    ]
    path = tmp_path / "many.csv"
    path.write_text("\n".join([",".join([*names, "label"]), *lines]) + "\n")
    words = ("measure", path, "--probs", "p_*", "-y", "label", "--view", "one-vs-rest")
    short, long = run(*words).out, run(*words, "-v").out
    assert "15 more classes not shown; -v lists all." in short
    assert "each is measured by a few measures" in short
    assert "not shown" not in long
    title = "Each class against the rest, the worst first"
    known = {f"{place:02}" for place in range(25)}
    lines = [page.split(title)[1].splitlines() for page in (short, long)]
    shown = [{line.split(" ")[0] for line in table if "200 " in line} & known for table in lines]
    assert (len(shown[0]), shown[1]) == (10, known)


def test_gate_of_every_class_exits_by_the_worst(run: Run, zoo: Path) -> None:
    """A limit that all classes keep is exit 0, one that some break or none can show is not."""
    words = ("verify", zoo, "--probs", "p_*", "-y", "label", "--view", "top-label")
    passed = run(*words, "--max-ece", "0.5")
    assert (passed.code, "1 rule in 3 groups: 3 pass" in passed.out) == (0, True)
    assert run(*words, "--rule", "ece.value<=0.0001").code == 1
    assert run(*words, "--max-ece", "0.05", "--min-group-rows", "10000").code == 4


def test_reports_of_a_gate_name_the_classes(run: Run, zoo: Path, tmp_path: Path) -> None:
    """JUnit has a test case for each class."""
    junit = tmp_path / "junit.xml"
    words = ("--view", "one-vs-rest", "--max-ece", "0.5", "--report", f"junit={junit}")
    assert run("verify", zoo, "--probs", "p_*", "-y", "label", *words).code == 0
    text = junit.read_text()
    assert all(f'classname="class={name}"' in text for name in NAMES)


def test_plot_of_one_class_is_drawn_and_of_all_refused(run: Run, zoo: Path, tmp_path: Path) -> None:
    """A diagram shows one score: the largest probability, or one class."""
    words = ("plot", zoo, "--probs", "p_*", "-y", "label", "-o", tmp_path / "a.svg", "--kind", "binned")
    assert run(*words, "--view", "one-vs-rest", "--class", "cat").code == 0
    assert (tmp_path / "a.svg").exists()
    refused = run(*words, "--view", "one-vs-rest", "--force")
    assert (refused.code, "name one class with --class" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "accuracy", "-s", "p_ant", "--positive", "ant"], "--probs names none"),
        (["--metric", "accuracy", "--probs", "p_*", "--view", "top-label", "--class", "cat"], "--class cat"),
        (["--probs", "p_*", "--class", "cat"], "without a view of single classes"),
        (["--probs", "p_*", "--view", "one-vs-rest", "--class", "cow"], "there is no class 'cow'"),
    ],
)
def test_questions_of_the_wrong_kind_are_usage_errors(
    run: Run, zoo: Path, words: list[str], said: str
) -> None:
    """Each is one line on standard error with exit code 2."""
    ran = run("measure", zoo, "-y", "label", *words)
    assert (ran.code, said in ran.err, len(ran.err.strip().splitlines())) == (2, True, 2)


def test_every_measure_of_classes_is_explained(run: Run) -> None:
    """`--explain` knows each by name, and lists them all."""
    page = run("measure", "--explain", "all").out
    for name in ClassMeasure:
        assert name.value in page
        assert "Estimator" in run("measure", "--explain", name.value).out
