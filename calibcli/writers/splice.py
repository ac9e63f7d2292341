"""A CSV file with more fields on every line and every other byte as it was."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibcli.ahead import made_ahead
from calibcli.errors import InputProblem, UsageProblem
from calibcli.progress import Advance
from calibcli.table.score_table import Floats
from calibcli.writers.arrow import bytes_scalar, column_of, in_encoding, place_column, stretches, written
from calibcli.writers.records import Block, Positions, blocks, separators

_BOM = b"\xef\xbb\xbf"
Write = Callable[[memoryview | bytes], object]
Added = Sequence["Floats | pa.Array[Any]"]


@dataclass(frozen=True, slots=True)
class NewColumns:
    """
    The columns to add, and those that stay.

    Args:
        names: Names of the new ones.

        delimiter: What separates fields.

        blank: Whether a blank line is a record.

        shown: The file's name in messages.

        encoding: How the file's text is encoded, which is ASCII where it looks so.

        kept: Places of the fields that stay, in order; None for all, whatever their number.

        fields: How many fields a record has.

        decimal: What stands before the decimals of numbers.
    """

    names: tuple[str, ...]
    delimiter: str
    blank: bool
    shown: str
    encoding: str = "utf-8"
    kept: tuple[int, ...] | None = None
    fields: int = 1
    decimal: str = "."


def splice(
    read: Callable[[int], bytes],
    write: Write,
    *,
    columns: NewColumns,
    predicted: Callable[[bytes], Added],
    ahead: bool = False,
    advance: Advance = lambda _: None,
) -> int:
    """
    Copy a CSV file and add fields to the end of every record.

    Args:
        read: Returns up to so many bytes of the file, and none at its end.

        write: Takes the bytes of the new file.

        columns: The columns to add.

        predicted: From whole records without the header to the values of each new column.

        ahead: Whether to read and predict in a thread of its own; never of what may keep one waiting.

        advance: Told how many records each block had.

    Returns:
        The number of records after the header.

    Raises:
        InputProblem: If a record cannot be told from the next.

        UsageProblem: If a name cannot be written in the file's encoding.
    """
    records = 0
    found = _pieces(read, columns, predicted)
    for piece in made_ahead(found) if ahead else found:
        if piece.head:
            write(piece.head)
        _write_block(piece, write, columns)
        records += piece.block.ends.size
        advance(piece.block.ends.size)
    return records


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """
    Some records, and what comes after each.

    Args:
        head: The new header, where it stands before them.

        block: The records.

        values: The new columns.
    """

    head: bytes
    block: Block
    values: Added


def _pieces(
    read: Callable[[int], bytes], columns: NewColumns, predicted: Callable[[bytes], Added]
) -> Iterator[_Piece]:
    """Yield the records with the new values, checked to be as many."""
    header = True
    for block in blocks(read, delimiter=columns.delimiter, blank=columns.blank, shown=columns.shown):
        head, rest = b"", block
        values: Added = ()
        if header and block.ends.size:
            head, rest = _header(block, columns)
            header = False
        if rest.ends.size:
            values = predicted(rest.content)
            for column in values:
                _check_count(len(column), rest.ends.size, columns.shown)
        else:
            _check_count(len(_parsed(rest.content, columns)), 0, columns.shown)
        yield _Piece(head, rest, values)


def _header(block: Block, columns: NewColumns) -> tuple[bytes, Block]:
    """Return the header with the new names, and what follows it."""
    end = int(block.ends[0])
    _check_count(len(_parsed(block.content[:end], columns)), 1, columns.shown)
    start = end + (2 if block.content.startswith(b"\r\n", end) else 1)
    old = block.content[:end] if columns.kept is None else _kept_header(block, columns)
    new = [_encoded(quoted(name, columns.delimiter), columns) for name in columns.names]
    head = columns.delimiter.encode().join(new if columns.kept == () else [old, *new])
    bom = _BOM if block.content.startswith(_BOM) and not head.startswith(_BOM) else b""
    rest = Block(block.content[start:], block.starts[1:] - start, block.ends[1:] - start)
    return bom + head + block.content[end:start], rest


def _kept_header(block: Block, columns: NewColumns) -> bytes:
    """Return the names that stay, as they are written."""
    start, end = int(block.starts[0]), int(block.ends[0])
    content = block.content[:end]
    start += len(_BOM) * content.startswith(_BOM, start)
    one = Block(content, np.array([start]), np.array([end]))
    return columns.delimiter.encode().join(
        content[first:last] for first, last in _bounds(one, columns)[0].tolist()
    )


def _encoded(text: str, columns: NewColumns) -> bytes:
    try:
        return text.encode(columns.encoding)
    except UnicodeEncodeError:
        msg = f"{columns.shown} is {columns.encoding} text, which cannot hold {text!r}"
        raise UsageProblem(msg, "convert it to UTF-8") from None


def _parsed(content: bytes, columns: NewColumns) -> list[list[str]]:
    """Return the records of a few lines as a CSV reader sees them."""
    text = io.StringIO(content.decode("utf-8-sig", "replace"), newline="")
    return [row for row in csv.reader(text, delimiter=columns.delimiter) if row or columns.blank]


def quoted(field: str, delimiter: str) -> str:
    """Return a field as CSV writes it, in quotes where it needs them."""
    if any(character in field for character in (delimiter, '"', "\n", "\r")):
        return '"' + field.replace('"', '""') + '"'
    return field


def _check_count(parsed: int, found: int, shown: str) -> None:
    """Refuse records that a CSV reader counts otherwise."""
    if parsed != found:
        msg = f"{shown}: {found:,} lines hold {parsed:,} records"
        raise InputProblem(msg, "quotes or line ends are uneven: rewrite the file with a CSV library")


def _write_block(piece: _Piece, write: Write, columns: NewColumns) -> None:
    """Write every record with the new fields, and what follows the last one."""
    block = piece.block
    if not block.ends.size:
        write(block.content)
        return
    fields = [_field(column_of(column), columns) for column in piece.values]
    parts: list[Any] = [*_old_parts(block, columns), *fields]
    if columns.kept is not None:
        # A line end is followed by no separator.
        parts[:2] = [pc.binary_join_element_wise(*parts[:2], bytes_scalar(b""))]
    # What is joined is one buffer with nothing between the records: the bytes to write.
    write(written(pc.binary_join_element_wise(*parts, bytes_scalar(columns.delimiter.encode()))))
    write(block.content[int(block.ends[-1]) :])


def _field(column: "pa.Array[Any]", columns: NewColumns) -> "pa.Array[Any]":
    """Return the text of a new column in the file's encoding."""
    text: pa.Array[Any] = column.cast(pa.string()).cast(pa.binary())
    if columns.decimal != "." and pa.types.is_floating(column.type):
        text = pc.replace_substring(text, pattern=".", replacement=columns.decimal)
        quote = bytes_scalar(b'"' if columns.decimal == columns.delimiter else b"")
        parts: list[Any] = [quote, text, quote, bytes_scalar(b"")]
        quoted_text: pa.Array[Any] = pc.binary_join_element_wise(*parts)
        return quoted_text
    if columns.encoding == "utf-8" or not pa.types.is_string(column.type):
        return text
    return in_encoding(text, lambda one: _encoded(one.decode(), columns))


