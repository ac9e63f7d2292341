"""When two values are equal: every type by every reader by every option, held against exact arithmetic.

The oracle knows nothing of the code: a value is a text, a fraction, or what Python's own dates and UUIDs are.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather

from calibcli.commands.gate import judge_with_state
from calibcli.commands.gathering import choose_columns, gather
from calibcli.commands.merge import merge_states
from calibcli.data.arrays import value_type
from calibcli.data.class_intake import class_labels_of
from calibcli.data.engines import ThreadEngine
from calibcli.data.fault_words import SOFT
from calibcli.data.fields import can_be_labels, labels_of
from calibcli.data.fragments import Piece, batches_of, list_fragments
from calibcli.data.groups import MemberColumn, groups_of
from calibcli.data.row_ids import first_respelled, identities_of
from calibcli.data.selection import satisfied
from calibcli.data.tally import GatherRequest, taken
from calibcli.data.values import names_of
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import OnMissing
from calibcli.options.conditions import condition_of
from calibcli.options.gating import StateOptions, VerifyOptions
from calibcli.options.numerals import is_respelled, number_name
from calibcli.options.rows import Columns, RowRequest, RowSelection, RowsInMemory
from calibcli.options.rules import rule_of
from calibcli.python.frames import column_of

E53 = 1 << 53
# What the same value is written into: the columns that tell rows and groups apart.
ROLES = ("i", "g", "c", "b")
HALF = float(np.float32(0.1))
FLOATS = (pa.float16(), pa.float32(), pa.float64())
ID = UUID("123e4567-e89b-12d3-a456-426614174000")


@dataclass(frozen=True)
class Value:
    """One value as a file holds it.

    Args:
        exact: What it is: the oracle compares these.

        column: For formats with types, a column of it alone.

        json: As JSON.

        text: As a field of CSV.

        array: As an array of numpy.
    """

    exact: object
    column: Any = None
    json: str | None = None
    text: str | None = None
    array: Any = None


def number(value: object) -> Fraction:
    """Return a number exactly; a float that is not whole is the shortest decimal of its double."""
    if isinstance(value, float) and not value.is_integer():
        return Fraction(repr(value))
    return Fraction(value)  # type: ignore[arg-type]


def typed(value: Any, kind: pa.DataType) -> Value:
    """Return a number of a type."""
    column = pa.array(np.array([value], kind.to_pandas_dtype()))
    exact = column.cast(pa.float64()).to_pylist()[0] if pa.types.is_floating(kind) else value
    return Value(number(exact), column)


def decimal(text: str, scale: int, *, wide: bool = False) -> Value:
    """Return a decimal."""
    kind = pa.decimal256(70, scale) if wide else pa.decimal128(38, scale)
    return Value(Fraction(text), pa.array([Decimal(text)], kind))


def moment(second: int, unit: str, zone: str | None = None, *, part: int = 0) -> Value:
    """Return a time in some unit; `part` is in milliseconds."""
    ticks = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[unit]
    counts = pa.array([second * ticks + part * ticks // 1000], pa.int64())
    return Value(("moment", zone is not None, second, part), counts.view(pa.timestamp(unit, zone)))


VALUES: tuple[Value, ...] = (
    *(typed(1, kind) for kind in (pa.int8(), pa.uint16(), pa.int64(), *FLOATS)),
    *(typed(0.0, kind) for kind in (pa.int32(), *FLOATS)),
    *(typed(-0.0, kind) for kind in FLOATS),
    *(typed(value, pa.int64()) for value in (E53, E53 + 1, -E53 - 1, 7, 123, 10**18)),
    typed(2**64 - 1, pa.uint64()),
    *(typed(float(value), pa.float64()) for value in (E53, E53 + 2, 2**64, 10**22, 10**23, 10**18, 123)),
    *(typed(value, pa.float64()) for value in (0.1, 0.5, 1e-7, 123.25, 1e15 + 0.5, 5e-324, 1e300, HALF)),
    typed(0.1, pa.float32()),
    typed(0.5, pa.float16()),
    decimal("1.00", 2),
    decimal("0.1", 1),
    decimal("0.50", 2),
    decimal("0.00", 2),
    decimal("0.99999999999999999999", 20),
    decimal("123.25", 6),
    decimal("0.0000001", 12),
    decimal(str(E53 + 1), 3, wide=True),
    decimal(str(10**60 + 1), 2, wide=True),
    decimal(str(10**22), 0, wide=True),
    decimal(str(10**23), 0, wide=True),
    decimal(str(2**64), 0),
    Value(Fraction(7), pa.array([Decimal("7.0")], pa.decimal128(9, 1)).cast(pa.decimal64(9, 1))),
    Value(Fraction(100), pa.array([Decimal(100)], pa.decimal128(3, -2))),
    Value(Fraction(123), pa.array([123], pa.int16()).dictionary_encode()),
    # JSON has one kind of number, and text beside it.
    *(
        Value(number(int(token) if token.lstrip("-").isdigit() else Decimal(token)), json=token)
        for token in (
            "0", "-0.0", "1", "1.0", "1e0", "0.1", "0.5", "12e3", "12000", "7", "9007199254740993",
            "9007199254740992.0", "18446744073709551616", "0.99999999999999999999", "9e999", "8e999", "1e23",
            "1" + "0" * 60, "1000000000000000.5", "1e22", "1e-7",
        )
    ),
    *(Value(("text", text), json=json.dumps(text)) for text in ("1", "1.0", "007", "é", " 7 ", "true")),
    Value(("truth", True), json="true"),
    *(
        Value(("text", text), text=text)
        for text in (
            "1", "1.0", "0001", "+1", "7", "007", "12e3", "12000", "00123", "123", "9e999", "8e999", " 7 ",
            "9007199254740993", "9007199254740992", "0.99999999999999999999", "é", "true", "True", "0.1",
            "100", "2024-05-01", "2024-05-01 00:00:00", str(ID), "ff",
        )
    ),
    *(Value(number(one.item()), array=np.array([one])) for one in (np.int32(1), np.float32(7))),
    Value(Fraction(2**64 - 1), array=np.array([2**64 - 1], np.uint64)),
    Value(("text", "007"), array=np.array(["007"])),
    Value(("text", "7"), array=np.array([b"7"])),
    Value(("truth", True), array=np.array([True])),
    Value(("text", "007"), pa.array(["007"])),
    Value(("text", "7"), pa.array([" 7"], pa.large_string())),
    Value(("text", "7"), pa.array([b"7"], pa.binary())),
    Value(("text", "7"), pa.array(["7"]).dictionary_encode()),
    Value(("truth", True), pa.array([True])),
    Value(("day", date(2024, 5, 1)), pa.array([date(2024, 5, 1)], pa.date32())),
    Value(("day", date(2024, 5, 1)), pa.array([date(2024, 5, 1)], pa.date64())),
    *(moment(1_714_521_600, unit) for unit in ("s", "ms", "us", "ns")),
    *(moment(1_714_521_600, unit, part=250) for unit in ("ms", "ns")),
    moment(1_714_521_600, "s", "UTC"),
    moment(1_714_521_600, "us", "Europe/Berlin"),
    moment(1_714_521_600, "ns", "+01:00"),
    Value(("clock", time(12, 30)), pa.array([time(12, 30)], pa.time32("s"))),
    Value(("clock", time(12, 30)), pa.array([time(12, 30)], pa.time64("ns"))),
    Value(("length", 90), pa.array([90], pa.int64()).view(pa.duration("s"))),
    Value(("length", 90), pa.array([90_000], pa.int64()).view(pa.duration("ms"))),
    Value(("uuid", ID), pa.array([ID.bytes], pa.uuid())),
    Value(("bytes", ID.bytes), pa.array([ID.bytes], pa.binary(16))),
)  # fmt: skip


def plain_digits(value: Fraction) -> str:
    """Return a number in digits without zeros at the end, by long division."""
    whole, rest = divmod(abs(value.numerator), value.denominator)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, value.denominator)
        digits += str(digit)
    return ("-" if value < 0 else "") + str(whole) + ("." + digits if digits else "")


@cache
def written(exact: Any) -> str | None:
    """Return the text that a value equals where it meets text, or None where it equals itself alone."""
    if isinstance(exact, Fraction):
        # Numbers far from 1 are written with a power of ten, and meet no text here.
        return plain_digits(exact) if exact == 0 or 10**-6 <= abs(exact) < 10**300 else None
    kind, *rest = exact
    first = rest[0]
    if kind == "moment":
        at = datetime.fromtimestamp(rest[1], UTC).strftime("%Y-%m-%d %H:%M:%S")
        return at + (".25" if rest[2] else "") + ("Z" if first else "")
    if kind == "bytes":
        return str(first.hex())
    if kind == "length":
        return f"{first}s"
    return str(first).lower() if kind == "truth" else str(first).strip()


def same(one: Value, other: Value) -> bool:
    """Return whether two values are equal, by the rule."""
    if isinstance(one.exact, Fraction) and isinstance(other.exact, Fraction):
        return one.exact == other.exact
    left, right = written(one.exact), written(other.exact)
    return one.exact == other.exact if left is None or right is None else left == right


def inputs_of(value: Value, folder: Path) -> Iterator[str]:
    """Yield the value in every format that can hold it, in all columns that tell rows or groups apart."""
    if value.json is not None:
        folder.joinpath("a.jsonl").write_text(
            json.dumps({"s": 0.5, "y": 1})[:-1]
            + "".join(f', "{role}": {value.json}' for role in ROLES)
            + "}\n"
        )
        yield str(folder / "a.jsonl")
    if value.text is not None:
        for name, mark in (("a.csv", ","), ("a.tsv", "\t")):
            fields = mark.join([*ROLES, "s", "y"]), mark.join([*([value.text] * 4), "0.5", "1"])
            (folder / name).write_text("\n".join(fields) + "\n")
            yield str(folder / name)
    if value.array is not None:
        np.savez(folder / "a.npz", s=[0.5], y=[1], **dict.fromkeys(ROLES, value.array))
        yield str(folder / "a.npz")
    if value.column is None:
        return
    table = pa.table({"s": [0.5], "y": [1], **dict.fromkeys(ROLES, value.column)})
    yield RowsInMemory("rows", 1, {name: lambda name=name: table[name] for name in table.column_names})
    with pa.ipc.new_stream(folder / "a.arrows", table.schema) as out:
        out.write_table(table)
    yield str(folder / "a.arrows")
    feather.write_feather(table, folder / "a.feather")
    yield str(folder / "a.feather")
    try:
        pq.write_table(table, folder / "a.parquet")
    except (pa.ArrowNotImplementedError, OSError):
        # Parquet has no half floats in older versions, and no decimals of negative scale.
        return
    yield str(folder / "a.parquet")


def told_apart(name: str) -> tuple[Any, ...]:
    """Return what the value of a file of one row is, as each option sees it."""
    columns = Columns("s", "y", group="g", cluster="c", by=("b",), identity="i")
    (fragment,) = list_fragments([name])
    resolved = choose_columns([fragment], columns)[fragment.path]
    (rows,) = [rows for _, _, batches in taken([Piece(fragment, resolved)]) for rows in batches]
    assert rows is not None
    assert rows.identity is not None
    assert rows.group is not None
    assert rows.cluster is not None
    assert rows.parts is not None
    return rows.identity.tolist()[0], rows.group.names()[0], rows.cluster.tolist()[0], rows.parts.names[0]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[tuple[Any, ...]]]:
    """Return what each value is for --id, --group, --cluster and --by, in every format."""
    folder = tmp_path_factory.mktemp("values")
    return {
        place: [told_apart(name) for name in inputs_of(value, folder)] for place, value in enumerate(VALUES)
    }


def test_a_value_is_the_same_in_every_format(seen: dict[int, list[tuple[Any, ...]]]) -> None:
    """Whether it comes from a file or from memory, for every option."""
    for place, found in seen.items():
        assert found, VALUES[place]
        assert len(set(found)) == 1, VALUES[place]


def test_values_are_equal_where_their_exact_values_are(seen: dict[int, list[tuple[Any, ...]]]) -> None:
    """Every pair of values, for --id, --group, --cluster and --by."""
    wrong = [
        (option, VALUES[one], VALUES[other])
        for one, other in combinations(seen, 2)
        for option, left, right in zip(ROLES, seen[one][0], seen[other][0], strict=True)
        if (left == right) != same(VALUES[one], VALUES[other])
    ]
    assert not wrong
    # The table has pairs of both kinds.
    assert 100 < sum(same(one, other) for one, other in combinations(VALUES, 2)) < 2000


TYPED = (
    "0 -0 1 1.0 +1 1e0 01 0.1 0.10 0.5 7 007 123 12e3 12000 9e999 8e999 -9e999 1e-999 0.99999999999999999999"
)
LITERALS = (
    *TYPED.split(),
    *(str(E53 + step) for step in (-1, 0, 1, 2)), str(E53) + ".5", str(10**60 + 1), str(2**64),
    "1e22", "1e23", "123.25", "true", "yes", "2024-05-01", "2024-05-01 00:00:00", "2024-05-01T02:00:00+02:00",
    "12:30", "90s", str(ID), str(ID).upper(), "-0.5", repr(HALF), "é",
)  # fmt: skip
ORDERS = {"<": -1, ">": 1}


def read_as(kind: pa.DataType, text: str) -> Fraction | None:
    """Return the number that a text is beside a column of numbers, by the rule."""
    try:
        exact = Fraction(Decimal(text)) if abs(Decimal(text).adjusted()) < 500 else None
    except ArithmeticError:
        return None
    if exact is None:
        # A giant, or next to nothing: neither is in any column.
        return (
            Fraction(10) ** 400 * (1 if Decimal(text) > 0 else -1)
            if "-999" not in text
            else Fraction(1, 10**400)
        )
    if not pa.types.is_floating(kind) or exact.denominator == 1:
        return exact
    with np.errstate(over="ignore"):
        wide = {16: np.float16, 32: np.float32, 64: np.float64}[kind.bit_width](float(text))
    return number(float(wide)) if math.isfinite(wide) and not float(wide).is_integer() else exact


@pytest.mark.parametrize("literal", LITERALS)
def test_a_condition_compares_exactly(literal: str) -> None:
    """Equality and order of a VALUE beside every number and date, read as the type of the column."""
    for value in VALUES:
        if value.column is None or not isinstance(value.exact, Fraction):
            continue
        exact = read_as(kind_of(value.column), literal)
        own = value.exact
        if exact is None:
            with pytest.raises(InputProblem, match="--where compares it with"):
                satisfied(batch_of(value.column), [condition_of(f"x=='{literal}'")], first_row=0, shown="p")
            continue
        expected = {
            "==": own == exact, "!=": own != exact, "<": own < exact, "<=": own <= exact,
            ">": own > exact, ">=": own >= exact, " in 5,": own == exact,
        }  # fmt: skip
        for sign, holds in expected.items():
            found = satisfied(
                batch_of(value.column), [condition_of(f"x{sign}{literal}")], first_row=0, shown="p"
            )
            assert found.tolist() == [holds], (value, sign, literal)


def kind_of(column: Any) -> pa.DataType:
    return column.type.value_type if isinstance(column.type, pa.DictionaryType) else column.type


def batch_of(column: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([column], names=["x"])


@pytest.mark.parametrize("literal", LITERALS)
def test_the_positive_label_is_equal_exactly(
    literal: str, columns_of_labels: list[tuple[Value, Any]]
) -> None:
    """As text beside text, and as the column's type beside numbers and booleans, in every format."""
    for value, column in columns_of_labels:
        kind = kind_of(column)
        if isinstance(value.exact, Fraction) and not pa.types.is_string(kind):
            exact = read_as(kind, literal)
            expected = exact is not None and value.exact == exact
        elif isinstance(value.exact, tuple) and value.exact[0] == "truth":
            expected = literal.casefold() == "true" or read_as(pa.int64(), literal) == 1
        else:
            expected = written(value.exact) == literal
        assert labels_of(column, literal).positive.tolist() == [expected], (value, kind, literal)


