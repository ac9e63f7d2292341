"""Where the rows of CSV end, found by line ends and quotes alone."""

import csv
import io
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibcli.data import records
from calibcli.data.records import BOM, blocks, first_record_end
from calibcli.errors import InputProblem

TEXT = st.lists(
    st.sampled_from(
        [
            '"',
            '""',
            ",",
            "\n",
            "\r",
            "\r\n",
            "a",
            " ",
            ',"',
            '",',
            '"\n',
            "a,b\n",
            '"a","b"\n',
            '5" x,',
            "\n\n",
        ]
    ),
    max_size=30,
).map("".join)


def cut(content: bytes, *, size: int = 1 << 20, blank: bool = False) -> list[bytes]:
    """Return the records of a file after the header, without their line ends."""
    source = io.BytesIO(content)
    found = blocks(
        lambda most: source.read(min(most, size)), delimiter=",", blank=blank, shown="a.csv", size=size
    )
    _, *rest = found
    assert b"".join(block.content for block in rest) == content[len(content) - sum(b.size for b in rest) :]
    return [
        block.content[start:end]
        for block in rest
        for start, end in zip(*(bound.tolist() for bound in block.bounds()), strict=True)
    ]


def by_python(text: str) -> list[list[str]] | None:
    """Return the rows of Python's strict reader without blank lines; None where it finds a fault."""
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error:
        return None


@settings(max_examples=4 * settings.default.max_examples)
@given(text=TEXT, size=st.integers(1, 40))
def test_rows_are_those_of_pythons_strict_reader(text: str, size: int) -> None:
    """For any quotes, separators and line ends, wherever blocks are cut; where it refuses, this refuses."""
    content = f"h\n{text}"
    expected = by_python(content)
    found: list[bytes] | None = None
    with suppress(InputProblem):
        found = cut(content.encode(), size=size)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert [by_python(one.decode()) for one in found] == [[row] for row in expected[1:]]


@given(text=TEXT, size=st.integers(1, 40))
def test_blocks_have_as_many_lines_as_they_say(text: str, size: int) -> None:
    """Each block begins on the line after those before it."""
    content = f"h\n{text}".encode()
    source = io.BytesIO(content)
    line = 1
    with suppress(InputProblem):
        for block in blocks(
            lambda most: source.read(min(most, size)), delimiter=",", blank=False, shown="a", size=size
        ):
            assert block.line == line
            assert block.lines == len(io.StringIO(block.content.decode(), newline=None).readlines())
            line += block.lines


@pytest.mark.parametrize("size", [3, 1000])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'a,b\n1,2\n"3,4\n5,6\n', "a.csv: the quote that opens on line 3 is never closed"),
        (b'a,b\r\n\r\n1,"x\r\n\r\ny"\r\n3,"', "a.csv: the quote that opens on line 6 is never closed"),
        (b'a,b\r1,"2\r3,4', "a.csv: the quote that opens on line 2 is never closed"),
        (b'a,"b\n1,2', "a.csv: the quote that opens on line 1 is never closed"),
        (b'a,b\n1,"2"x\n', "a.csv, line 2: text follows a closing quote, near '"),
        (b'a,b\n1,"" \n', "a.csv, line 2: text follows a closing quote"),
        (b'a,b\n1,"x\\"y"\n', "a.csv, line 2: text follows a closing quote"),
        (
            b'a,b\n1,"2\n3,4\n5,6"x\n',
            "a.csv: the quote that opens on line 2 closes on line 4, and text follows",
        ),
    ],
)
def test_a_quote_out_of_place_is_refused_with_its_line(content: bytes, message: str, size: int) -> None:
    """That on which it opens, whatever the line ends and wherever blocks are cut."""
    with pytest.raises(InputProblem) as caught:
        cut(content, size=size)
    assert str(caught.value.message).startswith(message)
    assert caught.value.exit_code == 3
    assert "written twice" in str(caught.value.hint)


def test_an_unclosed_quote_says_how_much_it_takes() -> None:
    """In lines."""
    with pytest.raises(InputProblem, match="is never closed: 2 more lines would be part of its field"):
        cut(b'a,b\n1,"2\n3,4\n5,6\n')
    with pytest.raises(InputProblem, match="is never closed: 1 more line would"):
        cut(b'a,b\n1,"2\n3,4')


def test_a_row_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line of the quote that opens, or of the row; the work grows with the length alone."""
    monkeypatch.setattr(records, "_LONGEST", 1 << 20)
    with pytest.raises(
        InputProblem, match=r"a\.csv, line 3: the quote that opens there is not closed within 1 MiB"
    ):
        cut(b'a,b\n1,2\n3,"' + b"4\n" * (1 << 20), size=1 << 10)
    with pytest.raises(InputProblem, match=r"a\.csv, line 2: the row does not end within 1 MiB"):
        cut(b"a,b\n" + b"1" * (2 << 20), size=1 << 10)


def test_a_long_row_is_looked_at_a_few_times_only() -> None:
    """Twice as much each time, also where a pipe gives little at once."""
    row = b'1,"' + b"x\n" * 500_000 + b'"\n'
    source, reads = io.BytesIO(b"a,b\n" + row * 2), []

    def read(most: int) -> bytes:
        reads.append(most)
        return source.read(min(most, 4096))

    found = list(blocks(read, delimiter=",", blank=False, shown="a.csv", size=1 << 12))
    assert b"".join(block.content for block in found[1:]) == row * 2
    assert [int(block.bounds()[0].size) for block in found[1:]] in ([1, 1], [2])
    assert len(reads) > 400


def test_what_came_with_the_header_is_used_before_more_is_waited_for() -> None:
    """A pipe may have no more for a long time."""
    parts = iter([b"a,b\n1,2\n"])
    found = blocks(lambda _: next(parts), delimiter=",", blank=False, shown="a.csv")
    assert [next(found).content, next(found).content] == [b"a,b\n", b"1,2\n"]


def test_a_wide_table_has_long_blocks() -> None:
    """So that names are not gone through once a row."""
    source = io.BytesIO(b"a," * 5000 + b"b\n" + b"1\n" * 50_000)
    sizes: list[int] = []

    def read(most: int) -> bytes:
        sizes.append(most)
        return source.read(most)

    list(blocks(read, delimiter=",", blank=False, shown="a.csv", size=1 << 12))
    assert max(sizes) == 16 * 10_002


def test_the_first_record_ends_outside_quotes() -> None:
    """A newline within quotes belongs to the field; a quote within a field without quotes is a letter."""
    assert first_record_end(b"a,b\nc", ",") == 4
    assert first_record_end(b'a,"b\nc"\nd', ",") == 8
    assert first_record_end(b'a 5",b\nc', ",") == 7
    assert first_record_end(BOM + b'"a\r",b\rc', ",") == 10
    assert first_record_end(b'a;"b\nc"\nd', ";") == 8
    assert first_record_end(b'a,"b\n', ",") is None
    assert first_record_end(b"a,b", ",") is None
    assert first_record_end(b"", ",") is None


def test_separators_within_quotes_are_text() -> None:
    """Also where a quote is a letter."""
    source = io.BytesIO(b'a,b\n5",1\n"x,y",2\n')
    _, block = blocks(source.read, delimiter=",", blank=False, shown="a.csv")
    assert np.array_equal(block.separators(), [2, 10])
