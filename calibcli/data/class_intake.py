"""Record batches of several classes to rows: the probabilities and the label of each, checked."""

from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import cast

import numpy as np
import pyarrow as pa

from calibcli.data import arrays
from calibcli.data.arrays import Column, Decoded
from calibcli.data.columns import ClassColumns
from calibcli.data.faults import SUM_TOLERANCE, Fault, FaultKind, Places, RowSums
from calibcli.data.fields import Labels, labels_of, on_scale
from calibcli.data.intake import Before, Gap, Intake, Rows
from calibcli.errors import InputProblem
from calibcli.names import OnRange, OnSum, Scale, ViewName
from calibcli.options.numerals import is_whole, number_of, usual_name
from calibcli.options.rows import SeveralClasses
from calibcli.stats.table import Booleans, Floats, Indices, Integers
from calibcli.values import dataclass, replace

NO_CLASS = -1


@dataclass(frozen=True, slots=True, eq=False)
class ClassRows:
    """Rows with a probability for each class.

    Args:
        label: Shape (n,), the place of the class that is right.
        predicted: Shape (n,), the place of the most probable class, the first of several.
    """

    probability: Floats
    label: Integers
    predicted: Integers

    @classmethod
    def of(cls, probability: Floats, label: Integers) -> "ClassRows":
        return cls(probability, label, probability.argmax(axis=1))

    @property
    def tied(self) -> int:
        """How many rows have several classes that are the most probable."""
        most = self.probability == self.confidence[:, None]
        # One to a row, as nearly always, is seen sooner than which rows have more.
        if np.count_nonzero(most) == len(most):
            return 0
        return int(np.count_nonzero(most.sum(axis=1) > 1))

    @property
    def confidence(self) -> Floats:
        """The largest probability of each row, shape (n,)."""
        return np.asarray(self.probability[np.arange(self.label.size), self.predicted])

    @property
    def correct(self) -> Booleans:
        """Whether the most probable class is the right one, shape (n,)."""
        return np.asarray(self.predicted == self.label)

    def some(self, which: Indices) -> "ClassRows":
        return ClassRows(self.probability[which], self.label[which], self.predicted[which])


def on_class_scale(values: Floats, scale: Scale) -> Floats:
    """Return rows of scores as rows of probabilities, shape (n, K): logits by the softmax."""
    if scale is not Scale.LOGIT:
        return on_scale(values, scale)
    top = values.max(axis=1, keepdims=True)
    # A row whose largest logit is infinite is certain of that class.
    with np.errstate(invalid="ignore"):
        shifted = np.where(np.isinf(top) & (values == top), 0.0, values - top)
    power = np.exp(shifted)
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def sums_off(probability: Floats) -> tuple[Booleans, Floats]:
    """Return which rows do not sum to one within 1e-3, shape (n,), and the sums."""
    total = probability.sum(axis=1)
    return np.asarray(~(np.abs(total - 1.0) <= SUM_TOLERANCE)), total


def _outside(probability: Floats) -> Booleans | None:
    """Return which numbers are out of range; None where none is."""
    # The ends tell it in less time, unless a number is NaN.
    if probability.size and probability.min() >= 0.0 and probability.max() <= 1.0:
        return None
    outside: Booleans = (probability < 0.0) | (probability > 1.0)
    return outside if outside.any() else None


def class_labels_of(column: Column, classes: tuple[str, ...]) -> Labels:
    """Read a column of labels.

    A label is the name of a class: the same text, or as a number the number that the name is. Text that is
    none of the names, and a number as most tools write it, is that number: 1.0 is class 1, or 01. Where no
    class has a whole number for a name, a whole number is the place of a class counted from 0.
    """
    labels = labels_of(column, None)
    codes, first, inverse = np.unique(labels.codes, return_index=True, return_inverse=True)
    texts = [labels.text(int(row)) for row in first]
    names, named = _names(classes)
    typed = arrays.is_number(arrays.value_type(column.type))
    places = np.array([_place(text, names, typed=typed) for text in texts], np.int64)
    if not codes.size:
        places = np.zeros(0, np.int64)
    counted = names.indices > 0 and any(
        place != NO_CLASS and _place(text, named, typed=typed) == NO_CLASS
        for text, place in zip(texts, places, strict=False)
    )
    return replace(labels, place=places[inverse], counted=counted)


# Told apart as they are, not by what they hold, so that labels can be kept beside them.
@dataclass(frozen=True, slots=True, eq=False)
class _Names:
    """The places of classes by their names.

    Args:
        by_number: As numbers, of names that are some.
        by_usual: Without zeros at the end, of names that are numbers as most tools write them.
        indices: How many places a whole number may mean, 0 where it means none.
    """

    by_text: dict[str, int]
    by_number: dict[Decimal, int]
    by_usual: dict[str, int]
    indices: int


