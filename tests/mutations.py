"""Valid files made wrong: cut, flipped, with other lengths, or with one value that has no business there."""
# ruff: noqa: E501 - lists of words are read more easily wide

import json
from random import Random
from typing import Any

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
