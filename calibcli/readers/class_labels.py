"""Labels of several classes to their places: by the names of the classes, or as indices from 0."""

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

import numpy as np

from calibcli.options.numerals import is_whole, number_of, usual_name
from calibcli.readers.decode import Booleans, Column, is_number, value_type
from calibcli.readers.labels import Labels, labels_of
from calibcli.table.score_table import Integers

NO_CLASS = -1


@dataclass(frozen=True, slots=True, eq=False)
class ClassLabels:
    """
    A column of labels.

    Args:
        place: Shape (n,), the place of each label's class, -1 where it names none.

        labels: The labels as they stand.

        counted: Whether some are no names, but numbers that were read as places counted from 0.
    """

    place: Integers
    labels: Labels
    counted: bool

    @property
    def missing(self) -> Booleans | None:
        """Where a label is missing, shape (n,); None if nowhere."""
        return self.labels.missing


def class_labels_of(column: Column, classes: tuple[str, ...]) -> ClassLabels:
    """
    Read a column of labels.

    A label is the name of a class: the same text, or as a number the number that the name is. Text that is
    none of the names, and a number as most tools write it, is that number: 1.0 is class 1, or 01. Where no
    class has a whole number for a name, a whole number is the place of a class counted from 0.

    Args:
        column: Numbers, text, booleans, or a dictionary of these.

        classes: The names of the classes.
    """
    labels = labels_of(column, None)
    codes, first, inverse = np.unique(labels.codes, return_index=True, return_inverse=True)
    texts = [labels.text(int(row)) for row in first]
    names = _names(classes)
    typed = is_number(value_type(column.type))
    places = np.array([_place(text, names, typed=typed) for text in texts], np.int64)
    if not codes.size:
        places = np.zeros(0, np.int64)
    named = replace(names, indices=0)
    counted = names.indices > 0 and any(
        place != NO_CLASS and _place(text, named, typed=typed) == NO_CLASS
        for text, place in zip(texts, places, strict=False)
    )
    return ClassLabels(places[inverse], labels, counted)


@dataclass(frozen=True, slots=True)
class _Names:
    """
    The places of classes by their names.

    Args:
        by_text: As text.

        by_number: As numbers, of names that are some.

        by_usual: Without zeros at the end, of names that are numbers as most tools write them.

        indices: How many places a whole number may mean, 0 where it means none.
    """

    by_text: dict[str, int]
    by_number: dict[Decimal, int]
    by_usual: dict[str, int]
    indices: int


def _place(text: str, names: _Names, *, typed: bool) -> int:
    """Return the place of the first class that a label names, or -1."""
    if text in names.by_text and not typed:
        return names.by_text[text]
    number = number_of(text) if typed or usual_name(text) is not None else None
    if number is None:
        return NO_CLASS
    found = None if typed else names.by_usual.get(str(usual_name(text)))
    found = names.by_number.get(number) if found is None else found
    if found is not None:
        return found
    whole = is_whole(number) and 0 <= number < names.indices
    return int(number) if whole else NO_CLASS


@lru_cache(maxsize=4)
def _names(classes: tuple[str, ...]) -> _Names:
    names = [name.strip() for name in classes]
    places = range(len(names))
    numbers = [number_of(name) for name in names]
    usual = [usual_name(name) for name in names]
    # The first of several counts.
    backwards = list(reversed(places))
    return _Names(
        {names[place]: place for place in backwards},
        {number: place for place in backwards if (number := numbers[place]) is not None},
        {name: place for place in backwards if (name := usual[place]) is not None},
        0 if any(number is not None and is_whole(number) for number in numbers) else len(names),
    )
