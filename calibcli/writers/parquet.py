"""Parquet with more columns: row groups, codecs, encodings and metadata as they were."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from calibcli.ahead import one_ahead
from calibcli.table.score_table import Floats
from calibcli.writers.arrow import float_column, with_fields
from calibcli.writers.errors import copy_errors

# A larger row group is read and written in pieces of so many rows.
LARGEST_PIECE = 2_000_000
_BUFFER = 1 << 20
_DICTIONARIES = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}


def copy_with_columns(
    source: str,
    target: BinaryIO,
    *,
    score: str,
    names: Sequence[str],
    predicted: Callable[["pa.Array[Any]"], Sequence[Floats]],
    shown: str,
) -> int:
    """
    Write a Parquet file anew with float64 columns at the end.

    Args:
        source: The path of the file to read.

        target: The file to write.

        score: The column that the new ones are made of.

        names: Names of the new columns.

        predicted: From the values of the score column to those of each new one; called in the order of the
            rows.

        shown: The file's name in messages.

    Returns:
        The number of rows.

    Raises:
        InputProblem: If the file cannot be read; what is wrong with the target is raised as it comes.
    """
    with copy_errors(shown, OSError):
        opened = pq.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER)
    with opened as file:
        schema = with_fields(file.schema_arrow, names)
        with pq.ParquetWriter(target, schema, **_settings(file, score=score, names=names)) as writer:
            for table in one_ahead(_pieces(file, shown)):
                values = [predicted(chunk) for chunk in table.column(score).chunks]
                added = [float_column(np.concatenate(parts)) for parts in zip(*values, strict=True)]
                whole = pa.Table.from_arrays([*table.columns, *added], schema=schema)
                writer.write_table(whole, row_group_size=whole.num_rows)
        return file.metadata.num_rows


def write_batches(batches: Iterable[pa.RecordBatch], target: BinaryIO, *, schema: pa.Schema) -> int:
    """Write record batches as Parquet, in row groups of about a million rows; return the number of rows."""
    rows = 0
    waiting: list[pa.RecordBatch] = []
    with pq.ParquetWriter(target, schema) as writer:
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if sum(one.num_rows for one in waiting) >= LARGEST_PIECE // 2:
                _write_group(writer, waiting)
        _write_group(writer, waiting)
    return rows


def _write_group(writer: pq.ParquetWriter, waiting: list[pa.RecordBatch]) -> None:
    if waiting:
        table = pa.Table.from_batches(waiting)
        writer.write_table(table, row_group_size=max(1, table.num_rows))
        waiting.clear()


def _pieces(file: pq.ParquetFile, shown: str) -> Iterator[pa.Table]:
    """Yield the row groups in order, large ones in pieces."""
    # Errors of whoever takes the pieces are not thrown in here.
    with copy_errors(shown, OSError):
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if 0 < rows <= LARGEST_PIECE:
                yield file.read_row_group(group)
            elif rows:
                for batch in file.iter_batches(batch_size=LARGEST_PIECE, row_groups=[group]):
                    yield pa.Table.from_batches([batch])


def _settings(file: pq.ParquetFile, *, score: str, names: Sequence[str]) -> dict[str, Any]:
    """Return what the writer must be told to store columns as the file's first row group does."""
    if not file.num_row_groups:
        return {}
    group = file.metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    codecs = {column.path_in_schema: _codec(column.compression) for column in columns}
    encoded = [column.path_in_schema for column in columns if _DICTIONARIES & set(column.encodings)]
    return {
        "compression": codecs | dict.fromkeys(names, codecs.get(score, "snappy")),
        "use_dictionary": [*encoded, *names],
        "write_page_index": any(column.has_offset_index for column in columns),
        "sorting_columns": group.sorting_columns or None,
        "write_statistics": [column.path_in_schema for column in columns if column.is_stats_set] + [*names],
    }


def _codec(stored: str) -> str:
    return "none" if stored == "UNCOMPRESSED" else stored.lower()
