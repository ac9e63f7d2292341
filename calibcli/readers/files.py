"""Which files the inputs are, as the user named them: found before anything is opened."""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.objects import is_object, objects_below
from calibcli.readers.formats import split_forced
from calibcli.readers.globs import is_pattern, matching
from calibcli.readers.in_memory import HeldRows
from calibcli.readers.pipes import STDIN
from calibcli.suffixes import format_of

_SKIPPED = ("_", ".")
_TAKEN = (
    ".csv, .tsv, .tab, .jsonl and .ndjson, also with .gz, .zst, .bz2 or .lz4 after these, .parquet, .pq, "
    ".arrow, .arrows, .feather, .ipc and .npz"
)


@dataclass(frozen=True, slots=True)
class InputFile:
    """
    One file of the input.

    Args:
        path: The file; "-" is standard input.

        forced: The format that `path:fmt` forces, or None.
    """

    path: str
    forced: DataFormat | None = None


def files_of(inputs: Sequence[str]) -> list[InputFile]:
    """
    Return the files that the inputs stand for, in order.

    Args:
        inputs: Files; directories, whose data files are taken in the order of their names, without those
            that start with "_" or "."; patterns such as `data/*.csv` where no file is called so; "-" for
            standard input; `path:fmt` to force a format, which takes every file of a directory for one of
            data.

    Raises:
        InputProblem: If there is no such file, or it cannot be looked at.

        UsageProblem: If a file is named twice, under whatever names.
    """
    # Path.exists raises where this says no: a name that is too long, a directory without permission.
    named = [
        (name, None) if isinstance(name, HeldRows) else split_forced(name, exists=os.path.exists(name))  # noqa: PTH110
        for name in inputs
    ]
    if sum(path == STDIN for path, _ in named) > 1:
        msg = "standard input can be read only once"
        raise UsageProblem(msg)
    found = [
        InputFile(file, forced) for path, forced in named for file in _files(path, every=forced is not None)
    ]
    _refuse_twice(found)
    return found


def shown_path(path: str) -> str:
    """Return an input's name in messages."""
    return "standard input" if path == STDIN else path


@contextmanager
def read_errors(path: str) -> Iterator[None]:
    """Turn what the system says of an input into one line that names it."""
    try:
        yield
    except FileNotFoundError:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg) from None
    except OSError as error:
        msg = f"{error.filename or shown_path(path)} cannot be read: {(error.strerror or str(error)).lower()}"
        raise InputProblem(msg) from error
    except ValueError as error:
        # A name that no file can have, such as one with a NUL byte.
        msg = f"{path} cannot be read: {error}"
        raise InputProblem(msg) from error


def _refuse_twice(files: Sequence[InputFile]) -> None:
    """Refuse one file under two names: its rows would count twice, and a gate take them for new ones."""
    seen: dict[tuple[int, int] | str, str] = {}
    for file in files:
        identity = _identity(file.path)
        if identity is not None and identity in seen:
            shown, earlier = shown_path(file.path), shown_path(seen[identity])
            msg = f"{shown} is named twice" if shown == earlier else f"{shown} is the same file as {earlier}"
            raise UsageProblem(msg, "name it once: every row counts once")
        if identity is not None:
            seen[identity] = file.path


def _identity(path: str) -> tuple[int, int] | str | None:
    """Return what two names of one file share, or None where there is no telling."""
    if is_object(path):
        return path
    try:
        found = os.fstat(sys.stdin.fileno()) if path == STDIN else os.stat(path)  # noqa: PTH116 - one call
    except (AttributeError, OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _files(path: str, *, every: bool) -> list[str]:
    """
    Return the file itself, or the files of a directory and of the directories in it.

    Args:
        path: The file or the directory.

        every: Whether to take files of any name from a directory, or only those that promise data.
    """
    if path == STDIN or isinstance(path, HeldRows):
        return [path]
    if is_pattern(path):
        below = [file for one in matching(path) for file in _files(one, every=every)]
        return list(dict.fromkeys(below))
    if is_object(path):
        return _objects(path, every=every)
    with read_errors(path):
        mode = os.stat(path).st_mode  # noqa: PTH116 - one call
        found = _files_below(path, every=every) if stat.S_ISDIR(mode) else [path]
    if stat.S_ISSOCK(mode):
        msg = f"{path} cannot be read: it is a socket"
        raise InputProblem(msg, "name a file, or a pipe")
    if not found:
        raise _no_data(path)
    return found


def _objects(address: str, *, every: bool) -> list[str]:
    """Return the object itself, or the objects below an address, as `_files` does."""
    below = objects_below(address)
    if below is None:
        return [address]
    found = [one for one in below if every or format_of(one.partition("?")[0]) is not None]
    if not found:
        raise _no_data(address)
    return found


def _no_data(path: str) -> InputProblem:
    return InputProblem(
        f"{path}: the directory holds no data files",
        f"taken are {_TAKEN}; {path}:csv takes other names as CSV",
    )


def _files_below(folder: str, *, every: bool) -> list[str]:
    """Return the files in a directory; one below it that cannot be listed is an error, not left out."""

    def refuse(error: OSError) -> None:
        raise error

    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(_SKIPPED)]
        found += [
            Path(place, name)
            for name in names
            if not name.startswith(_SKIPPED) and (every or format_of(name) is not None)
        ]
    return [str(file) for file in sorted(found) if file.is_file()]
