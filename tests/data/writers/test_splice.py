"""A field at the end of every CSV record, and every other byte as it was."""

import csv
import io
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.data.records import Block, blocks
from calibcli.data.writers.csv import NewColumns, splice
from calibcli.errors import InputProblem, UsageProblem

FIELD = st.text(st.sampled_from('ab ,"\n\r\t;é0.'), max_size=6)
VALUE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.1, 1 / 3, 5e-324, 1e-7]))


def column(*names: str, delimiter: str = ",") -> NewColumns:
    return NewColumns(names or ("calibrated",), delimiter, shown="p.csv")


def cut(content: bytes, *, size: int = 1 << 20, delimiter: str = ",", blank: bool = False) -> Iterator[Block]:
    """Return the records of a file, in blocks of about a size."""
    source = io.BytesIO(content)
    return blocks(
        lambda most: source.read(min(most, size)), delimiter=delimiter, blank=blank, shown="p.csv", size=size
    )


def rows_in(block: Block, delimiter: str = ",") -> list[list[str]]:
    """Return the rows of a block as Python reads them."""
    text = io.StringIO(block.content.decode(), newline="")
    return [row for row in csv.reader(text, delimiter=delimiter, strict=True) if row]


def spliced(
    content: bytes, values: list[float], added: NewColumns | None = None, *, size: int = 1 << 20
) -> bytes:
    """Splice with values handed out in order; blocks are as long as `size` allows."""
    target, left = io.BytesIO(), list(values)
    new = added or column()

    def predicted(block: Block) -> list[np.ndarray[Any, Any]]:
        taken = [left.pop(0) for _ in rows_in(block, new.delimiter)]
        return [np.array(taken)] * len(new.names)

    found = cut(content, size=size, delimiter=new.delimiter)
    count = splice(found, target.write, columns=new, predicted=predicted)
    assert sum(count) == len(values) - len(left)
    return target.getvalue()


@given(values=st.lists(st.sampled_from([0.0, -0.0, 1.0, 0.1, 1 / 3, 5e-324, 1e-7, math.nan]), max_size=40))
def test_values_that_repeat_are_written_as_each_alone(values: list[float]) -> None:
    """Blocks of one record each write every value, blocks of many write those that are alike once."""
    content = b"a,b\n" + b"1,2\n" * len(values)
    assert spliced(content, values) == spliced(content, values, size=1)


@settings(max_examples=3 * settings.default.max_examples)
@given(
    table=st.lists(st.tuples(FIELD, FIELD, VALUE), max_size=8),
    endings=st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=9, max_size=9),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    last=st.booleans(),
    size=st.integers(1, 40),
    bom=st.booleans(),
)
def test_other_fields_are_byte_identical_and_the_new_one_parses_back(
    table: list[tuple[str, str, float]],
    endings: list[bytes],
    quoting: Any,
    last: bool,  # noqa: FBT001
    size: int,
    bom: bool,  # noqa: FBT001
) -> None:
    """Whatever fields hold, however lines end, wherever blocks are cut."""
    lines = []
    for row in [("a", 'b"c'), *((left, right) for left, right, _ in table)]:
        out = io.StringIO(newline="")
        csv.writer(out, quoting=quoting).writerow(row)
        lines.append(out.getvalue().removesuffix("\r\n").encode())
    values = [value for _, _, value in table]
    mark = b"\xef\xbb\xbf" if bom else b""
    ends = [*endings[: len(table)], b"" if last else endings[-1]]
    content = mark + b"".join(line + end for line, end in zip(lines, ends, strict=True))
    result = spliced(content, values, size=size)
    fields = [b"calibrated", *(result_field(value) for value in values)]
    expected = [b"%s,%s%s" % parts for parts in zip(lines, fields, ends, strict=True)]
    assert result == mark + b"".join(expected)
    parsed = list(csv.reader(io.StringIO(result.decode("utf-8-sig"), newline="")))
    assert [float(row[-1]) for row in parsed[1:]] == values
    assert [tuple(row[:-1]) for row in parsed[1:]] == [(left, right) for left, right, _ in table]


