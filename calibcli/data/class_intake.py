"""Record batches of several classes to rows: the probabilities and the label of each, checked."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import cast

import numpy as np
import pyarrow as pa

from calibcli.data.arrays import Booleans, Column, Decoded, is_number, nulls, value_type
from calibcli.data.class_columns import ClassColumns
from calibcli.data.class_rows import (
    ClassRows,
    is_list_of_numbers,
    list_lengths,
    lists_of,
    matrix_of_batch,
    matrix_of_columns,
    matrix_of_lists,
    normalised,
    on_class_scale,
    sums_off,
)
from calibcli.data.fault_words import problem_of
from calibcli.data.faults import Fault, FaultKind, Places, RowSums
from calibcli.data.fields import Labels, can_be_labels, labels_of
from calibcli.data.intake import Before, Intake, Rows
from calibcli.errors import InputProblem
from calibcli.names import OnRange, OnSum, Scale, ViewName
from calibcli.options.numerals import is_whole, number_of, usual_name
from calibcli.options.rows import SeveralClasses
from calibcli.stats.table.score_table import Floats, Integers
from calibcli.values import dataclass

NO_CLASS = -1


@dataclass(frozen=True, slots=True, eq=False)
class ClassLabels:
    """
    A column of labels.

    Args:
        place: Shape (n,), the place of each label's class, -1 where it names none.
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


Gap = tuple[FaultKind, int, Booleans | None]


