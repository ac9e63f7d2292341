"""CSV: record batches as text, and files with more fields on every line and every other byte as it was."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from calibcli.ahead import made_ahead
from calibcli.data.arrays import (
    Column,
    bytes_scalar,
    column_of,
    in_encoding,
    place_column,
    stretches,
    written,
)
from calibcli.data.records import BOM, Block
from calibcli.data.values import names_of
from calibcli.data.writers import ROOMIER, Output
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.stats.table import Floats, Integers
from calibcli.values import dataclass


def write_batches(batches: Iterable[pa.RecordBatch], out: Output) -> Iterator[int]:
    """Write record batches as CSV with a header, text in quotes."""
    options = pa_csv.WriteOptions(delimiter="\t" if out.kind is DataFormat.TSV else ",")
    flat = pa.schema([field.with_type(_flat(field.type)) for field in out.schema])
    with pa_csv.CSVWriter(out.target, flat, write_options=options) as writer:
        for batch in batches:
            columns = [
                _as_text(column, field, out) for column, field in zip(batch.columns, flat, strict=True)
            ]
            if len(columns) == 1 and columns[0].null_count:
                # A probability alone.
                text: Any = columns[0].cast(pa.string()).cast(pa.binary()).fill_null(_NOTHING)
                out.target.write(
                    written(pc.binary_join_element_wise(text, bytes_scalar(b""), bytes_scalar(b"\n")))
                )
            else:
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=flat))
            yield batch.num_rows


# A missing value that is all of a line: readers pass over lines without a letter.
_NOTHING = b'""'


def fits(kind: pa.DataType) -> bool:
    """Whether values of a type are single fields of text."""
    if isinstance(kind, pa.DictionaryType):
        return fits(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.types.is_string(kind.storage_type) or pa.types.is_large_string(kind.storage_type)
    return not (
        pa.types.is_nested(kind)
        or pa.types.is_run_end_encoded(kind)
        or pa.types.is_interval(kind)
        or pa.types.is_binary_view(kind)
    )


def _flat(kind: pa.DataType) -> pa.DataType:
    """Return the type that the CSV writer takes for a type."""
    if isinstance(kind, pa.DictionaryType):
        return _flat(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.storage_type
    # A number of ticks says nothing without their length.
    if pa.types.is_string_view(kind) or pa.types.is_duration(kind):
        return pa.string()
    is_bytes = (
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    )
    return pa.large_string() if is_bytes else kind


def _as_text(column: Column, field: "pa.Field[Any]", out: Output) -> Column:
    if isinstance(column, pa.DictionaryArray) and pa.types.is_duration(column.type.value_type):
        column = column.cast(column.type.value_type)
    try:
        return (names_of(column) if pa.types.is_duration(column.type) else column).cast(field.type)
    except pa.ArrowInvalid:
        if field.type != pa.large_string():
            raise
        msg = f"{out.shown}, column {field.name!r}: {out.kind.value} cannot hold bytes that are not UTF-8"
        raise InputProblem(msg, ROOMIER) from None


Write = Callable[[memoryview | bytes], object]

# So many values of a block tell whether they repeat.
_LOOKED_AT = 512

Added = Sequence["Floats | pa.Array[Any]"]


@dataclass(frozen=True, slots=True)
class NewColumns:
    """The columns to add, and those that stay.

    Args:
        encoding: How the file's text is encoded, which is ASCII where it looks so.
        kept: Places of the fields that stay, in order; None for all, whatever their number.
        decimal: What stands before the decimals of numbers.
    """

    names: tuple[str, ...]
    delimiter: str
    shown: str
    encoding: str = "utf-8"
    kept: tuple[int, ...] | None = None
    fields: int = 1
    decimal: str = "."


def splice(
    cut: Iterator[Block],
    write: Write,
    *,
    columns: NewColumns,
    predicted: Callable[[Block], Added],
    ahead: bool = False,
) -> Iterator[int]:
    """Copy a CSV file and add fields to the end of every record; yield how many records were written."""
    header = next(cut, None)
    if header is None:
        return
    write(_new_header(_piece(header, ()), columns))
    for block, values in made_ahead(((block, predicted(block)) for block in cut), ahead):
        piece = _piece(block, values)
        number = piece.ends.size
        for column in piece.values:
            if len(column) != number:
                msg = f"{columns.shown}: {number:,} lines hold {len(column):,} records"
                raise InputProblem(msg, "rewrite the file with a CSV library, or export it as Parquet")
        _write_block(piece, write, columns)
        yield number


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """Some records, and what comes after each; fields end, and the line end begins, at `ends`."""

    block: Block
    content: bytes
    starts: Integers
    ends: Integers
    values: Added


def _piece(block: Block, values: Added) -> _Piece:
    return _Piece(block, block.content, *block.bounds(), values)


def _new_header(header: _Piece, columns: NewColumns) -> bytes:
    content, end = header.content, int(header.ends[0]) if header.ends.size else 0
    old = [content[:end]]
    if columns.kept is not None:
        bounds = _bounds(header, columns)[0].tolist() if header.ends.size else []
        old = [content[start:last].removeprefix(BOM) for start, last in bounds]
    new = [_encoded(quoted(name, columns.delimiter), columns) for name in columns.names]
    head = columns.delimiter.encode().join([*old, *new])
    mark = BOM if content.startswith(BOM) and not head.startswith(BOM) else b""
    return mark + head + content[end:]


def _encoded(text: str, columns: NewColumns) -> bytes:
    try:
        return text.encode(columns.encoding)
    except UnicodeEncodeError:
        msg = f"{columns.shown} is {columns.encoding} text, which cannot hold {text!r}"
        raise UsageProblem(msg, "convert it to UTF-8") from None


def quoted(field: str, delimiter: str) -> str:
    """Return a field as CSV writes it, in quotes where it needs them."""
    if any(character in field for character in (delimiter, '"', "\n", "\r")):
        return '"' + field.replace('"', '""') + '"'
    return field


def _write_block(piece: _Piece, write: Write, columns: NewColumns) -> None:
    """Write every record with the new fields, and what follows the last one."""
    if not piece.ends.size:
        write(piece.content)
        return
    fields = [_field(column_of(column), columns) for column in piece.values]
    parts: list[Any] = [*_old_parts(piece, columns), *fields]
    if columns.kept is not None:
        # A line end is followed by no separator.
        parts[:2] = [pc.binary_join_element_wise(*parts[:2], bytes_scalar(b""))]
    # What is joined is one buffer with nothing between the records: the bytes to write.
    write(written(pc.binary_join_element_wise(*parts, bytes_scalar(columns.delimiter.encode()))))
    write(piece.content[int(piece.ends[-1]) :])


def _field(column: "pa.Array[Any]", columns: NewColumns) -> "pa.Array[Any]":
    """Return the text of a new column in the file's encoding."""
    text: pa.Array[Any] = _text(column).cast(pa.binary())
    if columns.decimal != "." and pa.types.is_floating(column.type):
        text = pc.replace_substring(text, pattern=".", replacement=columns.decimal)
        quote = bytes_scalar(b'"' if columns.decimal == columns.delimiter else b"")
        parts: list[Any] = [quote, text, quote, bytes_scalar(b"")]
        text = pc.binary_join_element_wise(*parts)
    if column.null_count:
        text = text.fill_null(_NOTHING if columns.kept == () and len(columns.names) == 1 else b"")
    if columns.encoding == "utf-8" or not pa.types.is_string(column.type):
        return text
    return in_encoding(text, lambda one: _encoded(one.decode(), columns))


