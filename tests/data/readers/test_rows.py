"""Rows that a stray quote, a long header or a second file in the first would take away without a word."""

import gzip
import io
import json
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import calibcli
from calibcli.data.fragments import list_fragments
from calibcli.data.readers import csv as csv_reader
from calibcli.data.readers import jsonl as json_lines
from calibcli.data.readers.arrow import ArrowReader
from calibcli.data.records import Block
from calibcli.errors import InputProblem
from command_line import CHURN, ROOT
from doors import ended

PLATT = ROOT / "tests" / "documents" / "frozen" / "platt.json"
ROWS = [(round((7 * i % 19 + 1) / 20, 2), int(i % 3 == 0)) for i in range(300)]
LABELLED = [*CHURN, "-q"]
COMMANDS = {
    "measure": ["measure", "FILE", *LABELLED],
    "measure by": ["measure", "FILE", *LABELLED, "--by", "g"],
    "measure artifact": ["measure", "FILE", *LABELLED, "--artifact", PLATT],
    "measure where": ["measure", "FILE", *LABELLED, "--where", "g==a"],
    "measure probs": ["measure", "FILE", "--probs", "score,other", "-y", "name", "-q"],
    "verify": ["verify", "FILE", *LABELLED, "--max-ece", "0.9"],
    "verify state": ["verify", "FILE", *LABELLED, "--max-ece", "0.9", "--state", "OUT.json"],
    "fit": ["fit", "FILE", *LABELLED, "-o", "OUT.json"],
    "fit isotonic by": ["fit", "FILE", *LABELLED, "--method", "isotonic", "--by", "g", "-o", "OUT.json"],
    "compare": ["compare", "FILE", "-s", "score", "-s", "other", "-y", "label", "-q"],
    "plan": ["plan", "--like", "FILE", "-s", "score", "-q", "--max-ece", "0.1"],
    "plot": ["plot", "FILE", *LABELLED, "--terminal"],
    "report": ["report", "FILE", *LABELLED, "-o", "OUT.html"],
    **{
        f"apply {ending}": ["apply", PLATT, "FILE", "-s", "score", "-q", "-o", f"OUT.{ending}"]
        for ending in ("csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz")
    },
    "apply keep": ["apply", PLATT, "FILE", "-s", "score", "-q", "--keep", "g", "-o", "OUT.csv"],
}


def lines(*, comments: dict[int, str]) -> bytes:
    """Return a table with a column of comments that nothing reads."""
    header = "g,score,label,other,name,comment\n"
    names = ("other", "score")
    rows = (
        f"{'ab'[i % 2]},{score},{label},{1 - score:.2f},{names[label]},{comments.get(i, 'ok')}\n"
        for i, (score, label) in enumerate(ROWS)
    )
    return (header + "".join(rows)).encode()


UNCLOSED = lines(comments={100: '"oops'})
LATE = lines(comments={100: '"oops', 200: '5"'})
SAID = "the quote that opens on line 102 is never closed: 199 more lines would be part of its field"


def command(name: str, file: object, folder: Path) -> list[object]:
    """Return the words of a command on a file, with outputs of its own."""
    places = {
        "FILE": file,
        **{
            f"OUT.{end}": folder / f"out.{end}"
            for end in ("json", "html", "csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz")
        },
    }
    return [places.get(str(word), word) for word in COMMANDS[name]]


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unclosed_quote_is_refused_by_every_command(name: str, tmp_path: Path) -> None:
    """Exit 3 with the line on which it opens, in a column that is read by none; the whole file is read."""
    path = tmp_path / "a.csv"
    path.write_bytes(lines(comments={}))
    if name != "report":
        assert ended(*command(name, path, tmp_path)).code in (0, 4)
    for output in tmp_path.glob("out*"):
        output.unlink()
    path.write_bytes(UNCLOSED)
    ran = ended(*command(name, path, tmp_path))
    assert (ran.code, ran.out) == (3, "")
    assert f"a.csv: {SAID}" in ran.err
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize("name", ["measure", "fit", "apply csv", "apply parquet"])
def test_a_quote_that_closes_late_is_refused_where_it_took_rows(name: str, tmp_path: Path) -> None:
    """Though it is CSV to the letter: most lines of the text look like rows."""
    (tmp_path / "a.csv").write_bytes(LATE)
    ran = ended(*command(name, tmp_path / "a.csv", tmp_path))
    assert ran.code == 3
    assert (
        "the text in quotes that opens on line 102 holds 100 lines that look like rows of the file" in ran.err
    )


