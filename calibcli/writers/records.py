"""
Whole records of a CSV file, found without taking them apart.

A record ends at a line end - a newline, or a carriage return without one - that has an even number of quote
characters before it. That holds if quotes stand only around fields; where one stands inside an unquoted field
the file is refused rather than guessed at.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem

_BLOCK = 1 << 21
_LONGEST = 1 << 28
_BOM = b"\xef\xbb\xbf"
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """
    Some whole records.

    Args:
        content: Their bytes, line ends included.

        starts: Where each record begins, shape (n_records,).

        ends: Where the fields of each record end and its line end begins, shape (n_records,); blank lines
            are no records unless they were asked for.
    """

    content: bytes
    starts: Positions
    ends: Positions


def blocks(read: Callable[[int], bytes], *, delimiter: str, blank: bool, shown: str) -> Iterator[Block]:
    """
    Cut a stream into blocks that end where a record ends.

    Args:
        read: Returns up to so many bytes of the stream, and none at its end.

        delimiter: What separates fields.

        blank: Whether a blank line is a record.

        shown: The file's name in messages.

    Raises:
        InputProblem: If a quote stands where none can, or is never closed.
    """
    rest = b""
    while chunk := read(_BLOCK):
        content = rest + chunk
        last = _record_lasts(content, delimiter, shown=shown)
        if not last.size:
            rest = content
            _refuse_endless(rest, shown)
            continue
        cut = int(last[-1]) + 1
        rest = content[cut:]
        yield _block(content[:cut], last, blank=blank)
    if rest:
        # The last line may lack its line end; if quotes are still open, there is none either way.
        if rest.count(b'"') % 2:
            raise _never_closed(shown)
        _record_lasts(rest, delimiter, shown=shown)
        end = len(rest) - rest.endswith(b"\r")
        found = [end] if end or blank else []
        yield Block(rest, np.zeros(len(found), np.int64), np.array(found, np.int64))


def _block(content: bytes, last: Positions, *, blank: bool) -> Block:
    """Return a block of records that each end with the character at `last`."""
    characters = np.frombuffer(content, np.uint8)
    starts = np.concatenate(([0], last[:-1] + 1))
    double = (characters[last] == _NEWLINE) & (characters[np.maximum(last - 1, 0)] == _RETURN)
    ends = last - (double & (last > starts))
    some = ends > starts
    return Block(content, starts, ends) if blank else Block(content, starts[some], ends[some])


def _record_lasts(content: bytes, delimiter: str, *, shown: str) -> Positions:
    """
    Return the last characters of the line ends that end records.

    Args:
        content: Text that begins where a record does. A carriage return at its very end is left alone, since
            a newline may follow.

        delimiter: What separates fields.

        shown: The file's name in messages.
    """
    characters = np.frombuffer(content, np.uint8)
    newlines = characters == _NEWLINE
    if b"\r" in content and content.count(b"\r", 0, len(content) - 1) > content.count(b"\r\n"):
        newlines[:-1] |= (characters[:-1] == _RETURN) & ~newlines[1:]
    return _outside_quotes(np.flatnonzero(newlines), content, delimiter, shown=shown)


def separators(block: Block, delimiter: str) -> Positions:
    """Return where fields of some records are separated."""
    characters = np.frombuffer(block.content, np.uint8)
    found = np.flatnonzero(characters == ord(delimiter))
    if b'"' not in block.content:
        return found
    outside: Positions = found[np.searchsorted(np.flatnonzero(characters == _QUOTE), found) % 2 == 0]
    return outside


def _outside_quotes(newlines: Positions, content: bytes, delimiter: str, *, shown: str) -> Positions:
    """Return those of some line ends that no quotes enclose."""
    characters = np.frombuffer(content, np.uint8)
    if b'"' not in content:
        return newlines
    quotes = np.flatnonzero(characters == _QUOTE)
    opening = quotes[0::2]
    before = characters[np.maximum(opening - 1, 0)]
    start = len(_BOM) if content.startswith(_BOM) else 0
    allowed = (opening == start) | np.isin(before, [ord(delimiter), _NEWLINE, _RETURN, _QUOTE])
    if not allowed.all():
        raise _stray(content, int(opening[np.argmin(allowed)]), shown)
    outside: Positions = newlines[np.searchsorted(quotes, newlines) % 2 == 0]
    return outside


def _refuse_endless(rest: bytes, shown: str) -> None:
    if len(rest) > _LONGEST:
        raise _never_closed(shown)


def _never_closed(shown: str) -> InputProblem:
    msg = f"{shown}: a quote is opened and never closed"
    return InputProblem(msg, "rewrite the file with a CSV library, or export it as Parquet")


def _stray(content: bytes, position: int, shown: str) -> InputProblem:
    near = content[max(0, position - 20) : position + 20].decode("utf-8", "replace")
    msg = f"{shown}: a quote stands inside an unquoted field, near {near!r}"
    return InputProblem(msg, "rewrite the file with a CSV library, or export it as Parquet")
