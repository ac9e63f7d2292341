"""The values of a column, counted while rows are read, and the few levels that they are cut into."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal
from itertools import pairwise
from typing import Self

import numpy as np

from calibcli.errors import InputProblem
from calibcli.names import MISSING
from calibcli.stats.table import Floats, Integers
from calibcli.stats.table.running import Parts
from calibcli.values import dataclass, replace

# Whole numbers of at most so many different values are names of categories.
MOST_CODES = 20
# Numbers that are compared from file to file are categories if each has so many rows on average.
LEAST_ROWS_EACH = 2
# So many values without a level are kept by name.
_MOST_RARE = 1_000
# More different numbers than these are kept to 20 bits of their mantissa, which moves a cut by a millionth.
MOST_NUMBERS = 1 << 20
_KEPT_BITS = np.int64(-1 << 32)
_MOST_TEXTS = 1_000_000
OTHER = "(other)"


@dataclass(frozen=True, slots=True, eq=False)
class Mixed:
    """Values of a column for some rows: numbers, texts that are none, and gaps.

    Args:
        number: Shape (n,); NaN where there is no number.
        code: Shape (n,), the place of each text in `texts`, -1 where there is none; or None for no texts.
    """

    number: Floats
    code: Integers | None = None
    texts: tuple[str, ...] = ()


class RunningValues:
    """Count the values of one column, in any order of rows and parts.

    Whether numbers are rounded depends on how many different ones there are in the end, and on nothing else.

    Args:
        every: Whether none are, as of scores that are in memory already.
    """

    def __init__(self, name: str, *, rounded: bool = False, every: bool = False) -> None:
        self.name = name
        self.every = every
        self._numbers = Parts(self._summed, _size, least=MOST_NUMBERS)
        self._texts: Counter[str] = Counter()
        self._missing = 0
        self._rounded = rounded

    def add_rows(self, values: Mixed, counts: Integers | None = None) -> None:
        number = np.ones(values.number.size, np.int64) if counts is None else counts
        is_number = ~np.isnan(values.number)
        if is_number.any():
            # Adding 0 takes the sign off -0.0.
            self._numbers.add((values.number[is_number] + 0.0, number[is_number]))
        rest = int(number[~is_number].sum())
        if values.code is not None:
            some = values.code >= 0
            # Of whole numbers below 2^53, so that sums of doubles are exact.
            totals = np.bincount(values.code[some], weights=number[some], minlength=len(values.texts))
            found = totals.astype(np.int64).tolist()
            self._texts.update({text: many for text, many in zip(values.texts, found, strict=True) if many})
            rest -= sum(found)
        self._missing += rest
        self._look_at_texts()

    def add(self, other: Self) -> None:
        for part in other._numbers:
            self._numbers.add(part)
        self._texts.update(other._texts)
        self._missing += other._missing
        self._rounded = self._rounded or other._rounded
        self._look_at_texts()

    def numbers(self) -> tuple[Floats, Integers]:
        """Return the different numbers, ascending, and how many rows have each."""
        return self._numbers.merged() or (np.zeros(0), np.zeros(0, np.int64))

    def rounded_like(self, other: Self) -> Self:
        """Return the same rows, their numbers rounded if those of another are."""
        other.numbers()
        if not other._rounded:
            return self
        found = type(self)(self.name, rounded=True)
        found.add(self)
        return found

    def counts(self, levels: "Levels") -> Integers:
        """Return how many rows each of some levels has, which must leave no value out."""
        values, counts = self.numbers()
        found = np.zeros(len(levels.words), np.int64)
        np.add.at(found, levels.places(Mixed(values)), counts)
        for text, many in self._texts.items():
            found[levels.texts.get(text, levels.other)] += many
        if self._missing:
            found[levels.missing] += self._missing
        return found

    def levels(
        self, *, most: int, categorical: bool | None = None, intervals: int = 4, like: Self | None = None
    ) -> "Levels":
        """Return the levels of the values.

        Args:
            most: Of a column of categories the most frequent so many have a level of their own.
            categorical: Whether values are categories; None to tell by the values.
            intervals: Other numbers are cut into so many intervals of about as many rows.
            like: The rows among these that are cut so; None for all. Where one value fills an interval of
                theirs, what the others have below it is another interval. As these are compared with the
                others, whole numbers of which hardly one comes twice are no categories: each would be on one
                side only, however far apart both lie.
        """
        values, counts = self.numbers()
        whole = bool((values == np.rint(values)).all())
        most_codes = MOST_CODES if like is None else min(MOST_CODES, int(counts.sum()) // LEAST_ROWS_EACH)
        by_look = bool(self._texts) or (whole and values.size <= most_codes)
        if categorical is False and self._texts:
            msg = f"column {self.name!r} holds {min(self._texts)!r}, which is no number"
            raise InputProblem(msg, "leave out --numeric for it, or make all its values numbers")
        if by_look if categorical is None else categorical:
            found = _categories(self.name, values, counts, self._texts, most=most, missing=self._missing > 0)
            return replace(found, rounded=self._rounded)
        cut = (values, counts) if like is None else like.rounded_like(self).numbers()
        among = None if like is None else values
        return _intervals(self.name, *cut, intervals, among=among, missing=self._missing > 0)

    def _look_at_texts(self) -> None:
        if len(self._texts) > _MOST_TEXTS:
            msg = f"column {self.name!r} holds over {_MOST_TEXTS:,} different texts"
            raise InputProblem(msg, "name columns of few different values; one of ids makes no segments")

    def _summed(self, parts: Sequence[tuple[Floats, Integers]]) -> tuple[Floats, Integers]:
        """Add up equal numbers, rounded from where there are too many different ones."""
        value, number = (np.concatenate(column) for column in zip(*parts, strict=True))
        while True:
            if self._rounded:
                value = _coarse(value)
            distinct, place = np.unique(value, return_inverse=True)
            if self._rounded or self.every or distinct.size <= MOST_NUMBERS:
                break
            self._rounded = True
        total = np.zeros(distinct.size, np.int64)
        np.add.at(total, place.reshape(-1), number)
        return distinct, total


def _size(part: tuple[Floats, Integers]) -> int:
    return part[0].size


def _coarse(value: Floats) -> Floats:
    return (value.view(np.int64) & _KEPT_BITS).view(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The levels of a column: the places of categories or intervals, then of all other values and of gaps.

    Args:
        words: Each level as a condition on the column, such as `country = BR` or `25 < age <= 40`.
        numbers: Numbers that are categories, ascending, or where intervals end; shape (k,).
        numbered: The level of each number, or of values up to each end and of those above the last.
        texts: The level of each text that has one of its own.
        other: The level of values without one of their own; -1 where there are none.
        missing: The level of rows without a value; -1 where there are none.
        ends: Whether numbers end intervals.
        rare: The values without a level of their own; None where they are many.
        names: What stands behind the name of the column in the words of each category.
        rounded: Whether numbers that are categories were rounded: those of rows are then rounded too.
    """

    name: str
    words: tuple[str, ...]
    numbers: Floats
    numbered: Integers
    texts: Mapping[str, int]
    other: int
    missing: int
    ends: bool
    rare: tuple[str, ...] | None = ()
    rounded: bool = False
    names: tuple[str, ...] = ()

    def places(self, values: Mixed) -> Integers:
        """Return the level of each row, shape (n,)."""
        gap = np.isnan(values.number)
        if self.ends:
            found = self.numbered[np.searchsorted(self.numbers, values.number + 0.0)]
        else:
            found = np.full(gap.size, self.other, np.int64)
            if self.numbers.size:
                number = values.number + 0.0
                number = _coarse(number) if self.rounded else number
                place = np.minimum(np.searchsorted(self.numbers, number), self.numbers.size - 1)
                found = np.where(self.numbers[place] == number, self.numbered[place], found)
        found = np.where(gap, self.missing, found)
        if values.code is None or not values.texts:
            return np.asarray(found, np.int64)
        of_text = np.array([self.texts.get(text, self.other) for text in values.texts], np.int64)
        return np.asarray(np.where(values.code >= 0, of_text[values.code], found), np.int64)


