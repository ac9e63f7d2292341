"""Which rows are asked for: those that satisfy conditions, the first so many, or so many drawn."""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import NoReturn, cast

import numpy as np
import pyarrow as pa

from calibcli.data.arrays import Column, booleans, is_number, nulls, places_in, plain, value_type
from calibcli.data.groups import can_be_groups, groups_of
from calibcli.data.row_ids import Fingerprints, mixed
from calibcli.errors import InputProblem
from calibcli.names import Purpose, Sign
from calibcli.options.conditions import Condition, Literal
from calibcli.options.numerals import (
    folded,
    number_name,
    number_of,
    out_of_order,
    period_of,
    usual_name,
    without_digits,
    without_thousands,
)
from calibcli.stats.numerics import Booleans
from calibcli.values import dataclass, replace

_TRUTHS = ("true", "false")

# A number with separators, a sign of money or per cent, or a unit.
_WRITTEN_OTHERWISE = r"\W*\d[\d.,'\s]*(?:\W|[^\W\d]+)?"

_BY_EQUALITY = (Sign.EQUAL, Sign.UNEQUAL, Sign.IN)


def satisfied(
    batch: pa.RecordBatch,
    conditions: Sequence[Condition],
    *,
    first_row: int,
    shown: str,
    decimal: str = ".",
    alike: dict[str, None] | None = None,
) -> Booleans:
    """Return which rows satisfy all conditions, shape (n,); none does whose value is missing.

    Texts that differ from a value in capitals alone are added to `alike`.
    """
    found, kept = np.ones((2, batch.num_rows), np.bool_)
    unsaid: list[tuple[Condition, Booleans]] = []
    for one in conditions:
        column = batch.column(one.column)
        kind = value_type(column.type)
        if not can_be_groups(kind):
            msg = f"{shown}, column {one.column!r}: it holds {kind}, which --where does not compare"
            raise InputProblem(msg, "name a column of text, numbers or dates")
        if _is_typed(column):
            met = odd = _by_entry(column, partial(_of_type, condition=one, shown=shown))
        else:
            met, odd, others = _of_texts(column, one, shown=shown, decimal=decimal)
            unsaid.append((one, odd))
            if alike is not None:
                alike |= dict.fromkeys(others)
        found &= met
        kept &= met | odd
    # A row that another condition leaves out is not checked.
    for one, odd in unsaid:
        if (odd & kept).any():
            at = int(np.argmax(odd & kept))
            text = groups_of(batch.column(one.column).slice(at, 1)).names()[0]
            _refuse_text(text, one, f"{shown}, column {one.column!r}: {text!r} at row {first_row + at + 1:,}")
    return found


def unsatisfied(column: Column, condition: Condition, *, decimal: str) -> tuple[Booleans, list[str]]:
    """Return which texts certainly do not satisfy a condition, and which differ from it in capitals alone."""
    met, odd, alike = _of_texts(column, condition, shown="", decimal=decimal)
    return ~(met | odd), alike


def equal_to(column: Column, text: str) -> Booleans:
    """Return which values a text is, read as the type of the column; none where it is no value of it."""
    from calibcli.data.values import equals

    if _is_typed(column):
        return _by_entry(column, lambda values: equals(values, text))
    groups, wanted = groups_of(column), text.strip()
    if pa.types.is_boolean(value_type(column.type)):
        wanted = wanted.casefold()
    found = np.array([one == wanted for one in groups.text], np.bool_)[groups.code]
    return found if groups.missing is None else found & ~groups.missing


def _is_typed(column: Column) -> bool:
    """Whether a value is read as the type of the column, which is neither text nor true and false."""
    from calibcli.data.values import can_be_compared

    kind = value_type(column.type)
    entries = column.type.value_type if isinstance(column, pa.DictionaryArray) else column.type
    return can_be_compared(entries if isinstance(entries, pa.UuidType) else kind)


def _by_entry(column: Column, satisfies: Callable[[Column], Booleans]) -> Booleans:
    """Return which values satisfy what is asked of the different ones; none does that is missing."""
    column = column if isinstance(column.type, pa.UuidType) else plain(column)
    if not isinstance(column, pa.DictionaryArray):
        found, missing = satisfies(column), nulls(column)
        return found if missing is None else found & ~missing
    if not len(column.dictionary):
        return np.zeros(len(column), np.bool_)
    index, missing = places_in(column)
    found = _by_entry(cast("Column", column.dictionary), satisfies)[index]
    return found if missing is None else found & ~missing


