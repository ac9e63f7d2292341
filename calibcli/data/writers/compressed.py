"""Output that is compressed where its name says so, and what goes wrong while a file is copied."""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

import pyarrow as pa

from calibcli.data.arrays import first_line
from calibcli.data.formats import compression_of
from calibcli.data.readers.parquet import key_problems
from calibcli.errors import InputProblem
from calibcli.names import Compression

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

# Python's own gzip: pyarrow's takes the slowest level.
_GZIP_LEVEL = 6


@contextmanager
def compressed(target: BinaryIO, name: str) -> Iterator[BinaryIO]:
    """Give a file to write to that compresses what goes on to another one."""
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


@contextmanager
def copy_errors(shown: str, *more: type[Exception]) -> Iterator[None]:
    """Say in one line what pyarrow could not read or rewrite."""
    kinds: tuple[type[Exception], ...] = (pa.ArrowException, *more)
    try:
        with key_problems(shown):
            yield
    except MemoryError:
        raise
    except kinds as error:
        msg = f"{shown} cannot be copied: {first_line(error)}"
        raise InputProblem(msg) from error
