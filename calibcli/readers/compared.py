"""Which rows of a record batch satisfy conditions."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.readers.conditions import Condition, Literal, number_in
from calibcli.readers.decode import Booleans, Column, is_number, is_text, nulls, value_type, without_nulls
from calibcli.readers.groups import can_be_groups, groups_of
from calibcli.selection_names import Comparison

_TRUTHS = ("true", "false")
_SIGNED: dict[Comparison, Callable[[Any, Any], Any]] = {
    Comparison.EQUAL: operator.eq,
    Comparison.UNEQUAL: operator.ne,
    Comparison.AT_MOST: operator.le,
    Comparison.AT_LEAST: operator.ge,
    Comparison.BELOW: operator.lt,
    Comparison.ABOVE: operator.gt,
}


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
        if is_number(kind) and not isinstance(column, pa.DictionaryArray):
            found &= _of_numbers(column, one, shown)
        elif can_be_groups(kind):
            found &= _of_texts(column, one, first_row=first_row, shown=shown)
        else:
            msg = f"{shown}, column {one.column!r}: it holds {kind}, which --where does not compare"
            raise InputProblem(msg, "name a column of text, numbers or dates")
    return found


def _of_numbers(column: Column, condition: Condition, shown: str) -> Booleans:
    numbers = [value.number for value in condition.values]
    texts = [value for value in condition.values if value.number is None]
    if texts:
        where = f"{shown}, column {condition.column!r}"
        msg = f"{where}: it holds {column.type}, and --where compares it with {texts[0]}"
        raise InputProblem(msg, "compare it with a number, without quotes")
    missing = nulls(column)
    if pa.types.is_decimal(column.type) or pa.types.is_float16(column.type):
        column = column.cast(pa.float64(), safe=False)
    values = np.from_dlpack(without_nulls(column))
    if condition.sign is Comparison.IN:
        found = np.zeros(values.size, np.bool_)
        for number in numbers:
            found |= values == number
    else:
        found = np.asarray(_SIGNED[condition.sign](values, numbers[0]), np.bool_)
    if values.dtype.kind == "f":
        found &= ~np.isnan(values)
    return found if missing is None else found & ~missing


def _of_texts(column: Column, condition: Condition, *, first_row: int, shown: str) -> Booleans:
    """Compare every different text once; numbers among them with numbers."""
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
        what = f"{text!r} at row {first_row + at + 1:,}" if is_text(kind) else f"it holds {kind}"
        msg = (
            f"{shown}, column {condition.column!r}: {what} is no number to compare as {condition.text!r} does"
        )
        raise InputProblem(msg, "put the value into quotes to compare text, or name another column")
    found = np.array([bool(one) for one in verdicts], np.bool_)[groups.code]
    return found if groups.missing is None else found & ~groups.missing


def _text_satisfies(text: str, condition: Condition) -> bool | None:
    """Return whether a text does; None where its order among numbers is asked and it is none."""
    if condition.sign is Comparison.IN:
        return any(_equal(text, value) for value in condition.values)
    value = condition.values[0]
    if condition.sign in (Comparison.EQUAL, Comparison.UNEQUAL):
        return _equal(text, value) == (condition.sign is Comparison.EQUAL)
    if value.number is None:
        return bool(_SIGNED[condition.sign](text, value.text))
    number = number_in(text)
    return None if number is None else bool(_SIGNED[condition.sign](number, value.number))


def _equal(text: str, value: Literal) -> bool:
    return text == value.text if value.number is None else number_in(text) == value.number


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
