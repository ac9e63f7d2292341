"""Record batches as CSV, for input that was none."""

from collections.abc import Iterable
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv


def write_batches(
    batches: Iterable[pa.RecordBatch], target: BinaryIO, *, schema: pa.Schema, delimiter: str = ","
) -> int:
    """Write record batches as CSV with a header, text in quotes; return the number of rows."""
    rows = 0
    options = pa_csv.WriteOptions(delimiter=delimiter)
    with pa_csv.CSVWriter(target, schema, write_options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows
