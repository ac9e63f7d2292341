"""`apply` from every format to every other: the same values, and what is kept of the rest."""

import csv
import gzip
import io
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from calibcli.names import DataFormat
from command_line import CHURN, SAMPLE, Run, in_csv

ROWS = 300
FORMATS = [*DataFormat]
WRITTEN = [one for one in DataFormat if one.is_written]
COMMAND = [sys.executable, "-m", "calibcli"]


def table() -> pa.Table:
    """Return scores and columns of several types."""
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "id": [f"{place:04d}" for place in range(ROWS)],
            "score": rng.random(ROWS).round(6),
            "x_1": np.arange(ROWS),
            "x_2": pa.array([None if place % 7 == 0 else place / 4 for place in range(ROWS)]),
            "kind": pa.array(["a", 'b "c"', "d,e"] * (ROWS // 3)),
        }
    )


def source(folder: Path, kind: str) -> Path:
    """Write the rows in a format."""
    path, rows = folder / f"in.{kind}", table()
    match kind:
        case "csv" | "tsv":
            pa_csv.write_csv(rows, path, pa_csv.WriteOptions(delimiter="," if kind == "csv" else "\t"))
        case "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
        case "parquet":
            pq.write_table(rows, path, row_group_size=100)
        case "arrow":
            pyarrow.feather.write_feather(rows, path, chunksize=70)
        case _:
            np.savez(path, **{name: rows[name].to_numpy() for name in ("score", "x_1")})
    return path


def read(content: bytes, kind: str) -> pa.Table:
    """Return the rows of an output."""
    match kind:
        case "csv" | "tsv":
            delimiter = "," if kind == "csv" else "\t"
            types = {"id": pa.string(), "score": pa.float64(), "calibrated": pa.float64()}
            return pa_csv.read_csv(
                io.BytesIO(content),
                parse_options=pa_csv.ParseOptions(delimiter=delimiter),
                convert_options=pa_csv.ConvertOptions(column_types=types),
            )
        case "jsonl":
            return pa.Table.from_pylist([json.loads(line) for line in content.splitlines()])
        case "parquet":
            return pq.read_table(io.BytesIO(content))
        case _:
            opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
            with opened(content) as reader:
                return reader.read_all()


def as_text(rows: pa.Table, name: str) -> list[str | None]:
    """Return a column as text, as CSV would have it."""
    return [None if one is None else str(one) for one in rows[name].to_pylist()]


@pytest.mark.parametrize("start", FORMATS)
def test_formats_become_others(start: str, run: Run, artifact: Path, tmp_path: Path) -> None:
    """With the same probabilities, the columns in their order, and their values."""
    first = source(tmp_path, start)
    columns = ["score", "x_1"] if start == "npz" else table().column_names
    probability = None
    # A third of the pairs: every writer writes what two readers read.
    for end in WRITTEN[FORMATS.index(start) % 3 :: 3]:
        output = Path(f"out.{end.value}")
        assert run("apply", artifact, first, "-s", "score", "-o", output, "-q").code == 0
        rows = read(output.read_bytes(), end.value)
        assert rows.column_names == [*columns, "calibrated"]
        for name in columns:
            if start != "npz" and name in {"id", "x_1", "kind"}:
                assert as_text(rows, name) == as_text(table(), name)
        np.testing.assert_array_equal(rows["score"].to_numpy(), table()["score"].to_numpy())
        found = rows["calibrated"].to_numpy()
        np.testing.assert_array_equal(found, found if probability is None else probability)
        probability = found


@pytest.mark.parametrize("start", WRITTEN)
@pytest.mark.parametrize("end", ["csv", "jsonl", "arrow"])
def test_kept_columns_go_along_and_no_others(
    start: str, end: str, run: Run, artifact: Path, tmp_path: Path
) -> None:
    """By name and by pattern, in the order of the file; none leaves the new column alone."""
    first, output = source(tmp_path, start), Path(f"out.{end}")
    words = ["apply", artifact, first, "-s", "score", "-o", output, "-q", "--force", "--keep"]
    assert run(*words, "x_*, ID").code == 0
    rows = read(output.read_bytes(), end)
    assert rows.column_names == ["id", "x_1", "x_2", "calibrated"]
    assert as_text(rows, "id") == as_text(table(), "id")
    assert as_text(rows, "x_1") == as_text(table(), "x_1")
    assert run(*words, "none", "--name", "score").code == 0
    alone = read(output.read_bytes(), end)
    assert alone.column_names == ["score"]
    np.testing.assert_array_equal(alone["score"].to_numpy(), rows["calibrated"].to_numpy())


