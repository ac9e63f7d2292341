"""
Parquet: record batches of the columns asked for, row group by row group, in bounded memory.

Statistics are never believed, and what a footer says of rows and types is held against itself
(`calibcli.chunks`).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from calibcli.chunks import DAMAGED, Chunks, decode_one, encrypted, rows_of_groups
from calibcli.errors import InputProblem
from calibcli.objects import is_object, opened_file, source_of
from calibcli.readers.class_matrix import is_list_of_numbers, list_lengths, lists_of
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.decode import nulls
from calibcli.readers.fragments import Fragment, batch_rows
from calibcli.readers.sound import no_memory, sound

_MAGIC = b"PAR1"
_BUFFER = 1 << 20
_ALL_BUFFERS = 1 << 26


def header(fragment: Fragment) -> tuple[str, ...]:
    """Return the names of a file's columns."""
    with _opened(fragment) as file:
        return tuple(file.schema_arrow.names)


def row_group_rows(fragment: Fragment) -> list[int]:
    """Return the number of rows in each row group of a file."""
    with _opened(fragment) as file:
        if not is_object(fragment.location):
            _refuse_several(file, fragment.location)
        return rows_of_groups(file, shown=fragment.shown)


def batches(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment."""
    names = chosen.stored
    text = [name for name in chosen.words if name in names and _is_text(fragment, name)]
    width = max(len(names), len(chosen.classes))
    with _opened(fragment, as_dictionary=text, columns=len(names)) as file:
        yield from _batches(file, fragment, names=list(names), width=width)


def schema(fragment: Fragment, chosen: ChosenColumns) -> pa.Schema:
    """Return what `batches_of_all` gives: every column as it is stored."""
    with _opened(fragment) as file:
        whole = file.schema_arrow
    return pa.schema([whole.field(name) for name in chosen.carries(whole.names)]).with_metadata(
        whole.metadata
    )


def batches_of_all(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream every column as it is stored."""
    names = list(chosen.carries(header(fragment)))
    width = max(len(names), len(chosen.classes))
    with _opened(fragment, columns=len(chosen.scores)) as file:
        yield from _batches(file, fragment, names=None if chosen.carried is None else names, width=width)


def kinds(fragment: Fragment) -> tuple[tuple[str, str], ...]:
    """Return every column with its type."""
    with _opened(fragment) as file:
        return tuple((field.name, str(field.type)) for field in file.schema_arrow)


def row_count(fragment: Fragment) -> int | None:
    """Return how many rows there are."""
    return sum(row_group_rows(fragment))


def list_length(fragment: Fragment, name: str) -> int | None:
    """Return how many numbers the first list of a column holds; None where it holds no lists, or no rows."""
    with _opened(fragment) as file:
        if not is_list_of_numbers(file.schema_arrow.field(name).type):
            return None
        for batch in file.iter_batches(batch_size=1, columns=[name], use_threads=False):
            column = lists_of(batch.column(0))
            if nulls(column) is None:
                return int(list_lengths(column)[0])
    return None


def _batches(
    file: pq.ParquetFile, fragment: Fragment, *, names: list[str] | None, width: int
) -> Iterator[pa.RecordBatch]:
    groups = range(file.num_row_groups) if fragment.row_groups is None else fragment.row_groups
    chunks = Chunks(file, groups=groups, names=names, shown=fragment.shown)
    if len(groups):
        for batch in file.iter_batches(
            batch_size=batch_rows(width), row_groups=list(groups), columns=names, use_threads=False
        ):
            chunks.came(batch.num_rows)
            yield sound(batch, shown=fragment.shown)
    chunks.end()


def _refuse_several(read: pq.ParquetFile, path: str) -> None:
    """
    Refuse files that were put one after the other: the last footer would be taken to speak of the first file.

    Between the last page and the footer of a single file stand at most indexes and Bloom filters.
    """
    last, column = read.num_row_groups - 1, len(read.schema) - 1
    if last < 0 or column < 0:
        return
    try:
        decode_one(read, last, [read.schema.column(column).path])
    except (pa.ArrowException, OSError):
        # Whoever reads that column is told; at one that cannot be decoded pyarrow does not survive a look.
        return
    with opened_file(path) as file:
        end = file.size() - len(_MAGIC) - 4
        file.seek(end)
        footer = end - int.from_bytes(file.read(4), "little")
        chunk = read.metadata.row_group(last).column(column)
        file.seek(min(footer, _first_page(chunk) + chunk.total_compressed_size))
        tail = b""
        while file.tell() < footer and (more := file.read(min(_BUFFER, footer - file.tell()))):
            if 2 * _MAGIC in tail + more:
                msg = "another file begins within it: name several files one by one instead"
                raise pa.ArrowInvalid(msg)
            tail = more[-2 * len(_MAGIC) :]


def _first_page(column: pq.ColumnChunkMetaData) -> int:
    page = column.dictionary_page_offset if column.has_dictionary_page else None
    return column.data_page_offset if page is None else page


def _is_text(fragment: Fragment, name: str) -> bool:
    with _opened(fragment) as file:
        kind = file.schema_arrow.field(name).type
        return pa.types.is_string(kind) or pa.types.is_large_string(kind)


@contextmanager
def _opened(
    fragment: Fragment, as_dictionary: list[str] | None = None, *, columns: int = 1
) -> Iterator[pq.ParquetFile]:
    """Open a file; whatever is wrong with it becomes one line."""
    buffer = max(1 << 12, min(_BUFFER, _ALL_BUFFERS // columns))
    try:
        with (
            source_of(fragment.location) as source,
            pq.ParquetFile(
                source,
                read_dictionary=as_dictionary,
                pre_buffer=is_object(fragment.location),
                buffer_size=buffer,
                page_checksum_verification=True,
            ) as file,
        ):
            yield file
    except MemoryError as error:
        raise no_memory(fragment.shown, error) from error
    except (pa.ArrowException, OSError, UnicodeError) as error:
        first = (str(error).splitlines() or ["unknown error"])[0]
        msg = f"{fragment.shown} cannot be read as Parquet: {first}"
        raise encrypted(error, shown=fragment.shown) or InputProblem(msg, DAMAGED) from error
