"""Parquet files with one more column."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcli.data.writers import Output, parquet, writer_of
from calibcli.data.writers.parquet import NewFields, copy_with_fields
from calibcli.names import DataFormat


def with_half(source: Path, out: Any) -> int:
    """Write a file anew with half of each score beside it."""
    fields = [pa.field("c", pa.float64())]
    new = NewFields(fields, lambda batch: [np.from_dlpack(batch.column("score")) / 2], "score")
    return sum(copy_with_fields(str(source), out, new=new, shown=source.name))


def source(path: Path) -> pa.Table:
    n = 1000
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "score": rng.random(n),
            "name": [f"n{i % 7}" for i in range(n)],
            "tags": [[i, i + 1] if i % 3 else None for i in range(n)],
            "when": pa.array(range(n), pa.timestamp("us", tz="UTC")),
            "kind": pa.array(["a", "b"] * (n // 2)).dictionary_encode(),
        }
    ).replace_schema_metadata({"owner": "us", "pandas": '{"columns": []}'})
    codecs = {
        "score": "zstd",
        "name": "gzip",
        "tags.list.element": "snappy",
        "when": "none",
        "kind": "snappy",
    }
    pq.write_table(
        table,
        path,
        row_group_size=300,
        compression=codecs,
        use_dictionary=["name", "kind"],
        write_page_index=True,
        sorting_columns=[pq.SortingColumn(3)],
        write_statistics=["score"],
    )
    return table


def test_everything_else_stays(tmp_path: Path) -> None:
    """Values, types, row groups, codecs, dictionaries, statistics, order and metadata."""
    table = source(tmp_path / "a.parquet")
    with (tmp_path / "b.parquet").open("wb") as out:
        assert with_half(tmp_path / "a.parquet", out) == 1000
    old, new = (pq.ParquetFile(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    with old, new:
        written = new.read()
        assert written.drop_columns(["c"]).equals(old.read(), check_metadata=True)
        assert written.schema.field("c").type == pa.float64()
        assert written["c"].to_pylist() == [score / 2 for score in table["score"].to_pylist()]
        assert new.metadata.metadata[b"owner"] == b"us"
        assert new.metadata.metadata[b"pandas"] == old.metadata.metadata[b"pandas"]
        groups = [[f.metadata.row_group(g) for g in range(f.num_row_groups)] for f in (old, new)]
        assert [g.num_rows for g in groups[0]] == [g.num_rows for g in groups[1]] == [300, 300, 300, 100]
        for before, after in zip(*groups, strict=True):
            assert before.sorting_columns == after.sorting_columns
            for index in range(before.num_columns):
                one, other = before.column(index), after.column(index)
                assert one.path_in_schema == other.path_in_schema
                assert one.compression == other.compression
                assert one.has_dictionary_page == other.has_dictionary_page
                assert one.is_stats_set == other.is_stats_set
                assert one.has_offset_index == other.has_offset_index
            assert after.column(before.num_columns).compression == "ZSTD"


def test_large_row_groups_are_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that memory does not grow with them; the rows are the same."""
    table = source(tmp_path / "a.parquet")
    monkeypatch.setattr(parquet, "LARGEST_PIECE", 128)
    with (tmp_path / "b.parquet").open("wb") as out:
        with_half(tmp_path / "a.parquet", out)
    with pq.ParquetFile(tmp_path / "b.parquet") as new:
        assert new.read().drop_columns(["c"]).equals(table.cast(new.read().drop_columns(["c"]).schema))
        assert max(new.metadata.row_group(g).num_rows for g in range(new.num_row_groups)) <= 128


def test_a_file_without_rows_gets_the_column(tmp_path: Path) -> None:
    """An empty shard stays an empty shard."""
    pq.write_table(pa.table({"score": pa.array([], pa.float64())}), tmp_path / "a.parquet")
    out = io.BytesIO()
    assert with_half(tmp_path / "a.parquet", out) == 0
    assert pq.read_table(io.BytesIO(out.getvalue())).schema.names == ["score", "c"]


def test_batches_are_gathered_into_row_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches do not make small row groups."""
    monkeypatch.setattr(parquet, "LARGEST_PIECE", 200)
    batch = pa.RecordBatch.from_pydict({"a": list(range(30))})
    out = io.BytesIO()
    output = Output(DataFormat.PARQUET, out, batch.schema)
    assert sum(parquet.write_batches([batch] * 10, output)) == 300
    with pq.ParquetFile(io.BytesIO(out.getvalue())) as file:
        assert [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)] == [120, 120, 60]


def test_batches_as_csv() -> None:
    """With a header, and the delimiter asked for."""
    batch = pa.RecordBatch.from_pydict({"a": ["x", None], "b": [0.5, 1.0]})
    out = io.BytesIO()
    output = Output(DataFormat.TSV, out, batch.schema)
    assert sum(writer_of(DataFormat.TSV).write_batches([batch], output)) == 2
    assert out.getvalue() == b'"a"\t"b"\n"x"\t0.5\n\t1\n'
