"""Which files the inputs are, as the user named them: found before anything is opened."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.readers.formats import split_forced
from calibcli.readers.pipes import STDIN

_SKIPPED = ("_", ".")


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
        inputs: Files; directories, whose files are taken in the order of their names, without those that
            start with "_" or "."; "-" for standard input; `path:fmt` to force a format.

    Raises:
        InputProblem: If there is no such file, or it cannot be looked at.

        UsageProblem: If standard input is named twice.
    """
    # Path.exists raises where this says no: a name that is too long, a directory without permission.
    named = [split_forced(name, exists=os.path.exists(name)) for name in inputs]  # noqa: PTH110
    if sum(path == STDIN for path, _ in named) > 1:
        msg = "standard input can be read only once"
        raise UsageProblem(msg)
    return [InputFile(file, forced) for path, forced in named for file in _files(path)]


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


def _files(path: str) -> list[str]:
    """Return the file itself, or the files of a directory and of the directories in it."""
    if path == STDIN:
        return [path]
    with read_errors(path):
        mode = os.stat(path).st_mode  # noqa: PTH116 - one call
        found = _files_below(path) if stat.S_ISDIR(mode) else [path]
    if stat.S_ISSOCK(mode):
        msg = f"{path} cannot be read: it is a socket"
        raise InputProblem(msg, "name a file, or a pipe")
    if not found:
        msg = f"{path}: the directory holds no files"
        raise InputProblem(msg, 'files whose names start with "_" or "." are skipped')
    return found


def _files_below(folder: str) -> list[str]:
    """Return the files in a directory; one below it that cannot be listed is an error, not left out."""

    def refuse(error: OSError) -> None:
        raise error

    found: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(_SKIPPED)]
        found += [Path(place, name) for name in names if not name.startswith(_SKIPPED)]
    return [str(file) for file in sorted(found) if file.is_file()]
