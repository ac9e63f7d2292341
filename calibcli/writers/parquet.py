"""Parquet with more columns: row groups, codecs, encodings and metadata as they were."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from calibcli.ahead import made_ahead
from calibcli.chunks import Chunks, decode_one, rows_of_groups
from calibcli.objects import is_object, source_of
from calibcli.progress import Advance
from calibcli.table.score_table import Floats
from calibcli.writers.arrow import column_of
from calibcli.writers.errors import copy_errors
from calibcli.writers.gathered import gathered
from calibcli.writers.parquet_settings import stored_settings

# A larger row group is read and written in pieces of so many rows.
LARGEST_PIECE = 2_000_000
# Of a wide table a row group that holds more numbers is cut into such of half as many, and new columns are
# made of less at once.
MOST_NUMBERS = 1 << 25
_NUMBERS_AT_ONCE = 1 << 21
_BUFFER = 1 << 20
_ALL_BUFFERS = 1 << 26


@dataclass(frozen=True, slots=True)
class NewFields:
    """
    What is added to the rows of a file, and what stays of it.

    Args:
        fields: The new columns.

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


def copy_with_fields(
    source: str, target: BinaryIO, *, new: NewFields, shown: str, advance: Advance = lambda _: None
) -> int:
    """
    Write a Parquet file anew with fields at the end.

    Row groups are read, and new columns made, in a thread while the group before is written.

    Args:
        source: The path of the file to read.

        target: The file to write.

        new: What is added, and what stays.

        shown: The file's name in messages.

        advance: Told how many rows each row group had.

    Returns:
        The number of rows.

    Raises:
        InputProblem: If the file cannot be read; what is wrong with the target is raised as it comes.
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
        rows = 0
        with pq.ParquetWriter(target, schema, **settings) as writer:
            for table in made_ahead(_widened(file, new, schema=schema, shown=shown, read=read)):
                writer.write_table(table, row_group_size=table.num_rows)
                rows += table.num_rows
                advance(table.num_rows)
        return rows


def _widened(
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
    buffer = max(1 << 12, min(_BUFFER, _ALL_BUFFERS // width))
    with source_of(source) as place:
        with copy_errors(shown, OSError):
            file = pq.ParquetFile(
                place, pre_buffer=is_object(source), buffer_size=buffer, page_checksum_verification=True
            )
        with file:
            yield file


def most_rows(width: int) -> int:
    """Return how many rows a row group of the output may have, each of so many numbers."""
    return max(1, min(LARGEST_PIECE, MOST_NUMBERS // width))


def write_batches(
    batches: Iterable[pa.RecordBatch],
    target: BinaryIO,
    *,
    schema: pa.Schema,
    width: int = 1,
    advance: Advance = lambda _: None,
) -> int:
    """
    Write record batches as Parquet, in row groups of about a million rows, of less where rows hold much.

    Args:
        batches: The rows.

        target: The file to write.

        schema: What they are.

        width: How many numbers a row holds, where it holds many.

        advance: Told how many rows each row group has.

    Returns:
        The number of rows.
    """
    rows = 0
    with pq.ParquetWriter(target, schema) as writer:
        for table in gathered(batches, max(1, most_rows(width) // 2)):
            writer.write_table(table, row_group_size=table.num_rows)
            rows += table.num_rows
            advance(table.num_rows)
    return rows


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
