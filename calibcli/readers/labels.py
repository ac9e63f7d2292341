"""Labels of any type to True and False: 0 and 1, true and false, or `--positive` and the rest."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.readers.decode import (
    Booleans,
    Column,
    as_text,
    booleans,
    floats,
    is_number,
    is_text,
    nulls,
    plain,
    without_nulls,
)
from calibcli.readers.faults import MOST_LABELS
from calibcli.readers.places import Places
from calibcli.table.score_table import Floats, Integers, run_starts

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """
    A column of labels.

    Args:
        positive: Shape (n,), True for label 1.

        missing: Shape (n,), or None if nothing is missing.

        strange: Shape (n,), which labels are neither 0 nor 1 (a missing one may seem so); None if all are.

        codes: Shape (n,), equal where labels are equal.

        text: Returns the label of a row as text.
    """

    positive: Booleans
    missing: Booleans | None
    strange: Booleans | None
    codes: npt.NDArray[np.generic]
    text: Callable[[int], str]

    def distinct(self, places: Places) -> list[str]:
        """Return the different labels among the rows that are left, in order of appearance, as text."""
        order = _first_rows(places.select(self.codes))
        return [self.text(int(row)) for row in (order if places.kept is None else places.kept[order])]


def _first_rows(codes: npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
    """Return where each different code stands first, ascending; a few more than a message can list."""
    other = np.flatnonzero(codes != codes[:1])
    if not other.size or (codes[other] == codes[other[0]]).all():
        # One code or two, as labels mostly are: no need to sort them.
        return np.append(np.arange(codes.size)[:1], other[:1])
    ranked = np.argsort(codes, kind="stable")
    return np.sort(ranked[run_starts(codes[ranked])])[: MOST_LABELS + 1]


def can_be_labels(kind: pa.DataType) -> bool:
    """Whether a column type can hold labels."""
    return is_number(kind) or is_text(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)


def labels_of(column: Column, positive: str | None) -> Labels:
    """
    Read a column of labels.

    Args:
        column: Booleans, numbers, text, or a dictionary of these.

        positive: The label that stands for 1, with all others for 0; None for 0 and 1.
    """
    column = plain(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.bool_())
    if is_text(column.type):
        column = as_text(column).dictionary_encode()
    if isinstance(column, pa.DictionaryArray):
        return _of_dictionary(column, positive)
    if pa.types.is_boolean(column.type):
        return _of_booleans(column, positive)
    return _of_numbers(column, positive)


def _of_dictionary(column: "pa.DictionaryArray[Any, Any]", positive: str | None) -> Labels:
    """Look every label up by its place in the dictionary."""
    values = plain(cast("Column", column.dictionary))
    entries = _of_texts(values, positive) if is_text(values.type) else labels_of(values, positive)
    missing = nulls(column)
    index = cast("Integers", np.from_dlpack(without_nulls(cast("Column", column.indices))))
    if missing is not None:
        index = np.where(missing, 0, index)
    if not len(values):
        # Nothing but nulls: there is no entry to look up.
        nothing = np.zeros(len(column), np.bool_)
        return Labels(nothing, missing, None, nothing, lambda _: "")
    if entries.missing is not None:
        lost = entries.missing[index]
        missing = lost if missing is None else missing | lost
    strange = None if entries.strange is None else entries.strange[index]
    return Labels(entries.positive[index], missing, strange, index, lambda row: entries.text(int(index[row])))


def _of_texts(values: Column, positive: str | None) -> Labels:
    """Read the entries of a dictionary of text, one by one."""
    # A cast imports pyarrow.compute, which takes longer than a small file does.
    entries = values if pa.types.is_string(values.type) else as_text(values)
    texts = [("" if text is None else str(text)).strip() for text in entries.to_pylist()]
    missing = np.array([not text for text in texts], np.bool_)
    places = np.arange(len(texts))
    if positive is not None:
        ones = np.array([same_label(text, positive) for text in texts], np.bool_)
        return Labels(ones, missing, None, places, texts.__getitem__)
    meaning = [_binary(text) for text in texts]
    strange = np.array([one is None for one in meaning], np.bool_)
    ones = np.array([bool(one) for one in meaning], np.bool_)
    return Labels(ones, missing, strange if strange.any() else None, places, texts.__getitem__)


def _of_booleans(column: Column, positive: str | None) -> Labels:
    values = booleans(column)
    wanted = True if positive is None else _binary(positive.strip())
    ones = np.zeros_like(values) if wanted is None else values == wanted
    return Labels(ones, nulls(column), None, values, lambda row: str(bool(values[row])).lower())


def _of_numbers(column: Column, positive: str | None) -> Labels:
    """Compare numbers as they are stored: rounding to a boolean would take 0.5 for true."""
    missing: Booleans | None
    values: npt.NDArray[np.int64] | Floats
    if pa.types.is_integer(column.type):
        values, missing = cast("Integers", np.from_dlpack(without_nulls(column))), nulls(column)
    else:
        decoded = floats(column)
        values, missing = decoded.values, decoded.missing
    strange: Booleans | None = None
    if positive is not None:
        wanted = number_of(positive)
        ones = np.zeros(values.size, np.bool_) if wanted is None else values == wanted
    else:
        ones = values == 1
        if np.count_nonzero(ones) + np.count_nonzero(values == 0) < values.size:
            strange = ~ones & (values != 0)
    return Labels(ones, missing, strange, values, lambda row: number_text(float(values[row])))


def number_text(value: float) -> str:
    """Return the shortest text of a number, whole numbers without a point."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e16 else repr(value)


def _binary(text: str) -> bool | None:
    """Return what a label means as it stands, or None if it is neither 0 nor 1."""
    word = _WORDS.get(text.casefold())
    number = number_of(text)
    return number == 1.0 if word is None and number in (0.0, 1.0) else word


def whole_number(text: str) -> int | None:
    """Return the whole number that a text is, such as 3 or 3.0; None if it is none."""
    number = number_of(text)
    return int(number) if number is not None and number.is_integer() else None


def same_label(text: str, positive: str) -> bool:
    """Whether a label is the positive one, as text or as a number."""
    if text == positive.strip():
        return True
    number = number_of(text)
    return number is not None and number == number_of(positive)


def number_of(text: str) -> float | None:
    """Return the number that a text is, or None if it is none."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else None
