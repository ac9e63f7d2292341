"""
How the record batches of an Arrow file are compressed, which pyarrow does not tell.

References:
    Apache Arrow, "Serialization and Interprocess Communication (IPC)", Encapsulated message format, and
    format/Message.fbs; FlatBuffers, "Internals".
"""

import struct
from collections.abc import Callable

from calibcli.names import Compression
from calibcli.readers.fragments import Fragment
from calibcli.readers.text import opened_bytes

_FILE_START = b"ARROW1\x00\x00"
_CONTINUED = b"\xff\xff\xff\xff"
_LONGEST = 1 << 28
_RECORD_BATCH = 3
_SKIPPED = 1 << 20
_CODECS = (Compression.LZ4, Compression.ZSTD)


def codec_of(fragment: Fragment) -> Compression | None:
    """Return the codec of the first record batch, or None; nothing is lost of a pipe."""
    if fragment.pipe is not None and fragment.streams:
        head, at = fragment.pipe.head, 0

        def ahead(size: int) -> bytes:
            nonlocal at
            at += size
            return head(at)[at - size :]

        return _checked_codec(ahead)
    with opened_bytes(fragment) as source:
        return _checked_codec(source.read)


def _checked_codec(read: Callable[[int], bytes]) -> Compression | None:
    """Return the codec, None where there is no telling: what is wrong is said when batches are read."""
    try:
        return _first_codec(read)
    except (struct.error, OSError):
        return None


def _first_codec(read: Callable[[int], bytes]) -> Compression | None:
    """Return the codec of the first record batch of a stream, skipping what comes before it."""
    start = read(len(_CONTINUED))
    if start == _FILE_START[: len(_CONTINUED)]:
        read(len(_FILE_START) - len(_CONTINUED))
        start = read(len(_CONTINUED))
    while start == _CONTINUED:
        length = int.from_bytes(read(4), "little")
        metadata = read(length) if length < _LONGEST else b""
        if len(metadata) < length or not length:
            return None
        message = _Table.root(metadata)
        if message.number(1, "B") == _RECORD_BATCH:
            batch = message.table(2)
            compression = None if batch is None else batch.table(3)
            return None if compression is None else _CODECS[compression.number(0, "b") & 1]
        left = message.number(3, "q")
        while left > 0 and (skipped := read(min(left, _SKIPPED))):
            left -= len(skipped)
        start = read(len(_CONTINUED))
    return None


class _Table:
    """
    A table of FlatBuffers: fields by their number, those left out being 0.

    Args:
        content: The buffer.

        at: Where the table stands.
    """

    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self._at = at
        self._fields = at - struct.unpack_from("<i", content, at)[0]

    @classmethod
    def root(cls, content: bytes) -> "_Table":
        """Return the table that a buffer is."""
        return cls(content, struct.unpack_from("<I", content, 0)[0])

    def number(self, field: int, kind: str) -> int:
        """Return a field that is a whole number of some size."""
        place = self._place(field)
        return 0 if place is None else int(struct.unpack_from(f"<{kind}", self._content, place)[0])

    def table(self, field: int) -> "_Table | None":
        """Return a field that is a table, or None where it is left out."""
        place = self._place(field)
        if place is None:
            return None
        return _Table(self._content, place + struct.unpack_from("<I", self._content, place)[0])

    def _place(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry >= struct.unpack_from("<H", self._content, self._fields)[0]:
            return None
        offset = struct.unpack_from("<H", self._content, self._fields + entry)[0]
        return self._at + offset if offset else None
