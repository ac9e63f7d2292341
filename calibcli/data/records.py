"""Whole records of CSV, found without taking them apart.

A record ends at a line end (a newline, or a carriage return with or without one) that no quotes enclose. A
quote opens where a field begins and closes where the field ends; within quotes it is written twice, and in a
field without quotes it is a letter like any other. Whatever else a quote does is refused with its line: from
there on nobody could say which line ends are those of rows.

Which bytes are quotes, separators and line ends is kept as bits, 64 to a word, so that the work on a block is
a fraction of what parsing it takes, however many quotes there are.
"""

import re
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from calibcli.errors import InputProblem
from calibcli.options.numerals import plural
from calibcli.stats.numerics import Booleans, Integers
from calibcli.values import dataclass

BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 20
_WIDEST_BLOCK = 1 << 25
# A file without line ends is no CSV, and is not read to its end to find that out.
LONGEST_HEADER = 1 << 24
# A row that is not at its end after so many bytes is waited for until there are twice as many.
_SHORT = 1 << 16
_LONGEST = 1 << 28
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
_LINE_END = re.compile(rb"\r\n?|\n")
_SOMETHING = re.compile(rb"[^\r\n]")
_TWICE = 'a quote within a quoted field is written twice, as in "5"" pipe", and not as \\"'
Bytes = npt.NDArray[np.uint8]
# A bit for each byte, the first one lowest.
Words = npt.NDArray[np.uint64]
_ONE, _LAST = np.uint64(1), np.uint64(63)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some whole records.

    Args:
        size: How many bytes are theirs, line ends included.
        edges: The quotes that begin and end text, by turns; none where there are no quotes.
        blank: Whether a blank line is a record.
        line: The number of the line that they begin on.
        most: How many lines end outside of quotes: as many as records, unless some are blank.
    """

    whole: bytes
    size: int
    edges: Words
    delimiter: str
    blank: bool
    line: int
    lines: int
    most: int

    @property
    def content(self) -> bytes:
        return self.whole[: self.size]

    @property
    def characters(self) -> Bytes:
        """The bytes of the records, without a copy."""
        return np.frombuffer(self.whole, np.uint8, self.size)

    @property
    def is_blank(self) -> bool:
        """Whether it holds nothing but line ends."""
        return _SOMETHING.search(self.whole, 0, self.size) is None

    def bounds(self) -> tuple[Integers, Integers]:
        """Return where each record begins, and where its fields end and its line end begins."""
        characters = self.characters
        last = self.outside(_line_ends(self))
        if not last.size or last[-1] + 1 < self.size:
            # The last line of a file may lack its line end.
            last = np.append(last, self.size)
        starts = np.concatenate(([0], last[:-1] + 1))
        at = np.minimum(last, self.size - 1)
        double = (characters[at] == _NEWLINE) & (characters[np.maximum(at - 1, 0)] == _RETURN)
        ends = last - (double & (last > starts) & (last == at))
        some = ends > starts
        return (starts, ends) if self.blank else (starts[some], ends[some])

    def outside(self, places: Integers) -> Integers:
        """Return those of some places that no quotes enclose."""
        return places[~_bits_at(_parity(self.edges), places)] if self.edges.size else places

    def separators(self) -> Integers:
        return self.outside(np.flatnonzero(self.characters == ord(self.delimiter)))

    def quoted_lines(self) -> "QuotedLines | None":
        """Return the lines that begin or end within quotes, or None where there are none."""
        if not self.edges.size:
            return None
        inside = _parity(self.edges)
        ends = _line_ends(self)
        quoted = np.concatenate(([False], _bits_at(inside, ends), [False]))
        line = np.flatnonzero(quoted[:-1] | quoted[1:])
        if not line.size:
            return None
        # A quote that is written twice closes and opens, and is one text with what is around it.
        opens, closes = self.edges & inside, self.edges & ~inside
        twice = (opens & _next_to(closes, 1)) | (closes & _next_to(opens, -1))
        around = self.edges & ~twice
        separators = _bits(self.characters == ord(self.delimiter))
        plain = separators & ~inside[: separators.size]
        starts, stops = np.concatenate(([0], ends + 1)), np.append(ends, self.size)
        passed = _counts(around, stops)
        text = (np.where(quoted[line], np.concatenate(([0], passed))[line], passed[line]) - 1) // 2
        between, outside = (np.diff(_counts(one, stops), prepend=0)[line] for one in (separators, plain))
        begins, stays = quoted[line], quoted[line + 1]
        return QuotedLines(starts[line], stops[line], text, between, outside, begins, stays, around)


@dataclass(frozen=True, slots=True, eq=False)
class QuotedLines:
    """Lines that begin or end within quotes.

    Args:
        stops: Where the last character of its line end stands.
        text: For each the number of the text in quotes that it is part of.
        outside: How many of them no quotes enclose.
        around: The quotes that open and close texts, by turns.
    """

    starts: Integers
    stops: Integers
    text: Integers
    separators: Integers
    outside: Integers
    begins: Booleans
    ends: Booleans
    around: Words

    def opening(self, text: int) -> int:
        """Return where the quote before a text is."""
        return int(_places(self.around)[2 * text])


def blocks(
    read: Callable[[int], bytes], *, delimiter: str, blank: bool, shown: str, size: int | None = None
) -> Iterator[Block]:
    """Cut a stream into the header, which is the first block, and blocks that end where a record ends."""
    size = size or _BLOCK
    content, line, header, wanted, ended = b"", 1, True, True, False
    while True:
        if not ended and (wanted or not content):
            content, ended = _longer(content, read, size)
        if not content:
            return
        edges = _edges(content, delimiter, line=line, shown=shown, header=header)
        plain = not edges.size and b"\r" not in content
        outside = ends = np.empty(0, np.uint64) if plain else _line_bits(content, ended=ended)
        if edges.size:
            inside = _parity(edges)
            if ended and _bits_at(inside, np.array([len(content) - 1]))[0]:
                raise _never_closed(content, int(_places(edges)[-1]), line, shown)
            outside = ends & ~inside
        if header:
            cut = (content.find(b"\n") if plain else _first_bit(outside)) + 1 or len(content) * ended
        elif ended:
            cut = len(content)
        else:
            cut = (content.rfind(b"\n") if plain else _last_bit(outside)) + 1
        # What came with the header is looked at before more is waited for.
        wanted = not (header and cut)
        if not cut:
            _refuse_endless(content, edges, line, shown)
            continue
        lines = _lines_in(content, cut, ends)
        rows = lines if outside is ends else _lines_in(content, cut, outside)
        yield Block(content, cut, edges, delimiter, blank, line, lines, rows)
        if header:
            size = max(size, min(cut << 4, _WIDEST_BLOCK))
            header = False
        line += lines
        content = content[cut:]


def first_record(head: bytes, more: Callable[[int], bytes], delimiter: str) -> bytes:
    """Return the beginning of a file, long enough for its first record, or for a header that is too long."""
    while first_record_end(head, delimiter) is None and len(head) < LONGEST_HEADER:
        # Twice as much each time, so that looking again costs no more than looking once.
        found = more(max(_SHORT, len(head)))
        if not found:
            break
        head += found
    return head


def first_record_end(head: bytes, delimiter: str) -> int | None:
    """Return where the first record ends, after its line end, or None; quoted text may span lines."""
    edges = _quoted(head, delimiter, len(BOM) * head.startswith(BOM))[0]
    ends = _line_bits(head, ended=True)
    return _first_bit(ends & ~_parity(edges) if edges.size else ends) + 1 or None


def lines_before(content: bytes, place: int) -> int:
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


def _lines_in(content: bytes, size: int, ends: Words) -> int:
    """Return how many lines some bytes have, by their line ends; the last may lack its own."""
    if ends.size:
        found = int(_counts(ends, np.array([size]))[0])
    else:
        found = int(np.count_nonzero(np.frombuffer(content, np.uint8, size) == _NEWLINE))
    return found + (content[size - 1] not in (_NEWLINE, _RETURN))


def _line_bits(content: bytes, *, ended: bool) -> Words:
    """Return the last character of every line end."""
    characters = np.frombuffer(content, np.uint8)
    newlines = _bits(characters == _NEWLINE)
    if b"\r" not in content:
        return newlines
    returns = characters == _RETURN
    if not ended:
        returns[-1:] = False
    alone = _bits(returns) & ~_next_to(newlines, -1)
    return newlines | alone


def _line_ends(block: Block) -> Integers:
    """Return the last character of every line end."""
    ends = block.characters == _NEWLINE
    # A search costs a tenth of a comparison of every byte.
    if block.whole.find(b"\r", 0, block.size) >= 0:
        returns = block.characters == _RETURN
        returns[:-1] &= ~ends[1:]
        ends |= returns
    return np.flatnonzero(ends)


def _bits(mask: Booleans) -> Words:
    """Return a bit for each byte."""
    packed = np.packbits(mask, bitorder="little")
    if packed.size % 8:
        packed = np.concatenate((packed, np.zeros(-packed.size % 8, np.uint8)))
    return packed.view(np.dtype("<u8")).astype(np.uint64, copy=False)


def _parity(words: Words) -> Words:
    """Return for each bit whether it and those before it are an odd number."""
    found = words.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        found ^= found << np.uint64(shift)
    # An odd number so far turns all bits of the word after it over.
    odd = np.bitwise_xor.accumulate(found >> _LAST)
    found[1:] ^= np.uint64(0) - odd[:-1]
    return found


def _next_to(words: Words, step: int) -> Words:
    """Return for each bit the one before it, or after it with a step of -1."""
    if step > 0:
        found = words << _ONE
        found[1:] |= words[:-1] >> _LAST
    else:
        found = words >> _ONE
        found[:-1] |= words[1:] << _LAST
    return found


def _bits_at(words: Words, places: Integers) -> Booleans:
    found: Booleans = (words[places >> 6] >> (places & 63).astype(np.uint64)) & _ONE == _ONE
    return found


def _counts(words: Words, places: Integers) -> Integers:
    """Return how many bits are set before each of some places."""
    whole = np.concatenate(([0], np.cumsum(np.bitwise_count(words), dtype=np.int64)))
    padded = np.append(words, np.uint64(0))
    part = padded[places >> 6] & ((_ONE << (places & 63).astype(np.uint64)) - _ONE)
    found: Integers = whole[places >> 6] + np.bitwise_count(part)
    return found


def _places(words: Words) -> Integers:
    """Return where bits are set."""
    return np.flatnonzero(np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), bitorder="little"))


def _first_bit(words: Words) -> int:
    """Return where the first bit is set, or -1."""
    word = int(np.argmax(words != 0)) if words.size else 0
    bits = int(words[word]) if words.size else 0
    return (word << 6) + (bits & -bits).bit_length() - 1 if bits else -1


def _last_bit(words: Words) -> int:
    """Return where the last bit is set, or -1."""
    word = words.size - 1 - int(np.argmax(words[::-1] != 0))
    bits = int(words[word])
    return (word << 6) + bits.bit_length() - 1 if bits else -1


def _edges(content: bytes, delimiter: str, *, line: int, shown: str, header: bool) -> Words:
    """Return where quoted text begins and ends by turns, having looked at every quote."""
    start = len(BOM) if header and content.startswith(BOM) else 0
    edges, fault = _quoted(content, delimiter, start)
    if fault is not None:
        raise _text_follows(content, *fault, line, shown)
    return edges


def _quoted(content: bytes, delimiter: str, start: int) -> tuple[Words, tuple[int, int] | None]:
    """Where quoted text begins and ends by turns, and the first quotes that close where no field ends."""
    if b'"' not in content:
        return np.empty(0, np.uint64), None
    characters = np.frombuffer(content, np.uint8)
    quotes = _bits(characters == _QUOTE)
    sides = quotes | _bits(characters == ord(delimiter)) | _bits(characters == _NEWLINE)
    if b"\r" in content:
        sides |= _bits(characters == _RETURN)
    before, after = _next_to(sides, 1), _next_to(sides, -1)
    # Either end of the text is an edge of a field too.
    before[start >> 6] |= _ONE << np.uint64(start & 63)
    last = characters.size - 1
    after[last >> 6] |= _ONE << np.uint64(last & 63)
    # Where every other quote opens a field and every other one ends it, pairs included, all is said.
    inside = _parity(quotes)
    if not ((quotes & inside & ~before) | (quotes & ~inside & ~after)).any():
        return quotes, None
    at_edge = np.zeros(256, np.bool_)
    at_edge[[ord(delimiter), _NEWLINE, _RETURN]] = True
    edges, fault = _by_runs(characters[start:], _places(quotes) - start, at_edge, start)
    found = np.zeros(characters.size, np.bool_)
    found[edges] = True
    return _bits(found), fault


def _by_runs(
    characters: Bytes, quotes: Integers, at_edge: Booleans, start: int
) -> tuple[Integers, tuple[int, int] | None]:
    """Return what `_quoted` does, for any quotes.

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
    more = len(content.splitlines()) - lines_before(content, opened) - 1
    lost = f": {plural(more, 'more line')} would be part of its field" if more else ""
    return InputProblem(
        f"{shown}: the quote that opens on line {first:,} is never closed{lost}",
        f"close it, or is the file cut short? {_TWICE}",
    )


def _refuse_endless(content: bytes, edges: Words, line: int, shown: str) -> None:
    if len(content) <= _LONGEST:
        return
    places = _places(edges)
    open_ = places.size % 2
    first = line + (lines_before(content, int(places[-1])) if open_ else 0)
    what = "the quote that opens there is not closed" if open_ else "the row does not end"
    msg = f"{shown}, line {first:,}: {what} within {_LONGEST >> 20} MiB"
    raise InputProblem(msg, "is it CSV? path:parquet or path:jsonl forces another format")
