"""Labels of several classes to their places: by the names of the classes, or as indices from 0."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calibcli.readers.decode import Booleans, Column
from calibcli.readers.labels import Labels, labels_of, number_of, whole_number
from calibcli.table.score_table import Integers

NO_CLASS = -1


@dataclass(frozen=True, slots=True, eq=False)
class ClassLabels:
    """
    A column of labels.

    Args:
        place: Shape (n,), the place of each label's class, -1 where it names none.

        labels: The labels as they stand.
    """

    place: Integers
    labels: Labels

    @property
    def missing(self) -> Booleans | None:
        """Where a label is missing, shape (n,); None if nowhere."""
        return self.labels.missing


def class_labels_of(column: Column, classes: tuple[str, ...]) -> ClassLabels:
    """
    Read a column of labels.

    A label is the name of a class, as text or as a number; where no class has a number for a name, a whole
    number is the place of a class counted from 0.

    Args:
        column: Numbers, text, booleans, or a dictionary of these.

        classes: The names of the classes.
    """
    labels = labels_of(column, None)
    codes, first, inverse = np.unique(labels.codes, return_index=True, return_inverse=True)
    texts = [labels.text(int(row)) for row in first]
    indices = not any(number.is_integer() for number in _by_name(classes)[1])
    places = np.array([_place(text, classes, indices=indices) for text in texts], np.int64)
    if not codes.size:
        places = np.zeros(0, np.int64)
    return ClassLabels(places[inverse], labels)


def _place(text: str, classes: tuple[str, ...], *, indices: bool) -> int:
    """Return the place of the first class that is called so, as `same_label` compares them."""
    texts, numbers = _by_name(classes)
    number = number_of(text)
    found = [texts.get(text), None if number is None else numbers.get(number)]
    named = [place for place in found if place is not None]
    if named:
        return min(named)
    index = whole_number(text) if indices else None
    return index if index is not None and 0 <= index < len(classes) else NO_CLASS


@lru_cache(maxsize=4)
def _by_name(classes: tuple[str, ...]) -> tuple[dict[str, int], dict[float, int]]:
    """Return the place of each name as text, and as a number where it is one."""
    texts: dict[str, int] = {}
    numbers: dict[float, int] = {}
    for place, name in enumerate(classes):
        texts.setdefault(name.strip(), place)
        number = number_of(name)
        if number is not None:
            numbers.setdefault(number, place)
    return texts, numbers
