"""How text is written: separators, encodings, and what JSON Lines may hold."""

import gzip
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest

from calibcli.commands.gathering import RAW, Gathered, gather
from calibcli.data.engines import ThreadEngine
from calibcli.data.formats import keeps_ascii
from calibcli.data.fragments import columns_of, list_fragments
from calibcli.data.readers import jsonl
from calibcli.data.readers import jsonl as json_lines
from calibcli.data.readers.csv import CsvReader
from calibcli.data.tally import GatherRequest
from calibcli.errors import CalibcliError, InputProblem, UsageProblem
from calibcli.names import DataFormat, OnMissing
from calibcli.options.rows import AS_FOUND, Columns, InputFormat

ASKED = Columns("score", "label")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(
    content: bytes, *, name: str = "a.csv", columns: Columns = ASKED, requested: InputFormat = AS_FOUND
) -> Gathered:
    Path(name).write_bytes(content)
    return gather([name], columns, engine=ThreadEngine(1), input_format=requested)


def groups(content: bytes, **how: InputFormat | str) -> dict[tuple[str, ...], int]:
    """Return how many rows each group of the column g has."""
    Path(str(how.get("name", "a.csv"))).write_bytes(content)
    columns = Columns("score", "label", by=("g",))
    form = how.get("requested", AS_FOUND)
    assert isinstance(form, InputFormat)
    found = gather(
        [str(how.get("name", "a.csv"))],
        columns,
        engine=ThreadEngine(1),
        input_format=form,
        gather_request=GatherRequest(sliced=(RAW,)),
    )
    return {part: table.total_rows for part, table in found.extras.slices[RAW].tables().items()}


@pytest.mark.parametrize(
    ("said", "letter"), [(";", ";"), ("|", "|"), ("tab", "\t"), ("\\t", "\t"), (" ", " ")]
)
def test_a_separator_may_be_said(said: str, letter: str) -> None:
    """By itself, or by its name."""
    content = f"score{letter}label\n0.25{letter}0\n0.75{letter}1\n".encode()
    assert read(content, requested=InputFormat(delimiter=said)).input.rows == 2


@pytest.mark.parametrize("said", ["", ";;", "é", '"', "\n", "semicolon", ".", "0", "-", "e"])
def test_what_is_no_separator_is_refused(said: str) -> None:
    """Before anything is read; beside letters of numbers a new number would be several fields."""
    with pytest.raises(UsageProblem, match=r"is (not one ASCII character|part of numbers)"):
        InputFormat(delimiter=said)


@pytest.mark.parametrize(
    "said", ["utf-99", "base64", "rot13", "", "a\0b", "idna", "punycode", "unicode_escape"]
)
def test_what_is_no_encoding_is_refused(said: str) -> None:
    """Nor are Python's codecs for other things than text taken for one."""
    with pytest.raises(UsageProblem, match="is not an encoding of text"):
        InputFormat(encoding=said)


ENCODED = ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "cp037"]


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.csv.gz"])
def test_encodings_are_decoded(encoding: str, name: str) -> None:
    """Names of groups come out as they were meant, also from within a compression."""
    lines = ["score,label,g", "0.25,0,é", "0.75,1,é", "0.5,1,ü"]
    if name == "a.jsonl":
        rows = [dict(zip(("score", "label", "g"), line.split(","), strict=True)) for line in lines[1:]]
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    content = "\n".join(lines).encode(encoding)
    packed = gzip.compress(content) if name.endswith(".gz") else content
    assert groups(packed, name=name, requested=InputFormat(encoding=encoding)) == {("é",): 2, ("ü",): 1}


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_encodings_are_decoded_in_a_pipe(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not its bytes tell where a line ends."""
    for text in ("Größe,label\n0.25,0\n0.75,1\n", '{"Größe":0.25,"label":0}\n{"Größe":0.75,"label":1}\n'):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode(encoding))))
        kind = DataFormat.JSONL if text[0] == "{" else None
        form = InputFormat(kind, encoding=encoding)
        found = gather(["-"], Columns("größe", "label"), engine=ThreadEngine(1), input_format=form)
        assert found.input.rows == 2


@pytest.mark.parametrize("compression", ["gzip", "zstd", "bz2", "lz4"])
def test_lines_of_json_are_known_within_a_compression(
    compression: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a pipe, and in a file whose name promises nothing."""
    path = tmp_path / "rows"
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, compression) as packed:
        packed.write(b'{"score":0.25,"label":0}\n{"score":0.75,"label":1}\n' * 2_000)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    for source in ("-", str(path)):
        assert gather([source], Columns(), engine=ThreadEngine(1)).input.rows == 4_000


