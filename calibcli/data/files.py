"""Which files the inputs are: directories, patterns, addresses, pipes, memory; before any is opened."""

import difflib
import glob
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from calibcli.data.formats import compression_of, format_of, names_taken, split_forced
from calibcli.data.objects import (
    FileStamp,
    ObjectStamp,
    file_stamp,
    is_object,
    object_name,
    object_version,
    objects_below,
    parted,
)
from calibcli.data.pipes import STDIN
from calibcli.errors import CalibcliError, InputProblem, UsageProblem, without_secrets
from calibcli.names import DataFormat
from calibcli.options.numerals import plural
from calibcli.options.rows import RowsInMemory, RowSource
from calibcli.values import dataclass, field

if TYPE_CHECKING:
    import pyarrow as pa

# Device and number, or the path where files have no numbers.
Identity = tuple[int, int] | str

_SKIPPED = ("_", ".")

# In an address a question mark begins its options.
_LOCAL, _REMOTE = re.compile(r"[*?\[]"), re.compile(r"[*\[]")

_WORDS = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)

_BRING_BACK = (
    "fetch the file that it points to (git annex get, dvc pull), remove the link, or name the files to read"
)


class Reason(StrEnum):
    """Why a name that was found is not read, as reports say it."""

    HIDDEN = "starting with _ or ."
    OTHER = "without the ending of a data file"
    AGAIN = "leading back to a directory above or already read"


