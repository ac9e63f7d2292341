"""Record batches as JSON Lines, for input that was none."""

from collections.abc import Iterable
from typing import BinaryIO

import pyarrow as pa

from calibcli.progress import Advance
from calibcli.writers.arrow import written
from calibcli.writers.json_text import joined_row, json_column, json_key

# Text of so many bytes is made at once, as far as that can be told beforehand.
_MOST_BYTES = 1 << 25


def write_batches(
    batches: Iterable[pa.RecordBatch],
    target: BinaryIO,
    *,
    schema: pa.Schema,
    advance: Advance = lambda _: None,
) -> int:
    """Write record batches as JSON Lines, a key for each column; return the number of rows."""
    rows = 0
    names = [json_key(name) for name in schema.names]
    for whole in batches:
        some = max(1, whole.num_rows * _MOST_BYTES // max(1, whole.nbytes))
        for start in range(0, whole.num_rows, some):
            batch = whole.slice(start, some)
            target.write(written(joined_row(names, [json_column(column) for column in batch.columns])))
        rows += whole.num_rows
        advance(whole.num_rows)
    return rows
