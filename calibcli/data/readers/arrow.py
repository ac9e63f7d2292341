"""Arrow IPC: record batches of the columns asked for, from files (Feather 2) and from streams as they come.

One record batch of the file is held at a time, of the columns asked for. A stream that ends between two
record batches cannot be told from a whole one: it need not have an end mark. What follows an end mark is
refused, and so is a file that holds more record batches than its footer names: where files were put one
after the other, pyarrow passes over all but one.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeAlias

import pyarrow as pa
import pyarrow.ipc

from calibcli.data.arrays import checked_batch
from calibcli.data.objects import is_object
from calibcli.data.readers import Reader, batch_rows, opened_bytes, read_problems
from calibcli.families.formats import STREAM
from calibcli.names import Compression
from calibcli.values import dataclass, replace

_FILE = b"ARROW1"

# A file is these eight bytes, then a stream, then what tells where in the stream each batch is.
_FILE_START = 8

# What stands behind the footer of a file: its length, and the mark.
_FILE_END = 4 + len(_FILE)

# Between two record batches, and between the last one with its end mark and the footer.
_MOST_PADDING = 64

# Polars leaves room behind the schema.
_MOST_SCHEMA_MORE = 1 << 10

# What stands there instead of its length, where there is none, is less.
_SHORTEST_SCHEMA = 64

_BARE = "Polars writes files that are not read through a compression: decompress it first"

_MORE = "more follows after its end: are several files in one? Then name them one by one instead"

_LONGEST_SCHEMA = 1 << 26

Batches: TypeAlias = Iterator[tuple[pa.RecordBatch, pa.KeyValueMetadata | None]]


@dataclass(frozen=True, slots=True)
class Stored:
    """What is in a file or a stream: batches each with what is said of it alone, a file's footer as well."""

    schema: pa.Schema
    batches: Batches
    footer: pa.KeyValueMetadata | None = None


