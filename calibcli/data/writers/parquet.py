"""Parquet with more columns: row groups, codecs, encodings and metadata as they were."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.parquet as pq

from calibcli.ahead import made_ahead
from calibcli.data.arrays import column_of, is_plain_list, value_type
from calibcli.data.objects import source_of
from calibcli.data.readers.parquet import Chunks, decode_one, open_parquet, rows_of_groups
from calibcli.data.writers import Output, copy_errors
from calibcli.stats.table import Floats
from calibcli.values import dataclass

_FEW = 20

_DICTIONARIES = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}


def stored_settings(
    metadata: pq.FileMetaData, *, like: str, fields: Sequence["pa.Field[Any]"], kept: Collection[str]
) -> dict[str, Any]:
    """Return what the writer must be told to store columns as a file's first row group does."""
    if not metadata.num_row_groups:
        return {}
    group, names = metadata.row_group(0), set(kept)
    # Columns that are not read may be encrypted, and are not looked at.
    paths = [metadata.schema.column(place).path for place in range(len(metadata.schema))]
    stored = [group.column(place) for place, path in enumerate(paths) if _is_of(path, {*names, like})]
    codec = next((_codec(one.compression) for one in stored if _is_of(one.path_in_schema, {like})), "snappy")
    columns = [one for one in stored if _is_of(one.path_in_schema, names)]
    codecs = {column.path_in_schema: _codec(column.compression) for column in columns}
    encoded = [column.path_in_schema for column in columns if _DICTIONARIES & set(column.encodings)]
    new = [leaf for field in fields for leaf in _leaves(field.name, field.type)]
    # A dictionary of doubles that hardly repeat is given up on anyway, column by column.
    repeated = new if len(new) <= _FEW else [field.name for field in fields if pa.types.is_string(field.type)]
    return {
        "compression": codecs | dict.fromkeys(new, codec),
        "use_dictionary": [*encoded, *repeated],
        "write_page_index": any(column.has_offset_index for column in columns),
        "sorting_columns": list(_sorting(group, paths, columns)) or None,
        "write_statistics": [column.path_in_schema for column in columns if column.is_stats_set] + new,
    }


def _sorting(
    group: pq.RowGroupMetaData, stored: Sequence[str], columns: Sequence[pq.ColumnChunkMetaData]
) -> Iterator[pq.SortingColumn]:
    """Yield the columns that rows are sorted by, up to the first that does not stay."""
    paths = [column.path_in_schema for column in columns]
    for one in group.sorting_columns:
        path = stored[one.column_index]
        if path not in paths:
            return
        yield pq.SortingColumn(paths.index(path), one.descending, one.nulls_first)


def _is_of(path: str, names: Collection[str]) -> bool:
    """Whether a stored column belongs to one of some columns of the table."""
    ends = [at for at, letter in enumerate(path) if letter == "."]
    return any(path[:end] in names for end in (*ends, len(path)))


def _leaves(path: str, kind: pa.DataType) -> list[str]:
    """Return the paths of the columns that a field is stored in."""
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in _leaves(f"{path}.{field.name}", field.type)]
    if is_plain_list(kind):
        return [f"{path}.list.element"]
    return [path]


def _codec(stored: str) -> str:
    return "none" if stored == "UNCOMPRESSED" else stored.lower()


