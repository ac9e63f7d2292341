"""
Identities of rows as whole numbers of 64 bits: the hash of their text, the same on every machine.

Words of eight bytes are taken in one after the other, each followed by the finaliser of splitmix64, for all
rows at once. Different texts get the same number by chance only: of ten million, any two do with probability
3e-6. The numbers are kept in the states of gates, so the hash of a text never changes. The text of floats,
decimals, times and durations did (`was_renamed`): such ids are not added to states of the first version.

References:
    Steele, Lea & Flood (2014), OOPSLA, "Fast splittable pseudorandom number generators".
"""

from functools import cache
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.data.arrays import Booleans, Column, is_number, is_text, nulls, value_type
from calibcli.data.faults import Places
from calibcli.options.numerals import MOST_DIGITS, Spelling, is_respelled
from calibcli.stats.table.score_table import Integers
from calibcli.values import dataclass

Fingerprints = npt.NDArray[np.uint64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_BLANK = 0x20
_ZERO = np.uint8(ord("0"))
_ROWS_AT_ONCE = 1 << 16
# Reading a text as a number: the state after each at a plus, a minus, a 0, another digit, a point, and an e.
_STEPS = {
    "": ("", "", "", "", "", ""),
    "start": ("plus", "minus", "nought", "whole", "bare", ""),
    "plus": ("", "", "other", "other", "bare", ""),
    "minus": ("", "", "odd nought", "whole", "bare", ""),
    "nought": ("", "", "other", "other", "0.", "e"),
    "odd nought": ("", "", "other", "other", "0.", "e"),
    "whole": ("", "", "whole", "whole", "1.", "e"),
    "1.": ("", "", "1.0", "1.1", "", "e"),
    "1.0": ("", "", "1.0", "1.1", "", "e"),
    "1.1": ("", "", "1.0", "1.1", "", "e"),
    "0.": ("", "", "0.0", "1.1", "", "e"),
    "0.0": ("", "", "0.00", "1.1", "", "e"),
    "0.00": ("", "", "0.000", "1.1", "", "e"),
    "0.000": ("", "", "0.0000", "1.1", "", "e"),
    "0.0000": ("", "", "0.00000", "1.1", "", "e"),
    "0.00000": ("", "", "other part", "1.1", "", "e"),
    "other": ("", "", "other", "other", "other part", "e"),
    "bare": ("", "", "other part", "other part", "", ""),
    "other part": ("", "", "other part", "other part", "", "e"),
    "e": ("e+", "e+", "power", "power", "", ""),
    "e+": ("", "", "power", "power", "", ""),
    "power": ("", "", "power", "power", "", ""),
}
# States in which what was read is a number as its name has it, no number, or one that is looked at by itself.
_AS_NAMED = ("nought", "whole", "1.1")
_NO_NUMBER = ("", "start", "plus", "minus", "bare", "e", "e+")
_TO_BE_ASKED = ("power",)


@dataclass(frozen=True, slots=True, eq=False)
class Identities:
    """
    A column that tells rows apart.

    Args:
        values: Fingerprints, shape (n,); anything where the identity is missing.
        spelling: Whether they are numbers, or text that is a number written otherwise.
    """

    values: Fingerprints
    missing: Booleans | None
    spelling: Spelling = Spelling()

    def selected(self, places: Places) -> Fingerprints:
        """Return the fingerprints of the rows that are left."""
        return places.select(self.values)


def identities_of(column: Column) -> Identities:
    """Read a column of identities by their names; outer blanks do not count, and an empty one is missing."""
    from calibcli.data.values import names_of

    if isinstance(column, pa.DictionaryArray):
        column = cast("Column", column.dictionary_decode())
    text = names_of(column)
    missing = nulls(text)
    data, offsets = bytes_of(text)
    if _has_outer_blanks(data, offsets):
        stripped = [("" if one is None else one.strip()).encode() for one in text.to_pylist()]
        data = np.frombuffer(b"".join(stripped), np.uint8)
        offsets = np.cumsum([0, *map(len, stripped)], dtype=np.int64)
    empty = offsets[1:] == offsets[:-1]
    if empty.any():
        missing = empty if missing is None else missing | empty
    kind = value_type(column.type)
    respelled = first_respelled(data, offsets) if is_text(kind) else None
    spelling = Spelling(is_number(kind), is_text(kind), respelled, was_renamed(kind))
    return Identities(fingerprints(data, offsets), missing, spelling)


def was_renamed(kind: pa.DataType) -> bool:
    """Whether values of a type were named otherwise when states had their first version."""
    test = pa.types
    times = test.is_timestamp(kind) or test.is_time(kind) or test.is_duration(kind)
    return times or test.is_floating(kind) or test.is_decimal(kind)


def fingerprints(data: npt.NDArray[np.uint8], offsets: Integers) -> Fingerprints:
    """Hash texts."""
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


def first_respelled(data: npt.NDArray[np.uint8], offsets: Integers) -> str | None:
    """Return the first text that is a number written otherwise than its name, such as 007, or None."""
    begins, lengths = offsets[:-1], np.diff(offsets)
    left = np.flatnonzero(lengths > 0)
    content = data[offsets[0] : offsets[-1]]
    if all(((part - _ZERO) < 10).all() for part in (content[:4096], content)):
        # Digits alone, as ids mostly are.
        zeros = left[(data[begins[left]] == _ZERO) & (lengths[left] > 1)]
        return None if not zeros.size else bytes(data[offsets[zeros[0]] : offsets[zeros[0] + 1]]).decode()
    for start in range(0, left.size, _ROWS_AT_ONCE):
        found = _respelled_among(left[start : start + _ROWS_AT_ONCE], data, begins, lengths)
        if found is not None:
            return found
    return None


def _respelled_among(
    rows: Integers, data: npt.NDArray[np.uint8], begins: Integers, lengths: Integers
) -> str | None:
    """Return the first text of some rows, none of them empty, that is a number written otherwise."""
    steps, otherwise, asked = _reading()
    state = np.full(rows.size, list(_STEPS).index("start"), np.uint8)
    ended = []
    place = 0
    while rows.size:
        state = steps[state, data[begins[rows] + place]]
        place += 1
        over = lengths[rows] == place
        # A whole number of so many digits has a power of ten in its name.
        which = over & (otherwise[state] | asked[state] | ((state > 0) & (place > MOST_DIGITS)))
        ended.append(np.stack((rows[which], otherwise[state[which]])))
        on = (state > 0) & ~over
        rows, state = rows[on], state[on]
    for row, is_respelt in sorted(np.concatenate(ended, axis=1).T.tolist()):
        text = bytes(data[begins[row] : begins[row] + lengths[row]]).decode()
        if is_respelt or is_respelled(text):
            return text
    return None


@cache
def _reading() -> tuple[npt.NDArray[np.uint8], Booleans, Booleans]:
    """Return the state after each one and a byte, and which are numbers written otherwise, or to be asked."""
    states = list(_STEPS)
    steps = np.zeros((len(states), 256), np.uint8)
    for state, after in _STEPS.items():
        for letters, then in zip(("+", "-", "0", "123456789", ".", "eE"), after, strict=True):
            steps[states.index(state), [ord(letter) for letter in letters]] = states.index(then)
    asked = np.array([state in _TO_BE_ASKED for state in states])
    usual = np.array([state in (*_AS_NAMED, *_NO_NUMBER) for state in states])
    return steps, ~usual & ~asked, asked


def _has_outer_blanks(data: npt.NDArray[np.uint8], offsets: Integers) -> bool:
    full = np.flatnonzero(offsets[1:] > offsets[:-1])
    outer = np.concatenate((data[offsets[full]], data[offsets[full + 1] - 1]))
    # Blanks beyond ASCII begin with one of these bytes in UTF-8, as much else does.
    return bool(np.any(outer <= _BLANK) or np.any(outer >= 0x80))
