"""`plot --terminal` and `plot --kind monitor`, told from the outside."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from command_line import SAMPLE, Ran

Run = Callable[..., Ran]
CANCER = SAMPLE / "breast_cancer_evaluation.csv"


def test_diagram_needs_no_file_and_says_the_error(run: Run) -> None:
    """The numbers of the caption are those of `measure`."""
    ran = run("plot", CANCER, "-s", "score", "-y", "label", "--terminal", "--kind", "smooth")
    assert (ran.code, ran.err) == (0, "")
    measured = run("measure", CANCER, "-s", "score", "-y", "label", "--json")
    smece = json.loads(measured.out)["measures"]["smece"]
    assert f"smECE {smece['value']:.4f}  [{smece['lower']:.4f}, {smece['upper']:.4f}]" in ran.out
    assert "observed rate of label 1" in ran.out
    assert "score (predicted probability)" in ran.out


@pytest.mark.parametrize(
    ("environment", "width", "ascii_only"),
    [
        ({}, 80, False),
        ({"COLUMNS": "120"}, 120, False),
        ({"COLUMNS": "60", "LC_ALL": "C"}, 60, True),
        ({"LC_ALL": "C.UTF-8"}, 80, False),
    ],
)
def test_width_and_letters_follow_the_terminal(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    width: int,
    *,
    ascii_only: bool,
) -> None:
    """80 columns without a terminal, and ASCII where the locale asks."""
    for name in ("COLUMNS", "LC_ALL", "PYTHONIOENCODING"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    text = run("plot", CANCER, "-q", "--terminal").out
    widest = max(map(cell_len, text.splitlines()))
    assert min(width, 104) - 10 < widest <= width
    assert text.isascii() == ascii_only


def test_an_output_of_ascii_gets_ascii() -> None:
    """As the encoding of standard output says, whatever the locale."""
    command = [sys.executable, "-m", "calibcli", "plot", str(CANCER), "-q", "--terminal"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert "** observed rate" in ended.stdout.decode("ascii")


def test_a_report_is_drawn_as_its_files_are(run: Run, tmp_path: Path) -> None:
    """The same diagram from what `measure` wrote."""
    report = tmp_path / "report.json"
    run("measure", CANCER, "-s", "score", "-y", "label", "--json", "-o", report, "-q")
    files = run("plot", CANCER, "-s", "score", "-y", "label", "--terminal")
    again = run("plot", report, "--terminal")
    assert again.code == 0
    assert again.out == files.out


def test_a_picture_can_be_written_beside(run: Run, tmp_path: Path) -> None:
    """Letters on standard output, the picture in its file."""
    picture = tmp_path / "p.svg"
    ran = run("plot", CANCER, "-s", "score", "-y", "label", "--terminal", "-o", picture, "-q")
    assert ran.code == 0
    assert picture.read_bytes().startswith(b"<?xml")
    assert "perfectly calibrated" in ran.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "error: no picture is named"),
        (["--terminal", "--kind", "murphy"], "error: --terminal draws a reliability diagram"),
        (["--terminal", "-s", "score", "-s", "id"], "error: "),
        (["--kind", "monitor", "-o", "x.png"], "error: "),
    ],
)
def test_what_cannot_be_drawn_is_one_line(run: Run, words: list[str], said: str) -> None:
    """An error and a hint, and nothing on standard output."""
    ran = run("plot", CANCER, *words)
    assert ran.code in (2, 3)
    assert ran.out == ""
    assert ran.err.startswith(said)
    assert ran.err.count("\n") <= 3


def test_terminal_needs_neither_matplotlib_nor_scipy() -> None:
    """It starts as fast as `measure` does."""
    program = f"""
import os, sys
from calibcli.shell.app import main
code = main(["plot", {str(CANCER)!r}, "-s", "score", "-y", "label", "--terminal", "--kind", "smooth"])
heavy = {{"matplotlib", "scipy", "pandas", "PIL"}} & {{name.partition(".")[0] for name in sys.modules}}
sys.stderr.write(repr((code, heavy)))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert ended.stderr == "(0, set())"


def test_a_state_of_a_gate_is_drawn(run: Run, tmp_path: Path) -> None:
    """From what `verify --state` wrote; a damaged one is refused in a line."""
    state, picture = tmp_path / "gate.json", tmp_path / "gate.png"
    run("verify", CANCER, "-s", "score", "-y", "label", "--max-ece", "0.3", "--state", state)
    ran = run("plot", state, "--kind", "monitor", "-o", picture)
    assert ran.code == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "binned ECE" in ran.err
    state.write_text(state.read_text()[:300])
    ran = run("plot", state, "--kind", "monitor", "-o", picture, "--force")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.count("\n") == 2
