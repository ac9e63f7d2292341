"""
Whole records of CSV, found without taking them apart.

A record ends at a line end (a newline, or a carriage return with or without one) that no quotes enclose. A
quote opens where a field begins and closes where the field ends; within quotes it is written twice, and in a
field without quotes it is a letter like any other. Whatever else a quote does is refused with its line: from
there on nobody could say which line ends are those of rows.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem

BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 20
_WIDEST_BLOCK = 1 << 25
# A row that is not at its end after so many bytes is waited for until there are twice as many.
_SHORT = 1 << 16
_LONGEST = 1 << 28
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
_LINE_END = re.compile(rb"\r\n?|\n")
_SOMETHING = re.compile(rb"[^\r\n]")
_TWICE = 'a quote within a quoted field is written twice, as in "5"" pipe", and not as \\"'
Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """
    Some whole records.

    Args:
        whole: Bytes that begin with them.

        size: How many bytes are theirs, line ends included.

        edges: Where quoted text begins and ends by turns.

        delimiter: What separates fields.

        blank: Whether a blank line is a record.

        line: The number of the line that they begin on.

        lines: How many lines they have: as many as records, unless some are blank or end within quotes.
    """

    whole: bytes
    size: int
    edges: Positions
    delimiter: str
    blank: bool
    line: int
    lines: int

    @property
    def content(self) -> bytes:
        """The bytes of the records."""
        return self.whole[: self.size]

    @property
    def characters(self) -> Bytes:
        """The bytes of the records, without a copy."""
        return np.frombuffer(self.whole, np.uint8, self.size)

    @property
    def is_blank(self) -> bool:
        """Whether it holds nothing but line ends."""
        return _SOMETHING.search(self.whole, 0, self.size) is None

    def line_ends(self) -> tuple[Positions, Positions]:
        """Return the last character of every line end, and how many edges of quoted text come before it."""
        ends = _line_ends(self.characters)
        return ends, np.searchsorted(self.edges, ends)

    def bounds(self, found: tuple[Positions, Positions] | None = None) -> tuple[Positions, Positions]:
        """
        Return where each record begins, and where its fields end and its line end begins.

        Args:
            found: The line ends, where they are known already.
        """
        characters = self.characters
        ends, before = found or self.line_ends()
        last = ends[before % 2 == 0]
        if not last.size or last[-1] + 1 < self.size:
            # The last line of a file may lack its line end.
            last = np.append(last, self.size)
        starts = np.concatenate(([0], last[:-1] + 1))
        at = np.minimum(last, self.size - 1)
        double = (characters[at] == _NEWLINE) & (characters[np.maximum(at - 1, 0)] == _RETURN)
        ends = last - (double & (last > starts) & (last == at))
        some = ends > starts
        return (starts, ends) if self.blank else (starts[some], ends[some])

    def separators(self) -> Positions:
        """Return where the fields of the records are separated."""
        found = np.flatnonzero(self.characters == ord(self.delimiter))
        return found[np.searchsorted(self.edges, found) % 2 == 0] if self.edges.size else found


def blocks(
    read: Callable[[int], bytes], *, delimiter: str, blank: bool, shown: str, size: int | None = None
) -> Iterator[Block]:
    """
    Cut a stream into the header, which is the first block, and blocks that end where a record ends.

    Args:
        read: Returns up to so many bytes of the stream, and none at its end.

        delimiter: What separates fields.

        blank: Whether a blank line is a record.

        shown: The file's name in messages.

        size: About how many bytes a block has; those of a wide table have more.

    Raises:
        InputProblem: If a quote is never closed, or closes where no field ends.
    """
    size = size or _BLOCK
    content, line, header, wanted, ended = b"", 1, True, True, False
    while True:
        if not ended and (wanted or not content):
            content, ended = _longer(content, read, size)
        if not content:
            return
        edges = _edges(content, delimiter, line=line, shown=shown, header=header)
        if ended and edges.size % 2:
            raise _never_closed(content, int(edges[-1]), line, shown)
        if header:
            cut = _first_end(content, edges, ended=ended) or 0
        else:
            cut = len(content) if ended else _last_end(content, edges)
        # What came with the header is looked at before more is waited for.
        wanted = not (header and cut)
        if not cut:
            _refuse_endless(content, edges, line, shown)
            continue
        lines = _line_count(content, cut)
        inside = edges[: int(np.searchsorted(edges, cut))]
        yield Block(content, cut, inside, delimiter, blank, line, lines)
        if header:
            size = max(size, min(cut << 4, _WIDEST_BLOCK))
            header = False
        line += lines
        content = content[cut:]


def first_record_end(head: bytes, delimiter: str) -> int | None:
    """Return where the first record ends, after its line end, or None; quoted text may span lines."""
    return _first_end(
        head, _quoted(head, delimiter, len(BOM) * head.startswith(BOM))[0], ended=True, least=True
    )


def lines_before(content: bytes, place: int) -> int:
    """Return how many lines end before a place."""
    return len(_LINE_END.findall(content, 0, place))


def _longer(rest: bytes, read: Callable[[int], bytes], size: int) -> tuple[bytes, bool]:
    """Return a beginning with more of the stream, and whether the stream has ended."""
    # Twice as long as before where that is long, so that looking again costs no more than looking once.
    wanted = len(rest) if len(rest) > _SHORT else 1
    parts, got = [rest], 0
    while got < wanted:
        chunk = read(max(size, wanted - got))
        if not chunk:
            return b"".join(parts), True
        parts.append(chunk)
        got += len(chunk)
    return b"".join(parts), False


def _first_end(content: bytes, edges: Positions, *, ended: bool, least: bool = False) -> int | None:
    """
    Return where the first record ends, after its line end.

    Args:
        content: The beginning of a file.

        edges: Where quoted text begins and ends by turns.

        ended: Whether the file ends here.

        least: Whether a record that only the end of the content ends has no end.
    """
    for found in _LINE_END.finditer(content):
        if np.searchsorted(edges, found.start()) % 2 == 0:
            # A newline may follow a carriage return.
            cut = not ended and found.end() == len(content) and content.endswith(b"\r")
            return None if cut else found.end()
    return len(content) if ended and not least else None


def _last_end(content: bytes, edges: Positions) -> int:
    """Return where the last record that is whole ends, after its line end, or 0."""
    place = len(content)
    while (place := content.rfind(b"\n", 0, place)) >= 0:
        quotes = int(np.searchsorted(edges, place))
        if quotes % 2 == 0:
            return place + 1
        place = int(edges[quotes - 1])
    if b"\r" not in content:
        return 0
    # After a carriage return at the very end a newline may follow.
    returns = np.flatnonzero(np.frombuffer(content, np.uint8)[:-1] == _RETURN)
    outside = returns[np.searchsorted(edges, returns) % 2 == 0]
    return int(outside[-1]) + 1 if outside.size else 0


def _line_ends(characters: Bytes) -> Positions:
    """Return the last character of every line end."""
    ends = characters == _NEWLINE
    returns = characters == _RETURN
    if returns.any():
        returns[:-1] &= ~ends[1:]
        ends |= returns
    return np.flatnonzero(ends)


def _line_count(content: bytes, size: int) -> int:
    """Return how many lines some bytes have; the last one may lack its line end."""
    characters = np.frombuffer(content, np.uint8, size)
    if content.find(b"\r", 0, size) < 0:
        found = int(np.count_nonzero(characters == _NEWLINE))
    else:
        found = _line_ends(characters).size
    return found + (characters[-1] not in (_NEWLINE, _RETURN))


def _edges(content: bytes, delimiter: str, *, line: int, shown: str, header: bool) -> Positions:
    """Return where quoted text begins and ends by turns, having looked at every quote."""
    if b'"' not in content:
        return np.empty(0, np.int64)
    start = len(BOM) if header and content.startswith(BOM) else 0
    edges, fault = _quoted(content, delimiter, start)
    if fault is not None:
        raise _text_follows(content, *fault, line, shown)
    return edges


def _quoted(content: bytes, delimiter: str, start: int) -> tuple[Positions, tuple[int, int] | None]:
    """
    Return where quoted text begins and ends by turns, and the first quotes that close where no field ends.

    Args:
        content: Text that begins where a record does.

        delimiter: What separates fields.

        start: Where the first field begins: after a byte order mark.
    """
    characters = np.frombuffer(content, np.uint8)[start:]
    quotes = np.flatnonzero(characters == _QUOTE)
    at_edge = np.zeros(256, np.bool_)
    at_edge[[ord(delimiter), _NEWLINE, _RETURN]] = True
    at_edge_or_quote = at_edge.copy()
    at_edge_or_quote[_QUOTE] = True
    # Where every other quote opens a field and every other one ends it, pairs included, all is said: at
    # either end of the text a quote stands beside itself.
    before = characters[np.maximum(quotes[0::2] - 1, 0)]
    after = characters[np.minimum(quotes[1::2] + 1, characters.size - 1)]
    if at_edge_or_quote[before].all() and at_edge_or_quote[after].all():
        return quotes + start, None
    return _by_runs(characters, quotes, at_edge, start)


def _by_runs(
    characters: Bytes, quotes: Positions, at_edge: npt.NDArray[np.bool_], start: int
) -> tuple[Positions, tuple[int, int] | None]:
    """
    Return what `_quoted` does, for any quotes.

    Quotes side by side are a run. At the edge of a field a run of odd length opens a field or closes one;
    elsewhere it closes one if one is open, and else is text. A run of even length changes nothing. So a place
    is within quotes if an odd number of odd runs at edges came since the last odd run elsewhere.
    """
    first = np.flatnonzero(np.concatenate(([True], np.diff(quotes) != 1)))
    begin = quotes[first]
    length = np.diff(np.append(first, quotes.size))
    end = begin + length - 1
    edge = (begin == 0) | at_edge[characters[np.maximum(begin - 1, 0)]]
    odd = length % 2 == 1
    turns = np.cumsum(edge & odd)
    reset = np.maximum.accumulate(np.where(odd & ~edge, np.arange(first.size), -1))
    open_after = (turns - np.where(reset >= 0, turns[reset], 0)) % 2 == 1
    open_before = np.concatenate(([False], open_after[:-1]))
    opens, closes = open_after & ~open_before, open_before & ~open_after
    edges = np.where(opens, begin, end)[opens | closes] + start
    closing = closes | (edge & ~odd & ~open_before)
    follows = np.minimum(end + 1, characters.size - 1)
    wrong = np.flatnonzero(closing & ~at_edge[characters[follows]] & (end + 1 < characters.size))
    if not wrong.size:
        return edges, None
    run = int(wrong[0])
    opened = int(begin[np.flatnonzero(opens[:run])[-1]]) if closes[run] else int(begin[run])
    return edges, (opened + start, int(end[run]) + start)


def _text_follows(content: bytes, opened: int, closed: int, line: int, shown: str) -> InputProblem:
    first, last = line + lines_before(content, opened), line + lines_before(content, closed)
    near = content[max(0, closed - 20) : closed + 20].decode("utf-8", "replace")
    if first == last:
        msg = f"{shown}, line {first:,}: text follows a closing quote, near {near!r}"
    else:
        where = f"the quote that opens on line {first:,} closes on line {last:,}"
        msg = f"{shown}: {where}, and text follows it there, near {near!r}"
    return InputProblem(msg, f"close each quote where its field ends; {_TWICE}")


def _never_closed(content: bytes, opened: int, line: int, shown: str) -> InputProblem:
    first = line + lines_before(content, opened)
    more = _line_count(content, len(content)) - lines_before(content, opened) - 1
    lost = f": {more:,} more line{'s' * (more != 1)} would be part of its field" if more else ""
    return InputProblem(
        f"{shown}: the quote that opens on line {first:,} is never closed{lost}",
        f"close it, or is the file cut short? {_TWICE}",
    )


def _refuse_endless(content: bytes, edges: Positions, line: int, shown: str) -> None:
    if len(content) <= _LONGEST:
        return
    first = line + (lines_before(content, int(edges[-1])) if edges.size % 2 else 0)
    what = "the quote that opens there is not closed" if edges.size % 2 else "the row does not end"
    msg = f"{shown}, line {first:,}: {what} within {_LONGEST >> 20} MiB"
    raise InputProblem(msg, "is it CSV? path:parquet or path:jsonl forces another format")
