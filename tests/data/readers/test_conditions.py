"""Conditions of `--where`: what they are, and which rows satisfy them."""

import math
import operator
import string
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcli.data.selection import satisfied
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Sign
from calibcli.options.conditions import Literal, as_column, condition_of
from calibcli.options.numerals import number_of

SIGNS = [sign.value for sign in Sign if sign is not Sign.IN]
ORDERS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}


def rows(*texts: str, **columns: object) -> list[bool]:
    """Return which rows of some columns satisfy conditions."""
    batch = pa.RecordBatch.from_pydict(columns)
    return satisfied(batch, list(map(condition_of, texts)), first_row=0, shown="p").tolist()


@pytest.mark.parametrize(
    ("text", "column", "sign", "values"),
    [
        ("country==DE", "country", "==", [("DE", None)]),
        ("  age >= 30 ", "age", ">=", [("30", 30)]),
        ("income group<1e3", "income group", "<", [("1e3", 1000.0)]),
        ("'a==b' != \"x, (y)\"", "a==b", "!=", [("x, (y)", None)]),
        ("who=='it''s'", "who", "==", [("it's", None)]),
        ("id=='007'", "id", "==", [("007", None)]),
        ("id==007", "id", "==", [("007", 7)]),
        ("plan in basic, pro,'a,b'", "plan", "in", [("basic", None), ("pro", None), ("a,b", None)]),
        ("'logged in' in (yes)", "logged in", "in", [("yes", None)]),
        ("plan in (1,2)", "plan", "in", [("1", 1), ("2", 2)]),
        ("n==123456789012345678901", "n", "==", [("123456789012345678901", 123456789012345678901)]),
        ("n==1e999", "n", "==", [("1e999", Decimal("1e999"))]),
    ],
)
def test_a_condition_is_a_column_a_sign_and_values(
    text: str, column: str, sign: str, values: list[tuple[str, float | Decimal | None]]
) -> None:
    """Quotes make text, and protect signs, commas and brackets."""
    found = condition_of(text)
    assert (found.column, found.sign.value) == (column, sign)
    assert found.values == tuple(Literal(*value) for value in values)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a=b",
        "==b",
        "a==",
        "a==b==c",
        "a<>b",
        "a=>b",
        "a==b,c",
        "a in ",
        "a in b,",
        "a in (b",
        "a in b)",
        "a=='b",
        "a=='b' c",
        "a==b'c'",
        "a in b,,c",
        "a ! b",
        "a==(b)",
        "__import__('os')",
        "a" * 10_001,
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    """With a hint of how to write one."""
    with pytest.raises(UsageProblem) as problem:
        condition_of(text)
    assert problem.value.hint


@given(st.text(max_size=40), st.sampled_from(SIGNS), st.text(min_size=1, max_size=40))
def test_quoted_column_and_value_are_taken_as_they_are(column: str, sign: str, value: str) -> None:
    """Whatever letters they are made of."""
    if not column:
        column = "x"
    quoted = [text.replace("'", "''") for text in (column, value)]
    found = condition_of(f"'{quoted[0]}' {sign} '{quoted[1]}'")
    assert (found.column, found.sign.value, found.values) == (column, sign, (Literal(value, None),))


@given(st.text(min_size=1) | st.sampled_from(["a b", " a", "days in bed", "a=b", "a<b", "'a'", 'a"b', "in"]))
def test_a_column_is_named_so_that_it_is_found(column: str) -> None:
    assert condition_of(f"{as_column(column)}>=0").column == column
    assert as_column("p-1.x y") == "p-1.x y"


@given(st.text(alphabet=string.printable + "é\0", max_size=60))
def test_no_text_breaks_the_parser(text: str) -> None:
    """It is a condition or a usage error."""
    try:
        found = condition_of(text)
    except UsageProblem:
        return
    assert found.values
    assert found.text == text


