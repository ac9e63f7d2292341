"""Record batches as CSV, for input that was none."""

from collections.abc import Iterable
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv

from calibcli.progress import Advance


def write_batches(
    batches: Iterable[pa.RecordBatch],
    target: BinaryIO,
    *,
    schema: pa.Schema,
    delimiter: str = ",",
    advance: Advance = lambda _: None,
) -> int:
    """Write record batches as CSV with a header, text in quotes; return the number of rows."""
    rows = 0
    options = pa_csv.WriteOptions(delimiter=delimiter)
    flat = pa.schema([field.with_type(_flat(field.type)) for field in schema])
    with pa_csv.CSVWriter(target, flat, write_options=options) as writer:
        for batch in batches:
            columns = [column.cast(kind) for column, kind in zip(batch.columns, flat.types, strict=True)]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=flat))
            rows += batch.num_rows
            advance(batch.num_rows)
    return rows


def fits_csv(kind: pa.DataType) -> bool:
    """Whether values of a type are single fields of text."""
    if isinstance(kind, pa.DictionaryType):
        return fits_csv(kind.value_type)
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
    return pa.string() if pa.types.is_string_view(kind) else kind
