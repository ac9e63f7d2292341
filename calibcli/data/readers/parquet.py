"""Parquet: record batches of the columns asked for, row group by row group, in bounded memory.

Statistics are never believed, and what a footer says of rows and types is held against itself
(`calibcli.data.readers.parquet`).
"""

import io
import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from calibcli.data.arrays import DAMAGED, checked_batch
from calibcli.data.objects import is_object, opened_file, source_of
from calibcli.data.readers import Reader, batch_rows, read_problems
from calibcli.errors import InputProblem


def rows_of_groups(file: "pq.ParquetFile", *, shown: str) -> list[int]:
    rows = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    if min(rows, default=0) < 0 or sum(rows) != file.metadata.num_rows:
        total = f"its footer counts {file.metadata.num_rows:,} rows, and its row groups {sum(rows):,}"
        msg = f"{shown} cannot be read as Parquet: {total}"
        raise InputProblem(msg, DAMAGED)
    return rows


def decode_one(file: "pq.ParquetFile", group: int, names: Sequence[str] | None) -> None:
    """Decode the first row of a row group, as must be done before a column chunk is looked at.

    pyarrow ends the process where one is looked at that is encrypted, and raises where one is decoded.
    """
    next(file.iter_batches(1, [group], None if names is None else list(names), use_threads=False), None)


