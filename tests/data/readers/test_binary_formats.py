"""Arrow IPC and npz: types, and files that are damaged or hostile."""

import gzip
import io
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import feather

from calibcli.commands.gathering import RAW, Gathered, gather
from calibcli.commands.measure import measure_files
from calibcli.data.engines import ThreadEngine
from calibcli.data.fragments import columns_of, list_fragments
from calibcli.data.readers import reader_of
from calibcli.data.tally import GatherRequest
from calibcli.errors import CalibcliError
from calibcli.names import DataFormat, ViewName
from calibcli.options.rows import Columns, RowRequest, SeveralClasses
from calibcli.stats.table import ScoreTable

SCORES = np.array([0.25, 0.5, 0.25, 1.0, 0.0])
LABELS = np.array([0, 1, 1, 0, 0])
EXPECTED = ScoreTable.from_rows(SCORES, LABELS == 1)
UUIDS = [bytes([n % 2]) * 16 for n in range(5)]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(name: str, **requested: Any) -> Gathered:
    return gather([name], Columns("s", "y", **requested), engine=ThreadEngine(1))


def write_arrow(columns: dict[str, Any], name: str = "a.arrow", **options: Any) -> None:
    table = pa.table({"s": SCORES, "y": LABELS, **columns})
    new = pa.ipc.new_stream if name.endswith(".arrows") else pa.ipc.new_file
    with new(name, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table, max_chunksize=3)


def encoded(values: Any) -> Any:
    return pc.run_end_encode(pa.array(values))


TYPED = {
    "run-end encoded scores": {"s": encoded(SCORES)},
    "run-end encoded labels": {"y": encoded(LABELS)},
    "bool8": {"y": pa.ExtensionArray.from_storage(pa.bool8(), pa.array(LABELS, pa.int8()))},
    "string_view": {"y": pa.array(LABELS.astype(str), pa.string_view())},
    "binary": {"y": pa.array([b"0", b"1", b"true", b"false", b"0"])},
    "binary_view": {"y": pa.array([b"0", b"1", b"1", b"0", b"0"], pa.binary_view())},
    "dictionary of ints": {"y": pa.array(LABELS).dictionary_encode()},
    "dictionary of views": {
        "y": pa.DictionaryArray.from_arrays(pa.array(LABELS), pa.array(["0", "1"], pa.string_view()))
    },
    "dictionary of floats": {"s": pa.array(SCORES).dictionary_encode()},
    "decimal32": {"s": pa.array(SCORES).cast(pa.decimal32(5, 3))},
    "decimal256": {"s": pa.array(SCORES).cast(pa.decimal256(40, 3))},
    "half": {"s": pa.array(SCORES).cast(pa.float16())},
}


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows"])
@pytest.mark.parametrize("case", TYPED)
def test_types_that_only_arrow_holds(case: str, name: str) -> None:
    """In files and in streams, where record batches are read one by one."""
    write_arrow(TYPED[case], name)
    assert read(name).tables[RAW] == EXPECTED


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_compressed_buffers_are_read(compression: str) -> None:
    """As Feather has them by default."""
    feather.write_feather(pa.table({"s": SCORES, "y": LABELS}), "a.feather", compression=compression)
    assert read("a.feather").tables[RAW] == EXPECTED


@pytest.mark.parametrize(
    ("column", "groups"),
    [
        (
            pa.array(UUIDS, pa.uuid()),
            {"00000000-0000-0000-0000-000000000000", "01010101-0101-0101-0101-010101010101"},
        ),
        (pa.array(UUIDS, pa.binary(16)), {"00" * 16, "01" * 16}),
        (pa.array([b"a", b"\xff", b"a", b"a", b"\xff"]), {"a", "ff"}),
        (pa.array(UUIDS, pa.uuid()).storage.dictionary_encode(), {"00" * 16, "01" * 16}),
        (encoded(["a", "a", "b", "b", "b"]), {"a", "b"}),
        # As pandas stores whole numbers of which one is missing.
        (pa.array([1.0, float("nan"), 1.0, None, -float("nan")]), {"1", "(missing)"}),
        (pa.array(["nan", "a", "a", "nan", "a"]), {"nan", "a"}),
    ],
    ids=["uuid", "fixed", "binary", "dictionary", "run ends", "floats", "the text nan"],
)
def test_groups_of_any_type(column: Any, groups: set[str]) -> None:
    """Bytes that are no text are written as digits, each for itself, and UUIDs as they are known."""
    write_arrow({"g": column})
    columns = Columns("s", "y", by=("g",), identity=None)
    found = gather(["a.arrow"], columns, engine=ThreadEngine(1), gather_request=GatherRequest(sliced=(RAW,)))
    assert {name for (name,) in found.extras.slices[RAW].tables()} == groups


