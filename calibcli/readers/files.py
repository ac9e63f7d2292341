"""Which files the inputs are, as the user named them: found before anything is opened."""

import os
import shlex
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from calibcli.errors import CalibcliError, InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.objects import FileStamp, ObjectStamp, file_stamp, is_object, object_name, object_version
from calibcli.readers.formats import split_forced
from calibcli.readers.globs import (
    Identity,
    Names,
    Reason,
    fixed_part,
    identity_of,
    is_pattern,
    matching,
    mode_of,
    names_of_objects,
    walked,
)
from calibcli.readers.in_memory import HeldRows
from calibcli.readers.pipes import STDIN
from calibcli.redaction import without_secrets
from calibcli.suffixes import format_of

Stamp = FileStamp | ObjectStamp
# Files of fewer bytes may be equal by chance.
_SHORT = 1 << 10
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


@dataclass(frozen=True, slots=True)
class Found:
    """
    The files that inputs stand for, and the names beside them that are not read.

    Args:
        inputs: As the user named them.

        files: The files, in order.

        passed: Names that were passed over, each with the reason.

        listed: The directories and patterns among the inputs.
    """

    inputs: tuple[str, ...]
    files: tuple[InputFile, ...]
    passed: tuple[tuple[str, Reason], ...] = ()
    listed: tuple[str, ...] = ()

    def notes(self, *, made: Sequence[str] = ()) -> tuple[str, ...]:
        """
        Return what reports say once all files are read: of directories and patterns, and of copies.

        A file that appeared since is not read, and that is said: a moment earlier it was not there either.

        Args:
            made: Outputs of the command, which may appear among its inputs.
        """
        listed = (self._counted(), *self._appeared(made)) if self.listed else ()
        return (*listed, *self._copied())

    def _counted(self) -> str:
        read = f"{_some(self.listed)}: {_count(len(self.files), 'file')} read"
        if not self.passed:
            return f"{read}, no name passed over"
        by_reason = [(why, [name for name, of in self.passed if of is why]) for why in Reason]
        why = "; ".join(f"{len(names):,} {why.value} ({_some(names)})" for why, names in by_reason if names)
        return f"{read}, {_count(len(self.passed), 'name')} passed over: {why}"

    def _appeared(self, made: Sequence[str]) -> tuple[str, ...]:
        try:
            now = found_in(self.inputs)
        except CalibcliError as problem:
            return (f"since the files were listed: {problem.message}",)
        known = {file.path for file in self.files}
        new = [file.path for file in now.files if file.path not in known]
        if new and made:
            ours = {_identity(path) for path in made}
            new = [path for path in new if _identity(path) not in ours]
        return (f"{_count(len(new), 'file')} appeared meanwhile and not read: {_some(new)}",) if new else ()

    def _copied(self) -> tuple[str, ...]:
        """Say which files hold the same bytes as one before them, though they are not the same file."""
        by_size: dict[int, list[str]] = {}
        for path in (file.path for file in self.files):
            size = _size_of(path) if len(self.files) > 1 else 0
            if size >= _SHORT:
                by_size.setdefault(size, []).append(path)
        # Files that end alike are rare enough to be read once more.
        alike: dict[tuple[int, bytes], list[str]] = {}
        for size, paths in by_size.items():
            for path in paths if len(paths) > 1 else ():
                alike.setdefault((size, _end_of(path)), []).append(path)
        pairs = []
        for paths in alike.values():
            first_of: dict[bytes, str] = {}
            for path in paths if len(paths) > 1 else ():
                first = first_of.setdefault(_digest_of(path), path)
                if first is not path:
                    pairs.append(f"{path} as {first}")
        if not pairs:
            return ()
        what = "1 file holds" if len(pairs) == 1 else f"{len(pairs):,} files hold"
        return (f"{what} the same bytes as another, so that rows are read twice: {_some(pairs)}",)


def _size_of(path: str) -> int:
    """Return how many bytes a file of this machine has, 0 of anything else."""
    if path == STDIN or isinstance(path, HeldRows) or is_object(path):
        return 0
    try:
        found = os.stat(path)  # noqa: PTH116 - one call
    except (OSError, ValueError):
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _digest_of(path: str) -> bytes:
    with read_errors(path), open(path, "rb") as file:  # noqa: PTH123 - as it was opened
        import hashlib

        return hashlib.file_digest(file, "sha256").digest()


def _end_of(path: str) -> bytes:
    with read_errors(path), open(path, "rb") as file:  # noqa: PTH123 - as it was opened
        file.seek(-_SHORT, os.SEEK_END)
        return file.read()


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _some(names: Sequence[str]) -> str:
    """Return names, or the first of them and how many more there are."""
    more = f" and {len(names) - 2:,} more" if len(names) > 3 else ""
    return ", ".join(names[:2] if more else names) + more