@dataclass(slots=True)
class Names:
    """What lies below directories or matches a pattern; what is passed over comes with the reason."""

    files: list[str] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    passed: list[tuple[str, Reason]] = field(default_factory=list)


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern, and no file is called so."""
    if is_object(name):
        return _REMOTE.search(parted(name)[0]) is not None
    return _LOCAL.search(name) is not None and not os.path.lexists(name)


def fixed_part(pattern: str) -> str:
    """Return the directory that all that match a pattern lie below, without a slash at its end."""
    search = (_REMOTE if is_object(pattern) else _LOCAL).search(pattern)
    return pattern if search is None else pattern[: search.start()].rpartition("/")[0]


def mode_of(path: str) -> int:
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - one call
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.islink(path):  # noqa: PTH114 - a name that is too long is an OSError above
            raise
        msg = f"{path} is a link to {os.readlink(path)}, which is not there"  # noqa: PTH115 - as it is written
        raise InputProblem(msg, _BRING_BACK) from None


def identity_of(path: str) -> Identity:
    """Return what all names of one file or directory share."""
    found = os.stat(path)  # noqa: PTH116 - one call
    # Some file systems do not number their files.
    return (found.st_dev, found.st_ino) if found.st_ino else os.path.normcase(os.path.realpath(path))


def walked(roots: Sequence[str], *, above: str, fits: Callable[[str], bool] | None = None) -> Names:
    """Return what lies below directories: each real one once, by a name without links where it has one.

    Links to directories are followed, but for those that lead back to one above.
    """
    found = Names()
    real = os.path.realpath(above)
    seen = {identity_of(str(one)) for one in (real, *Path(real).parents)}
    # Names without what stands for nothing, such as `./` and a slash at the end.
    roots = [str(Path(root)) for root in roots]
    links = [root for root in roots if os.path.islink(root)]  # noqa: PTH114 - any name
    pending = [root for root in roots if root not in links]
    seen -= {identity_of(root) for root in pending}
    by_name: set[str] = set()
    while pending or links:
        if not pending:
            links.sort(reverse=True)
            pending.append(links.pop())
        folder = pending.pop()
        start = "" if folder == "." else folder.rstrip("/") + "/"
        identity = identity_of(folder)
        if identity in seen:
            if folder not in by_name:
                found.passed.append((folder, Reason.AGAIN))
            continue
        seen.add(identity)
        by_name.add(folder)
        found.folders.append(folder)
        with os.scandir(folder) as entries:
            for entry in entries:
                path = start + entry.name
                if entry.name.startswith(_SKIPPED):
                    if fits is None or entry.is_dir(follow_symlinks=False) or fits(path):
                        found.passed.append((path, Reason.HIDDEN))
                elif not entry.is_symlink():
                    (pending if entry.is_dir() else found.files).append(path)
                else:
                    (links if stat.S_ISDIR(mode_of(path)) else found.files).append(path)
    return found


def matching(pattern: str) -> Names:
    """The files and directories that match, sorted; those that start with "_" or "." do not."""
    found = _objects(pattern) if is_object(pattern) else _local(pattern)
    if not found.files and not found.folders:
        hidden = [name for name, reason in found.passed if reason is Reason.HIDDEN]
        if hidden:
            msg = f"{pattern}: all that match start with _ or ., such as {hidden[0]}"
            raise InputProblem(
                msg, "such names are skipped: write the _ or . in the pattern, or name the files"
            )
        msg = f"{pattern}: there is no such file, and none matches"
        raise InputProblem(msg, "** stands for any directories, * for any part of a name")
    found.files.sort()
    found.folders.sort()
    return found


def names_of_objects(address: str) -> Names | None:
    """Return the objects below an address; None where it is an object itself."""
    below = objects_below(address)
    if below is None:
        return None
    found = Names()
    start = len(parted(address)[0].rstrip("/")) + 1
    for one in below:
        parts = parted(one)[0][start:].split("/")
        hidden = next((place for place, part in enumerate(parts) if part.startswith(_SKIPPED)), None)
        if hidden is None:
            found.files.append(one)
        else:
            found.passed.append((one[:start] + "/".join(parts[: hidden + 1]), Reason.HIDDEN))
    found.passed = list(dict.fromkeys(found.passed))
    return found


def _local(pattern: str) -> Names:
    parts = pattern.split("/")
    if "**" in parts:
        place = parts.index("**")
        return _anywhere("/".join(parts[:place]) or "/" * bool(place), "/".join(parts[place:]))
    found = _sorted_out(pattern)
    by_folder = _names_without_links({os.path.dirname(one) for one in found.files})  # noqa: PTH120
    again = dict.fromkeys(up for up in map(os.path.dirname, found.files) if up not in by_folder)
    found.passed += [(up, Reason.AGAIN) for up in again]
    found.files = [one for one in found.files if os.path.dirname(one) in by_folder]  # noqa: PTH120
    return found


def _sorted_out(pattern: str) -> Names:
    """Return what matches a pattern without `**`; what it says itself, as in `_*.csv`, is not hidden."""
    found = Names()
    start = len(Path(fixed_part(pattern)).parts)
    words = PurePath(pattern).parts
    matches = (str(Path(one)) for one in glob.glob(pattern, include_hidden=True))  # noqa: PTH207
    for name in dict.fromkeys(matches):
        parts = zip(PurePath(name).parts, words, strict=False)
        if any(part.startswith(_SKIPPED) and word[0] != part[0] for part, word in list(parts)[start:]):
            found.passed.append((name, Reason.HIDDEN))
        else:
            (found.folders if stat.S_ISDIR(mode_of(name)) else found.files).append(name)
    return found


def _names_without_links(folders: Iterable[str]) -> set[str]:
    """Return one name of each real directory, that without links where there is one."""
    resolved: dict[Identity, str] = {}
    for folder in sorted(folders):
        identity = identity_of(folder or ".")
        if identity not in resolved or os.path.realpath(folder) == os.path.abspath(folder):  # noqa: PTH100
            resolved[identity] = folder
    return set(resolved.values())


def _anywhere(head: str, tail: str) -> Names:
    """Return what matches `tail`, which begins with `**`, below the directories that match `head`."""
    roots = _sorted_out(head) if _LOCAL.search(head) else Names(folders=[str(Path(head))])
    expression = _expression(tail.rstrip("/"))
    # The directories themselves match nothing but `**` alone, which may be none.
    itself = set(tail.rstrip("/").split("/")) == {"**"}

    def fits(path: str) -> bool:
        places = (below for root in roots.folders if (below := _below(path, root)) is not None)
        return any(expression.fullmatch(below) and (below or itself) for below in places)

    found = Names(passed=roots.passed)
    for root in roots.folders:
        if os.path.isdir(root):  # noqa: PTH112 - any name
            below = walked([root], above=f"{os.path.realpath(root)}/..", fits=fits)
            found.files += [] if tail.endswith("/") else [one for one in below.files if fits(one)]
            found.folders += [one for one in below.folders if fits(one)]
            found.passed += below.passed
    return found


def _below(path: str, root: str) -> str | None:
    """Return how a path goes on below a directory, or None where it is not below it."""
    if path == root:
        return ""
    start = "" if root == "." else root.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else None


def _objects(pattern: str) -> Names:
    place, options = parted(pattern)
    found = names_of_objects(f"{fixed_part(place)}/{options}") or Names()
    wanted = _expression(place)
    found.files = [one for one in found.files if wanted.fullmatch(parted(one)[0])]
    return found


def _expression(pattern: str) -> re.Pattern[str]:
    """Return what matches as the shell does: `*` stays within a name, `**/` is any directories or none."""
    return re.compile("".join(map(_translated, _WORDS.findall(pattern))), re.DOTALL)


def _translated(word: str) -> str:
    match word:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if len(word) > 1:
            return _one_of(word[1:-1])
        case _:
            return re.escape(word)


def _one_of(letters: str) -> str:
    but = letters[:1] == "!"
    within = re.escape(letters[but:]).replace(r"\-", "-")
    try:
        re.compile(f"[{within}]")
    except re.error:
        # A range that ends before it begins, as z-a, holds no letter.
        return "[^/]" if but else "(?!)"
    return f"[{'^/' * but}{within}]"


ArrowColumn: TypeAlias = "pa.Array[Any] | pa.ChunkedArray[Any]"


class InMemory(StrEnum):
    """The format of rows that Python holds already: none that a file could have, or a user name."""

    ROWS = "rows"

    @property
    def is_text(self) -> bool:
        return False

    @property
    def is_csv(self) -> bool:
        return False


Stamp = FileStamp | ObjectStamp

# Files of fewer bytes may be equal by chance.
_SHORT = 1 << 10


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of the input: a path with the format that `path:fmt` forces, or rows in memory by a name."""

    path: str
    forced: DataFormat | None = None
    rows: RowsInMemory | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The files that inputs stand for, and the names beside them that are not read.

    Args:
        passed: Names that were passed over, each with the reason.
        listed: The directories and patterns among the inputs.
        unopened: The paths of files that are not opened, as no row of them is asked for.
        alike: The values in these paths that differ in capitals alone from what is asked for.
    """

    inputs: tuple[RowSource, ...]
    files: tuple[InputFile, ...]
    passed: tuple[tuple[str, Reason], ...] = ()
    listed: tuple[str, ...] = ()
    unopened: frozenset[str] = frozenset()
    alike: tuple[str, ...] = ()

    @property
    def opened(self) -> tuple[InputFile, ...]:
        return tuple(file for file in self.files if file.path not in self.unopened)

    def notes(self, *, made: Sequence[str] = ()) -> tuple[str, ...]:
        """Return what reports say once all files are read: of directories and patterns, and of copies.

        A file that appeared since is not read, and that is said: a moment earlier it was not there either.
        """
        listed = (self._counted(), *self._appeared(made)) if self.listed else ()
        return (*listed, *self._copied())

    def _counted(self) -> str:
        named = {_named(one).path for one in self.inputs} - {*self.listed}
        found = sum(file.path not in named for file in self.opened)
        read = f"{_some(self.listed)}: {plural(found, 'file')} read"
        if not self.passed:
            return read
        by_reason = [(why, [name for name, of in self.passed if of is why]) for why in Reason]
        why = "; ".join(f"{len(names):,} {why.value} ({_some(names)})" for why, names in by_reason if names)
        return f"{read}, {plural(len(self.passed), 'name')} skipped: {why}"

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
        return (f"{plural(len(new), 'file')} appeared meanwhile and not read: {_some(new)}",) if new else ()

    def _copied(self) -> tuple[str, ...]:
        """Say which files hold the same bytes as one before them, though they are not the same file."""
        by_size: dict[int, list[str]] = {}
        files = self.opened
        for path in (file.path for file in files if file.rows is None):
            size = _size_of(path) if len(files) > 1 else 0
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
        names = {parted(file.path)[0] for file in files}
        packed = [
            f"{path} beside {path[: path.rindex('.')]}"
            for path in sorted(names)
            if compression_of(path) is not None and path[: path.rindex(".")] in names
        ]
        said = []
        if pairs:
            what = plural(len(pairs), "file", "holds")
            said.append(f"{what} the same bytes as another, so that rows are read twice: {_some(pairs)}")
        if packed:
            what = plural(len(packed), "file", "seems")
            said.append(f"{what} to be another one compressed, so that rows are read twice: {_some(packed)}")
        return tuple(said)


def _size_of(path: str) -> int:
    """Return how many bytes a file of this machine has, 0 of anything else."""
    if path == STDIN or is_object(path):
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


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2:,} more" if len(names) > 3 else ""
    return ", ".join(names[:2] if more else names) + more


def found_in(inputs: Sequence[RowSource]) -> Found:
    """Return the files that the inputs stand for, in order, and what was passed over."""
    named = [_named(one) for one in inputs]
    if sum(file.path == STDIN for file in named) > 1:
        msg = "standard input can be read only once"
        raise UsageProblem(msg)
    files: list[InputFile] = []
    passed: dict[tuple[str, Reason], None] = {}
    listed: list[str] = []
    for one in named:
        names = _listed(one.path, every=one.forced is not None) if one.rows is None else None
        if names is None:
            files.append(one)
            continue
        files += [InputFile(file, one.forced) for file in names.files]
        passed.update(dict.fromkeys(names.passed))
        listed.append(one.path)
    _refuse_twice(files)
    return Found(tuple(inputs), tuple(files), tuple(passed), tuple(listed))


def _named(source: RowSource) -> InputFile:
    if isinstance(source, RowsInMemory):
        return InputFile(source.name, rows=source)
    # Path.exists raises where this says no: a name that is too long, a directory without permission.
    name = str(source)
    return InputFile(*split_forced(name, exists=os.path.exists(name)))  # noqa: PTH110


def shown_path(path: str) -> str:
    return "standard input" if path == STDIN else path


def shown_files(paths: Sequence[str]) -> str:
    """Return the name of the first of some files, and how many more there are."""
    more = f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
    return f"{shown_path(paths[0])}{more}"


def file_word(path: str) -> str:
    """Return a file's name as one word of a command line; FILE where it cannot be shown as it is."""
    if not path.isprintable() or without_secrets(path) != path:
        return "FILE"
    return shlex.quote(f"./{path}" if path.startswith("-") and path != STDIN else path)


