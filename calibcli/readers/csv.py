"""
CSV and TSV: record batches of the columns asked for, as the file streams by.

Types are never inferred: scores and weights are numbers, labels are text seen through a dictionary. In a
file of several columns a blank line is no row; in a file of one column it is a missing value.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.csv as pa_csv

from calibcli.errors import InputProblem
from calibcli.names import DataFormat
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment
from calibcli.readers.pipes import LONGEST_HEADER, first_record_end
from calibcli.readers.sound import no_memory
from calibcli.readers.text import chunks_of, kept_bytes, opened_text

_BLOCK = 1 << 20
_ENCODING_HINT = "say which encoding it has, such as --encoding latin-1 or --encoding cp1252"
_TEXT = pa.dictionary(pa.int32(), pa.string())
_NOT_A_NUMBER = re.compile(
    r"column #(\d+): Row #(\d+): CSV conversion error to \w+: invalid value '(.*)'", re.DOTALL
)
_NOT_UTF8 = re.compile(r"column #(\d+): Row #(\d+): CSV conversion error to \w+: invalid UTF8")
_WRONG_FIELDS = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True, slots=True)
class Layout:
    """
    How a CSV file is laid out.

    Args:
        shown: The file's name in messages.

        names: The columns in order.

        delimiter: What separates the fields.

        decimal: What stands before the decimals of numbers.
    """

    shown: str
    names: tuple[str, ...]
    delimiter: str
    decimal: str = "."


def header(fragment: Fragment) -> tuple[str, ...]:
    """Return the names of a file's columns, without losing anything of a pipe."""
    return layout(fragment).names


def layout(fragment: Fragment) -> Layout:
    """Read the layout of a file from its first line."""
    delimiter = fragment.delimiter or ("\t" if fragment.format is DataFormat.TSV else ",")
    if fragment.pipe is not None and fragment.streams:
        head = fragment.pipe.first_record()
        names = header_names(head, delimiter, shown=fragment.shown, encoding=fragment.encoding)
    else:
        with _reported(Layout(fragment.shown, (), "")), opened_text(fragment) as stream:
            names = header_names(_first_record(stream), delimiter, shown=fragment.shown)
    return Layout(fragment.shown, names, delimiter, fragment.decimal or ".")


def header_names(head: bytes, delimiter: str, *, shown: str, encoding: str | None = None) -> tuple[str, ...]:
    """Return the names in a header line; `head` may run on beyond it."""
    end = first_record_end(head)
    if end is None and len(head) >= LONGEST_HEADER:
        msg = f"{shown}: the header is longer than {LONGEST_HEADER >> 20} MiB"
        raise InputProblem(msg, "is it CSV, and are its quotes closed? --input-format says what else it is")
    try:
        text = head[:end].decode(encoding or "utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{shown}: the header is not {encoding or 'UTF-8'} text"
        hint = "is it CSV? --input-format says what else it is" if b"\0" in head else _ENCODING_HINT
        raise InputProblem(msg, hint) from None
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [""])
    except csv.Error as error:
        msg = f"{shown}: the header is not CSV: {error}"
        raise InputProblem(msg) from None
    return tuple(names)


def batches(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment."""
    found = layout(fragment)
    types: dict[str, pa.DataType] = {
        name: _TEXT if name in chosen.words else pa.float64() for name in chosen.stored
    }
    if chosen.identity in types:
        types[chosen.identity] = pa.string()
    yield from _stream(fragment, found, types=types)


def schema(fragment: Fragment, chosen: ChosenColumns) -> pa.Schema:
    """Return what `batches_of_all` gives: the score as a number and all other columns as text."""
    names = chosen.carries(header(fragment))
    scores = set(chosen.scores)
    kinds = [pa.float64() if name in scores else pa.string() for name in names]
    return pa.schema([pa.field(name, kind) for name, kind in zip(names, kinds, strict=True)])


def batches_of_all(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream every column, the score as a number and all others as the text that they are."""
    types = {field.name: field.type for field in schema(fragment, chosen)}
    yield from _stream(fragment, layout(fragment), types=types, verbatim=True)


def kinds(fragment: Fragment) -> tuple[tuple[str, str], ...]:
    """Return every column; what is in it is text."""
    return tuple((name, "text") for name in header(fragment))


def row_count(fragment: Fragment) -> int | None:  # noqa: ARG001
    """Return None: rows are known when all are read."""
    return None


def list_length(fragment: Fragment, name: str) -> int | None:  # noqa: ARG001
    """Return None: text holds no lists."""
    return None


@contextmanager
def text_of(fragment: Fragment, within: Layout) -> Iterator[Callable[[int], bytes]]:
    """
    Give a function that returns up to so many of a file's bytes, decompressed, and none at the end.

    They are the file's own where new fields can be written beside them (`kept_bytes`), and else UTF-8.
    """
    with chunks_of(fragment, decoded=not kept_bytes(fragment)) as chunk:

        def read(size: int) -> bytes:
            with _reported(within):
                return chunk(size)

        yield read


def scores_of_block(
    block: bytes, chosen: ChosenColumns, *, within: Layout, rows_before: int
) -> "pa.Array[Any]":
    """
    Parse the score column of some whole lines of a file.

    Args:
        block: Lines without the header.

        chosen: The columns of the file.

        within: The layout of the file.

        rows_before: How many rows of the file come before the block, for messages.
    """
    return numbers_of_block(block, [chosen.score], within=within, rows_before=rows_before).column(0)


def numbers_of_block(
    block: bytes, names: Sequence[str], *, within: Layout, rows_before: int, words: Sequence[str] = ()
) -> pa.RecordBatch:
    """
    Parse some columns of numbers of some whole lines of a file.

    Args:
        block: Lines without the header.

        names: The columns.

        within: The layout of the file.

        rows_before: How many rows of the file come before the block, for messages.

        words: Columns of text of few different values that are read as well.
    """
    with _reported(within, rows_before=rows_before, header_lines=0):
        reader = pa_csv.open_csv(
            cast("IO[bytes]", pa.BufferReader(block)),
            read_options=pa_csv.ReadOptions(
                use_threads=False, block_size=len(block) + 1, column_names=list(within.names)
            ),
            parse_options=_parsing(within),
            convert_options=_converting(
                within, dict.fromkeys(names, pa.float64()) | dict.fromkeys(words, _TEXT)
            ),
        )
        # The block is shorter than the reader's, so that one batch is all there is.
        return reader.read_next_batch()


def _stream(
    fragment: Fragment, found: Layout, *, types: dict[str, pa.DataType], verbatim: bool = False
) -> Iterator[pa.RecordBatch]:
    with _reported(found), opened_text(fragment) as stream:
        try:
            reader = pa_csv.open_csv(
                cast("IO[bytes]", stream),
                read_options=pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK),
                parse_options=_parsing(found),
                convert_options=_converting(found, types, verbatim=verbatim),
            )
        except pa.ArrowInvalid as error:
            # So pyarrow calls a header without a line end: a file of no rows.
            if "Empty CSV file" in str(error):
                return
            raise
        yield from reader