@pytest.fixture(scope="module")
def columns_of_labels(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Value, Any]]:
    """Return every value that can be a label with the columns that formats make of it, equal ones once."""
    folder = tmp_path_factory.mktemp("labels")
    found: list[tuple[Value, Any]] = []
    for value in VALUES:
        for name in inputs_of(value, folder):
            (fragment,) = list_fragments([name])
            resolved = choose_columns([fragment], Columns("s", "i"))[fragment.path]
            (batch,) = batches_of(fragment, resolved)
            column = batch.column("i")
            again = found and found[-1][0] is value and column.equals(found[-1][1])
            if can_be_labels(value_type(column.type)) and not again:
                found.append((value, column))
    return found


def write(folder: Path, name: str, lines: list[str]) -> str:
    (folder / name).write_text("\n".join(lines) + "\n")
    return str(folder / name)


def tally_of(*names: str, **requested: Any) -> Any:
    return gather(names, Columns(**{"score": "s", "label": "y", **requested}), engine=ThreadEngine(1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("9007199254740993", "9007199254740992"),
        ("00123", "123"),
        ("12e3", "12000"),
        ("9e999", "8e999"),
        ("1", "0.99999999999999999999"),
        ("+1", "1"),
        ("YES", "yes"),
    ],
)
def test_labels_that_are_other_text_are_other_labels(one: str, other: str, tmp_path: Path) -> None:
    """What a float takes for the same number counts as 0 beside --positive."""
    path = write(tmp_path, "a.csv", ["s,y", *(f"0.5,{text}" for text in (one, other, other, "x"))])
    assert tally_of(path, positive=one).tables["raw"].total_positive_rows == 1
    assert tally_of(path, positive=other).tables["raw"].total_positive_rows == 2