def test_types_that_a_format_has_not_are_refused(run: Run, artifact: Path) -> None:
    """Unless they do not go along."""
    rows = pa.table({"score": [0.25, 0.5], "tags": [[1], [2, 3]], "raw": [b"a", b"\xff"]})
    pq.write_table(rows, "in.parquet")
    for end, name in (("csv", "tags"), ("jsonl", "raw")):
        words = ["apply", artifact, "in.parquet", "-o", f"out.{end}"]
        assert f"in.parquet, column '{name}': {end} cannot hold" in run(*words, code=3).err
        assert run(*words, "--keep", "score" if end == "csv" else "tags", "-q").code == 0
    lines = Path("out.jsonl").read_text().splitlines()
    assert [json.loads(line)["tags"] for line in lines] == [[1], [2, 3]]
    assert run(*words[:-1], "out.arrow", "-q").code == 0
    assert read(Path("out.arrow").read_bytes(), "arrow")["raw"].to_pylist() == [b"a", b"\xff"]


def test_lines_of_json_keep_every_other_byte(run: Run, artifact: Path) -> None:
    """Also where keys differ from line to line, and the file is compressed."""
    lines = ['{"score": 0.10, "n": 1e2}', '{"score":0.5,"m":[1, 2], "s": "}"}', '  {"score" : 1 }  ']
    text = "\r\n".join(lines)
    Path("in.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    output = Path("out.jsonl.gz")
    assert run("apply", artifact, "in.jsonl.gz", "-o", output, "-q").code == 0
    written = gzip.decompress(output.read_bytes()).decode().split("\r\n")
    probability = [json.loads(line)["calibrated"] for line in written]
    assert written == [
        f'{line[: line.rindex("}")]}, "calibrated": {value!r}{line[line.rindex("}") :]}'
        for line, value in zip(lines, probability, strict=True)
    ]


@pytest.mark.parametrize("codec", ["lz4", "zstd", None])
@pytest.mark.parametrize("stream", [True, False])
def test_arrow_keeps_its_codec_batches_and_metadata(
    codec: Any, run: Run, artifact: Path, tmp_path: Path, *, stream: bool
) -> None:
    """Of files and of streams, which are read from where they begin."""
    from calibcli.data.fragments import list_fragments
    from calibcli.data.readers.arrow import ArrowReader

    rows = table().replace_schema_metadata({"owner": "us"})
    rows = rows.set_column(4, "kind", rows["kind"].dictionary_encode())
    path, output = Path("in.arrow"), tmp_path / ("out.arrows" if stream else "out.arrow")
    options = pa.ipc.IpcWriteOptions(compression=codec)
    opened = pa.ipc.new_stream if stream else pa.ipc.new_file
    with opened(path, rows.schema, options=options) as sink:
        sink.write_table(rows, max_chunksize=70)
    assert run("apply", artifact, path, "-s", "score", "-o", output, "-q").code == 0
    content = output.read_bytes()
    assert content.startswith(b"ARROW1") != stream
    found = read(content, "arrow")
    assert found.drop_columns(["calibrated"]).equals(rows, check_metadata=True)
    assert [len(chunk) for chunk in found["id"].chunks] == [70, 70, 70, 70, 20]
    assert [ArrowReader(list_fragments([str(one)])[0]).codec() for one in (path, output)] == [codec, codec]


def test_standard_output_gets_a_stream(run: Run, artifact: Path, tmp_path: Path) -> None:
    """From a file, and from a stream through a pipe."""
    path = source(tmp_path, "arrow")
    words = [*COMMAND, "apply", str(artifact), "-s", "score", "-o", "-", "-q"]
    first = subprocess.run([*words, str(path)], capture_output=True, check=True).stdout
    assert read(first, "arrow").num_rows == ROWS
    keep = ["--keep", "id", "--name", "p"]
    again = subprocess.run([*words, "-", *keep], input=first, capture_output=True, check=True).stdout
    assert read(again, "arrow")["p"].to_pylist() == read(first, "arrow")["calibrated"].to_pylist()
    lines = run(*words[3:], "-", "--to", "jsonl", "--name", "p", stdin=first).out.splitlines()
    assert len(lines) == ROWS
    assert run(*words[3:], "-", stdin=b"\n".join(line.encode() for line in lines)).code == 2


def test_a_note_says_what_another_format_changes(run: Run, artifact: Path, tmp_path: Path) -> None:
    """One sentence, and none where the format stays."""
    said = {
        ("csv", "parquet"): "columns other than 'score' and 'calibrated' were written as text",
        ("csv", "csv"): None,
        ("csv", "tsv"): "fields hold the same text, in quotes",
        ("parquet", "csv"): "CSV keeps no column types",
        ("parquet", "jsonl"): "JSON has dates and times as text",
        ("parquet", "arrow"): "types stay",
        ("jsonl", "parquet"): "objects were written as the text of their JSON",
        ("jsonl", "jsonl"): None,
    }
    for (start, end), words in said.items():
        output = Path(f"{start}.out.{end}")
        ended = run("apply", artifact, source(tmp_path, start), "-s", "score", "-o", output)
        assert words is None or words in ended.err, ended
        assert ended.err.count("written as text") + ended.err.count("types") <= (words is not None)
        alone = run(
            "apply", artifact, f"in.{start}", "-s", "score", "-o", output, "--force", "--keep", "none"
        )
        assert "note:" not in alone.err


@pytest.mark.parametrize(
    "column",
    [
        pa.array([Decimal(100)], pa.decimal128(5, -2)),
        pa.array([[Decimal(100)]], pa.list_(pa.decimal128(5, -2))),
        pa.array([b""], pa.binary(0)),
        pa.RunEndEncodedArray.from_arrays([1], pa.array(["a"])),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ],
    ids=["decimal of hundreds", "list of them", "no bytes", "runs", "interval"],
)
def test_types_that_parquet_has_not_are_refused_by_name(column: pa.Array, run: Run, artifact: Path) -> None:
    """Some ended in an error of ours."""
    pyarrow.feather.write_feather(pa.table({"score": [0.5], "x": column}), "in.arrow")
    ended = run("apply", artifact, "in.arrow", "-s", "score", "-o", "out.parquet")
    assert (ended.code, "column 'x': parquet cannot hold" in ended.err) == (3, True)
    assert not Path("out.parquet").exists()


@pytest.mark.parametrize("values", [[[1, 2], [3]], [{"a": 1}, None], [None, None]], ids=str)
def test_dictionaries_that_parquet_has_not_are_stored_as_their_values(
    values: list[Any], run: Run, artifact: Path
) -> None:
    """Of lists, objects and nulls; within a list they are refused by name."""
    coded = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.int32()), pa.array(values))
    rows = pa.table({"score": [0.1, 0.2, 0.3], "x": coded})
    with pa.ipc.new_file(Path("in.arrow"), rows.schema) as sink:
        sink.write_table(rows)
    run("apply", artifact, "in.arrow", "-s", "score", "-o", "out.parquet", code=0)
    assert pq.read_table("out.parquet")["x"].to_pylist() == [values[1], values[0], None]
    if values[0] is not None:
        rows = pa.table({"score": [0.5], "x": pa.ListArray.from_arrays([0, 3], coded)})
        with pa.ipc.new_file(Path("in.arrow"), rows.schema) as sink:
            sink.write_table(rows)
        told = run("apply", artifact, "in.arrow", "-s", "score", "-o", "2.parquet")
        assert (told.code, "column 'x': parquet cannot hold list<" in told.err) == (3, True)


