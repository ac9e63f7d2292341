"""Outputs appear whole or not at all."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from calibcli.data.outputs import new_file, refuse_existing, write_file
from calibcli.errors import OutputProblem


@pytest.mark.parametrize("name", ["a.txt", "\u5b57" * 84])
def test_a_file_appears_when_the_block_has_ended(tmp_path: Path, name: str) -> None:
    """Not before, also one of the longest name; and nothing else stays beside it."""
    target = tmp_path / name
    with new_file(target) as out:
        out.write(b"whole")
        assert not target.exists()
    assert target.read_bytes() == b"whole"
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_error_leaves_what_was_there(error: type[BaseException], tmp_path: Path) -> None:
    """The old file stays as it was, the unfinished one goes, Ctrl-C or not."""
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write() -> None:
        with new_file(target) as out:
            out.write(b"x" * 3_000_000)
            raise error

    with pytest.raises(error):
        write()
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    """The umask decides, not the habits of temporary files."""
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "a.txt", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("size", [10, 5_000_000])
def test_a_full_disk_is_one_line(size: int) -> None:
    """Whether it is noticed at once or when the buffer is flushed."""
    with pytest.raises(OutputProblem) as caught:
        write_file("/dev/full", b"x" * size)
    assert caught.value.message == "/dev/full cannot be written: no space left on device"
    assert caught.value.exit_code == 5


def test_errors_of_others_are_left_alone(tmp_path: Path) -> None:
    """An input that cannot be read is not the output's fault."""

    def write() -> None:
        with new_file(tmp_path / "a.txt"):
            message = "damaged input"
            raise OSError(message)

    with pytest.raises(OSError, match="damaged input"):
        write()


def test_a_missing_directory_is_one_line(tmp_path: Path) -> None:
    """Even when nobody asked beforehand."""
    with pytest.raises(OutputProblem, match=r"b.txt cannot be written: no such file or directory"):
        write_file(tmp_path / "a" / "b.txt", b"")


def test_a_target_that_became_a_directory_is_one_line(tmp_path: Path) -> None:
    """It is not replaced, and nothing is left behind."""

    def write() -> None:
        with new_file(tmp_path / "a") as out:
            out.write(b"x")
            (tmp_path / "a").mkdir()

    with pytest.raises(OutputProblem, match="a appeared while this ran, and was not replaced"):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_existing_outputs_are_refused_before_reading(tmp_path: Path) -> None:
    """Each refusal says what to do."""
    old = tmp_path / "old.txt"
    old.write_text("old")
    (tmp_path / "link.txt").symlink_to(old)
    refuse_existing(tmp_path / "new.txt", force=False)
    refuse_existing(old, force=True)
    refuse_existing("-", force=False)
    refuse_existing("/dev/null", force=False)
    cases = [
        (old, False, [], "exists already", "pass --force to replace it"),
        (tmp_path / "link.txt", True, [old], "is also an input", "never overwrites its input"),
        ("GS://preds/old.csv?x=1", True, ["gcs://preds/old.csv"], "is also an input", "never overwrites"),
        (tmp_path, True, [], "is a directory", "name a file in it"),
        (f"{tmp_path}/new/", False, [], "is the name of a directory", "name a file in it"),
        (tmp_path / "no" / "a.txt", True, [], "there is no directory", "create it first"),
    ]
    for path, force, inputs, message, hint in cases:
        with pytest.raises(OutputProblem, match=message) as caught:
            refuse_existing(path, force=force, inputs=inputs)
        assert hint in str(caught.value.hint)


SCRIPT = """
import sys
from calibcli.data.outputs import new_file
with new_file(sys.argv[1]) as out:
    for _ in range(int(sys.argv[2])):
        out.write(b"line\\n" * 10000)
"""


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_is_written_as_it_comes(name: str, tmp_path: Path) -> None:
    """To a pipe, and to a file of the shell, which is not replaced by another."""
    command = [sys.executable, "-c", SCRIPT, name, "1"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"line\n" * 10_000
    target = tmp_path / "out.txt"
    with target.open("wb") as out:
        number = os.fstat(out.fileno()).st_ino
        subprocess.run(command, stdout=out, check=True)
    assert target.stat().st_ino == number
    assert target.read_bytes() == b"line\n" * 10_000


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_a_reader_that_left_stays_a_broken_pipe(name: str) -> None:
    """`head` closes early; whoever called decides what that means."""
    command = [sys.executable, "-c", SCRIPT, name, "1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout is not None
        assert done.stderr is not None
        assert done.stdout.readline() == b"line\n"
        done.stdout.close()
        assert b"BrokenPipeError" in done.stderr.read()


def test_a_named_pipe_is_written_directly(tmp_path: Path) -> None:
    """Renaming a file onto it would leave the reader waiting."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as reader:
        refuse_existing(fifo, force=False)
        write_file(fifo, b"through")
        assert reader.communicate()[0] == b"through"
    assert stat.S_ISFIFO(fifo.stat().st_mode)
