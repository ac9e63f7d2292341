"""Frames and columns of any make to Arrow and back: shared where that can be, copied once where not."""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.data.arrays import is_list_of_numbers, list_column, nulls, some_texts, without
from calibcli.data.columns import Header
from calibcli.data.files import ArrowColumn
from calibcli.data.values import in_double
from calibcli.errors import UsageProblem

if TYPE_CHECKING:
    Values: TypeAlias = npt.ArrayLike | pa.Array[Any] | pa.ChunkedArray[Any]

_NUMBERS = "fiub"

_HALF = 2

# What pandas has for each of these are two ends, or a number of months: its text says which.
_NAMED_DTYPES = ("IntervalDtype", "PeriodDtype")

# What arrays raise that cannot be read, such as tensors on another device or with a gradient.
_UNREADABLE = (TypeError, ValueError, OverflowError, RuntimeError, BufferError)

# Whole numbers below this are exact as floats.
_BEYOND_FLOATS = 1 << 53


def column_of(values: object, *, what: str) -> ArrowColumn:
    try:
        shape = getattr(values, "shape", (0,))
        if isinstance(shape, tuple) and len(shape) != 1:
            problem = f"an array of shape {tuple(shape)}, and one of shape (rows,) was expected"
            raise ValueError(problem)
        return _column(values)
    except MemoryError:
        raise
    except (pa.ArrowException, *_UNREADABLE) as error:
        first = (str(error).splitlines() or ["not understood"])[0]
        msg = f"{what}: {type(values).__name__} cannot be read as a column: {first}"
        raise UsageProblem(msg, "pass an array or a list of numbers or texts") from error


def is_matrix(values: object) -> bool:
    """Whether values are rows of several numbers each: an array of two dimensions, or a list of such rows."""
    if isinstance(values, list | tuple):
        return bool(values) and (isinstance(values[0], list | tuple) or getattr(values[0], "ndim", 0) == 1)
    return _dimensions(values) == 2


def _dimensions(values: object) -> int | None:
    """Return how many dimensions values say that they have; a column of Spark says nothing of use."""
    shape = getattr(values, "shape", None)
    return len(shape) if isinstance(shape, tuple) else None


def _in_numpy(values: Any) -> Any:  # noqa: ANN401 - an array of numpy or of any other make
    """Return what is read by DLPack alone as an array, and numbers such as bfloat16 as doubles."""
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        values = np.from_dlpack(values)
    kind = getattr(values, "dtype", None)
    other = isinstance(kind, np.dtype) and kind.kind == "V" and np.can_cast(kind, np.float64)
    return np.asarray(values, np.float64) if other else values


