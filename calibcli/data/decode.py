"""
Arrow columns to numpy: looked through before anything in them is believed,
without a copy where there is none to make.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.stats.table.score_table import Floats

Booleans = npt.NDArray[np.bool_]

Number = TypeVar("Number", bound=np.generic)

Column: TypeAlias = "pa.Array[Any]"


@dataclass(frozen=True, slots=True, eq=False)
class Decoded(Generic[Number]):
    """
    A column of a record batch.

    Args:
        missing: Shape (n,), where the value is missing; None if nowhere.
    """

    values: npt.NDArray[Number]
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
    """Return a column without extension and runs; a dictionary stays, with plain values."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(cast("Any", column).storage)
    if isinstance(kind, pa.RunEndEncodedType):
        import pyarrow.compute as pc

        return plain(cast("Any", pc).run_end_decode(column))
    return column


def is_text(kind: pa.DataType) -> bool:
    """Whether a column type holds text, or bytes that may be text, as older writers of Parquet mark it."""
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )


def floats(column: Column) -> Decoded[np.float64]:
    """Return a column of numbers as float64; NaN is missing."""
    column = plain(column)
    if isinstance(column, pa.DictionaryArray):
        column = plain(column.dictionary_decode())
    if not pa.types.is_float64(column.type):
        column = column.cast(pa.float64(), safe=False)
    missing = nulls(column)
    values = cast("Floats", np.from_dlpack(without_nulls(column)))
    # A minimum is NaN if anything is.
    if values.size and np.isnan(values.min()):
        nan = np.isnan(values)
        missing = nan if missing is None else missing | nan
    return Decoded(values, missing)


def booleans(column: Column) -> Booleans:
    """Return a boolean array; its nulls are whatever they are."""
    return np.from_dlpack(without_nulls(column).cast(pa.uint8())).view(np.bool_)


def nulls(column: Column) -> Booleans | None:
    """Return where a column is null, or None if nowhere."""
    return booleans(column.is_null()) if column.null_count else None


def without_nulls(column: Column) -> Column:
    """Return the same buffers with no value marked as null."""
    if not column.null_count:
        return column
    return pa.Array.from_buffers(
        column.type, len(column), [None, *column.buffers()[1:]], offset=column.offset
    )


def release_unused() -> None:
    """Give back to the system what pyarrow keeps of the memory of batches that are done with."""
    pa.default_memory_pool().release_unused()


def sound(batch: pa.RecordBatch, *, shown: str) -> pa.RecordBatch:
    """Return a batch whose text is UTF-8, and whose lengths and codes lead nowhere outside of it."""
    try:
        batch.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _unsound(batch, error, shown) from error
    return batch


def _unsound(batch: pa.RecordBatch, error: pa.ArrowInvalid, shown: str) -> InputProblem:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as found:
            words = str(found).removeprefix("Invalid: ")
            if "UTF8" in words:
                msg = f"{shown}, column {name!r}: it holds text that is not UTF-8"
                return InputProblem(msg, "write the column anew as UTF-8, or as bytes")
            return _damaged(f"{shown}, column {name!r}: {words}")
    return _damaged(f"{shown} cannot be read: {error}")


def no_memory(shown: str, error: MemoryError) -> InputProblem:
    """Return what there is to say where a file needs more memory than there is, or pretends to."""
    words = (str(error).splitlines() or ["all is taken"])[0]
    return InputProblem(
        f"{shown}: there is not enough memory to read it: {words}",
        "give it more, or lower --memory and --jobs; a damaged file may ask for any amount",
    )


def _damaged(message: str) -> InputProblem:
    return InputProblem(message, "the file may be cut short or damaged: compare its size with the source")
