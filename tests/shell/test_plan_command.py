"""`calibcli plan`: how many labelled rows a gate takes, from an artifact or from scores without labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from calibcli.documents.schemas import schema_text
from calibcli.names import DocumentKind
from calibcli.shell.app import main
from command_line import CHURN, SAMPLE, Ran

Run = Callable[..., Ran]
CALIBRATION = SAMPLE / "churn_calibration.parquet"


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a scaling-binning artifact fitted once for all tests."""
    path = tmp_path_factory.mktemp("plan") / "cal.json"
    words = ["fit", str(CALIBRATION), *CHURN, "-m", "scaling-binning", "-o", str(path), "-q"]
    assert main(words) == 0
    return path


@pytest.fixture
def unlabelled(csv_of: Callable[..., Path]) -> Path:
    """Return 2,000 scores without a label."""
    score = np.random.default_rng(3).beta(1.0, 2.0, 2_000)
    return csv_of("score", *(repr(one) for one in score.tolist()), name="new.csv")


def planned(run: Run, *words: object) -> dict[str, Any]:
    """Return the plan as JSON, after looking whether it fits the published schema."""
    ran = run("plan", *words, "--json")
    assert ran.code == 0, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    schema = json.loads(schema_text(DocumentKind.PLAN))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(document)
    assert not validator.is_valid({**document, "mood": "good"})
    return document


def test_fit_rows_of_a_discrete_artifact_say_where_scores_fall(run: Run, artifact: Path) -> None:
    """Ten outputs, each judged by itself; about 2.6 times fewer rows than by Theorem 12.4."""
    found = planned(run, "--max-ece", "0.02", "--artifact", artifact)
    assert found["measure"] == "ece"
    assert found["values"] == 10
    assert found["wanted"] == "pass"
    assert 12_000 < found["rows"] < 15_500
    assert found["rows_for_half"] < found["rows"]
    assert found["rows_by_theorem_12_4"] > 2.4 * found["rows"]
    assert 0.9 <= found["reached"] <= 0.95
    assert found["scores_from"] == f"the 50,000 rows that {artifact} was fitted on"
    assert found["input"] is None


def test_gate_passes_on_as_many_rows_as_planned(run: Run, artifact: Path, tmp_path: Path) -> None:
    """The first rows of the evaluation half, as many as the plan says, pass; a quarter of them do not."""
    import pyarrow.parquet as pq

    rows = planned(run, "--max-ece", "0.02", "--artifact", artifact, "--error", "0.005")["rows"]
    whole = pq.read_table(SAMPLE / "churn_evaluation.parquet")
    for share, code in ((1.0, 0), (0.25, 4)):
        part = tmp_path / f"{share}.parquet"
        pq.write_table(whole.slice(0, round(share * rows)), part)
        assert run("verify", part, *CHURN, "--artifact", artifact, "--max-ece", "0.02").code == code


def test_scores_of_a_file_need_no_label(run: Run, unlabelled: Path) -> None:
    """Scores alone are read; a continuous one is judged over 15 bins, as `verify` would."""
    found = planned(run, "--max-ece", "0.05", "--like", unlabelled)
    assert found["measure"] == "binned_ece"
    assert found["partition"] == "15 equal-width bins"
    assert found["input"]["label"] is None
    assert found["input"]["rows"] == 2_000
    assert found["input"]["notes"] == ["column 'score' was taken as the score; --score names another"]


def test_scores_of_a_file_go_through_the_artifact(run: Run, artifact: Path) -> None:
    """Where both are given, the file says how raw scores fall and the artifact what becomes of them."""
    both = planned(run, "--max-ece", "0.02", "--artifact", artifact, "--like", CALIBRATION, "-s", "score")
    alone = planned(run, "--max-ece", "0.02", "--artifact", artifact)
    assert both["values"] == 10
    assert both["rows"] == alone["rows"]