def test_labels_of_one_spelling_are_asked_for_in_it(tmp_path: Path) -> None:
    """Where 1.0 stands and 1 is asked for, or both stand, no row is counted without a word."""
    path = write(tmp_path, "a.csv", ["s,y", "0.25,0.0", "0.5,1.0", "0.75,1.0"])
    with pytest.raises(InputProblem, match="2 of 3 labels are another spelling of") as caught:
        tally_of(path, positive="1")
    assert "--positive '1.0'" in str(caught.value.hint)
    assert tally_of(path, positive="1.0").tables["raw"].total_positive_rows == 2
    assert tally_of(path).tables["raw"].total_positive_rows == 2
    with pytest.raises(InputProblem, match="no label is 'yes', as --positive says") as caught:
        tally_of(path, positive="yes")
    assert caught.value.hint == "the labels are '0.0' and '1.0'"
    both = write(tmp_path, "b.csv", ["s,y", "0.25,0", "0.5,1", "0.75,1.0"])
    with pytest.raises(InputProblem, match="1 of 3 labels is another spelling of"):
        tally_of(both, positive="1")
    assert tally_of(both).tables["raw"].total_positive_rows == 2


@pytest.mark.parametrize("label", ["0.99999999999999999999", "1e-999", "9e999", "1.00000000000000000001"])
def test_what_is_nearly_1_or_0_is_neither(label: str, tmp_path: Path) -> None:
    """As text, as a number of JSON and as a decimal; the usual spellings of both go on to count."""
    usual = ["0", "1", "0.0", "1.0", "1e0", "01", "+1", "-0"]
    paths = [write(tmp_path, "a.csv", ["s,y", *(f"0.5,{text}" for text in (*usual, "True", "false", label))])]
    rows = [f'{{"s": 0.5, "y": {text}}}' for text in ("0", "1", "0.0", label)]
    paths.append(write(tmp_path, "a.jsonl", rows))
    if "e" not in label:
        decimals = pa.array([Decimal(text) for text in ("0", "1", label)], pa.decimal128(38, 20))
        pq.write_table(pa.table({"s": [0.5, 0.5, 0.5], "y": decimals}), tmp_path / "a.parquet")
        paths.append(str(tmp_path / "a.parquet"))
    for path in paths:
        with pytest.raises(InputProblem, match=r"1 of .* labels is neither 0 nor 1|the labels are"):
            tally_of(path)
    fine = write(tmp_path, "b.csv", ["s,y", *(f"0.5,{text}" for text in (*usual, "True", "false"))])
    assert tally_of(fine).tables["raw"].total_positive_rows == 6