def _piped(content: bytes, tmp_path: Path) -> str:
    """Return the path of a named pipe that gives some bytes."""
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)

    def give() -> None:
        with suppress_broken(), path.open("wb") as pipe:
            pipe.write(content)

    threading.Thread(target=give, daemon=True).start()
    return str(path)


class suppress_broken:  # noqa: N801 - used as a function
    """Pass over a reader that goes away."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        """Pass over a broken pipe."""
        return kind is BrokenPipeError


def _written(name: str) -> Callable[[bytes, Path], str]:
    def write(content: bytes, tmp_path: Path) -> str:
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        return str(tmp_path / name)

    return write


@pytest.mark.parametrize("door", [_piped, _written("a.csv.gz"), _written("a.data")])
def test_an_unclosed_quote_is_refused_through_every_door(
    door: Callable[[bytes, Path], str], tmp_path: Path
) -> None:
    """Pipes, compressed files, names that promise nothing."""
    ran = ended("measure", door(UNCLOSED, tmp_path), *LABELLED)
    assert (ran.code, ran.out) == (3, "")
    assert SAID in ran.err


def test_an_unclosed_quote_is_refused_by_python(tmp_path: Path) -> None:
    """The functions read as the commands do."""
    (tmp_path / "a.csv").write_bytes(UNCLOSED)
    with pytest.raises(InputProblem, match=SAID):
        calibcli.measure(str(tmp_path / "a.csv"), score="score", label="label")
    with pytest.raises(InputProblem, match=SAID):
        calibcli.fit(str(tmp_path / "a.csv"), score="score", label="label")


def rows_read(content: bytes, tmp_path: Path, *more: str, name: str = "a.csv") -> int:
    """Return how many rows `measure` says that it used."""
    (tmp_path / name).write_bytes(content)
    ran = ended("measure", tmp_path / name, *CHURN, "--metric", "brier", "--json", *more)
    assert ran.code == 0, ran.err
    return int(ran.document["input"]["rows"])


@pytest.mark.parametrize(
    "text",
    [
        "Dear model,\n\nname,age\nBob,3\n\nHow old is he?",
        "\n".join(["a line, with some commas, as people write them, and more"] * 300),
        "0.5 is a number\n0.25,1\n",
        "\n\n\n",
        'quotes: ""a""\n""b""\n\r\nend',
    ],
)
def test_text_of_many_lines_is_read(text: str, tmp_path: Path) -> None:
    """Prompts and answers of models, in any column, at the price of no row."""
    content = lines(comments=dict.fromkeys(range(0, 300, 3), f'"{text}"'))
    assert rows_read(content, tmp_path) == 300
    first = b"prompt,score,label\n" + b"".join(b'"%s",%g,%d\n' % (text.encode(), *row) for row in ROWS)
    assert rows_read(first, tmp_path) == 300


def test_text_that_only_resembles_rows_is_read(tmp_path: Path) -> None:
    """With a number that is no probability, a label that is none, or among other lines."""
    for text in ("a,7,1,x,y,z\n", "a,0.5,maybe,x,y,z\n", "one\ntwo\nthree\na,0.5,1,x,y,z\nfour"):
        assert rows_read(lines(comments={5: f'"so:\n{text}"'}), tmp_path) == 300


LAST, FIRST = ["score", "label", "c"], ["c", "score", "label"]
MIDDLE, BETWEEN = ["id", "c", "score", "label"], ["score", "c", "label"]


@pytest.mark.parametrize(
    ("names", "text", "rows"),
    [
        (LAST, '0.5,1,"a\n0.3,1,5"', 1),
        (LAST, '0.5,1,"a\n0.3,1,b\n\n0.3,1,5"', 2),
        (LAST, '0.5,1,"He said ""x""\n0.3,1,a\n0.3,1,b\n0.3,0,y"', 3),
        (LAST, '0.5,1,"a\nhello\n0.3,1,b\nbye"', 0),
        (LAST, '0.5,1,"He said ""x""\n0.3,1,a\nthen ""y""\nmore\nstill"', 0),
        (FIRST, '"a,0.5,1\nx",0.3,1', 1),
        (FIRST, '"a,0.5,1\nb,0.5,1\nx",0.3,1', 2),
        (FIRST, '"a, b, c\nx",0.3,1', 0),
        (MIDDLE, '7,"a,0.5,1\n8,x",0.3,1', 1),
        (MIDDLE, '7,"a\nand, so\n\n",0.3,1', 0),
        (BETWEEN, '0.5,"a,1\n0.2,x",1', 1),
        (BETWEEN, '0.5,"a\nx",1', 0),
        (["c", "score", "d", "label"], '"a\nb",0.5,"c\nd",1', 0),
        (["c", "score", "d"], '"a\n",0.5,"\nd"', 0),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_row_between_two_stray_quotes_is_noticed(
    names: list[str], text: str, rows: int, end: str, tmp_path: Path
) -> None:
    """In whatever column, also where the quotes are on neighbouring lines; other text is read."""
    good = ",".join({"score": "0.25", "label": "0"}.get(name, "ok") for name in names)
    label = [] if "label" in names else ["-y", "c", "--positive", "ok"]
    content = "\n".join([",".join(names), good, text, good, ""]).replace("\n", end).encode()
    if not rows:
        assert rows_read(content, tmp_path, *label) == 3
        return
    (tmp_path / "a.csv").write_bytes(content)
    ran = ended("measure", tmp_path / "a.csv", *LABELLED)
    assert ran.code == 3
    assert f"opens on line 3 holds {rows} line{'s' * (rows > 1)} that look" in ran.err


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_header_longer_than_a_block_is_read(ending: str, tmp_path: Path) -> None:
    """And no file of rows is one of none because its names take more than a mebibyte."""
    header = "score,label," + ",".join(f"a_long_name_of_a_column_{i}" for i in range(60_000))
    rest = ",1" * 60_000
    content = (header + "\n" + "".join(f"{score},{label}{rest}\n" for score, label in ROWS[:5])).encode()
    packed = gzip.compress(content, 1) if ending.endswith("gz") else content
    assert rows_read(packed, tmp_path, name=f"a.{ending}") == 5
    out = tmp_path / "out.csv"
    ran = ended("apply", PLATT, tmp_path / f"a.{ending}", "-s", "score", "-o", out)
    assert ran.code == 0
    assert "5, as many as were read" in ran.out + ran.err
    assert out.read_bytes().count(b"\n") == 6


def test_a_row_longer_than_a_block_is_read(tmp_path: Path) -> None:
    """Whether it is one field or many, and a line of JSON as well."""
    long = "x" * 3_000_000
    content = lines(comments={3: long, 200: f'"{long}\n{long}"'})
    assert rows_read(content, tmp_path) == 300
    objects = [
        {"score": score, "label": label, "x": long if i == 3 else ""} for i, (score, label) in enumerate(ROWS)
    ]
    text = "".join(json.dumps(one) + "\n" for one in objects)
    assert rows_read(text.encode(), tmp_path, name="a.jsonl") == 300


def test_rows_that_pyarrow_overlooks_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it gives is held against the line ends."""
    parsed = csv_reader.Parser._parsed  # the step that is to go wrong

    def fewer(parser: csv_reader.Parser, block: Block, types: Any, rows_before: int) -> object:
        return parsed(parser, block, types, rows_before).slice(1)

    monkeypatch.setattr(csv_reader.Parser, "_parsed", fewer)
    (tmp_path / "a.csv").write_bytes(lines(comments={}))
    for words in (
        ["measure", tmp_path / "a.csv", *LABELLED],
        command("apply csv", tmp_path / "a.csv", tmp_path),
    ):
        ran = ended(*words)
        assert ran.code == 3
        assert "a.csv: lines 2 to 301 hold 300 rows, and 299 were read" in ran.err


