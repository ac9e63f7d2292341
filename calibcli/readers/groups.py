"""Groups of rows that belong together, told apart by the text of a column, and the folds they fall into."""

import hashlib
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa

from calibcli.readers.decode import Booleans, Column, nulls, without_nulls
from calibcli.readers.labels import is_text
from calibcli.readers.places import Places
from calibcli.table.score_table import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """
    A column of groups.

    Args:
        code: Shape (n,), the place of each row's group in `text`; anything where it is missing.

        text: The groups there are, and perhaps some that no row has.

        missing: Shape (n,), or None if nothing is missing.
    """

    code: Integers
    text: tuple[str, ...]
    missing: Booleans | None = None

    def selected(self, places: Places) -> "Groups":
        """Return the groups of the rows that are left."""
        return Groups(places.select(self.code), self.text)

    def names(self) -> list[str]:
        """Return every group that a row has."""
        return [self.text[code] for code in np.flatnonzero(np.bincount(self.code, minlength=len(self.text)))]

    def folds(self, count: int, *, seed: int) -> Integers:
        """
        Return the fold of every row, shape (n,).

        Args:
            count: How many folds there are.

            seed: Another seed shares the groups out otherwise.
        """
        return np.array([fold_of(text, count, seed=seed) for text in self.text], np.int64)[self.code]


def fold_of(text: str, count: int, *, seed: int) -> int:
    """Return the fold of a group: its hash modulo the number of folds, the same on every machine."""
    digest = hashlib.blake2b(f"{seed}:{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % count


def can_be_groups(kind: pa.DataType) -> bool:
    """Whether a column type can tell groups apart: everything that has one short text."""
    return is_text(kind) or pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)


def groups_of(column: Column) -> Groups:
    """Read a column of groups; blanks around a text do not count, and an empty one is missing."""
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not isinstance(column, pa.DictionaryArray):
        column = (column.cast(pa.large_string()) if is_text(column.type) else column).dictionary_encode()
    entries = cast("Column", column.dictionary).cast(pa.large_string()).to_pylist()
    text = tuple("" if one is None else str(one).strip() for one in entries)
    missing = nulls(column)
    code = np.from_dlpack(without_nulls(cast("Column", column.indices))).astype(np.int64)
    if missing is not None:
        code = np.where(missing, 0, code)
    if "" in text or not text:
        empty = np.array([not one for one in text] or [True], np.bool_)[code]
        missing = empty if missing is None else missing | empty
    return Groups(code, text or ("",), missing)
