"""
The input cut into numbered fragments, in a fixed order that no number of workers changes.

A Parquet file gives runs of row groups; a file of any other format is one fragment.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from calibcli.errors import IdleOption, InputProblem, UsageProblem
from calibcli.names import Compression, DataFormat
from calibcli.objects import content_of, is_object
from calibcli.options.rows import AS_FOUND, InputFormat
from calibcli.readers.files import Found, Stamp, found_in, read_errors, shown_path, stamp_of
from calibcli.readers.formats import MAGIC_BYTES, STREAM, kind_of
from calibcli.readers.in_memory import HeldRows, InMemory
from calibcli.readers.input_format import keeps_ascii
from calibcli.readers.partitions import partitions_of
from calibcli.readers.pipes import STDIN, Pipe
from calibcli.streams import bytes_from

# A fragment of a Parquet file has at least so many rows, unless it is the last of its file.
FRAGMENT_ROWS = 2_000_000
_BATCH_ROWS = 1 << 17
# A batch of a wide table has fewer rows, so that it holds no more numbers.
_BATCH_NUMBERS = 1 << 21


@dataclass(frozen=True, slots=True)
class Fragment:
    """
    A part of the input that is read in one go.

    Args:
        index: Its place in the order of the input.

        path: The file as the user named it; "-" is standard input.

        format: What the file holds, or that the path is that of rows in memory.

        compression: What is wrapped around it, or None.

        row_groups: The row groups of a Parquet file, or None for all there is.

        first_row: How many rows of the file come before this fragment.

        pipe: The stream behind "-" or another pipe. Such a fragment stays in its process.

        folder: The directory that the path counts from, for workers that stand in another.

        delimiter: What separates the fields of CSV, where the user said so.

        encoding: How text is encoded; None for UTF-8.

        decimal: What stands before the decimals of numbers in CSV; None for a point.

        partitions: Columns that the path holds, such as `country=US`, each with its value or None.

        stamp: What would be another one if the file were written to or replaced; None where nothing tells.
    """

    index: int
    path: str
    format: DataFormat | InMemory
    compression: Compression | None = None
    row_groups: tuple[int, ...] | None = None
    first_row: int = 0
    pipe: Pipe | None = None
    folder: str = ""
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    partitions: tuple[tuple[str, str | None], ...] = ()
    stamp: Stamp | None = None

    @property
    def shown(self) -> str:
        """The file's name in messages."""
        return shown_path(self.path)

    @property
    def location(self) -> str:
        """The path to open: the file, or the temporary copy of standard input."""
        return os.path.join(self.folder, self.path) if self.pipe is None else self.pipe.spooled()  # noqa: PTH118

    @property
    def streams(self) -> bool:
        """Whether the bytes come from a pipe and can be read once."""
        return self.pipe is not None and not self.pipe.is_spooled


def list_fragments(inputs: Sequence[str] | Found, *, input_format: InputFormat = AS_FOUND) -> list[Fragment]:
    """
    List the fragments of the input.

    Args:
        inputs: Files, directories, "-" for standard input, as `found_in` takes them, or what it found.

        input_format: The format of every input that does not force its own, and how text is written.

    Raises:
        InputProblem: If a file is missing, empty or cannot be opened.

        UsageProblem: If standard input is named twice, or a separator, an encoding or a decimal mark is given
            for files that have none.
    """
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


def refuse_pipes(fragments: Sequence[Fragment]) -> None:
    """
    Refuse what workers elsewhere cannot open.

    Raises:
        UsageProblem: If an input is a pipe.
    """
    for fragment in fragments:
        if fragment.pipe is not None:
            msg = f"{fragment.shown} is a pipe, which workers elsewhere cannot read"
            raise UsageProblem(msg, "name a file that every worker can open, or leave out --engine")


def keep(fragments: Sequence[Fragment]) -> None:
    """Put what comes through pipes into temporary files, so that it can be read more than once."""
    for fragment in fragments:
        if fragment.pipe is not None:
            fragment.pipe.spooled()


def batch_rows(width: int) -> int:
    """Return how many rows a batch of so many columns has."""
    return max(1, min(_BATCH_ROWS, _BATCH_NUMBERS // width))


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
    if whole.format is DataFormat.PARQUET:
        from calibcli.readers.parquet import row_group_rows
    elif whole.format is InMemory.ROWS:
        from calibcli.readers.held import row_group_rows
    else:
        yield whole
        return
    before = rows = 0
    run: list[int] = []
    sizes = row_group_rows(whole)
    for group, size in enumerate(sizes):
        run.append(group)
        rows += size
        if rows >= FRAGMENT_ROWS or group == len(sizes) - 1:
            yield replace(whole, row_groups=tuple(run), first_row=before)
            before, rows, run = before + rows, 0, []
    if not sizes:
        yield replace(whole, row_groups=())
