"""Groups of rows, told apart by columns: measured, kept in one fold, or sent through maps of their own."""

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import ClassVar, cast

import numpy as np
import pyarrow as pa

from calibcli.data import arrays
from calibcli.data.arrays import Column
from calibcli.data.faults import Fault, FaultKind, Findings, Places
from calibcli.data.row_ids import Identities, first_respelled, was_renamed
from calibcli.names import MISSING
from calibcli.options.numerals import Spelling, is_respelled, number_name, number_of, usual_name
from calibcli.options.rows import MapColumns
from calibcli.stats.table import Booleans, Floats, Integers
from calibcli.stats.table.levels import Mixed
from calibcli.values import dataclass, field, replace

_KEYS = 1 << 63


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts that one or more columns of groups cut rows into.

    Args:
        code: Shape (n,), the place of each row's part in `names`.
        names: For each part that a row has its value in every column.
    """

    code: Integers
    names: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """A column of groups.

    Args:
        code: Shape (n,), the place of each row's group in `text`; anything where it is missing.
        text: The groups there are, and perhaps some that no row has.
        spelling: Whether they are numbers, text that is a number written otherwise, or of a type whose
            values had other names in the first version of artifacts.
    """

    code: Integers
    text: tuple[str, ...]
    missing: Booleans | None = None
    spelling: Spelling = Spelling()

    def selected(self, places: Places) -> "Groups":
        return Groups(places.select(self.code), self.text)

    def filled(self) -> "Groups":
        """Return the same groups with one of their own for rows whose group is missing."""
        if self.missing is None:
            return self
        code = np.where(self.missing, len(self.text), self.code)
        return Groups(code, (*self.text, MISSING), spelling=self.spelling)

    def keys(self) -> Integers:
        """Return for each row a number of 63 bits, equal for rows of one group: the hash of its text."""
        return self.folds(_KEYS, seed=0)

    def names(self) -> list[str]:
        """Return every group that a row has."""
        there = self.code if self.missing is None else self.code[~self.missing]
        return [self.text[code] for code in np.flatnonzero(np.bincount(there, minlength=len(self.text)))]

    def folds(self, count: int, *, seed: int) -> Integers:
        return np.array([fold_of(text, count, seed=seed) for text in self.text], np.int64)[self.code]


@dataclass(frozen=True, slots=True, eq=False)
class RowKeys:
    """The columns of a batch that tell which rows belong together.

    Args:
        group: Rows that stay in one fold, or None.
        cluster: Rows that depend on each other, or None.
        member: What a map looks at beside the score, or None.
        on: The columns whose values make segments.
    """

    group: Groups | None
    cluster: Groups | None
    by: tuple[Groups, ...]
    identity: Identities | None = None
    member: "Members | None" = None
    on: tuple[Mixed, ...] = ()

    def gaps(self, *, drop: bool, labelled: bool) -> list[tuple[FaultKind, int, Booleans | None]]:
        """Return where values are missing; `by` and `on` only if dropped, and `on` only beside labels."""
        gaps = [
            (FaultKind.MISSING_GROUP, 0, None if self.group is None else self.group.missing),
            (FaultKind.MISSING_CLUSTER, 0, None if self.cluster is None else self.cluster.missing),
            (FaultKind.MISSING_IDENTITY, 0, None if self.identity is None else self.identity.missing),
        ]
        # Those of `--group` have the place 0; the others are counted column by column.
        missing = [one.missing for one in self.by] if drop else []
        if drop and labelled:
            # Without labels values are compared with others, and that one is missing is a value.
            missing += map(gaps_of, self.on)
        return gaps + [(FaultKind.MISSING_GROUP, place, one) for place, one in enumerate(missing, 1)]


def gaps_of(values: Mixed) -> Booleans | None:
    missing = np.isnan(values.number)
    if values.code is not None:
        missing &= values.code < 0
    return missing if missing.any() else None


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
    plain = pa.types.is_primitive(kind) or pa.types.is_null(kind) or pa.types.is_fixed_size_binary(kind)
    return plain or arrays.is_number(kind) or arrays.is_text(kind)


def groups_of(column: Column) -> Groups:
    """Read a column of groups; blanks around a text do not count, and an empty one or NaN is missing."""
    from calibcli.data.values import names_of

    kind = arrays.value_type(column.type)
    column = names_of(column) if isinstance(column.type, pa.UuidType) else arrays.plain(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if not isinstance(column, pa.DictionaryArray):
        if pa.types.is_float16(column.type):
            # Not every version finds the different ones among them; the numbers are the same.
            column = column.cast(pa.float64())
        elif pa.types.is_decimal(column.type):
            column = arrays.wide_decimals(column)
        column = (names_of(column) if arrays.is_text(column.type) else column).dictionary_encode()
    names = names_of(cast("Column", column.dictionary))
    entries = names.to_pylist()
    text = stripped = tuple("" if one is None else str(one).strip() for one in entries)
    code, missing = arrays.places_in(column)
    code = code.astype(np.int64)
    if len(set(text)) < len(text):
        places = {one: place for place, one in enumerate(dict.fromkeys(text))}
        code, text = np.array([places[one] for one in text], np.int64)[code], tuple(places)
    if "" in text or not text:
        empty = np.array([not one for one in text] or [True], np.bool_)[code]
        missing = empty if missing is None else missing | empty
    found, respelled = Groups(code, text or ("",), missing), None
    if arrays.is_text(kind):
        bare = all(one is None or len(one) == len(name) for one, name in zip(entries, stripped, strict=True))
        if not bare or first_respelled(names) is not None:
            # A dictionary may hold what no row has.
            respelled = next(filter(is_respelled, found.names()), None)
    return replace(
        found,
        spelling=Spelling(arrays.is_number(kind), arrays.is_text(kind), respelled, was_renamed(kind)),
    )


def mixed_of(column: Column, *, decimal: str = ".") -> Mixed:
    """Read a column of numbers, text or both: text that is a number is that number, in every format.

    Blanks around a text do not count, and an empty one or NaN is missing; true and false are one text
    however they are written.
    """
    if arrays.is_number(arrays.value_type(column.type)):
        found = arrays.floats(column)
        return Mixed(
            found.values if found.missing is None else np.where(found.missing, math.nan, found.values)
        )
    quick = _all_numbers(column) if decimal == "." else None
    if quick is not None:
        return quick
    groups = groups_of(column)
    exact = [_INFINITE.get(text.lower(), number_of(text, decimal=decimal)) for text in groups.text]
    number = np.array([math.nan if one is None else float(one) for one in exact])[groups.code]
    texts = [text.lower() if text.casefold() in _TRUTHS else text for text in groups.text]
    code = np.array([place if one is None else -1 for place, one in enumerate(exact)], np.int64)[groups.code]
    if groups.missing is not None:
        number, code = np.where(groups.missing, math.nan, number), np.where(groups.missing, -1, code)
    return Mixed(number, code, tuple(texts))


# What columns of numbers are written with.
_INFINITE = {sign + word: float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "infinity")}
_TRUTHS = frozenset(("true", "false"))


def _all_numbers(column: Column) -> Mixed | None:
    """Return a column of text all of whose values are finite numbers, by what pyarrow reads; else None."""
    column = arrays.plain(column)
    if not arrays.is_text(arrays.value_type(column.type)):
        return None
    coded = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
    try:
        values = arrays.floats(cast("Column", coded.dictionary).cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    if values.missing is not None or not np.isfinite(values.values).all() or not values.values.size:
        return None
    code, missing = arrays.places_in(coded)
    number = values.values[code]
    return Mixed(number if missing is None else np.where(missing, math.nan, number))


_TIME = r"([0-9]{4}-[0-9]{2}-[0-9]{2} )?([0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]+)?(Z|[+-][0-9]{4})?"

# No double has digits farther from the point.
_FARTHEST = 400


@dataclass(frozen=True, slots=True)
class MemberColumn:
    """Which member of a map a row goes through: groups not `known` are refused unless `pooled` with all."""

    option: ClassVar = "--by"
    name: str
    known: frozenset[str]
    pooled: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def refuses(self, text: str, *, renamed: bool) -> bool:
        """Whether rows of a group are refused: it is new, or one of the fit in other words."""
        return text not in self.known and (
            not self.pooled or self.respelled(text, renamed=renamed) is not None
        )

    def respelled(self, text: str, *, renamed: bool) -> str | None:
        """Return the group of the fit from which another differs only as 1.0 does from 1, or None.

        Times are such that differ in zeros at the end of the second, or in how the zone is written: the first
        version of artifacts named them so. It named floats and durations otherwise, too.
        """
        usual = _usual(text)
        found = usual and _by_usual_name(self.known).get(usual)
        return _by_later_name(self.known).get(text) if not found and renamed else found


@lru_cache(maxsize=8)
def _by_usual_name(known: frozenset[str]) -> dict[str, str]:
    """Return the first group that a number may be written as."""
    named = ((_usual(one), one) for one in sorted(known, reverse=True))
    return {usual: one for usual, one in named if usual is not None}


@lru_cache(maxsize=8)
def _by_later_name(known: frozenset[str]) -> dict[str, str]:
    """Return the first group that a float or a duration may be, by what it is called since."""
    named = ((later, one) for one in sorted(known, reverse=True) for later in _later_names(one))
    return dict(named)


def _later_names(text: str) -> Iterator[str]:
    """Yield what a number in the words of the first version of artifacts may be called since."""
    number = number_of(text)
    if number is None or abs(number.adjusted()) > _FARTHEST:
        return
    # It was a power of ten, as 1e+10; or one of 32 bits with as many digits as those need;
    yield number_name(number)
    yield number_name(float(np.float32(float(number))))
    # or how many seconds, or thousandths and so on, a duration lasts.
    if number == number.to_integral_value():
        for power in (0, 3, 6, 9):
            yield f"{number_name(number.scaleb(-power))}s"


def _usual(text: str) -> str | None:
    """Return the one name of a number or a time, however it is written; None for other text."""
    number = usual_name(text)
    found = None if number else re.fullmatch(_TIME, text)
    if found is None:
        return number
    day, clock, part, zone = found.groups(default="")
    part = part.rstrip("0").rstrip(".")
    if day and zone:
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(f"{day}{clock}{zone}").astimezone(UTC)
            day, clock, zone = f"{moment.date()} ", f"{moment.time()}", "Z"
    return f"{day}{clock}{part}{zone}"


@dataclass(frozen=True, slots=True)
class SegmentColumns:
    """Columns that a map has coefficients for; `strange` counts rows, by column, of values new to the fit."""

    option: ClassVar = "--on"
    names: tuple[str, ...]
    strange: Callable[[Sequence[Mixed]], Mapping[str, int]] = field(compare=False)


Members = Groups | tuple[Mixed, ...]
"""What a map looks at beside the score: the group of each row, or its values of some columns."""


@dataclass(frozen=True, slots=True)
class OfSegments:
    """A transform of scores that looks at the values of some columns of a row."""

    map: Callable[[Floats, tuple[Mixed, ...]], Floats]

    def change(self, score: Floats, members: Members | None) -> Floats:
        return self.map(score, members if isinstance(members, tuple) else ())


@dataclass(frozen=True, slots=True)
class OfMembers:
    """A transform that looks at the group of a row; `maps` are of groups that have one of their own."""

    maps: Mapping[str, Callable[[Floats], Floats]]
    pooled: Callable[[Floats], Floats]

    def change(self, score: Floats, members: Members | None) -> Floats:
        """Return the scores after the map of each row's group; a row counts by itself."""
        changed = self.pooled(score)
        if not isinstance(members, Groups):
            return changed
        changed = np.array(changed)
        for code, text in enumerate(members.text):
            which = np.flatnonzero(members.code == code) if text in self.maps else ()
            if len(which):
                changed[which] = self.maps[text](score[which])
        return changed


