"""
Arrow IPC: record batches of the columns asked for, from files (Feather 2) and from streams as they come.

One record batch of the file is held at a time, of the columns asked for. A stream that ends between two
record batches cannot be told from a whole one: it need not have an end mark.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from calibcli.errors import InputProblem
from calibcli.readers.class_matrix import is_list_of_numbers, list_lengths, lists_of
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.decode import nulls
from calibcli.readers.formats import STREAM
from calibcli.readers.fragments import Fragment, batch_rows
from calibcli.readers.sound import no_memory, sound
from calibcli.readers.text import opened_bytes

_FILE = b"ARROW1"
# A file is these eight bytes, then a stream, then what tells where in the stream each batch is.
_FILE_START = 8
_LONGEST_SCHEMA = 1 << 26
Batches: TypeAlias = Iterator[tuple[pa.RecordBatch, pa.KeyValueMetadata | None]]


@dataclass(frozen=True, slots=True)
class Stored:
    """
    What is in a file or a stream.

    Args:
        schema: Its columns.

        batches: Its record batches in order, each with what is said of it alone, or None.

        footer: What is said at the end of a file, or None.
    """

    schema: pa.Schema
    batches: Batches
    footer: pa.KeyValueMetadata | None = None


def header(fragment: Fragment) -> tuple[str, ...]:
    """Return the names of a file's columns."""
    return tuple(_schema(fragment).names)


def batches(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment."""
    width = max(len(chosen.stored), len(chosen.classes))
    yield from _batches(fragment, chosen.stored, width=width)


def schema(fragment: Fragment, chosen: ChosenColumns) -> pa.Schema:
    """Return what `batches_of_all` gives: every column as it is stored."""
    whole = _schema(fragment)
    return pa.schema([whole.field(name) for name in chosen.carries(whole.names)]).with_metadata(
        whole.metadata
    )


def batches_of_all(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream every column as it is stored."""
    names = chosen.carries(header(fragment))
    width = max(len(names), len(chosen.classes))
    yield from _batches(fragment, None if chosen.carried is None else names, width=width)


def kinds(fragment: Fragment) -> tuple[tuple[str, str], ...]:
    """Return every column with its type."""
    return tuple((field.name, str(field.type)) for field in _schema(fragment))


def row_count(fragment: Fragment) -> int | None:
    """Return how many rows there are, where that is known without reading them all."""
    if fragment.streams or fragment.compression is not None:
        return None
    with _reported(fragment), opened_bytes(fragment) as source:
        if source.read(len(_FILE)) != _FILE:
            return None
        source.seek(0)
        with pa.ipc.open_file(source) as file:
            return sum(file.get_batch(place).num_rows for place in range(file.num_record_batches))


def list_length(fragment: Fragment, name: str) -> int | None:
    """Return how many numbers the first list of a column holds; None where it holds no lists, or no rows."""
    if not is_list_of_numbers(_schema(fragment).field(name).type):
        return None
    if fragment.pipe is not None:
        fragment.pipe.spooled()
    for batch in _batches(fragment, (name,), width=1):
        column = lists_of(batch.column(0))
        lost = nulls(column)
        first = 0 if lost is None else int(np.argmin(lost))
        if lost is None or not lost[first]:
            return int(list_lengths(column)[first])
    return None


@contextmanager
def stored(fragment: Fragment, names: Sequence[str] | None) -> Iterator[Stored]:
    """Open a file or a stream, of which only some columns are decoded; nothing in them is believed."""
    fields = None if names is None else [_schema(fragment).get_field_index(name) for name in names]
    with _opened(fragment, fields) as found:
        yield replace(found, batches=_valid(found.batches, fragment))


def _valid(found: Batches, fragment: Fragment) -> Batches:
    with _reported(fragment):
        for batch, said in found:
            yield sound(batch, shown=fragment.shown), said


def _batches(fragment: Fragment, names: Sequence[str] | None, *, width: int) -> Iterator[pa.RecordBatch]:
    """Stream some columns, or all, in batches of not too many rows; nothing in them is believed."""
    most = batch_rows(max(1, width))
    with stored(fragment, names) as found:
        for batch, _ in found.batches:
            for start in range(0, batch.num_rows, most):
                yield batch.slice(start, most)


def _schema(fragment: Fragment) -> pa.Schema:
    if fragment.pipe is not None and fragment.streams:
        return _schema_ahead(fragment)
    with _opened(fragment, None) as found, _reported(fragment):
        return _with_names(found.schema)


def _with_names(schema: pa.Schema) -> pa.Schema:
    """Return a schema, having looked at its names: those of a damaged file need not be text."""
    tuple(schema.names)
    return schema


def _schema_ahead(fragment: Fragment) -> pa.Schema:
    """Return the schema of a stream that comes through a pipe, without losing anything of it."""
    start = len(STREAM) + 4
    length = start
    if fragment.pipe is not None:
        length += int.from_bytes(fragment.pipe.head(start)[len(STREAM) :], "little")
    with _reported(fragment):
        if fragment.pipe is None or length > _LONGEST_SCHEMA:
            msg = "its schema is too long"
            raise pa.ArrowInvalid(msg)
        return _with_names(pa.ipc.read_schema(pa.py_buffer(fragment.pipe.head(length))))


@contextmanager
def _opened(fragment: Fragment, fields: list[int] | None) -> Iterator[Stored]:
    """Open a file or a stream; what goes wrong while it is open is not taken for something wrong with it."""
    options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
    with ExitStack() as files:
        with _reported(fragment):
            found = _found(fragment, options, files)
        yield found


def _found(fragment: Fragment, options: pa.ipc.IpcReadOptions, files: ExitStack) -> Stored:
    """Return what is in a file or a stream, of which only some fields are decoded."""
    source = files.enter_context(opened_bytes(fragment))
    if fragment.streams:
        return _of_stream(source, options)
    if source.read(len(_FILE)) != _FILE:
        return _of_stream(files.enter_context(opened_bytes(fragment)), options)
    if fragment.compression is not None:
        # What follows is a stream; the end of the file, which cannot be looked up here, is checked.
        source.read(_FILE_START - len(_FILE))
        found = _of_stream(source, options)
        return replace(found, batches=_to_the_end(found.batches, source))
    source.seek(0)
    file = files.enter_context(pa.ipc.open_file(source, options=options))
    batches = map(file.get_batch_with_custom_metadata, range(file.num_record_batches))
    # Older versions of pyarrow do not tell what is said at the end.
    return Stored(file.schema, batches, getattr(file, "metadata", None))


def _of_stream(source: pa.NativeFile, options: pa.ipc.IpcReadOptions) -> Stored:
    reader = pa.ipc.open_stream(source, options=options)
    return Stored(reader.schema, reader.iter_batches_with_custom_metadata())


def _to_the_end(found: Batches, source: pa.NativeFile) -> Batches:
    yield from found
    tail = b""
    while more := source.read(1 << 20):
        tail = (tail + more)[-len(_FILE) :]
    if tail != _FILE:
        msg = "it is cut short"
        raise pa.ArrowInvalid(msg)


@contextmanager
def _reported(fragment: Fragment) -> Iterator[None]:
    """Turn whatever is wrong with a file into one line."""
    try:
        yield
    except MemoryError as error:
        raise no_memory(fragment.shown, error) from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        first = (str(error).splitlines() or ["unknown error"])[0]
        msg = f"{fragment.shown} cannot be read as Arrow: {first}"
        raise InputProblem(
            msg, "the file may be cut short or damaged: compare its size with the source"
        ) from error
