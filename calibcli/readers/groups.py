"""Groups of rows that belong together, told apart by the text of a column, and the folds they fall into."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa

from calibcli.options.numerals import Spelling, is_respelled
from calibcli.readers.decode import (
    Booleans,
    Column,
    is_number,
    is_text,
    nulls,
    plain,
    value_type,
    without_nulls,
)
from calibcli.readers.faults import FaultKind
from calibcli.readers.fingerprints import Identities, bytes_of, first_respelled, was_renamed
from calibcli.readers.places import Places
from calibcli.table.score_table import Integers

# The group of rows whose value is missing, where such rows stay.
MISSING = "(missing)"
_KEYS = 1 << 63


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """
    The parts that one or more columns of groups cut rows into.

    Args:
        code: Shape (n,), the place of each row's part in `names`.

        names: For each part that a row has its value in every column.
    """

    code: Integers
    names: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """
    A column of groups.

    Args:
        code: Shape (n,), the place of each row's group in `text`; anything where it is missing.

        text: The groups there are, and perhaps some that no row has.

        missing: Shape (n,), or None if nothing is missing.

        spelling: Whether they are numbers, text that is a number written otherwise, or of a type whose
            values had other names in the first version of artifacts.
    """

    code: Integers
    text: tuple[str, ...]
    missing: Booleans | None = None
    spelling: Spelling = Spelling()  # noqa: RUF009 - frozen, and of nothing

    def selected(self, places: Places) -> "Groups":
        """Return the groups of the rows that are left."""
        return Groups(places.select(self.code), self.text)

    def filled(self) -> "Groups":
        """Return the same groups with one of their own for rows whose group is missing."""
        if self.missing is None:
            return self
        code = np.where(self.missing, len(self.text), self.code)
        return Groups(code, (*self.text, MISSING), spelling=self.spelling)

    def keys(self) -> Integers:
        """Return for each row a number of 63 bits, equal for rows of one group: the hash of its text."""
        return np.array([fold_of(text, _KEYS, seed=0) for text in self.text], np.int64)[self.code]

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


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """
    The columns of a batch that tell which rows belong together.

    Args:
        group: Rows that stay in one fold, or None.

        cluster: Rows that depend on each other, or None.

        by: Rows that are measured together.

        identity: What tells rows apart, or None.

        member: The groups that a map has members for, or None.
    """

    group: Groups | None
    cluster: Groups | None
    by: tuple[Groups, ...]
    identity: Identities | None = None
    member: "Groups | None" = None

    def gaps(self, *, drop: bool) -> list[tuple[FaultKind, int, Booleans | None]]:
        """Return where values are missing; `by` has gaps only if they are to be dropped."""
        gaps = [
            (FaultKind.MISSING_GROUP, 0, None if self.group is None else self.group.missing),
            (FaultKind.MISSING_CLUSTER, 0, None if self.cluster is None else self.cluster.missing),
            (FaultKind.MISSING_IDENTITY, 0, None if self.identity is None else self.identity.missing),
        ]
        return [*gaps, *((FaultKind.MISSING_GROUP, 0, one.missing) for one in self.by if drop)]


def crossed(columns: Sequence[Groups]) -> Parts:
    """Return the parts whose rows agree in every column of groups; there is at least one."""
    code = np.zeros_like(columns[0].code)
    names: list[tuple[str, ...]] = [()]
    for column in columns:
        pairs, code = np.unique(code * len(column.text) + column.code, return_inverse=True)
        before, own = np.divmod(pairs, len(column.text))
        names = [
            (*names[left], column.text[right])
            for left, right in zip(before.tolist(), own.tolist(), strict=True)
        ]
    return Parts(code.astype(np.int64), tuple(names))


def fold_of(text: str, count: int, *, seed: int) -> int:
    """Return the fold of a group: its hash modulo the number of folds, the same on every machine."""
    digest = hashlib.blake2b(f"{seed}:{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % count


def can_be_groups(kind: pa.DataType) -> bool:
    """Whether a column type can tell groups apart: everything that has one short name."""
    if pa.types.is_interval(kind):
        return False
    bits = pa.types.is_fixed_size_binary(kind)
    return is_text(kind) or bits or pa.types.is_primitive(kind) or is_number(kind) or pa.types.is_null(kind)


def groups_of(column: Column) -> Groups:
    """Read a column of groups; blanks around a text do not count, and an empty one or NaN is missing."""
    from calibcli.readers.values import names_of, wide_decimals

    kind = value_type(column.type)
    column = names_of(column) if isinstance(column.type, pa.UuidType) else plain(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not isinstance(column, pa.DictionaryArray):
        if pa.types.is_float16(column.type):
            # Not every version finds the different ones among them; the numbers are the same.
            column = column.cast(pa.float64())
        elif pa.types.is_decimal(column.type):
            column = wide_decimals(column)
        column = (names_of(column) if is_text(column.type) else column).dictionary_encode()
    names = names_of(cast("Column", column.dictionary))
    entries = names.to_pylist()
    text = stripped = tuple("" if one is None else str(one).strip() for one in entries)
    missing = nulls(column)
    code = np.from_dlpack(without_nulls(cast("Column", column.indices))).astype(np.int64)
    if missing is not None:
        code = np.where(missing, 0, code)
    if len(set(text)) < len(text):
        places = {one: place for place, one in enumerate(dict.fromkeys(text))}
        code, text = np.array([places[one] for one in text], np.int64)[code], tuple(places)
    if "" in text or not text:
        empty = np.array([not one for one in text] or [True], np.bool_)[code]
        missing = empty if missing is None else missing | empty
    respelled = None
    if is_text(kind):
        bare = all(one is None or len(one) == len(name) for one, name in zip(entries, stripped, strict=True))
        respelled = first_respelled(*bytes_of(names)) if bare else next(filter(is_respelled, text), None)
    return Groups(
        code, text or ("",), missing, Spelling(is_number(kind), is_text(kind), respelled, was_renamed(kind))
    )