# The next batch has the same labels.
@lru_cache(maxsize=1 << 14)
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
def _names(classes: tuple[str, ...]) -> tuple[_Names, _Names]:
    """Return what labels may mean, and what they do as names alone."""
    names = [name.strip() for name in classes]
    places = range(len(names))
    numbers = [number_of(name) for name in names]
    usual = [usual_name(name) for name in names]
    # The first of several counts.
    backwards = list(reversed(places))
    found = _Names(
        {names[place]: place for place in backwards},
        {number: place for place in backwards if (number := numbers[place]) is not None},
        {name: place for place in backwards if (name := usual[place]) is not None},
        0 if any(number is not None and is_whole(number) for number in numbers) else len(names),
    )
    return found, replace(found, indices=0)


class ClassIntake(Intake):
    """Takes batches of several classes.

    The score of a row is its largest probability, and its label whether that class is the right one; where
    one class is looked at against the rest, its probability, and whether it is the right one.
    """

    def probabilities_of(self, batch: pa.RecordBatch) -> tuple[Floats, Places]:
        """Return the probabilities of a batch, shape (n, K), and which rows have some; no label is needed."""
        return self._of_every_row(*self._scores(batch), rows=batch.num_rows)

    def _without_probability(self, values: Floats) -> list[tuple[FaultKind, int, Booleans]]:
        """Return which rows get no probability on request: out of range, or with another sum than 1."""
        requested = self._resolved.requested
        ranges, sums = requested.on_range is OnRange.NULL, self._several.on_sum is OnSum.NULL
        if not (ranges or sums):
            return []
        probability = on_class_scale(values, requested.read_as)
        outside = (probability < 0.0) | (probability > 1.0)
        some: Booleans = np.asarray(outside.any(axis=1))
        found: list[tuple[FaultKind, int, Booleans]] = []
        if ranges and self._probs.in_list:
            found.append((FaultKind.OUTSIDE, 0, some))
        elif ranges:
            places = np.flatnonzero(outside.any(axis=0)).tolist()
            found += [(FaultKind.OUTSIDE, place, outside[:, place]) for place in places]
        if sums:
            # What is clipped first sums to something else then.
            clip = requested.on_range is OnRange.CLIP
            off, _ = sums_off(np.clip(probability, 0.0, 1.0) if clip else probability)
            found.append((FaultKind.NOT_SUMMING, 0, off if clip else np.asarray(off & ~some)))
        return found

    def _whole(self, probability: Sequence[Floats], labels: Labels, places: Places) -> Rows:
        """Return the rows that are left, seen by their most probable class."""
        given = ClassRows.of(probability[0], places.select(cast("Integers", labels.place)))
        if self._by_places or self.findings.counted_classes:
            self.findings.of_first_class += int(np.count_nonzero(given.label == 0))
            self.findings.right += int(np.count_nonzero(given.correct))
            self.findings.one_before += int(np.count_nonzero(given.predicted == given.label - 1))
        return Rows(given.confidence, given.correct, classes=given)

    def _in_view(self, whole: Rows) -> Rows:
        given, change, base = cast("ClassRows", whole.classes), self._several.change, self._several.base
        rows = self._seen(whole, given)
        if change is not None:
            probability, classes = given.probability, self._probs.classes
            changed = ClassRows.of(change(probability, classes), given.label)
            if base is not None:
                given = ClassRows.of(base(probability, classes), given.label)
                rows = self._seen(whole, given)
            rows = replace(self._seen(whole, changed), before=Before(rows, whole, given, changed))
        self.findings.tied += 0 if rows.classes is None else rows.classes.tied
        self.findings.elsewhere += whole.label.size - rows.label.size
        return rows

    def _seen(self, whole: Rows, classes: ClassRows) -> Rows:
        several = self._several
        one = None if several.one_class is None else self._probs.classes.index(several.one_class)
        if several.view is ViewName.TOP_LABEL and one is not None:
            which = np.flatnonzero(classes.predicted == one)
            whole, classes = whole.kept(which), classes.some(which)
        score, label = classes.confidence, classes.correct
        if several.view is ViewName.ONE_VS_REST and one is not None:
            score, label = classes.probability[:, one], classes.label == one
        return replace(whole, score=score, label=label, classes=classes)

    @property
    def _by_places(self) -> bool:
        """Whether classes are called by their places, counted from 0."""
        return all(name == str(place) for place, name in enumerate(self._probs.classes))

    @property
    def _several(self) -> SeveralClasses:
        return cast("SeveralClasses", self._resolved.requested.several)

    @property
    def _probs(self) -> ClassColumns:
        return cast("ClassColumns", self._resolved.probs)

    def _scores(self, batch: pa.RecordBatch) -> tuple[list[Floats], list[Gap]]:
        """Return the numbers of all rows as a matrix, shape (n, K), and where some are missing."""
        if self._probs.in_list:
            lists = self._lists(batch.column(self._probs.names[0]))
            return [lists.values], [(FaultKind.MISSING_SCORE, 0, lists.missing)]
        whole = arrays.matrix_of_batch(batch, self._probs.names)
        if whole is not None:
            return [whole], []
        columns, gaps = super()._scores(batch)
        return [np.column_stack(columns)], gaps

    def _lists(self, column: Column) -> Decoded:
        """Return lists as rows; those of another length than the classes are faults and count as missing."""
        name, count = self._probs.names[0], len(self._probs.classes)
        kind = arrays.value_type(column.type)
        if not arrays.is_list_of_numbers(kind):
            msg = f"{self.shown}, column {name!r}: it holds {kind}, not lists of numbers"
            raise InputProblem(msg, "name a column for each class, such as --probs 'p_*' or --probs a,b,c")
        column = arrays.lists_of(column)
        lengths = arrays.list_lengths(column)
        lost = arrays.nulls(column)
        wrong = (lengths != count) & (True if lost is None else ~lost)
        refused = wrong if self._requested is None else wrong & self._requested
        if refused.any():
            first = int(np.argmax(refused))
            row = Places(self._before).row(first)
            what = "no vector that Spark writes" if lengths[first] < 0 else f"a list of {lengths[first]:,}"
            fault = Fault(int(np.count_nonzero(refused)), row, what)
            self.findings.note(FaultKind.WRONG_LENGTH, fault)
            return Decoded(np.full((len(column), count), 1.0 / count), None)
        if wrong.any():
            # Of rows that are not asked for nothing is asked.
            column = column.take(arrays.without(arrays.place_column(np.arange(len(column))), wrong))
        return arrays.matrix_of_lists(column, count)

    def _labels(self, batch: pa.RecordBatch) -> Labels:
        if self._resolved.label is None:
            return replace(super()._labels(batch), place=np.zeros(batch.num_rows, np.int64))
        hint = "labels must be names of classes, or their positions counted from 0"
        return class_labels_of(self._label_column(batch, hint), self._probs.classes)

    def _check_labels(self, labels: Labels, places: Places) -> None:
        self.findings.counted_classes |= labels.counted
        strange = np.asarray(labels.place) == NO_CLASS
        if self._note_labels(FaultKind.NOT_A_CLASS, labels, strange, places):
            others = places.some(np.flatnonzero(places.select(strange)))
            self.findings.note_first("labels", labels.distinct(others))

    def _probabilities(self, scores: Sequence[Floats], places: Places) -> list[Floats]:
        return [self._checked(places.select(scores[0]), places)]

    def _checked(self, values: Floats, places: Places) -> Floats:
        """Return probabilities: what is out of range, or does not sum to one, is mended or noted."""
        scale = self._resolved.requested.read_as
        probability = on_class_scale(values, scale)
        if scale is Scale.LOGIT and values.size:
            # What is infinite both ways has no sum.
            with np.errstate(invalid="ignore"):
                total = values.sum(axis=1)
            self.findings.note_sums(RowSums(float(values.min()), float(total.min()), float(total.max())))
        outside = _outside(probability)
        if outside is not None:
            if self._resolved.requested.on_range is not OnRange.CLIP:
                for place in np.flatnonzero(outside.any(axis=0)).tolist():
                    rows = np.flatnonzero(outside[:, place])
                    fault = Fault.among(rows, values[rows, place], places)
                    self.findings.note(FaultKind.OUTSIDE, fault, column=0 if self._probs.in_list else place)
                return probability
            self.findings.clipped += int(np.count_nonzero(outside))
            probability = np.clip(probability, 0.0, 1.0)
        if self._several.on_sum is OnSum.ACCEPT:
            return probability
        off, total = sums_off(probability)
        # Nor can a row be divided by such a sum.
        rows = np.flatnonzero(off & ~(total > 0.0) if self._several.on_sum is OnSum.NORMALISE else off)
        if not rows.size:
            if off.any():
                self.findings.normalised += int(np.count_nonzero(off))
                # Those given may be the user's own.
                probability = probability.copy()
                probability[off] /= total[off, None]
            # Rows lie one after the other, as they are counted.
            return np.ascontiguousarray(probability)
        sums = total[rows]
        fault = Fault.among(rows, sums, places, value=f"a sum of {float(sums[0]):.6g}")
        self.findings.note(FaultKind.NOT_SUMMING, fault)
        return probability
