"""Exit codes and bad input: what is printed, by a process of its own too, and nothing left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import CHURN, Make, Ran, Run

VERIFY = [sys.executable, "-m", "calibcli", "verify"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--max-ece", "0.3"], 0, "PASS"),
        (["--rule", "ece.value<=0.001"], 1, "FAIL"),
        (["--max-ece", "0.02"], 4, "INCONCLUSIVE"),
        (["--max-ece", "0.3", "--min-rows", "1001"], 4, "fewer than --min-rows 1,001"),
        (["--max-ece", "0.02", "--inconclusive", "fail"], 1, "Inconclusive counts as fail"),
        (["--max-ece", "0.02", "--inconclusive", "pass"], 0, "Inconclusive counts as pass"),
        (["--max-ece", "0.3", "--rule", "ece.value<=0.001"], 1, "1 pass, 1 fail"),
        (["--max-ece", "0.3", "--max-smece", "0.001"], 4, "1 pass, 1 inconclusive"),
    ],
)
def test_verdicts_are_0_1_and_4(run: Run, thousand: Path, words: list[str], code: int, said: str) -> None:
    """The verdict is on standard output, and nothing is an error."""
    ended = run("verify", thousand, *CHURN, *words, code=code)
    assert said in ended.out
    assert ended.err == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--rule", "ece.value<=0.001"], 1),
        (["--max-ece", "0.1", "-s", "scor"], 3),
    ],
)
def test_a_process_ends_and_says_as_main_does(
    shell: Run, run: Run, thousand: Path, words: list[str], code: int
) -> None:
    """What the tests of this process show of codes and of both streams holds for the command."""
    ended = shell("verify", thousand, *words, code=code)
    assert ended == run("verify", thousand, *words)


def test_our_bug_is_70(thousand: Path, tmp_path: Path) -> None:
    """In an environment whose numpy cannot be imported nothing works, and that is no failed gate."""
    Path("numpy.py").write_text("raise RuntimeError('broken on purpose')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [*VERIFY, str(thousand), "--max-ece", "0.1"]
    ended = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert ended.returncode == 70
    assert b"this is a bug in calibcli: RuntimeError: broken on purpose" in ended.stderr
    assert b"Traceback" not in ended.stderr


GOOD = ("score,label", *(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}" for i in range(60)))
FAILING = ["verify", "--rule", "ece.value<=0.001"]


def one_line(ended: Ran, code: int) -> str:
    """Check that an error is one line and perhaps a hint, and return it."""
    assert ended.code == code, ended
    assert ended.out == ""
    lines = ended.err.strip().splitlines()
    errors = [line for line in lines if line.startswith("error: ")]
    assert len(errors) == 1, ended.err
    assert all(line.startswith(("error: ", "hint: ", "note: ")) for line in lines), ended.err
    assert "Traceback" not in ended.err
    return ended.err


@pytest.mark.parametrize(
    ("rows", "said", "why"),
    [
        ([f"{(i % 19 + 1) / 20},0" for i in range(200)], "every label is 0", "both labels"),
        (["0.3,1"], "", ""),
    ],
    ids=["one class", "one row"],
)
def test_one_class_or_one_row(run: Run, csv_of: Make, rows: list[str], said: str, why: str) -> None:
    """Measure answers with what they can say, fit refuses them, verify concludes nothing."""
    path = csv_of("score,label", *rows)
    assert said in run("measure", path, code=0).out
    assert why in one_line(run("fit", path), 3)
    assert run("verify", path, "--max-ece", "0.1").code == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [FAILING, ["--help"]])
def test_full_standard_output_is_exit_5(csv_of: Make, words: list[str]) -> None:
    """A verdict that could not be written has not been given."""
    more = [] if words[0].startswith("--") else [str(csv_of(*GOOD))]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "calibcli", *words, *more],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ended.returncode == 5, ended.stderr
    assert b"Traceback" not in ended.stderr


def test_our_bug_is_exit_70_and_says_so(run: Run, csv_of: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anything unexpected is a bug, in one line; --debug shows the traceback."""
    import calibcli.commands.measure

    def broken(*_: object, **__: object) -> None:
        msg = "oh"
        raise RuntimeError(msg)

    monkeypatch.setattr(calibcli.commands.measure, "measure_files", broken)
    path = csv_of(*GOOD)
    assert "bug in calibcli: RuntimeError: oh" in one_line(run("measure", path), 70)
    assert "Traceback" in run("measure", path, "--debug").err


def test_ascii_terminal_gets_ascii(csv_of: Make) -> None:
    """Under LC_ALL=C nothing but ASCII is written, where Python could write nothing else."""
    command = [sys.executable, "-m", "calibcli", "measure", str(csv_of(*GOOD)), "-v"]
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert ended.returncode == 0, ended.stderr
    ended.stdout.decode("ascii")
