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
    by_text, by_number = _by_name(classes)
    indices = 0 if any(number.is_integer() for number in by_number) else len(classes)
    places = np.array([_place(text, by_text, by_number, indices=indices) for text in texts], np.int64)
    if not codes.size:
        places = np.zeros(0, np.int64)
    return ClassLabels(places[inverse], labels)


def _place(text: str, by_text: dict[str, int], by_number: dict[float, int], *, indices: int) -> int:
    """
    Return the place of the first class that is called so, as `same_label` compares them.

    Args:
        text: The label.

        by_text: The place of each name as text.

        by_number: The place of each name that is a number.

        indices: How many places a whole number may mean, 0 where it means none.
    """
    number = number_of(text)
    found = [by_text.get(text), None if number is None else by_number.get(number)]
    named = [place for place in found if place is not None]
    if named:
        return min(named)
    index = whole_number(text) if indices else None
    return index if index is not None and 0 <= index < indices else NO_CLASS


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