OTHERS = [
    ["v,s,y", "7.0,0.5,1", "8.0,0.5,0"],
    ["v,s,y", "7,0.5,1", "008,0.5,0"],
    ["v,s,y", "+7,0.5,1"],
    ["v,s,y", "7e0,0.5,1"],
]


@pytest.mark.parametrize("lines", OTHERS)
@pytest.mark.parametrize("role", ["identity", "group", "cluster", "by"])
def test_numbers_and_numbers_in_other_words_do_not_mix(role: str, lines: list[str], tmp_path: Path) -> None:
    """Numbers in one file, written otherwise in another: one row or group could count twice."""
    pq.write_table(pa.table({"v": [7, 8], "s": [0.25, 0.75], "y": [0, 1]}), tmp_path / "a.parquet")
    requested = {role: ("v",) if role == "by" else "v"}
    numbers, text = str(tmp_path / "a.parquet"), write(tmp_path, "a.csv", lines)
    for names in ((numbers, text), (text, numbers)):
        with pytest.raises(InputProblem, match=r"'v': '.*' is text, and .*a.parquet holds numbers"):
            tally_of(*names, **requested)
    assert tally_of(text, **requested).input.rows == len(lines) - 1
    alike = write(tmp_path, "b.csv", ["v,s,y", "7,0.5,1", "x9,0.5,0", "12-3,0.5,0"])
    assert tally_of(numbers, alike, **requested).input.rows == 5