@contextmanager
def key_problems(shown: str) -> Iterator[None]:
    """Say in one line that pyarrow lacks a key."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        words = str(error)
        if "decrypt" not in words:
            raise
        what = "is encrypted" if "no decryption" in words else "has encrypted columns among those to be read"
        msg = f"{shown} {what}, and calibcli holds no keys"
        hint = "decrypt it with what wrote it: calibcli reads Parquet in clear"
        raise InputProblem(msg, hint) from error


def open_parquet(
    source: "str | pa.NativeFile", location: str, *, columns: int, as_dictionary: list[str] | None = None
) -> pq.ParquetFile:
    """Open a file of which so many columns are read, each through a buffer."""
    return pq.ParquetFile(
        source,
        read_dictionary=as_dictionary,
        pre_buffer=is_object(location),
        buffer_size=max(1 << 12, min(_BUFFER, _ALL_BUFFERS // columns)),
        page_checksum_verification=True,
    )


# How a footer says of a column, or of a field in one, what its values are.
_ANNOTATED = re.compile(
    r"^( *)(?:required|optional|repeated) .* field_id=-?\d+ (?:(.*) \((\w+)(.*)\)|(.*?))[;{ ]*$"
)

# What every version of pyarrow writes again, or says in other words.
_USUAL = frozenset(("Int", "List", "Map", "String", "Decimal", "Date", "Timestamp", "Null", "Enum"))


def types_lost(location: str, names: Collection[str]) -> dict[str, str]:
    """Return, of some columns, the types that pyarrow reads without their meaning and so does not write."""
    with source_of(location) as source, open_parquet(source, location, columns=1) as file:
        stored = _types_of(file.schema, names)
        if not any(stored.values()):
            return {}
        kept = [one for one in file.schema_arrow if stored.get(one.name)]
    again = io.BytesIO()
    pq.ParquetWriter(again, pa.schema(kept)).close()
    with pq.ParquetFile(again) as file:
        written = _types_of(file.schema, names)
    lost = {name: kinds - written.get(name, set()) for name, kinds in stored.items()}
    return {name: ", ".join(sorted(kinds)) for name, kinds in lost.items() if kinds}


def _types_of(schema: pq.ParquetSchema, names: Collection[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    column = ""
    for line in map(_ANNOTATED.match, str(schema).splitlines()[2:]):
        if line is None:
            continue
        margin, name, kind, more, bare = line.groups()
        column = (bare if name is None else name) if len(margin) == 2 else column
        if column in names:
            found.setdefault(column, set()).update({f"{kind}{more}"} if kind not in (None, *_USUAL) else ())
    return found


class Chunks:
    """What a footer says of the columns that are read, held against itself as their rows come.

    The decoder takes as many rows of a row group as that group counts, and passes over further values of its
    columns; it takes the type that the schema names. A column chunk is looked at only once it was decoded:
    pyarrow ends the process where one is looked at that is encrypted.
    """

    def __init__(
        self, file: "pq.ParquetFile", *, groups: Sequence[int], names: list[str] | None, shown: str
    ) -> None:
        self._file, self._names, self._shown = file, names, shown
        leaves = [(place, file.schema.column(place)) for place in range(len(file.schema))]
        if names is not None:
            known = set(names)
            leaves = [one for one in leaves if {one[1].path, one[1].path.partition(".")[0]} & known]
        self._leaves = [(at, leaf.path, leaf.physical_type, leaf.max_repetition_level) for at, leaf in leaves]
        self._groups = deque((group, file.metadata.row_group(group).num_rows) for group in groups)
        self._ahead = 0

    def came(self, rows: int) -> None:
        """Look at the row groups that so many further rows are from."""
        self._ahead += rows
        while self._ahead > 0 and self._groups:
            group, count = self._groups.popleft()
            self._check(group, count)
            self._ahead -= count

    def end(self) -> None:
        """Look at what is left, which counts no rows; refuse rows that did not come."""
        lost = sum(count for _, count in self._groups) - self._ahead
        if lost:
            msg = f"{self._shown} cannot be read as Parquet: its pages end {lost:,} rows too soon"
            raise InputProblem(msg, DAMAGED)
        for group, count in self._groups:
            decode_one(self._file, group, self._names)
            self._check(group, count)

    def _check(self, group: int, rows: int) -> None:
        about = self._file.metadata.row_group(group)
        for place, path, kind, repeated in self._leaves:
            chunk = about.column(place)
            values, stored = chunk.num_values, chunk.physical_type
            # A list has a value for each of its elements, and one where it is empty.
            if values == rows or (repeated and values > rows > 0):
                if stored == kind:
                    continue
                found = f"{stored} where the schema says {kind}"
            else:
                found = f"{values:,} values for {rows:,} rows"
            msg = f"{self._shown}, column {path!r}: row group {group + 1} has {found}"
            raise InputProblem(msg, DAMAGED)


_MAGIC = b"PAR1"

_BUFFER = 1 << 20

_ALL_BUFFERS = 1 << 26


class ParquetReader(Reader):
    """Row groups, one after the other."""

    def stored(self) -> pa.Schema:
        with self._opened() as file:
            return file.schema_arrow

    def streamed(
        self, names: Sequence[str] | None, *, width: int, words: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        columns = None if names is None else list(names)
        seen = [name for name in words if columns is not None and name in columns]
        buffers = width if columns is None else max(1, len(columns))
        with self._opened(columns=buffers) as file:
            kinds = file.schema_arrow if seen else None
            text = [] if kinds is None else [name for name in seen if _is_text(kinds.field(name).type)]
            if not text:
                yield from self._batches(file, columns, width=width)
                return
        # What a file is to read as a dictionary is settled as it is opened.
        with self._opened(as_dictionary=text, columns=buffers) as file:
            yield from self._batches(file, columns, width=width)

    def row_count(self) -> int | None:
        return sum(self.row_group_rows())

    def row_group_rows(self) -> list[int]:
        with self._opened() as file:
            if not is_object(self.fragment.location):
                _refuse_several(file, self.fragment.location)
            return rows_of_groups(file, shown=self.fragment.shown)

    def _batches(
        self, file: pq.ParquetFile, columns: list[str] | None, *, width: int
    ) -> Iterator[pa.RecordBatch]:
        groups = range(file.num_row_groups) if self.fragment.row_groups is None else self.fragment.row_groups
        chunks = Chunks(file, groups=groups, names=columns, shown=self.fragment.shown)
        if len(groups):
            for batch in file.iter_batches(
                batch_size=batch_rows(width), row_groups=list(groups), columns=columns, use_threads=False
            ):
                chunks.came(batch.num_rows)
                yield checked_batch(batch, shown=self.fragment.shown)
        chunks.end()

    @contextmanager
    def _opened(
        self, as_dictionary: list[str] | None = None, *, columns: int = 1
    ) -> Iterator[pq.ParquetFile]:
        with (
            read_problems(self.fragment.shown, " as Parquet", UnicodeError),
            key_problems(self.fragment.shown),
            source_of(self.fragment.location) as source,
            open_parquet(
                source, self.fragment.location, columns=columns, as_dictionary=as_dictionary
            ) as file,
        ):
            yield file


READER = ParquetReader


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _refuse_several(read: pq.ParquetFile, path: str) -> None:
    """Refuse files that were put one after the other, as the last footer would seem that of the first file.

    What stands between the last page and the footer of the last file, at most indexes and Bloom filters, is
    as long as what is read here beside the files before it; so these end within that.
    """
    pages = _end_of_pages(read)
    if pages is None:
        return
    with opened_file(path) as file:
        end = file.size() - len(_MAGIC) - 4
        file.seek(end)
        left = end - int.from_bytes(file.read(4), "little") - pages + len(_MAGIC)
        file.seek(0)
        tail = b""
        while left > 0 and (more := file.read(min(_BUFFER, left))):
            if 2 * _MAGIC in tail + more:
                msg = "another file begins within it: name several files one by one instead"
                raise pa.ArrowInvalid(msg)
            tail = more[1 - 2 * len(_MAGIC) :]
            left -= len(more)


def _end_of_pages(read: pq.ParquetFile) -> int | None:
    """Return where the last column chunk ends that can be decoded, as the footer says; None where none can.

    Whoever reads one that cannot be decoded is told; pyarrow does not survive a look at it.
    """
    last = read.num_row_groups - 1
    if last < 0:
        return len(_MAGIC)
    for column in reversed(range(len(read.schema))):
        try:
            decode_one(read, last, [read.schema.column(column).path])
        except (pa.ArrowException, OSError):
            continue
        chunk = read.metadata.row_group(last).column(column)
        page = chunk.dictionary_page_offset if chunk.has_dictionary_page else None
        first = chunk.data_page_offset if page is None else page
        return int(first + chunk.total_compressed_size)
    return None