def result_field(value: float) -> bytes:
    """Return the shortest text of a number as pyarrow spells it."""
    import pyarrow as pa

    return pa.array([value]).cast(pa.string())[0].as_py().encode()


def test_blank_lines_and_mixed_line_ends_stay() -> None:
    """A blank line is no record where there are several columns."""
    content = b"a,b\r\n1,2\n\n\r\n3,4\r\n\n"
    assert spliced(content, [0.5, 0.25]) == b"a,b,calibrated\r\n1,2,0.5\n\n\r\n3,4,0.25\r\n\n"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_lone_carriage_return_ends_a_record(size: int) -> None:
    """Anywhere, and never the first half of a line end that blocks have cut."""
    for content, values, expected in (
        (b"a,b\n1,2\r", [0.5], b"a,b,calibrated\n1,2,0.5\r"),
        (b"a,b\r1,2\r3,4\r", [0.5, 0.25], b"a,b,calibrated\r1,2,0.5\r3,4,0.25\r"),
        (b"a,b\r1,2\n3,4\r\n", [0.5, 0.25], b"a,b,calibrated\r1,2,0.5\n3,4,0.25\r\n"),
        (b"a,b\r\n\r\r\n1,2\r\r\n", [0.5], b"a,b,calibrated\r\n\r\r\n1,2,0.5\r\r\n"),
        (b'"a\rb",c\r"1\r\n2",3\r', [0.5], b'"a\rb",c,calibrated\r"1\r\n2",3,0.5\r'),
        (b"a,b\r", [], b"a,b,calibrated\r"),
    ):
        assert spliced(content, values, size=size) == expected


def test_a_header_alone_gets_the_name() -> None:
    """With and without a line end."""
    assert spliced(b"a,b\n", []) == b"a,b,calibrated\n"
    assert spliced(b"a,b", []) == b"a,b,calibrated"
    assert spliced(b"", []) == b""


def test_a_name_is_quoted_where_it_must_be() -> None:
    """As any field."""
    assert spliced(b"a\n1\n", [1.0], column('p,"q"')) == b'a,"p,""q"""\n1,1\n'
    assert spliced(b"a\tb\n1\t2\n", [1.0], column("p,q", delimiter="\t")) == b"a\tb\tp,q\n1\t2\t1\n"


@pytest.mark.parametrize("size", [5, 1000])
def test_a_quote_within_an_unquoted_field_is_a_letter(size: int) -> None:
    """As every reader has it; it says nothing of where a record ends."""
    content = b'a,b\n5" pipe,1\n6" pipe,"2\n"\n "x,""\n'
    expected = b'a,b,calibrated\n5" pipe,1,0.5\n6" pipe,"2\n",0.25\n "x,"",1\n'
    assert spliced(content, [0.5, 0.25, 1.0], size=size) == expected


def test_a_different_number_of_records_is_refused() -> None:
    """The parser's count and ours must agree."""
    with pytest.raises(InputProblem, match="2 lines hold 3 records"):
        list(splice(cut(b"a,b\n1,2\n3,4\n"), print, columns=column(), predicted=lambda _: [np.zeros(3)]))


def test_a_blank_line_is_a_record_of_one_column() -> None:
    """There it is a missing value."""
    target = io.BytesIO()
    found = cut(b"a\n1\n\n", blank=True)
    values = [np.array([0.5, 0.25])]
    assert sum(splice(found, target.write, columns=column(), predicted=lambda _: values)) == 2
    assert target.getvalue() == b"a,calibrated\n1,0.5\n,0.25\n"


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_several_columns_are_added_in_order(size: int) -> None:
    """Each with its own values, whatever the blocks."""
    target = io.BytesIO()
    added = column("p", "p,low", "p_high")

    def predicted(block: Block) -> list[np.ndarray[Any, Any]]:
        value = np.array([float(row[0]) for row in rows_in(block)])
        return [value / 8, value / 16, value / 4]

    found = cut(b'a,b\r\n1,"x\ny"\r\n\r\n2,z', size=size)
    sum(splice(found, target.write, columns=added, predicted=predicted))
    expected = b'a,b,p,"p,low",p_high\r\n1,"x\ny",0.125,0.0625,0.25\r\n\r\n2,z,0.25,0.125,0.5'
    assert target.getvalue() == expected


