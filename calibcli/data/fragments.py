"""
The input cut into numbered fragments, in a fixed order that no number of workers changes.

A Parquet file gives runs of row groups; a file of any other format is one fragment.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from calibcli.data.files import Found, HeldRows, InMemory, found_in, read_errors, shown_path, stamp_of
from calibcli.data.formats import MAGIC_BYTES, STREAM, keeps_ascii, kind_of
from calibcli.data.fragment import Fragment, partitions_of
from calibcli.data.objects import content_of, is_object
from calibcli.data.pipes import STDIN, Pipe
from calibcli.data.readers import reader_of
from calibcli.data.streams import bytes_from
from calibcli.errors import IdleOption, InputProblem
from calibcli.names import DataFormat
from calibcli.options.rows import AS_FOUND, InputFormat

# A fragment of a Parquet file has at least so many rows, unless it is the last of its file.
FRAGMENT_ROWS = 2_000_000


def list_fragments(inputs: Sequence[str] | Found, *, input_format: InputFormat = AS_FOUND) -> list[Fragment]:
    """List the fragments of the input."""
    fragments: list[Fragment] = []
    for file in (inputs if isinstance(inputs, Found) else found_in(inputs)).files:
        asked = input_format if file.forced is None else replace(input_format, format=file.forced)
        for part in _parts(_whole(file.path, asked)):
            fragments.append(replace(part, index=len(fragments)))
    _refuse_unused(input_format, fragments)
    return fragments


def _refuse_unused(asked: InputFormat, fragments: Sequence[Fragment]) -> None:
    """Refuse what was said of text where no file is text."""
    shown, found = fragments[0].shown, fragments[0].format.value
    for option, value in (("delimiter", asked.delimiter), ("decimal", asked.decimal)):
        if value is not None and not any(one.format.is_csv for one in fragments):
            msg = f"--{option} is for CSV, and {shown} is {found}"
            raise IdleOption(msg, "leave it out", options=(option,))
    if asked.encoding is not None and not any(one.format.is_text for one in fragments):
        msg = f"--encoding is for text, and {shown} is {found}"
        raise IdleOption(msg, "leave it out", options=("encoding",))


def _whole(path: str, asked: InputFormat) -> Fragment:
    """Return a file as one fragment."""
    if isinstance(path, HeldRows):
        return Fragment(0, path, InMemory.ROWS)
    shown = shown_path(path)
    with read_errors(path):
        # Before the first byte is looked at.
        stamp = stamp_of(path)
        pipe = _pipe(path)
        head = _head(path) if pipe is None else pipe.head(MAGIC_BYTES)
    if not head:
        msg = f"{shown} is empty"
        raise InputProblem(msg)
    kind = kind_of(head, shown, asked=asked)
    text = asked if kind.format.is_text else AS_FOUND
    whole = Fragment(
        0,
        path,
        kind.format,
        kind.compression,
        pipe=pipe,
        folder=_folder(path),
        delimiter=text.delimiter if kind.format.is_csv else None,
        encoding=text.encoding,
        decimal=text.decimal if kind.format.is_csv else None,
        partitions=partitions_of(path),
        stamp=stamp,
    )
    if pipe is not None and not _can_stream(whole, head):
        pipe.spooled()
    return whole


def _can_stream(whole: Fragment, head: bytes) -> bool:
    """Whether what comes through a pipe can be read once, from its beginning, and its header looked at."""
    if whole.compression is not None or not keeps_ascii(whole.encoding):
        return False
    return whole.format.is_text or (whole.format is DataFormat.ARROW and head.startswith(STREAM))


def _folder(path: str) -> str:
    """Return the directory that a path counts from; none where it names a place by itself."""
    there = path == STDIN or is_object(path) or Path(path).is_absolute()
    return "" if there else str(Path.cwd())


def _pipe(path: str) -> Pipe | None:
    """Return the stream behind a path that can be read only once."""
    if path == STDIN:
        if sys.stdin is None:
            msg = "standard input is closed"
            raise InputProblem(msg, "name a file, or pipe one in")
        return Pipe(bytes_from(sys.stdin))
    if is_object(path):
        return None
    file = Path(path)
    return None if file.is_file() else Pipe(file.open("rb"), owned=True)


def _head(path: str) -> bytes:
    if is_object(path):
        return content_of(path, MAGIC_BYTES)
    with Path(path).open("rb") as file:
        return file.read(MAGIC_BYTES)


def _parts(whole: Fragment) -> Iterator[Fragment]:
    """Cut a Parquet file, and rows in memory as if they stood in one, into runs of row groups."""
    before = rows = 0
    run: list[int] = []
    sizes = reader_of(whole.format).row_group_rows(whole)
    for group, size in enumerate(sizes):
        run.append(group)
        rows += size
        if rows >= FRAGMENT_ROWS or group == len(sizes) - 1:
            yield replace(whole, row_groups=tuple(run), first_row=before)
            before, rows, run = before + rows, 0, []
    if not sizes:
        yield whole