@given(
    st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=20),
    st.sampled_from(SIGNS),
    st.sampled_from(["0", "2", "-1.5", "1e0"]),
)
def test_numbers_compare_alike_in_every_type_that_holds_them(
    values: list[int | None], sign: str, number: str
) -> None:
    """Row by row as Python does; a missing value satisfies nothing, and the order of text is no exception."""
    expected = [one is not None and bool(ORDERS[sign](one, float(number))) for one in values]
    floats = [float("nan") if one is None else float(one) for one in values]
    for column in (
        pa.array(values, pa.int8()),
        pa.array(values, pa.int64()),
        pa.array(values, pa.float32()),
        pa.array(floats, pa.float64()),
        pa.array(values, pa.int64()).cast(pa.decimal128(24, 2)),
    ):
        assert rows(f"x{sign}{number}", x=column) == expected, column.type
    if sign in ("<", "<=", ">", ">="):
        text = pa.array([None if one is None else str(one) for one in values], pa.string())
        assert rows(f"x{sign}{number}", x=text) == expected
        assert rows(f"x{sign}{number}", x=text.dictionary_encode()) == expected


def test_text_compares_as_text_and_dates_by_their_digits() -> None:
    """By equality, lists, and the order of their letters."""
    country = pa.array(["DE", "US", None, "", " DE ", "de"])
    assert rows("c==DE", c=country) == [True, False, False, False, True, False]
    assert rows("c!=DE", c=country) == [False, True, False, False, False, True]
    assert rows("c in US,de", c=country) == [False, True, False, False, False, True]
    days = pa.array([19_000, None, 20_000], pa.date32())
    assert rows("d>='2022-06-01'", d=days) == [False, False, True]
    assert rows("d in 2022-01-08", d=days) == [True, False, False]
    flags = pa.array([True, False, None])
    assert rows("f==True", f=flags) == [True, False, False]
    assert rows("f!=true", f=flags) == [False, True, False]


@pytest.mark.parametrize(
    ("value", "later", "earlier"),
    [
        ("2024-03-01", "2024-03-01 12:30:00", "2024-02"),
        ("2024-03", "2024-03-01", "2023-12-31T23:59:59Z"),
        ("2024-Q2", "2024-Q3", "2024-Q1"),
        ("2024-W09", "2024-W10", "2023-W52"),
        ("2024-05-01", "9999-12-31", "1899-12-31"),
        ("2024-05-01", "2024-05-01 09:30 PM", "2024-04-30 09:30 PM"),
        ("9999-12-31", "9999-12-31T00:00:00Z", "2024-05-01T00:00:00Z"),
        ("2024-05-01T10:00:00", "2024-05-01T10:00:00.250Z", "2024-05-01T09:59:59Z"),
        ("2024-05-01T10:00:00+02:00", "2024-05-01T11:00:00+02:00", "2024-05-01"),
        ("'20240501'", "20240502", "202405"),
        ("2024-05-01", "30 days", "1.13.99"),
        ("may", "x", "Jan 2024"),
        ("1.9.1", "2.0.0", "1.10.0"),
        ("'2.1.10'", "2.1.11", "2.0.10"),
        ("10.0.12.5", "10.0.12.6", "1.10.12.20"),
        ("20-00-00", "20-10-12", "10-12-20"),
        ("20-10-12", "40-00-00", "20-10-11"),
    ],
)
def test_dates_as_text_have_an_order_where_the_year_comes_first(value: str, later: str, earlier: str) -> None:
    """What is no date with a year has the order of letters."""
    assert rows(f"d>={value}", d=[later, earlier, None, ""]) == [True, False, False, False]


@pytest.mark.parametrize(
    ("conditions", "odd", "kept"),
    [
        (("x>=30", "x!=old"), "old", "31"),
        (("x!=old", "x>=30"), "old", "31"),
        (("x==5", "y==b"), "5.0", "5"),
        (("x>=2024-05-01", "x!=31.12.9999"), "31.12.9999", "2024-06-01"),
        (("x>=2024-05-01", "x!=unknown"), "unknown", "2024-06-01"),
    ],
)
def test_a_text_of_rows_that_another_condition_leaves_out_is_not_checked(
    conditions: tuple[str, ...], odd: str, kept: str
) -> None:
    """In any order of the conditions; one that cannot be said of it either leaves nothing out."""
    assert rows(*conditions, x=[odd, kept], y=["a", "b"]) == [False, True]
    with pytest.raises(InputProblem, match=f"'{odd}' at row 2"):
        rows(*(one for one in conditions if "!" not in one), x=[kept, odd], y=["b", "b"])
    with pytest.raises(InputProblem, match="'old' at row 1") as problem:
        rows("x>=30", "x<60", x=["old"])
    assert "as in x!='old'" in str(problem.value.hint)
    assert rows("x>=30", "x<60", "x!='old'", x=["old", "31"]) == [False, True]


