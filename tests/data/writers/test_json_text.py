"""Columns as JSON text: what any reader gets back is what was there."""

import datetime as dt
import decimal
import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.data.writers.jsonl import fits, joined_row, json_column, json_key

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