def test_json_lines_do_not_mix_them_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a block, and from one to the next; a number and its own digits are one value."""
    rows = ['{"v": 7, "s": 0.5, "y": 1}', '{"v": "7", "s": 0.5, "y": 0}', '{"v": "x", "s": 0.5, "y": 0}']
    path = write(tmp_path, "a.jsonl", rows)
    sliced = GatherRequest(sliced=("raw",))
    found = gather([path], Columns("s", "y", by=("v",)), engine=ThreadEngine(1), gather_request=sliced)
    assert {name: table.total_rows for (name,), table in found.extras.slices["raw"].tables().items()} == {
        "7": 2,
        "x": 1,
    }
    strange = '{"v": "7.0", "s": 0.5, "y": 0}'
    monkeypatch.setattr("calibcli.data.readers.jsonl._BLOCK", 4_096)
    filler = ['{"v": 9, "s": 0.5, "y": 1}'] * 900
    for lines in ([*rows, strange], [*filler, strange], [strange, *filler, rows[0]]):
        with pytest.raises(InputProblem, match=r"column 'v': .*'7.0'"):
            tally_of(write(tmp_path, "b.jsonl", lines), identity="v")


def test_what_is_missing_tells_nothing_apart() -> None:
    """Null, NaN of either sign, an empty text and blanks are missing; both zeros are one number."""
    texts = pa.array(["a", "", "  ", None])
    for column, condition in ((pa.array([1.0, math.nan, -math.nan, None]), "x!=5"), (texts, "x!=5")):
        found, groups = identities_of(column), groups_of(column)
        assert found.missing is not None
        assert groups.missing is not None
        assert found.missing.tolist() == groups.missing.tolist() == [False, True, True, True]
        assert not satisfied(batch_of(column), [condition_of(condition)], first_row=0, shown="p")[1:].any()
    zeros = pa.array([0.0, -0.0])
    assert len(set(identities_of(zeros).values.tolist())) == 1
    assert groups_of(zeros).names() == ["0"]
    assert groups_of(pa.array(["a", " a "])).names() == ["a"]


def test_what_a_dictionary_holds_and_no_row_has_is_nothing() -> None:
    """Frames keep such categories: none is a group, nor text that is a number written otherwise."""
    codes = pa.array([1, None, 1], pa.int8())
    for category in ("007", " 007", "A"):
        found = groups_of(pa.DictionaryArray.from_arrays(codes, pa.array([category, "a"])))
        assert (found.names(), found.spelling.respelled) == (["a"], None)
    assert groups_of(pa.array(["a", None, "007"]).dictionary_encode()).spelling.respelled == "007"


@pytest.mark.parametrize(
    ("column", "holds", "unlike"),
    [
        (
            pa.array([date(2024, 5, 1)], pa.date64()),
            ["==2024-05-01", "<'2024-05-02'", ">=2024-05-01", "!=2024-04-30", " in 2024-05-01,2020-01-01"],
            ["==2024", ">'May'"],
        ),
        (
            pa.array([1_714_566_600_500], pa.timestamp("ms")),
            [
                "=='2024-05-01 12:30:00.5'",
                ">'2024-05-01T12:30'",
                "<2024-05-02",
                "<'2024-05-01 12:30:00.5001'",
            ],
            ["=='2024-05-01 12:30:00.5Z'", "==12:30"],
        ),
        (
            pa.array([1_714_566_600], pa.timestamp("s", "Europe/Berlin")),
            ["=='2024-05-01 14:30:00'", "=='2024-05-01T12:30Z'", "<='2024-05-01 14:30+02:00'", ">2024-05-01"],
            ["=='yesterday'"],
        ),
        (pa.array([45_000], pa.time32("s")), ["=='12:30'", "<'12:30:00.001'", ">=12:30"], ["==45000"]),
        (pa.array([90_000], pa.int64()).view(pa.duration("ms")), ["==90s", "<'90.5s'"], ["==90"]),
        (pa.array([ID.bytes], pa.uuid()), [f"=='{str(ID).upper()}'", "!=" + "0" * 32], ["==abc"]),
    ],
    ids=["date", "naive", "zone", "clock", "length", "uuid"],
)
def test_dates_and_times_are_compared_as_such(column: Any, holds: list[str], unlike: list[str]) -> None:
    """A VALUE is read as the column's type, exactly; what is none is refused with how to write one."""
    categories = column if isinstance(column.type, pa.UuidType) else column.dictionary_encode()
    for one in (column, categories):
        for condition in holds:
            assert fits(one, condition), condition
        for condition in unlike:
            with pytest.raises(InputProblem, match=r"'x': it holds .*, and --where compares it") as caught:
                fits(one, condition)
            assert str(caught.value.hint).startswith("compare it with")