@pytest.mark.parametrize("sign", [">=", "<", ">", "<="])
def test_a_time_with_parts_of_a_second_in_some_rows_is_compared_by_a_shorter_value(sign: str) -> None:
    """Where the letters of that have the order that was asked for."""
    stamps = ["2024-05-01T10:00:00Z", "2024-05-01T10:00:00.250Z", "2024-05-01T09:59:59.999Z"]
    with pytest.raises(InputProblem, match=r"\.250Z' at row 2 .* not written alike") as problem:
        rows(f"x{sign}2024-05-01T10:00:00Z", x=stamps)
    shorter = f"x{sign}2024-05-01T10:00:00"
    assert (f"{shorter!r}" in str(problem.value.hint)) == (sign in (">=", "<"))
    assert rows(shorter, x=stamps)[1:] == [sign[0] == ">", sign[0] == "<"]
    assert rows(shorter, x=stamps)[0] == (sign[0] == ">")


@pytest.mark.parametrize("value", ["a", 1, 0.5, True, date(2024, 1, 2)])
def test_what_has_a_value_is_found_in_columns_of_every_type(value: object) -> None:
    """Hints about rows without a value say so; NaN is none."""
    assert rows("x!=-", x=[value, None]) == [True, False]
    assert rows("x!=-", x=[math.nan, 0.5]) == [False, True]


def test_an_identifier_in_quotes_is_not_a_number() -> None:
    """Text equals the same text alone, and large whole numbers are told apart."""
    ids = pa.array(["007", "7", "9007199254740993", "9007199254740992"])
    assert rows("i=='007'", i=ids) == [True, False, False, False]
    assert rows("i==7", i=ids) == [False, True, False, False]
    assert rows("i!=7", i=ids) == [True, False, True, True]
    assert rows("i==9007199254740993", i=ids) == [False, False, True, False]
    whole = pa.array([9007199254740993, 9007199254740992])
    assert rows("i==9007199254740993", i=whole) == [True, False]
    assert rows("i<1e400", i=ids) == [True] * 4


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("x>5", ["1", "n/a", "7"], "'n/a' at row 2 is not a number"),
        ("x>='30'", ["40", "5"], "'5' at row 2 is a number, and \"x>='30'\" compares text, in the order of"),
        ("x>='1000'", ["1,024", "1001"], "'1,024' at row 1 is a number"),
        ("x==5", ["1", "5.0", "7"], "'5.0' at row 2 is text, and 'x==5' compares it with a number"),
        ("x!=1e3", ["1", "1000"], "'1000' at row 2 is text"),
        ("x in 1,5", ["5.00"], "'5.00' at row 1 is text"),
        ("x>=01.03.2024", ["01.03.2024", None], "'01.03.2024' at row 1 and 'x>=01.03.2024' are dates"),
        ("x<'2024-03-01'", ["2024-02-29", "31.12.2019"], "'31.12.2019' at row 2"),
        ("x<2024-03-01", ["2024-02-29", "unknown"], "'unknown' at row 2 is no date, and 'x<2024-03-01'"),
        ("x<2024-03-01", ["2024/01/01"], "'2024/01/01' at row 1"),
        ("x>2024-9", ["2024-10"], "'2024-10' at row 1"),
        ("x>'Jan 2024'", ["Feb 2024"], "'Feb 2024' at row 1"),
        ("x<1/2/24", ["1/3/24"], "'1/3/24' at row 1"),
        ("x>=01.03.24", ["15.06.21"], "'15.06.21' at row 1"),
        ("x<9999-12-31", ["31.12.9999"], "'31.12.9999' at row 1"),
        ("x>=2020-01-01", ["5/31/2020, 10:00"], "'5/31/2020, 10:00' at row 1"),
        ("x<2024q2", ["2023Q1", "2024Q4"], "'2023Q1' at row 1"),
        ("x>=2024-05-01t10:00", ["2024-05-01T11:00"], "at row 1"),
        ("x>2024-W10", ["2024-W9"], "'2024-W9' at row 1"),
        ("x>2024-05-01 10:00", ["2024-05-01 09:30 PM"], "at row 1"),
        ("x>2024-05-01T10:00:00Z", ["2024-05-01T11:00:00+02:00"], "at row 1"),
        ("x>2024-05-01T10:00:00+02:00", ["2024-05-01T10:30:00+01:00"], "at row 1"),
        ("x=='a'", [1, 2], "holds int64, and --where compares it with 'a'"),
        ("x==1", [True, False], "holds true and false"),
        ("x<true", [True, False], "holds true and false"),
        ("x==1", [[1], [2]], "which --where does not compare"),
    ],
)
def test_columns_that_cannot_be_compared_are_refused(text: str, column: list[object], said: str) -> None:
    """With the file, the column, and the row where it is one value."""
    with pytest.raises(InputProblem, match="p, column 'x'") as problem:
        rows(text, x=column)
    assert said in problem.value.message


