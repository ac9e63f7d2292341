"""Files to record batches: one class for each format, whose parts that formats share stand here.

A new format is a class of a module here that says `stored` and `streamed`, and an entry in
`calibcli/families/formats.py`.
"""

import codecs
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import PurePath
from typing import ClassVar, cast
from urllib.parse import unquote

import numpy as np
import pyarrow as pa

from calibcli.ahead import in_order
from calibcli.data import arrays
from calibcli.data.columns import ResolvedColumns
from calibcli.data.files import InMemory, Stamp, shown_path, stamp_of
from calibcli.data.formats import keeps_ascii
from calibcli.data.objects import is_object, opened, opened_file, parted
from calibcli.data.pipes import Pipe, signals_heard
from calibcli.errors import InputProblem, UsageProblem, first_words
from calibcli.families import loaded
from calibcli.names import Compression, DataFormat
from calibcli.options.numerals import without_thousands
from calibcli.options.rows import RowsInMemory
from calibcli.values import dataclass

_BATCH_ROWS = 1 << 17


# Bytes.
_SMALL = 1 << 16


# A batch of a wide table has fewer rows, so that it holds no more numbers.
_BATCH_NUMBERS = 1 << 21
# But not fewer of several scores: each of them costs by the batch, too.
_ROWS_OF_SCORES = 1 << 10


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of the input that is read in one go.

    Args:
        index: Its place in the order of the input.
        path: The file as the user named it; "-" is standard input.
        format: What the file holds, or that the rows are in memory.
        compression: What is wrapped around it, or None.
        row_groups: The row groups of a Parquet file, or None for all there is.
        first_row: How many rows of the file come before this fragment.
        pipe: The stream behind "-" or another pipe. Such a fragment stays in its process.
        folder: The directory that the path counts from, for workers that stand in another.
        delimiter: What separates the fields of CSV, where the user said so.
        encoding: How text is encoded; None for UTF-8.
        decimal: What stands before the decimals of numbers in CSV; None for a point.
        partitions: Columns that the path holds, such as `country=US`, each with its value or None.
        stamp: What would be another one if the file were written to or replaced; None where nothing tells.
        rows: The rows in memory; None where there is something to open.
    """

    index: int
    path: str
    format: DataFormat | InMemory
    compression: Compression | None = None
    row_groups: tuple[int, ...] | None = None
    first_row: int = 0
    pipe: Pipe | None = None
    folder: str = ""
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    partitions: tuple[tuple[str, str | None], ...] = ()
    stamp: Stamp | None = None
    rows: RowsInMemory | None = None

    @property
    def shown(self) -> str:
        return shown_path(self.path)

    @property
    def location(self) -> str:
        """The path to open: the file, or the temporary copy of standard input."""
        return os.path.join(self.folder, self.path) if self.pipe is None else self.pipe.spooled()  # noqa: PTH118

    @property
    def streams(self) -> bool:
        """Whether the bytes come from a pipe and can be read once."""
        return self.pipe is not None and not self.pipe.is_spooled

    @property
    def is_small(self) -> bool:
        """Whether it is a file so small that a thread to read it costs more than it saves."""
        # A store may tell less of an object, and in text.
        size = None if self.stamp is None or is_object(self.path) else self.stamp[2]
        return isinstance(size, int) and size < _SMALL


def refuse_pipes(fragments: Sequence[Fragment]) -> None:
    for fragment in fragments:
        if fragment.pipe is not None:
            msg = f"{fragment.shown} is a pipe, which workers elsewhere cannot read"
            raise UsageProblem(msg, "name a file that every worker can open, or leave out --engine")


def keep(fragments: Sequence[Fragment]) -> None:
    """Put what comes through pipes into temporary files, so that it can be read more than once."""
    for fragment in fragments:
        if fragment.pipe is not None:
            fragment.pipe.spooled()


def batch_rows(width: int) -> int:
    return max(1, min(_BATCH_ROWS, _BATCH_NUMBERS // width))


# Stores take many questions at a time, and some while for each.
_ASKED_AT_ONCE = 16


def unchanged(fragments: Sequence[Fragment]) -> AbstractContextManager[None]:
    """Refuse what was read inside, if a file was written to, cut short or replaced since it was looked at."""
    # By their names as they are opened.
    return unchanged_files({os.path.join(one.folder, one.path): one.stamp for one in fragments})  # noqa: PTH118


@contextmanager
def unchanged_files(before: Mapping[str, Stamp | None]) -> Iterator[None]:
    try:
        yield
    except InputProblem:
        # Whatever is wrong with half of a file is wrong because it is half of one.
        _refuse_changed(before)
        raise
    _refuse_changed(before)


def _refuse_changed(before: Mapping[str, Stamp | None]) -> None:
    told = [path for path, stamp in before.items() if stamp is not None]
    now = in_order(stamp_of, told, _ASKED_AT_ONCE if any(map(is_object, told)) else 1)
    for path, stamp in zip(told, now, strict=True):
        if stamp != before[path]:
            msg = f"{shown_path(path)} changed while it was read"
            raise InputProblem(msg, "run this again once nobody writes to it")


# What Hive and Spark write for a value that is missing.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def partitions_of(path: str) -> tuple[tuple[str, str | None], ...]:
    """Return the columns that the directories of a path stand for, each with its value or None.

    A column that stands there with two values is returned with both.
    """
    found: dict[tuple[str, str | None], None] = {}
    for folder in PurePath(parted(path)[0]).parts[:-1]:
        name, equals, value = folder.partition("=")
        if equals and name:
            found[unquote(name), None if value == _MISSING else unquote(value)] = None
    return tuple(found)


# As many columns have batches of one row.
_WIDEST = 1 << 30


class Reader:
    """Reads a fragment of one format; every problem that it meets is an `InputProblem`."""

    # Whether batches are decoded in a thread of their own while those before are counted.
    ahead: ClassVar[bool] = True

    def __init__(self, fragment: Fragment) -> None:
        self.fragment = fragment

    def stored(self) -> pa.Schema:
        """Return every column of the fragment's file as it is stored."""
        raise NotImplementedError

    def streamed(
        self, names: Sequence[str] | None, *, width: int, words: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Stream some columns of a fragment, None for all.

        How many numbers a row holds, its `width`, says how many rows make a batch; `words` are columns that
        are seen as text of few different values.
        """
        raise NotImplementedError

    def header(self) -> tuple[str, ...]:
        """Return the names of the columns of the fragment's file."""
        return tuple(self.stored().names)

    def whole_header(self) -> tuple[str, ...]:
        """Return the names that any row has, which may take a pass over all of them."""
        return self.header()

    def batches(self, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        """Stream the chosen columns of a fragment; a batch has them by name."""
        names = resolved.stored
        width = max(len(names), len(resolved.classes))
        if resolved.further:
            width = min(width, _BATCH_NUMBERS // _ROWS_OF_SCORES)
        return self.streamed(names, width=width, words=resolved.words)

    def schema(self, resolved: ResolvedColumns) -> pa.Schema:
        """Return the schema of `batches_of_all`."""
        whole = self.stored()
        fields = [whole.field(name) for name in resolved.carries(whole.names)]
        return pa.schema(fields).with_metadata(whole.metadata)

    def batches_of_all(self, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        """Stream every column of a fragment that is carried along."""
        names = resolved.carries(self.header())
        width = max(len(names), len(resolved.classes))
        return self.streamed(None if resolved.carried is None else names, width=width)

    def kinds(self) -> tuple[tuple[str, str], ...]:
        """Return every column of the fragment's file with what it holds, in a few words."""
        return tuple((field.name, str(field.type)) for field in self.stored())

    def whole_kinds(self) -> tuple[tuple[str, str], ...]:
        """Return those of every row, as `whole_header` does."""
        return self.kinds()

    def row_count(self) -> int | None:
        """Return how many rows the fragment's file has, where that is known without reading them all."""
        return None

    def row_group_rows(self) -> list[int]:
        """Return the rows of each part that the fragment's file can be cut into, if it can be."""
        return []

    def rows_within(self) -> str | None:
        """Return the only key of a document that holds rows of their own, if it is one."""
        return None

    def list_length(self, name: str) -> int | None:
        """Return how many numbers the first list of a column holds; None where there is none."""
        if not arrays.is_list_of_numbers(self.stored().field(name).type):
            return None
        if self.fragment.pipe is not None:
            self.fragment.pipe.spooled()
        for batch in self.streamed((name,), width=_WIDEST):
            column = arrays.lists_of(batch.column(0))
            lost = arrays.nulls(column)
            first = 0 if lost is None else int(np.argmin(lost))
            if len(column) and (lost is None or not lost[first]):
                found = int(arrays.list_lengths(column)[first])
                return found if found >= 0 else None
        return None


def reader_of(fragment: Fragment) -> Reader:
    return reader_type(fragment.format)(fragment)


@cache
def reader_type(kind: DataFormat | InMemory) -> type[Reader]:
    module = "in_memory" if isinstance(kind, InMemory) else kind.facts.reader
    return cast("type[Reader]", loaded(f"data.readers.{module}.READER"))


@contextmanager
def read_problems(shown: str, what: str, *more: type[Exception]) -> Iterator[None]:
    """Turn what pyarrow or the system says of a file, or an error of another kind, into one line."""
    kinds: tuple[type[Exception], ...] = (pa.ArrowException, OSError, *more)
    try:
        yield
    except MemoryError as error:
        raise arrays.no_memory(shown, error) from error
    except kinds as error:
        if arrays.NO_THREAD in str(error):
            raise arrays.no_memory(shown, error) from error
        words = error.args[0] if isinstance(error, KeyError) and error.args else error
        msg = f"{shown} cannot be read{what}: {first_words(words)}"
        raise InputProblem(msg, arrays.DAMAGED) from error


Read = Callable[[int], bytes]


@contextmanager
def opened_text(fragment: Fragment, *, decoded: bool = True) -> Iterator[pa.NativeFile]:
    """Open a file from its beginning; a pipe gives itself away on the way."""
    with opened_bytes(fragment) as stream:
        if fragment.encoding is None or not decoded:
            yield stream
        else:
            yield pa.transcoding_input_stream(stream, fragment.encoding, "utf-8")


@contextmanager
def opened_bytes(fragment: Fragment) -> Iterator[pa.NativeFile]:
    """Open a file from its beginning, decompressed."""
    if fragment.pipe is not None and fragment.streams:
        with signals_heard() as heard:
            yield pa.PythonFile(cast("io.IOBase", fragment.pipe.reader(heard=heard)), "r")
        return
    location = fragment.location
    with opened(location) if is_object(location) else opened_file(location) as file:
        if fragment.compression is None:
            yield file
        else:
            yield pa.CompressedInputStream(file, fragment.compression.value)


@contextmanager
def chunks_of(fragment: Fragment, *, decoded: bool = True) -> Iterator[Read]:
    """Give a function that returns up to so many bytes, and none at the end; of a pipe, what has come."""
    if fragment.pipe is None or not fragment.streams:
        with opened_text(fragment, decoded=decoded) as stream:
            yield stream.read
        return
    read = fragment.pipe.reader().read1
    yield read if fragment.encoding is None or not decoded else _decoding(read, fragment.encoding)


def kept_bytes(fragment: Fragment) -> bool:
    """Whether what is written beside a file's own text can be written in its encoding, byte for byte."""
    return keeps_ascii(fragment.encoding)


@contextmanager
def text_problems(shown: str, problem: Callable[[str], InputProblem]) -> Iterator[None]:
    """Say in one line what is wrong with text: by its decoder, or by `problem` what others say."""
    try:
        yield
    except UnicodeEncodeError:
        # Of the name of a file, and said where names are.
        raise
    except UnicodeError as error:
        raise _not_text(shown, error) from error
    except MemoryError as error:
        raise arrays.no_memory(shown, error) from error
    except (pa.ArrowException, OSError) as error:
        raise (
            arrays.no_memory(shown, error) if arrays.NO_THREAD in str(error) else problem(str(error))
        ) from error


def _not_text(shown: str, error: UnicodeError) -> InputProblem:
    if isinstance(error, UnicodeDecodeError) and "BOM" not in error.reason:
        msg = f"{shown} is not {error.encoding} text: {error.reason}"
        return InputProblem(msg, "name its encoding, such as --encoding latin-1")
    # UTF-16 and UTF-32 say which of their two orders of bytes it is in a mark at the beginning.
    msg = f"{shown} is not text of that encoding: it does not begin with a byte order mark"
    return InputProblem(msg, "without a byte order mark pass --encoding utf-16-le or --encoding utf-16-be")


def _decoding(read: Read, encoding: str) -> Read:
    decoder = codecs.getincrementaldecoder(encoding)()
    ended = False

    def decoded(size: int) -> bytes:
        nonlocal ended
        text = ""
        while not text and not ended:
            chunk = read(size)
            ended = not chunk
            text = decoder.decode(chunk, final=ended)
        return text.encode()

    return decoded


def number_hint(value: str, decimal: str | None, *, score: bool) -> str:
    """Return what to do about text where a number should be, which need not be a score.

    `decimal` is None where a format has one point.
    """
    if decimal != "," and without_thousands(value) != value:
        way = "" if decimal is None else "; if this one stands before decimals, --decimal , reads it"
        return f"export thousands without commas{way}"
    if re.fullmatch(rf"\s*-?\d*[{'.' if decimal == ',' else ','}]\d+\s*", value, re.ASCII):
        if decimal == ",":
            return "--decimal , says that numbers have a comma: leave it out"
        way = "export them as numbers" if decimal is None else "--decimal , reads commas"
        return f"numbers need a decimal point, not a comma: {way}"
    if value.strip().endswith("%"):
        comma = "--decimal , " if "," in value and decimal == "." else ""
        way = f"pass {comma}--scale percent for percentages; --score-map reads 85% beside 0.85 and phrases"
        if "," in value and decimal is None:
            way = "export percentages with a decimal point, not a comma"
        return way if score else "export numbers without percent signs"
    missing = "nothing, NA, N/A, NaN, null and the like count as missing"
    if not re.search(r"\w", value):
        sign = f"if {value!r} stands for a missing value, leave the field empty"
        return sign if value else f"{missing}, blanks do not: leave the field empty"
    from calibcli.data.score_words import entry_of

    words = (
        f" --score-map {entry_of(value)} gives words a number; "
        "`apply --on-missing null` leaves the probability of such rows empty"
    )
    return f"{missing}, other text does not: is it the right column?{words if score else ''}"
