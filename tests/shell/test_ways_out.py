"""What a refused line is told: one plain line, and a hint that leads somewhere."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from calibcli.data.arrays import Column
from calibcli.data.columns import ChosenColumns
from calibcli.data.fault_words import not_numbers
from calibcli.errors import UsageProblem
from calibcli.options.conditions import condition_of
from calibcli.options.rows import Columns
from command_line import SAMPLE, Ran

Run = Callable[..., Ran]
COLUMNS = ["-s", "score", "-y", "label"]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["fit", "--sample", "0.1"], "--sample: '0.1' is not a whole number", "not a share"),
        (["fit", "--limit", "x"], "--limit: 'x' is not a whole number", "--limit takes a whole number"),
        (["fit", "--limit", "0"], "--limit: 0 is too small", "--limit takes 1 or more"),
        (["verify", "--max-ece", "2%"], "--max-ece: '2%' is not a number", "write 0.02 for 2%"),
        (["verify", "--max-ece", "0,02"], "--max-ece: '0,02' is not a number", "such as 0.02"),
        (["verify", "--max-smece", "5%"], "--max-smece: '5%' is not a number", "write 0.05 for 5%"),
        (["fit", "--method", "plat"], "--method: there is no 'plat'", "did you mean platt?"),
        (["fit", "--method", "dirichlet"], "--method: there is no 'dirichlet'", "--multiclass matrix"),
        (["fit", "--multiclass", "dirichlet"], "--multiclass: there is no", "--multiclass matrix"),
        (["plot", "--cluster", "group"], "calibcli plot takes no --cluster", "measure --cluster COL"),
        (
            ["measure", "--json", "--format", "csv"],
            "--json and --format csv are two formats",
            "leave out one",
        ),
        (
            ["fit", "--probs", "p_*", "--method", "temperature"],
            "not made of maps",
            "--multiclass temperature",
        ),
        (["fit", "--probs", "p_*", "--method", "beta"], "not made of maps", "--multiclass one-vs-rest"),
        (["fit", "--probs", "p_*", "--by", "group"], "--by fits a map of one score", "to its rows alone"),
    ],
)
def test_wrong_values_are_one_plain_line_and_a_way_on(
    run: Run, words: list[str], message: str, hint: str
) -> None:
    """No words of the framework are shown, and the hint says what to write."""
    command, *options = words
    ended = run(command, "nowhere.csv", *options, *(["-y", "label"] if "--probs" in words else COLUMNS))
    assert ended.code == 2
    first, second = ended.err.splitlines()
    assert message in first
    assert hint in second
    assert "Value error" not in ended.err
    assert "Input should" not in ended.err


def test_inspect_takes_one_format(run: Run, thousand: Path) -> None:
    """`inspect` refuses two formats as every report does."""
    ended = run("inspect", thousand, "--json", "--format", "csv")
    assert ended.code == 2
    assert "--json and --format csv are two formats" in ended.err
    assert run("inspect", thousand, "--json", "--format", "json").code == 0


def test_json_said_twice_is_no_contradiction(run: Run, thousand: Path) -> None:
    """`--json --format json` gives JSON."""
    ended = run("measure", thousand, *COLUMNS, "--metric", "ece", "--json", "--format", "json")
    assert ended.code == 0, ended.err
    assert ended.out.startswith("{")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("country = 'DE' and day == 3", "equality is =="),
        ("country = 'DE' and day == 3", "repeat --where"),
        ("country == 'DE' AND day > 3", "repeat --where"),
        ("day>0.3 and day < 0.5", "repeat --where"),
        ("country is null", "satisfies no condition"),
        ("name == a, 'rock and roll' b", "into quotes"),
    ],
)
def test_conditions_of_sql_are_told_how_to_be_written(text: str, hint: str) -> None:
    """The hint names the sign, and that conditions are repeated."""
    with pytest.raises(UsageProblem) as caught:
        condition_of(text)
    assert hint in (caught.value.hint or "")


def test_what_takes_no_map_by_group_takes_one_group_by_group(run: Run, tmp_path: Path) -> None:
    """The hint of an export to ONNX names `--where` in place of `--by`, which works."""
    by_group, of_one = tmp_path / "g.json", tmp_path / "east.json"
    assert (
        run("fit", SAMPLE / "churn_calibration.parquet", *COLUMNS, "--by", "group", "-o", by_group, "-q").code
        == 0
    )
    ended = run("export", by_group, "--to", "onnx", "-o", tmp_path / "g.onnx")
    assert ended.code == 2
    assert "--where 'group==GROUP'" in ended.err
    assert (
        run(
            "fit",
            SAMPLE / "churn_calibration.parquet",
            *COLUMNS,
            "--where",
            "group==east",
            "-o",
            of_one,
            "-q",
        ).code
        == 0
    )
    assert run("export", of_one, "--to", "sql").code == 0


def test_an_artifact_is_no_baseline(run: Run, thousand: Path, artifact: Path) -> None:
    """The message says what it is, and what a baseline is."""
    asked = ["--baseline", artifact, "--max-regression", "0.01"]
    ended = run("verify", thousand, *COLUMNS, *asked)
    assert ended.code == 2
    assert f"{artifact}: is an artifact of fit" in ended.err
    assert "measure --json" in ended.err


def test_groups_too_small_to_judge_are_told_of_the_option(run: Run, csv_of: Callable[..., Path]) -> None:
    """Where a group is below --min-rows the page names --min-group-rows, which leaves it out."""
    rows = [f"0.{place % 90 + 10},{place % 2},{'few' if place < 40 else 'many'}" for place in range(900)]
    words = ["verify", csv_of("score,label,g", *rows), *COLUMNS, "--max-ece", "0.9", "--by", "g"]
    ended = run(*words)
    assert ended.code == 4
    assert "--min-group-rows N leaves groups of fewer than N rows out" in ended.out
    without = run(*words, "--min-group-rows", "100")
    assert without.code == 0
    assert "1 group of fewer than 100 rows (--min-group-rows) is not judged: g=few (40)" in without.out
    assert "leaves groups" not in without.out


def test_labels_all_alike_are_asked_about(run: Run, csv_of: Callable[..., Path], thousand: Path) -> None:
    """A gate over one class says so, and one over both says nothing of it."""
    path = csv_of("score,label", *(f"0.{place:03d},0" for place in range(1, 900)))
    ended = run("verify", path, *COLUMNS, "--max-ece", "0.2")
    assert ended.code == 4
    assert "note: all 899 rows have label 0: is 'label' the label column" in ended.out
    assert "have label 0: is" not in run("verify", thousand, *COLUMNS, "--max-ece", "0.2").out


@pytest.mark.parametrize(
    ("rows", "words", "hint"),
    [
        (
            ["0.5,bad", "0.2,good"],
            ["measure"],
            "--positive bad or --positive good: the one that the score is the probability of",
        ),
        (
            ["2022010000.0,1", "0.2,0"],
            ["measure"],
            "these are no probabilities: name another column",
        ),
        (
            ["-0.005,1", "1.01,0"],
            ["measure"],
            "if this is rounding, --on-range clip moves them to 0 or 1",
        ),
        (
            ["0.5,1", "0.2,0"],
            ["verify", "--max-bias", "0.01"],
            "--rule 'bias.upper<=0.02' and --rule 'bias.lower>=-0.02'",
        ),
        (["0.5,1", "0.2,0"], ["verify", "--min-auc-roc", "0.01"], "hint: calibcli verify --help"),
    ],
)
def test_hints_name_every_choice_that_there_is(
    run: Run, csv_of: Callable[..., Path], rows: list[str], words: list[str], hint: str
) -> None:
    """Both labels, what scores of such a size can be, and the rule in place of an option that is none."""
    command, *options = words
    ended = run(command, csv_of("score,label", *rows), *COLUMNS, *options)
    assert ended.code in (2, 3)
    assert hint in ended.err


def test_clipping_is_named_where_it_makes_log_loss_infinite(run: Run, csv_of: Callable[..., Path]) -> None:
    """A row that clipping made certain and wrong is counted as one row, and the note says why."""
    path = csv_of("score,label", "1.005,0", "0.5,1", "0.2,0", "0.7,1")
    said = run("measure", path, *COLUMNS, "--on-range", "clip", "--metric", "log_loss").out
    assert "1 row was certain and wrong" in said
    assert "--on-range clip made 1 score exactly 0 or 1, which log loss takes as certain" in said
    brier = run("measure", path, *COLUMNS, "--on-range", "clip", "--metric", "brier").out
    assert "takes as certain" not in brier


def test_a_map_by_group_says_what_its_column_is_for(run: Run, csv_of: Callable[..., Path]) -> None:
    """Rows without the column of the groups are told that the map was fitted by it."""
    rows = [f"0.{place % 90 + 10},{place % 3 % 2},{'ab'[place % 2]}" for place in range(300)]
    path = csv_of("score,label,bank", *rows)
    assert run("fit", path, *COLUMNS, "--by", "bank", "-o", path.with_name("by.json"), "-q").code == 0
    lone = csv_of("score", "0.5", name="lone.csv")
    ended = run("apply", path.with_name("by.json"), lone, "-o", path.with_name("out.csv"))
    assert ended.code == 3
    assert "the map was fitted by the column 'bank' (fit --by)" in ended.err


def test_column_names_are_the_same_in_either_form_of_unicode(run: Run, csv_of: Callable[..., Path]) -> None:
    """A decomposed name finds the composed column, unless two columns differ in nothing else."""
    composed, decomposed = "Bonit\u00e4t", "Bonita\u0308t"
    path = csv_of(f"{composed},label", "0.5,1", "0.2,0")
    assert run("measure", path, "-s", decomposed, "-y", "label", "--metric", "brier").code == 0
    both = csv_of(f"{composed},{decomposed},label", "0.5,0.5,1", "0.2,0.2,0")
    assert run("measure", both, "-s", decomposed, "-y", "label", "--metric", "brier").code == 0
    ended = run("measure", both, "-s", decomposed.upper(), "-y", "label")
    assert ended.code == 3
    assert "the same letters in other code points" in ended.err


@pytest.mark.parametrize(
    ("column", "hint"),
    [
        (pa.array([[0.25, 0.75]]), "pass --probs probs if"),
        (pa.array([None, "0,1"]), "a decimal point, not a comma"),
        (pa.array(["high"]), "name another column, or export numbers"),
    ],
)
def test_columns_of_something_else_are_told_what_they_seem_to_be(column: Column, hint: str) -> None:
    """Rows of probabilities are named to `--probs`, and text with decimal commas is recognised."""
    problem = not_numbers(column, "probs", ChosenColumns(Columns(), "probs", "label"), shown="m.npz")
    assert "m.npz, column 'probs': it holds" in problem.message
    assert hint in (problem.hint or "")
