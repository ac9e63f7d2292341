"""Parquet with more columns: row groups, codecs, encodings and metadata as they were."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from calibcli.ahead import one_ahead
from calibcli.objects import is_object, source_of
from calibcli.table.score_table import Floats
from calibcli.writers.arrow import column_of
from calibcli.writers.errors import copy_errors

# A larger row group is read and written in pieces of so many rows.
LARGEST_PIECE = 2_000_000
# Of a wide table a row group that holds more numbers is cut into such of half as many, and new columns are
# made of less at once.
MOST_NUMBERS = 1 << 25
_NUMBERS_AT_ONCE = 1 << 21
_BUFFER = 1 << 20
_ALL_BUFFERS = 1 << 26
_FEW = 20
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
    fields = [pa.field(name, pa.float64()) for name in names]
    return copy_with_fields(
        source,
        target,
        like=score,
        fields=fields,
        made=lambda batch: predicted(batch.column(score)),
        shown=shown,
    )


def copy_with_fields(
    source: str,
    target: BinaryIO,
    *,
    like: str,
    fields: Sequence["pa.Field[Any]"],
    made: Callable[[pa.RecordBatch], Sequence["Floats | pa.Array[Any]"]],
    shown: str,
    width: int = 1,
) -> int:
    """
    Write a Parquet file anew with fields at the end.

    Args:
        source: The path of the file to read.

        target: The file to write.

        like: The column whose codec the new ones take.

        fields: The new fields.

        made: From some rows to the values of each new field; called in the order of the rows.

        shown: The file's name in messages.

        width: How many numbers a row of the output holds at least, where it holds many.

    Returns:
        The number of rows.

    Raises:
        InputProblem: If the file cannot be read; what is wrong with the target is raised as it comes.
    """
    with _opened(source, shown, width=width) as file:
        schema = file.schema_arrow
        for field in fields:
            schema = schema.append(field)
        at_once = max(1, _NUMBERS_AT_ONCE // width)
        with pq.ParquetWriter(target, schema, **_settings(file, like=like, fields=fields)) as writer:
            for table in one_ahead(_pieces(file, shown, most=most_rows(width))):
                values = [made(batch) for batch in table.to_batches(max_chunksize=at_once)]
                added = [
                    pa.chunked_array([column_of(part) for part in parts])
                    for parts in zip(*values, strict=True)
                ]
                whole = pa.Table.from_arrays([*table.columns, *added], schema=schema)
                writer.write_table(whole, row_group_size=whole.num_rows)
        return file.metadata.num_rows


@contextmanager
def _opened(source: str, shown: str, *, width: int) -> Iterator[pq.ParquetFile]:
    """Open a file; only what goes wrong with that is the input's fault."""
    buffer = max(1 << 12, min(_BUFFER, _ALL_BUFFERS // width))
    with source_of(source) as place:
        with copy_errors(shown, OSError):
            file = pq.ParquetFile(place, pre_buffer=is_object(source), buffer_size=buffer)
        with file:
            yield file


def most_rows(width: int) -> int:
    """Return how many rows a row group of the output may have, each of so many numbers."""
    return max(1, min(LARGEST_PIECE, MOST_NUMBERS // width))


def write_batches(
    batches: Iterable[pa.RecordBatch], target: BinaryIO, *, schema: pa.Schema, width: int = 1
) -> int:
    """
    Write record batches as Parquet, in row groups of about a million rows, of less where rows hold much.

    Args:
        batches: The rows.

        target: The file to write.

        schema: What they are.

        width: How many numbers a row holds, where it holds many.

    Returns:
        The number of rows.
    """
    rows = 0
    waiting: list[pa.RecordBatch] = []
    with pq.ParquetWriter(target, schema) as writer:
        for batch in batches:
            waiting.append(batch)
            rows += batch.num_rows
            if sum(one.num_rows for one in waiting) >= max(1, most_rows(width) // 2):
                _write_group(writer, waiting)
        _write_group(writer, waiting)
    return rows


def _write_group(writer: pq.ParquetWriter, waiting: list[pa.RecordBatch]) -> None:
    if waiting:
        table = pa.Table.from_batches(waiting)
        writer.write_table(table, row_group_size=max(1, table.num_rows))
        waiting.clear()


def _pieces(file: pq.ParquetFile, shown: str, *, most: int) -> Iterator[pa.Table]:
    """Yield the row groups in order, large ones in pieces."""
    # Errors of whoever takes the pieces are not thrown in here.
    with copy_errors(shown, OSError):
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if 0 < rows <= most:
                yield file.read_row_group(group)
            elif rows:
                piece = most if most == LARGEST_PIECE else max(1, most // 2)
                for batch in file.iter_batches(batch_size=piece, row_groups=[group]):
                    yield pa.Table.from_batches([batch])


def _settings(file: pq.ParquetFile, *, like: str, fields: Sequence["pa.Field[Any]"]) -> dict[str, Any]:
    """Return what the writer must be told to store columns as the file's first row group does."""
    if not file.num_row_groups:
        return {}
    group = file.metadata.row_group(0)
    columns = [group.column(index) for index in range(group.num_columns)]
    codecs = {column.path_in_schema: _codec(column.compression) for column in columns}
    encoded = [column.path_in_schema for column in columns if _DICTIONARIES & set(column.encodings)]
    codec = next((one for path, one in codecs.items() if path.partition(".")[0] == like), "snappy")
    new = [leaf for field in fields for leaf in _leaves(field.name, field.type)]
    # A dictionary of doubles that hardly repeat is given up on anyway, column by column.
    repeated = new if len(new) <= _FEW else [field.name for field in fields if pa.types.is_string(field.type)]
    return {
        "compression": codecs | dict.fromkeys(new, codec),
        "use_dictionary": [*encoded, *repeated],
        "write_page_index": any(column.has_offset_index for column in columns),
        "sorting_columns": group.sorting_columns or None,
        "write_statistics": [column.path_in_schema for column in columns if column.is_stats_set] + new,
    }


def _leaves(path: str, kind: pa.DataType) -> list[str]:
    """Return the paths of the columns that a field is stored in."""
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in _leaves(f"{path}.{field.name}", field.type)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [f"{path}.list.element"]
    return [path]


def _codec(stored: str) -> str:
    return "none" if stored == "UNCOMPRESSED" else stored.lower()
