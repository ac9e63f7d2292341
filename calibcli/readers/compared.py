"""Which rows of a record batch satisfy conditions."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

import numpy as np
import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.options.conditions import Condition, Literal
from calibcli.options.numerals import number_name, number_of, usual_name
from calibcli.readers.decode import (
    Booleans,
    Column,
    is_number,
    nulls,
    plain,
    value_type,
    without_nulls,
)
from calibcli.readers.groups import can_be_groups, groups_of
from calibcli.readers.values import OPERATORS, Unreadable, can_be_compared, compared
from calibcli.selection_names import Comparison

_TRUTHS = ("true", "false")
_BY_EQUALITY = (Comparison.EQUAL, Comparison.UNEQUAL, Comparison.IN)


def satisfied(
    batch: pa.RecordBatch, conditions: Sequence[Condition], *, first_row: int, shown: str
) -> Booleans:
    """
    Return which rows satisfy all conditions, shape (n,); none does whose value is missing.

    Args:
        batch: Rows with the columns of the conditions.

        conditions: There is at least one.

        first_row: How many rows of the file come before.

        shown: The file's name in messages.

    Raises:
        InputProblem: If a column cannot be compared with what a condition says.
    """
    found = np.ones(batch.num_rows, np.bool_)
    for one in conditions:
        column = batch.column(one.column)
        kind = value_type(column.type)
        if not can_be_groups(kind):
            msg = f"{shown}, column {one.column!r}: it holds {kind}, which --where does not compare"
            raise InputProblem(msg, "name a column of text, numbers or dates")
        if _is_typed(column):
            found &= _by_entry(column, partial(_of_type, condition=one, shown=shown))
        else:
            found &= _of_texts(column, one, first_row=first_row, shown=shown)
    return found


def equal_to(column: Column, text: str) -> Booleans:
    """Return which values a text is, read as the type of the column; none where it is no value of it."""
    if _is_typed(column):
        try:
            return _by_entry(column, lambda values: compared(values, Comparison.EQUAL, text))
        except Unreadable:
            return np.zeros(len(column), np.bool_)
    groups, wanted = groups_of(column), text.strip()
    if pa.types.is_boolean(value_type(column.type)):
        wanted = wanted.casefold()
    found = np.array([one == wanted for one in groups.text], np.bool_)[groups.code]
    return found if groups.missing is None else found & ~groups.missing


def _is_typed(column: Column) -> bool:
    """Whether a value is read as the type of the column, which is neither text nor true and false."""
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
    missing = nulls(column)
    index = np.asarray(np.from_dlpack(without_nulls(cast("Column", column.indices))))
    found = _by_entry(cast("Column", column.dictionary), satisfies)
    return found[index] if missing is None else found[np.where(missing, 0, index)] & ~missing


def _of_type(column: Column, *, condition: Condition, shown: str) -> Booleans:
    """Compare a column of numbers, dates, times or UUIDs with values that are read as its type."""
    found = np.zeros(len(column), np.bool_)
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


def _of_texts(column: Column, condition: Condition, *, first_row: int, shown: str) -> Booleans:
    """Compare every different text once: its letters, and its order with a number as a number."""
    kind = value_type(column.type)
    if pa.types.is_boolean(kind):
        _refuse_untrue(condition, shown)
        condition = _folded(condition)
    groups = groups_of(column)
    verdicts = [_text_satisfies(text, condition) for text in groups.text]
    odd = np.array([one is None for one in verdicts], np.bool_)[groups.code]
    if groups.missing is not None:
        odd &= ~groups.missing
    if odd.any():
        at = int(np.argmax(odd))
        text = groups.text[int(groups.code[at])]
        where = f"{shown}, column {condition.column!r}: {text!r} at row {first_row + at + 1:,}"
        if condition.sign in _BY_EQUALITY:
            msg = f"{where} is text, which {condition.text!r} means as a number and does not equal as text"
            raise InputProblem(
                msg, f"put the value into quotes to compare text: {condition.column}=={text!r}"
            )
        msg = f"{where} is no number to compare as {condition.text!r} does"
        raise InputProblem(msg, "put the value into quotes to compare text, or name another column")
    found = np.array([bool(one) for one in verdicts], np.bool_)[groups.code]
    return found if groups.missing is None else found & ~groups.missing


def _text_satisfies(text: str, condition: Condition) -> bool | None:
    """
    Return whether a text does; None where it cannot be said.

    That is where its order among numbers is asked and it is none, and where it is the same number as a value
    without quotes, as 1.0 is 1: the one who wrote that may mean the number or the text.
    """
    if condition.sign in _BY_EQUALITY:
        equal = any(text == value.text.strip() for value in condition.values)
        if not equal and any(_respells(text, value) for value in condition.values):
            return None
        return equal == (condition.sign is not Comparison.UNEQUAL)
    value = condition.values[0]
    if value.number is None:
        return bool(OPERATORS[condition.sign](text, value.text.strip()))
    number = number_of(text)
    return None if number is None else bool(OPERATORS[condition.sign](number, value.number))


def _respells(text: str, value: Literal) -> bool:
    return value.number is not None and usual_name(text) == number_name(value.number)


def _refuse_untrue(condition: Condition, shown: str) -> None:
    """Refuse to compare true and false with anything else, or by order."""
    ordered = condition.sign not in (Comparison.EQUAL, Comparison.UNEQUAL, Comparison.IN)
    strange = [value for value in condition.values if value.text.casefold() not in _TRUTHS]
    if ordered or strange:
        msg = f"{shown}, column {condition.column!r}: it holds true and false, unlike {condition.text!r}"
        raise InputProblem(msg, f"write {condition.column}==true or {condition.column}==false")


def _folded(condition: Condition) -> Condition:
    values = tuple(Literal(value.text.casefold(), None) for value in condition.values)
    return Condition(condition.column, condition.sign, values, condition.text)
