"""A part of the input that is read in one go, and files that stay what they are meanwhile."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from urllib.parse import unquote

from calibcli.ahead import in_order
from calibcli.data.files import InMemory, Stamp, shown_path, stamp_of
from calibcli.data.objects import is_object
from calibcli.data.pipes import Pipe
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import Compression, DataFormat
from calibcli.options.sources import RowsInMemory
from calibcli.values import dataclass

_BATCH_ROWS = 1 << 17

# Bytes.
_SMALL = 1 << 16

# A batch of a wide table has fewer rows, so that it holds no more numbers.
_BATCH_NUMBERS = 1 << 21


@dataclass(frozen=True, slots=True)
class Fragment:
    """
    A part of the input that is read in one go.

    Args:
        index: Its place in the order of the input.
        path: The file as the user named it; "-" is standard input.
        format: What the file holds, or that the rows are in memory.
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
        rows: The rows in memory; None where there is something to open.
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
    rows: RowsInMemory | None = None

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

    @property
    def is_small(self) -> bool:
        """Whether it is a file so small that a thread to read it costs more than it saves."""
        return self.stamp is not None and isinstance(size := self.stamp[2], int) and size < _SMALL


def refuse_pipes(fragments: Sequence[Fragment]) -> None:
    """Refuse what workers elsewhere cannot open."""
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


# Stores take many questions at a time, and some while for each.
_ASKED_AT_ONCE = 16


@contextmanager
def unchanged(fragments: Sequence[Fragment]) -> Iterator[None]:
    """
    Refuse what was read inside, if a file was written to, cut short or
    replaced since it was first looked at.
    """
    paths = {os.path.join(one.folder, one.path): one.stamp for one in fragments}  # noqa: PTH118 - as it is opened
    with unchanged_files(paths):
        yield


@contextmanager
def unchanged_files(before: Mapping[str, Stamp | None]) -> Iterator[None]:
    """Refuse what was read inside, if a file is no longer what it was."""
    try:
        yield
    except InputProblem:
        # Whatever is wrong with half of a file is wrong because it is half of one.
        _refuse_changed(before)
        raise
    _refuse_changed(before)


def _refuse_changed(before: Mapping[str, Stamp | None]) -> None:
    told = [path for path, stamp in before.items() if stamp is not None]
    now = in_order(stamp_of, told, _ASKED_AT_ONCE if any(map(is_object, told)) else 1)
    for path, stamp in zip(told, now, strict=True):
        if stamp != before[path]:
            msg = f"{shown_path(path)} changed while it was read"
            raise InputProblem(msg, "run this again once nobody writes to it")


# What Hive and Spark write for a value that is missing.
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def partitions_of(path: str) -> tuple[tuple[str, str | None], ...]:
    """
    Return the columns that the directories of a path stand for, each with its value or None.

    A column that stands there with two values is returned with both.
    """
    found: dict[tuple[str, str | None], None] = {}
    place = path.partition("?")[0] if is_object(path) else path
    for folder in PurePath(place).parts[:-1]:
        name, equals, value = folder.partition("=")
        if equals and name:
            found[unquote(name), None if value == _MISSING else unquote(value)] = None
    return tuple(found)
