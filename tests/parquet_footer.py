"""Footers and page headers of Parquet taken apart and put together: Thrift's compact protocol as lists."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_TRUE, _FALSE, _BYTE, _I16, _I64, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 4, 6, 7, 8, 9, 10, 12
# Fields of a footer, of a row group, of a column chunk and of what it says of itself.
NUM_ROWS, ROW_GROUPS, GROUP_COLUMNS, GROUP_ROWS, CHUNK = 3, 4, 1, 3, 3
CHUNK_TYPE, CHUNK_VALUES, CHUNK_STATISTICS = 1, 5, 12
Struct = list[list[Any]]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A number, a boolean or bytes in a struct.

    Args:
        path: Numbers of the fields that lead to it, and places in lists as negative numbers from -1 on.

        kind: Its type in the protocol.

        holder: The list that it is in.

        place: Where in that list.
    """

    path: tuple[int, ...]
    kind: int
    holder: list[Any]
    place: int

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.holder[self.place]

    def put(self, value: object) -> None:
        """Put something else there."""
        self.holder[self.place] = value

    def others(self) -> list[Any]:
        """Return what could stand there instead."""
        value = self.value
        if self.kind in (_TRUE, _FALSE):
            return [not value]
        if self.kind == _BINARY:
            return (
                [bytes([value[0] ^ 1]) + value[1:], value[:-1] + bytes([value[-1] ^ 0x41])] if value else []
            )
        if self.kind == _DOUBLE:
            return []
        numbers = (
            (value - 1, value + 1, 0, 5) if self.kind == _BYTE else (value - 1, value + 1, 0, 2 * value + 7)
        )
        return [number for number in dict.fromkeys(numbers) if number != value]


def footer_of(content: bytes) -> Struct:
    """Return the footer of a file as (number of field, type, value)."""
    length = int.from_bytes(content[-8:-4], "little")
    return read_struct(content, len(content) - 8 - length)[0]


def with_footer(content: bytes, footer: Struct) -> bytes:
    """Return a file with another footer."""
    length = int.from_bytes(content[-8:-4], "little")
    new = written(footer)
    return content[: len(content) - 8 - length] + new + len(new).to_bytes(4, "little") + content[-4:]


def field(struct: Struct, *path: int) -> Any:
    """Return the value of a field; a negative number is a place in a list, counted from -1."""
    found: Any = struct
    for step in path:
        found = found[1][-step - 1] if step < 0 else next(one[2] for one in found if one[0] == step)
    return found


def put(struct: Struct, value: object, *path: int) -> None:
    """Put a value into a field."""
    holder = field(struct, *path[:-1]) if len(path) > 1 else struct
    next(one for one in holder if one[0] == path[-1])[2] = value


def leaves(struct: Struct, path: tuple[int, ...] = ()) -> Iterator[Leaf]:
    """Yield what stands in a struct and those within it, in order."""
    for one in struct:
        yield from _leaves(one[1], one, 2, (*path, one[0]))


def _leaves(kind: int, holder: list[Any], place: int, path: tuple[int, ...]) -> Iterator[Leaf]:
    value = holder[place]
    if kind == _STRUCT:
        yield from leaves(value, path)
    elif kind in (_LIST, _SET):
        for at in range(len(value[1])):
            yield from _leaves(value[0], value[1], at, (*path, -1 - at))
    else:
        yield Leaf(path, kind, holder, place)


def read_struct(content: bytes, at: int) -> tuple[Struct, int]:
    """Return the struct at a place, and where it ends."""
    found: Struct = []
    number = 0
    while (head := content[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _whole(content, at)
        value, at = _value(head & 15, content, at)
        found.append([number, head & 15, value])
    return found, at + 1


def _value(kind: int, content: bytes, at: int) -> tuple[Any, int]:  # noqa: PLR0911 - one return a type
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return int.from_bytes(content[at : at + 1], "little", signed=True), at + 1
    if _I16 <= kind <= _I64:
        return _whole(content, at)
    if kind == _DOUBLE:
        return content[at : at + 8], at + 8
    if kind == _BINARY:
        length, at = _varint(content, at)
        return content[at : at + length], at + length
    if kind in (_LIST, _SET):
        return _list(content, at)
    assert kind == _STRUCT, kind
    return read_struct(content, at)


def _list(content: bytes, at: int) -> tuple[list[Any], int]:
    kind, length = content[at] & 15, content[at] >> 4
    at += 1
    if length == 15:
        length, at = _varint(content, at)
    items: list[Any] = []
    for _ in range(length):
        if kind in (_TRUE, _FALSE):
            value, at = content[at] == _TRUE, at + 1
        else:
            value, at = _value(kind, content, at)
        items.append(value)
    return [kind, items], at


def _varint(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (content[at] & 127) << shift
        shift += 7
        at += 1
        if content[at - 1] < 128:
            return number, at


def _whole(content: bytes, at: int) -> tuple[int, int]:
    number, at = _varint(content, at)
    return (number >> 1) ^ -(number & 1), at


def written(struct: Struct) -> bytes:
    """Return the bytes of a struct."""
    out = b""
    last = 0
    for number, kind, value in struct:
        stored = (_TRUE if value else _FALSE) if kind in (_TRUE, _FALSE) else kind
        step = number - last
        out += bytes([step << 4 | stored]) if 0 < step < 16 else bytes([stored]) + _of_whole(number)
        out += b"" if kind in (_TRUE, _FALSE) else _of_value(kind, value)
        last = number
    return out + b"\0"


def _of_value(kind: int, value: Any) -> bytes:
    if kind == _BYTE:
        return int(value).to_bytes(1, "little", signed=True)
    if _I16 <= kind <= _I64:
        return _of_whole(value)
    if kind == _DOUBLE:
        return bytes(value)
    if kind == _BINARY:
        return _of_varint(len(value)) + value
    if kind in (_LIST, _SET):
        inner, items = value
        head = (
            bytes([len(items) << 4 | inner])
            if len(items) < 15
            else bytes([0xF0 | inner]) + _of_varint(len(items))
        )
        flags = inner in (_TRUE, _FALSE)
        return head + b"".join(
            bytes([_TRUE if one else _FALSE]) if flags else _of_value(inner, one) for one in items
        )
    return written(value)


def _of_varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _of_whole(number: int) -> bytes:
    return _of_varint(number << 1 if number >= 0 else (-number << 1) - 1)