PROBS = np.array([[0.5, 0.25, 0.25], [0.0, 0.25, 0.75], [0.25, 0.5, 0.25], [1.0, 0.0, 0.0]])
PLACES = np.array([0, 2, 0, 1])
LISTS: dict[str, Any] = {
    "list_view": pa.array(PROBS.tolist(), pa.list_view(pa.float64())),
    "large_list_view": pa.array(PROBS.tolist(), pa.large_list_view(pa.float32())),
    "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(PROBS),
    "fixed_size_list": pa.array([list(row) for row in PROBS.astype(np.float16)], pa.list_(pa.float16(), 3)),
    "decimals": pa.array(PROBS.tolist(), pa.list_(pa.float64())).cast(pa.list_(pa.decimal128(5, 3))),
}


@pytest.mark.parametrize("case", [*LISTS, "npz", "npz by column", "jsonl"])
def test_lists_of_probabilities(case: str) -> None:
    """Of any kind of list, also where the first row lacks one: rows are the same."""
    name = "a.arrow"
    if case in LISTS:
        table = pa.table({"p": LISTS[case], "y": PLACES})
        with pa.ipc.new_file(name, table.schema) as out:
            out.write_table(table, max_chunksize=3)
    elif case == "jsonl":
        name = "a.jsonl"
        rows = (f'{{"p": {row.tolist()}, "y": {place}}}' for row, place in zip(PROBS, PLACES, strict=True))
        Path(name).write_text("\n".join(rows))
    else:
        name = "a.npz"
        np.savez(name, p=np.asfortranarray(PROBS) if "column" in case else PROBS, y=PLACES)
    columns = Columns(label="y", several=SeveralClasses("p", view=ViewName.CONFIDENCE))
    found = gather([name], columns, engine=ThreadEngine(1))
    assert found.tables[RAW] == ScoreTable.from_rows(PROBS.max(axis=1), PROBS.argmax(axis=1) == PLACES)


@pytest.mark.parametrize("case", ["list_view", "large_list_view"])
def test_the_last_view_of_a_list_is_whole(case: str) -> None:
    """Where the cast of pyarrow 26 gets it wrong, with missing rows in between."""
    gaps = pa.array([None, *PROBS.tolist(), None], LISTS[case].type)
    table = pa.table({"p": gaps, "y": [0, *PLACES, 1]})
    with pa.ipc.new_file("a.arrow", table.schema) as out:
        out.write_table(table)
    columns = Columns(label="y", several=SeveralClasses("p"))
    with pytest.raises(CalibcliError, match="2 of 6 values are missing; the first is at row 1"):
        gather(["a.arrow"], columns, engine=ThreadEngine(1))


def test_a_large_record_batch_comes_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are the same, and rows of faults are counted over slices."""
    monkeypatch.setattr("calibcli.data.readers._BATCH_ROWS", 2)
    write_arrow({})
    assert read("a.arrow").tables[RAW] == EXPECTED
    write_arrow({"s": [0.0, 0.0, 0.0, 0.0, 2.0]})
    with pytest.raises(CalibcliError, match=r"the first is 2.0 at row 5"):
        read("a.arrow")


def damaged(name: str) -> list[bytes]:
    """Return a file cut at many places, and with single bytes changed."""
    whole = Path(name).read_bytes()
    cuts = [whole[:place] for place in range(1, len(whole), max(1, len(whole) // 25))]
    changed = [whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :] for at in range(0, len(whole), 101)]
    return [*cuts, *changed]


def rows_of(name: str) -> int:
    """Return how many rows a file has, none where it is refused in one line."""
    try:
        return read(name).input.rows
    except CalibcliError as problem:
        if problem.exit_code != 3 or "\n" in problem.message:
            raise
        return 0


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows", "a.npz", "a.feather.gz"])
def test_damaged_files_are_refused_or_read_whole(name: str) -> None:
    """One line and exit code 3, or other numbers; never fewer rows, but of a stream cut between batches."""
    if name == "a.npz":
        np.savez_compressed(name, s=SCORES, y=LABELS.astype(str))
    else:
        write_arrow({"y": LABELS.astype(str)}, name.removesuffix(".gz"))
    if name.endswith(".gz"):
        Path(name).write_bytes(Path(name.removesuffix(".gz")).read_bytes())
    for content in damaged(name):
        Path(f"b{name}").write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        assert rows_of(f"b{name}") in ((0, SCORES.size) if name != "a.arrows" else (0, 3, SCORES.size))


def test_feather_of_version_1_is_refused() -> None:
    """With what turns it into the one that is read."""
    Path("a.feather").write_bytes(b"FEA1" + bytes(60) + b"FEA1")
    with pytest.raises(CalibcliError, match=r"a.feather is a Feather file of version 1") as caught:
        read("a.feather")
    assert "to_feather" in str(caught.value.hint)


def test_a_schema_of_any_length_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that promises two gigabytes of schema is refused at once."""
    stream = io.BytesIO(b"\xff\xff\xff\xff" + struct.pack("<i", 2**31 - 1) + b"x" * 100)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stream))
    with pytest.raises(CalibcliError, match="its schema is too long"):
        read("-")


