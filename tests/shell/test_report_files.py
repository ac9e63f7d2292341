"""`verify --report`: what is refused before any data is read, what is written, what an error leaves."""

import io
import itertools
import json
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from junitparser import JUnitXml

from calibcli.ahead import unseen
from calibcli.data.outputs import append_file
from calibcli.errors import OutputProblem, UsageProblem
from calibcli.names import GateFormat
from calibcli.shell import output as bars
from calibcli.shell.app import main
from calibcli.shell.commands.gates import RequestedReport, parse_reports
from calibcli.shell.output import progress_bar, shown
from command_line import CHURN, SAMPLE, Run
from github_runner import commands_of, outputs_in

EVALUATION = SAMPLE / "churn_evaluation.parquet"
GATE = ["verify", EVALUATION, *CHURN, "--max-ece"]
FAILING, UNDECIDED, PASSING = "0.001", "0.127", "0.5"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Set what a step of a workflow finds set, and return the folder with the files it may add to."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for variable in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        Path(variable).write_text("before=1")
        monkeypatch.setenv(variable, variable)
    return tmp_path


def wanted(*texts: str, **rest: object) -> tuple[RequestedReport, ...]:
    """Return what is asked for beside one input."""
    return parse_reports(texts, inputs=[str(EVALUATION)], **rest)


def test_reports_are_read_as_written() -> None:
    """Kind and file, an equals sign in the name of the file too; GitHub's once."""
    path = "a=b.xml"
    assert wanted(f"junit={path}", "github", "openmetrics=-", "github", output="o") == (
        RequestedReport(GateFormat.JUNIT, path),
        RequestedReport(GateFormat.GITHUB),
        RequestedReport(GateFormat.OPENMETRICS, "-"),
    )
    assert wanted() == ()


@pytest.mark.parametrize("text", ["sarif=x.json", "", "=x", "JUNIT=x", "junit", "md=", "json", "github=x"])
def test_a_report_that_is_none_is_a_usage_error(text: str) -> None:
    """The hint lists those there are."""
    with pytest.raises(UsageProblem, match=re.escape(repr(text))) as caught:
        wanted(text)
    assert caught.value.hint == "it takes junit=FILE, github, md=FILE, json=FILE or openmetrics=FILE"


def test_two_reports_in_one_place_are_refused() -> None:
    """By whatever names, the printed one and a state that is yet to be made included."""
    Path("sub").mkdir()
    x, again = "x", "sub/../x"
    for texts, rest in (
        ([f"junit={x}", f"md={again}"], {}),
        ([f"junit={x}"], {"output": again}),
        ([f"junit={x}"], {"others": [None, again]}),
        (["junit=-"], {}),
        (["junit=-", "md=-"], {"output": x}),
    ):
        with pytest.raises(UsageProblem, match="would be written twice"):
            wanted(*texts, **rest)


