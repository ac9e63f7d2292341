"""How the columns of a Parquet file are stored, in the words of the writer that is to store them so again."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_FEW = 20
_DICTIONARIES = {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}


def stored_settings(
    metadata: pq.FileMetaData, *, like: str, fields: Sequence["pa.Field[Any]"], kept: Collection[str]
) -> dict[str, Any]:
    """
    Return what the writer must be told to store columns as a file's first row group does.

    Args:
        metadata: That of the file.

        like: The column whose codec new ones take.

        fields: The new columns.

        kept: The columns of the file that stay.
    """
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
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [f"{path}.list.element"]
    return [path]


def _codec(stored: str) -> str:
    return "none" if stored == "UNCOMPRESSED" else stored.lower()
