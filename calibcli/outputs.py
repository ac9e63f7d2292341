"""
Outputs appear whole or not at all, and nothing is overwritten unasked.

A file is written beside its target, flushed to the disk and renamed; pipes, devices and standard output
are written as they come. Whatever goes wrong is one line that names the path (exit code 5); a reader
that closed the pipe stays a BrokenPipeError.
"""

import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn, cast

from calibcli.errors import OutputProblem
from calibcli.objects import is_object, refuse_existing_object, upload
from calibcli.streams import bytes_to

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT = "-"
# Not a path: where summaries go, for those who ask how text may look there.
STDERR = "stderr"
_BUFFER = 1 << 20
# Names of files that are open already: renaming another file onto them would miss the point.
_OPEN_FILES = ("/dev/std", "/dev/fd/", "/proc/")


def refuse_existing(path: str | Path, *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """
    Refuse an output that cannot or must not be written, before any input is read.

    Args:
        path: The output; "-" is standard output and never refused.

        force: Whether an existing file may be replaced.

        inputs: Files that must not be replaced, whatever `force` says.

    Raises:
        OutputProblem: If the output exists, is an input or a directory, or its directory is missing or
            not writable.
    """
    name = str(path)
    if name == STDOUT:
        return
    if is_object(name):
        _refuse_object(name, force=force, inputs=inputs)
        return
    if any(_same_file(name, str(other)) for other in inputs):
        raise _is_input(name)
    mode = _mode(name)
    if mode is not None and stat.S_ISDIR(mode):
        msg = f"{name} is a directory"
        raise OutputProblem(msg, "name a file in it")
    if mode is not None and stat.S_ISSOCK(mode):
        msg = f"{name} cannot be written: it is a socket"
        raise OutputProblem(msg, "name a file, or a pipe")
    if _written_directly(name):
        return
    if mode is not None and not force:
        msg = f"{name} exists already"
        raise OutputProblem(msg, "pass --force to replace it")
    folder = Path(os.path.realpath(name)).parent
    if not folder.is_dir():
        msg = f"{name} cannot be written: there is no directory {folder}"
        raise OutputProblem(msg, "create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        msg = f"{name} cannot be written: no permission in {folder}"
        raise OutputProblem(msg)


def _refuse_object(name: str, *, force: bool, inputs: Iterable[str | Path]) -> None:
    if name in {str(other) for other in inputs}:
        raise _is_input(name)
    refuse_existing_object(name, force=force)


def _is_input(name: str) -> OutputProblem:
    return OutputProblem(
        f"{name} is also an input", "choose another output: calibcli never overwrites its input"
    )


@contextmanager
def new_file(path: str | Path) -> Iterator[BinaryIO]:
    """
    Open an output that takes its name only once the block has ended well.

    On any error, Ctrl-C included, the unfinished file is removed and whatever stood at the path stays.

    Args:
        path: The output; "-" is standard output.

    Raises:
        OutputProblem: If the file cannot be created, written or renamed.
    """
    name = str(path)
    if name == STDOUT:
        with _standard_output() as out:
            yield out
    elif is_object(name):
        with _uploaded_at_the_end(name) as out:
            yield out
    elif _written_directly(name):
        with _writer(name, name, os.O_WRONLY) as out:
            yield out
    else:
        with _renamed_at_the_end(name) as out:
            yield out


def write_file(path: str | Path, content: bytes) -> None:
    """Write an output in one go, as `new_file` does."""
    with new_file(path) as out:
        out.write(content)


def append_file(path: str | Path, content: bytes) -> None:
    """
    Add to the end of a file that others add to as well, in one write; it is made if it is not there.

    Args:
        path: The file.

        content: What to add.

    Raises:
        OutputProblem: If the file cannot be opened, or does not take everything.
    """
    name = str(path)
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    except (OSError, ValueError) as error:
        _not_writable(name, error)
    with _Target(descriptor, name) as raw:
        written = raw.write(content)
    if written != len(content):
        msg = f"{name} took {written:,} of {len(content):,} bytes"
        raise OutputProblem(msg, "make room for it")


@contextmanager
def _uploaded_at_the_end(name: str) -> Iterator[BinaryIO]:
    """Write a temporary file first: an upload that is given up on would be completed with what it has."""
    descriptor, beside = tempfile.mkstemp(prefix="calibcli-")
    os.close(descriptor)
    try:
        with _writer(beside, name, os.O_WRONLY) as out:
            yield out
        upload(beside, name)
    finally:
        with suppress(OSError):
            Path(beside).unlink()


@contextmanager
def _renamed_at_the_end(name: str) -> Iterator[BinaryIO]:
    target = Path(os.path.realpath(name))
    beside = target.with_name(f".{target.name[:100]}.{os.getpid()}-{os.urandom(4).hex()}.part")
    done = False
    try:
        with _writer(str(beside), name, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as out:
            yield out
            out.flush()
            try:
                os.fsync(out.fileno())
            except OSError as error:
                _not_writable(name, error)
        try:
            beside.replace(target)
        except OSError as error:
            _not_writable(name, error)
        done = True
    finally:
        if not done:
            with suppress(OSError):
                beside.unlink()


@contextmanager
def _writer(where: str, name: str, flags: int) -> Iterator[BinaryIO]:
    """Open a path for buffered writing; errors speak of `name`. On failure nothing more is flushed."""
    try:
        # Not a private temporary file: the permissions are what the user's umask gives any new file.
        raw = _Target(os.open(where, flags | getattr(os, "O_CLOEXEC", 0), 0o666), name)
    except (OSError, ValueError) as error:
        _not_writable(name, error)
    out = io.BufferedWriter(raw, _BUFFER)
    try:
        yield cast("BinaryIO", out)
        out.close()
    finally:
        raw.abandon()


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    out = bytes_to(sys.stdout)
    try:
        yield out
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _not_writable("standard output", error)


class _Target(io.FileIO):
    """A file whose write errors name the path the user gave, so that no other error is taken for one."""

    def __init__(self, descriptor: int, name: str) -> None:
        super().__init__(descriptor, "wb")
        self._target_name = name
        self._abandoned = False

    def write(self, chunk: "ReadableBuffer", /) -> int:
        if self._abandoned:
            return memoryview(chunk).nbytes
        try:
            return super().write(chunk)
        except BrokenPipeError:
            raise
        except OSError as error:
            _not_writable(self._target_name, error)

    def abandon(self) -> None:
        """Close now; what a buffer still holds is thrown away when it is flushed later."""
        self._abandoned = True
        with suppress(OSError):
            self.close()


def _written_directly(name: str) -> bool:
    """Whether a path is a pipe, a device, or one of the system's names for an open file."""
    if os.path.abspath(name).startswith(_OPEN_FILES):  # noqa: PTH100 - resolving would follow the link
        return True
    try:
        return not stat.S_ISREG(os.stat(name).st_mode)  # noqa: PTH116 - one call, links followed
    except (OSError, ValueError):
        return False


def _mode(name: str) -> int | None:
    """Return what kind of thing stands at a path, or None where nothing does."""
    try:
        return os.stat(name).st_mode  # noqa: PTH116 - one call, links followed
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        _not_writable(name, error)


def _same_file(name: str, other: str) -> bool:
    try:
        return os.path.samefile(name, other)  # noqa: PTH121 - either may be missing
    except (OSError, ValueError):
        return False


def _not_writable(name: str, error: OSError | ValueError) -> NoReturn:
    """Say why in one line; a ValueError is a name that no file can have, such as one with a NUL byte."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    msg = f"{name} cannot be written: {reason[:1].lower()}{reason[1:]}"
    raise OutputProblem(msg) from error