BAD_ARRAYS: dict[str, tuple[dict[str, Any], str]] = {
    "objects": ({"y": np.array([0, 1, None, 0, 0], object)}, "array 'y': it holds Python objects"),
    "lengths": ({"y": LABELS[:3]}, "array 'y': it has 3 rows, and there are 5 in 's'"),
    "cube": ({"s": np.zeros((5, 2, 2))}, "array 's': it holds float64 (5, 2, 2), which is no column"),
    "number": ({"s": np.float64(0.5)}, "array 's': it holds float64 (), which is no column"),
    "complex": ({"s": SCORES.astype(complex)}, "array 's': it holds complex128 (5,), which is no column"),
    "records": ({"y": np.zeros(5, [("a", "i4")])}, "which is no column"),
    "rows of text": ({"y": np.full((5, 2), "a")}, "array 'y': it holds <U1 (5, 2), which is no column"),
    "probabilities": ({"s": np.zeros((5, 2))}, "column 's': it holds fixed_size_list"),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_arrays_that_are_no_columns_are_refused(case: str) -> None:
    """Nothing is unpickled."""
    arrays, message = BAD_ARRAYS[case]
    np.savez("a.npz", **{"s": SCORES, "y": LABELS, **arrays})
    with pytest.raises(CalibcliError) as caught:
        read("a.npz")
    assert message in caught.value.message
    assert caught.value.exit_code == 3


def test_archives_without_arrays_are_refused() -> None:
    """A spreadsheet is an archive as well."""
    with zipfile.ZipFile("a.npz", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(CalibcliError, match=r"a.npz cannot be read as npz: it holds no arrays"):
        read("a.npz")


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_read_side_by_side(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows at a time, of any byte order, with arrays of other lengths left alone."""
    monkeypatch.setattr("calibcli.data.readers._BATCH_ROWS", 2)
    stored = np.asarray(SCORES.reshape(-1, 1).astype(">f4"), order=order)  # type: ignore[call-overload]
    np.savez("a.npz", s=stored, y=LABELS.astype(">i2"), classes=np.array(["a", "b"]))
    assert read("a.npz").tables[RAW] == EXPECTED
    (fragment,) = list_fragments(["a.npz"])
    resolved = columns_of(fragment, Columns("s", labelled=False))
    with pytest.raises(CalibcliError, match="array 'classes': it has 2 rows, and there are 5 in 's'"):
        list(reader_of(fragment).batches_of_all(resolved))


@pytest.mark.parametrize(("letters", "least"), [(2, 1), (2000, 2)])
def test_batches_of_long_text_have_fewer_rows(
    letters: int, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has the length of the longest in numpy: 131,072 rows of 2,000 letters are a gigabyte."""
    monkeypatch.setattr("calibcli.data.readers._BATCH_NUMBERS", 1 << 16)
    np.savez("a.npz", s=np.full(200, 0.5), words=np.full(200, "ä").astype(f"U{letters}"))
    (fragment,) = list_fragments(["a.npz"])
    batches = list(reader_of(fragment).streamed(None, width=1))
    assert len(batches) >= least
    assert max(batch.num_rows for batch in batches) * letters <= 1 << 17
    assert [text for batch in batches for text in batch["words"].to_pylist()] == ["ä"] * 200


@pytest.mark.parametrize("kind", [DataFormat.ARROW, DataFormat.NPZ])
def test_every_column_comes_with_its_type(kind: DataFormat) -> None:
    """Batches of all columns have the schema that was promised."""
    name = f"a.{kind.value}"
    if kind is DataFormat.NPZ:
        text = np.array(["a", "é", "", "b", "c"])
        np.savez(name, s=SCORES.astype("f4"), t=text, b=LABELS == 1, m=np.eye(5), u=LABELS.astype("u1"))
    else:
        write_arrow({"t": ["a", "é", None, "b", "c"], "l": [[1]] * 5})
    (fragment,) = list_fragments([name])
    resolved = columns_of(fragment, Columns("s", labelled=False))
    reader = reader_of(fragment)
    whole = reader.schema(resolved)
    batches = list(reader.batches_of_all(resolved))
    assert all(batch.schema == whole for batch in batches)
    assert pa.Table.from_batches(batches)["s"].to_pylist() == SCORES.tolist()
    assert reader.row_count() == SCORES.size
    assert [one for one, _ in reader.kinds()] == whole.names


@pytest.mark.parametrize("columns", [0, 100, 3_000])
def test_arrow_of_many_columns_is_read_by_few_of_them(tmp_path: Path, columns: int) -> None:
    """The schema that is held against the footer is that of the file, not of the columns that are read."""
    names = [f"a column with a rather long name, number {k}" for k in range(columns)]
    table = pa.table({"score": [0.25, 0.5], "label": [0, 1], **{name: [1.0, 2.0] for name in names}})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as sink:
        sink.write_table(table)
    assert measure_files(RowRequest([str(tmp_path / "a.arrow")], Columns())).table.rows == 2
