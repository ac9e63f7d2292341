"""Frames of any make: their columns by name, and a frame of the same make with columns added."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, TypeAlias, cast

import numpy as np
import pyarrow as pa

from calibcli.api.columns import column_of
from calibcli.api.indexes import refuse_misaligned
from calibcli.errors import UsageProblem
from calibcli.readers.in_memory import HeldColumn
from calibcli.readers.names_of_columns import refuse_repeated

# What messages and reports call a frame.
FRAME = "frame"
Columns: TypeAlias = dict[str, Callable[[], HeldColumn]]


def is_frame(rows: object) -> bool:
    """Whether this has columns with names, and is no single column."""
    if isinstance(rows, Mapping | pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return True
    if isinstance(rows, pa.Array | pa.ChunkedArray):
        return False
    two = len(getattr(rows, "shape", (0, 0))) == 2
    return two and (_is_pandas(rows) or hasattr(rows, "__arrow_c_stream__"))


def collected(rows: object) -> object:
    """Return a lazy frame of polars as the frame that it describes, and anything else as it is."""
    lazy = type(rows).__module__.partition(".")[0] == "polars" and type(rows).__name__ == "LazyFrame"
    found: object = cast("Any", rows).collect() if lazy else rows
    return found


def settled(rows: Any) -> Any:  # noqa: ANN401 - a frame of any make
    """Return a frame that can be looked at twice: what is a stream of batches becomes a table of Arrow."""
    return rows if isinstance(rows, Mapping) or _is_pandas(rows) or _is_polars(rows) else _table(rows)


def columns_of_frame(rows: Any) -> Columns:  # noqa: ANN401 - a frame of any make
    """
    Return what gives each column of a frame, by its name; a column that is not read costs nothing.

    Args:
        rows: A frame of pandas or polars, a table of Arrow, or a mapping of names to arrays.

    Raises:
        InputProblem: If two columns have one name.
    """
    if isinstance(rows, Mapping):
        return {str(name): cache(partial(column_of, one, what=str(name))) for name, one in rows.items()}
    if _is_polars(rows):
        return {name: cache(partial(_of_polars, rows, name)) for name in rows.columns}
    names = [str(name) for name in (rows.column_names if isinstance(rows, pa.Table) else rows.columns)]
    refuse_repeated(names, path=FRAME)
    if isinstance(rows, pa.Table):
        return {name: partial(rows.column, name) for name in names}
    return {name: cache(partial(_of_pandas, rows, place)) for place, name in enumerate(names)}


def rows_of_frame(rows: Any) -> int:  # noqa: ANN401 - a frame of any make
    """
    Return how many rows a frame has.

    Raises:
        UsageProblem: If the arrays of a mapping are not equally long, or name other rows by their indexes.
    """
    if not isinstance(rows, Mapping):
        return int(rows.shape[0])
    lengths = {str(name): len(values) for name, values in rows.items()}
    for name, length in lengths.items():
        first, most = next(iter(lengths.items()))
        if length != most:
            msg = f"{name!r} has {length:,} values, and {first!r} has {most:,}"
            raise UsageProblem(msg, "give every row a value in each")
    refuse_misaligned({str(name): values for name, values in rows.items()})
    return next(iter(lengths.values()), 0)


def widened(rows: Any, added: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a frame of any make
    """
    Return a frame of the same make with columns added; the one given stays as it is.

    Args:
        rows: A frame that is settled.

        added: The new columns by name, arrays of numpy or Arrow of shape (n,).
    """
    if isinstance(rows, Mapping):
        return {**rows, **{name: _as_array(values) for name, values in added.items()}}
    if _is_pandas(rows):
        wider = rows.copy(deep=False)
        for name, values in added.items():
            wider[name] = _as_array(values)
        return wider
    if _is_polars(rows):
        kind = type(rows.to_series(0))
        return rows.with_columns([kind(name, values) for name, values in added.items()])
    for name, values in added.items():
        rows = rows.append_column(name, column_of(values, what=name))
    return rows


def _as_array(values: Any) -> Any:  # noqa: ANN401
    if isinstance(values, pa.Array | pa.ChunkedArray):
        found = np.empty(len(values), object)
        found[:] = values.to_pylist()
        return found
    return values


def _is_pandas(rows: object) -> bool:
    return type(rows).__module__.partition(".")[0] == "pandas" and hasattr(rows, "columns")


def _is_polars(rows: object) -> bool:
    return type(rows).__module__.partition(".")[0] == "polars" and hasattr(rows, "get_column")


def _of_pandas(rows: Any, place: int) -> HeldColumn:  # noqa: ANN401
    return column_of(rows.iloc[:, place], what=str(rows.columns[place]))


def _of_polars(rows: Any, name: str) -> HeldColumn:  # noqa: ANN401
    return column_of(rows.get_column(name), what=name)


def _table(rows: Any) -> pa.Table:  # noqa: ANN401
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    reader = rows if isinstance(rows, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(rows)
    return reader.read_all()
