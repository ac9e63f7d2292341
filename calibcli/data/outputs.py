"""Outputs appear whole or not at all, and nothing is overwritten unasked.

A file is written beside its target, flushed to the disk and put in place in one step, which replaces what was
there when the output was checked and nothing else. It keeps the mode, owner, group and access list of what it
replaces, as far as the system lets it. Pipes, devices and standard output are written as they come. Whatever
goes wrong is one line that names the path (exit code 5); a reader that closed the pipe stays a
BrokenPipeError.
"""

import errno
import io
import os
import signal
import stat
import sys
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn, TextIO, cast

from calibcli.data import objects
from calibcli.errors import OutputProblem
from calibcli.names import STDOUT
from calibcli.options.rows import DocumentSource, RowSource
from calibcli.values import dataclass

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def bytes_from(stream: TextIO) -> BinaryIO:
    """Return the bytes of a stream; one of text alone is read to its end."""
    below = getattr(stream, "buffer", None)
    if below is not None:
        return cast("BinaryIO", below)
    return io.BytesIO(stream.read().encode())


def bytes_to(stream: TextIO) -> BinaryIO:
    """Return where bytes can be written; a stream of text alone gets UTF-8 as text."""
    below = getattr(stream, "buffer", None)
    return cast("BinaryIO", below if below is not None else _TextAlone(stream))


def is_terminal(stream: TextIO) -> bool:
    requested = getattr(stream, "isatty", None)
    return requested is not None and bool(requested())


def encoding_of(stream: TextIO) -> str:
    """Return the encoding of what `bytes_to` gives."""
    below = getattr(stream, "buffer", None)
    return "utf-8" if below is None else stream.encoding or "utf-8"


class _TextAlone(io.RawIOBase):
    """Bytes that become text."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._decoder = getincrementaldecoder("utf-8")()

    def writable(self) -> bool:
        return True

    def write(self, chunk: "ReadableBuffer", /) -> int:
        try:
            self._stream.write(self._decoder.decode(bytes(chunk)))
        except UnicodeDecodeError as error:
            msg = "standard output accepts only text here, and this output is not text"
            raise OutputProblem(msg, "name a file") from error
        return memoryview(chunk).nbytes

    def flush(self) -> None:
        self._stream.flush()


# Not a path: where summaries go, for those who ask how text may look there.
STDERR = "stderr"
_BUFFER = 1 << 20
# Names of files that are open already: renaming another file onto them would miss the point.
_OPEN_FILES = ("/dev/std", "/dev/fd/", "/proc/")
_ACCESS_LIST = "system.posix_acl_access"
# What a file system says that has no hard links.
_NO_LINKS = (
    errno.EPERM,
    errno.EACCES,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.EMLINK,
    errno.EINVAL,
)


class Completion:
    """Whether a command has put in place what it was to write: from then on a signal comes too late.

    What remains after the first output, such as further reports and what is said of it, takes an instant, and
    the exit code is that of the command. Should that instant not end, as before a reader that does not read,
    signals are heard again after two seconds.
    """

    _QUIET = 2.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.expect(1)

    def expect(self, outputs: int) -> None:
        """Begin, with so many outputs to put in place."""
        self._left = outputs
        self._quiet_since = None if outputs else time.monotonic()
        self._over = False
        self.stopped_by: int | None = None

    @contextmanager
    def putting(self) -> Iterator[None]:
        """Put an output in place: a signal meanwhile comes too late, unless it cannot be put there."""
        if self.stopped_by is not None:
            # What it raised was lost on the way, as in a destructor, where Python goes on.
            self._quiet_since = None
            signal.raise_signal(self.stopped_by)
        self._count(-1)
        try:
            yield
        except BaseException:
            self._count(1)
            raise
        if self._left <= 0:
            self._quiet_since = time.monotonic()

    def end(self) -> None:
        """Let nothing stop what comes now."""
        self._over = True

    def hears(self, number: int) -> bool:
        """Whether a signal is to stop the command; the next one does not stop what is tidied up then."""
        now = time.monotonic()
        quiet = self._left <= 0 if self._quiet_since is None else now - self._quiet_since < self._QUIET
        if self._over or quiet:
            return False
        self._quiet_since, self.stopped_by = now, number
        return True

    def _count(self, outputs: int) -> None:
        with self._lock:
            self._left += outputs


COMPLETION = Completion()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a name stood for when an output was checked: the place behind all links, and what was there."""

    place: str
    stamp: objects.FileStamp | objects.ObjectStamp | None


# What a command reads beside its rows, such as phrases and keys: nothing is written over it either.
READ_BESIDE: ContextVar[tuple[str, ...]] = ContextVar("read_beside", default=())

