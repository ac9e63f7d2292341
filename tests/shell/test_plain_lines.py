"""Lines as people type them: what can only mean one thing means it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from calibcli.families.pictures import KIND_ALIASES, PlotKind
from calibcli.names import ClassMeasure, MeasureName, SegmentMeasure, TestName
from calibcli.options.measuring import ALIASES, one_metric
from calibcli.shell.commands import COMMANDS
from command_line import CHURN, SAMPLE, Run

EVALUATION = SAMPLE / "breast_cancer_evaluation.csv"
CALIBRATION = SAMPLE / "breast_cancer_calibration.csv"


def test_rows_come_through_a_pipe_where_none_are_named(run: Run) -> None:
    """The same as with a dash; what is written goes to standard output."""
    rows = CALIBRATION.read_bytes()
    run("fit", "-o", "cal.json", stdin=rows, code=0)
    assert run("measure", "--json", stdin=rows).out == run("measure", "-", "--json", stdin=rows).out
    applied = run("apply", "cal.json", stdin=rows)
    assert applied.out == run("apply", "cal.json", "-", "-o", "-", stdin=rows).out
    assert applied.out.startswith("id,score,label,calibrated\n")


def test_other_names_of_methods_and_measures(run: Run, tmp_path: Path) -> None:
    """What other packages call a method or a measure is the same one."""
    for name in ("sigmoid", "logistic", "platt"):
        assert run("fit", CALIBRATION, "--method", name, "-o", f"{name}.json").code == 0
        assert run("fit", CALIBRATION, f"--method={name}", "-o", f"{name}2.json").code == 0
    texts = {path.read_text() for path in tmp_path.glob("*.json")}
    assert len(texts) == 1
    # The multicalibration error has the name mce too, and its explanation says where that is linf.
    assert one_metric("mce") is SegmentMeasure.MCE
    others = {alias: one_metric(alias) for alias in ALIASES if alias != "mce"}
    assert others | {"mce": MeasureName.LINF} == ALIASES
    # So is what reports and the page of methods call it.
    known = (*MeasureName, *TestName, *ClassMeasure, *SegmentMeasure)
    assert [one_metric(one.called) for one in known] == [*known]
    # What one trade calls it is not taken for what looks alike.
    for name, ours in (
        ("accuracy_ratio", "gini"),
        ("log_score", "log_loss"),
        ("MCB", "brier_mcb"),
        ("ipa", "brier_skill"),
    ):
        assert run("measure", EVALUATION, "-m", name).out == run("measure", EVALUATION, "-m", ours).out


def test_other_names_of_diagrams_and_the_nearest_of_all(run: Run) -> None:
    """A diagram answers to what others call it, and a slip is held against these names too."""
    Path(".git").mkdir()
    assert all(PlotKind(name) in PlotKind for name in KIND_ALIASES)
    assert run("plot", EVALUATION, "--kind", "dca", "-o", "dca.svg").code == 0
    assert run("plot", EVALUATION, "--kind=decision", "-o", "ours.svg").code == 0
    assert Path("dca.svg").read_bytes() == Path("ours.svg").read_bytes()
    Path("calibcli.toml").write_text('[plot]\nkind = "dca"\n[fit]\nmethod = "sigmoid"\n')
    run("plot", EVALUATION, "-o", "set.svg")
    assert Path("set.svg").read_bytes() == Path("dca.svg").read_bytes()
    for words, meant in (
        (["plot", EVALUATION, "--kind", "relability"], "did you mean reliability?"),
        (["fit", EVALUATION, "--method", "sigmoids"], "did you mean sigmoid?"),
    ):
        assert meant in run(*words, "-o", "none.svg").err


def test_a_file_to_plan_with_is_one_to_be_like(run: Run) -> None:
    """`plan FILE` is `plan --like FILE`."""
    words = ("--max-ece", "0.1", "--json")
    assert run("plan", EVALUATION, *words).out == run("plan", "--like", EVALUATION, *words).out


def test_a_picture_goes_to_standard_output(tmp_path: Path) -> None:
    """`plot -o -` writes a PNG, for whoever reads the pipe."""
    command = [sys.executable, "-m", "calibcli", "plot", "-o", "-"]
    rows = CALIBRATION.read_bytes()
    ended = subprocess.run(command, input=rows, capture_output=True, check=True, cwd=tmp_path)
    assert ended.stdout.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "name", ["fit", "apply", "measure", "compare", "verify", "plan", "plot", "report", "segments", "drift"]
)
def test_help_lists_ten_options_first_and_the_rest_by_section(run: Run, name: str) -> None:
    """Every option stands in one section, those that most people need in the first."""
    text = run(name, "--help").out
    options = text.partition("\nOptions:\n")[2].partition("\n\n")[0]
    assert 8 <= sum(line.startswith("  -") for line in options.splitlines()) <= 10
    assert "\nOutput:\n" in text
    assert "\nAdvanced:\n" in text
    taken = set(run("config", name, "--json").document["commands"][name])
    shown = [line.split()[:2] for line in text.splitlines() if line.startswith("  -")]
    assert taken <= {word.rstrip(",").removeprefix("--") for words in shown for word in words}


@pytest.mark.parametrize("name", list(COMMANDS))
@pytest.mark.parametrize("columns", [80, 60])
def test_help_fits_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, columns: int) -> None:
    """No line is longer, and a shell reads the examples as they are in the source."""
    monkeypatch.setenv("COLUMNS", str(columns))
    text = run(name, "--help").out
    assert [line for line in text.splitlines() if len(line) > columns] == []
    examples = [
        line.strip()
        for line in (COMMANDS[name].__doc__ or "").splitlines()
        if line.startswith(" " * 6 + "calib")
    ]
    whole = text.replace("\\\n", "")
    assert [one for one in examples if one not in " ".join(whole.split())] == []


@pytest.mark.parametrize("columns", [80, 60])
def test_help_of_all_commands_fits_and_cuts_no_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """Examples included; what each command does is its first sentence, whole."""
    monkeypatch.setenv("COLUMNS", str(columns))
    text = run("--help").out
    assert [line for line in text.splitlines() if len(line) > columns] == []
    listed = " ".join(text.partition("\nCommands:\n")[2].split())
    for name, command in COMMANDS.items():
        first = " ".join((command.__doc__ or "").strip().partition("\n\n")[0].split())
        assert f"{name} {first}" in listed


@pytest.mark.parametrize(
    "line",
    [
        "compare forecasts.csv -s fc_radar -s fc_sharp -y rain",
        "compare forecasts.csv -s fc_* -y rain",
        "segments forecasts.csv -s fc_radar -y rain --on fc_yes_no -v",
        "drift portfolio_2023.parquet portfolio_2024.parquet -s pd --on grade",
    ],
)
def test_every_table_of_a_paper_has_a_caption_of_its_own(
    run: Run, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    """Not the answer, nor the name of a file, nor that of another table."""
    monkeypatch.chdir(SAMPLE)
    text = run(*line.split(), "--format", "latex").out
    captions = re.findall(r"\\caption\{(.*)\}", text)
    assert captions
    assert len(set(captions)) == len(captions)
    assert not any("=" in one or one in text.partition("\\begin{table}")[0] for one in captions)


@pytest.mark.parametrize("words", [["inspect"], ["drift", "--by", "day", "-s", "score"]])
def test_the_one_file_of_a_command_may_come_through_a_pipe(run: Run, words: list[str]) -> None:
    """Without a dash, as rows do."""
    rows = b"score,day\n" + b"".join(b"0.%d,%d\n" % (i % 10, i % 2) for i in range(400))
    ended = run(*words, stdin=rows)
    assert (ended.code, ended.err) == (0, "")


def test_indices_of_a_curve_say_which_curve(run: Run) -> None:
    """Without -v too, and in a paper: numbers of other curves differ. So do cutoffs for right answers."""
    curve, kept = "Of a restricted cubic spline with 5 knots: ", "of the rows above a score of 0.000236"
    for form, names in (("table", "ici and emax."), ("latex", "ICI and Emax.")):
        printed = run("measure", str(EVALUATION), "-m", "ici,emax,ece,aurc", "--format", form).out
        assert curve + names in printed
        assert kept in printed.lower()


def test_a_gate_reads_a_pipe_unless_a_state_is_asked(run: Run) -> None:
    """A gate of its own rows reads them as `measure` does; one that asks a state waits for nothing."""
    rows = EVALUATION.read_bytes()
    words = ("verify", *CHURN, "--max-ece", "0.5", "--json")
    assert run(*words, stdin=rows).out == run(*words, "-", stdin=rows).out
    assert "there is no state yet" in run(*words, "--state", "gate.json", stdin=rows, code=3).err