def test_a_mark_in_the_middle_is_text_wherever_blocks_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where files were put one after the other; only at the beginning is it none."""
    monkeypatch.setattr("calibcli.data.records._BLOCK", 16)
    content = "\ufeffscore,label\n0.25,0\n0.75,1\n\ufeff0.5,1\n".encode()
    (tmp_path / "a.csv").write_bytes(content)
    ran = ended("measure", tmp_path / "a.csv", *LABELLED)
    assert ran.code == 3
    assert "column 'score': '\\ufeff0.5' at row 3 is not a number" in ran.err


def test_a_second_header_is_called_one(tmp_path: Path) -> None:
    """As where CSV files were put one after the other."""
    content = lines(comments={})
    (tmp_path / "a.csv").write_bytes(content + content)
    ran = ended("measure", tmp_path / "a.csv", *LABELLED)
    assert ran.code == 3
    assert "column 'score': 'score' at row 301 is not a number" in ran.err
    assert "the header stands there again: were files put one after the other?" in ran.err


def test_a_header_whose_quote_is_never_closed_is_refused(tmp_path: Path) -> None:
    """Also through a pipe."""
    content = b'score,label,"oops\n0.5,1,x\n'
    (tmp_path / "a.csv").write_bytes(content)
    for path in (str(tmp_path / "a.csv"), _piped(content, tmp_path)):
        ran = ended("measure", path, *LABELLED)
        assert ran.code == 3
        assert "the header is not CSV: unexpected end of data" in ran.err


def test_no_row_waits_for_the_end_of_a_pipe() -> None:
    """Blocks come as their bytes do."""
    source = io.BytesIO(lines(comments={}))
    within = csv_reader.Layout("a.csv", tuple("abcdef"), ",")
    found = csv_reader.blocks_of(lambda _: source.read(500), within)
    assert len(list(found)) > 10


def table(rows: int = 100) -> pa.Table:
    """Return some rows as a table."""
    score, label = np.array((ROWS * rows)[:rows]).reshape(-1, 2).T
    return pa.table({"score": score, "label": label.astype(int), "c": pa.array(["x"] * rows, pa.string())})


def arrow_file(rows: pa.Table) -> bytes:
    """Return an Arrow file of several record batches."""
    out = io.BytesIO()
    with pa.ipc.new_file(out, rows.schema) as file:
        file.write_table(rows, max_chunksize=33)
    return out.getvalue()


def arrow_stream(rows: pa.Table) -> bytes:
    """Return an Arrow stream of several record batches."""
    out = io.BytesIO()
    with pa.ipc.new_stream(out, rows.schema) as file:
        file.write_table(rows, max_chunksize=33)
    return out.getvalue()


def parquet(rows: pa.Table, *, index: bool = False) -> bytes:
    """Return a Parquet file of several row groups, in which every row takes the same room."""
    out = io.BytesIO()
    pq.write_table(rows, out, 30, use_dictionary=False, compression="none", write_page_index=index)
    return out.getvalue()


def npz(rows: pa.Table) -> bytes:
    """Return an archive of arrays."""
    out = io.BytesIO()
    np.savez(out, score=rows["score"], label=rows["label"])
    return out.getvalue()


MORE = "more follows after its end: are several files in one"
JOINED = {
    "arrow": (arrow_file, MORE),
    "arrows": (arrow_stream, MORE),
    "parquet": (parquet, "another file begins within it"),
    "indexed.parquet": (partial(parquet, index=True), "another file begins within it"),
    "npz": (npz, "something stands before it: are several files in one"),
}


@pytest.mark.parametrize("ending", JOINED)
def test_files_put_one_after_the_other_are_refused(ending: str, tmp_path: Path) -> None:
    """Where only one of them would be seen: through a file, a pipe, compressed, and by `apply`."""
    write, message = JOINED[ending]
    content = write(table())
    assert rows_read(content, tmp_path, name=f"a.{ending}") == 100
    (tmp_path / f"b.{ending}").write_bytes(content * 2)
    doors = [str(tmp_path / f"b.{ending}")]
    if ending.startswith("arrow"):
        assert rows_read(gzip.compress(content), tmp_path, name=f"a.{ending}.gz") == 100
        (tmp_path / f"b.{ending}.gz").write_bytes(gzip.compress(content) * 2)
        doors += [f"{doors[0]}.gz", _piped(content * 2, tmp_path)]
    for path in doors:
        ran = ended("measure", path, *LABELLED)
        assert ran.code == 3
        assert message in ran.err
    ran = ended("apply", PLATT, doors[0], "-s", "score", "-o", tmp_path / f"out.{ending}")
    assert ran.code == 3
    assert message in ran.err
    assert ended("inspect", doors[0]).code == (0 if ending == "arrows" else 3)


def test_a_parquet_file_behind_others_is_refused_whatever_these_hold(tmp_path: Path) -> None:
    """Where a column that nobody reads cannot be decoded, the last file is the longer one, or has no rows."""
    rows = table()
    codes = pa.chunked_array([pa.array(["a", "b"] * 50)])
    longer = pa.chunked_array([pa.array([f"{place:0200}" for place in range(100)])])
    for before, after in (
        (rows, rows.set_column(2, "c", codes)),
        (rows, rows.set_column(2, "c", longer)),
        (rows, rows.slice(0, 0)),
    ):
        content = []
        for one in (before, after):
            out = io.BytesIO()
            pq.write_table(one, out, use_dictionary=["c"])
            content.append(out.getvalue())
        (tmp_path / "a.parquet").write_bytes(b"".join(content))
        ran = ended("measure", tmp_path / "a.parquet", *LABELLED)
        assert ran.code == 3
        assert "another file begins within it" in ran.err


def test_an_arrow_file_whose_footer_leaves_out_batches_is_refused(tmp_path: Path) -> None:
    """Those at the end, and all of them."""
    whole = arrow_file(table())
    for few in (table(33), table(0)):
        other = arrow_file(few)
        length = int.from_bytes(other[-10:-6], "little") + 10
        (tmp_path / "a.arrow").write_bytes(
            whole[: -int.from_bytes(whole[-10:-6], "little") - 10] + other[-length:]
        )
        ran = ended("measure", tmp_path / "a.arrow", *LABELLED)
        assert ran.code == 3
        assert MORE in ran.err


@pytest.mark.parametrize(
    ("how", "more"), [({}, 0), ({}, 300), ({"record_batch_size": 700}, 12), ({"compression": "zstd"}, 12)]
)
def test_arrow_files_of_polars_are_read(how: dict[str, Any], more: int, tmp_path: Path) -> None:
    """Which begin otherwise than those of pyarrow: their schema has no length, however long it is."""
    polars = pytest.importorskip("polars")
    rows = polars.from_arrow(table(2000))
    kind = polars.Categorical if more < 100 else polars.String
    rows = rows.with_columns(polars.lit("x", kind).alias(f"column {place}") for place in range(more))
    rows.write_ipc(tmp_path / "a.arrow", **how)
    content = (tmp_path / "a.arrow").read_bytes()
    assert rows_read(content, tmp_path, name="a.arrow") == 2000
    (tmp_path / "b.arrow").write_bytes(content * 2)
    assert MORE in ended("measure", tmp_path / "b.arrow", *LABELLED).err
    (tmp_path / "a.arrow.gz").write_bytes(gzip.compress(content))
    assert "decompress it first" in ended("measure", tmp_path / "a.arrow.gz", *LABELLED).err
    assert ArrowReader(list_fragments([str(tmp_path / "a.arrow")])[0]).codec() == how.get("compression")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"score":0.5,"label":1}' * 3, 3),
        ('{"x":{"y":"}{"},"score":0.5,"label":1}' * 3, 3),
        ('{"x":"\\\\","y":"{\\"","score":0.5,"label":1}' * 3, 3),
        ('\n\n{"score":0.5,"label":1} {"score":0.25,"label":0}\r\n\n  \n{"score":0.5,"label":0}', 3),
        ('\ufeff{"score":0.5,"label":1}\r{"score":0.25,"label":0}', 2),
    ],
)
def test_objects_are_counted_where_lines_are_not_rows(text: str, rows: int, tmp_path: Path) -> None:
    """Several on a line, blank lines, lines that end otherwise."""
    assert rows_read(text.encode(), tmp_path, name="a.jsonl") == rows


def test_objects_that_pyarrow_overlooks_are_read_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it gives is held against the lines; where it still gives fewer rows the file is refused."""
    content = b'{"score":0.5,"label":1}\n{"score":0.25,"label":0}\n{"score":0.75,"label":1}\n'
    parsed, calls = json_lines._parsed, []

    def fewer(block: bytes, types: dict[str, pa.DataType]) -> pa.RecordBatch:
        calls.append(block)
        return parsed(block, types).slice(len(calls) % often)

    monkeypatch.setattr(json_lines, "_parsed", fewer)
    often = 2
    assert rows_read(content, tmp_path, name="a.jsonl") == 3
    often = 9
    ran = ended("measure", tmp_path / "a.jsonl", *LABELLED)
    assert ran.code == 3
    assert "a.jsonl: after row 0: 3 objects gave" in ran.err
