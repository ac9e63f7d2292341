"""Whatever holds a column of values to an Arrow column: shared where it can be, copied once where not."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyarrow as pa

from calibcli.errors import UsageProblem
from calibcli.readers.in_memory import HeldColumn
from calibcli.readers.values import in_double
from calibcli.writers.arrow import list_column

if TYPE_CHECKING:
    import numpy.typing as npt

    Values: TypeAlias = npt.ArrayLike | pa.Array[Any] | pa.ChunkedArray[Any]

_NUMBERS = "fiub"
_HALF = 2
# Whole numbers below this are exact as floats.
_BEYOND_FLOATS = 1 << 53


def column_of(values: object, *, what: str) -> HeldColumn:
    """
    Return values as a column.

    Args:
        values: A sequence of numbers, booleans, texts or None; an array of numpy, pandas, polars or Arrow; or
            anything that gives one of these by `__arrow_c_array__`, `__arrow_c_stream__` or `__array__`.

        what: What they are, for messages.

    Raises:
        UsageProblem: If they are no column.
    """
    try:
        return _column(values)
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        first = (str(error).splitlines() or ["not understood"])[0]
        msg = f"{what}: {type(values).__name__} cannot be read as a column: {first}"
        raise UsageProblem(msg, "pass an array or a list of numbers or texts") from error


def is_matrix(values: object) -> bool:
    """Whether values are rows of several numbers each: an array of two dimensions, or a list of such rows."""
    if isinstance(values, list | tuple):
        return bool(values) and isinstance(values[0], list | tuple | np.ndarray)
    return getattr(values, "ndim", 1) == 2


def matrix_of(values: object, *, what: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """
    Return rows of probabilities, shape (n, K), without a copy where they are such rows already.

    Raises:
        UsageProblem: If rows have different lengths, or hold something else than numbers.
    """
    if getattr(getattr(values, "dtype", None), "kind", "O") not in (*_NUMBERS, "O"):
        msg = f"{what}: an array of {cast('Any', values).dtype}, which are no probabilities"
        raise UsageProblem(msg, "pass an array of numbers")
    try:
        # What is masked is missing, and NaN says so; a mere conversion would bring its values back.
        masked = isinstance(values, np.ma.MaskedArray)
        bare = np.ma.filled(cast("Any", values).astype(np.float64), np.nan) if masked else values
        found = np.asarray(bare, np.float64, order="C")
    except (TypeError, ValueError) as error:
        msg = f"{what}: {type(values).__name__} cannot be read as rows of numbers: {error}"
        raise UsageProblem(msg, "pass an array of shape (rows, classes)") from error
    if found.ndim != 2:
        msg = f"{what}: an array of shape {found.shape}"
        raise UsageProblem(msg, "pass an array of shape (rows, classes)")
    if found.shape[1] == 1:
        msg = f"{what}: an array of shape {found.shape}, and several classes have a column each"
        raise UsageProblem(msg, "pass the one column, such as scores[:, 0], for the scores of a yes or no")
    return cast("np.ndarray[tuple[int, int], np.dtype[np.float64]]", found)


def lists_of(matrix: "npt.NDArray[np.float64]") -> HeldColumn:
    """Return rows of numbers, shape (n, K), as a column of lists that shares their memory."""
    return list_column(matrix, pa.list_(pa.float64(), matrix.shape[1]))


def _column(values: object) -> HeldColumn:  # noqa: PLR0911 - one return for each kind of array
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, np.ma.MaskedArray):
        return _masked(values)
    if isinstance(values, np.ndarray):
        return _of_numpy(values)
    if isinstance(values, list | tuple | range):
        return _of_list(values)
    if _of_pandas(values):
        return _from_pandas(values)
    if hasattr(values, "__arrow_c_array__"):
        return cast("HeldColumn", pa.array(cast("Any", values)))
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(cast("Any", values))
    if hasattr(values, "__array__") or hasattr(values, "__dlpack__"):
        return _of_numpy(np.asarray(values))
    msg = "it is no array"
    raise TypeError(msg)


def _of_pandas(values: object) -> bool:
    return type(values).__module__.partition(".")[0] == "pandas"


def _from_pandas(values: Any) -> HeldColumn:  # noqa: ANN401 - a Series, an Index or an array of pandas
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in _NUMBERS:
        return _of_numpy(values.to_numpy())
    # Whoever made these has imported pandas, as this does.
    return cast("HeldColumn", pa.array(values, from_pandas=True))


def _masked(values: "np.ma.MaskedArray[Any, Any]") -> "pa.Array[Any]":
    column = _of_numpy(np.asarray(values.data))
    gone = np.ma.getmaskarray(values)
    bits = pa.py_buffer(np.packbits(~gone, bitorder="little").tobytes())
    return pa.Array.from_buffers(column.type, len(column), [bits, *column.buffers()[1:]])


def _of_numpy(values: "np.ndarray[Any, Any]") -> "pa.Array[Any]":
    """Return an array of one dimension as a column; plain numbers share its memory."""
    if values.ndim != 1:
        msg = f"an array of shape {values.shape}, and one of shape (rows,) was expected"
        raise ValueError(msg)
    kind = values.dtype.kind
    if kind in "UTSO":
        return _of_list(values.tolist())
    if kind not in _NUMBERS:
        return cast("pa.Array[Any]", pa.array(values))
    if kind == "f" and values.dtype.itemsize not in (_HALF, 4, 8):
        values = in_double(values)
    own = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if kind == "b":
        own = own.view(np.uint8)
    column: Any = pa.Array.from_buffers(_type_of(own.dtype), own.size, [None, pa.py_buffer(own.data)])
    return cast("pa.Array[Any]", column.cast(pa.bool_()) if kind == "b" else column)


def _type_of(kind: "np.dtype[Any]") -> pa.DataType:
    return pa.from_numpy_dtype(kind)


def _of_list(values: Sequence[object]) -> "pa.Array[Any]":
    """Return a list as a column; only dates, decimals and the like cost an import of pandas."""
    kinds = set(map(type, values)) - {type(None)}
    known = [one for one in values if one is not None]
    if not kinds:
        return pa.nulls(len(values))
    if all(issubclass(kind, str) for kind in kinds):
        return _texts([None if one is None else str(one) for one in values])
    if int in kinds and any(isinstance(one, int) and abs(one) >= _BEYOND_FLOATS for one in known):
        return _of_large(values)
    numbers = np.asarray(known)
    if numbers.ndim != 1 or numbers.dtype.kind not in _NUMBERS:
        plain = [None if isinstance(one, float) and math.isnan(one) else one for one in values]
        return pa.array(plain)
    if len(known) == len(values):
        return _of_numpy(numbers)
    gone = np.array([one is None for one in values], np.bool_)
    whole = np.zeros(len(values), numbers.dtype)
    whole[~gone] = numbers
    return _masked(np.ma.MaskedArray(whole, gone))


def _of_large(values: Sequence[object]) -> "pa.Array[Any]":
    """Return whole numbers as they are, some of which are no floats: in 64 bits, or as decimals."""
    if not all(one is None or isinstance(one, int) for one in values):
        msg = "it holds whole numbers from 2^53 on beside other values, among which they would be rounded"
        raise ValueError(msg)
    for kind in (pa.int64(), pa.uint64()):
        try:
            return pa.array(values, kind)
        except OverflowError:
            continue
    return pa.array([None if one is None else Decimal(cast("int", one)) for one in values])


def _texts(values: Sequence[str | None]) -> "pa.Array[Any]":
    pieces = [b"" if one is None else one.encode() for one in values]
    ends = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
    known = np.array([one is not None for one in values], np.bool_)
    bits = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little").tobytes())
    content = [bits, pa.py_buffer(ends.data), pa.py_buffer(b"".join(pieces))]
    return pa.Array.from_buffers(pa.large_string(), len(pieces), content)