def _of_type(column: Column, *, condition: Condition, shown: str) -> Booleans:
    """Compare a column of numbers, dates, times or UUIDs with values that are read as its type."""
    from calibcli.data.values import Unreadable, compared

    found = np.zeros(len(column), np.bool_)
    if _is_any_value(condition):
        return ~booleans(column.is_null(nan_is_null=True))
    for value in condition.values:
        quoted = is_number(column.type) and value.number is None
        try:
            # What stands in quotes is text, and no number.
            found |= compared(column, condition.sign, "" if quoted else value.text)
        except Unreadable as problem:
            where = f"{shown}, column {condition.column!r}"
            msg = f"{where}: it holds {column.type}, and --where compares it with {value}"
            raise InputProblem(msg, f"compare it with {problem}") from None
    return found


def _is_any_value(condition: Condition) -> bool:
    """Whether rows are asked for that have a value: `!=-` says so of columns of every type."""
    return condition.sign is Sign.UNEQUAL and condition.values[0].text == "-"


def _of_texts(
    column: Column, condition: Condition, *, shown: str, decimal: str
) -> tuple[Booleans, Booleans, list[str]]:
    """Return which texts satisfy a condition, which may, and which differ from a value in capitals alone."""
    kind = value_type(column.type)
    if pa.types.is_boolean(kind):
        _refuse_untrue(condition, shown)
        values = tuple(Literal(value.text.casefold(), None) for value in condition.values)
        condition = replace(condition, values=values)
    groups = groups_of(column)
    verdicts = _verdicts(groups.text, condition, decimal=decimal)
    odd = np.array([one is None for one in verdicts], np.bool_)[groups.code]
    found = np.array([bool(one) for one in verdicts], np.bool_)[groups.code]
    there = True if groups.missing is None else ~groups.missing
    return found & there, odd & there, _alike(groups.names(), condition)


def _alike(texts: Sequence[str], condition: Condition) -> list[str]:
    if condition.sign not in _BY_EQUALITY:
        return []
    values = {value.text.strip() for value in condition.values}
    wanted = {folded(value) for value in values}
    return [text for text in texts if text not in values and folded(text) in wanted]


def _verdicts(texts: Sequence[str], condition: Condition, *, decimal: str) -> list[bool | None]:
    """Return of each text whether it satisfies a condition; None where it cannot be said.

    That is where its order among numbers is asked and it is none, or its order in time or among numbers
    where letters have another, and where it is the same number as a value without quotes, as 1.0 is 1: the
    one who wrote that may mean the number or the text.
    """
    from calibcli.data.values import OPERATORS

    if condition.sign in _BY_EQUALITY:
        values = {value.text.strip() for value in condition.values}
        alike = {number_name(value.number) for value in condition.values if value.number is not None}
        apart = condition.sign is Sign.UNEQUAL
        return [
            None if alike and text not in values and usual_name(text) in alike else (text in values) != apart
            for text in texts
        ]
    compares, value = OPERATORS[condition.sign], condition.values[0]
    if value.number is not None:
        numbers = (number_of(text, decimal=decimal) for text in texts)
        return [None if one is None else compares(one, value.number) for one in numbers]
    wanted = value.text.strip()
    odd, limit = out_of_order(texts, wanted), _counted(wanted)
    if limit is not None:
        counted = {text: number for text in texts if (number := _counted(text)) is not None}
        astray = [
            text for text, number in counted.items() if compares(number, limit) != compares(text, wanted)
        ]
        odd |= {text for text in astray if not (_may_be_date(wanted) and _may_be_date(text))}
    return [None if text in odd else compares(text, wanted) for text in texts]


def _counted(text: str) -> Decimal | None:
    """Return the number that a text is; none of one with zeros in front, which may be a code."""
    return None if re.match(r"-?0\d", text) else number_of(without_thousands(text))


def _may_be_date(text: str) -> bool:
    """Whether digits begin as a date, its year first: letters put 20240131 before 202405, as time does."""
    return period_of(text[:8]) is not None