def stamp_of(path: str) -> Stamp | None:
    """What changes with a file, an object or standard input; None where nothing tells, as with pipes."""
    if is_object(path):
        return object_version(path)
    try:
        file = sys.stdin.fileno() if path == STDIN else path
        return file_stamp(file) if stat.S_ISREG(os.stat(file).st_mode) else None  # noqa: PTH116 - also a number
    except (AttributeError, OSError, ValueError):
        return None


def _like_it(path: str) -> str | None:
    """Return the names in the same folder that are closest to one that is not there."""
    if "://" in path:
        return "addresses other than s3://, gs:// and abfs:// are not read: download it first, or pipe it in"
    lost = Path(path)
    try:
        # Hidden ones are none that anybody types, such as the lock beside a state.
        hidden = lost.name.startswith(".")
        names = [one.name for one in lost.parent.iterdir() if hidden or not one.name.startswith(".")]
    except (OSError, ValueError):
        return f"there is no folder {lost.parent} either"
    near = difflib.get_close_matches(lost.name, names, n=3, cutoff=0.7)
    if near:
        return f"did you mean {' or '.join(str(lost.with_name(one)) for one in near)}?"
    # As in `--by country device` or `--threshold 0.1 0.2`: a name of a file has an ending.
    further = lost.name == path and not re.search(r"\.[^\W\d]", path)
    return (
        "if it belongs to an option, repeat the option, or put commas between its values" if further else None
    )