@pytest.mark.parametrize("kind", [pa.binary(), pa.binary(2), pa.dictionary(pa.int32(), pa.binary())], ids=str)
def test_bytes_that_are_no_text_are_refused_by_csv_with_their_column(
    kind: pa.DataType, run: Run, artifact: Path
) -> None:
    """Those that are become text."""
    for value, code in ((b"a,", 0), (b"\xff\xfe", 3)):
        rows = pa.table({"score": [0.5], "x": pa.array([value], kind)})
        pyarrow.feather.write_feather(rows, "in.arrow")
        output = Path(f"{code}.csv")
        told = run("apply", artifact, "in.arrow", "-s", "score", "-o", output)
        wrong = "in.arrow, column 'x': csv cannot hold bytes that are not UTF-8\n" in told.err
        assert (told.code, wrong, output.exists()) == (code, code == 3, code == 0)
    assert '0.5,"a,",' in Path("0.csv").read_text()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_types_of_parquet_that_pyarrow_does_not_write_are_named(kind: str, run: Run, artifact: Path) -> None:
    """Of the columns that go along: a time of day in UTC is one without a zone afterwards."""
    hours = pa.array([3_600_000] * ROWS, pa.time32("ms"))
    rows = table().append_column("utc (x)", hours).append_column("deep", pa.array([{"at": 1}] * ROWS))
    rows = rows.append_column("when", pa.array([0] * ROWS, pa.timestamp("us", "UTC")))
    path, output = Path("in.parquet"), Path(f"out.{kind}")
    if int(pa.__version__.split(".")[0]) < 21:
        pytest.skip("this pyarrow writes no times of day in UTC")
    pq.write_table(rows, path, write_time_adjusted_to_utc=True)
    words = ["apply", artifact, path, "-s", "score", "-o", output]
    said = run(*words).err
    assert "not their types in Parquet, which pyarrow does not write: 'utc (x)' (Time(isAdj" in said
    assert "'when'" not in said
    assert "not their types" not in run(*words, "--keep", "when,deep", "--force").err
    pq.write_table(rows, path)
    assert "not their types" not in run(*words, "--force").err