def _text(column: "pa.Array[Any]") -> "pa.Array[Any]":
    """Return a new column as text; where values repeat, as those of steps do, each is written once."""
    some: Any = column[:_LOOKED_AT]
    if len(pc.unique(some)) > len(some) // 2:
        return column.cast(pa.string())
    coded: Any = column.dictionary_encode()
    text: Any = coded.dictionary.cast(pa.string()).take(coded.indices)
    return cast("pa.Array[Any]", text)


def _old_parts(piece: _Piece, columns: NewColumns) -> "list[pa.Array[Any]]":
    """Return what stays of each record, in stretches of fields that stand beside each other.

    The first one begins with the line end of the record before, so that no line end is ever rewritten; where
    only some fields stay it is that line end alone.
    """
    if columns.kept is None:
        return [stretches(np.concatenate(([0], piece.ends)), piece.content)]
    before = np.concatenate(([0], piece.ends[:-1]))
    bounds = np.concatenate(
        (np.column_stack((before, piece.starts))[:, None], _bounds(piece, columns)), axis=1
    )
    pieces = stretches(bounds.reshape(-1), piece.content)
    count = bounds.shape[1]
    # Between two stretches stands one that does not stay.
    places = 2 * np.arange(count * piece.ends.size).reshape(-1, count)
    return [pieces.take(place_column(places[:, place])) for place in range(count)]


def _bounds(piece: _Piece, columns: NewColumns) -> Integers:
    """Return where the stretches of kept fields begin and end in each record, shape (n, stretches, 2)."""
    number, kept = piece.ends.size, columns.kept or ()
    if not kept:
        return np.empty((number, 0, 2), np.int64)
    between = piece.block.separators()
    if between.size != number * (columns.fields - 1):
        msg = f"{columns.shown}: some of {number:,} lines have not {columns.fields:,} fields"
        raise InputProblem(msg, "fields that contain the separator must be quoted")
    between = between.reshape(number, columns.fields - 1)
    starts = np.column_stack((piece.starts, between + 1))
    ends = np.column_stack((between, piece.ends))
    runs = np.split(np.array(kept, np.int64), np.flatnonzero(np.diff(kept) != 1) + 1)
    return np.stack([np.column_stack((starts[:, run[0]], ends[:, run[-1]])) for run in runs], axis=1)
