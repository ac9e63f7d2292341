"""A CSV file with more fields on every line and every other byte as it was."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from calibcli.errors import InputProblem
from calibcli.table.score_table import Floats
from calibcli.writers.arrow import column_of
from calibcli.writers.records import Block, blocks


@dataclass(frozen=True, slots=True)
class NewColumns:
    """
    The columns to add.

    Args:
        names: Their names.

        delimiter: What separates fields.

        blank: Whether a blank line is a record.

        shown: The file's name in messages.
    """

    names: tuple[str, ...]
    delimiter: str
    blank: bool
    shown: str


def splice(
    read: Callable[[int], bytes],
    write: Callable[[memoryview | bytes], object],
    *,
    columns: NewColumns,
    predicted: Callable[[bytes], Sequence["Floats | pa.Array[Any]"]],
) -> int:
    """
    Copy a CSV file and add fields to the end of every record.

    Args:
        read: Returns up to so many bytes of the file, and none at its end.

        write: Takes the bytes of the new file.

        columns: The columns to add.

        predicted: From whole records without the header to the values of each new column.

    Returns:
        The number of records after the header.

    Raises:
        InputProblem: If a record cannot be told from the next.
    """
    records = 0
    header = True
    for block in blocks(read, delimiter=columns.delimiter, blank=columns.blank, shown=columns.shown):
        rest = block
        if header and block.ends.size:
            rest = _write_header(block, write, columns)
            header = False
        if rest.ends.size:
            values = predicted(rest.content)
            for column in values:
                _check_count(len(column), rest.ends.size, columns.shown)
            _write_block(rest, write, values, columns.delimiter)
            records += rest.ends.size
        else:
            _check_count(len(_parsed(rest.content, columns)), 0, columns.shown)
            write(rest.content)
    return records


def _write_header(block: Block, write: Callable[[memoryview | bytes], object], columns: NewColumns) -> Block:
    """Write the header with the new names, and return what follows it."""
    end = int(block.ends[0])
    _check_count(len(_parsed(block.content[:end], columns)), 1, columns.shown)
    write(block.content[:end])
    for name in columns.names:
        write((columns.delimiter + quoted(name, columns.delimiter)).encode())
    start = end + (2 if block.content.startswith(b"\r\n", end) else 1)
    write(block.content[end:start])
    return Block(block.content[start:], block.ends[1:] - start)


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


def _write_block(
    block: Block,
    write: Callable[[memoryview | bytes], object],
    values: Sequence["Floats | pa.Array[Any]"],
    delimiter: str,
) -> None:
    """
    Join each stretch from one record's end to the next with the new fields.

    A stretch begins with the line end of the record before, so that no line end is ever rewritten.
    """
    offsets = np.concatenate(([0], block.ends)).astype(np.int32)
    fields = [column_of(column).cast(pa.string()).cast(pa.binary()) for column in values]
    parts: list[Any] = [_binary(offsets, block.content), *fields]
    separator: Any = _binary(np.array([0, 1], np.int32), delimiter.encode())[0]
    # What is joined is one buffer with nothing between the records: the bytes to write.
    joined: Any = pc.binary_join_element_wise(*parts, separator)
    _, lengths, content = joined.buffers()
    write(memoryview(content)[: int(np.frombuffer(lengths, np.int32)[block.ends.size])])
    write(block.content[int(block.ends[-1]) :])


def _binary(offsets: npt.NDArray[np.int32], content: bytes) -> "pa.Array[Any]":
    buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), offsets.size - 1, buffers)
