"""Output that is compressed where its name says so."""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

import pyarrow as pa

from calibcli.names import Compression
from calibcli.suffixes import compression_of

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# Python's own gzip: pyarrow's takes the slowest level.
_GZIP_LEVEL = 6


@contextmanager
def compressed(target: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """
    Give a file to write to that compresses what goes on to another one.

    Args:
        target: Where the compressed bytes go; it stays open.

        name: The output's name, whose suffix decides.
    """
    codec = compression_of(name)
    if codec is None:
        yield target
        return
    if codec is Compression.GZIP:
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, target, mtime=0) as stream:
            yield cast("BinaryIO", stream)
        return
    below = pa.PythonFile(cast("io.IOBase", _KeptOpen(target)), "w")
    with pa.CompressedOutputStream(below, cast("Literal['zstd', 'bz2', 'lz4']", codec.value)) as out:
        yield cast("BinaryIO", out)


class _KeptOpen(io.RawIOBase):
    """A file that closing leaves open."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target

    def writable(self) -> bool:
        return True

    def write(self, chunk: "ReadableBuffer", /) -> int:
        return self._target.write(chunk)