def selected(values: Mixed, places: Places) -> Mixed:
    code = None if values.code is None else places.select(values.code)
    return Mixed(places.select(values.number), code, values.texts)


def placed_members(
    members: Members | None, *, column: MapColumns | None, findings: Findings, places: Places
) -> Members | None:
    """Return what a map looks at in the rows that are left, and note groups that the fit has not seen."""
    if members is None:
        return None
    if isinstance(members, tuple):
        left = tuple(selected(one, places) for one in members)
        if isinstance(column, SegmentColumns):
            findings.strange.update(column.strange(left))
        return left
    renamed = members.spelling.renamed
    members = members.filled().selected(places)
    if not isinstance(column, MemberColumn):
        return members
    refused = [column.refuses(text, renamed=renamed) for text in members.text]
    unseen = np.array(refused, np.bool_)[members.code]
    if unseen.any():
        first = int(np.argmax(unseen))
        text = members.text[int(members.code[first])]
        fault = Fault(int(np.count_nonzero(unseen)), places.row(first), repr(text))
        findings.note(FaultKind.UNSEEN_GROUP, fault)
    elif column.pooled:
        rows = np.bincount(members.code, minlength=len(members.text)).tolist()
        # A text may stand there twice, as where one reads like what is said of a missing group.
        new = [
            pair for pair in zip(members.text, rows, strict=True) if pair[1] and pair[0] not in column.known
        ]
        findings.pooled_rows += sum(many for _, many in new)
        findings.note_first("pooled", (text for text, _ in new))
    return members
