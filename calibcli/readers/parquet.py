"""Parquet: record batches of the columns asked for, row group by row group, in bounded memory."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from calibcli.errors import InputProblem
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment

BATCH_ROWS = 1 << 17
_BUFFER = 1 << 20


def header(fragment: Fragment) -> tuple[str, ...]:
    """Return the names of a file's columns."""
    with _opened(fragment) as file:
        return tuple(file.schema_arrow.names)


def row_group_rows(fragment: Fragment) -> list[int]:
    """Return the number of rows in each row group of a file."""
    with _opened(fragment) as file:
        return [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]


def batches(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment."""
    text = [name for name in chosen.words if _is_text(fragment, name)]
    with _opened(fragment, as_dictionary=text) as file:
        yield from _batches(file, fragment, names=list(chosen.names))


def schema(fragment: Fragment, chosen: ChosenColumns) -> pa.Schema:  # noqa: ARG001
    """Return what `batches_of_all` gives: every column as it is stored."""
    with _opened(fragment) as file:
        return file.schema_arrow


def batches_of_all(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:  # noqa: ARG001
    """Stream every column as it is stored."""
    with _opened(fragment) as file:
        yield from _batches(file, fragment, names=None)


def _batches(
    file: pq.ParquetFile, fragment: Fragment, *, names: list[str] | None
) -> Iterator[pa.RecordBatch]:
    groups = range(file.num_row_groups) if fragment.row_groups is None else fragment.row_groups
    if len(groups):
        yield from file.iter_batches(
            batch_size=BATCH_ROWS, row_groups=list(groups), columns=names, use_threads=False
        )


def _is_text(fragment: Fragment, name: str) -> bool:
    with _opened(fragment) as file:
        kind = file.schema_arrow.field(name).type
        return pa.types.is_string(kind) or pa.types.is_large_string(kind)


@contextmanager
def _opened(fragment: Fragment, as_dictionary: list[str] | None = None) -> Iterator[pq.ParquetFile]:
    """Open a file; whatever is wrong with it becomes one line."""
    try:
        with pq.ParquetFile(
            fragment.location, read_dictionary=as_dictionary, pre_buffer=False, buffer_size=_BUFFER
        ) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        first = (str(error).splitlines() or ["unknown error"])[0]
        msg = f"{fragment.shown} cannot be read as Parquet: {first}"
        raise InputProblem(
            msg, "the file may be cut short or damaged: compare its size with the source"
        ) from error