def test_a_wrong_encoding_is_said() -> None:
    """And that another can be named."""
    for content, requested, message in (
        (b"score,label,g\n0.5,1,\xe9\n", AS_FOUND, "column 'g': the text at row 1 is not UTF-8"),
        (b"score,label,g\n0.5,1,\x81\n", InputFormat(encoding="cp1252"), "a.csv is not charmap text"),
    ):
        with pytest.raises(CalibcliError, match=message) as caught:
            groups(content, requested=requested)
        assert "--encoding" in str(caught.value.hint)
    with pytest.raises(CalibcliError, match=r"^a.jsonl: the text at row 2 is not UTF-8"):
        read(b'{"score":0.5,"label":1}\n{"score":0.5,"label":"\xe9"}\n', name="a.jsonl")


def test_ascii_is_kept_by_encodings_of_one_byte() -> None:
    """Not by UTF-16, by EBCDIC, nor where a second byte may look like a separator."""
    kept = [
        one for one in ("latin-1", "cp1252", "koi8-r", "mac-roman", "ascii", "cp1251") if keeps_ascii(one)
    ]
    assert len(kept) == 6
    others = ("utf-16", "utf-32", "cp037", "shift_jis", "gbk", "big5", "utf-7", "iso2022_jp")
    assert not [one for one in others if keeps_ascii(one)]


def test_bytes_are_given_as_they_are_where_they_can_be_kept() -> None:
    """What is written beside the lines of a file needs its bytes: latin-1 as it is, UTF-16 as UTF-8."""
    text = "é,score\nü,0.5\n"
    for encoding, expected in (("latin-1", text.encode("latin-1")), ("utf-16", text.encode())):
        Path("a.csv").write_bytes(text.encode(encoding))
        (fragment,) = list_fragments(["a.csv"], input_format=InputFormat(encoding=encoding))
        reader = CsvReader(fragment)
        within = reader.layout()
        assert within.names == ("é", "score")
        with reader.text(within) as chunk:
            assert chunk(100) == expected


def test_lines_come_with_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes of all blocks are the file; the batches have a row for each object."""
    monkeypatch.setattr(jsonl, "_BLOCK", 64)
    content = b'{"score": 0.25, "x": "\xe9"}\n\n{"x": 1, "score": 0.5}\r\n' * 9 + b'\n\n{"score": 1}'
    Path("a.jsonl").write_bytes(content)
    (fragment,) = list_fragments(["a.jsonl"], input_format=InputFormat(encoding="latin-1"))
    resolved = columns_of(fragment, Columns("score", labelled=False))
    blocks = list(jsonl.JsonReader(fragment).blocks_and_batches(resolved))
    assert b"".join(block for block, _ in blocks) == content
    values = [value for _, batch in blocks if batch for value in batch.column("score").to_pylist()]
    assert values == [0.25, 0.5] * 9 + [1.0]
    assert len(blocks) > 3


def test_every_key_becomes_a_column() -> None:
    """Numbers, text, truths and lists of numbers as they are; what is mixed or nested as text."""
    rows = [
        {"score": 1, "n": 1, "t": "2020-01-01", "m": 1, "l": [0.5, 1], "o": {"a": [1, "x"]}},
        {"score": "0.5", "n": 2.5, "t": None, "m": "x", "b": True, "late": 7},
        {"score": None, "n": None, "m": False, "l": None, "o": [{}]},
    ]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (fragment,) = list_fragments(["a.jsonl"])
    resolved = columns_of(fragment, Columns("score", labelled=False))
    whole = jsonl.JsonReader(fragment).schema(resolved)
    assert dict(zip(whole.names, map(str, whole.types), strict=True)) == {
        "score": "double",
        "n": "double",
        "t": "string",
        "m": "string",
        "l": "list<item: double>",
        "o": "string",
        "b": "bool",
        "late": "int64",
    }
    (batch,) = jsonl.JsonReader(fragment).batches_of_all(resolved)
    assert batch.schema == whole
    assert batch.to_pydict() == {
        "score": [1.0, 0.5, None],
        "n": [1.0, 2.5, None],
        "t": ["2020-01-01", None, None],
        "m": ["1", "x", "false"],
        "l": [[0.5, 1.0], None, None],
        "o": ['{"a":[1,"x"]}', None, "[{}]"],
        "b": [None, True, None],
        "late": [None, 7, None],
    }


BAD_JSON = {
    "a list": (b'[{"score": 0.5, "label": 1}]\n', "a.jsonl: row 1 is a list"),
    "a list over lines": (b'[\n{"score": 0.5, "label": 1},\n', "a.jsonl: row 1 is a list"),
    "a number": (b'{"score": 0.5, "label": 1}\n3\n', "a.jsonl: row 2 is no object"),
    "cut short": (b'{"score": 0.5, "label": 1}\n{"score": 0.', "a.jsonl: row 2 is not JSON: "),
    "many lines": (b'{\n "score": 0.5,\n "label": ', "a.jsonl: its first object goes on over many lines"),
    "a comma": (b'{"score": 0.5, "label": 1,}\n', "a.jsonl: row 1 is not JSON: "),
    "twice": (b'{"score": 0.5, "score": 1, "label": 1}\n', "a.jsonl: row 1 has the key 'score' twice"),
    "text": (b'{"score": 0.5, "label": 1}\n{"score": "a", "label": 1}\n',
        "a.jsonl, column 'score': \"a\" at row 2 is not a number"),
    "an object": (b'{"score": {"p": 1}, "label": 1}\n',
        "a.jsonl, column 'score': an object at row 1 is not a number"),
    "nested label": (b'{"score": 1, "label": {}}\n',
        "a.jsonl, column 'label': an object at row 1 is neither a number nor text"),
    "true score": (b'{"score": true, "label": 1}\n', "a.jsonl, column 'score': it holds bool, not numbers"),
    "missing": (b'{"label": 1}\n{"score": 0.5, "label": 1}\n',
        "a.jsonl, column 'score': 1 of 2 values is missing; the first is at row 1"),
    "no such key": (b'{"p": 1, "label": 1}\n',
        "a.jsonl: there is no column 'score'; the columns are 'p', 'label'"),
    "deep": (b'{"score":' + b"[" * 100_000, "a.jsonl: row 1 is nested too deeply"),
    "blank": (b"\n \n\r\n", "a.jsonl: no row has a key"),
    "CSV": (b"score,label\n0.5,1\n", "a.jsonl: row 1 is not JSON: "),
    "beyond": (b'{"score": 1e400, "label": 1}\n',
        "a.jsonl, column 'score': 1 of 1 values lies outside [0, 1]"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_JSON)
def test_bad_json_lines_are_one_polite_line(case: str) -> None:
    """What, where and which row; exit code 3."""
    content, message = BAD_JSON[case]
    with pytest.raises(CalibcliError) as caught:
        read(content, name="a.jsonl")
    assert caught.value.message.startswith(message)
    assert "\n" not in caught.value.message
    assert caught.value.exit_code == 3


def test_a_row_is_known_in_later_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are counted over blocks and blank lines do not count."""
    monkeypatch.setattr(jsonl, "_BLOCK", 100)
    good = b'{"score": 0.5, "label": 1}\n\n' * 50
    with pytest.raises(CalibcliError, match="row 51 is not JSON"):
        read(good + b"{\n", name="a.jsonl")
    with pytest.raises(CalibcliError, match="'score': \"x\" at row 51 is not a number"):
        read(good + b'{"score": "x", "label": 0}\n' + good, name="a.jsonl")


