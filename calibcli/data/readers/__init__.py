"""Files to fragments to record batches to tables."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, assert_never

from calibcli.data.columns import ChosenColumns
from calibcli.data.files import InMemory
from calibcli.data.fragment import Fragment
from calibcli.names import DataFormat

if TYPE_CHECKING:
    import pyarrow as pa


class Reader(Protocol):
    """A module that reads fragments of one format; every problem it meets is an `InputProblem`."""

    def header(self, fragment: Fragment) -> tuple[str, ...]:
        """Return the names of the columns of the fragment's file."""

    def batches(self, fragment: Fragment, chosen: ChosenColumns) -> "Iterator[pa.RecordBatch]":
        """Stream the chosen columns of a fragment; a batch has them by name."""

    def schema(self, fragment: Fragment, chosen: ChosenColumns) -> "pa.Schema":
        """Return the schema of `batches_of_all`."""

    def batches_of_all(self, fragment: Fragment, chosen: ChosenColumns) -> "Iterator[pa.RecordBatch]":
        """Stream every column of a fragment."""

    def kinds(self, fragment: Fragment) -> tuple[tuple[str, str], ...]:
        """Return every column of the fragment's file with what it holds, in a few words."""

    def row_count(self, fragment: Fragment) -> int | None:
        """Return how many rows the fragment's file has, where that is known without reading them all."""

    def list_length(self, fragment: Fragment, name: str) -> int | None:
        """Return how many numbers the first list of a column holds; None where there is none."""


def reader_of(kind: DataFormat | InMemory) -> Reader:
    """Return the module that reads a format."""
    match kind:
        case DataFormat.CSV | DataFormat.TSV:
            from calibcli.data.readers import csv

            return csv
        case DataFormat.JSONL:
            from calibcli.data.readers import jsonl

            return jsonl
        case DataFormat.PARQUET:
            from calibcli.data.readers import parquet

            return parquet
        case DataFormat.ARROW:
            from calibcli.data.readers import arrow

            return arrow
        case DataFormat.NPZ:
            from calibcli.data.readers import npz

            return npz
        case InMemory.ROWS:
            from calibcli.data.readers import in_memory as held

            return held
        case _:
            assert_never(kind)
