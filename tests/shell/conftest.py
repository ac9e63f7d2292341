"""Files, and running the command line in a process of its own, for signals and output."""

import subprocess
import sys
from pathlib import Path

import pytest

from calibcli.shell.app import main
from command_line import CHURN, SAMPLE, Make, Ran, Run, in_csv
from score_rows import scored


@pytest.fixture(scope="module", autouse=True)
def _few_draws(few_draws: None) -> None:
    """All tests of the command line."""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test stands in an empty folder, so that files go by their names alone."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def shell() -> Run:
    """Run a command in a process of its own; `code` is how it must end."""

    def call(*words: object, code: int | None = None) -> Ran:
        command = [sys.executable, "-m", "calibcli", *(str(word) for word in words)]
        ended = subprocess.run(command, capture_output=True, check=False)
        assert code in (None, ended.returncode), ended.stderr
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
    score, label = scored(1000, seed=7, beta=(1.0, 2.0))
    return in_csv(tmp_path / "thousand.csv", {"score": score, "label": label})


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
