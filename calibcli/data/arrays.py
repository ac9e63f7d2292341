"""Arrow columns to numpy and back: looked through first, copied only where needed, with few imports."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.errors import InputProblem, first_words
from calibcli.stats.table import Booleans, Floats, Integers
from calibcli.values import dataclass

Column: TypeAlias = "pa.Array[Any]"


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """Numbers side by side or as rows of a matrix; `missing` says where, shape (n,), None if nowhere."""

    values: Floats
    missing: Booleans | None


def is_number(kind: pa.DataType) -> bool:
    """Whether a column type holds numbers (booleans are none)."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values: behind a dictionary, runs or an extension, or the type itself."""
    while True:
        if isinstance(kind, pa.DictionaryType | pa.RunEndEncodedType):
            kind = kind.value_type
        elif isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        else:
            return kind


def plain(column: Column) -> Column:
    """Return a column without extension and runs; a dictionary stays unless its values are null."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(cast("Any", column).storage)
    if isinstance(kind, pa.RunEndEncodedType):
        import pyarrow.compute as pc

        return plain(cast("Any", pc).run_end_decode(column))
    if isinstance(kind, pa.DictionaryType) and pa.types.is_null(kind.value_type):
        # pyarrow ends the process where it is asked which of these are null.
        return pa.nulls(len(column))
    return column


def is_text(kind: pa.DataType) -> bool:
    """Whether a column type holds text, or bytes that may be text, as older writers of Parquet mark it."""
    return kind in _TEXTS


_TEXTS = {
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
}


def floats(column: Column) -> Decoded:
    """Return a column of numbers as float64; NaN is missing."""
    column = plain(column)
    if isinstance(column, pa.DictionaryArray):
        column = plain(column.dictionary_decode())
    if pa.types.is_decimal(column.type):
        column = _doubles_of(column)
    elif not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    missing = nulls(column)
    values = cast("Floats", np.from_dlpack(without_nulls(column)))
    # A minimum is NaN if anything is.
    if values.size and np.isnan(values.min()):
        nan = np.isnan(values)
        missing = nan if missing is None else missing | nan
    return Decoded(values, missing)


# Whole numbers of so many digits are doubles, and so are powers of ten up to this.
_EXACT_DIGITS, _EXACT_POWER = 15, 22


def _doubles_of(column: Column) -> Column:
    """Return decimals as the doubles that are nearest to them, as text of the same digits is read.

    pyarrow's own cast multiplies by a power of ten that is none: 0.3 becomes 0.30000000000000004.
    """
    kind = column.type
    if kind.precision > _EXACT_DIGITS or not 0 <= kind.scale <= _EXACT_POWER:
        return cast("Column", wide_decimals(column).cast(pa.string()).cast(pa.float64()))
    # The lowest word holds all digits.
    width = kind.bit_width // 8
    units = np.frombuffer(decimal_bytes(column), f"<i{min(width, 8)}")[:: max(1, width // 8)]
    values, gone = float_column(units / 10.0**kind.scale), nulls(column)
    return values if gone is None else without(values, gone)


def wide_decimals(column: Column) -> Column:
    """Return decimals of a type that can be told apart: pyarrow has no dictionaries of narrow ones."""
    kind = column.type
    return column.cast(pa.decimal128(38, kind.scale)) if kind.bit_width < 128 else column


def decimal_bytes(column: Column) -> memoryview:
    """Return the whole numbers that decimals are made of, side by side."""
    width = column.type.bit_width // 8
    return memoryview(column.buffers()[1] or b"")[column.offset * width :][: len(column) * width]


def booleans(column: Column) -> Booleans:
    """Return a boolean array; its nulls are whatever they are."""
    return np.from_dlpack(without_nulls(column).cast(pa.uint8())).view(np.bool_)


def nulls(column: Column) -> Booleans | None:
    return booleans(column.is_null()) if column.null_count else None


def places_in(column: "pa.DictionaryArray[Any, Any]") -> tuple[Integers, Booleans | None]:
    """Return the place of each value in the dictionary, 0 where it is null, and where it is."""
    missing, indices = nulls(column), without_nulls(cast("Column", column.indices))
    place = cast("Integers", np.from_dlpack(indices))
    return (place if missing is None else np.where(missing, 0, place)), missing


def without_nulls(column: Column) -> Column:
    """Return the same buffers with no value marked as null."""
    if not column.null_count:
        return column
    return pa.Array.from_buffers(
        column.type, len(column), [None, *column.buffers()[1:]], offset=column.offset
    )


def checked_batch(batch: pa.RecordBatch, *, shown: str) -> pa.RecordBatch:
    """Return a batch whose text is UTF-8, and whose lengths and codes lead nowhere outside of it."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _invalid_column(batch, error, shown) from error
    return batch