def test_continuous_artifact_asks_for_scores(run: Run, tmp_path: Path) -> None:
    """A Platt fit does not hold the scores it saw, and says so; with --like it can be planned."""
    cal = tmp_path / "platt.json"
    assert run("fit", CALIBRATION, *CHURN, "-m", "platt", "-o", cal).code == 0
    refused = run("plan", "--max-ece", "0.03", "--artifact", cal)
    assert refused.code == 2
    assert "--like preds.csv -s score too" in refused.err
    found = planned(run, "--max-ece", "0.1", "--artifact", cal, "--like", CALIBRATION, "-s", "score")
    assert found["method"] == "betting, one look"


def test_gate_that_is_asked_again_takes_more(run: Run, artifact: Path) -> None:
    """Any number of looks cost more rows than one, and the plan says how often it looked."""
    once = planned(run, "--max-ece", "0.02", "--artifact", artifact)
    again = planned(run, "--max-ece", "0.02", "--artifact", artifact, "--any-time")
    assert again["rows"] > once["rows"]
    assert again["method"] == "betting, any time"
    assert again["rows_between_looks"] == 400
    assert once["rows_between_looks"] is None
    assert any("however often" in one for one in again["assumptions"])


def test_error_above_the_limit_plans_a_fail(run: Run, artifact: Path) -> None:
    """With a true error beyond the limit the right verdict is a fail, and the report names the pattern."""
    found = planned(run, "--max-ece", "0.02", "--artifact", artifact, "--error", "0.06")
    assert found["wanted"] == "fail"
    assert found["pattern"] != "labels follow the scores"
    text = run("plan", "--max-ece", "0.02", "--artifact", artifact, "--error", "0.06").out
    assert "to fail  ece <= 0.02" in text
    assert found["pattern"] in text


def test_other_rules_can_be_planned(run: Run, artifact: Path) -> None:
    """Theorem 12.4 speaks of the ECE alone, and no number stands beside the others."""
    found = planned(run, "--max-linf", "0.1", "--artifact", artifact)
    assert found["measure"] == "linf"
    assert found["rows_by_theorem_12_4"] is None
    assert found["rows"] > 100


def test_page_says_the_number_first(run: Run, artifact: Path) -> None:
    """The first line is the answer; what it supposes and what it is worth follow."""
    ran = run("plan", "--max-ece", "0.02", "--artifact", artifact, "-v")
    lines = ran.out.splitlines()
    assert lines[0].startswith("ABOUT 13,")
    assert lines[0].endswith("LABELLED ROWS  to pass  ece <= 0.02  (power 90 %)")
    assert "If labels follow the scores, a gate asked once after so many rows passes" in lines[1]
    assert "By Theorem 12.4" in ran.out
    assert "assumes  rows are independent draws" in ran.out
    assert "A plan is no promise" in ran.out
    again = run("plan", "--max-ece", "0.02", "--artifact", artifact, "--any-time").out
    assert "a gate asked after every 400 rows has passed by then" in again


def test_limit_out_of_reach_is_said(run: Run, artifact: Path) -> None:
    """A limit next to the error takes more rows than anybody has."""
    words = ("plan", "--max-ece", "0.02", "--artifact", artifact, "--error", "0.0199999")
    assert run(*words).out.startswith("MORE THAN 1,000,000,000 ROWS  to pass")


def test_markdown_goes_to_a_file(run: Run, artifact: Path, tmp_path: Path) -> None:
    """`-o` writes the report, and refuses to replace one without --force."""
    words = ("plan", "--max-ece", "0.03", "--artifact", artifact, "--format", "md", "-o", tmp_path / "p.md")
    assert run(*words).code == 0
    assert "LABELLED ROWS" in (tmp_path / "p.md").read_text()
    assert run(*words).code == 5
    assert run(*words, "--force").code == 0


