"""JSON Lines: columns as text, and objects with more keys and every other byte as it was."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from calibcli.data.arrays import (
    Column,
    booleans,
    bytes_scalar,
    column_of,
    in_encoding,
    is_plain_list,
    place_column,
    stretches,
    written,
)
from calibcli.data.values import names_of
from calibcli.data.writers import Output
from calibcli.data.writers.csv import Added, Write
from calibcli.errors import InputProblem, UsageProblem
from calibcli.stats.table import Booleans, Integers
from calibcli.values import dataclass

_TO_ESCAPE = r'[\x00-\x1f"\\]'

_CONTROLS = r"[\x00-\x1f]"

_WHOLE = r"^-?[0-9]+$"

_NOT_A_NUMBER = r"n"


def fits(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return fits(kind.storage_type)
    if isinstance(kind, pa.DictionaryType):
        return fits(kind.value_type)
    if pa.types.is_map(kind):
        pairs = cast("pa.MapType[Any, Any]", kind)
        return _is_text(pairs.key_type) and fits(pairs.item_type)
    if pa.types.is_struct(kind):
        return all(fits(field.type) for field in kind)
    if is_plain_list(kind):
        return fits(cast("pa.ListType[Any]", kind).value_type)
    return _is_text(kind) or _is_plain(kind)


def json_column(column: Column) -> Column:
    """Return the JSON text of each value, as bytes without nulls."""
    kind = column.type
    if isinstance(column, pa.ExtensionArray):
        return json_column(column.storage)
    if isinstance(column, pa.DictionaryArray):
        return _where_null(json_column(column.dictionary).take(column.indices))
    if pa.types.is_struct(kind):
        return _with_nulls(_objects(column), column)
    if pa.types.is_map(kind) or is_plain_list(kind):
        return _with_nulls(_lists(column), column)
    return _where_null(_flat(column))


def _flat(column: Column) -> Column:
    """Return the text of values that hold no others, null where they are."""
    kind = column.type
    if _is_text(kind):
        return _quoted(column.cast(pa.large_string()))
    if pa.types.is_floating(kind):
        return _floats(column.cast(pa.string()))
    if pa.types.is_duration(kind):
        # A number of ticks says nothing without their length.
        return _quoted(names_of(column))
    text = _bytes(column.cast(pa.string()))
    return text if not pa.types.is_temporal(kind) else _joined(bytes_scalar(b'"'), text, bytes_scalar(b'"'))


def joined_row(names: list[bytes], columns: list[Column], end: bytes = b"}\n") -> Column:
    """Return the text of each row, an object with a value for each name: a line unless it ends otherwise."""
    parts: list[Any] = []
    for place, (name, column) in enumerate(zip(names, columns, strict=True)):
        parts += [bytes_scalar(b"%s%s:" % (b"," if place else b"{", name)), column]
    return _joined(*parts, bytes_scalar(end))


def _objects(column: Any) -> Column:  # noqa: ANN401 - a column of structs
    if not column.type.num_fields:
        return _where_null(pa.nulls(len(column), pa.binary()), b"{}")
    keys = [json_key(field.name) for field in column.type]
    return joined_row(keys, [json_column(values) for values in column.flatten()], b"}")


def _lists(column: Any) -> Column:  # noqa: ANN401 - a column of lists or maps
    """Return lists as lists, and maps as objects."""
    kind = column.type
    is_map = pa.types.is_map(kind)
    if is_map:
        column = column.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
    inside = column.flatten()
    if is_map:
        keys, values = inside.flatten()
        texts = _joined(json_column(keys), bytes_scalar(b":"), json_column(values))
    else:
        texts = json_column(inside)
    lengths: Any = pc.list_value_length(column).cast(pa.int64())
    sizes = np.zeros(len(column), np.int64)
    present = booleans(column.is_valid())
    sizes[present] = np.from_dlpack(lengths.drop_null())
    offsets: Any = place_column(np.concatenate(([0], np.cumsum(sizes)))).cast(pa.int32())
    lists: Any = pa.ListArray.from_arrays(offsets, texts)
    inner = pc.binary_join(lists, bytes_scalar(b","))
    return _joined(bytes_scalar(b"{" if is_map else b"["), inner, bytes_scalar(b"}" if is_map else b"]"))


def json_key(name: str) -> bytes:
    return json.dumps(name, ensure_ascii=False).encode()


def _quoted(text: Column) -> Column:
    """Return text in quotes, escaped where it needs it."""
    if _any(pc.match_substring_regex(text, _TO_ESCAPE)):
        text = pc.replace_substring(text, "\\", "\\\\")
        text = pc.replace_substring(text, '"', '\\"')
        if _any(pc.match_substring_regex(text, _CONTROLS)):
            for control in range(32):
                text = pc.replace_substring(text, chr(control), f"\\u{control:04x}")
    return _joined(bytes_scalar(b'"'), _bytes(text), bytes_scalar(b'"'))


def _floats(text: Column) -> Column:
    """Return numbers with a point or an exponent; null where there is no number."""
    content = _bytes(text)
    whole = pc.match_substring_regex(text, _WHOLE)
    if _any(whole):
        content = pc.if_else(whole, _joined(content, bytes_scalar(b".0")), content)
    strange = pc.match_substring_regex(text, _NOT_A_NUMBER)
    return pc.if_else(strange, bytes_scalar(b"null"), content) if _any(strange) else content


def _any(mask: Column) -> bool:
    return bool(booleans(mask.drop_null()).any())


def _where_null(text: Column, content: bytes = b"null") -> Column:
    filled: Column = text.fill_null(bytes_scalar(content)) if text.null_count else text
    return filled


def _with_nulls(text: Column, column: Column) -> Column:
    """Return text with null where a column of nested values has none."""
    found: Column = pc.if_else(column.is_valid(), text, bytes_scalar(b"null")) if column.null_count else text
    return found


def _bytes(text: Column) -> Column:
    found: Column = text.cast(pa.binary())
    return found


def _joined(*parts: Any) -> Column:  # noqa: ANN401 - columns and scalars
    found: Column = pc.binary_join_element_wise(*parts, bytes_scalar(b""))
    return found


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether a type has numbers, truths or times that are text in one way."""
    return (
        pa.types.is_null(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind))
    )