def matrix_of(values: object, *, what: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return rows of probabilities, shape (n, K), without a copy where they are such rows already."""
    try:
        values = _in_numpy(np.asarray(values) if isinstance(values, list | tuple) else values)
        _refuse_texts(values, what=what)
        # What is masked is missing, and NaN says so; a mere conversion would bring its values back.
        masked = isinstance(values, np.ma.MaskedArray)
        bare = np.ma.filled(cast("Any", values).astype(np.float64), np.nan) if masked else values
        # Numbers of half the size are read as they come, batch by batch.
        kind = np.float32 if getattr(bare, "dtype", None) == np.float32 else np.float64
        found = np.asarray(bare, kind, order="C")
    except _UNREADABLE as error:
        msg = f"{what}: {type(values).__name__} cannot be read as rows of numbers: {error}"
        raise UsageProblem(msg, "pass an array of shape (rows, classes)") from error
    if found.ndim != 2:
        msg = f"{what}: an array of shape {found.shape}"
        raise UsageProblem(msg, "pass an array of shape (rows, classes)")
    if found.shape[1] == 1:
        msg = f"{what}: an array of shape {found.shape}, and several classes have a column each"
        raise UsageProblem(msg, "pass the one column, such as scores[:, 0], for the scores of a yes or no")
    return cast("np.ndarray[tuple[int, int], np.dtype[np.float64]]", found)


def _refuse_texts(values: Any, *, what: str) -> None:  # noqa: ANN401 - an array of any make
    """Refuse what is no number, and what numpy would read as one: texts are refused of one score, too."""
    kind = getattr(values, "dtype", None)
    strange = kind if getattr(kind, "kind", "O") not in (*_NUMBERS, "O") else None
    if isinstance(values, np.ndarray) and values.dtype == object:
        strange = next((type(one).__name__ for one in values.flat if isinstance(one, str | bytes)), None)
    if strange is not None:
        msg = f"{what}: an array of {strange}, which are no probabilities"
        raise UsageProblem(msg, "pass an array of numbers")


def lists_given(values: object, *, what: str) -> "ArrowColumn | None":
    """Return rows of several numbers each as a column of lists; None where a row is one value."""
    if is_matrix(values):
        return lists_of(matrix_of(values, what=what))
    # Numbers are not looked at twice.
    kind = getattr(values, "dtype", None)
    plain = isinstance(values, list | tuple | range) or (isinstance(kind, np.dtype) and kind.kind != "O")
    if plain or not is_array(values) or _dimensions(values) not in (None, 1):
        return None
    column = column_of(values, what=what)
    return column if is_list_of_numbers(column.type) else None


def lists_of(matrix: "npt.NDArray[np.float64]") -> ArrowColumn:
    """Return rows of numbers, shape (n, K), as a column of lists that shares their memory."""
    return list_column(matrix, pa.list_(pa.from_numpy_dtype(matrix.dtype), matrix.shape[1]))


def _column(values: object) -> ArrowColumn:  # noqa: PLR0911 - one return for each kind of array
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, np.ma.MaskedArray):
        held = _of_numpy(np.asarray(values.data))
        gone = nulls(held)
        return without(held, np.ma.getmaskarray(values) | (False if gone is None else gone))
    if isinstance(values, np.ndarray):
        return _of_numpy(values)
    if isinstance(values, list | tuple | range):
        return _of_list(values)
    if _maker(values) == "pandas" and hasattr(values, "dtype"):
        return _from_pandas(values)
    if hasattr(values, "__arrow_c_array__"):
        return cast("ArrowColumn", pa.array(cast("Any", values)))
    if hasattr(values, "__arrow_c_stream__"):
        column = pa.chunked_array(cast("Any", values))
        # A labelled array gives a table of itself and its coordinates.
        if not pa.types.is_struct(column.type) or not hasattr(values, "__array__"):
            return column
    if hasattr(values, "__array__") or hasattr(values, "__dlpack__"):
        return _of_numpy(np.asarray(_in_numpy(values)))
    msg = "it is no array"
    raise TypeError(msg)


def _from_pandas(values: Any) -> ArrowColumn:  # noqa: ANN401 - a Series, an Index or an array of pandas
    kind = values.dtype
    if isinstance(kind, np.dtype) and kind.kind in _NUMBERS:
        return _of_numpy(values.to_numpy())
    if type(kind).__name__ == "SparseDtype":
        return _of_numpy(np.asarray(values))
    inner = getattr(getattr(kind, "categories", None), "dtype", kind)
    if type(inner).__name__ in _NAMED_DTYPES:
        values = sys.modules["pandas"].Categorical(values).rename_categories(str)
    # Whoever made these has imported pandas, as this does.
    return cast("ArrowColumn", pa.array(values, from_pandas=True))


def _of_numpy(values: "np.ndarray[Any, Any]") -> "pa.Array[Any]":
    """Return an array of one dimension as a column; plain numbers share its memory."""
    values = _in_numpy(values)
    kind = values.dtype.kind
    if kind in "UTSO":
        return _of_list(values.tolist())
    if kind in "mM":
        return _of_times(values)
    if kind not in _NUMBERS:
        return cast("pa.Array[Any]", pa.array(values))
    if kind == "f" and values.dtype.itemsize not in (_HALF, 4, 8):
        values = in_double(values)
    own = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if kind == "b":
        own = own.view(np.uint8)
    column: Any = pa.Array.from_buffers(
        pa.from_numpy_dtype(own.dtype), own.size, [None, pa.py_buffer(own.data)]
    )
    return cast("pa.Array[Any]", column.cast(pa.bool_()) if kind == "b" else column)


# Units of numpy that Arrow has not, with one it has that is as fine, or the finest.
_OF_DATES = {"W": "D", "h": "s", "m": "s", "ps": "ns", "fs": "ns", "as": "ns"}


def _of_times(values: "np.ndarray[Any, Any]") -> "pa.Array[Any]":
    """Return dates, times and durations in a unit of Arrow; years and months as the texts that they are."""
    kind, (unit, _) = values.dtype.kind, np.datetime_data(values.dtype)
    if kind == "M" and unit in "YM":
        return _of_list([None if one == "NaT" else one for one in values.astype(str).tolist()])
    if unit in {"Y", "M", "generic"}:
        msg = f"{values.dtype} says no length of time"
        raise ValueError(msg)
    of_arrow = {"D": "s", **_OF_DATES, "W": "s"} if kind == "m" else _OF_DATES
    # Of units such as 10 s Arrow would take the numbers for seconds.
    found = values.astype(f"{kind}8[{of_arrow.get(unit, unit)}]")
    if not ((found.astype(values.dtype) == values) | np.isnat(values)).all():
        msg = f"some values of {values.dtype} are none of {found.dtype}, which they are read as"
        raise ValueError(msg)
    return cast("pa.Array[Any]", pa.array(found))


def _of_list(values: Sequence[object]) -> "pa.Array[Any]":
    """Return a list as a column; only dates, decimals and the like cost an import of pandas."""
    kinds = set(map(type, values)) - {type(None)}
    known = [one for one in values if one is not None]
    if not kinds:
        return pa.nulls(len(values))
    if all(issubclass(kind, str) for kind in kinds):
        return some_texts([None if one is None else str(one) for one in values])
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
    return without(_of_numpy(whole), gone)


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


def refuse_misaligned(values: "Mapping[str, object]") -> None:
    """Refuse columns of pandas whose indexes name other rows, or the same rows in another order.

    A default index (0, 1, 2, ...) says nothing of rows, so it may stand beside any other rows than its own.
    """
    indexes = [(name, index) for name, one in values.items() if (index := index_of(one)) is not None]
    for name, index in indexes[1:]:
        first_name, first = indexes[0]
        if index is first or len(index) != len(first) or first.equals(index):
            continue
        # Labels of any two kinds are told apart so, and missing ones are alike.
        pair = [first, index]
        if (first.dtype, first.nlevels) != (index.dtype, index.nlevels):
            pair = [one.to_flat_index().astype(object) for one in pair]
        label = pair[0].append(pair[1]).factorize()[0]
        one, other = np.split(label, 2)
        if (one == other).all():
            continue
        if first.is_unique and np.array_equal(np.sort(one), np.sort(other)):
            what = f"the rows of {first_name} and {name} stand in different orders, by their indexes"
        elif _is_default(first) or _is_default(index):
            continue
        else:
            what = f"{first_name} and {name} have different indexes"
        place = int((one != other).argmax())
        # As Python writes them: numpy's own would be np.int64(7).
        here, there = first[[place]].tolist()[0], index[[place]].tolist()[0]
        msg = f"{what}: row {place + 1} is {here!r} here and {there!r} there"
        raise UsageProblem(
            msg,
            f"align them, as in {name}.loc[{first_name}.index]; where only places count, pass .to_numpy()",
        )


def index_of(values: Any) -> Any:  # noqa: ANN401 - the index of a Series or a frame of pandas
    """Return the index of what pandas made, of a mapping its first; None where there is none."""
    if isinstance(values, Mapping):
        return next((found for one in values.values() if (found := index_of(one)) is not None), None)
    return values.index if _maker(values) == "pandas" and hasattr(values, "iloc") else None


def _is_default(index: Any) -> bool:  # noqa: ANN401
    """Whether an index is what pandas gives to rows that have none."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


# What messages and reports call a frame.
FRAME = "frame"

Columns: TypeAlias = dict[str, Callable[[], ArrowColumn]]


def is_frame(rows: object) -> bool:
    """Whether this has columns with names, and is no single column."""
    if isinstance(rows, Mapping | pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return True
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        return False
    two = _dimensions(rows) in (None, 2)
    return two and (_is_pandas(rows) or hasattr(rows, "__arrow_c_stream__"))


def is_array(rows: object) -> bool:
    """Whether this holds values without names; a frame of another kind may be an array, but has columns."""
    if (
        isinstance(rows, list | tuple | range | np.ndarray | pa.Array | pa.ChunkedArray)
        or _maker(rows) == "pandas"
    ):
        return True
    arrays = ("__array__", "__dlpack__", "__arrow_c_array__", "__arrow_c_stream__")
    frame = hasattr(rows, "columns") and getattr(rows, "ndim", 1) == 2
    return any(hasattr(rows, one) for one in arrays) and not frame


def settled(rows: Any) -> Any:  # noqa: ANN401 - a frame of any make, or arrays
    """Return a frame that can be looked at twice: lazy polars worked out, and streams as tables of Arrow."""
    if _maker(rows) == "polars" and type(rows).__name__ == "LazyFrame":
        return rows.collect()
    held = isinstance(rows, Mapping) or _is_pandas(rows) or _is_polars(rows)
    return rows if held or not is_frame(rows) else _table(rows)


def columns_of_frame(rows: Any) -> Columns:  # noqa: ANN401 - a frame of any make
    """Return what gives each column of a frame, by its name; a column that is not read costs nothing."""
    if isinstance(rows, Mapping):
        Header([str(name) for name in rows], FRAME).refuse_repeated()
        return {str(name): cache(partial(column_of, one, what=str(name))) for name, one in rows.items()}
    if _is_polars(rows):
        return {name: cache(partial(_of_polars, rows, name)) for name in rows.columns}
    names = [str(name) for name in (rows.column_names if isinstance(rows, pa.Table) else rows.columns)]
    Header(names, FRAME).refuse_repeated()
    if isinstance(rows, pa.Table):
        return {name: partial(rows.column, name) for name in names}
    return {name: cache(partial(_frames_of_pandas, rows, place)) for place, name in enumerate(names)}


def rows_of_frame(rows: Any) -> int:  # noqa: ANN401 - a frame of any make
    if not isinstance(rows, Mapping):
        return int(rows.shape[0])
    lengths = {str(name): _length(values, str(name)) for name, values in rows.items()}
    for name, length in lengths.items():
        first, most = next(iter(lengths.items()))
        if length != most:
            msg = f"{name!r} has {length:,} values, and {first!r} has {most:,}"
            raise UsageProblem(msg, "give every row a value in each")
    refuse_misaligned({str(name): values for name, values in rows.items()})
    return next(iter(lengths.values()), 0)


def _length(values: Any, name: str) -> int:  # noqa: ANN401
    try:
        return len(values)
    except TypeError:
        # What has no length is no column, and is refused as such.
        return len(column_of(values, what=name))


def with_added_columns(rows: Any, added: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a frame of any make
    """Return a frame of the same make with columns added; the one given stays as it is."""
    if isinstance(rows, Mapping):
        return {**rows, **{name: _as_array(values) for name, values in added.items()}}
    if _is_pandas(rows):
        wider = rows.copy(deep=False)
        blank = ("",) * (rows.columns.nlevels - 1)
        for name, values in added.items():
            # A name of several levels is a tuple.
            key = (name, *blank) if blank else name
            if key in wider.columns:
                msg = f"{FRAME} has a column {str(key)!r} already"
                raise UsageProblem(msg, "--name gives the new column another name")
            wider[key] = _as_array(values)
        return wider
    if _is_polars(rows):
        kind = type(rows.to_series(0))
        return rows.with_columns([kind(name, _gaps_as_null(values)) for name, values in added.items()])
    for name, values in added.items():
        rows = rows.append_column(name, column_of(_gaps_as_null(values), what=name))
    return rows


def _gaps_as_null(values: Any) -> Any:  # noqa: ANN401
    """Return numbers as a column, NaN as null; a probability is never NaN but where there is none."""
    if isinstance(values, np.ndarray) and np.isnan(values).any():
        return pa.array(values, from_pandas=True)
    return values


def _as_array(values: Any) -> Any:  # noqa: ANN401
    if isinstance(values, pa.Array | pa.ChunkedArray):
        found = np.empty(len(values), object)
        found[:] = values.to_pylist()
        return found
    return values


def _maker(values: object) -> str:
    """Return the package that made values; of a class that extends one of pandas that is pandas."""
    makers = [one.__module__.partition(".")[0] for one in type(values).__mro__]
    return "pandas" if "pandas" in makers else makers[0]


def _is_pandas(rows: object) -> bool:
    return _maker(rows) == "pandas" and hasattr(rows, "columns")


def _is_polars(rows: object) -> bool:
    return _maker(rows) == "polars" and hasattr(rows, "get_column")


def _frames_of_pandas(rows: Any, place: int) -> ArrowColumn:  # noqa: ANN401
    return column_of(rows.iloc[:, place], what=str(rows.columns[place]))


def _of_polars(rows: Any, name: str) -> ArrowColumn:  # noqa: ANN401
    return column_of(rows.get_column(name), what=name)


def _table(rows: Any) -> pa.Table:  # noqa: ANN401
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    reader = rows if isinstance(rows, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(rows)
    return reader.read_all()


def values_like(given: Any, values: Any) -> Any:  # noqa: ANN401 - of the make of `given`
    """A value for each of the scores given, or a row, as a Series with the same index and name for one."""
    make = _maker(given)
    if make == "pandas" and hasattr(given, "index"):
        return type(given)(values, index=given.index, name=given.name)
    if make == "polars":
        return type(given)(given.name, _gaps_as_null(values))
    if isinstance(given, pa.Array | pa.ChunkedArray):
        column: Any = column_of(_gaps_as_null(values), what="probabilities")
        return column if isinstance(given, pa.Array) else pa.chunked_array([column])
    return values


def rows_like(given: Any, values: npt.NDArray[np.float64], *, names: Sequence[str]) -> Any:  # noqa: ANN401
    """Rows of probabilities: a frame of the same columns for a frame, a Series for one, else an array."""
    columns = {name: np.ascontiguousarray(values[:, place]) for place, name in enumerate(names)}
    if isinstance(given, Mapping):
        return columns
    if is_frame(given) and _is_pandas(given):
        return type(given)(columns, index=given.index)
    if is_frame(given):
        arrays = {name: _gaps_as_null(one) for name, one in columns.items()}
        return type(given)(arrays) if _is_polars(given) else pa.table(arrays)
    if _maker(given) in {"pandas", "polars"}:
        return values_like(given, _lists_of(values))
    if isinstance(given, pa.Array | pa.ChunkedArray):
        kind = pa.list_(pa.float64(), values.shape[1])
        whole = not np.isnan(values).any()
        return list_column(values, kind) if whole else pa.array(_lists_of(values), kind)
    return values


def _lists_of(values: npt.NDArray[np.float64]) -> list[list[float] | None]:
    """Return rows of numbers as lists, None where there is no probability."""
    return [None if any(map(math.isnan, row)) else row for row in values.tolist()]


def itself(column: ArrowColumn) -> ArrowColumn:
    """Return a column that is there already, where what gives one is asked for."""
    return column