def _invalid_column(batch: pa.RecordBatch, error: pa.ArrowInvalid, shown: str) -> InputProblem:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as found:
            words = str(found).removeprefix("Invalid: ")
            if "UTF8" in words:
                msg = f"{shown}, column {name!r}: it holds text that is not UTF-8"
                return InputProblem(msg, "save the column again as UTF-8 text, or as bytes")
            return InputProblem(f"{shown}, column {name!r}: {words}", DAMAGED)
    return InputProblem(f"{shown} cannot be read: {error}", DAMAGED)


DAMAGED = "the file may be cut short or damaged: compare its size with the source"


NO_THREAD = "Failed to launch worker thread"
"""What pyarrow says where there is no memory for the stack of a thread."""


def no_memory(shown: str, error: Exception) -> InputProblem:
    """Return what there is to say where a file needs more memory than there is, or pretends to."""
    return InputProblem(
        f"{shown}: there is not enough memory to read it: {first_words(error)}",
        "free some memory, or pass a lower --memory and --jobs; a damaged file can cause this, too",
    )


def numbers(values: "npt.NDArray[Any]", kind: pa.DataType) -> Column:
    """Return values as a column of a type that has them side by side, without nulls, sharing their memory."""
    content = np.ascontiguousarray(values)
    return pa.Array.from_buffers(kind, content.size, [None, pa.py_buffer(content.data)])


def float_column(values: Floats) -> Column:
    return numbers(np.asarray(values, np.float64), pa.float64())


def texts(pieces: Sequence[bytes], kind: pa.DataType) -> Column:
    wide = pa.types.is_large_string(kind)
    ends = np.cumsum([0, *map(len, pieces)], dtype=np.int64).astype(np.int64 if wide else np.int32)
    buffers = [None, pa.py_buffer(ends.data), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(kind, len(pieces), buffers)


def some_texts(found: Sequence[str | None]) -> Column:
    """Return texts as a column, null where there is none; pyarrow's own conversion would import pandas."""
    column = texts([(text or "").encode() for text in found], pa.large_string())
    return without(column, np.array([text is None for text in found], np.bool_))


def without(column: Column, gone: Booleans) -> Column:
    """Return a new column without nulls with some where values are gone."""
    if not gone.any():
        return column
    valid = pa.py_buffer(np.packbits(~gone, bitorder="little").data)
    return pa.Array.from_buffers(column.type, len(column), [valid, *column.buffers()[1:]])


def column_of(values: "Floats | Column") -> Column:
    return values if isinstance(values, pa.Array) else float_column(values)


def text_column(choices: Sequence[str], place: Integers) -> Column:
    """Return a column of text that holds for each row the one of a few texts at a place."""
    few: Any = texts([text.encode() for text in choices], pa.string())
    taken: Column = few.take(place_column(place))
    return taken


def place_column(place: Integers) -> Column:
    return numbers(np.asarray(place, np.int64), pa.int64())


def stretches(bounds: Integers, content: bytes) -> Column:
    """Return the bytes from each bound to the next one as values."""
    places = np.ascontiguousarray(bounds, np.int32)
    buffers = [None, pa.py_buffer(places.data), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), places.size - 1, buffers)


def source_of(content: bytes | memoryview) -> Any:  # noqa: ANN401 - readers of Arrow name files only
    """Return bytes as a source for readers of Arrow that look ahead in threads of their own.

    It is a copy of theirs. A thread may let go of what it read when Python shuts down, and waiting for
    Python's lock in order to do so would abort the process.
    """
    own = pa.allocate_buffer(len(content))
    memoryview(cast("Any", own)).cast("B")[:] = content
    return pa.BufferReader(own)


def bytes_scalar(content: bytes) -> Any:  # noqa: ANN401 - pyarrow's functions take no scalar of a known type
    """Return bytes as a scalar, without the imports that pyarrow's own way makes."""
    return stretches(np.array([0, len(content)]), content)[0]


def in_encoding(text: Column, change: Callable[[bytes], bytes]) -> Column:
    """Return what becomes of each of a few different texts, given as bytes without nulls."""
    few: Any = text.dictionary_encode()
    taken: Column = texts([change(one) for one in few.dictionary.to_pylist()], pa.binary()).take(few.indices)
    return taken