# Text of so many bytes is made at once, as far as that can be told beforehand.
_MOST_BYTES = 1 << 25


def write_batches(batches: Iterable[pa.RecordBatch], out: Output) -> Iterator[int]:
    """Write record batches as JSON Lines, a key for each column."""
    names = [json_key(name) for name in out.schema.names]
    for whole in batches:
        some = max(1, whole.num_rows * _MOST_BYTES // max(1, whole.nbytes))
        for start in range(0, whole.num_rows, some):
            batch = whole.slice(start, some)
            out.target.write(written(joined_row(names, [json_column(column) for column in batch.columns])))
        yield whole.num_rows


_BLANK = re.compile(r"[ \t\n\r]*")

_DECODER = json.JSONDecoder()


def with_some_keys(
    content: bytes, starts: Integers, ends: Integers, *, kept: Collection[str], comma: str, encoding: str
) -> tuple[bytes, Integers, Booleans]:
    """Return lines whose objects have only some of their keys, and what stands between lines as it was."""
    if not kept:
        return _without_keys(content, starts, ends)
    pieces: list[bytes] = []
    lengths: list[int] = []
    empty: list[bool] = []
    before = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        text = content[start : end + 1].decode(encoding)
        found = comma.join(pair for key, pair in _pairs(text) if key in kept)
        piece = content[before:start] + ("{" + found).encode(encoding)
        pieces.append(piece)
        lengths.append(len(piece))
        empty.append(not found)
        before = end
    pieces.append(content[before:])
    return b"".join(pieces), np.cumsum(lengths, dtype=np.int64), np.array(empty)


def _without_keys(content: bytes, starts: Integers, ends: Integers) -> tuple[bytes, Integers, Booleans]:
    """Return empty objects, which need not be looked into."""
    between = stretches(np.column_stack((np.concatenate(([0], ends[:-1])), starts)).reshape(-1), content)
    pieces: Any = between.take(place_column(2 * np.arange(starts.size)))
    opened = _joined(pieces, bytes_scalar(b"{"))
    braces = np.cumsum(starts - np.concatenate(([0], ends[:-1])) + 1)
    return bytes(written(opened)) + content[int(ends[-1]) :], braces, np.ones(starts.size, np.bool_)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """Yield each key of an object that is known to be one, and the text of the key and its value."""
    at = _after_blank(text, text.index("{") + 1)
    while text[at] == '"':
        start = at
        key, at = _DECODER.raw_decode(text, at)
        at = _after_blank(text, _after_blank(text, at) + 1)
        _, at = _DECODER.raw_decode(text, at)
        yield key, text[start:at]
        at = _after_blank(text, at)
        if text[at] == ",":
            at = _after_blank(text, at + 1)


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


_OPEN, _BRACE, _SPACE, _TAB, _RETURN, _NEWLINE = b"{} \t\r\n"

_STEPS = 4

_SPACED = re.compile(rb'^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s')

_SHORT = {'"': '"', "\\": "\\", "/": "/", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


@dataclass(frozen=True, slots=True)
class NewKeys:
    """The keys to add, and those that stay.

    Args:
        encoding: How the file's text is encoded, which is ASCII where it looks so.
        kept: The keys that stay; None for all.
    """

    names: tuple[str, ...]
    shown: str
    encoding: str = "utf-8"
    kept: Collection[str] | None = None


def splice_keys(lines: Iterable[tuple[bytes, Added]], write: Write, *, keys: NewKeys) -> Iterator[int]:
    """Copy JSON Lines and add keys to the end of every object; yield how many objects were written.

    With whole lines come the new columns of their objects; none where no line holds an object.
    """
    rows = 0
    spaced: bool | None = None
    for content, values in lines:
        if not values:
            write(content)
            continue
        starts, ends = _whole_objects(content)
        if ends.size != len(values[0]):
            msg = f"{keys.shown}: {ends.size:,} lines hold {len(values[0]):,} objects"
            raise InputProblem(msg, "JSON Lines have one object on each line")
        if spaced is None:
            spaced = _SPACED.match(content, int(starts[0])) is not None
        _refuse_keys(content, keys, rows=rows)
        _write_lines(content, values, (starts, ends), write, keys=keys, spaced=spaced)
        rows += ends.size
        yield ends.size


def _whole_objects(content: bytes) -> tuple[Integers, Integers]:
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
    content: bytes,
    values: Added,
    where: tuple[Integers, Integers],
    write: Write,
    *,
    keys: NewKeys,
    spaced: bool,
) -> None:
    """Write stretches from one last brace to the next, with the new keys between them."""
    starts, ends = where
    colon, comma = (": ", ", ") if spaced else (":", ",")
    if keys.kept is None:
        braces, empty = ends, _without_a_key(content, starts, ends)
    else:
        content, braces, empty = with_some_keys(
            content, starts, ends, kept=keys.kept, comma=comma, encoding=keys.encoding
        )
    bare: Any = pa.array(empty) if empty.any() else None
    parts: list[Any] = [stretches(np.concatenate(([0], braces)), content)]
    for place, (name, column) in enumerate(zip(keys.names, values, strict=True)):
        key = json.dumps(name, ensure_ascii=keys.encoding != "utf-8") + colon
        between: Any = bytes_scalar((comma + key).encode())
        if place == 0 and bare is not None:
            between = pc.if_else(bare, bytes_scalar(key.encode()), between)
        parts += [between, _text(column_of(column), keys)]
    write(written(_joined(*parts)))
    write(content[int(braces[-1]) :])


def _without_a_key(content: bytes, starts: Integers, ends: Integers) -> Booleans:
    """Return which objects are empty: before their last brace stands the first one, and perhaps blanks."""
    before = np.frombuffer(content, np.uint8)[ends - 1]
    empty: Booleans = before == _OPEN
    for place in np.flatnonzero((before == _SPACE) | (before == _TAB)).tolist():
        empty[place] = content[int(starts[place]) : int(ends[place])].rstrip().endswith(b"{")
    return empty


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
            # In all ways in which JSON can spell a key.
            letters = b"".join(_letter(letter, keys.encoding) for letter in name)
            pattern = re.compile(b'"' + letters + rb'"\s*:')
        found = None if pattern is None else pattern.search(content)
        while pattern is not None and found is not None:
            start = content.rfind(b"\n", 0, found.start()) + 1
            end = content.find(b"\n", found.start())
            line = content[start : None if end < 0 else end]
            if name in json.loads(line.decode(keys.encoding)):
                row = rows + 1 + (_whole_objects(content[:start])[0].size if start else 0)
                msg = f"{keys.shown} has a key {name!r} already, at row {row:,}"
                raise UsageProblem(msg, "--name gives the new column another name")
            found = pattern.search(content, found.end())


def _letter(letter: str, encoding: str) -> bytes:
    units = letter.encode("utf-16-be")
    escaped = [rb"\\u(?i:%04x)" % int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)]
    ways: Iterable[bytes] = [b"".join(escaped)]
    if letter in _SHORT:
        ways = [*ways, re.escape("\\" + _SHORT[letter]).encode()]
    if letter not in '"\\' and letter >= " ":
        ways = [*ways, re.escape(letter.encode(encoding, "replace"))]
    return b"(?:" + b"|".join(ways) + b")"