def fits(column: Any, condition: str) -> bool:
    return bool(satisfied(batch_of(column), [condition_of(f"x{condition}")], first_row=0, shown="p").all())


@pytest.mark.parametrize(
    ("labels", "classes", "places"),
    [
        (pa.array([1, 2, 1]), ("1", "2"), [0, 1, 0]),
        (pa.array([1.0, 2.0]), ("1.0", "02"), [0, 1]),
        (pa.array([Decimal("1.00"), Decimal("2.50")]), ("2.5", "1"), [1, 0]),
        (pa.array([E53, E53 + 1]), (str(E53 + 1), str(E53)), [1, 0]),
        (pa.array(["1", "1.0", "01", "+1", "1e0"]), ("1", "2"), [0, 0, -1, -1, -1]),
        (pa.array(["1.0", "1"]), ("1", "1.0"), [1, 0]),
        (pa.array(["5", "05", "5.0", "005"]), ("05", "x"), [0, 0, 0, -1]),
        (pa.array(["5", "05", "5.0"]), ("05", "5"), [1, 0, 1]),
        (pa.array(["00123", "123"]), ("123", "00123"), [1, 0]),
        (pa.array(["12e3", "12000"]), ("12000", "7"), [-1, 0]),
        (pa.array(["0", "1.0", "2", "-1", "0.5"]), ("cat", "dog"), [0, 1, -1, -1, -1]),
        (pa.array([0.0, -0.0, 1.0, 0.99999999]), ("cat", "dog"), [0, 0, 1, -1]),
        (pa.array([True, False]), ("true", "false"), [0, 1]),
    ],
    ids=str,
)
def test_labels_name_classes_exactly(labels: Any, classes: tuple[str, ...], places: list[int]) -> None:
    """The same text, or the same number; text with zeros at the end where no class is called so."""
    assert class_labels_of(labels, classes).place.tolist() == places


def test_a_group_in_other_words_is_not_pooled_silently() -> None:
    """It is a group of the fit, or would be taken for none."""
    column = MemberColumn("g", frozenset({"1", "2.50", "007", "east"}), pooled=True)
    assert [column.refuses(text, renamed=False) for text in ("1", "1.0", "2.5", "7", "west", "east")] == [
        False,
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("values", "unit", "names"),
    [
        ([0, 650], "M8[Y]", ["1970", "2620"]),
        ([0, 650], "M8[M]", ["1970-01", "2024-03"]),
        ([0, 1], "M8[W]", ["1970-01-01", "1970-01-08"]),
        ([0, 25], "M8[h]", ["1970-01-01 00:00:00", "1970-01-02 01:00:00"]),
        ([0, 61], "M8[m]", ["1970-01-01 00:00:00", "1970-01-01 01:01:00"]),
        ([0, 3], "M8[10s]", ["1970-01-01 00:00:00", "1970-01-01 00:00:30"]),
        ([0, 3], "M8[2D]", ["1970-01-01", "1970-01-07"]),
        ([0, 3000], "M8[ps]", ["1970-01-01 00:00:00", "1970-01-01 00:00:00.000000003"]),
        ([0, -2], "m8[D]", ["0s", "-172800s"]),
        ([0, 2], "m8[W]", ["0s", "1209600s"]),
        ([0, 2], "m8[15m]", ["0s", "1800s"]),
        ([0, 2], "m8[25ms]", ["0s", "0.05s"]),
        ([0, 1500], "m8[ps]", None),
        ([0, 1 << 62], "M8[h]", None),
        ([0, 2], "m8[M]", None),
        ([0, 2], "m8", None),
    ],
)
def test_times_of_numpy_keep_their_unit(values: list[int], unit: str, names: list[str] | None) -> None:
    """Arrow has fewer units, and would read tens of seconds as seconds; what is not exact is refused."""
    times = np.array([*values, np.iinfo(np.int64).min]).view("i8").astype(unit)
    if names is None:
        with pytest.raises(UsageProblem, match="cannot be read as a column: "):
            column_of(times, what="by")
    else:
        assert names_of(column_of(times, what="by")).to_pylist() == [*names, None]