def test_seed_settles_every_digit(run: Run, artifact: Path) -> None:
    """The same seed gives the same bytes, another one hardly another number."""
    words = ("plan", "--max-ece", "0.03", "--artifact", artifact, "--json")
    first, second, other = run(*words), run(*words), run(*words, "--seed", "1")
    assert first.out == second.out
    rows = [json.loads(one.out)["rows"] for one in (first, other)]
    assert rows[0] == pytest.approx(rows[1], rel=0.06)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no rule to plan"),
        (("--max-ece", "0.02", "--max-l2", "0.02"), "2 rules to plan at once"),
        (("--max-ece", "0.02"), "nothing says where"),
        (("--max-ece", "1.5"), "--max-ece takes a number between 0 and 1"),
        (("--max-ece", "0.02", "--power", "1"), "--power takes"),
        (("--max-ece", "0.02", "--error", "-0.1"), "--error takes"),
        (("--max-ece", "0.02", "--error", "0.02"), "is the limit itself"),
        (("--max-ece", "0.02", "--confidence", "2"), "--confidence takes"),
        (("--max-ece", "0.02", "--binning", "equal-mass"), "equal-mass bins are cut by the rows"),
        (("--max-l2", "0.02", "--any-time"), "--any-time speaks of the ece"),
    ],
)
def test_requests_that_cannot_be_meant_are_refused(run: Run, words: tuple[str, ...], said: str) -> None:
    """Usage errors leave with code 2, say what is wrong and what to do."""
    ran = run("plan", *words)
    assert ran.code == 2
    assert said in ran.err
    assert "hint: " in ran.err
    assert ran.out == ""


def test_rule_without_a_bound_is_refused(run: Run, unlabelled: Path) -> None:
    """The l2 error of a continuous score is refused with the theorem, as `verify` does."""
    ran = run("plan", "--max-l2", "0.02", "--like", unlabelled)
    assert ran.code == 2
    assert "Theorem 12.5" in ran.err
    ran = run("plan", "--max-ece", "0.02", "--bins", "none", "--like", unlabelled)
    assert ran.code == 2
    assert "2,000 values in 2,000 rows" in ran.err


def test_a_limit_that_no_rows_can_show_is_refused(run: Run, unlabelled: Path) -> None:
    """An upper bound of smECE is never below the narrowest bandwidth that is resolved."""
    ran = run("plan", "--max-smece", "1e-4", "--like", unlabelled, "-s", "score")
    assert ran.code == 2
    assert "no number of rows passes smece <= 0.0001" in ran.err
    assert "ask for --max-smece 0.00019 or more" in ran.err


def test_bad_scores_are_refused(run: Run, csv_of: Callable[..., Path]) -> None:
    """What is wrong with a file is said as everywhere: code 3, the value and the row."""
    ran = run("plan", "--max-ece", "0.02", "--like", csv_of("score", "0.5", "1.7"))
    assert ran.code == 3
    assert "1.7" in ran.err
    gaps = csv_of("score,id", "0.5,1", ",2", name="gaps.csv")
    assert run("plan", "--max-ece", "0.02", "--like", gaps).code == 3
    dropped = planned(run, "--max-ece", "0.2", "--like", gaps, "--on-missing", "drop")
    assert (dropped["input"]["rows"], dropped["input"]["dropped"]) == (1, 1)
    nothing = csv_of("score,id", name="nothing.csv")
    assert run("plan", "--max-ece", "0.02", "--like", nothing).code == 3


def test_inspect_knows_a_plan(run: Run, artifact: Path, tmp_path: Path) -> None:
    """`inspect` says what a plan was for and what it found."""
    path = tmp_path / "plan.json"
    assert run("plan", "--max-ece", "0.02", "--artifact", artifact, "--json", "-o", path).code == 0
    found = json.loads(run("inspect", path, "--json").out)
    assert found["kind"] == "plan of a gate"
    assert found["facts"]["gate"] == "ece <= 0.02"
    assert found["facts"]["rows"] == f"{json.loads(path.read_text())['rows']:,}"