def gathered(
    batches: Iterable[pa.RecordBatch], rows: int, *, values: int | None = None
) -> Iterator[pa.Table]:
    """Yield the rows in tables of at least so many, or so many values, but for the last; none is empty."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            count += batch.num_rows
        if count >= rows or (values is not None and count * batch.num_columns >= values):
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


# A larger row group is read and written in pieces of so many rows.
LARGEST_PIECE = 2_000_000

# Of a wide table a row group that holds more numbers is cut into such of half as many, and new columns are
# made of less at once.
MOST_NUMBERS = 1 << 25

_NUMBERS_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True)
class NewFields:
    """What is added to the rows of a file, and what stays of it.

    Args:
        made: From some rows to the values of each; called in the order of the rows.
        like: The column whose codec new ones take.
        width: How many numbers a row of the output holds at least, where it holds many.
        kept: The columns that stay; None for all.
        needed: The columns that new ones are made of, read even if they do not stay.
    """

    fields: Sequence["pa.Field[Any]"]
    made: Callable[[pa.RecordBatch], Sequence["Floats | pa.Array[Any]"]]
    like: str
    width: int = 1
    kept: Collection[str] | None = None
    needed: Sequence[str] = ()


def copy_with_fields(source: str, target: BinaryIO, *, new: NewFields, shown: str) -> Iterator[int]:
    """Write a Parquet file anew with fields at the end, and yield how many rows each part of it has.

    Row groups are read, and new columns made, in a thread while the group before is written.
    """
    with _opened(source, shown, width=new.width) as file:
        stored = file.schema_arrow
        stay = [name for name in stored.names if new.kept is None or name in new.kept]
        fields = [*(stored.field(name) for name in stay), *new.fields]
        schema = pa.schema(fields).with_metadata(stored.metadata)
        read = None if new.kept is None else list(dict.fromkeys([*stay, *new.needed]))
        with copy_errors(shown, OSError):
            for group in range(min(1, file.num_row_groups)):
                decode_one(file, group, read)
        settings = stored_settings(file.metadata, like=new.like, fields=new.fields, kept=stay)
        with pq.ParquetWriter(target, schema, **settings) as writer:
            for table in made_ahead(_with_added_columns(file, new, schema=schema, shown=shown, read=read)):
                writer.write_table(table, row_group_size=table.num_rows)
                yield table.num_rows


def _with_added_columns(
    file: pq.ParquetFile, new: NewFields, *, schema: pa.Schema, shown: str, read: list[str] | None
) -> Iterator[pa.Table]:
    """Yield the columns of a schema, of which the last are new."""
    stay = schema.names[: len(schema) - len(new.fields)]
    at_once = max(1, _NUMBERS_AT_ONCE // new.width)
    for table in _pieces(file, shown, most=most_rows(new.width), columns=read):
        values = [new.made(batch) for batch in table.to_batches(max_chunksize=at_once)]
        added = [pa.chunked_array([column_of(part) for part in parts]) for parts in zip(*values, strict=True)]
        yield pa.Table.from_arrays([*(table.column(name) for name in stay), *added], schema=schema)


@contextmanager
def _opened(source: str, shown: str, *, width: int) -> Iterator[pq.ParquetFile]:
    """Open a file; only what goes wrong with that is the input's fault."""
    with source_of(source) as place:
        with copy_errors(shown, OSError):
            file = open_parquet(place, source, columns=width)
        with file:
            yield file


def most_rows(width: int) -> int:
    """Return how many rows a row group of the output may have, each of so many numbers."""
    return max(1, min(LARGEST_PIECE, MOST_NUMBERS // width))


def write_batches(batches: Iterable[pa.RecordBatch], out: Output) -> Iterator[int]:
    """In row groups of about a million rows, of less where rows hold much."""
    schema = pa.schema([one.with_type(_stored(one.type)) for one in out.schema]).with_metadata(
        out.schema.metadata
    )
    with pq.ParquetWriter(out.target, schema) as writer:
        for table in gathered(batches, max(1, most_rows(out.width) // 2)):
            columns = [_as(column, kind) for column, kind in zip(table.columns, schema.types, strict=True)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=table.num_rows)
            yield table.num_rows


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return a type, that of the values where pyarrow stores no dictionary of them, or of durations ticks."""
    plain = value_type(kind)
    is_coded = isinstance(kind, pa.DictionaryType) and (pa.types.is_nested(plain) or pa.types.is_null(plain))
    return plain if is_coded or pa.types.is_duration(plain) else kind


def _as(column: "pa.ChunkedArray[Any]", kind: pa.DataType) -> "pa.ChunkedArray[Any]":
    if not isinstance(column.type, pa.DictionaryType) or column.type == kind:
        return column.cast(kind)
    parts = [cast("Any", part).dictionary_decode() for part in column.chunks]
    return pa.chunked_array(parts, cast("Any", kind))


def fits(kind: pa.DataType) -> bool:
    """Whether Parquet has a type for values, as pyarrow says of a missing one."""
    stored = _stored(kind)
    try:
        with pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([("x", stored)])) as writer:
            writer.write_table(pa.table({"x": pa.nulls(1, cast("Any", stored))}))
    except (pa.ArrowException, OSError):
        return False
    return True


def _pieces(file: pq.ParquetFile, shown: str, *, most: int, columns: list[str] | None) -> Iterator[pa.Table]:
    """Yield the row groups in order, large ones in pieces."""
    # Errors of whoever takes the pieces are not thrown in here.
    with copy_errors(shown, OSError):
        chunks = Chunks(file, groups=range(file.num_row_groups), names=columns, shown=shown)
        for group, rows in enumerate(rows_of_groups(file, shown=shown)):
            if 0 < rows <= most:
                table = file.read_row_group(group, columns)
                chunks.came(table.num_rows)
                yield table
            elif rows:
                piece = most if most == LARGEST_PIECE else max(1, most // 2)
                for batch in file.iter_batches(piece, [group], columns):
                    chunks.came(batch.num_rows)
                    yield pa.Table.from_batches([batch])
        chunks.end()
