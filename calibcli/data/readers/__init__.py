"""
Files to record batches: one class for each format, whose parts that formats share stand here.

A new format is a class of a module here that says `stored` and `streamed`, and an entry in `FORMATS`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import ClassVar, cast

import numpy as np
import pyarrow as pa

from calibcli.data.arrays import DAMAGED, NO_THREAD, first_line, no_memory, nulls
from calibcli.data.class_rows import is_list_of_numbers, list_lengths, lists_of
from calibcli.data.columns import ResolvedColumns
from calibcli.data.files import InMemory
from calibcli.data.formats import FORMATS
from calibcli.data.fragment import Fragment
from calibcli.errors import InputProblem
from calibcli.names import DataFormat

# As many columns have batches of one row.
_WIDEST = 1 << 30


class Reader:
    """Reads fragments of one format; every problem that it meets is an `InputProblem`."""

    # Whether batches are decoded in a thread of their own while those before are counted.
    ahead: ClassVar[bool] = True

    def stored(self, fragment: Fragment) -> pa.Schema:
        """Return every column of the fragment's file as it is stored."""
        raise NotImplementedError

    def streamed(
        self, fragment: Fragment, names: Sequence[str] | None, *, width: int, words: Sequence[str] = ()
    ) -> Iterator[pa.RecordBatch]:
        """
        Stream some columns of a fragment, None for all.

        How many numbers a row holds, its `width`, says how many rows make a batch; `words` are columns that
        are seen as text of few different values.
        """
        raise NotImplementedError

    def header(self, fragment: Fragment) -> tuple[str, ...]:
        """Return the names of the columns of the fragment's file."""
        return tuple(self.stored(fragment).names)

    def whole_header(self, fragment: Fragment) -> tuple[str, ...]:
        """Return the names that any row has, which may take a pass over all of them."""
        return self.header(fragment)

    def batches(self, fragment: Fragment, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        """Stream the chosen columns of a fragment; a batch has them by name."""
        names = resolved.stored
        width = max(len(names), len(resolved.classes))
        return self.streamed(fragment, names, width=width, words=resolved.words)

    def schema(self, fragment: Fragment, resolved: ResolvedColumns) -> pa.Schema:
        """Return the schema of `batches_of_all`."""
        whole = self.stored(fragment)
        fields = [whole.field(name) for name in resolved.carries(whole.names)]
        return pa.schema(fields).with_metadata(whole.metadata)

    def batches_of_all(self, fragment: Fragment, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
        """Stream every column of a fragment that is carried along."""
        names = resolved.carries(self.header(fragment))
        width = max(len(names), len(resolved.classes))
        return self.streamed(fragment, None if resolved.carried is None else names, width=width)

    def kinds(self, fragment: Fragment) -> tuple[tuple[str, str], ...]:
        """Return every column of the fragment's file with what it holds, in a few words."""
        return tuple((field.name, str(field.type)) for field in self.stored(fragment))

    def row_count(self, fragment: Fragment) -> int | None:
        """Return how many rows the fragment's file has, where that is known without reading them all."""
        return None

    def row_group_rows(self, fragment: Fragment) -> list[int]:
        """Return the rows of each part that the fragment's file can be cut into, if it can be."""
        return []

    def list_length(self, fragment: Fragment, name: str) -> int | None:
        """Return how many numbers the first list of a column holds; None where there is none."""
        if not is_list_of_numbers(self.stored(fragment).field(name).type):
            return None
        if fragment.pipe is not None:
            fragment.pipe.spooled()
        for batch in self.streamed(fragment, (name,), width=_WIDEST):
            column = lists_of(batch.column(0))
            lost = nulls(column)
            first = 0 if lost is None else int(np.argmin(lost))
            if len(column) and (lost is None or not lost[first]):
                return int(list_lengths(column)[first])
        return None


@cache
def reader_of(kind: DataFormat | InMemory) -> Reader:
    """Return what reads a format."""
    module = "in_memory" if isinstance(kind, InMemory) else FORMATS[kind].reader
    return cast("Reader", import_module(f"calibcli.data.readers.{module}").READER)


@contextmanager
def read_problems(shown: str, what: str, *more: type[Exception]) -> Iterator[None]:
    """Turn what pyarrow or the system says of a file, or an error of another kind, into one line."""
    kinds: tuple[type[Exception], ...] = (pa.ArrowException, OSError, *more)
    try:
        yield
    except MemoryError as error:
        raise no_memory(shown, error) from error
    except kinds as error:
        if NO_THREAD in str(error):
            raise no_memory(shown, error) from error
        words = error.args[0] if isinstance(error, KeyError) and error.args else error
        msg = f"{shown} cannot be read{what}: {first_line(words)}"
        raise InputProblem(msg, DAMAGED) from error