def number_words(value: float) -> str:
    """Return a number as short as it is told from others."""
    return str(int(value)) if abs(value) < 1e15 and value == round(value) else repr(float(value))


def _word(value: str | float) -> str:
    return value if isinstance(value, str) else number_words(value)


def _categories(
    name: str, values: Floats, counts: Integers, texts: Mapping[str, int], *, most: int, missing: bool
) -> Levels:
    rows: Counter[str | float] = Counter(texts)
    rows.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    # Of values as frequent as each other the first by name, numbers before texts.
    ranked = sorted(rows, key=lambda one: (-rows[one], isinstance(one, str), one))
    stored = sorted(ranked[:most], key=lambda one: (isinstance(one, str), one))
    numbers = [one for one in stored if not isinstance(one, str)]
    own = {one: place for place, one in enumerate(stored) if isinstance(one, str)}
    other, names = _more([_word(one) for one in stored], OTHER, there=len(ranked) > most)
    gaps, names = _more(names, MISSING, there=missing)
    rare = tuple(sorted(map(_word, ranked[most:]))) if len(ranked) <= most + _MOST_RARE else None
    return Levels(
        name,
        tuple(f"{name} = {one}" for one in names),
        np.array(numbers),
        np.arange(len(numbers)),
        own,
        other,
        gaps,
        ends=False,
        rare=rare,
        names=tuple(names),
    )


