"""The story behind `verify --state`, where the command line cannot reach."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibcli.commands.gate import judge_with_state
from calibcli.documents.state import read_state, save_state
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Bound, MeasureName, Relation, VerdictName, WeightMeaning
from calibcli.options.gating import StateOptions, VerifyOptions
from calibcli.options.rows import Columns, RowRequest
from calibcli.options.rules import Rule
from calibcli.reports.verify import VerifyReport
from calibcli.stats.bounds.betting import Stakes
from calibcli.stats.gates.cells import Partition
from calibcli.stats.gates.state import GateState
from command_line import in_csv

RULE = Rule("max-ece", MeasureName.ECE, Bound.UPPER, Relation.AT_MOST, 0.05)


def judged(
    state: Path,
    *files: Path,
    columns: Columns | None = None,
    rule: Rule | None = RULE,
    options: VerifyOptions | None = None,
    alarm: bool = False,
    batch: str | None = None,
) -> VerifyReport:
    """Judge files with a state."""
    return judge_with_state(
        RowRequest([str(file) for file in files], columns or Columns()),
        replace(options or VerifyOptions(), rules=() if rule is None else (rule,)),
        StateOptions(str(state), batch=batch, alarm=alarm),
    )


def rows_in(path: Path, seed: int, *, header: str = "score,label", count: int = 3000) -> Path:
    """Write calibrated rows."""
    generator = np.random.default_rng(seed)
    score = generator.random(count)
    lines = [f"{f!r},{generator.random() < f:d}" for f in score.tolist()]
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def test_a_state_is_asked_without_new_rows(tmp_path: Path) -> None:
    """Without inputs the verdict is that of what the state holds; without a state there is nothing to ask."""
    state = tmp_path / "gate.json"
    with pytest.raises(InputProblem, match="there is no state yet"):
        judged(state)
    first = judged(state, rows_in(tmp_path / "a.csv", 0, count=6000))
    before = state.read_bytes()
    again = judged(state)
    assert again.verdicts == first.verdicts
    assert again.outcome is VerdictName.PASS
    assert (again.input.files, again.input.rows) == ((), 0)
    assert again.state is not None
    assert (again.state.rows, again.state.new_rows) == (6000, 0)
    assert state.read_bytes() == before


def test_columns_guessed_in_the_first_file_hold_for_the_others(tmp_path: Path) -> None:
    """A later file is not asked again which column is which, and the note is given once."""
    one = rows_in(tmp_path / "a.csv", 0)
    two = tmp_path / "b.csv"
    two.write_text("label,score,p,y\n0,0.2,0.9,1\n1,0.7,0.1,0\n")
    report = judged(tmp_path / "gate.json", one, two)
    assert report.input.rows == 3002
    assert len([note for note in report.input.notes if "taken as the score" in note]) == 1


def test_another_score_column_is_another_question(tmp_path: Path) -> None:
    """Rows of another score are not added to those of the state by mistake; case does not matter."""
    state = tmp_path / "gate.json"
    judged(state, rows_in(tmp_path / "a.csv", 0))
    judged(state, rows_in(tmp_path / "b.csv", 1, header="Score,label"))
    with pytest.raises(UsageProblem, match="score column: score, not prob"):
        judged(state, rows_in(tmp_path / "c.csv", 2, header="prob,label"))


def test_frequencies_count_and_importance_is_refused(tmp_path: Path) -> None:
    """A frequency weight counts as that many rows; no bet can use importance weights."""
    path = tmp_path / "w.csv"
    path.write_text("score,label,n\n0.25,1,40\n0.25,0,120\n0.75,1,120\n0.75,0,40\n")
    counted = Columns("score", "label", weight="n", weights_are=WeightMeaning.FREQUENCY)
    report = judged(tmp_path / "gate.json", path, columns=counted)
    assert report.table.rows == 320
    assert report.verdicts["max-ece"].value == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(UsageProblem, match="importance weights"):
        judged(tmp_path / "other.json", path, columns=Columns("score", "label", weight="n"))
    assert not (tmp_path / "other.json").exists()


def test_few_values_without_an_artifact_are_judged_over_bins(tmp_path: Path) -> None:
    """Values found in the rows are not fixed before them, and the report says what was done instead."""
    generator = np.random.default_rng(0)
    score = generator.choice([0.25, 0.5, 0.75], 2000)
    path = in_csv(tmp_path / "few.csv", {"score": score, "label": generator.random(2000) < score})
    report = judged(tmp_path / "gate.json", path)
    assert report.verdicts["max-ece"].partition == "15 equal-width bins"
    assert any("has few values" in note for note in report.notes)


@pytest.mark.parametrize("name", ["", "a\nb", "\udcff"])
def test_names_that_cannot_be_printed_are_refused(name: str, tmp_path: Path) -> None:
    """The name of a batch stands in messages and in the document."""
    with pytest.raises(UsageProblem, match="a batch named"):
        judged(tmp_path / "gate.json", rows_in(tmp_path / "a.csv", 0, count=10), batch=name)


def test_bets_and_cells_of_a_state_outlive_the_version_that_chose_them(tmp_path: Path) -> None:
    """A state that was begun with other bets and cells goes on with them."""
    state = tmp_path / "gate.json"
    judged(state, rows_in(tmp_path / "a.csv", 0, count=500))
    begun = read_state(state)
    assert begun is not None
    other = Partition(bins=15, per_bin=10)
    older = replace(begun.terms, stakes=Stakes((0.3, 0.01), (0.5, 0.5), alone=True), partition=other)
    save_state(str(state), GateState(older))
    judged(state, rows_in(tmp_path / "b.csv", 1, count=500))
    found = read_state(state)
    assert found is not None
    assert (found.terms, found.rows) == (older, 500)


def test_inconclusive_says_how_many_rows_would_decide(tmp_path: Path) -> None:
    """Too few rows for an answer come with the number that would be enough at best."""
    report = judged(tmp_path / "gate.json", rows_in(tmp_path / "a.csv", 0, count=500))
    needed = report.verdicts["max-ece"].needed
    assert report.outcome is VerdictName.INCONCLUSIVE
    assert needed is not None
    assert 1000 < needed.at_best < 4000


def test_another_label_or_weight_column_is_another_question(tmp_path: Path) -> None:
    """Both names are said; case does not matter, and a state that is asked without rows has them still."""
    state = tmp_path / "gate.json"
    rows = tmp_path / "a.csv"
    rows.write_text(
        "score,label,other,n\n" + "".join(f"0.{k % 9 + 1},{k % 2},{k % 3 % 2},2\n" for k in range(90))
    )
    more = tmp_path / "b.csv"
    more.write_text(rows.read_text().replace("0.1,", "0.2,"))
    judged(state, rows, columns=Columns(label="label"))
    with pytest.raises(UsageProblem, match="label column: label, not other"):
        judged(state, more, columns=Columns(label="other"))
    counted = Columns(label="Label", weight="n", weights_are=WeightMeaning.FREQUENCY)
    with pytest.raises(UsageProblem, match="weight column: none, not n"):
        judged(state, more, columns=counted)
    judged(state)
    judged(state, more, columns=Columns(label="LABEL"))
    found = read_state(state)
    assert found is not None
    assert (found.terms.label, found.terms.weight, found.rows) == ("label", None, 180)


def test_a_state_of_version_1_keeps_to_the_columns_of_its_next_rows(tmp_path: Path) -> None:
    """It did not say which it counts; every report says that it was begun so."""
    state = tmp_path / "gate.json"
    judged(state, rows_in(tmp_path / "a.csv", 0))
    document = json.loads(state.read_text())
    for key in ("digest", "notes", "since", "passed_on", "failed_on"):
        del document[key]
    for key in ("label", "weight"):
        del document["input"][key]
    for key in ("positive", "least"):
        del document["batches"][0]["look"][key]
    state.write_text(json.dumps(document | {"schema": "calibcli.gate/1"}))
    (note,) = judged(state).notes
    assert "calibcli.gate/1, which has no digest" in note
    report = judged(state, rows_in(tmp_path / "b.csv", 1, header="score,Outcome"))
    assert report.notes[0] == note
    assert json.loads(state.read_text())["schema"] == "calibcli.gate/2"
    with pytest.raises(UsageProblem, match="label column: outcome, not label"):
        judged(state, rows_in(tmp_path / "c.csv", 2))
