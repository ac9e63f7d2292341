"""
Standard input and output as others may have replaced them: a notebook, a test, `redirect_stdout`.

What stands in their place need not have bytes below its text, a file descriptor, or an encoding.
"""

import io
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from calibcli.errors import OutputProblem

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
    """Whether somebody is looking."""
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
