"""The command `export`: where it writes, what it refuses, and with which exit code."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from calibcli.documents.artifact import artifact_text
from calibcli.shell.app import main
from exported_maps import class_map, one_map


@pytest.fixture
def artifact(tmp_path: Path) -> str:
    """The file of a beta map."""
    path = tmp_path / "cal.json"
    path.write_text(artifact_text(one_map("beta")))
    return str(path)


@pytest.mark.parametrize("target", ["sql", "python", "sklearn", "onnx"])
def test_standard_output_and_a_file_get_the_same(
    target: str, artifact: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Without -o the export goes to standard output, with nothing else."""
    assert main(["export", artifact, "--to", target]) == 0
    printed = capfdbinary.readouterr()
    assert printed.err == b""
    path = tmp_path / "exported"
    assert main(["export", artifact, "--to", target, "-o", str(path)]) == 0
    assert path.read_bytes() == printed.out
    assert b"the beta map of" in capfdbinary.readouterr().err


def test_columns_that_nobody_named_are_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """SQL of several classes says which columns it reads, unless --probs did."""
    path = tmp_path / "classes.json"
    path.write_text(artifact_text(class_map("temperature")))
    said = "note: the classes are read from p_"
    assert main(["export", str(path), "--to", "sql"]) == 0
    assert said in capfd.readouterr().err
    assert main(["export", str(path), "--to", "sql", "--probs", "probs"]) == 0
    assert said not in capfd.readouterr().err


def test_existing_output_stays(artifact: str, tmp_path: Path) -> None:
    """What is there is replaced with --force only, and the artifact never."""
    path = tmp_path / "cal.py"
    path.write_text("mine")
    words = ["export", artifact, "--to", "python", "-o"]
    assert main([*words, str(path)]) == 5
    assert path.read_text() == "mine"
    assert main([*words, str(path), "--force"]) == 0
    assert path.read_text() != "mine"
    assert main([*words, artifact, "--force"]) == 5


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--to", "python", "--dialect", "spark"], 2, "--dialect has no effect on --to python"),
        (["--to", "onnx", "--table", "t"], 2, "--table has no effect on --to onnx"),
        (["--to", "sql", "--float32"], 2, "--float32 has no effect on --to sql"),
        (["--to", "sklearn", "--name", "p"], 2, "--name has no effect on --to sklearn"),
        (["--to", "sql", "--probs", "a,b"], 2, "the map was fitted to one score"),
        (["--to", "sql", "--prior", "2"], 2, "base rate of 2"),
        (["--to", "excel"], 2, "excel"),
        ([], 2, "--to"),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str], code: int, said: str, artifact: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """An option without effect, or a wrong one, is refused in one line."""
    assert main(["export", artifact, *words]) == code
    assert said in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--to", "sql", "-s", "score"], "fitted to 3 classes"),
        (["--to", "sql", "--probs", "a,b"], "there are 3 classes"),
        (["--to", "python", "--prior", "0.5"], "fitted to several classes"),
    ],
)
def test_options_of_one_score_are_refused_for_classes(
    words: list[str], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A map of several classes has no one score column and no one base rate."""
    path = tmp_path / "classes.json"
    path.write_text(artifact_text(class_map("vector")))
    assert main(["export", str(path), *words]) == 2
    assert said in capfd.readouterr().err


def test_missing_and_broken_artifacts_are_bad_input(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """An artifact that is not there, or none, is exit code 3."""
    assert main(["export", str(tmp_path / "none.json"), "--to", "sql"]) == 3
    (tmp_path / "bad.json").write_text("{}")
    assert main(["export", str(tmp_path / "bad.json"), "--to", "sql"]) == 3
    assert capfd.readouterr().err.count("error:") == 2


def test_model_is_not_written_to_a_terminal(artifact: str) -> None:
    """An ONNX model is not text: a terminal is refused, with exit code 5."""
    ours, theirs = pty.openpty()
    ended = subprocess.run(
        [sys.executable, "-m", "calibcli", "export", artifact, "--to", "onnx"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    assert ended.returncode == 5
    assert b"standard output is a terminal" in ended.stderr


def test_onnx_that_is_not_installed_is_said(
    artifact: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without the package the hint says how to get it."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert main(["export", artifact, "--to", "onnx", "-o", "never.onnx"]) == 2
    assert "calibcli[onnx]" in capfd.readouterr().err
    assert not Path("never.onnx").exists()
