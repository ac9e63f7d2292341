"""Valid files made wrong: cut, flipped, with other lengths, or with one value that has no business there."""
# ruff: noqa: E501 - lists of words are read more easily wide

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from calibcli.documents.sealed import sealed

# Numbers and texts at which readers stumble.
NUMBERS = (0, -1, 1, 2, 2**31 - 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**400, -0.0, 5e-324, 1e308)
TEXTS = (
    "",
    "nan",
    "inf",
    "-inf",
    "\ud800",
    "\x00",
    "\x1b[31m",
    "a\nb",
    "x" * 3000,
    "../../etc",
    "=1+1",
    "é",
    "１",
)
TOKENS = (
    b"NaN", b"nan", b"inf", b"-inf", b"1e999", b"-0", b"0x1p-3", b"1_0", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00",
    b'"', b'""', b"\r", b"\r\n", b"\n", b",", b"\t", b";", b"null", b"true", b"[", b"{", b"}", b"]", b"\\u0000",
    b"\\ud800", b"\xed\xa0\x80", b"\xc0\x80", b"PAR1", b"ARROW1", b"PK\x03\x04", b"\x93NUMPY", b"1" * 400, b"[" * 2000,
    b'{"a":' * 2000, b"score", b"label", b"group", b"<f8", b"|O", b"(1,)", b"<=", b">=", b".upper", b"ece", b"==", b"'",
)  # fmt: skip
LENGTHS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def damaged(content: bytes, random: Random) -> bytes:
    """Return the bytes with one to three changes of any kind."""
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        content = random.choice(_CHANGES)(bytearray(content), random)
    return content


def tail_damaged(content: bytes, random: Random) -> bytes:
    """Return the bytes with changes near their end, where Parquet and zip keep what describes the rest."""
    cut = random.randint(0, min(len(content), 1200))
    start = len(content) - cut
    return content[:start] + damaged(content[start:], random)


def replaced(content: bytes, random: Random) -> bytes:
    """Return a JSON document with one to three of its values replaced, doubled, dropped or nested."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return damaged(content, random)
    for _ in range(random.randint(1, 3)):
        tree = _changed(tree, random)
    try:
        # Mostly with a digest that fits, so that what lies behind it is met as well.
        if isinstance(tree, dict) and "digest" in tree and random.random() < 0.7:
            tree = sealed(tree)
        return json.dumps(tree).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return damaged(content, random)


def _changed(value: Any, random: Random) -> Any:
    """Walk to a random value and change it."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        key = random.choice(list(value))
        if random.random() < 0.1:
            return {name: one for name, one in value.items() if name != key}
        return {**value, key: _changed(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        if random.random() < 0.15:
            return value[:place] + value[place:] * random.choice((0, 2, 50))
        return [*value[:place], _changed(value[place], random), *value[place + 1 :]]
    return _other(value, random)


def _other(value: Any, random: Random) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
    if number and random.random() < 0.5:
        return random.choice((value + 1, value - 1, -value, value * 10, value / 3, value * (1 + 1e-15)))
    if isinstance(value, str) and random.random() < 0.5:
        return random.choice((value + " ", value.upper(), value[1:], value * 2))
    deep: Any = value
    for _ in range(random.choice((1, 50, 900))):
        deep = [deep]
    return random.choice((*NUMBERS, *TEXTS, None, True, False, [], {}, [value], {"": value}, deep))


def _cut(content: bytearray, random: Random) -> bytes:
    return bytes(content[: random.randint(0, len(content))])


def _flipped(content: bytearray, random: Random) -> bytes:
    if content:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def _overwritten(content: bytearray, random: Random) -> bytes:
    if content:
        place = random.randrange(len(content))
        size = random.choice((1, 2, 4, 8))
        length = random.choice((*LENGTHS, len(content), random.getrandbits(32)))
        content[place : place + size] = (length % 256**size).to_bytes(size, "little")
    return bytes(content)


def _token(content: bytearray, random: Random) -> bytes:
    place = random.randint(0, len(content))
    end = place + random.choice((0, 0, 1, 4))
    content[place:end] = random.choice(TOKENS)
    return bytes(content)


def _moved(content: bytearray, random: Random) -> bytes:
    """Repeat, drop or move a piece."""
    first, last = sorted(random.randint(0, len(content)) for _ in range(2))
    piece = content[first : min(last, first + 400)]
    times = random.choice((0, 0, 2, 3, 40))
    place = random.randint(0, len(content))
    content[place:place] = piece * times
    if not times:
        del content[place : place + len(piece)]
    return bytes(content)


_CHANGES = (_cut, *(_flipped,) * 6, *(_overwritten,) * 3, *(_token,) * 4, _moved, _moved)


Place = tuple[str | int, ...]


def edits(document: Any, *, longest: int = 6) -> Iterator[tuple[Place, str, Any]]:
    """Return every single edit of a document: where, what, and the document with it.

    Each leaf becomes others, each member goes away, each object gets a member more, and the elements of each
    array are dropped, doubled and swapped; of an array longer than `longest` that many elements are edited.
    """
    for place, value in _places(document, longest):
        if place:
            yield place, "left out", _edited(document, place, None, leave_out=True)
            for what, other in _others(value):
                yield place, what, _edited(document, place, other)
        if isinstance(value, dict):
            yield (*place, "more"), "a key more", _edited(document, place, {**value, "more": 1})
        if isinstance(value, list) and value:
            yield place, "last doubled", _edited(document, place, [*value, value[-1]])
            if len(value) > 1 and value[0] != value[-1]:
                yield place, "ends swapped", _edited(document, place, [value[-1], *value[1:-1], value[0]])


def _places(value: Any, longest: int, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    yield place, value
    if isinstance(value, dict):
        members: Any = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
        if len(value) > longest:
            step = (len(value) - 1) / (longest - 1)
            members = [(at, value[at]) for at in sorted({round(k * step) for k in range(longest)})]
    else:
        return
    for key, member in members:
        yield from _places(member, longest, (*place, key))


def _others(value: Any) -> list[tuple[str, Any]]:
    """Return what may stand in place of a value, each with a word for it."""
    if isinstance(value, dict | list):
        return [("null", None), *([("empty", type(value)())] if value else [])]
    found: list[tuple[str, Any]] = [("null", None)] if value is not None else [("0", 0), ("text", "x")]
    if isinstance(value, bool):
        return [*found, ("flipped", not value), ("a number", int(value))]
    if isinstance(value, int | float):
        numbers = [
            ("+1", value + 1),
            ("-1", value - 1),
            ("sign", -value),
            ("+0.1 %", value * 1.001),
            ("-0.1 %", value * 0.999),
        ]
        return [*found, *((what, one) for what, one in numbers if one != value), ("text", str(value))]
    if isinstance(value, str):
        found += [("a letter more", f"{value}x"), ("a number", 1)]
        if value:
            letter = "A" if value[len(value) // 2] != "A" else "B"
            found.append(("another letter", value[: len(value) // 2] + letter + value[len(value) // 2 + 1 :]))
            found.append(("empty", ""))
    return found


def _edited(document: Any, place: Place, value: Any, *, leave_out: bool = False) -> Any:
    if not place:
        return value
    key, *rest = place
    if rest or not leave_out:
        other = _edited(document[key], tuple(rest), value, leave_out=leave_out)
        if isinstance(document, dict):
            return {**document, key: other}
        return [*document[:key], other, *document[key + 1 :]]  # type: ignore[misc, operator]
    if isinstance(document, dict):
        return {name: one for name, one in document.items() if name != key}
    return [*document[:key], *document[key + 1 :]]  # type: ignore[misc, operator]
