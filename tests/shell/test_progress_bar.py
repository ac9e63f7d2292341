"""The bar: on a terminal alone, not before a second has passed, and gone when the work is done."""

import io
import itertools
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from calibcli.ahead import unseen
from calibcli.shell import output as bars
from calibcli.shell.app import main
from calibcli.shell.output import progress_bar, shown


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
        time.sleep(0.5)
        advance(1_000_000)
        time.sleep(0.3)
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


def test_a_command_leaves_its_terminal_as_it_was(tmp_path: Path) -> None:
    """On a real terminal, also when it ends with an error; standard output holds the report alone."""
    file = tmp_path / "p.csv"
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


def test_a_file_that_takes_long_to_apply_to_shows_its_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With -o as with --out-dir; on standard output the rows alone."""
    cal, file = tmp_path / "cal.json", tmp_path / "p.csv"
    sample = Path(__file__).parents[2] / "sample_data" / "breast_cancer_calibration.csv"
    assert main(["fit", str(sample), "-m", "platt", "-q", "-o", str(cal)]) == 0
    file.write_text("score\n" + "0.25\n" * 400_000)
    out = Terminal()
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setattr(bars, "_SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["apply", str(cal), str(file), "-o", str(tmp_path / "o.csv"), "--color", "never"]) == 0
    assert "rows, " in out.getvalue()
    assert "a second" in out.getvalue()
    assert (tmp_path / "o.csv").read_text().count("\n") == 400_001
