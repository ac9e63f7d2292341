"""Some keys of JSON objects, each with its value as it is written."""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from calibcli.table.score_table import Integers
from calibcli.writers.arrow import bytes_scalar, place_column, stretches, written

Booleans = npt.NDArray[np.bool_]

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def with_some_keys(
    content: bytes, starts: Integers, ends: Integers, *, kept: Collection[str], comma: str, encoding: str
) -> tuple[bytes, Integers, Booleans]:
    """
    Return lines whose objects have only some of their keys, and what stands between lines as it was.

    Args:
        content: The lines.

        starts: Where the line of each object begins, shape (n,).

        ends: Where its last brace stands, shape (n,).

        kept: The keys that stay.

        comma: What separates keys.

        encoding: How the text is encoded.

    Returns:
        The new lines, where their last braces stand, and which objects have no key left.
    """
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
    opened: Any = pc.binary_join_element_wise(*(pieces, bytes_scalar(b"{"), bytes_scalar(b"")))
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