@pytest.mark.parametrize(
    ("values", "others"),
    [
        # A hash of 64 bits without a sign, whole numbers beside others, giants and what is nearly whole.
        ("18446744073709551615 12", ""),
        ("-9223372036854775809 1.5", ""),
        ("9007199254740993 0.5", ""),
        ("1e+400 7", ""),
        ("0.99999999999999999999 7", ""),
        ("12 18446744073709551615", '"t":"ref: 12345678901234567890-05", '),
        ("[1,18446744073709551615] [2,3]", ""),
    ],
)
def test_numbers_of_json_that_no_double_is_stay_as_text(
    values: str, others: str, run: Run, artifact: Path
) -> None:
    """Where rows become a table: as doubles they were other numbers, without a word."""
    lines = (f'{{{others}"score": 0.5, "id": {value}}}\n' for value in values.split())
    Path("in.jsonl").write_text("".join(lines))
    for name in ("out.csv", "out.parquet"):
        words = ["-s", "score", "-o", Path(name)]
        assert run("apply", artifact, "in.jsonl", *words).code == 0
    assert pq.read_table("out.parquet")["id"].to_pylist() == values.split()
    found = csv.DictReader(Path("out.csv").read_text().splitlines())
    assert [row["id"] for row in found] == values.split()


def test_durations_keep_their_unit(run: Run, artifact: Path) -> None:
    """Text has them as conditions call them, Parquet as durations, those of dictionaries too."""
    ticks: pa.Array = pa.array([90_000, None, -1_500], pa.int64()).view(pa.duration("ms"))
    rows = {
        "score": [0.5, 0.25, 0.75],
        "took": ticks,
        "again": ticks.dictionary_encode(),
        "day": pa.array([19_000] * 3, pa.int32()).cast(pa.date32()),
    }
    pyarrow.feather.write_feather(pa.table(rows), "in.arrow")
    for name in ("out.csv", "out.jsonl", "out.parquet"):
        run("apply", artifact, "in.arrow", "-s", "score", "-o", Path(name))
    stored = pq.read_table("out.parquet")
    assert stored["took"].type == stored["again"].type == ticks.type
    assert stored["again"].to_pylist() == ticks.to_pylist()
    text = Path("out.csv").read_text().splitlines()
    assert [line.split(",")[1:4] for line in text[1:]] == [
        ['"90s"', '"90s"', "2022-01-08"],
        ["", "", "2022-01-08"],
        ['"-1.5s"', '"-1.5s"', "2022-01-08"],
    ]
    found = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert [(row["took"], row["again"]) for row in found] == [
        ("90s", "90s"),
        (None, None),
        ("-1.5s", "-1.5s"),
    ]


