"""`verify --rule` on measures of several classes together."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from calibcli.documents.schemas import schema_text
from calibcli.names import DocumentKind
from class_files import write_zoo
from command_line import Ran

Run = Callable[..., Ran]
PROBS = ("--probs", "p_*", "-y", "label")


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Return a CSV file of three classes."""
    return write_zoo(tmp_path / "zoo.csv", 1200, seed=2)


def test_rules_of_all_classes_are_judged_beside_others(run: Run, zoo: Path) -> None:
    """Each by the end of its interval that counts; claims are counted together, the value is none."""
    rules = ("accuracy>=0.5", "class_log_loss.upper<=1.2", "top_label_ece<=0.3", "marginal_l2.value<=0.5")
    words = [word for rule in rules for word in ("--rule", rule)]
    ran = run("verify", zoo, *PROBS, *words, "--max-ece", "0.3", "--json")
    document = json.loads(ran.out)
    jsonschema.validate(document, json.loads(schema_text(DocumentKind.REPORT)))
    assert ran.code == 0
    found = document["rules"]
    assert {one["measure"] for one in found.values()} == {
        "accuracy", "class_log_loss", "top_label_ece", "marginal_l2", "binned_ece"
    }  # fmt: skip
    accuracy = found["accuracy.lower>=0.5"]
    assert accuracy["fail_confidence"] == pytest.approx(1 - 0.05 / 4)
    said = json.loads(run("measure", zoo, *PROBS, "--metric", "classes", "--confidence", "0.9", "--json").out)
    for name, rule, end in (
        ("accuracy", "accuracy.lower>=0.5", "lower"),
        ("class_log_loss", "class_log_loss.upper<=1.2", "upper"),
        ("top_label_ece", "top_label_ece.upper<=0.3", "upper"),
    ):
        assert found[rule][end] == pytest.approx(said["measures"][name][end], rel=1e-12)


def test_classes_one_by_one_and_together(run: Run, zoo: Path) -> None:
    """A view of every class judges the rules of one score class by class, and the others once."""
    words = ("verify", zoo, *PROBS, "--view", "one-vs-rest", "--rule", "accuracy>=0.5")
    both = run(*words, "--max-ece", "0.3")
    assert both.code == 0
    assert "2 rules in all rows and 3 groups: 4 pass" in both.out
    assert "All 4 claims must pass" in both.out
    alone = run(*words)
    assert (alone.code, "group" in alone.out) == (0, False)
    assert run(*words[:-1], "accuracy>=0.99").code == 1
    assert run(*words[:-1], "accuracy>=0.3", "--min-rows", "5000").code == 4


def test_reports_for_machines_hold_the_rules(run: Run, zoo: Path, tmp_path: Path) -> None:
    """JUnit and OpenMetrics name the measure."""
    junit, metrics = tmp_path / "j.xml", tmp_path / "m.txt"
    reports = ("--report", f"junit={junit}", "--report", f"openmetrics={metrics}")
    assert run("verify", zoo, *PROBS, "--rule", "classwise_ece<=0.4", *reports).code == 0
    assert "classwise ece" in junit.read_text().replace("_", " ")
    assert "classwise_ece" in metrics.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-s", "p_cat", "--positive", "cat"], "--probs names none"),
        (["--probs", "p_*", "--view", "top-label", "--class", "cat"], "--class cat looks at one"),
        (["--probs", "p_*", "--by", "id"], "judged over all rows"),
        (["--probs", "p_*", "--state", "gate.json"], "no bound holds at any time"),
    ],
)
def test_questions_without_an_answer_are_refused(run: Run, zoo: Path, words: list[str], said: str) -> None:
    """One line and a hint."""
    ran = run("verify", zoo, "-y", "label", *words, "--rule", "accuracy>=0.9")
    assert (ran.code, said in ran.err, len(ran.err.strip().splitlines())) == (2, True, 2), ran.err


def test_weights_leave_no_bound(run: Run, zoo: Path) -> None:
    """Importance weights are refused; the value alone may be compared."""
    header, *lines = zoo.read_text().splitlines()
    zoo.write_text(
        "\n".join([f"{header},w", *(f"{line},{1 + place % 3}.5" for place, line in enumerate(lines))]) + "\n"
    )
    words = ("verify", zoo, *PROBS, "-w", "w")
    refused = run(*words, "--rule", "accuracy>=0.5")
    assert (refused.code, "importance weights" in refused.err) == (2, True)
    assert run(*words, "--rule", "accuracy.value>=0.3").code == 0
