"""Files to fragments to record batches to tables."""

from typing import assert_never

from calibcli.names import DataFormat
from calibcli.readers.interface import Reader

__all__ = ["reader_of"]


def reader_of(kind: DataFormat) -> Reader:
    """Return the module that reads a format."""
    match kind:
        case DataFormat.CSV | DataFormat.TSV:
            from calibcli.readers import csv

            return csv
        case DataFormat.PARQUET:
            from calibcli.readers import parquet

            return parquet
        case _:
            assert_never(kind)