def _intervals(
    name: str, values: Floats, counts: Integers, intervals: int, *, among: Floats | None, missing: bool
) -> Levels:
    below, every = np.cumsum(counts), values if among is None else among
    total = int(below[-1]) if below.size else 0
    ranks = np.arange(1, intervals + 1) * total / intervals
    last = values[np.searchsorted(below, ranks)] if total else values[:0]
    places = np.searchsorted(every, last).tolist()
    # Nothing lies above the largest value: an interval that ends there is the last one.
    ends = set(places[:-1])
    if among is not None:
        ends |= {place - 1 for place, following in pairwise(places) if place == following}
    cuts = [_shortest(*every[end : end + 2].tolist()) for end in sorted(ends) if 0 <= end < every.size - 1]
    words = interval_words(name, cuts) if every.size else []
    gaps, words = _more(words, f"{name} = {MISSING}", there=missing)
    return Levels(
        name, tuple(words), np.array(cuts), np.arange(len(cuts) + 1), {}, other=-1, missing=gaps, ends=True
    )


def _shortest(low: float, high: float) -> float:
    """Return the number of fewest digits from one value up to the next, which cuts them as the first does."""
    if low == 0 or not math.isfinite(low):
        return low
    place = math.floor(math.log10(abs(low)))
    for digits in range(1, 18):
        unit = Decimal(1).scaleb(place - digits + 1)
        found = float(Decimal(repr(low)).quantize(unit, rounding=ROUND_CEILING))
        if low <= found < high:
            return found + 0.0
    return low


def interval_words(name: str, cuts: Sequence[float]) -> list[str]:
    """Return the intervals that end at cuts as conditions on a column."""
    if not cuts:
        return [f"{name} of any value"]
    told = [number_words(cut) for cut in cuts]
    inner = [f"{low} < {name} <= {high}" for low, high in pairwise(told)]
    return [f"{name} <= {told[0]}", *inner, f"{name} > {told[-1]}"]


def _more(words: list[str], word: str, *, there: bool) -> tuple[int, list[str]]:
    """Return the place of a further level, -1 for none, and the words with it."""
    return (len(words), [*words, word]) if there else (-1, words)