@pytest.mark.parametrize("text", ["1,024", "1.024,5", "$0", "6,84 %", "10 kg", "€ 7"])
def test_numbers_written_otherwise_are_not_offered_to_be_compared_as_text(text: str) -> None:
    """In the order of letters 999 would stand above 1,024."""
    with pytest.raises(InputProblem, match="is not a number, and 'x>=1000' compares numbers") as problem:
        rows("x>=1000", x=["1000", text])
    assert (
        problem.value.hint
        == f"write numbers like 1234.5, or leave it out with another --where, as in x!={text!r}"
    )


def test_codes_and_numbers_that_letters_leave_in_order_are_compared_as_text() -> None:
    """Codes have zeros in front, and of as many digits letters have the order of numbers."""
    assert rows("x>='02'", x=["0111", "1", "02", "10"]) == [False, True, True, True]
    assert rows("x>='1010'", x=["1009", "1011", "A1"]) == [False, True, True]


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        ("x>='202405'", ["20240131", "20240501", "202406"], [False, True, True]),
        ("x<'2025'", ["202412", "20241231", "20241231235959", "202501"], [True, True, True, False]),
        ("x<='20240215'", ["202405", "202401", "2023"], [False, True, True]),
    ],
)
def test_dates_of_digits_alone_have_the_order_of_letters(
    text: str, column: list[str], found: list[bool]
) -> None:
    """They were called numbers, and without the quotes every day lies above each month."""
    assert rows(text, x=column) == found
    with pytest.raises(InputProblem, match=r"is a number, and .* compares text"):
        rows(text, x=[*column, "21"])


@pytest.mark.parametrize(
    ("text", "meant"), [("x==5", "x in '5','5.0'"), ("x in 4,5", "x in '4','5','5.0'"), ("x!=5", "x!='5.0'")]
)
def test_the_way_out_of_a_number_among_texts_selects_rows(text: str, meant: str) -> None:
    """It names what was asked for beside the text that was found, and keeps the sign."""
    column = ["5", "5.0", "6"]
    with pytest.raises(InputProblem) as problem:
        rows(text, x=column)
    assert problem.value.hint == f"put values in quotes to compare text, as in {meant}"
    assert rows(meant, x=column) == [True, text != "x!=5", text == "x!=5"]


def test_numbers_are_read_strictly() -> None:
    """Exactly; no words, no digits of other scripts, nothing that is not finite."""
    found = [number_of(text) for text in ("1", " -2.50 ", ".5", "1e3", "nan", "inf", "0x1", "1_0", "١", "")]
    assert found == [1, -2.5, 0.5, 1000.0, None, None, None, None, None, None]
    assert number_of("9" * 500) == int("9" * 500)
    assert number_of("9e999") > number_of("8e999")  # type: ignore[operator]


@pytest.mark.parametrize("zone", ["Europe", "A" * 300])
def test_times_of_a_zone_that_there_is_not_are_refused(zone: str) -> None:
    """A folder of zones is none, and neither is a name that no file can have."""
    times = pa.array([0], pa.timestamp("s", tz=zone))
    with pytest.raises(InputProblem):
        rows("t>='2023-11-14 00:00:00'", t=times)
