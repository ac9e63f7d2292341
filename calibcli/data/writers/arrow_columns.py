"""Numbers as Arrow columns, without the imports that pyarrow's own constructors make."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pyarrow as pa

from calibcli.stats.table.score_table import Floats, Integers


def float_column(values: Floats) -> "pa.Array[Any]":
    """Return values as a column without nulls, sharing their memory."""
    content = np.ascontiguousarray(values, dtype=np.float64)
    return pa.Array.from_buffers(pa.float64(), content.size, [None, pa.py_buffer(content.data)])


def column_of(values: "Floats | pa.Array[Any]") -> "pa.Array[Any]":
    """Return numbers as a column, and a column as it is."""
    return values if isinstance(values, pa.Array) else float_column(values)


def text_column(texts: Sequence[str], place: Integers) -> "pa.Array[Any]":
    """Return a column of text that holds for each row the one of a few texts at a place."""
    pieces = [text.encode() for text in texts]
    ends = np.cumsum([0, *(len(piece) for piece in pieces)]).astype(np.int32)
    few: Any = pa.Array.from_buffers(
        pa.string(), len(pieces), [None, pa.py_buffer(ends.data), pa.py_buffer(b"".join(pieces))]
    )
    taken: pa.Array[Any] = few.take(place_column(place))
    return taken


def place_column(place: Integers) -> "pa.Array[Any]":
    """Return places to take values from."""
    content = np.ascontiguousarray(place, np.int64)
    return pa.Array.from_buffers(pa.int64(), content.size, [None, pa.py_buffer(content.data)])


def stretches(bounds: Integers, content: bytes) -> "pa.Array[Any]":
    """Return the bytes from each bound to the next one as values."""
    places = np.ascontiguousarray(bounds, np.int32)
    buffers = [None, pa.py_buffer(places.data), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), places.size - 1, buffers)


def bytes_scalar(content: bytes) -> "pa.Scalar[Any]":
    """Return bytes as a scalar, without the imports that pyarrow's own way makes."""
    column: Any = stretches(np.array([0, len(content)]), content)
    scalar: pa.Scalar[Any] = column[0]
    return scalar


def in_encoding(text: "pa.Array[Any]", change: Callable[[bytes], bytes]) -> "pa.Array[Any]":
    """Return what becomes of each of a few different texts, given as bytes without nulls."""
    few: Any = text.dictionary_encode()
    pieces = [change(one) for one in few.dictionary.to_pylist()]
    bounds = np.cumsum([0, *(len(piece) for piece in pieces)])
    taken: pa.Array[Any] = stretches(bounds, b"".join(pieces)).take(few.indices)
    return taken


def written(column: "pa.Array[Any]") -> memoryview:
    """Return all values of a new column of text or bytes without nulls, one after the other."""
    buffers: list[Any] = column.buffers()
    _, lengths, content = buffers
    if content is None or not len(column):
        return memoryview(b"")
    bounds = np.frombuffer(lengths, np.int32)
    return memoryview(content)[int(bounds[column.offset]) : int(bounds[column.offset + len(column)])]


def list_column(rows: Floats, kind: pa.DataType) -> "pa.Array[Any]":
    """Return the rows of a matrix as lists, or as dense Spark vectors."""
    number, width = rows.shape
    flat = float_column(rows.reshape(-1))
    if pa.types.is_fixed_size_list(kind):
        return pa.Array.from_buffers(kind, number, [None], children=[flat])
    if pa.types.is_struct(kind):
        return _vectors(flat, number, width=width, kind=kind)
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


def _vectors(flat: "pa.Array[Any]", number: int, *, width: int, kind: pa.DataType) -> "pa.Array[Any]":
    """Return doubles as dense Spark vectors: of type 1, with values, and no size and no indices."""
    made: dict[str, Any] = {}
    fields = list(cast("pa.StructType", kind))
    for field in fields:
        if field.name == "type":
            ones = np.ones(number, np.int8)
            whole: Any = pa.Array.from_buffers(pa.int8(), number, [None, pa.py_buffer(ones.data)])
            made["type"] = whole.cast(field.type)
        elif field.name == "values":
            ends = np.arange(number + 1, dtype=np.int32) * np.int32(width)
            lists: Any = pa.Array.from_buffers(
                pa.list_(pa.float64()), number, [None, pa.py_buffer(ends.data)], children=[flat]
            )
            made["values"] = lists.cast(field.type)
        else:
            made[field.name] = pa.nulls(number, field.type)
    return pa.StructArray.from_arrays([made[field.name] for field in fields], fields=fields)
