"""Commands in a process whose standard streams others have replaced: notebooks, tests, `redirect_stdout`."""

import errno
import io
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from calibcli.shell.app import main
from command_line import ROOT

ROWS = "score,label\n" + "".join(f"{(i % 19 + 1) / 20},{i % 3 == 0:d}\n" for i in range(60))
CAL = str(ROOT / "tests" / "documents" / "frozen" / "platt.json")
PIPED = ("-", "-s", "score", "-y", "label")
COMMANDS = (
    ("measure", *PIPED, "--json"),
    ("measure", *PIPED),
    ("fit", *PIPED, "-m", "platt", "-o", "-"),
    ("apply", CAL, "-", "-s", "score", "-o", "-"),
    ("verify", *PIPED, "--max-ece", "0.9"),
    ("inspect", "-"),
    ("inspect", CAL),
    ("export", CAL, "--to", "sql"),
    ("schema", "artifact"),
    ("config",),
    ("measure", "--help"),
    ("--version",),
)


class Sink:
    """The least that Python asks of a standard output."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Keep it."""
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


class Gone(io.StringIO):
    """A stream whose reader has left."""

    def write(self, _: str) -> int:
        """Fail as a pipe does."""
        raise BrokenPipeError(errno.EPIPE, "gone")


@dataclass(frozen=True)
class Streams:
    """What stands in the place of the standard streams."""

    out: io.StringIO
    err: io.StringIO


def text_alone(monkeypatch: pytest.MonkeyPatch) -> Streams:
    """Replace all three by text without bytes; in a test, as its runner replaces them between its parts."""
    streams = Streams(io.StringIO(), io.StringIO())
    monkeypatch.setattr(sys, "stdin", io.StringIO(ROWS))
    monkeypatch.setattr(sys, "stdout", streams.out)
    monkeypatch.setattr(sys, "stderr", streams.err)
    return streams


def with_bytes(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """Return how a command ends and what it prints where text has bytes below it, as in a pipe."""
    content = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(content, "utf-8", write_through=True))
    return main(list(words)), content.getvalue().decode()


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:1]))
def test_text_alone_takes_what_bytes_take(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """No descriptor, no bytes below, no encoding: the same letters."""
    streams = text_alone(monkeypatch)
    code = main(list(words))
    assert streams.out.getvalue()
    assert (code, streams.out.getvalue()) == with_bytes(words, monkeypatch)


def test_least_stream_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """What can be written to and flushed, and knows of no terminal."""
    text_alone(monkeypatch)
    sink = Sink()
    monkeypatch.setattr(sys, "stdout", sink)
    monkeypatch.setattr(sys, "stderr", Sink())
    assert main(["measure", *PIPED, "--json"]) == 0
    assert sink.text.startswith("{")


def test_bytes_that_are_no_text_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model or a Parquet file has no place in text."""
    streams = text_alone(monkeypatch)
    assert main(["apply", CAL, "-", "-s", "score", "-o", "-", "--to", "parquet"]) == 5
    assert "accepts only text" in streams.err.getvalue()


@pytest.mark.parametrize("words", [("measure", *PIPED), ("--version",), ("measure", "--help")])
def test_a_reader_that_left_is_told_by_the_exit_code(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there is no descriptor to close."""
    text_alone(monkeypatch)
    monkeypatch.setattr(sys, "stdout", Gone())
    assert main(list(words)) == 141


def test_a_thread_may_run_a_command(tmp_path: Path) -> None:
    """Signals are for the first thread alone."""
    file = tmp_path / "rows.csv"
    file.write_text(ROWS)
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["measure", str(file)])))
    thread.start()
    thread.join(60)
    assert codes == [0]


@pytest.mark.untraced
def test_a_handler_that_returns_does_not_end_the_reading(tmp_path: Path) -> None:
    """A program that notes an interrupt and goes on gets the number of all rows."""
    program = """
import io, os, signal, sys, threading, time
told = []
signal.signal(signal.SIGINT, lambda *_: told.append(1))
out, into = os.pipe()
sys.stdin = io.TextIOWrapper(os.fdopen(out, "rb"))
def feed():
    os.write(into, b"score,label\\n0.2,0\\n0.7,1\\n")
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
    os.write(into, b"0.4,0\\n")
    os.close(into)
from calibcli.shell.app import main
threading.Thread(target=feed).start()
code = main(["measure", "-", "-s", "score", "-y", "label", "--metric", "bias"])
assert (code, told) == (0, [1]), (code, told)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "3 rows, 1 positive" in ran.stdout
