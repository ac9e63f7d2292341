"""One set of rows is one table in every format, and every row is used or reported as dropped."""

import gzip
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather

from calibcli.commands.gathering import Gathered, gather
from calibcli.data.engines import ThreadEngine
from calibcli.data.formats import format_of
from calibcli.data.readers import jsonl
from calibcli.names import DataFormat, OnMissing
from calibcli.options.rows import Columns

Rows = Sequence[tuple[float | None, bool | None]]
Write = Callable[[Path, Rows], None]

SCORES = st.one_of(st.sampled_from([0.0, 0.1, 0.25, 1.0, 5e-324]), st.floats(0, 1))
SOME = st.tuples(st.one_of(st.none(), SCORES), st.one_of(st.none(), st.booleans()))
ROWS = st.lists(SOME, min_size=1, max_size=30).filter(lambda rows: any(None not in row for row in rows))


def arrow(rows: Rows) -> pa.Table:
    scores, labels = zip(*rows, strict=True)
    return pa.table({"score": pa.array(scores, pa.float64()), "label": pa.array(labels, pa.bool_())})


def as_csv(path: Path, rows: Rows, delimiter: str = ",") -> None:
    lines = [
        f"{'' if score is None else repr(score)}{delimiter}{'' if label is None else int(label)}\n"
        for score, label in rows
    ]
    path.write_text(f"score{delimiter}label\n" + "".join(lines))


def as_jsonl(path: Path, rows: Rows) -> None:
    """Missing values are nulls, NaN, or keys that are not there, by turns."""
    lines: list[str] = []
    for place, (score, label) in enumerate(rows):
        row: dict[str, Any] = {"score": score, "label": label}
        gap = (None, math.nan)[place % 2]
        row["score"] = gap if score is None else score
        lines.append(json.dumps({name: one for name, one in row.items() if one is not None or place % 3}))
    path.write_text("\n".join(lines) + "\n")


def as_mixed_jsonl(path: Path, rows: Rows) -> None:
    """Labels are true, 1, "1" and "true" by turns, and some scores stand in quotes."""
    lines: list[str] = []
    for place, (score, label) in enumerate(rows):
        words = [label, None if label is None else int(label), str(int(bool(label))), str(bool(label))]
        said = None if label is None else words[place % 4]
        lines.append(json.dumps({"label": said, "score": repr(score) if place % 5 == 1 and score else score}))
    path.write_text("\n".join(lines))


def as_feather(path: Path, rows: Rows) -> None:
    feather.write_feather(arrow(rows), path, compression="lz4", chunksize=7)


def as_stream(path: Path, rows: Rows) -> None:
    table = arrow(rows)
    with pa.ipc.new_stream(path, table.schema) as out:
        out.write_table(table, max_chunksize=5)


def as_npz(path: Path, rows: Rows) -> None:
    """Arrays have no nulls: missing scores are NaN, missing labels empty text."""
    scores = np.array([math.nan if score is None else score for score, _ in rows])
    labels = np.array(["" if label is None else str(int(label)) for _, label in rows])
    np.savez_compressed(path, score=scores.reshape(-1, 1), label=labels)


def as_parquet(path: Path, rows: Rows) -> None:
    pq.write_table(arrow(rows), path, row_group_size=4)


def compressed(write: Write) -> Write:
    def write_compressed(path: Path, rows: Rows) -> None:
        write(path, rows)
        path.write_bytes(gzip.compress(path.read_bytes()))

    return write_compressed


FORMATS: dict[str, Write] = {
    "a.csv": as_csv,
    "a.tsv": lambda path, rows: as_csv(path, rows, "\t"),
    "a.jsonl": as_jsonl,
    "b.ndjson": as_mixed_jsonl,
    "a.parquet": as_parquet,
    "a.feather": as_feather,
    "a.arrows": as_stream,
    "a.npz": as_npz,
    "a.jsonl.gz": compressed(as_jsonl),
    "a.feather.gz": compressed(as_feather),
    "a.arrows.gz": compressed(as_stream),
}
DROPPING = Columns("score", "label", on_missing=OnMissing.DROP)


def read(*paths: Path | str) -> Gathered:
    return gather([str(path) for path in paths], DROPPING, engine=ThreadEngine(1), limit=None)


@settings(max_examples=settings.default.max_examples // 2)
@given(rows=ROWS)
def test_every_format_gives_the_same_table(
    rows: Rows, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in are rows used and rows dropped, whatever the file, in batches of a few rows."""
    monkeypatch.setattr("calibcli.data.readers._BATCH_ROWS", 6)
    monkeypatch.setattr(jsonl, "_BLOCK", 200)
    folder = tmp_path_factory.mktemp("alike")
    assert {format_of(name) for name in FORMATS} == {*DataFormat}
    expected = None
    for name, write in FORMATS.items():
        write(folder / name, rows)
        found = read(folder / name)
        assert found.input.rows + found.input.dropped == len(rows), name
        expected = expected or found
        assert found.tables["raw"] == expected.tables["raw"], name
        assert found.input.dropped == sum(None in row for row in rows), name
    everything = read(folder)
    assert everything.input.rows + everything.input.dropped == len(FORMATS) * len(rows)


@pytest.mark.parametrize(
    "name", ["a.csv", "a.jsonl", "b.ndjson", "a.parquet", "a.feather", "a.arrows", "a.npz"]
)
def test_every_format_comes_through_standard_input(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told by its first bytes, not by a name."""
    rows = [(0.25, True), (0.5, False), (None, True), (0.75, True)] * 5
    FORMATS[name](tmp_path / name, rows)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / name).read_bytes())))
    assert read("-").tables["raw"] == read(tmp_path / name).tables["raw"]