@contextmanager
def read_errors(path: str) -> Iterator[None]:
    """Turn what the system says of an input into one line that names it."""
    try:
        yield
    except FileNotFoundError:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg, _like_it(path)) from None
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
        identity = _identity(file.path) if file.rows is None else None
        if identity is not None and identity in seen:
            shown, earlier = shown_path(file.path), shown_path(seen[identity])
            msg = f"{shown} is named twice" if shown == earlier else f"{shown} is the same file as {earlier}"
            raise UsageProblem(msg, "name it once: every row counts once")
        if identity is not None:
            seen[identity] = file.path


def same_file(one: str, other: str) -> bool:
    found = _identity(one)
    return one == other or (found is not None and found == _identity(other))


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


def is_read_once(path: str) -> bool:
    """Whether a path that is there leads to a stream: standard input, or another pipe or device."""
    return path == STDIN or not (is_object(path) or Path(path).is_file())


def stream_in(inputs: Sequence[RowSource]) -> str | None:
    """Return the first input that can be read once alone, or None."""
    files = (file.path for file in found_in(inputs).files if file.rows is None)
    return next(filter(is_read_once, files), None)


def refuse_read_once(inputs: Sequence[RowSource], why: str) -> None:
    """Refuse streams where rows are read more often, and say why they would be."""
    stream = stream_in(inputs)
    if stream is not None:
        msg = f"{shown_path(stream)} can be read once, and {why}"
        raise UsageProblem(msg, "write the rows to a file first")


def _listed(path: str, *, every: bool) -> Names | None:
    """Return the files of a directory, or of what matches a pattern; None for one file."""
    if path == STDIN:
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
        promising = [one for one in below.files if every or format_of(one) is not None]
        files = [*dict.fromkeys((*matched.files, *promising))]
        taken = set(files)
        other = [(one, Reason.OTHER) for one in below.files if one not in taken]
        if not is_object(path):
            files.sort(key=lambda one: one.split("/"))
            for one in files:
                _refuse_special(one)
    if not files:
        msg = f"{path}: the directory holds no data files"
        forced = f"write {path}:csv to read files of any name as CSV"
        raise InputProblem(msg, f"files are found by {names_taken()}; {forced}")
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
        raise InputProblem(msg, "to read it name it on the command line; else take it out of the directory")
