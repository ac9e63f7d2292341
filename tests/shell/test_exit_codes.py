"""Every exit code of `verify` in the table of the command line; each once from a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Ran

Run = Callable[..., Ran]
FULL = Path("/dev/full")
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
    ended = run("verify", thousand, "-s", "score", "-y", "label", *words)
    assert ended.code == code, ended.err
    assert said in ended.out
    assert ended.err == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--max-ece"], 2),
        (["--max-ece", "0.1", "--no-such-option"], 2),
        (["--rule", "ece<0.1"], 2),
        (["--max-ece", "0.1", "--config", "nowhere.toml"], 2),
        (["--max-ece", "0.1", "-s", "scor"], 3),
        (["--max-ece", "0.1", "--artifact", "nowhere.json"], 3),
        (["--max-ece", "0.1", "-o", "nowhere/report.txt"], 5),
    ],
)
def test_what_stops_a_gate_is_never_1(run: Run, thousand: Path, words: list[str], code: int) -> None:
    """Usage is 2, input 3, output 5; an error in one line on standard error."""
    ended = run("verify", thousand, *words)
    assert ended.code == code, ended.err
    assert ended.err.startswith("error: ")
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_output_that_exists_is_5(run: Run, thousand: Path, tmp_path: Path) -> None:
    """Before any row is read: a gate that would fail says 5 as well."""
    out = tmp_path / "report.json"
    out.write_text("keep me")
    assert run("verify", thousand, "--rule", "ece.value<=0.001", "-o", out).code == 5
    assert out.read_text() == "keep me"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--max-ece", "0.3"], 0),
        (["--rule", "ece.value<=0.001"], 1),
        (["--rule", "ece<0.1"], 2),
        (["--max-ece", "0.1", "-s", "scor"], 3),
        (["--max-ece", "0.02"], 4),
        (["--max-ece", "0.1", "-o", "nowhere/report.txt"], 5),
    ],
)
def test_a_process_ends_and_says_as_main_does(
    shell: Run, run: Run, thousand: Path, words: list[str], code: int
) -> None:
    """What the tests of this process show of codes and of both streams holds for the command."""
    ended = shell("verify", thousand, *words)
    assert ended.code == code, ended.err
    assert ended == run("verify", thousand, *words)


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_full_disk_is_5_whatever_the_verdict(thousand: Path) -> None:
    """A verdict that could not be written is no verdict."""
    command = [*VERIFY, str(thousand), "--rule", "ece.value<=0.001"]
    with FULL.open("wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 5
    assert ended.stderr.startswith(b"error: ")


def test_our_bug_is_70(thousand: Path, tmp_path: Path) -> None:
    """In an environment whose numpy cannot be imported nothing works, and that is no failed gate."""
    (tmp_path / "numpy.py").write_text("raise RuntimeError('broken on purpose')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [*VERIFY, str(thousand), "--max-ece", "0.1"]
    ended = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert ended.returncode == 70
    assert b"this is a bug in calibcli: RuntimeError: broken on purpose" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_ctrl_c_is_130() -> None:
    """While it waits for rows; nothing is said."""
    with subprocess.Popen(
        [*VERIFY, "-", "-s", "score", "-y", "label", "--max-ece", "0.1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"score,label\n" + b"0.25,0\n" * 100_000)
        process.stdin.flush()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        process.wait(20)
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert process.returncode == 130


def test_a_reader_that_left_is_141(thousand: Path) -> None:
    """Quietly, and not as a failed gate."""
    command = [*VERIFY, str(thousand), "--rule", "ece.value<=0.001", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, b"")