def test_several_classes_go_into_any_format(run: Run) -> None:
    """A column each, or lists where they came as such, which CSV refuses."""
    digits = SAMPLE / "digits_naive_bayes_evaluation.parquet"
    cal = Path("classes.json")
    assert run("fit", digits, "--probs", "p_*", "-y", "label", "-q", "-o", cal).code == 0
    whole = pq.read_table(digits).slice(0, 50)
    names = [name for name in whole.column_names if name.startswith("p_")]
    matrix = np.column_stack([whole[name].to_numpy() for name in names])
    pq.write_table(whole, "a.parquet")
    pq.write_table(pa.table({"probs": matrix.tolist()}), "lists.parquet")
    expected: Any = None
    for end in ("parquet", "jsonl", "arrow", "csv"):
        output = Path(f"a.out.{end}")
        words = ["apply", cal, "a.parquet", "--keep", "none", "-o", output, "-q"]
        assert run(*words).code == 0
        rows = read(output.read_bytes(), end)
        found = np.column_stack([rows[f"calibrated_{name[2:]}"].to_numpy() for name in names])
        np.testing.assert_array_equal(found, found if expected is None else expected)
        expected = found
        words = ["apply", cal, "lists.parquet", "-o", f"l.out.{end}"]
        ended = run(*words)
        if end == "csv":
            assert (ended.code, "column 'probs': csv cannot hold list" in ended.err) == (3, True)
            assert "'calibrated': csv cannot" in run(*words, "--keep", "none").err
        else:
            lists = read(Path(f"l.out.{end}").read_bytes(), end)
            np.testing.assert_array_equal(np.array(lists["calibrated"].to_pylist()), expected)
    jsonl = Path("lists.jsonl")
    jsonl.write_text("".join(json.dumps({"probs": row}) + "\n" for row in matrix.tolist()))
    assert run("apply", cal, jsonl, "-o", "again.jsonl", "-q").code == 0
    again = [json.loads(line) for line in Path("again.jsonl").read_text().splitlines()]
    np.testing.assert_allclose([row["calibrated"] for row in again], expected, rtol=1e-12)
    assert [row["probs"] for row in again] == matrix.tolist()


def test_keep_may_be_repeated(run: Run, artifact: Path, tmp_path: Path) -> None:
    """Each --keep adds to those before it, and all wins over names."""
    first, output = source(tmp_path, "csv"), Path("out.csv")
    words = ["apply", artifact, first, "-s", "score", "-o", output, "-q", "--force"]
    assert run(*words, "--keep", "x_1", "--keep", "id").code == 0
    assert read(output.read_bytes(), "csv").column_names == ["id", "x_1", "calibrated"]
    assert run(*words, "--keep", "id", "--keep", "all").code == 0
    assert output.read_text().startswith(first.read_text().splitlines()[0])