def test_whole_numbers_are_never_rounded_on_the_way_in(tmp_path: Path) -> None:
    """Long doubles and lists of Python that hold what no double is are refused, or kept as they are."""
    if np.finfo(np.longdouble).nmant > 52:
        long = np.array([E53, E53 + 1], np.longdouble)
        np.savez(tmp_path / "a.npz", s=[0.5, 0.5], y=[0, 1], v=long)
        with pytest.raises(InputProblem, match="long double precision that no double is"):
            tally_of(str(tmp_path / "a.npz"), identity="v")
        with pytest.raises(UsageProblem, match="long double precision that no double is"):
            column_of(long, what="id")
    with pytest.raises(UsageProblem, match=r"from 2\^53 on beside other values"):
        column_of([E53 + 1, 0.5], what="id")
    for values in ([E53, E53 + 1, None], [2**63, -1], [2**64, 1, None]):
        assert column_of(values, what="id").to_pylist() == values


def gate(state: Path, *names: str) -> Any:
    requested = StateOptions(str(state), id_column="v")
    rows = RowRequest(names, Columns("s", "y"))
    return judge_with_state(rows, VerifyOptions(rules=(rule_of("ece<=0.3"),)), requested)


def test_ids_of_a_state_do_not_mix_numbers_with_their_respelling(tmp_path: Path) -> None:
    """From one call to the next and in merge; text of the very digits is the number, and said to be."""
    pq.write_table(pa.table({"v": [7, 8], "s": [0.25, 0.75], "y": [0, 1]}), tmp_path / "a.parquet")
    numbers = str(tmp_path / "a.parquet")
    respelled = write(tmp_path, "a.csv", ["v,s,y", "7.0,0.25,0", "9.0,0.75,1"])
    alike = write(tmp_path, "b.csv", ["v,s,y", "7,0.25,0", "9,0.75,1"])
    for place, (one, other) in enumerate([(numbers, respelled), (respelled, numbers)]):
        state = tmp_path / f"{place}.json"
        gate(state, one)
        with pytest.raises(
            InputProblem, match=r"its ids are .* in what was counted before, and some of the text"
        ):
            gate(state, other)
    with pytest.raises(InputProblem, match="and some of the text is numbers written otherwise"):
        merge_states([str(tmp_path / "0.json"), str(tmp_path / "1.json")], output=str(tmp_path / "m.json"))
    report = gate(tmp_path / "0.json", alike)
    assert report.state is not None
    assert report.state.rows == 3
    assert any("the text '7' is the number 7" in note for note in report.notes)
    assert gate(tmp_path / "0.json", write(tmp_path, "c.csv", ["v,s,y", "x,0.5,1"])).state is not None


def test_floats_and_decimals_are_named_as_numbers_are() -> None:
    """What is done for a whole column is what is done for one number, whatever its size."""
    rng = np.random.default_rng(5)
    powers = 10.0 ** np.arange(-20, 40)
    scattered = rng.random(3_000) * 10.0 ** rng.integers(-12, 18, 3_000)
    rounded = np.round(rng.random(2_000) * 10.0 ** rng.integers(0, 18, 2_000), 2)
    values = np.concatenate([scattered, rounded, powers, -powers, [0.0, -0.0, np.inf, -np.inf]])
    assert names_of(pa.array(values)).to_pylist() == [number_name(one) for one in values.tolist()]
    for scale in (0, 2, 9, 30):
        exact = [Decimal(one).scaleb(-scale) for one in rng.integers(-(10**6), 10**6, 500).tolist()]
        assert names_of(pa.array(exact, pa.decimal128(38, scale))).to_pylist() == list(
            map(number_name, exact)
        )
    for one in values[np.isfinite(values)].tolist():
        assert number_name(Decimal(number_name(one))) == number_name(one)


@given(st.lists(st.one_of(st.text("0123456789+-.eE", max_size=8), st.text(max_size=5)), max_size=12))
def test_numbers_written_otherwise_are_found_among_texts(texts: list[str]) -> None:
    """The first of them, as one by one; blanks around a text are gone by then."""
    texts = [one.strip() for one in texts]
    names = pa.array(texts, pa.large_string())
    assert first_respelled(names) == next(filter(is_respelled, texts), None)


def test_every_short_text_is_known_as_a_number_written_otherwise_or_not() -> None:
    """All of up to three letters, powers of ten, small numbers, and numbers of hundreds of digits."""
    small = [f"{sign}0.{'0' * zeros}{end}" for sign in ("", "-") for zeros in range(9) for end in ("1", "10")]
    long = [
        f"{first}{'7' * digits}{end}" for first in "10" for digits in range(397, 402) for end in ("", ".5")
    ]
    powers = ["1e+400", "1e+399", "1.5e-7", "1.5e-6", "1.50e-7", "1e-07", "-1e-7", "10e-8", "1e" + "1" * 18]
    short = ["".join(letters) for size in range(1, 4) for letters in product("015+-.eE", repeat=size)]
    for text in (*small, *long, *powers, *short):
        found = first_respelled(pa.array([text], pa.large_string()))
        assert found == (text if is_respelled(text) else None), text