def test_labels_of_several_kinds_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Truths, numbers and text in one column, in one block or in several."""
    monkeypatch.setattr(jsonl, "_BLOCK", 60)
    labels = ["true", "1", '"1"', '"TRUE"', "1.0", "false", "0", '"0.0"', "null"]
    content = "".join(f'{{"score": 0.5, "label": {label}}}\n' for label in labels * 3).encode()
    dropping = Columns("score", "label", on_missing=OnMissing.DROP)
    found = read(content, name="a.jsonl", columns=dropping)
    assert (found.input.rows, found.input.dropped) == (24, 3)
    assert found.tables[RAW].total_positive_rows == 15


def test_a_key_of_later_rows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it is in none of the rows that were looked at first; in a pipe as in a file."""
    monkeypatch.setattr(jsonl, "_HEAD", 50)
    content = b'{"score": 0.5}\n' * 20 + b'{"score": 0.5, "label": 1}\n{"score": 0.25, "label": 0}\n'
    dropping = Columns("score", "label", on_missing=OnMissing.DROP)
    assert read(content, name="a.jsonl", columns=dropping).input.rows == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = gather(["-"], dropping, engine=ThreadEngine(1)).input
    assert (found.rows, found.dropped) == (2, 20)


def test_numbers_in_quotes_are_numbers() -> None:
    """As some exporters write them; missing is what CSV takes for missing, digits are those of CSV."""
    content = (
        b'{"score": "0.25", "label": "0"}\n{"score": " 5e-1", "label": "1"}\n{"score": "NaN", "label": 1}\n'
        b'{"score": "#N/A", "label": 1}\n{"score": "1.#QNAN", "label": 1}\n'
    )
    columns = Columns("score", "label", on_missing=OnMissing.DROP)
    found = read(content, name="a.jsonl", columns=columns)
    assert (found.input.rows, found.input.dropped) == (2, 3)
    assert found.tables[RAW].score.tolist() == [0.25, 0.5]  # type: ignore[union-attr]
    with pytest.raises(InputProblem, match="at row 6 is not a number"):
        read(content + b'{"score": "\\u0660.\\u0665", "label": 1}\n', name="a.jsonl", columns=columns)


def test_large_whole_numbers_tell_rows_apart() -> None:
    """Identities beyond 2^53, and beyond 2^63, are not rounded."""
    parser = json_lines.LineParser(["id"], shown="a")
    batch = parser.parse(b'{"id": 9007199254740993}\n{"id": 9007199254740992}\n')
    assert batch is not None
    assert batch.column("id").to_pylist() == [9007199254740993, 9007199254740992]
    larger = json_lines.LineParser(["id"], shown="a").parse(b'{"id": 18446744073709551617}\n')
    assert larger is not None
    assert larger.column("id") == pa.array(["18446744073709551617"])
