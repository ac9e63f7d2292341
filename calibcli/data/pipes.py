"""Standard input and other pipes: looked at before they are read, read once, or kept in a temporary file."""

import errno
import io
import os
import select
import shutil
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import BinaryIO, cast

from calibcli.data.records import LONGEST_HEADER, first_record
from calibcli.errors import OutputProblem

STDIN = "-"
# ENOENT is what tempfile says where no folder can be written.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOENT)
_HEAD = 1 << 16
_BLOCK = 1 << 20


class Pipe:
    """A stream that can be looked at first; where `owned`, closed at its end or with this object."""

    def __init__(self, stream: BinaryIO, *, owned: bool = False) -> None:
        self._stream = stream
        self._owned = owned
        if owned:
            weakref.finalize(self, stream.close)
        self._head = b""
        self._spool: str | None = None

    def is_of(self, stream: BinaryIO) -> bool:
        return self._stream is stream

    def head(self, size: int) -> bytes:
        """Return up to `size` bytes from the beginning; fewer only at the end of the stream."""
        if self._spool is not None:
            with open(self._spool, "rb") as file:  # noqa: PTH123 - as it was opened
                return file.read(size)
        while len(self._head) < size:
            more = self._take(size - len(self._head))
            if not more:
                break
            self._head += more
        return self._head[:size]

    def first_record(self, delimiter: str) -> bytes:
        """Return the beginning, long enough for the first line of CSV, and wait for nothing after it."""
        self._head = first_record(self._head, self._take, delimiter)
        return self._head

    def first_lines(self) -> bytes:
        """Return whole lines from the beginning, at least one that is not blank, and wait for no more."""
        while True:
            end = self._head.rfind(b"\n") + 1
            if self._head[:end].strip():
                return self._head[:end]
            more = self._take(max(_HEAD, len(self._head))) if len(self._head) < LONGEST_HEADER else b""
            if not more:
                return self._head
            self._head += more

    @property
    def is_spooled(self) -> bool:
        """Whether everything is in a temporary file."""
        return self._spool is not None

    def spooled(self) -> str:
        """Return the path of a temporary file with everything; it lives as long as this object."""
        if self._spool is None:
            with _no_room():
                file, path = _temporary_file()
                weakref.finalize(self, file.close)
                shutil.copyfileobj(self.reader(), file, _BLOCK)
                file.flush()
            self._spool = path
        return self._spool

    def reader(self, *, heard: int | None = None) -> io.BufferedReader:
        """Return the stream from its beginning; only the first reader gets the bytes."""
        head, self._head = self._head, b""
        take = self._take if heard is None else partial(self._take_unless, heard)
        return io.BufferedReader(_Replayed(head, take), _BLOCK)

    def _take_unless(self, heard: int, size: int) -> bytes:
        """Take bytes unless a signal comes first."""
        waiting = select.poll()
        waiting.register(heard, select.POLLIN)
        with suppress(AttributeError, OSError, ValueError):
            # What is no file has its bytes at hand.
            waiting.register(self._stream.fileno(), select.POLLIN)
            while heard in (ready := dict(waiting.poll())) or not ready:
                with suppress(BlockingIOError):
                    if ready and any(map(_raises, os.read(heard, 64))):
                        raise _Heard
        return self._take(size)

    def _take(self, size: int) -> bytes:
        """Return what one read of the stream gives: at least a byte unless it has ended."""
        if self._stream.closed:
            return b""
        if isinstance(self._stream, io.BufferedReader | io.BytesIO):
            chunk = self._stream.read1(size)
        else:
            chunk = self._stream.read(size)
        if not chunk and self._owned:
            self._stream.close()
        return chunk


# Streams whose header was looked at before the command that reads them opened them, by path.
_LOOKED_AT: dict[str, Pipe] = {}


def hand_on(path: str, pipe: Pipe) -> None:
    """Keep a stream that was looked at for whoever opens its path next: its beginning comes only once."""
    _LOOKED_AT[path] = pipe


def handed_on(path: str, stream: BinaryIO | None = None) -> Pipe | None:
    """Return the stream that was looked at under a path, of which `stream` is not yet another; or None."""
    pipe = _LOOKED_AT.pop(path, None)
    return pipe if pipe is not None and (stream is None or pipe.is_of(stream)) else None


def _raises(number: int) -> bool:
    """Whether what is done at a signal is known to raise; what a program around this does may be anything."""
    handler = signal.getsignal(number)
    own = str(getattr(handler, "__module__", "")).startswith("calibcli.")
    return own or handler is signal.default_int_handler


class _Heard(Exception):
    """A signal came while bytes were waited for."""


@contextmanager
def signals_heard() -> Iterator[int | None]:
    """Give a descriptor that can be read once a signal has come; None where that cannot be had.

    Python tells its first thread of a signal once that runs Python again. While it waits in pyarrow, whose
    threads wait for bytes, it would never run: so these wait for either.
    """
    if not hasattr(select, "poll") or threading.current_thread() is not threading.main_thread():
        yield None
        return
    import pyarrow as pa

    heard, told = _waking(os.getpid())
    with suppress(BlockingIOError):
        os.read(heard, _BLOCK)
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    # Where pyarrow listens by itself, Python would not.
    pa.enable_signal_handlers(False)
    try:
        yield heard
    finally:
        pa.enable_signal_handlers(True)
        signal.set_wakeup_fd(before)


@cache
def _waking(process: int) -> tuple[int, int]:  # noqa: ARG001 - a fork has a pipe of its own
    """Return both ends of the pipe that signals write to, made once for each process and never closed.

    A thread of pyarrow may look at it after the reading was given up: by then a number that had been closed
    could be that of another file.
    """
    heard, told = os.pipe()
    os.set_blocking(heard, False)
    os.set_blocking(told, False)
    return heard, told


class _Replayed(io.RawIOBase):
    """Bytes read already, then the rest of the stream."""

    def __init__(self, head: bytes, take: Callable[[int], bytes]) -> None:
        self._head = memoryview(head)
        self._take = take

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._head[: len(buffer)] if self._head else self._take(len(buffer))
        self._head = self._head[len(chunk) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def _no_room() -> Iterator[None]:
    """Tell the folder of temporary files from the output, which may have no room either."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        msg = f"the temporary copy of the input cannot be written: {(error.strerror or str(error)).lower()}"
        raise OutputProblem(msg, "name a folder with room for it with TMPDIR") from error


def _temporary_file() -> tuple[BinaryIO, str]:
    """Open a temporary file and return it with a path to open it again.

    Where the system offers a path to an open file, nothing stands in any directory: however the process
    ends, nothing stays behind.
    """
    import tempfile

    nameless = tempfile.TemporaryFile(prefix="calibcli-")  # noqa: SIM115 - closed with the pipe
    path = f"/proc/self/fd/{nameless.fileno()}"
    if os.path.exists(path):  # noqa: PTH110 - a link to no name, which still can be opened
        return cast("BinaryIO", nameless), path
    nameless.close()
    named = tempfile.NamedTemporaryFile(prefix="calibcli-")  # noqa: SIM115 - closed with the pipe
    return cast("BinaryIO", named), named.name