@pytest.mark.parametrize(
    ("label", "requested"), [("true", "1"), ("1", "true"), ("TRUE", "true"), ("0.0", "false")]
)
def test_true_and_1_are_not_mixed_up_silently(label: str, requested: str, tmp_path: Path) -> None:
    """In text they are other labels, and hardly meant to be."""
    path = write(tmp_path, "a.csv", ["s,y", f"0.5,{requested}", f"0.25,{label}", "0.75,no"])
    with pytest.raises(InputProblem, match="1 of 3 labels is another spelling of"):
        tally_of(path, positive=requested)


def test_a_file_without_the_positive_label_is_named(tmp_path: Path) -> None:
    """Of several files, and of one that is a part of more, such as a batch of a state."""
    one = write(tmp_path, "a.csv", ["s,y", "0.5,yes", "0.25,no"])
    other = write(tmp_path, "b.csv", ["s,y", "0.5,YES", "0.25,no"])
    said = f"{other}, column 'y': no label is 'yes', as --positive says: the labels are 'YES' and 'no'"
    alike = "'YES' and 'no' count as 0 by --positive yes; is 'YES' meant to be the same?"
    both = f"{one} and 1 more, column 'y': {alike}"
    assert tally_of(one, other, positive="yes").input.notes == (said, both)
    third = write(tmp_path, "c.csv", ["s,y", "0.5,no"])
    said_once, *_ = tally_of(one, other, third, positive="yes").input.notes
    assert said_once == f"{said}; and so in 1 more"
    part = gather(
        [other],
        Columns("s", "y", positive="yes"),
        engine=ThreadEngine(1),
        gather_request=GatherRequest(part=True),
    )
    assert part.input.notes == (said, f"{other}, column 'y': {alike}")
    assert not tally_of(one, positive="yes").input.notes


@pytest.mark.parametrize(
    "labels",
    [
        pa.array([1.0, 0.93, 0.2, None, 0.0, 1.0]),
        pa.array([1.0, 0.93, 0.2, None, 0.0, 1.0], pa.float32()),
        pa.array([Decimal(1), Decimal("0.93"), Decimal("0.20"), None, Decimal(0), Decimal(1)]),
        pa.array(["1", "0.93", " .2", None, "0", "1"]),
        pa.array([1.0, 0.93, 0.2, None, 0.0, 1.0]).dictionary_encode(),
    ],
    ids=lambda one: str(one.type),
)
def test_soft_labels_beside_a_positive_one_are_counted_and_said(labels: Any, tmp_path: Path) -> None:
    """Those strictly between 0 and 1 count as 0 because it was asked for, and hardly because it was meant."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"s": [0.5] * 6, "y": labels, "keep": [1, 1, 1, 1, 1, 0]}), path)
    kept = RowSelection((condition_of("keep==1"),))
    found = tally_of(str(path), positive="1", on_missing=OnMissing.DROP, rows=kept).input
    assert (found.rows, found.dropped) == (4, 1)
    assert [note for note in found.notes if "between 0 and 1" in note] == [
        f"{path}, column 'y': 2 labels are numbers between 0 and 1, and count as 0 by --positive 1; {SOFT}"
    ]
    # Grades that are whole numbers, and a label of that kind that was asked for, are what they seem.
    grades = tmp_path / "grades.parquet"
    pq.write_table(pa.table({"s": [0.5] * 3, "y": [0.5, 1.0, 2.0]}), grades)
    (note,) = tally_of(str(grades), positive="0.5").input.notes
    assert note == f"{grades}, column 'y': '1' and '2' count as 0 by --positive 0.5"


@pytest.mark.parametrize(
    ("labels", "positive", "said"),
    [
        (["yes", "no", "yes"], "yes", None),
        (["Yes", "yes ", "no"], "yes", "'Yes' and 'no' count as 0 by --positive yes; is 'Yes' meant to be the same?"),  # noqa: E501
        (["Yes", "yes"], "yes", "'Yes' counts as 0 by --positive yes; is 'Yes' meant to be the same?"),
        (["cat", "dog", "emu", None], "cat", "'dog' and 'emu' count as 0 by --positive cat"),
        ([2, 0, 1], "2", "'0' and '1' count as 0 by --positive 2"),
        ([True, False], "true", None),
        (list("xabcdefg"), "x", "'a', 'b', 'c', 'd', 'e' and more count as 0 by --positive x"),
    ],
)  # fmt: skip
def test_labels_that_count_as_0_are_said_where_there_are_several(
    labels: list[Any], positive: str, said: str | None, tmp_path: Path
) -> None:
    """However the rows are cut into files and batches, the first that appear are named."""
    paths = [str(tmp_path / name) for name in ("a.parquet", "b.parquet")]
    pq.write_table(pa.table({"s": [0.5] * len(labels), "y": labels}), paths[0])
    pq.write_table(pa.table({"s": [0.5] * len(labels), "y": labels[::-1]}), paths[1], row_group_size=1)
    for files in (paths[:1], paths):
        notes = tally_of(*files, positive=positive, on_missing=OnMissing.DROP).input.notes
        assert [note.partition("column 'y': ")[2] for note in notes] == ([said] if said else [])