# By the names of outputs that were checked and are not written yet.
_checked: dict[str, _Seen] = {}


def place_of(path: str) -> str:
    """Return what all names of one output share, whether or not it is there yet."""
    if objects.is_object(path):
        return objects.object_name(path)
    with suppress(ValueError):  # a name that no file can have, which is said where it is opened
        return path if path == STDOUT else os.path.realpath(path)
    return path


def check_output(
    output: str, *, force: bool, inputs: Sequence[RowSource], documents: Iterable[DocumentSource | None] = ()
) -> None:
    """Refuse what `refuse_existing` does, where the inputs may be directories and patterns."""
    if output != STDOUT:
        from calibcli.data.files import found_in

        read = [str(one) for one in documents if one is not None]
        refuse_existing(output, force=force, inputs=[*(one.path for one in found_in(inputs).files), *read])


def refuse_existing(path: str | Path, *, force: bool, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse an output that cannot or must not be written, before any input is read.

    What is there now is what `new_file` may replace later: nothing that appears or changes in between.
    """
    name = str(path)
    if name == STDOUT:
        return
    if not name:
        msg = "the name of the output is empty"
        raise OutputProblem(msg, "name a file, or - for standard output")
    if objects.is_object(name):
        if place_of(name) in {place_of(str(other)) for other in inputs}:
            raise _is_input(name)
        _checked[name] = _Seen(name, objects.refuse_existing_object(name, force=force))
        return
    if any(_same_file(name, str(other)) for other in (*inputs, *READ_BESIDE.get())):
        raise _is_input(name)
    mode = _mode(name)
    if name.endswith("/") or (mode is not None and stat.S_ISDIR(mode)):
        msg = f"{name} is {'the name of ' * (mode is None)}a directory"
        raise OutputProblem(msg, "name a file in it")
    if mode is not None and stat.S_ISSOCK(mode):
        msg = f"{name} cannot be written: it is a socket"
        raise OutputProblem(msg, "name a file, or a pipe")
    if _written_directly(name):
        return
    if mode is not None and not force:
        msg = f"{name} exists already"
        raise OutputProblem(msg, "pass --force to replace it")
    seen = _look(name)
    _refuse_place(name, mode, Path(seen.place))
    _checked[name] = seen if mode is not None else _Seen(seen.place, None)


def _refuse_place(name: str, mode: int | None, place: Path) -> None:
    """Refuse what the system would not let us put in place, or would let root alone."""
    if mode is not None and not mode & 0o222:
        # For root, whom the system lets write it all the same, too.
        msg = f"{name} is read-only, and stays as it is"
        raise OutputProblem(msg, "make it writable (chmod u+w), or name another output")
    if mode is not None and not os.access(name, os.W_OK):
        msg = f"{name} cannot be written: no permission"
        raise OutputProblem(msg, "name another output")
    folder = place.parent
    if not folder.is_dir():
        msg = f"{name} cannot be written: there is no directory {folder}"
        raise OutputProblem(msg, "create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        msg = f"{name} cannot be written: no permission in {folder}"
        raise OutputProblem(msg)
    if mode is not None and _kept_for_others(place):
        msg = f"{name} cannot be written: in {folder} only its owner may replace it"
        raise OutputProblem(msg, "name another output")


def _kept_for_others(file: Path) -> bool:
    """Whether a file of another user stands in a folder such as /tmp, where its owner alone replaces it."""
    around = file.parent.stat()
    return bool(around.st_mode & stat.S_ISVTX) and os.geteuid() not in (0, around.st_uid, file.stat().st_uid)


def _look(name: str) -> _Seen:
    try:
        place = os.path.realpath(name)
        try:
            return _Seen(place, objects.file_stamp(place))
        except (FileNotFoundError, NotADirectoryError):
            return _Seen(place, None)
    except (OSError, ValueError) as error:
        _not_writable(name, error)


def _is_input(name: str) -> OutputProblem:
    return OutputProblem(
        f"{name} is also an input", "choose another output: calibcli never overwrites its input"
    )


@contextmanager
def new_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open an output that takes its name only once the block has ended well.

    On any error, Ctrl-C included, the unfinished file is removed and whatever stood at the path stays.
    """
    name = str(path)
    if name == STDOUT:
        with _standard_output() as out:
            yield out
    elif objects.is_object(name):
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
    """Add to the end of a file that others add to as well, in one write; it is made if it is not there."""
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
    import tempfile

    seen = _checked.pop(name, None)
    try:
        descriptor, beside = tempfile.mkstemp(prefix="calibcli-")
    except OSError as error:
        _not_writable(f"the temporary copy of {name}", error)
    os.close(descriptor)
    try:
        with _writer(beside, name, os.O_WRONLY) as out:
            yield out
        # A store cannot be told to replace nothing else: this is looked at just before.
        if seen is not None and objects.refuse_existing_object(name, force=True) != seen.stamp:
            raise _unseen(name, there=seen.stamp is None)
        with COMPLETION.putting():
            objects.upload(beside, name)
    finally:
        with suppress(OSError):
            Path(beside).unlink()


def beginning_of(name: str) -> str:
    """Return a name, of a long one as many letters as leave room for more: systems count its bytes."""
    return name.encode(errors="surrogateescape")[:100].decode(errors="ignore")


@contextmanager
def _renamed_at_the_end(name: str) -> Iterator[BinaryIO]:
    seen = _checked.pop(name, None) or _look(name)
    target = Path(seen.place)
    beside = target.with_name(f".{beginning_of(target.name)}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        # Until it has the rights of what it replaces, nobody else sees more of it than of that.
        mode = 0o666 if seen.stamp is None else 0o600
        with _writer(str(beside), name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode=mode) as out:
            yield out
            out.flush()
            try:
                if seen.stamp is not None:
                    _keep_rights(out.fileno(), target)
                os.fsync(out.fileno())
            except OSError as error:
                _not_writable(name, error)
        with COMPLETION.putting():
            _put_in_place(beside, seen, name)
    finally:
        with suppress(OSError):
            beside.unlink()


def _put_in_place(beside: Path, seen: _Seen, name: str) -> None:
    """Give a file its name, in one step; what stood there is replaced if it is what was seen there."""
    now = _look(name)
    try:
        if now.stamp is None and now.place == seen.place:
            _link(beside, seen.place)
        elif now == seen:
            beside.replace(seen.place)
        else:
            raise _unseen(name, there=seen.stamp is None)
    except FileExistsError:
        raise _unseen(name, there=True) from None
    except OSError as error:
        _not_writable(name, error)


def _link(beside: Path, place: str) -> None:
    """Give a file a name that nothing has; unlike a rename, this replaces nothing."""
    try:
        os.link(beside, place)
    except FileExistsError:
        # A network file system may ask twice, and be told no the second time.
        if not _same_file(str(beside), place):
            raise
        return
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        return
    # Without hard links the name is taken by an empty file for an instant.
    os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        beside.replace(place)
    except BaseException:
        with suppress(OSError):
            os.unlink(place)  # noqa: PTH108 - as it was made
        raise


def _unseen(name: str, *, there: bool) -> OutputProblem:
    if there:
        return OutputProblem(
            f"{name} appeared while this ran, and was not replaced",
            "look at what is there now, and run this again, with --force to replace it",
        )
    msg = f"{name} was changed while this ran, and was not replaced"
    return OutputProblem(msg, "look at what is there now, and run this again")


def _keep_rights(descriptor: int, replaced: Path) -> None:
    """Give a file the owner, group, mode and access list of what it is to replace.

    Only root may give files away, and others to groups of their own: where the group is another one then, it
    gets no more rights than everybody else.
    """
    if not hasattr(os, "fchown"):
        return
    try:
        old = replaced.stat()
    except FileNotFoundError:
        return
    mode = old.st_mode & 0o777
    for_all = mode & (0o707 | (mode & 0o007) << 3)
    new = os.fstat(descriptor)
    try:
        if new.st_gid != old.st_gid:
            os.fchown(descriptor, -1, old.st_gid)
    except OSError:
        mode = for_all
    with suppress(OSError):
        if new.st_uid != old.st_uid:
            os.fchown(descriptor, old.st_uid, -1)
    found = None
    with suppress(AttributeError, OSError):
        # Who else has rights to it, where the system says.
        found = os.getxattr(replaced, _ACCESS_LIST)
    if found is not None:
        try:
            os.setxattr(descriptor, _ACCESS_LIST, found)
        except OSError:
            # With a list, the rights of the group are the most that anybody on it has.
            mode = for_all
    with suppress(OSError):
        os.fchmod(descriptor, mode)


@contextmanager
def _writer(where: str, name: str, flags: int, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a path for buffered writing; errors speak of `name`. On failure nothing more is flushed."""
    try:
        # Not a private temporary file: the permissions are what the user's umask gives any new file.
        raw = _Target(os.open(where, flags | getattr(os, "O_CLOEXEC", 0), mode), name)
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
    with COMPLETION.putting():
        return


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

    def close(self) -> None:
        """Close; what the system only says now, as network file systems do, is an error of the output too."""
        try:
            super().close()
        except OSError as error:
            if not self._abandoned:
                _not_writable(self._target_name, error)

    def abandon(self) -> None:
        """Close now; what a buffer still holds is thrown away when it is flushed later."""
        self._abandoned = True
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