def written(column: Column) -> memoryview:
    """Return all values of a new column of text or bytes without nulls, one after the other."""
    buffers: list[Any] = column.buffers()
    _, lengths, content = buffers
    if content is None or not len(column):
        return memoryview(b"")
    bounds = np.frombuffer(lengths, np.int32)
    return memoryview(content)[int(bounds[column.offset]) : int(bounds[column.offset + len(column)])]


def list_column(rows: Floats, kind: pa.DataType) -> Column:
    """Return the rows of a matrix as lists, or as dense Spark vectors."""
    number, width = rows.shape
    if pa.types.is_struct(kind):
        return _vectors(rows, kind)
    inner = cast("Any", kind).value_type
    flat = numbers(np.asarray(rows.reshape(-1), inner.to_pandas_dtype()), inner)
    if pa.types.is_fixed_size_list(kind):
        return pa.Array.from_buffers(kind, number, [None], children=[flat])
    size = np.int64 if pa.types.is_large_list(kind) else np.int32
    ends = np.arange(number + 1, dtype=size) * size(width)
    return pa.Array.from_buffers(kind, number, [None, pa.py_buffer(ends.data)], children=[flat])


def list_like(kind: pa.DataType, count: int) -> pa.DataType:
    """Return the type that holds so many doubles in a row as a column of lists or vectors does."""
    if pa.types.is_struct(kind):
        return kind
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(pa.float64(), count)
    return pa.large_list(pa.float64()) if pa.types.is_large_list(kind) else pa.list_(pa.float64())


def _vectors(rows: Floats, kind: pa.DataType) -> Column:
    """Return doubles as dense Spark vectors: of type 1, with values, and no size and no indices."""
    made = {
        "type": numbers(np.ones(len(rows), np.int8), pa.int8()),
        "values": list_column(rows, pa.list_(pa.float64())),
    }
    fields = list(cast("pa.StructType", kind))
    columns: list[Any] = [
        made[field.name].cast(field.type) if field.name in made else pa.nulls(len(rows), field.type)
        for field in fields
    ]
    return pa.StructArray.from_arrays(columns, fields=fields)


_PLAIN = ({pa.float32()}, {pa.float64()})

# The fields of a Spark vector.
VECTOR_KEYS = {"type", "size", "indices", "values"}


def is_list_of_numbers(kind: pa.DataType) -> bool:
    """Whether a column type holds a list of numbers, or a Spark vector, for every row."""
    kind = value_type(kind)
    if is_plain_list(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return is_number(value_type(cast("Any", kind).value_type))
    parts = {field.name: field.type for field in kind} if pa.types.is_struct(kind) else {}
    if parts.keys() != VECTOR_KEYS or not is_list_of_numbers(parts["values"]):
        return False
    lists = pa.types.is_null(parts["indices"]) or is_list_of_numbers(parts["indices"])
    return lists and all(is_number(one) or pa.types.is_null(one) for one in (parts["type"], parts["size"]))


def matrix_of_batch(batch: pa.RecordBatch, names: Sequence[str]) -> Floats | None:
    """Return columns side by side, shape (n, K), in one go; None where it takes a look at each."""
    some = batch.select(list(names))
    if not batch.num_rows or set(some.schema.types) not in _PLAIN:
        return None
    matrix = np.array(some.to_tensor(null_to_nan=True, row_major=True).to_numpy(), np.float64, order="C")
    # A minimum is NaN if anything is.
    return None if np.isnan(matrix.min()) else matrix


def lists_of(column: Column) -> Column:
    """Return a column of lists or vectors without what may stand around them, views as plain lists."""
    column = plain(column)
    if isinstance(column, pa.DictionaryArray):
        column = plain(column.dictionary_decode())
    views = pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type)
    return _without_views(column) if views else column


def list_lengths(column: Column) -> Integers:
    """Return how many numbers each row's list holds, shape (n,), if the row has one.

    It is -1 where Spark would write no such vector.
    """
    if pa.types.is_struct(column.type):
        return _vector_lengths(column)
    if pa.types.is_fixed_size_list(column.type):
        return np.full(len(column), cast("Any", column.type).list_size, np.int64)
    return _offsets_lengths(column)


