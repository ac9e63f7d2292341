"""Arrow IPC: record batches, dictionaries and metadata as they were, in a file or as a stream."""

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Literal, TypeAlias, cast

import pyarrow as pa
import pyarrow.ipc

from calibcli.data.writers import Output
from calibcli.data.writers.parquet import gathered
from calibcli.names import Compression

# Batches of this many rows are put together from smaller ones; of less where there are very many columns.
_BATCH_ROWS = 1 << 17
_MOST_VALUES = 1 << 25
Sink: TypeAlias = "pa.ipc.RecordBatchFileWriter | pa.ipc.RecordBatchStreamWriter"


def write_batches(batches: Iterable[pa.RecordBatch], out: Output) -> Iterator[int]:
    """Write record batches, small ones put together.

    Dictionaries grow from batch to batch: a file can hold one for each column, and what is added to it.
    """
    known: dict[str, Any] = {}
    with opened_sink(out.target, out.schema, stream=out.stream) as sink:
        for table in gathered(batches, _BATCH_ROWS, values=_MOST_VALUES):
            columns: Any = [column.combine_chunks() for column in table.columns]
            sink.write_batch(grown(pa.RecordBatch.from_arrays(columns, schema=table.schema), known))
            yield table.num_rows


# Values of any type can be written.
fits = None


@contextmanager
def opened_sink(
    target: BinaryIO,
    schema: pa.Schema,
    *,
    stream: bool,
    codec: Compression | None = None,
    footer: Any = None,  # noqa: ANN401 - pyarrow's metadata, or None
) -> Iterator[Sink]:
    name = None if codec is None else cast('Literal["lz4", "zstd"]', codec.value)
    options = pa.ipc.IpcWriteOptions(compression=name, emit_dictionary_deltas=True, allow_64bit=True)
    out = cast("io.IOBase", target)
    if stream:
        with pa.ipc.new_stream(out, schema, options=options) as sink:
            yield sink
    else:
        # Older versions of pyarrow neither read nor write a footer's metadata.
        said: dict[str, Any] = {} if footer is None else {"metadata": footer}
        with pa.ipc.new_file(out, schema, options=options, **said) as sink:
            yield sink


def grown(batch: pa.RecordBatch, known: dict[str, Any]) -> pa.RecordBatch:
    """Return rows whose dictionaries begin with those of the batches before, as a file needs them."""
    columns = [_grown(*one, known) for one in zip(batch.columns, batch.schema.names, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _grown(column: Any, name: str, known: dict[str, Any]) -> Any:  # noqa: ANN401 - a column of any type
    """Return a dictionary column with all values that the column had before, in their order."""
    if not isinstance(column, pa.DictionaryArray):
        return column
    if name in known and not known[name].equals(column.dictionary):
        empty = pa.DictionaryArray.from_arrays(column.indices.slice(0, 0), known[name])
        both: Any = [empty, column]
        column = pa.chunked_array(both).unify_dictionaries().chunk(1)
    known[name] = column.dictionary
    return column
