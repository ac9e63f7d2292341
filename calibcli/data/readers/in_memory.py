"""Rows that are in memory already: the columns asked for, in the batches that a Parquet file would give."""

from collections.abc import Iterator
from typing import Any, cast

import pyarrow as pa

from calibcli.data.class_rows import is_list_of_numbers, list_lengths
from calibcli.data.columns import ChosenColumns
from calibcli.data.decode import nulls
from calibcli.data.files import HeldColumn, HeldRows
from calibcli.data.fragment import Fragment, batch_rows

# What pyarrow writes into a row group of Parquet, so that rows are added up in the same order.
_GROUP_ROWS = 1 << 20


def header(fragment: Fragment) -> tuple[str, ...]:
    """Return the names of the columns."""
    return tuple(_held(fragment).columns)


def row_group_rows(fragment: Fragment) -> list[int]:
    """Return the number of rows in each of the parts that the rows are cut into."""
    rows = _held(fragment).rows
    return [min(_GROUP_ROWS, rows - first) for first in range(0, rows, _GROUP_ROWS)]


def batches(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment, without copying what a batch holds in one piece."""
    width = max(len(chosen.names), len(chosen.classes))
    yield from _batches(fragment, chosen.names, width=width)


def schema(fragment: Fragment, chosen: ChosenColumns) -> pa.Schema:
    """Return what `batches_of_all` gives."""
    held = _held(fragment).columns
    return pa.schema([pa.field(name, held[name]().type) for name in chosen.carries(held)])


def batches_of_all(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream every column."""
    names = chosen.carries(header(fragment))
    yield from _batches(fragment, names, width=max(len(names), len(chosen.classes)))


def kinds(fragment: Fragment) -> tuple[tuple[str, str], ...]:
    """Return every column with its type."""
    return tuple((name, str(column().type)) for name, column in _held(fragment).columns.items())


def row_count(fragment: Fragment) -> int | None:
    """Return how many rows there are."""
    return _held(fragment).rows


def list_length(fragment: Fragment, name: str) -> int | None:
    """Return how many numbers the first list of a column holds; None where it holds no lists, or no rows."""
    column = _held(fragment).columns[name]()
    if not is_list_of_numbers(column.type):
        return None
    for first in range(len(column)):
        one = piece_of(column, first, 1)
        if nulls(one) is None:
            return int(list_lengths(one)[0])
    return None


def _batches(fragment: Fragment, names: tuple[str, ...], *, width: int) -> Iterator[pa.RecordBatch]:
    held = _held(fragment)
    sizes = row_group_rows(fragment)
    groups = range(len(sizes)) if fragment.row_groups is None else fragment.row_groups
    columns = [held.columns[name]() for name in names]
    stop = fragment.first_row + sum(sizes[group] for group in groups)
    most = batch_rows(width)
    for first in range(fragment.first_row, stop, most):
        size = min(most, stop - first)
        pieces = [piece_of(column, first, size) for column in columns]
        yield pa.RecordBatch.from_arrays(pieces, names=list(names))


def piece_of(column: HeldColumn, first: int, size: int) -> "pa.Array[Any]":
    """Return some values of a column in one piece."""
    piece = column.slice(first, size)
    if isinstance(piece, pa.Array):
        return piece
    if piece.num_chunks == 1:
        return cast("pa.Array[Any]", piece.chunk(0))
    return piece.combine_chunks()


def _held(fragment: Fragment) -> HeldRows:
    return cast("HeldRows", fragment.path)