class ClassIntake(Intake):
    """
    Takes batches of several classes.

    The score of a row is its largest probability, and its label whether that class is the right one; where
    one class is looked at against the rest, its probability, and whether it is the right one.
    """

    def rows_of(self, batch: pa.RecordBatch) -> Rows | None:
        """
        Return the rows of a batch; None once something was wrong, since
        then only how much of it matters.
        """
        self._ask(batch)
        matrix, gaps = self._matrix(batch)
        labels = self._class_labels(batch)
        weight, alike = self._weights(batch), self._alike(batch)
        gaps = [
            *gaps,
            (FaultKind.MISSING_LABEL, 0, labels.missing),
            (FaultKind.MISSING_WEIGHT, 0, None if weight is None else weight.missing),
            *alike.gaps(drop=self._drops),
        ]
        places = self._kept(gaps)
        self._check_classes(labels, places)
        self.findings.counted_classes |= labels.counted
        probability = self._checked(places, matrix)
        self._advance(batch.num_rows)
        if self.findings.faults:
            return None
        given = ClassRows.of(probability, places.select(labels.place))
        whole = self._weighted(given.confidence, given.correct, weight=weight, places=places)
        if self.findings.refused:
            return None
        whole = replace(whole, places=places)
        rows = self._seen(whole, given)
        change = self._several.change
        if change is not None:
            classes, base = self._probs.classes, self._several.base
            changed = ClassRows.of(change(probability, classes), given.label)
            if base is not None:
                given = ClassRows.of(base(probability, classes), given.label)
                rows = self._seen(whole, given)
            rows = replace(self._seen(whole, changed), before=Before(rows, whole, given, changed))
        self._count(rows, of=whole)
        return self._placed(rows, alike)

    def probabilities_of(self, batch: pa.RecordBatch) -> Floats:
        """Return the probabilities of every row of a batch, shape (n, K); no label is needed."""
        matrix, gaps = self._matrix(batch)
        places = self._kept(gaps)
        probability = self._checked(places, matrix)
        self._advance(batch.num_rows)
        problem = problem_of(self.findings, self._chosen, shown=self.shown, partly=True)
        if problem is not None:
            raise problem
        return probability

    def _seen(self, whole: Rows, classes: ClassRows) -> Rows:
        """Return the rows in the view that was asked for."""
        if self._predicted is not None:
            which = np.flatnonzero(classes.predicted == self._predicted)
            whole, classes = whole.kept(which), classes.some(which)
        score, label = classes.confidence, classes.correct
        if self._against_rest is not None:
            score, label = classes.of_class(self._against_rest)
        return replace(whole, score=score, label=label, classes=classes)

    def _count(self, rows: Rows, *, of: Rows) -> None:
        self.findings.tied += 0 if rows.classes is None else rows.classes.tied
        self.findings.elsewhere += of.label.size - rows.label.size
        self.findings.positive_rows += int(np.count_nonzero(rows.label))

    @property
    def _predicted(self) -> int | None:
        """The place of the class that rows must predict to be seen, or None for all rows."""
        return self._place if self._several.view is ViewName.TOP_LABEL else None

    @property
    def _against_rest(self) -> int | None:
        """The place of the class that is seen against the rest, or None for the most probable one."""
        return self._place if self._several.view is ViewName.ONE_VS_REST else None

    @property
    def _place(self) -> int | None:
        name = self._several.one_class
        return None if name is None else self._probs.classes.index(name)

    @property
    def _several(self) -> SeveralClasses:
        return cast("SeveralClasses", self._chosen.asked.several)

    @property
    def _probs(self) -> ClassColumns:
        return cast("ClassColumns", self._chosen.probs)

    def _matrix(self, batch: pa.RecordBatch) -> tuple[Floats, list[Gap]]:
        """Return the numbers of all rows, shape (n, K), and where some are missing."""
        if not self._probs.in_list:
            whole = matrix_of_batch(batch, self._probs.names)
            if whole is not None:
                return whole, []
            columns = [self._numbers(batch.column(name), name) for name in self._probs.names]
            gaps: list[Gap] = [
                (FaultKind.MISSING_SCORE, place, one.missing) for place, one in enumerate(columns)
            ]
            return matrix_of_columns(columns).values, gaps
        lists = self._lists(batch.column(self._probs.names[0]))
        return lists.values, [(FaultKind.MISSING_SCORE, 0, lists.missing)]

    def _lists(self, column: Column) -> Decoded[np.float64]:
        """Return lists as rows; those of another length than the classes are faults and count as missing."""
        name, count = self._probs.names[0], len(self._probs.classes)
        if not is_list_of_numbers(column.type):
            msg = f"{self.shown}, column {name!r}: it holds {value_type(column.type)}, not lists of numbers"
            raise InputProblem(msg, "name a column for each class, such as --probs 'p_*' or --probs a,b,c")
        column = lists_of(column)
        lengths = list_lengths(column)
        lost = nulls(column)
        wrong = (lengths != count) & (True if lost is None else ~lost)
        if wrong.any():
            first = int(np.argmax(wrong))
            row = Places(self._before).row(first)
            fault = Fault(int(np.count_nonzero(wrong)), row, f"a list of {lengths[first]:,}")
            self.findings.note(FaultKind.WRONG_LENGTH, fault)
            return Decoded(np.full((len(column), count), 1.0 / count), None)
        return matrix_of_lists(column, count)

    def _class_labels(self, batch: pa.RecordBatch) -> ClassLabels:
        name = str(self._chosen.label)
        column = batch.column(name)
        kind = value_type(column.type)
        if not can_be_labels(kind):
            msg = f"{self.shown}, column {name!r}: it holds {kind}, not labels"
            raise InputProblem(msg, "labels are the names of the classes, or their places counted from 0")
        return class_labels_of(column, self._probs.classes)

    def _check_classes(self, labels: ClassLabels, places: Places) -> None:
        """Note labels that name none of the classes."""
        strange = places.select(labels.place) == NO_CLASS
        if not strange.any():
            return
        rows = np.flatnonzero(strange)
        first = places.row(int(rows[0]))
        within = [places.row(int(row)) - 1 - self._before for row in _first_of_each(labels, places, rows)]
        texts = [labels.labels.text(row) for row in within]
        self.findings.note(FaultKind.NOT_A_CLASS, Fault(int(rows.size), first, repr(texts[0])))
        self.findings.note_labels(texts)

    def _checked(self, places: Places, matrix: Floats) -> Floats:
        """Return probabilities: what is out of range, or does not sum to one, is mended or noted."""
        values = places.select(matrix)
        scale = self._chosen.asked.read_as
        probability = on_class_scale(values, scale)
        if scale is Scale.LOGIT and values.size:
            total = values.sum(axis=1)
            sums = RowSums(float(values.min()), float(total.min()), float(total.max()))
            self.findings.note_sums(sums)
        outside = (probability < 0.0) | (probability > 1.0)
        if outside.any():
            if self._chosen.asked.on_range is not OnRange.CLIP:
                self._note_outside(values, outside, places)
                return probability
            self.findings.clipped += int(np.count_nonzero(outside))
            probability = np.clip(probability, 0.0, 1.0)
        if self._several.on_sum is OnSum.ACCEPT:
            return probability
        off, total = sums_off(probability)
        if not off.any():
            return probability
        return self._summing(probability, off, total=total, places=places)

    def _summing(self, probability: Floats, off: Booleans, *, total: Floats, places: Places) -> Floats:
        hopeless = off & ~(total > 0.0)
        refused = hopeless if self._several.on_sum is OnSum.NORMALISE else off
        if not refused.any():
            self.findings.normalised += int(np.count_nonzero(off))
            return normalised(probability, off, total)
        rows = np.flatnonzero(refused)
        sums = total[rows]
        fault = Fault(
            int(rows.size),
            places.row(int(rows[0])),
            f"a sum of {float(sums[0]):.6g}",
            lowest=float(sums.min()),
            highest=float(sums.max()),
        )
        self.findings.note(FaultKind.NOT_SUMMING, fault)
        return probability

    def _note_outside(self, values: Floats, outside: Booleans, places: Places) -> None:
        """Note, for the first column that has some, the values out of range."""
        for place in np.flatnonzero(outside.any(axis=0)).tolist():
            rows = np.flatnonzero(outside[:, place])
            beyond = values[rows, place]
            fault = Fault(
                int(rows.size),
                places.row(int(rows[0])),
                repr(float(beyond[0])),
                lowest=float(beyond.min()),
                highest=float(beyond.max()),
            )
            column = 0 if self._probs.in_list else place
            self.findings.note(FaultKind.OUTSIDE, fault, column=column)


def _first_of_each(labels: ClassLabels, places: Places, rows: Iterable[int]) -> list[int]:
    """Return the first row of each different label among the rows given."""
    codes = places.select(labels.labels.codes)
    seen: dict[object, int] = {}
    for row in rows:
        seen.setdefault(codes[row].item(), int(row))
    return list(seen.values())