class ArrowReader(Reader):
    """Record batches of files and streams."""

    def stored(self) -> pa.Schema:
        if self.fragment.pipe is not None and self.fragment.streams:
            return self._schema_ahead()
        with self._opened(None) as found, self._reported():
            return _with_names(found.schema)

    def streamed(
        self, names: Sequence[str] | None, *, width: int, words: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Stream batches of not too many rows; nothing in them is believed."""
        most = batch_rows(max(1, width))
        with self.contents(names) as found:
            for batch, _ in found.batches:
                for start in range(0, batch.num_rows, most):
                    yield batch.slice(start, most)

    def row_count(self) -> int | None:
        if self.fragment.streams or self.fragment.compression is not None:
            return None
        with self._reported(), opened_bytes(self.fragment) as source:
            if source.read(len(_FILE)) != _FILE:
                return None
            source.seek(0)
            with pa.ipc.open_file(source) as file:
                if not is_object(self.fragment.location):
                    _hold_against_footer(source)
                return sum(file.get_batch(place).num_rows for place in range(file.num_record_batches))

    @contextmanager
    def contents(self, names: Sequence[str] | None) -> Iterator[Stored]:
        """Open a file or a stream, of which only some columns are decoded; nothing in them is believed."""
        fields = None if names is None else [self.stored().get_field_index(name) for name in names]
        with self._opened(fields) as found:
            yield replace(found, batches=self._valid(found.batches))

    def _valid(self, found: Batches) -> Batches:
        with self._reported():
            for batch, said in found:
                yield checked_batch(batch, shown=self.fragment.shown), said

    def _schema_ahead(self) -> pa.Schema:
        """Return the schema of a stream that comes through a pipe, without losing anything of it."""
        start = len(STREAM) + 4
        length = start
        if self.fragment.pipe is not None:
            length += int.from_bytes(self.fragment.pipe.head(start)[len(STREAM) :], "little")
        with self._reported():
            if self.fragment.pipe is None or length > _LONGEST_SCHEMA:
                msg = "its schema is too long"
                raise pa.ArrowInvalid(msg)
            return _with_names(pa.ipc.read_schema(pa.py_buffer(self.fragment.pipe.head(length))))

    @contextmanager
    def _opened(self, fields: list[int] | None) -> Iterator[Stored]:
        """Open a file or a stream; what goes wrong while it is open is not taken for its own fault."""
        options = pa.ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        with ExitStack() as files:
            with self._reported():
                found = self._found(options, files)
            yield found

    def _found(self, options: pa.ipc.IpcReadOptions, files: ExitStack) -> Stored:
        source = files.enter_context(opened_bytes(self.fragment))
        if not self.fragment.streams and source.read(len(_FILE)) != _FILE:
            source = files.enter_context(opened_bytes(self.fragment))
        elif not self.fragment.streams:
            return self._of_file(source, options, files)
        found = _of_stream(source, options)
        return replace(found, batches=_alone(found.batches, source))

    def _of_file(self, source: pa.NativeFile, options: pa.ipc.IpcReadOptions, files: ExitStack) -> Stored:
        """Return what is in a file, whose mark has been read."""
        if self.fragment.compression is not None:
            with opened_bytes(self.fragment) as ahead:
                if _schema_length(ahead) is None:
                    raise pa.ArrowInvalid(_BARE)
            # What follows is a stream; the end of the file, which cannot be looked up here, is checked.
            source.read(_FILE_START - len(_FILE))
            found = _of_stream(source, options)
            return replace(found, batches=_to_the_end(found.batches, source))
        source.seek(0)
        file = files.enter_context(pa.ipc.open_file(source, options=options))
        if not is_object(self.fragment.location):
            _hold_against_footer(source)
        batches = map(file.get_batch_with_custom_metadata, range(file.num_record_batches))
        # Older versions of pyarrow do not tell what is said at the end.
        return Stored(file.schema, batches, getattr(file, "metadata", None))

    def _reported(self) -> AbstractContextManager[None]:
        return read_problems(self.fragment.shown, " as Arrow", UnicodeDecodeError)

    def codec(self) -> Compression | None:
        """Return the codec of the first record batch, or None; nothing is lost of a pipe."""
        if self.fragment.pipe is not None and self.fragment.streams:
            head, at = self.fragment.pipe.head, 0

            def ahead(size: int) -> bytes:
                nonlocal at
                at += size
                return head(at)[at - size :]

            return _checked_codec(ahead)
        with opened_bytes(self.fragment) as source:
            return _checked_codec(source.read, None if self.fragment.compression else source)


READER = ArrowReader


def _with_names(schema: pa.Schema) -> pa.Schema:
    """Return a schema, having looked at its names: those of a damaged file need not be text."""
    tuple(schema.names)
    return schema


def _of_stream(source: pa.NativeFile, options: pa.ipc.IpcReadOptions) -> Stored:
    reader = pa.ipc.open_stream(source, options=options)
    return Stored(reader.schema, reader.iter_batches_with_custom_metadata())


def _alone(found: Batches, source: pa.NativeFile) -> Batches:
    """Yield all record batches of a stream, after which nothing may follow."""
    yield from found
    if source.read(1):
        raise pa.ArrowInvalid(_MORE)


def _to_the_end(found: Batches, source: pa.NativeFile) -> Batches:
    """Yield all record batches of a file that is read as a stream, after which its end must follow."""
    yield from found
    tail, size = b"", 0
    while more := source.read(1 << 20):
        tail = (tail + more)[-_FILE_END:]
        size += len(more)
    if not tail.endswith(_FILE):
        msg = "it is cut short"
        raise pa.ArrowInvalid(msg)
    if size - _FILE_END - int.from_bytes(tail[:4], "little") > _MOST_PADDING:
        raise pa.ArrowInvalid(_MORE)


def _hold_against_footer(source: pa.NativeFile) -> None:
    """Refuse a file that holds more than its footer names: pyarrow goes by that alone."""
    footer, said = _footer(source)
    source.seek(0)
    length = _schema_length(source)
    # A schema of unknown length takes about as much as it does in the footer.
    end = source.tell() + (len(said) if length is None else length) + _MOST_SCHEMA_MORE
    for start, stop in [*sorted(_blocks_in(said)), (footer, source.size())]:
        if start - end > _MOST_PADDING:
            raise pa.ArrowInvalid(_MORE)
        end = stop


def _footer(source: pa.NativeFile) -> tuple[int, bytes]:
    source.seek(source.size() - _FILE_END)
    length = int.from_bytes(source.read(4), "little")
    start = source.size() - _FILE_END - length
    source.seek(start)
    return start, source.read(length)


def _schema_length(source: pa.NativeFile) -> int | None:
    """Read up to the schema of a file and return its length, which Polars leaves out: then None."""
    source.read(_FILE_START)
    first = source.read(4)
    # A mark stands before the length in files of today.
    length = int.from_bytes(source.read(4) if first == _CONTINUED else first, "little")
    return None if length < _SHORTEST_SCHEMA and first != _CONTINUED else length


def _blocks_in(footer: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each dictionary and record batch begins and ends: third and fourth field of a footer."""
    try:
        table = _Table.root(footer)
        for field in (2, 3):
            for start, head, body in struct.iter_unpack("<qi4xq", table.blocks(field)):
                yield start, start + head + body
    except struct.error as error:
        msg = "its footer is damaged"
        raise pa.ArrowInvalid(msg) from error


_CODEC_START = b"ARROW1\x00\x00"

_CONTINUED = b"\xff\xff\xff\xff"

_LONGEST = 1 << 28

_RECORD_BATCH = 3

_SKIPPED = 1 << 20

_CODECS = (Compression.LZ4, Compression.ZSTD)


def _checked_codec(read: Callable[[int], bytes], file: pa.NativeFile | None = None) -> Compression | None:
    """Return the codec, None where there is no telling: what is wrong is said when batches are read."""
    try:
        if file is not None and file.read(len(_FILE)) == _FILE:
            file.seek(min(_blocks_in(_footer(file)[1]))[0])
        elif file is not None:
            file.seek(0)
        return _first_codec(read)
    except (struct.error, OSError, ValueError):
        return None


def _first_codec(read: Callable[[int], bytes]) -> Compression | None:
    """Return the codec of the first record batch of a stream, skipping what comes before it."""
    start = read(len(_CONTINUED))
    if start == _CODEC_START[: len(_CONTINUED)]:
        read(len(_CODEC_START) - len(_CONTINUED))
        start = read(len(_CONTINUED))
    while start == _CONTINUED:
        length = int.from_bytes(read(4), "little")
        metadata = read(length) if length < _LONGEST else b""
        if len(metadata) < length or not length:
            return None
        message = _Table.root(metadata)
        if message.number(1, "B") == _RECORD_BATCH:
            batch = message.table(2)
            compression = None if batch is None else batch.table(3)
            return None if compression is None else _CODECS[compression.number(0, "b") & 1]
        left = message.number(3, "q")
        while left > 0 and (skipped := read(min(left, _SKIPPED))):
            left -= len(skipped)
        start = read(len(_CONTINUED))
    return None


class _Table:
    """A table of FlatBuffers: fields by their number, those left out being 0."""

    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self._at = at
        self._fields = at - struct.unpack_from("<i", content, at)[0]

    @classmethod
    def root(cls, content: bytes) -> "_Table":
        """Return the table that a buffer is."""
        return cls(content, struct.unpack_from("<I", content, 0)[0])

    def number(self, field: int, kind: str) -> int:
        """Return a field that is a whole number of some size."""
        place = self._place(field)
        return 0 if place is None else int(struct.unpack_from(f"<{kind}", self._content, place)[0])

    def table(self, field: int) -> "_Table | None":
        """Return a field that is a table, or None where it is left out."""
        place = self._place(field)
        if place is None:
            return None
        return _Table(self._content, place + struct.unpack_from("<I", self._content, place)[0])

    def blocks(self, field: int) -> bytes:
        """Return a field of blocks of 24 bytes each, nothing where it is left out."""
        place = self._place(field)
        if place is None:
            return b""
        start = place + struct.unpack_from("<I", self._content, place)[0]
        count = struct.unpack_from("<I", self._content, start)[0]
        return self._content[start + 4 : start + 4 + 24 * count]

    def _place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry >= struct.unpack_from("<H", self._content, self._fields)[0]:
            return None
        offset = struct.unpack_from("<H", self._content, self._fields + entry)[0]
        return self._at + offset if offset else None
