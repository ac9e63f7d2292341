"""Running the command line: in this process for speed, in a process of its own for signals and output."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from calibcli.shell.app import main
from command_line import CHURN, SAMPLE, Make, Ran, Run


@contextmanager
def through_a_pipe(rows: bytes) -> Iterator[None]:
    """Make standard input a pipe that these rows come through."""
    out, into = os.pipe()

    def feed() -> None:
        with suppress(BrokenPipeError), os.fdopen(into, "wb") as end:
            end.write(rows)

    feeding = Thread(target=feed)
    feeding.start()
    with os.fdopen(out, encoding="utf-8") as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", stream)
        yield
    feeding.join()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process, with rows on standard input if there are any."""

    def call(*words: object, stdin: bytes | None = None) -> Ran:
        with nullcontext() if stdin is None else through_a_pipe(stdin):
            code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return Ran(code, printed.out, printed.err)

    return call


@pytest.fixture
def shell() -> Run:
    """Run a command in a process of its own."""

    def call(*words: object) -> Ran:
        command = [sys.executable, "-m", "calibcli", *(str(word) for word in words)]
        ended = subprocess.run(command, capture_output=True, check=False)
        return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return call


@pytest.fixture
def csv_of(tmp_path: Path) -> Make:
    """Write a CSV file from its lines."""

    def write(*lines: str, name: str = "p.csv") -> Path:
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    return write


@pytest.fixture
def thousand(tmp_path: Path) -> Path:
    """Return a CSV file of 1,000 calibrated rows."""
    generator = np.random.default_rng(7)
    score = generator.beta(1.0, 2.0, 1000)
    label = generator.random(1000) < score
    path = tmp_path / "thousand.csv"
    path.write_text(
        "score,label\n" + "".join(f"{f!r},{y:d}\n" for f, y in zip(score.tolist(), label, strict=True))
    )
    return path


@pytest.fixture(scope="session")
def fitted_once(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a scaling-binning artifact fitted on the sample's calibration half."""
    path = tmp_path_factory.mktemp("fitted") / "cal.json"
    words = [str(SAMPLE / "churn_calibration.parquet"), *CHURN, "-m", "scaling-binning"]
    assert main(["fit", *words, "-q", "-o", str(path)]) == 0
    return path.read_bytes()


@pytest.fixture
def artifact(fitted_once: bytes, tmp_path: Path) -> Path:
    """Return a file of that artifact, to be changed at will."""
    path = tmp_path / "cal.json"
    path.write_bytes(fitted_once)
    return path
