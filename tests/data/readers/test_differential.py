"""Thousands of odd files, read here and by other readers: the same rows, or exit 3 with the cause."""

import csv
import io
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from calibcli.data import records
from calibcli.data.fragments import columns_of, list_fragments
from calibcli.data.readers import jsonl, reader_of
from calibcli.errors import InputProblem
from calibcli.options.rows import Columns, InputFormat
from command_line import CHURN, ROOT
from doors import ended
from odd_files import DUCKDB, PYTHON, Found, Odd, by_others, number, odd_file, unpacked

PLATT = ROOT / "tests" / "documents" / "frozen" / "platt.json"
# How many files of each kind; a few with every run, and all with the slow tests.
KINDS = {"csv": 4000, "jsonl": 2000, "arrow": 400, "arrows": 400, "parquet": 400, "npz": 400}
FEW = 36
PARTS = 10
# What calibcli refuses though it is CSV to the letter, and every reader reads it.
_LOOKS = re.compile(r"the text in quotes that opens on line [\d,]+ holds [\d,]+ lines? that looks? like")
_CAUSES = (
    r"\b(line|lines|row) [\d,]+",
    "the header",
    "cannot be read",
    "is not",
    "column '",
    "empty",
    "no row has",
    "holds",
)
_WHERE = re.compile("|".join(_CAUSES))


