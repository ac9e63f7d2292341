"""Small record batches put together."""

from collections.abc import Iterable, Iterator

import pyarrow as pa


def gathered(
    batches: Iterable[pa.RecordBatch], rows: int, *, values: int | None = None
) -> Iterator[pa.Table]:
    """Yield the rows in tables of at least so many, or so many values, but for the last; none is empty."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            count += batch.num_rows
        if count >= rows or (values is not None and count * batch.num_columns >= values):
            yield pa.Table.from_batches(waiting)
            waiting, count = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)
