"""Identities of rows as whole numbers of 64 bits: the hash of their text, the same on every machine.

Words of eight bytes are taken in one after the other, each followed by the finaliser of splitmix64, for all
rows at once. Different texts get the same number by chance only: of ten million, any two do with probability
3e-6. The numbers are kept in the states of gates, so the hash of a text never changes. The text of floats,
decimals, times and durations did (`was_renamed`): such ids are not added to states of the first version.

References:
    Steele, Lea & Flood (2014), OOPSLA, "Fast splittable pseudorandom number generators".
"""

from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.data import arrays
from calibcli.data.arrays import Column
from calibcli.options.numerals import MOST_DIGITS, Spelling, is_respelled
from calibcli.stats.table import Booleans, Integers
from calibcli.values import dataclass

Fingerprints = npt.NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BLANK = 0x20
_ZERO = np.uint8(ord("0"))
# What a number begins with.
_FIRST = np.frombuffer(b"+-.0123456789", np.uint8)
# Every text that is a number, and those that are written as their names are unless they are very long.
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,17})?$"
_AS_NAMED = r"^(0|-?[1-9][0-9]*(\.[0-9]*[1-9])?|-?0\.0{0,5}[1-9]([0-9]*[1-9])?)$"


@dataclass(frozen=True, slots=True, eq=False)
class Identities:
    """Fingerprints of a column that tells rows apart, anything where one is missing, and their spelling."""

    values: Fingerprints
    missing: Booleans | None
    spelling: Spelling = Spelling()

    def beside(self, other: "Identities") -> "Identities":
        """Return what tells rows apart by both columns, in this order; missing where either is."""
        both = [one for one in (self.missing, other.missing) if one is not None]
        missing = np.logical_or.reduce(both) if both else None
        return Identities(mixed((mixed(self.values + _GOLDEN) ^ other.values) + _GOLDEN), missing)


def identities_of(column: Column) -> Identities:
    """Read a column of identities by their names; outer blanks do not count, and an empty one is missing."""
    from calibcli.data.values import names_of

    if isinstance(column, pa.DictionaryArray):
        text = names_of(cast("Column", column.dictionary)).take(column.indices)
    else:
        text = names_of(column)
    missing = arrays.nulls(text)
    data, offsets = bytes_of(text)
    if _has_outer_blanks(data, offsets):
        stripped = [("" if one is None else one.strip()).encode() for one in text.to_pylist()]
        text = arrays.texts(stripped, pa.large_string())
        data, offsets = bytes_of(text)
    empty = offsets[1:] == offsets[:-1]
    if empty.any():
        missing = empty if missing is None else missing | empty
    kind = arrays.value_type(column.type)
    respelled = first_respelled(text) if arrays.is_text(kind) else None
    spelling = Spelling(arrays.is_number(kind), arrays.is_text(kind), respelled, was_renamed(kind))
    return Identities(fingerprints(data, offsets), missing, spelling)


def was_renamed(kind: pa.DataType) -> bool:
    """Whether values of a type were named otherwise when states had their first version."""
    test = pa.types
    times = test.is_timestamp(kind) or test.is_time(kind) or test.is_duration(kind)
    return times or test.is_floating(kind) or test.is_decimal(kind)


def fingerprints(data: npt.NDArray[np.uint8], offsets: Integers) -> Fingerprints:
    padded = np.concatenate((data, np.zeros(8, np.uint8)))
    # The eight bytes from any place on.
    words = np.ndarray((data.size + 1,), "<u8", padded, strides=(1,))
    begins, lengths = offsets[:-1], np.diff(offsets)
    found = mixed(lengths.astype(np.uint64) * _GOLDEN)
    for start in range(0, int(lengths.max(initial=0)), 8):
        left = lengths - start
        some = np.flatnonzero(left > 0)
        word = words[begins[some] + start].astype(np.uint64)
        unused = np.uint64(8) * np.maximum(8 - left[some], 0).astype(np.uint64)
        word = (word << unused) >> unused
        found[some] = mixed((found[some] ^ word) + _GOLDEN)
    return found


def mixed(value: Fingerprints) -> Fingerprints:
    """Return the finaliser of splitmix64, a bijection of 64 bits."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def bytes_of(text: Column) -> tuple[npt.NDArray[np.uint8], Integers]:
    """Return the buffers of a column of large strings."""
    _, offsets, data = text.buffers()
    if offsets is None or len(text) == 0:
        return np.zeros(0, np.uint8), np.zeros(len(text) + 1, np.int64)
    begins = np.frombuffer(memoryview(offsets), np.int64)[text.offset : text.offset + len(text) + 1]
    return np.zeros(0, np.uint8) if data is None else np.frombuffer(memoryview(data), np.uint8), begins


def first_respelled(text: Column) -> str | None:
    """Return the first text that is a number written otherwise than its name, such as 007, or None."""
    import pyarrow.compute as pc

    compute = cast("Any", pc)
    data, offsets = bytes_of(text)
    content = data[offsets[0] : offsets[-1]]
    if all(((part - _ZERO) < 10).all() for part in (content[:4096], content)):
        # Digits alone, as ids mostly are.
        left = np.flatnonzero(np.diff(offsets) > 1)
        zeros = left[data[offsets[left]] == _ZERO]
        return None if not zeros.size else str(text[int(zeros[0])])
    full = np.flatnonzero(np.diff(offsets) > 0)
    some = text.take(arrays.place_column(full[np.isin(data[offsets[full]], _FIRST)]))
    numbers = some.filter(compute.match_substring_regex(some, _NUMBER))
    # To compare numbers with a number of Python would import pandas.
    long = np.diff(bytes_of(numbers)[1]) > MOST_DIGITS
    named = arrays.booleans(compute.match_substring_regex(numbers, _AS_NAMED))
    requested = numbers.take(arrays.place_column(np.flatnonzero(long | ~named)))
    return next((one for one in requested.to_pylist() if is_respelled(str(one))), None)


def _has_outer_blanks(data: npt.NDArray[np.uint8], offsets: Integers) -> bool:
    full = np.flatnonzero(offsets[1:] > offsets[:-1])
    outer = np.concatenate((data[offsets[full]], data[offsets[full + 1] - 1]))
    # Blanks beyond ASCII begin with one of these bytes in UTF-8, as much else does.
    return bool(np.any(outer <= _BLANK) or np.any(outer >= 0x80))