def test_existing_files_and_inputs_are_refused_before_any_data_is_read(run: Run, tmp_path: Path) -> None:
    """An input even with --force, an artifact too; nothing is written then."""
    Path("bad.csv").write_text("score,label\nnonsense,nonsense\n")
    Path("old.xml").write_text("old")
    bad = ["verify", "bad.csv", *CHURN, "--max-ece", "0.1"]
    ended = run(*bad, "--report", "md=new.md", "--report", "junit=old.xml")
    assert (ended.code, ended.out) == (5, "")
    assert "old.xml exists already" in ended.err
    assert "bad.csv is also an input" in run(*bad, "--report", "junit=bad.csv", "--force", code=5).err
    with pytest.raises(OutputProblem, match=r"old\.xml is also an input"):
        wanted("md=old.xml", force=True, others=[None, "old.xml"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "old.xml"]
    assert Path("old.xml").read_text() == "old"


def test_every_report_is_written_whatever_the_verdict(run: Run) -> None:
    """Beside the printed one, and the same bytes for the same rows."""
    for limit, code in ((PASSING, 0), (FAILING, 1), (UNDECIDED, 4)):
        files = {kind: Path(f"{kind}{code}") for kind in ("junit", "md", "json", "openmetrics")}
        words = [word for kind, path in files.items() for word in ("--report", f"{kind}={path}")]
        ended = run(*GATE, limit, *words)
        assert (ended.code, ended.err) == (code, "")
        assert ended.out.split()[0] == {0: "PASS", 1: "FAIL", 4: "INCONCLUSIVE"}[code]
        suites = JUnitXml.fromstring(files["junit"].read_bytes())
        assert (suites.tests, suites.failures, suites.errors) == (1, code == 1, code == 4)
        report = json.loads(files["json"].read_text())
        assert report["verdict"]["status"].upper() == ended.out.split()[0]
        if code == 1:
            assert report == run(*GATE, limit, "--json").document
            assert files["md"].read_text() == run(*GATE, limit, "--format", "md").out
            before = {path: path.read_bytes() for path in files.values()}
            assert run(*GATE, limit, *words, "--force").code == code
            assert before == {path: path.read_bytes() for path in files.values()}


def test_a_report_may_take_the_place_of_the_printed_one(run: Run) -> None:
    """On standard output, for the program after the pipe."""
    ended = run(*GATE, PASSING, "-o", "printed", "--report", "openmetrics=-", code=0)
    assert ended.out.startswith("# TYPE calibcli_gate gauge\n")
    assert ended.out.endswith("# EOF\n")
    assert Path("printed").read_text().startswith("PASS")


def test_github_is_told_by_itself_in_its_workflows(run: Run, runner: Path) -> None:
    """On standard error, and by adding to the files of the runner; not where other reports are asked for."""
    ended = run(*GATE, FAILING, code=1)
    assert ended.out.startswith("FAIL")
    assert [one.name for one in commands_of(ended.err)] == ["error"]
    summary, outputs = ((runner / name).read_text() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"))
    assert summary.startswith("before=1\n**FAIL  binned ECE")
    found = outputs_in(outputs)
    assert (found["before"], found["verdict"], found["exit_code"]) == ("1", "fail", "1")
    assert float(found["max_ece_lower"]) > 0.001
    assert commands_of(run(*GATE, FAILING, "--report", f"md={runner / 'm.md'}").err) == []
    both = run(*GATE, FAILING, "--report", f"md={runner / 'n.md'}", "--report", "github")
    assert len(commands_of(both.err)) == 1
    assert (runner / "GITHUB_OUTPUT").read_text().count("verdict=") == 2


def test_bad_input_is_told_to_servers_and_monitors(run: Run, runner: Path) -> None:
    """With the line that the terminal shows; an old pass is replaced, and the exit code stays."""
    files = {kind: runner / kind for kind in ("junit", "md", "json", "openmetrics")}
    words = [word for kind, path in files.items() for word in ("--report", f"{kind}={path}")]
    assert run(*GATE, PASSING, *words).code == 0
    pages = {kind: files[kind].read_text() for kind in ("md", "json")}
    # A name that would be a command of the runner wherever it stood in a line.
    line = ("verify", EVALUATION, "-s", "##[error]x", "-y", "label", "--max-ece", "0.1")
    ended = run(*line, *words, "--report", "github", "--force")
    assert (ended.code, ended.out) == (3, "")
    suites = JUnitXml.fromstring(files["junit"].read_bytes())
    assert (suites.tests, suites.errors) == (1, 1)
    assert 'calibcli_gate{verdict="error"} 1.0' in files["openmetrics"].read_text()
    assert {kind: files[kind].read_text() for kind in ("md", "json")} == pages
    (one,) = commands_of(ended.err)
    assert one.title == "calibcli: no verdict"
    assert "error]x" in one.message
    found = outputs_in((runner / "GITHUB_OUTPUT").read_text())
    assert (found["verdict"], found["exit_code"]) == ("error", "3")
    assert "**No verdict: " in (runner / "GITHUB_STEP_SUMMARY").read_text()


def test_a_runner_that_cannot_be_told_is_an_output_problem(
    run: Run, runner: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass that nobody hears of is not done; an error before decides about line and exit code."""
    monkeypatch.setenv("GITHUB_OUTPUT", str(runner / "missing" / "file"))
    said = f"{runner / 'missing' / 'file'} cannot be written: no such file"
    assert said in run(*GATE, PASSING, code=5).err
    assert "missing" not in run("verify", EVALUATION, "-s", "nothing", "--max-ece", "0.1", code=3).err


def test_adding_to_a_file_keeps_what_stands_there(tmp_path: Path) -> None:
    """And makes the file where there is none."""
    path = Path("log")
    append_file(path, b"a\n")
    append_file(path, b"b\n")
    assert path.read_bytes() == b"a\nb\n"
    with pytest.raises(OutputProblem, match="cannot be written: is a directory"):
        append_file(tmp_path, b"x")
    if os.path.exists("/dev/full"):  # noqa: PTH110
        with pytest.raises(OutputProblem, match="no space left"):
            append_file("/dev/full", b"x")


def test_an_input_that_is_not_there_is_told_too(run: Run) -> None:
    """The commonest failure must not leave yesterday's report, or none."""
    path = Path("gate.xml")
    run("verify", "none.csv", "--max-ece", "0.1", "--report", f"junit={path}", code=3)
    assert JUnitXml.fromfile(str(path)).errors == 1


def test_a_limit_that_cannot_be_is_told_to_github(run: Run, runner: Path) -> None:
    """Usage errors leave outputs as well."""
    assert run("verify", EVALUATION, *CHURN, "--max-ece", "2").code == 2
    assert outputs_in((runner / "GITHUB_OUTPUT").read_text())["verdict"] == "error"


def test_a_gate_that_judged_no_group_is_not_green(run: Run, runner: Path) -> None:
    """Every class has too few rows: the exit code is 4, and no report looks like a pass."""
    path = runner / "gate.xml"
    digits = SAMPLE / "digits_naive_bayes_evaluation.parquet"
    probs = ["--probs", "p_*", "-y", "label", "--view", "one-vs-rest", "--min-group-rows", "100000"]
    reports = ["--report", f"junit={path}", "--report", "github"]
    ended = run("verify", digits, *probs, "--max-ece", "0.1", *reports, code=4)
    assert JUnitXml.fromfile(str(path)).errors == 1
    assert "::error title=calibcli%3A INCONCLUSIVE" in ended.err


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        """It is."""
        return True


def test_nobody_sees_it_off_a_terminal_or_when_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where there is no stderr at all."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert progress_bar(quiet=False) is unseen
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert progress_bar(quiet=True) is unseen
    assert progress_bar(quiet=False) is shown
    monkeypatch.setattr(sys, "stderr", None)
    assert progress_bar(quiet=False) is unseen
    with unseen(3) as advance:
        advance(10)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a letter."""
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    with shown(2) as advance:
        advance(5)
        advance(5)
    assert out.getvalue() == ""


def test_long_work_shows_rows_and_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the time left."""
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setattr(bars, "_SECONDS", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with shown(4) as advance:
        time.sleep(0.1)
        advance(1_000_000)
        time.sleep(0.2)
    said = out.getvalue()
    assert "1,000,000 rows" in said
    assert "a second" in said
    assert "left" in said


@pytest.mark.parametrize("step", [0.0, -30.0, 1e9], ids=["stands still", "goes back", "leaps"])
def test_a_wrong_clock_gives_no_negative_time(step: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor a rate without end, while the work goes on."""
    out = Terminal()
    clock = itertools.count(1000.0, step)
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setattr(bars, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    found = bars._Shown(4)
    found.start()
    for _ in range(3):
        found.advance(1_000)
    found.stop()
    said = re.sub("\x1b[^A-Za-z]*[A-Za-z]", "", out.getvalue())
    rates = {int(rate.replace(",", "")) for rate in re.findall("([0-9,]+) a second", said)}
    assert "3,000 rows" in said
    assert rates <= set(range(3_001))
    assert not re.search("-[0-9]|inf|nan", said)


def test_a_command_leaves_its_terminal_as_it_was() -> None:
    """On a real terminal, also when it ends with an error; standard output holds the report alone."""
    file = Path("p.csv")
    file.write_text("score,label\n0.5,1\n1.5,0\n")
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "calibcli", "measure", str(file)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=follower, timeout=60, check=False)
    os.close(follower)
    said = os.read(leader, 65_536).decode()
    os.close(leader)
    assert done.returncode == 3
    assert done.stdout == b""
    assert said.startswith("error: ")
    assert "\x1b[?25l" not in said


def test_a_file_that_takes_long_to_apply_to_shows_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """With -o as with --out-dir; on standard output the rows alone."""
    cal, file = Path("cal.json"), Path("p.csv")
    sample = Path(__file__).parents[2] / "sample_data" / "breast_cancer_calibration.csv"
    assert main(["fit", str(sample), "-m", "platt", "-q", "-o", str(cal)]) == 0
    file.write_text("score\n" + "0.25\n" * 400_000)
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setattr(bars, "_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["apply", str(cal), str(file), "-o", "o.csv", "--color", "never"]) == 0
    assert "rows, " in out.getvalue()
    assert "a second" in out.getvalue()
    assert Path("o.csv").read_text().count("\n") == 400_001