def found_in(inputs: Sequence[str]) -> Found:
    """
    Return the files that the inputs stand for, in order, and what was passed over.

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
    files: list[InputFile] = []
    passed: dict[tuple[str, Reason], None] = {}
    listed: list[str] = []
    for path, forced in named:
        names = _listed(path, every=forced is not None)
        if names is None:
            files.append(InputFile(path, forced))
            continue
        files += [InputFile(file, forced) for file in names.files]
        passed.update(dict.fromkeys(names.passed))
        listed.append(path)
    _refuse_twice(files)
    return Found(tuple(inputs), tuple(files), tuple(passed), tuple(listed))


def files_of(inputs: Sequence[str]) -> list[InputFile]:
    """Return the files that the inputs stand for, as `found_in` does."""
    return list(found_in(inputs).files)


def shown_path(path: str) -> str:
    """Return an input's name in messages."""
    return "standard input" if path == STDIN else path


def file_word(path: str) -> str:
    """Return a file's name as one word of a command line; FILE where it cannot be shown as it is."""
    if not path.isprintable() or without_secrets(path) != path:
        return "FILE"
    return shlex.quote(f"./{path}" if path.startswith("-") and path != STDIN else path)


def stamp_of(path: str) -> Stamp | None:
    """
    Return what changes with a file, an object or standard input; None where nothing tells, as with pipes.

    Raises:
        InputProblem: If an object is not there, or its store cannot be asked.
    """
    if is_object(path):
        return object_version(path)
    if isinstance(path, HeldRows):
        return None
    try:
        file = sys.stdin.fileno() if path == STDIN else path
        return file_stamp(file) if stat.S_ISREG(os.stat(file).st_mode) else None  # noqa: PTH116 - also a number
    except (AttributeError, OSError, ValueError):
        return None


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
    seen: dict[Identity, str] = {}
    for file in files:
        identity = _identity(file.path)
        if identity is not None and identity in seen:
            shown, earlier = shown_path(file.path), shown_path(seen[identity])
            msg = f"{shown} is named twice" if shown == earlier else f"{shown} is the same file as {earlier}"
            raise UsageProblem(msg, "name it once: every row counts once")
        if identity is not None:
            seen[identity] = file.path


def _identity(path: str) -> Identity | None:
    """Return what two names of one file share, or None where there is no telling."""
    if is_object(path):
        return object_name(path)
    try:
        if path != STDIN:
            return identity_of(path)
        found = os.fstat(sys.stdin.fileno())
    except (AttributeError, OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _listed(path: str, *, every: bool) -> Names | None:
    """
    Return the files of a directory, or of what matches a pattern; None for one file.

    Args:
        path: The file, the directory or the pattern.

        every: Whether to take files of any name from a directory, or only those that promise data.
    """
    if path == STDIN or isinstance(path, HeldRows):
        return None
    matched, below = Names(), Names()
    with read_errors(path):
        if is_pattern(path):
            matched = matching(path)
            below = walked(matched.folders, above=fixed_part(path) or ".") if matched.folders else below
        elif is_object(path):
            objects = names_of_objects(path)
            if objects is None:
                return None
            below = objects
        elif stat.S_ISDIR(mode := mode_of(path)):
            below = walked([path], above=f"{os.path.realpath(path)}/..")
        else:
            _refuse_socket(path, mode)
            return None
        promising = [one for one in below.files if every or format_of(one.partition("?")[0]) is not None]
        files = [*dict.fromkeys((*matched.files, *promising))]
        taken = set(files)
        other = [(one, Reason.OTHER) for one in below.files if one not in taken]
        if not is_object(path):
            files.sort(key=lambda one: one.split("/"))
            for one in files:
                _refuse_special(one)
    if not files:
        raise _no_data(path)
    return Names(files, [], [*matched.passed, *below.passed, *other])


def _refuse_socket(path: str, mode: int) -> None:
    if stat.S_ISSOCK(mode):
        msg = f"{path} cannot be read: it is a socket"
        raise InputProblem(msg, "name a file, or a pipe")


def _refuse_special(path: str) -> None:
    """Refuse what was found, not named, and is no file: nobody may ever write to a pipe."""
    mode = mode_of(path)
    _refuse_socket(path, mode)
    if not stat.S_ISREG(mode):
        what = "a named pipe" if stat.S_ISFIFO(mode) else "a device"
        msg = f"{path} is {what}, and not a file"
        raise InputProblem(msg, "name it by itself if it is to be read, or take it out of the directory")


def _no_data(path: str) -> InputProblem:
    return InputProblem(
        f"{path}: the directory holds no data files",
        f"taken are {_TAKEN}; {path}:csv takes other names as CSV",
    )
