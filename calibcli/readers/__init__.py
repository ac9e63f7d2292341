"""Files to fragments to record batches to tables."""

from typing import assert_never

from calibcli.names import DataFormat
from calibcli.readers.in_memory import InMemory
from calibcli.readers.interface import Reader

__all__ = ["reader_of"]


def reader_of(kind: DataFormat | InMemory) -> Reader:
    """Return the module that reads a format."""
    match kind:
        case DataFormat.CSV | DataFormat.TSV:
            from calibcli.readers import csv

            return csv
        case DataFormat.JSONL:
            from calibcli.readers import jsonl

            return jsonl
        case DataFormat.PARQUET:
            from calibcli.readers import parquet

            return parquet
        case DataFormat.ARROW:
            from calibcli.readers import arrow

            return arrow
        case DataFormat.NPZ:
            from calibcli.readers import npz

            return npz
        case InMemory.ROWS:
            from calibcli.readers import held

            return held
        case _:
            assert_never(kind)