def _parsing(found: Layout) -> pa_csv.ParseOptions:
    return pa_csv.ParseOptions(
        delimiter=found.delimiter,
        ignore_empty_lines=len(found.names) > 1,
        newlines_in_values=True,
    )


def _converting(
    found: Layout, types: dict[str, pa.DataType], *, verbatim: bool = False
) -> pa_csv.ConvertOptions:
    return pa_csv.ConvertOptions(
        include_columns=list(types),
        column_types=types,
        strings_can_be_null=not verbatim,
        decimal_point=found.decimal,
    )


def _first_record(stream: pa.NativeFile) -> bytes:
    head = b""
    while first_record_end(head) is None and len(head) < LONGEST_HEADER:
        # Twice as much each time, so that looking again costs no more than looking once.
        more = stream.read(max(1 << 16, len(head)))
        if not more:
            break
        head += more
    return head


@contextmanager
def _reported(found: Layout, *, rows_before: int = 0, header_lines: int = 1) -> Iterator[None]:
    """Turn what pyarrow says of a file into one line with the column and the row of the file."""
    try:
        yield
    except UnicodeDecodeError as error:
        msg = f"{found.shown} is not {error.encoding} text: {error.reason}"
        raise InputProblem(msg, "--encoding names another encoding") from error
    except MemoryError as error:
        raise no_memory(found.shown, error) from error
    except (pa.ArrowException, OSError) as error:
        raise _problem(found, str(error), rows_before - header_lines) from error


def _problem(found: Layout, said: str, shift: int) -> InputProblem:
    """Return the problem that pyarrow's words mean; its row numbers plus `shift` count the file's rows."""
    if match := _NOT_A_NUMBER.search(said):
        name, row, value = found.names[int(match[1])], int(match[2]) + shift, match[3]
        what = f"{_shortened(value)} at row {row:,} is" if value else f"the blanks at row {row:,} are"
        msg = f"{found.shown}, column {name!r}: {what} not a number"
        return InputProblem(msg, _number_hint(value, found.decimal))
    if match := _NOT_UTF8.search(said):
        name, row = found.names[int(match[1])], int(match[2]) + shift
        msg = f"{found.shown}, column {name!r}: the text at row {row:,} is not UTF-8"
        return InputProblem(msg, _ENCODING_HINT)
    if match := _WRONG_FIELDS.search(said):
        row, expected, got = int(match[1]) + shift, int(match[2]), int(match[3])
        fields = f"{got} field{'s' * (got != 1)}"
        msg = f"{found.shown}: row {row:,} has {fields} where the header has {expected}"
        return InputProblem(
            msg, "fields that contain the separator must be quoted, and quotes must be closed"
        )
    msg = f"{found.shown} cannot be read: {said.splitlines()[0] if said else 'unknown error'}"
    return InputProblem(msg, "is it CSV, and complete? path:parquet or path:tsv forces another format")


def _shortened(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:37] + "...")


def _number_hint(value: str, decimal: str) -> str:
    if re.fullmatch(r"\s*-?\d*[.,]\d+\s*", value):
        if decimal == ",":
            return "--decimal , says that numbers have a comma: leave it out"
        return "numbers need a decimal point, not a comma: --decimal , reads commas"
    if value.strip().endswith("%"):
        return "write percentages as fractions of 1"
    missing = "nothing, NA, N/A, NaN, null and the like count as missing"
    if not value:
        return f"{missing}, blanks do not: leave the field empty"
    return f"{missing}, other text does not: is it the right column?"
