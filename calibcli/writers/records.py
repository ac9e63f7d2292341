"""
Whole records of a CSV file, found without taking them apart.

A record ends at a newline that has an even number of quote characters before it. That holds if quotes stand
only around fields; where one stands inside an unquoted field the file is refused rather than guessed at.
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

        ends: Where the fields of each record end and its line end begins, shape (n_records,); blank lines
            are no records unless they were asked for.
    """

    content: bytes
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
        newlines = _record_newlines(content, delimiter, shown=shown)
        if not newlines.size:
            rest = content
            _refuse_endless(rest, shown)
            continue
        cut = int(newlines[-1]) + 1
        rest = content[cut:]
        yield _block(content[:cut], newlines, blank=blank)
    if rest:
        # The last line may lack its newline; if quotes are still open, that is no line end either way.
        if rest.count(b'"') % 2:
            raise _never_closed(shown)
        _record_newlines(rest, delimiter, shown=shown)
        yield Block(rest, np.array([len(rest) - rest.endswith(b"\r")]))


def _block(content: bytes, newlines: Positions, *, blank: bool) -> Block:
    characters = np.frombuffer(content, np.uint8)
    starts = np.concatenate(([0], newlines[:-1] + 1))
    returns = (newlines > starts) & (characters[np.maximum(newlines - 1, 0)] == _RETURN)
    ends = newlines - returns
    return Block(content, ends if blank else ends[ends > starts])


def _record_newlines(content: bytes, delimiter: str, *, shown: str) -> Positions:
    """Return the newlines that end records; `content` begins where a record does."""
    characters = np.frombuffer(content, np.uint8)
    newlines = np.flatnonzero(characters == _NEWLINE)
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
