"""Results of the same make as what was given: arrays for arrays, Series for Series, frames for frames."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.writers.arrow import float_column, list_column


def values_like(given: Any, values: npt.NDArray[np.float64]) -> Any:  # noqa: ANN401 - of the make of `given`
    """
    Return a value for each of the scores given, as a Series with the same index and name where these are one.

    Args:
        given: The scores: an array of any make, or a list, for which a numpy array is returned.

        values: Shape (n,).
    """
    make = type(given).__module__.partition(".")[0]
    if make == "pandas" and hasattr(given, "index"):
        return type(given)(values, index=given.index, name=given.name)
    if make == "polars":
        return type(given)(given.name, values)
    if isinstance(given, pa.Array):
        return float_column(values)
    if isinstance(given, pa.ChunkedArray):
        return pa.chunked_array([float_column(values)])
    return values


def rows_like(given: Any, values: npt.NDArray[np.float64], *, names: Sequence[str]) -> Any:  # noqa: ANN401
    """
    Return rows of probabilities: a frame with the same columns where a frame was given, an array for an
    array.

    Args:
        given: Rows of probabilities, of any make.

        values: Shape (n, K).

        names: What the columns of a frame are called, those of the classes alone.
    """
    make = type(given).__module__.partition(".")[0]
    columns = {name: np.ascontiguousarray(values[:, place]) for place, name in enumerate(names)}
    if make == "pandas":
        return type(given)(columns, index=given.index)
    if make == "polars":
        return type(given)(columns)
    if isinstance(given, dict):
        return columns
    if isinstance(given, pa.Table | pa.RecordBatch):
        arrays = [float_column(one) for one in columns.values()]
        return pa.Table.from_arrays(arrays, names=list(columns))
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return list_column(values, pa.list_(pa.float64(), values.shape[1]))
    return values
