"""JSON that is written: columns as text that any reader gets back, and records with columns spliced in."""

import datetime as dt
import decimal
import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.ahead import made_ahead
from calibcli.data.writers.jsonl import NewKeys, fits, joined_row, json_column, json_key, splice_keys
from calibcli.errors import InputProblem, UsageProblem

VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.sampled_from('a"{},:\\é '), max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab}"), inner, max_size=2),
    max_leaves=4,
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "b", 'c"', "é"]), VALUE, min_size=1), max_size=6)


def spliced(
    blocks: list[bytes], values: list[list[float]], *, encoding: str = "utf-8", **requested: Any
) -> bytes:
    """Splice blocks of lines, each with its values, and return what was written."""
    keys = NewKeys(requested.pop("names", ("p",)), "p.jsonl", encoding, requested.pop("kept", None))

    def lines() -> Iterator[tuple[bytes, Any]]:
        for block, some in zip(blocks, values, strict=True):
            yield (block, [np.array(some)] * len(keys.names) if some else ())

    out = io.BytesIO()
    written = splice_keys(made_ahead(lines(), requested.pop("ahead", 0)), out.write, keys=keys)
    assert (sum(written), requested) == (sum(map(len, values)), {})
    return out.getvalue()


@given(
    rows=ROWS,
    ends=st.lists(
        st.sampled_from(["\n", " \r\n", "\t\n", "\n\n \n", " " * 9 + "\n"]), min_size=6, max_size=6
    ),
    last=st.booleans(),
    cut=st.integers(0, 6),
    compact=st.booleans(),
    ahead=st.booleans(),
)
def test_other_bytes_stay(
    rows: list[dict[str, Any]],
    ends: list[str],
    last: bool,  # noqa: FBT001
    cut: int,
    compact: bool,  # noqa: FBT001
    ahead: bool,  # noqa: FBT001
) -> None:
    """Whatever values hold, however lines end, wherever blocks are cut; the key stands as others do."""
    marks = (",", ":") if compact else (", ", ": ")
    texts = [json.dumps(row, separators=marks, ensure_ascii=False) for row in rows]
    tails = [*ends[: len(rows)][:-1], ends[len(rows) - 1] if last else ""] if rows else []
    lines = [(text + tail).encode() for text, tail in zip(texts, tails, strict=True)]
    values = [place / 8 for place in range(len(rows))]
    blocks = [b"".join(lines[:cut]), b"".join(lines[cut:])]
    result = spliced(blocks, [values[:cut], values[cut:]], ahead=ahead)
    comma, colon = marks
    expected = [
        f'{text[:-1]}{comma}"p"{colon}{value!r}}}{tail}'.encode()
        for text, value, tail in zip(texts, values, tails, strict=True)
    ]
    assert result == b"".join(expected)


@given(rows=ROWS, kept=st.sets(st.sampled_from(["a", 'c"', "é", "no"])))
def test_kept_keys_keep_their_text(rows: list[dict[str, Any]], kept: set[str]) -> None:
    """As they are written, in their order; what stands between lines stays too."""
    text = "".join(json.dumps(row, ensure_ascii=True) + " \n\n" for row in rows).encode()
    values = [place / 8 for place in range(len(rows))]
    result = spliced([text] if rows else [], [values] if rows else [], kept=tuple(kept))
    expected = [
        json.dumps({key: one for key, one in row.items() if key in kept} | {"p": value}) + " \n\n"
        for row, value in zip(rows, values, strict=True)
    ]
    assert result.decode() == "".join(expected)


def test_an_object_without_a_key_gets_its_first() -> None:
    """And no comma before it."""
    lines = b'\xef\xbb\xbf{}\n{ \t}\r\n{"a":{} }\n{"b":"{"}'
    assert spliced([lines], [[0.5] * 4], names=("p", "q")) == (
        b'\xef\xbb\xbf{"p":0.5,"q":0.5}\n{ \t"p":0.5,"q":0.5}\r\n'
        b'{"a":{} ,"p":0.5,"q":0.5}\n{"b":"{","p":0.5,"q":0.5}'
    )


def test_numbers_keep_their_digits_where_other_keys_go() -> None:
    """And blanks within a pair."""
    line = b'{"a" :  0.10, "x": 1, "b":12345678901234567890.10}\n'
    assert spliced([line], [[0.5]], kept=("a", "b")) == (
        b'{"a" :  0.10, "b":12345678901234567890.10, "p": 0.5}\n'
    )
    assert spliced([line], [[1.0]], kept=()) == b'{"p": 1.0}\n'


@pytest.mark.parametrize(
    "key", [b'"p\\"\xc3\xa9/"', b'"\\u0070\\u0022\\u00E9\\/"', b'"p\\"\\u00e9/" ', b'"p\\"\xc3\xa9\\u002f"\t']
)
def test_a_key_of_the_name_is_refused_however_it_is_spelled(key: bytes) -> None:
    """With the row; as a value, or deeper down, the name does not matter."""
    lines = b'{"a":1}\n\n{"a": {%s: 1}, "b": %s}\n{"a": 1, %s: 2}\n' % (key, key, key)
    with pytest.raises(UsageProblem, match=r"has a key 'p\"é/' already, at row 4"):
        spliced([b'{"a":0}\n', lines], [[0.5], [0.5] * 3], names=('p"é/',))
    assert spliced([lines], [[0.5] * 3], names=('p"é/',), kept=("a",)).count(b"0.5") == 3


