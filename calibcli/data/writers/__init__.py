"""Rows to files, other columns kept: a module for each format, with `write_batches` and `fits`."""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import BinaryIO, Protocol, cast

import pyarrow as pa

from calibcli.ahead import Advance
from calibcli.data.formats import FORMATS
from calibcli.names import DataFormat
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Output:
    """
    What rows are written to.

    Args:
        width: How many numbers a row holds at least, where it holds many.
        stream: Whether Arrow goes to where nobody can look up the end of a file.
    """

    kind: DataFormat
    target: BinaryIO
    schema: pa.Schema
    width: int = 1
    stream: bool = False


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
    """Return what writes a format that is written."""
    return cast("Writer", import_module(f"calibcli.data.writers.{FORMATS[kind].writer}"))


def write_rows(batches: Iterable[pa.RecordBatch], out: Output, *, advance: Advance = lambda _: None) -> int:
    """Write record batches in a format; return the number of rows."""
    rows = 0
    for count in writer_of(out.kind).write_batches(batches, out):
        rows += count
        advance(count)
    return rows
