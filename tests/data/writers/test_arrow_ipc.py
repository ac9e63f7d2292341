"""Arrow files and streams: what they hold, and how rows are put together."""

import inspect
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from calibcli.data.writers import Output, write_rows
from calibcli.data.writers.arrow_ipc import copy_with_fields, opened_sink
from calibcli.names import Compression, DataFormat

BATCH = pa.record_batch(
    {"score": [0.25, 0.5], "kind": pa.array(["a", "b"]).dictionary_encode(), "tags": [[1], None]}
)
SCHEMA = BATCH.schema.with_metadata({"owner": "us"})
NEW = pa.field("p", pa.float64())


def copied(batches: list[Any], *, stream: bool, keep: list[str], **requested: Any) -> bytes:
    """Copy batches with a new column of halves."""
    out = io.BytesIO()
    schema = pa.schema([*(SCHEMA.field(name) for name in keep), NEW]).with_metadata(SCHEMA.metadata)
    ahead = requested.pop("ahead", False)
    with opened_sink(out, schema, stream=stream, **requested) as sink:
        rows = copy_with_fields(
            batches,
            sink,
            schema=schema,
            made=lambda batch: [np.from_dlpack(batch.column("score")) / 2],
            ahead=ahead,
        )
    assert rows == sum(batch.num_rows for batch, _ in batches)
    return out.getvalue()


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("ahead", [True, False])
def test_batches_keep_their_sizes_and_what_is_said_of_them(*, stream: bool, ahead: bool) -> None:
    """The schema's metadata and that of single batches, in the same order."""
    batches = [(BATCH, {"n": "1"}), (BATCH.slice(1), None), (BATCH.slice(2), None)]
    content = copied(batches, stream=stream, keep=BATCH.schema.names, ahead=ahead)
    if stream:
        with pa.ipc.open_stream(content) as reader:
            found = list(reader.iter_batches_with_custom_metadata())
            schema = reader.schema
    else:
        with pa.ipc.open_file(content) as file:
            found = [file.get_batch_with_custom_metadata(place) for place in range(file.num_record_batches)]
            schema = file.schema
    assert schema.equals(pa.schema([*SCHEMA, NEW], {"owner": "us"}), check_metadata=True)
    assert [batch.num_rows for batch, _ in found] == [2, 1, 0]
    assert [None if said is None else dict(said) for _, said in found] == [{b"n": b"1"}, None, None]
    assert found[0][0].to_pylist() == [
        {"score": 0.25, "kind": "a", "tags": [1], "p": 0.125},
        {"score": 0.5, "kind": "b", "tags": None, "p": 0.25},
    ]


def test_other_columns_can_go() -> None:
    """Those that new ones are made of too."""
    with pa.ipc.open_file(copied([(BATCH, None)], stream=False, keep=["kind"])) as file:
        assert file.read_all().to_pylist() == [{"kind": "a", "p": 0.125}, {"kind": "b", "p": 0.25}]


@pytest.mark.skipif(
    "metadata" not in inspect.signature(pa.ipc.new_file).parameters, reason="this pyarrow writes no footer"
)
def test_a_file_keeps_its_footer() -> None:
    """Where this version of pyarrow writes one."""
    content = copied([(BATCH, None)], stream=False, keep=["score"], footer=pa.KeyValueMetadata({"a": "b"}))
    with pa.ipc.open_file(content) as file:
        assert dict(file.metadata) == {b"a": b"b"}


@pytest.mark.parametrize("codec", [Compression.ZSTD, Compression.LZ4])
def test_buffers_are_compressed_as_asked(codec: Compression) -> None:
    """Which makes many equal numbers few bytes."""
    batch = pa.record_batch({"score": np.zeros(10_000)})
    plain = copied([(batch, None)], stream=True, keep=["score"])
    assert len(copied([(batch, None)], stream=True, keep=["score"], codec=codec)) < len(plain) / 10


def test_small_batches_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """And dictionaries that differ from batch to batch become one that grows, as a file needs it."""
    monkeypatch.setattr("calibcli.data.writers.arrow_ipc._BATCH_ROWS", 4)
    kind = pa.dictionary(pa.int8(), pa.string())
    parts = [["a", "b"], ["b", "c"], ["d", None], ["a", "d"], ["e"]]
    batches = [pa.record_batch({"k": pa.array(part, kind)}) for part in parts]
    out = io.BytesIO()
    assert write_rows(batches, Output(DataFormat.ARROW, out, batches[0].schema)) == 9
    with pa.ipc.open_file(out.getvalue()) as file:
        assert [file.get_batch(place).num_rows for place in range(file.num_record_batches)] == [4, 4, 1]
        assert file.read_all()["k"].to_pylist() == [one for part in parts for one in part]