def _old_parts(block: Block, columns: NewColumns) -> "list[pa.Array[Any]]":
    """
    Return what stays of each record, in stretches of fields that stand beside each other.

    The first one begins with the line end of the record before, so that no line end is ever rewritten; where
    only some fields stay it is that line end alone.
    """
    if columns.kept is None:
        return [stretches(np.concatenate(([0], block.ends)), block.content)]
    before = np.concatenate(([0], block.ends[:-1]))
    bounds = np.concatenate(
        (np.column_stack((before, block.starts))[:, None], _bounds(block, columns)), axis=1
    )
    pieces = stretches(bounds.reshape(-1), block.content)
    count = bounds.shape[1]
    # Between two stretches stands one that does not stay.
    places = 2 * np.arange(count * block.ends.size).reshape(-1, count)
    return [pieces.take(place_column(places[:, place])) for place in range(count)]


def _bounds(block: Block, columns: NewColumns) -> Positions:
    """
    Return where the stretches of kept fields begin and end in each record, shape (n, stretches, 2).

    Raises:
        InputProblem: If records have not as many fields as the header.
    """
    number, kept = block.ends.size, columns.kept or ()
    if not kept:
        return np.empty((number, 0, 2), np.int64)
    between = separators(block, columns.delimiter)
    if between.size != number * (columns.fields - 1):
        msg = f"{columns.shown}: some of {number:,} lines have not {columns.fields:,} fields"
        raise InputProblem(msg, "fields that contain the separator must be quoted")
    between = between.reshape(number, columns.fields - 1)
    starts = np.column_stack((block.starts, between + 1))
    ends = np.column_stack((between, block.ends))
    runs = np.split(np.array(kept, np.int64), np.flatnonzero(np.diff(kept) != 1) + 1)
    return np.stack([np.column_stack((starts[:, run[0]], ends[:, run[-1]])) for run in runs], axis=1)