def matrix_of_lists(column: Column, count: int) -> Decoded:
    """The lists of a column as rows of a matrix, shape (n, count), and which rows lack a value."""
    lost = nulls(column)
    missing = np.zeros(len(column), np.bool_) if lost is None else lost
    if pa.types.is_struct(column.type):
        matrix, gaps = _of_vectors(column, count)
    elif lost is None:
        flat = floats(_flattened(column))
        matrix = flat.values.reshape(-1, count)
        if flat.missing is not None:
            missing = np.asarray(flat.missing.reshape(-1, count).any(axis=1))
        gaps = missing
    else:
        matrix = np.zeros((len(column), count))
        gaps = np.zeros(len(column), np.bool_)
        flat = floats(_flattened(column.filter(column.is_valid())))
        matrix[~missing] = flat.values.reshape(-1, count)
        if flat.missing is not None:
            gaps[~missing] = flat.missing.reshape(-1, count).any(axis=1)
    missing = missing | gaps
    return Decoded(matrix, missing if missing.any() else None)


def _parts_of(column: Column) -> dict[str, Column]:
    """Return the fields of Spark vectors, null where there is no vector."""
    columns: list[Any] = cast("Any", column).flatten()
    parts = {field.name: one for field, one in zip(cast("pa.StructType", column.type), columns, strict=True)}
    if pa.types.is_null(parts["indices"].type):
        parts["indices"] = parts["indices"].cast(pa.list_(pa.int32()))
    return parts


def _vector_lengths(column: Column) -> Integers:
    """Return the lengths of Spark vectors, dense (type 1) and sparse (type 0), -1 of any others."""
    parts = _parts_of(column)
    kind, size = (_or_minus_one(floats(parts[name])) for name in ("type", "size"))
    held, indexed = _offsets_lengths(parts["values"]), _offsets_lengths(parts["indices"])
    index, row = (
        _or_minus_one(floats(_flattened(parts["indices"]))),
        np.repeat(np.arange(len(column)), indexed),
    )
    # Indices rise from 0 on and stay below the size.
    least = np.where(np.diff(row, prepend=-1) > 0, 0, np.roll(index, 1) + 1)
    off = np.bincount(row[(index < least) | (index >= size[row])], minlength=len(column)) > 0
    sparse = (kind == 0) & (held == indexed) & ~off
    dense = (kind == 1) & ((size == -1) | (size == held)) & (indexed == 0)
    return np.where(sparse, size, np.where(dense, held, -1)).astype(np.int64)


def _or_minus_one(decoded: Decoded) -> Floats:
    return decoded.values if decoded.missing is None else np.where(decoded.missing, -1.0, decoded.values)


def _of_vectors(column: Column, count: int) -> tuple[Floats, Booleans]:
    """Return Spark vectors as rows; their lengths have been looked at."""
    parts = _parts_of(column)
    sparse = floats(parts["type"]).values == 0
    lengths = _offsets_lengths(parts["values"])
    row = np.repeat(np.arange(len(column)), lengths)
    place = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    flat = floats(_flattened(parts["values"]))
    if sparse.any():
        place[sparse[row]] = floats(_flattened(parts["indices"])).values.astype(np.int64)
    matrix = np.zeros((len(column), count))
    matrix[row, place] = flat.values
    gaps = np.zeros(len(column), np.bool_)
    if flat.missing is not None:
        gaps[row[flat.missing]] = True
    return matrix, gaps


def _without_views(column: Column) -> Column:
    """Return views of lists as lists; pyarrow 26's own cast gets the end of the last one wrong."""
    lost = nulls(column)
    valid = None if lost is None else pa.py_buffer(np.packbits(~lost, bitorder="little").data)
    ends = np.concatenate(([0], np.cumsum(_offsets_lengths(column))))
    kind = pa.large_list(cast("Any", column.type).value_type)
    return pa.Array.from_buffers(
        kind, len(column), [valid, pa.py_buffer(ends.data)], children=[_flattened(column)]
    )


def is_plain_list(kind: pa.DataType) -> bool:
    """Whether a column type holds lists, one after the other."""
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _flattened(column: Column) -> Column:
    return cast("Column", cast("Any", column).flatten())


def _offsets_lengths(column: Column) -> Integers:
    """Return the lengths of the lists of a column, 0 where there is none."""
    lengths = cast("Column", cast("Any", column).value_lengths())
    lost = nulls(lengths)
    values = np.from_dlpack(without_nulls(lengths)).astype(np.int64)
    return values if lost is None else np.where(lost, 0, values)