@given(
    table=st.lists(st.tuples(FIELD, FIELD, FIELD, VALUE), max_size=6),
    kept=st.sets(st.integers(0, 2)),
    endings=st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=7, max_size=7),
    blanks=st.sampled_from([b"", b"\n", b"\r\n\r\n"]),
    size=st.integers(1, 40),
    bom=st.booleans(),
    ahead=st.booleans(),
)
def test_fields_that_stay_keep_their_bytes(
    table: list[tuple[str, str, str, float]],
    kept: set[int],
    endings: list[bytes],
    blanks: bytes,
    size: int,
    bom: bool,  # noqa: FBT001
    ahead: bool,  # noqa: FBT001
) -> None:
    """Quotes around them too; line ends and blank lines stay where they were."""
    names = ('a,"', "b", "c")
    rows = [[field_text(field) for field in row] for row in (names, *(row[:3] for row in table))]
    values = [row[3] for row in table]
    mark = b"\xef\xbb\xbf" if bom else b""
    ends = [*(end + (blanks if end == b"\n" else b"") for end in endings[: len(table)]), b""]
    content = mark + b"".join(b",".join(row) + end for row, end in zip(rows, ends, strict=True))
    new = NewColumns(("p",), ",", shown="p.csv", kept=tuple(sorted(kept)), fields=3)
    target, left = io.BytesIO(), list(values)

    def predicted(block: Block) -> list[np.ndarray[Any, Any]]:
        return [np.array([left.pop(0) for _ in rows_in(block)])]

    sum(splice(cut(content, size=size), target.write, columns=new, predicted=predicted, ahead=ahead))
    fields = [b"p", *(result_field(value) for value in values)]
    expected = [
        b",".join([*(row[place] for place in sorted(kept)), field]) + end
        for row, field, end in zip(rows, fields, ends, strict=True)
    ]
    assert target.getvalue() == mark + b"".join(expected)


def field_text(field: str) -> bytes:
    """Return a field as a writer may write it, never an empty line."""
    out = io.StringIO(newline="")
    csv.writer(out).writerow([field, ""])
    return out.getvalue().removesuffix(",\r\n").encode()


def test_names_and_classes_take_the_encoding_of_the_file() -> None:
    """What it cannot hold is refused."""
    import pyarrow as pa

    text = "a,é\n1,ü\n".encode("latin-1")
    added = NewColumns(("ö",), ",", shown="p.csv", encoding="latin-1")
    target = io.BytesIO()
    list(splice(cut(text), target.write, columns=added, predicted=lambda _: [pa.array(["ß"])]))
    assert target.getvalue().decode("latin-1") == "a,é,ö\n1,ü,ß\n"
    with pytest.raises(UsageProblem, match=r"p\.csv is latin-1 text, which cannot hold '€'"):
        list(splice(cut(text), target.write, columns=added, predicted=lambda _: [pa.array(["€"])]))


def test_records_of_other_lengths_are_refused_where_fields_go() -> None:
    """Which field is which could not be told."""
    added = NewColumns(("p",), ",", shown="p.csv", kept=(0,), fields=2)
    with pytest.raises(InputProblem, match="some of 2 lines have not 2 fields"):
        list(
            splice(
                cut(b"a,b\n1,2\n3\n"),
                lambda _: None,
                columns=added,
                predicted=lambda _: [np.zeros(2)],
            )
        )
