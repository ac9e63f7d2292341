"""Rows that are in memory already: the columns asked for, in the batches that a Parquet file would give."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, cast

import pyarrow as pa

from calibcli.data.files import ArrowColumn
from calibcli.data.readers import Fragment, Reader, batch_rows
from calibcli.errors import UsageProblem
from calibcli.options.rows import RowsInMemory

# What pyarrow writes into a row group of Parquet, so that rows are added up in the same order.
_GROUP_ROWS = 1 << 20


class MemoryReader(Reader):
    """Columns, cut as if they stood in a Parquet file."""

    ahead: ClassVar[bool] = False

    def stored(self) -> pa.Schema:
        columns = _rows_of(self.fragment).columns
        return pa.schema([pa.field(name, _type_of(column)) for name, column in columns.items()])

    def header(self) -> tuple[str, ...]:
        return tuple(_rows_of(self.fragment).columns)

    def streamed(
        self, names: Sequence[str] | None, *, width: int, words: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """Stream columns without copying what a batch holds in one piece."""
        source, sizes = _rows_of(self.fragment), self.row_group_rows()
        names = list(source.columns if names is None else names)
        groups = range(len(sizes)) if self.fragment.row_groups is None else self.fragment.row_groups
        columns = [source.columns[name]() for name in names]
        stop = self.fragment.first_row + sum(sizes[group] for group in groups)
        most = batch_rows(width)
        for first in range(self.fragment.first_row, stop, most):
            pieces = [piece_of(column, first, min(most, stop - first)) for column in columns]
            yield pa.RecordBatch.from_arrays(pieces, names=names)

    def row_count(self) -> int:
        return _rows_of(self.fragment).rows

    def row_group_rows(self) -> list[int]:
        rows = _rows_of(self.fragment).rows
        return [min(_GROUP_ROWS, rows - first) for first in range(0, rows, _GROUP_ROWS)]


READER = MemoryReader


def _type_of(column: Callable[[], ArrowColumn]) -> pa.DataType:
    """Return the type of a column; of objects, which are refused once they are asked for, that of nothing."""
    try:
        kind: pa.DataType = column().type
    except UsageProblem:
        return pa.null()
    return kind


def piece_of(column: ArrowColumn, first: int, size: int) -> "pa.Array[Any]":
    piece = column.slice(first, size)
    if isinstance(piece, pa.Array):
        return piece
    if piece.num_chunks == 1:
        return cast("pa.Array[Any]", piece.chunk(0))
    return piece.combine_chunks()


def _rows_of(fragment: Fragment) -> RowsInMemory:
    return cast("RowsInMemory", fragment.rows)