class _Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, as pipes do."""

    def __init__(self, content: bytes, draw: random.Random) -> None:
        self._source, self._draw = io.BytesIO(content), draw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._source.read(min(len(buffer), self._draw.choice([1, 7, 100, 5000])))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def ours(odd: Odd, path: str) -> Found:
    """Return the scores and labels that the reader gives.

    Raises:
        InputProblem: If it refuses the file.
    """
    said = InputFormat(delimiter=odd.delimiter) if odd.names else InputFormat()
    rows: Found = []
    for fragment in list_fragments([path], input_format=said):
        resolved = columns_of(fragment, Columns("score", "label"))
        for batch in reader_of(fragment).batches(resolved):
            columns = (batch.column(name).to_pylist() for name in ("score", "label"))
            rows += [(number(score), number(label)) for score, label in zip(*columns, strict=True)]
    return rows


def checked(odd: Odd, folder: Path, came: "Counter[str]", *, command: bool) -> None:
    """Read a file here and elsewhere, and count what came of it here and there."""
    path = folder / odd.name
    path.write_bytes(odd.packed)
    others = by_others(odd, folder / f"unpacked.{odd.ending}")
    expected = others.get(PYTHON)
    found: Found = None
    try:
        found = ours(odd, str(path))
    except InputProblem as problem:
        _check_refusal(odd, path, problem.message, others)
    except ValueError as error:
        # Text that is no number stands where a label is: so it came, and so others have it.
        if "could not convert" not in str(error) or expected is not None:
            raise
        return
    if found is not None:
        assert odd.whole
        assert unpacked(odd) is not None
        for name, rows in others.items():
            assert rows is None or rows == found or _known(name, odd), name
        # Where nobody else agrees, nobody says that it is right.
        assert not others or any(rows == found for rows in others.values())
    if command:
        _check_commands(odd, path, found)
    came["refused" if found is None else "read"] += 1
    for name, rows in others.items():
        same = "refuses as well" if found is None else "agrees"
        other = "reads" if found is None else "refuses" if rows is None else "differs"
        came[f"{name} {same if rows == found else other}"] += 1


def _check_refusal(odd: Odd, path: Path, message: str, others: dict[str, Found]) -> None:
    """Hold a refusal to its promises, and allow none of what is in order."""
    assert path.name in message
    assert _WHERE.search(message), message
    if odd.names or odd.ending == "jsonl":
        allowed = not odd.whole or "bz2: empty member" in odd.traps or not others.get(PYTHON)
    else:
        allowed = bool(odd.traps)
    assert allowed or _LOOKS.search(message), message


def _known(name: str, odd: Odd) -> bool:
    """Whether a reader is known to see such a file otherwise: it passes over blanks before a quote."""
    return name == DUCKDB and re.search(rb'(^|[,;\t\r\n]) +"', odd.content) is not None


def _check_commands(odd: Odd, path: Path, found: Found) -> None:
    """Hold `measure` to the rows that were read, and `apply` to rows that are as many for Python."""
    said = ["--delimiter", "tab" if odd.delimiter == "\t" else odd.delimiter] if odd.names else []
    ran = ended("measure", path, *said, *CHURN, "--metric", "brier", "--on-missing", "drop", "--json")
    assert ran.code in (0, 3)
    if ran.code == 0:
        used = ran.document["input"]
        assert found is not None
        assert used["rows"] + used["dropped"] == len(found)
    out = path.with_name("out.csv")
    ran = ended("apply", PLATT, path, *said, "-s", "score", "-q", "--force", "-o", out)
    assert ran.code in (0, 2, 3)
    if ran.code == 0:
        text = io.StringIO(out.read_text("utf-8-sig"), newline="")
        delimiter = "," if odd.ending != "csv" else odd.delimiter
        header, *rows = (row for row in csv.reader(text, delimiter=delimiter, strict=True) if row)
        if found is None:
            # A header that was cut before the label is refused by what needs it alone.
            assert "label" not in header
            return
        assert [number(row[header.index("score")]) for row in rows] == [score for score, _ in found]


def campaign(
    kind: str, seeds: range, folder: Path, monkeypatch: pytest.MonkeyPatch, *, often: int
) -> Counter[str]:
    """Check files of a kind in blocks of many sizes, some through a pipe; return what came of them."""
    came: Counter[str] = Counter()
    for seed in seeds:
        draw = random.Random(seed)  # noqa: S311 - no secret
        odd = odd_file(seed, kind)
        with monkeypatch.context() as patched:
            patched.setattr(records, "_BLOCK", draw.choice([1, 16, 100, 1000, 1 << 20]))
            patched.setattr(jsonl, "_BLOCK", draw.choice([16, 100, 1000, 1 << 21]))
            patched.setattr(jsonl, "_HEAD", draw.choice([16, 1000, 1 << 18]))
            try:
                checked(odd, folder, came, command=seed % often == 0)
                came["through a pipe"] += _same_through_a_pipe(odd, folder, patched, draw)
            except Exception as error:
                error.add_note(f"file {seed} of {kind}: {', '.join(odd.traps)}; {odd.packed[:2000]!r}")
                raise
    return came


def _same_through_a_pipe(odd: Odd, folder: Path, patched: pytest.MonkeyPatch, draw: random.Random) -> bool:
    """Read some files again through a pipe, which must make no difference."""
    if draw.random() < 0.7:
        return False
    read: list[Found] = []
    forced = "arrow" if odd.ending == "arrows" else odd.ending
    for path in (f"{folder / odd.name}:{forced}", f"-:{forced}"):
        patched.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(_Trickle(odd.packed, draw))))
        try:
            read.append(ours(odd, path))
        except (InputProblem, ValueError):
            read.append(None)
    assert read[0] == read[1]
    return True


@pytest.mark.untraced
@pytest.mark.parametrize("kind", KINDS)
def test_odd_files_give_the_rows_of_other_readers(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python, pandas, DuckDB, pyarrow and numpy by themselves: as many rows of the same values, or exit 3."""
    few = FEW if kind in ("csv", "jsonl") else 10
    came = campaign(kind, range(few), tmp_path, monkeypatch, often=12)
    assert min(came["read"], came["refused"]) > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_odd_files_give_the_rows_of_other_readers(
    kind: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above, with other seeds."""
    number_of = KINDS[kind] // PARTS
    first = 1000 + part * number_of
    came = campaign(kind, range(first, first + number_of), tmp_path, monkeypatch, often=5)
    assert min(came["read"], came["refused"]) > number_of // 10