@pytest.mark.parametrize(("kind", "refused"), [("parquet", True), ("arrow", True), ("csv", False)])
def test_a_terminal_gets_text_alone(
    kind: str, refused: Any, run: Run, artifact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not text goes to a file or a pipe."""
    first = source(tmp_path, "csv")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    ended = run("apply", artifact, first, "-s", "score", "--to", kind, "-o", "-")
    assert ("standard output is a terminal" in ended.err) is refused
    assert ended.code == (5 if refused else 0)


@pytest.mark.parametrize(("encoding", "said"), [("utf-16", True), ("cp1252", False)])
def test_text_that_comes_out_in_another_encoding_is_noted(run: Run, encoding: str, *, said: bool) -> None:
    """UTF-16 as UTF-8; an encoding that stays is passed over."""
    rows, artifact = Path("rows.csv"), Path("cal.json")
    text = "score,label\n" + "0.2,0\n0.4,1\n0.6,0\n0.8,1\n" * 50
    rows.write_bytes(text.encode(encoding))
    requested = ["-s", "score", "--encoding", encoding]
    assert run("fit", rows, *requested, "-y", "label", "-m", "platt", "-o", artifact).code == 0
    output = Path("out.csv")
    ended = run("apply", artifact, rows, *requested, "-o", output, code=0)
    assert ("note: written as UTF-8; the input was UTF-16" in ended.err) == said
    output.read_text(encoding="utf-8" if said else encoding)


GATE = ("verify", "rows.csv", *CHURN, "--max-ece", "0.9")
OF_REPORTS = {
    "measure": ("measure", "rows.csv", *CHURN, "--metric", "bias"),
    "verify": GATE,
    "compare": ("compare", "rows.csv", "-s", "score", "-s", "other", "-y", "label", "--metric", "brier"),
    "plan": ("plan", "--max-ece", "0.5", "--like", "rows.csv", "-s", "score"),
}


@pytest.fixture
def place(run: Run, tmp_path: Path) -> Path:
    """Stand in a folder with rows and a map."""
    n = np.arange(120)
    in_csv("rows.csv", {"score": n / 128, "other": n / 130, "label": n % 3 == 0})
    assert run("fit", "rows.csv", *CHURN, "--method", "platt", "-o", "cal.json", "-q").code == 0
    return tmp_path


@pytest.mark.parametrize("command", OF_REPORTS)
def test_a_report_has_the_format_that_its_name_promises(run: Run, place: Path, command: str) -> None:
    """The bytes are those of --format; another --format, and a name that no report has, are refused."""
    words = OF_REPORTS[command]
    names = (
        ("r.json", "json"),
        ("r", "table"),
        ("r.md", "md"),
        ("r.txt", "table"),
        ("r.html", "html"),
        ("r.tex", "latex"),
    )
    # What is drawn anew for every report takes its time: two names show that it is the same door.
    for name, kind in names if command == "measure" else names[:1]:
        by_name, typed = place / name, place / f"typed-{kind}.txt"
        first, second = run(*words, "-o", by_name), run(*words, "--format", kind, "-o", typed, "--force")
        assert first.code == second.code == 0, (first.err, second.err)
        assert by_name.read_bytes() == typed.read_bytes()
    json.loads(Path("r.json").read_text())
    for more, said in (
        (("-o", "x.csv", "--format", "md"), "x.csv is the name of csv, and --format says otherwise"),
        (("-o", "x.csv", "--json"), "x.csv is the name of csv, and --json says otherwise"),
        (("-o", "x.docx"), "name it x.html, which Word opens"),
        (("-o", "x.pdf"), "x.pdf is the name of pdf"),
        (("-o", "x.json.gz"), "x.json.gz is the name of gzip"),
        (("-o", "x.parquet", "--json"), "x.parquet is the name of parquet"),
        (("-o", "x.txt", "--json", "--format", "table"), "--json and --format table are two formats"),
    ):
        assert said in run(*words, *more, code=2).err
    assert not list(place.glob("x.*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("fit", "rows.csv", *CHURN, "-o", "x.csv"), "csv, and an artifact is JSON"),
        (("fit", "rows.csv", *CHURN, "-o", "x.pkl"), "pickle, and an artifact is JSON"),
        (("apply", "cal.json", "rows.csv", "-o", "x.xlsx"), "Excel, and rows are written as csv"),
        (("apply", "cal.json", "rows.csv", "-o", "x.json"), "json, and rows are written as csv"),
        (("apply", "cal.json", "rows.csv", "-o", "x.csv.zip"), "zip, and rows are written as csv"),
        (("export", "cal.json", "--to", "python", "-o", "x.sql"), "sql, and --to says python"),
        (("export", "cal.json", "--to", "sql", "-o", "x.onnx"), "onnx, and --to says sql"),
        (("export", "cal.json", "--to", "sklearn", "-o", "x.json"), "json, and --to says sklearn"),
        (("measure", "rows.csv", *CHURN, "--summary-out", "x.csv"), "csv, and a summary is JSON"),
        (("merge", "a.json", "b.json", "-o", "x.md"), "md, and states and summaries are JSON"),
        ((*GATE, "--report", "junit=x.json"), "json, and the report is junit"),
        ((*GATE, "--report", "openmetrics=x.json"), "json, and the report is openmetrics"),
    ],
)
def test_nothing_is_written_under_the_name_of_another_format(
    run: Run, place: Path, words: tuple[str, ...], said: str
) -> None:
    """Exit 2 before any row is read."""
    assert f"is the name of {said}" in run(*words, code=2).err
    assert not list(place.glob("x.*"))


def test_json_lines_may_be_called_json(run: Run, place: Path) -> None:
    """As they may where they are read."""
    (place / "rows.json").write_text('{"score": 0.5}\n{"score": 0.25}\n')
    assert run("apply", "cal.json", "rows.json", "-o", "out.json").code == 0
    assert len((place / "out.json").read_text().splitlines()) == 2


def test_a_format_from_outside_gives_way_to_a_name(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was typed says more than a variable."""
    monkeypatch.setenv("CALIBCLI_MEASURE_FORMAT", "md")
    assert run(*OF_REPORTS["measure"], "-o", "r.json").code == 0
    json.loads((place / "r.json").read_text())
    assert run(*OF_REPORTS["measure"]).out.startswith("**")