def test_lines_and_objects_must_be_the_same() -> None:
    """Two objects on a line are refused."""
    with pytest.raises(InputProblem, match="1 lines hold 2 objects"):
        spliced([b'{"a":1}{"a":2}\n'], [[0.5, 0.5]])
    assert spliced([b"\n \n"], [[]]) == b"\n \n"


def test_other_encodings_get_ascii() -> None:
    """Every reader of the file can read what was added."""
    text = pa.array(["é", "b"])
    out = io.BytesIO()
    keys = NewKeys(("é",), "p.jsonl", "latin-1")
    lines = '{"ü": 1}\n{"ü": 2}\n'.encode("latin-1")
    assert sum(splice_keys([(lines, [text])], out.write, keys=keys)) == 2
    assert [json.loads(line) for line in out.getvalue().decode("latin-1").splitlines()] == [
        {"ü": 1, "é": "é"},
        {"ü": 2, "é": "b"},
    ]
    with pytest.raises(UsageProblem, match="has a key 'ü' already, at row 1"):
        spliced([lines], [[0.5, 0.5]], names=("ü",), encoding="latin-1")


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
KINDS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.bool_(): st.booleans(),
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.string_view(): TEXT,
    pa.list_(pa.int64()): st.lists(st.integers(-9, 9) | st.none(), max_size=3),
    pa.large_list(pa.string()): st.lists(TEXT | st.none(), max_size=3),
    pa.list_(pa.float64(), 2): st.lists(st.floats(0, 1), min_size=2, max_size=2),
    pa.struct([("a", pa.int64()), ('b"', pa.list_(pa.string()))]): st.fixed_dictionaries(
        {"a": st.integers(-9, 9) | st.none(), 'b"': st.lists(TEXT, max_size=2) | st.none()}
    ),
    pa.map_(pa.string(), pa.float64()): st.dictionaries(TEXT, st.floats(0, 1), max_size=3),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["a", 'b"', "é"]),
}


@given(content=st.data(), kind=st.sampled_from(list(KINDS)), start=st.integers(0, 2))
def test_values_come_back(content: Any, kind: pa.DataType, start: int) -> None:
    """Of every type, nulls too, and of a slice as of a whole column."""
    values = content.draw(st.lists(KINDS[kind] | st.none(), max_size=6))
    whole = pa.array([list(one.items()) if pa.types.is_map(kind) and one else one for one in values], kind)
    texts = json_column(whole.slice(start)).to_pylist()
    assert [json.loads(text) for text in texts] == values[start:]


def test_floating_numbers_are_not_taken_for_whole_ones() -> None:
    """They have a point or an exponent; what is no number is null."""
    column = pa.array([1.0, 0.0, -0.0, 1e20, 1e-7, 0.1, None, float("nan"), float("inf"), float("-inf")])
    expected = [b"1.0", b"0.0", b"-0.0", b"1e+20", b"1e-7", b"0.1", *[b"null"] * 4]
    assert json_column(column).to_pylist() == expected


def test_times_and_decimals_are_text_and_numbers() -> None:
    """As they are in CSV, in quotes; a decimal keeps its digits."""
    assert json_column(pa.array([decimal.Decimal("1.50")])).to_pylist() == [b"1.50"]
    assert json_column(pa.array([dt.date(2020, 1, 2), None])).to_pylist() == [b'"2020-01-02"', b"null"]
    assert json_column(pa.nulls(2)).to_pylist() == [b"null"] * 2
    stored = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}"]))
    assert json_column(stored).to_pylist() == [b'"{}"']
    assert json_column(pa.array([{}, None], pa.struct([]))).to_pylist() == [b"{}", b"null"]


@pytest.mark.parametrize(
    ("kind", "has"),
    [
        (pa.binary(), False),
        (pa.list_(pa.binary()), False),
        (pa.struct([("a", pa.binary())]), False),
        (pa.map_(pa.int64(), pa.int64()), False),
        (pa.month_day_nano_interval(), False),
        (pa.uuid(), False),
        (pa.dictionary(pa.int32(), pa.binary()), False),
        (pa.timestamp("us", "UTC"), True),
    ],
)
def test_types_without_json_are_known(kind: pa.DataType, has: bool) -> None:  # noqa: FBT001
    """Bytes, and keys that are no text."""
    assert fits(kind) == has


def test_rows_are_lines() -> None:
    """An object each, keys escaped as values are."""
    names = [json_key('a"'), json_key("b")]
    lines = joined_row(names, [json_column(pa.array([1, None])), json_column(pa.array(["x\ny", "z"]))])
    assert [json.loads(line) for line in lines.to_pylist()] == [
        {'a"': 1, "b": "x\ny"},
        {'a"': None, "b": "z"},
    ]
    assert all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in lines.to_pylist())
