"""JSON Lines with more keys in every object and every other byte as it was."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibcli.ahead import made_ahead
from calibcli.errors import InputProblem, UsageProblem
from calibcli.progress import Advance
from calibcli.table.score_table import Integers
from calibcli.writers.arrow import bytes_scalar, column_of, in_encoding, stretches, written
from calibcli.writers.json_text import json_column
from calibcli.writers.kept_keys import with_some_keys
from calibcli.writers.splice import Added, Write

_BRACE, _SPACE, _TAB, _RETURN, _NEWLINE = b"} \t\r\n"
_STEPS = 4
_SPACED = re.compile(rb'^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s')
_SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


@dataclass(frozen=True, slots=True)
class NewKeys:
    """
    The keys to add, and those that stay.

    Args:
        names: Names of the new ones.

        shown: The file's name in messages.

        encoding: How the file's text is encoded, which is ASCII where it looks so.

        kept: The keys that stay; None for all.
    """

    names: tuple[str, ...]
    shown: str
    encoding: str = "utf-8"
    kept: Collection[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """
    Some whole lines, and what is new in each object.

    Args:
        content: Their bytes.

        values: The new columns; none where no line holds an object.
    """

    content: bytes
    values: Added


def splice_keys(
    lines: Iterator[Lines],
    write: Write,
    *,
    keys: NewKeys,
    ahead: bool = False,
    advance: Advance = lambda _: None,
) -> int:
    """
    Copy JSON Lines and add keys to the end of every object.

    Args:
        lines: The file; its objects are known to be such.

        write: Takes the bytes of the new file.

        keys: The keys to add.

        ahead: Whether lines are read in a thread of their own; never where that may keep one waiting.

        advance: Told how many objects each block had.

    Returns:
        The number of objects.

    Raises:
        InputProblem: If lines and objects are not the same.

        UsageProblem: If an object has one of the keys already.
    """
    rows = 0
    spaced: bool | None = None
    for some in made_ahead(lines) if ahead else lines:
        if not some.values:
            write(some.content)
            continue
        starts, ends = _objects(some.content)
        if ends.size != len(some.values[0]):
            msg = f"{keys.shown}: {ends.size:,} lines hold {len(some.values[0]):,} objects"
            raise InputProblem(msg, "JSON Lines have one object on each line")
        if spaced is None:
            spaced = _SPACED.match(some.content, int(starts[0])) is not None
        _refuse_keys(some.content, keys, rows=rows)
        _write_lines(some, (starts, ends), write, keys=keys, spaced=spaced)
        rows += ends.size
        advance(ends.size)
    return rows


def _objects(content: bytes) -> tuple[Integers, Integers]:
    """Return where the line of each object begins and where its last brace stands."""
    characters = np.frombuffer(content, np.uint8)
    newlines = np.flatnonzero(characters == _NEWLINE)
    starts = np.concatenate(([0], newlines + 1))
    ends = np.concatenate((newlines, [characters.size]))
    for _ in range(_STEPS):
        last = characters[np.maximum(ends - 1, 0)]
        ends = ends - ((ends > starts) & ((last == _SPACE) | (last == _TAB) | (last == _RETURN)))
    for place in np.flatnonzero(characters[np.maximum(ends - 1, 0)] != _BRACE):
        start, end = int(starts[place]), int(ends[place])
        ends[place] = start + len(content[start:end].rstrip())
    some = ends > starts
    return starts[some], ends[some] - 1


def _write_lines(
    some: Lines, where: tuple[Integers, Integers], write: Write, *, keys: NewKeys, spaced: bool
) -> None:
    """Write stretches from one last brace to the next, with the new keys between them."""
    starts, ends = where
    colon, comma = (": ", ", ") if spaced else (":", ",")
    content, braces = some.content, ends
    bare: Any = None
    if keys.kept is not None:
        content, braces, empty = with_some_keys(
            content, starts, ends, kept=keys.kept, comma=comma, encoding=keys.encoding
        )
        bare = None if not empty.any() else pa.array(empty)
    parts: list[Any] = [stretches(np.concatenate(([0], braces)), content)]
    for place, (name, values) in enumerate(zip(keys.names, some.values, strict=True)):
        key = json.dumps(name, ensure_ascii=keys.encoding != "utf-8") + colon
        between: Any = bytes_scalar((comma + key).encode())
        if place == 0 and bare is not None:
            between = pc.if_else(bare, bytes_scalar(key.encode()), between)
        parts += [between, _text(column_of(values), keys)]
    write(written(pc.binary_join_element_wise(*parts, bytes_scalar(b""))))
    write(content[int(braces[-1]) :])


def _text(column: "pa.Array[Any]", keys: NewKeys) -> "pa.Array[Any]":
    """Return JSON text; where the file is not UTF-8, other letters than ASCII are escaped."""
    text = json_column(column)
    if keys.encoding == "utf-8" or not pa.types.is_string(column.type):
        return text
    return in_encoding(text, lambda one: json.dumps(json.loads(one)).encode())


def _refuse_keys(content: bytes, keys: NewKeys, *, rows: int) -> None:
    """Refuse an object that has one of the new keys already, however it is spelled there."""
    for name in keys.names:
        if keys.kept is not None and name not in keys.kept:
            continue
        pattern = None
        if f'"{name}"'.encode(keys.encoding, "replace") in content or b"\\" in content:
            pattern = re.compile(_spelled(name, keys.encoding))
        found = None if pattern is None else pattern.search(content)
        while pattern is not None and found is not None:
            start = content.rfind(b"\n", 0, found.start()) + 1
            end = content.find(b"\n", found.start())
            line = content[start : None if end < 0 else end]
            if name in json.loads(line.decode(keys.encoding)):
                row = rows + 1 + _objects_before(content[:start])
                msg = f"{keys.shown} has a key {name!r} already, at row {row:,}"
                raise UsageProblem(msg, "--name gives the new column another name")
            found = pattern.search(content, found.end())


def _objects_before(content: bytes) -> int:
    return int(_objects(content)[0].size) if content else 0


def _spelled(name: str, encoding: str) -> bytes:
    """Return a pattern for all ways in which JSON can spell a key."""
    return b'"' + b"".join(_letter(letter, encoding) for letter in name) + rb'"\s*:'


def _letter(letter: str, encoding: str) -> bytes:
    units = letter.encode("utf-16-be")
    escaped = [rb"\\u(?i:%04x)" % int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    ways: Iterable[bytes] = [b"".join(escaped)]
    if letter in _SHORT:
        ways = [*ways, re.escape("\\" + _SHORT[letter]).encode()]
    if letter not in '"\\' and letter >= " ":
        ways = [*ways, re.escape(letter.encode(encoding, "replace"))]
    return b"(?:" + b"|".join(ways) + b")"
