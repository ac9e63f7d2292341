"""Rows to files, other columns kept: a module for each format, with `write_batches` and `fits`."""

import gzip
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol, cast

import pyarrow as pa

from calibcli.data.formats import compression_of
from calibcli.data.readers.parquet import key_problems
from calibcli.errors import InputProblem, first_words
from calibcli.names import Compression, DataFormat
from calibcli.values import dataclass

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


@dataclass(frozen=True, slots=True)
class Output:
    """What rows are written to.

    Args:
        shown: What the rows come from, for messages.
        width: How many numbers a row holds at least, where it holds many.
        stream: Whether Arrow goes to where nobody can look up the end of a file.
    """

    kind: DataFormat
    target: BinaryIO
    schema: pa.Schema
    shown: str = ""
    width: int = 1
    stream: bool = False


ROOMIER = "arrow holds any type, parquet nearly any, and --keep names what goes along"


class Writer(Protocol):
    """A module that writes one format."""

    def write_batches(self, batches: Iterable[pa.RecordBatch], out: Output) -> Iterator[int]:
        """Write record batches, and yield how many rows have been written since the last time."""
        ...

    @property
    def fits(self) -> Callable[[pa.DataType], bool] | None:
        """Whether the format has values for a type; None where it has some for all."""
        ...


def writer_of(kind: DataFormat) -> Writer:
    return cast("Writer", import_module(f"calibcli.data.writers.{kind.facts.writer}"))


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
        msg = f"{shown} cannot be copied: {first_words(error)}"
        raise InputProblem(msg) from error
