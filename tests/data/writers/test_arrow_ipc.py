"""Arrow files and streams: what they hold, and how rows are put together."""

import inspect
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pytest

from calibcli.data.writers import Output, writer_of
from calibcli.data.writers.arrow_ipc import opened_sink
from calibcli.documents.artifact import read_artifact
from calibcli.names import Compression, DataFormat
from command_line import ROOT, Run

BATCH = pa.record_batch(
    {"score": [0.25, 0.5], "kind": pa.array(["a", "b"]).dictionary_encode(), "tags": [[1], None]}
)
SCHEMA = BATCH.schema.with_metadata({"owner": "us"})
NEW = pa.field("p", pa.float64())
PLATT = ROOT / "tests" / "documents" / "frozen" / "platt.json"
HALVES = read_artifact(str(PLATT)).recalibrator.predict(np.array([0.25, 0.5])).tolist()


@pytest.fixture
def applied(run: Run, tmp_path: Path) -> Any:
    """Add a column to batches in a file or stream, read by name or through a pipe, and return the output."""

    def call(
        batches: Iterable[tuple[pa.RecordBatch, Any]], *, stream: bool, piped: bool = False, **more: Any
    ) -> bytes:
        source, target = tmp_path / "a.arrow", tmp_path / ("out.arrows" if stream else "out.arrow")
        keep = more.pop("keep", "all")
        with source.open("wb") as out, opened_sink(out, SCHEMA, stream=stream, **more) as sink:
            for batch, said in batches:
                sink.write_batch(batch, custom_metadata=said)
        words = ["apply", PLATT, "-" if piped else source, "-s", "score", "-o", target, "--force"]
        done = run(*words, "--name", "p", "--keep", keep, stdin=source.read_bytes() if piped else None)
        assert done.code == 0, done.err
        return target.read_bytes()

    return call


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("piped", [True, False])
def test_batches_keep_their_sizes_and_what_is_said_of_them(
    applied: Any, *, stream: bool, piped: bool
) -> None:
    """The schema's metadata and that of single batches, in the same order."""
    batches = [(BATCH, {"n": "1"}), (BATCH.slice(1), None), (BATCH.slice(2), None)]
    content = applied(batches, stream=stream, piped=piped)
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
        {"score": 0.25, "kind": "a", "tags": [1], "p": HALVES[0]},
        {"score": 0.5, "kind": "b", "tags": None, "p": HALVES[1]},
    ]


def test_dictionaries_that_a_stream_replaces_grow_in_a_file(run: Run, tmp_path: Path) -> None:
    """A file holds one for each column, and what is added to it; a stream may hold others."""
    kinds = [["a", "b"], ["c", "a", "d"], [], ["b"]]
    with (tmp_path / "a.arrows").open("wb") as out, opened_sink(out, SCHEMA, stream=True) as sink:
        for some in kinds:
            columns = [pa.array([0.5] * len(some)), pa.array(some, pa.string()).dictionary_encode()]
            tags = pa.array([None] * len(some), SCHEMA.field("tags").type)
            sink.write_batch(pa.RecordBatch.from_arrays([*columns, tags], schema=SCHEMA))
    run("apply", PLATT, tmp_path / "a.arrows", "-s", "score", "-o", tmp_path / "out.arrow", code=0)
    with pa.ipc.open_file(tmp_path / "out.arrow") as reader:
        found = [reader.get_batch(place) for place in range(reader.num_record_batches)]
    assert [batch.column("kind").to_pylist() for batch in found] == kinds


def test_other_columns_can_go(applied: Any) -> None:
    """Those that new ones are made of too."""
    with pa.ipc.open_file(applied([(BATCH, None)], stream=False, keep="kind")) as file:
        assert file.read_all().to_pylist() == [
            {"kind": "a", "p": HALVES[0]},
            {"kind": "b", "p": HALVES[1]},
        ]


@pytest.mark.skipif(
    "metadata" not in inspect.signature(pa.ipc.new_file).parameters, reason="this pyarrow writes no footer"
)
def test_a_file_keeps_its_footer(applied: Any) -> None:
    """Where this version of pyarrow writes one."""
    content = applied([(BATCH, None)], stream=False, footer=pa.KeyValueMetadata({"a": "b"}))
    with pa.ipc.open_file(content) as file:
        assert dict(file.metadata) == {b"a": b"b"}


@pytest.mark.parametrize("codec", [Compression.ZSTD, Compression.LZ4])
def test_buffers_are_compressed_as_they_were(applied: Any, codec: Compression) -> None:
    """Which makes many equal numbers few bytes."""
    table = pa.Table.from_batches([BATCH.slice(0, 1)] * 10_000).combine_chunks()
    (batch,) = table.unify_dictionaries().to_batches()
    plain = applied([(batch, None)], stream=True, keep="score")
    assert len(applied([(batch, None)], stream=True, keep="score", codec=codec)) < len(plain) / 10


def test_small_batches_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """And dictionaries that differ from batch to batch become one that grows, as a file needs it."""
    monkeypatch.setattr("calibcli.data.writers.arrow_ipc._BATCH_ROWS", 4)
    kind = pa.dictionary(pa.int8(), pa.string())
    parts = [["a", "b"], ["b", "c"], ["d", None], ["a", "d"], ["e"]]
    batches = [pa.record_batch({"k": pa.array(part, kind)}) for part in parts]
    out = io.BytesIO()
    output = Output(DataFormat.ARROW, out, batches[0].schema)
    assert sum(writer_of(DataFormat.ARROW).write_batches(batches, output)) == 9
    with pa.ipc.open_file(out.getvalue()) as file:
        assert [file.get_batch(place).num_rows for place in range(file.num_record_batches)] == [4, 4, 1]
        assert file.read_all()["k"].to_pylist() == [one for part in parts for one in part]