def _refuse_text(text: str, condition: Condition, where: str) -> NoReturn:
    """Refuse a text of which a condition cannot be said."""
    if condition.sign in _BY_EQUALITY:
        msg = f"{where} is text, and {condition.text!r} compares it with a number"
        texts = ",".join(map(repr, dict.fromkeys((*(one.text for one in condition.values), text))))
        apart = condition.sign is Sign.UNEQUAL
        meant = f"!={text!r}" if apart else f" in {texts}"
        raise InputProblem(msg, f"put values in quotes to compare text, as in {condition.column}{meant}")
    out = f"leave it out with another --where, as in {condition.column}!={text!r}"
    if condition.values[0].number is not None:
        msg = f"{where} is not a number, and {condition.text!r} compares numbers"
        # In quotes a value has the order of letters, which is not that of numbers written otherwise.
        if re.fullmatch(_WRITTEN_OTHERWISE, text):
            raise InputProblem(msg, f"write numbers like 1234.5, or {out}")
        raise InputProblem(msg, f"{out}, or put the value in quotes to compare text")
    if _counted(text) is not None and _counted(condition.values[0].text) is not None:
        msg = f"{where} is a number, and {condition.text!r} compares text, in the order of letters"
        raise InputProblem(msg, "leave out the quotes to compare numbers")
    if without_digits(text):
        msg = f"{where} is no date, and {condition.text!r} compares dates"
        raise InputProblem(msg, out)
    msg = f"{where} and {condition.text!r} are dates that are not written alike with the year first"
    hint = "text has the order of letters: write all in one way, like 2024-07-31 or 2024-07-31T12:00:00Z"
    value = condition.values[0].text.strip()
    shorter = re.sub(r"(?:[.,]0+)?Z$", "", value)
    # Without its end a value is the same time, and rows that go on stand above it: none is equal.
    at_edge = condition.sign in (Sign.AT_LEAST, Sign.BELOW) and shorter != value and text.endswith("Z")
    if at_edge and not out_of_order((text,), shorter):
        hint = f"shorten the value to what all rows have: {condition.text.replace(value, shorter)!r}"
    raise InputProblem(msg, hint)


def _refuse_untrue(condition: Condition, shown: str) -> None:
    """Refuse to compare true and false with anything else, or by order."""
    ordered = condition.sign not in _BY_EQUALITY
    strange = [value for value in condition.values if value.text.casefold() not in _TRUTHS]
    if ordered or (strange and not _is_any_value(condition)):
        msg = f"{shown}, column {condition.column!r}: it holds true and false, unlike {condition.text!r}"
        raise InputProblem(msg, f"write {condition.column}==true or {condition.column}==false")


# A file has fewer rows, and an input fewer files.
_ROW_BITS = 44


@dataclass(frozen=True, slots=True)
class Sampling:
    """The lots of the rows of a file, by its place in the input; up to `highest` are taken, None for all."""

    file: int
    seed: int
    highest: int | None = None

    def of(self, first_row: int, count: int) -> Fingerprints:
        """Return the lots of `count` rows of which `first_row` of the file come before, shape (count,)."""
        sequence = np.random.SeedSequence(self.seed, spawn_key=(int(Purpose.SAMPLE),))
        one, two = sequence.generate_state(2, np.uint64)
        rows = np.arange(first_row, first_row + count, dtype=np.uint64)
        key = rows | np.uint64(self.file << _ROW_BITS)
        return mixed(mixed(key ^ one) ^ two)

    def taken(self, first_row: int, count: int) -> Booleans | None:
        """Return which of these rows are taken, shape (count,); None for all."""
        return None if self.highest is None else self.of(first_row, count) <= np.uint64(self.highest)


def lowest(draws: Fingerprints, count: int) -> Fingerprints:
    """Return the lowest of some lots, at most `count` of them, in any order."""
    return draws if draws.size <= count else np.partition(draws, count - 1)[:count]


@dataclass(frozen=True, slots=True)
class FileSelection:
    """Which rows of a file are read: by conditions, `until` the last that counts, and by lots."""

    conditions: tuple[Condition, ...] = ()
    until: int | None = None
    sampling: Sampling | None = None

    @property
    def chooses(self) -> bool:
        """Whether rows are looked at one by one."""
        return bool(self.conditions) or self.sampling is not None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.column for one in self.conditions))

    def of(
        self,
        batch: "pa.RecordBatch",
        *,
        first_row: int,
        shown: str,
        decimal: str = ".",
        alike: dict[str, None] | None = None,
    ) -> "Booleans | None":
        """Return which rows of a batch are read, shape (n,); None for all."""
        drawn = None if self.sampling is None else self.sampling.taken(first_row, batch.num_rows)
        if not self.conditions:
            return drawn

        found = satisfied(
            batch, self.conditions, first_row=first_row, shown=shown, decimal=decimal, alike=alike
        )
        return found if drawn is None else found & drawn

    def first_of(self, batches: "Iterator[pa.RecordBatch]", first_row: int) -> "Iterator[pa.RecordBatch]":
        """Return batches up to the last row that counts, where `first_row` of the file come before."""
        return batches if self.until is None else _first_rows(batches, self.until - first_row)


EVERY_ROW = FileSelection()


def _first_rows(batches: "Iterator[pa.RecordBatch]", count: int) -> "Iterator[pa.RecordBatch]":
    for batch in batches:
        if batch.num_rows >= count:
            yield batch.slice(0, count)
            return
        count -= batch.num_rows
        yield batch
