"""What is wrong with values: counted while reading, said once, in one line."""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from calibcli.names import IdKind
from calibcli.options.numerals import Spelling
from calibcli.reports.input import MOST_POOLED
from calibcli.stats.table import Booleans, Floats, Indices, Integers
from calibcli.values import dataclass, field, fields, replace

Key = TypeVar("Key")
Number = TypeVar("Number", bound=np.generic)

# A column with more different labels than this is not listed in full.
MOST_LABELS = 5

# Of scores in words that stand for no number so many are told apart.
MOST_PHRASES = 1_000
OTHERS = "other texts"

# Enough different groups to share out to as many folds as there may be.
MOST_GROUPS = 100

# Texts that differ from a value of --where in capitals alone.
MOST_ALIKE = 3

# What the first different ones are kept of, and how many: with groups it matters how many there are.
Listed = Literal["labels", "others", "groups", "pooled", "alike"]
_FIRST: Mapping[Listed, int] = {
    "labels": MOST_LABELS + 1,
    "others": MOST_LABELS + 1,
    "groups": MOST_GROUPS,
    "pooled": MOST_POOLED,
    "alike": MOST_ALIKE,
}

# Whole numbers below this are exact as doubles, and so is a sum of them that does not reach it.
UNCOUNTABLE = 1 << 53

# The square of a sum of importance weights up to this is finite, however many rows there are.
HEAVIEST = 1e140

# The square of a weight down to this is not lost.
LIGHTEST = 1e-140


class FaultKind(StrEnum):
    """Kinds of fault, in the order in which they are reported."""

    MISSING_SCORE = "missing score"
    MISSING_LABEL = "missing label"
    MISSING_WEIGHT = "missing weight"
    MISSING_GROUP = "missing group"
    MISSING_CLUSTER = "missing cluster"
    MISSING_IDENTITY = "missing identity"
    NO_SCORE = "score in words that stand for no number"
    WRONG_LENGTH = "list of another length"
    OUTSIDE = "score out of range"
    NOT_SUMMING = "probabilities that do not sum to one"
    RESPELLED = "label written otherwise than the positive one"
    NOT_BINARY = "label neither 0 nor 1"
    NOT_A_CLASS = "label that is none of the classes"
    UNSEEN_GROUP = "group that the fit has not seen"
    BAD_WEIGHT = "weight negative or infinite"
    FRACTIONAL_WEIGHT = "frequency not whole"
    HUGE_WEIGHT = "weight too large or too small to be squared"


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault in one file.

    Args:
        row: The first of them, as a row of the file; the first row is 1 and a header is not counted.
        lowest: The smallest of all values of the column that have the fault.
    """

    count: int
    row: int
    value: str = ""
    lowest: float = 0.0
    highest: float = 0.0

    @classmethod
    def among(cls, rows: Indices, values: Floats, places: "Places", *, value: str | None = None) -> "Fault":
        """Return the fault of some of the rows that are left, which have these values."""
        shown = repr(float(values[0])) if value is None else value
        first = places.row(int(rows[0]))
        return cls(int(rows.size), first, shown, float(values.min()), float(values.max()))

    def joined(self, later: "Fault") -> "Fault":
        return replace(
            self,
            count=self.count + later.count,
            lowest=min(self.lowest, later.lowest),
            highest=max(self.highest, later.highest),
        )


# How far a row's probabilities may be from summing to one. Three of three decimals often sum to 0.999 or to
# 1.001, which doubles, and numbers of single precision, find a little farther away than 0.001.
SUM_TOLERANCE = 1.001e-3


@dataclass(frozen=True, slots=True)
class RowSums:
    """What the numbers of rows of several classes sum to, before they are read as anything."""

    lowest: float
    least: float
    most: float

    def joined(self, other: "RowSums") -> "RowSums":
        return RowSums(
            min(self.lowest, other.lowest), min(self.least, other.least), max(self.most, other.most)
        )

    def all_near(self, total: float, *, within: float) -> bool:
        """Whether no number is below 0, and every row sums to `total`."""
        return self.lowest >= 0.0 and total - within <= self.least <= self.most <= total + within


@dataclass(frozen=True, slots=True)
class ScoreSums:
    """Where the scores of a file lie, and beside which labels, as probabilities.

    Args:
        squares: The sum of their squares.
        of_ones: The sum of those of label 1, of which there are `ones`.
    """

    rows: int
    ones: int
    lowest: float
    highest: float
    total: float
    squares: float
    of_ones: float

    @classmethod
    def of(cls, score: Floats, label: Booleans) -> "ScoreSums":
        """Return those of some rows, at least one."""
        own, sums = score[label], (float(score.sum()), float(score @ score))
        return cls(score.size, own.size, float(score.min()), float(score.max()), *sums, float(own.sum()))

    def joined(self, later: "ScoreSums") -> "ScoreSums":
        return ScoreSums(
            self.rows + later.rows,
            self.ones + later.ones,
            min(self.lowest, later.lowest),
            max(self.highest, later.highest),
            self.total + later.total,
            self.squares + later.squares,
            self.of_ones + later.of_ones,
        )


@dataclass(frozen=True, slots=True, eq=False)
class GivenSums:
    """What some rows give each of several classes.

    Args:
        observed: How many rows are of it, shape (K,).
        given: The sums of its probabilities, of their squares, and over its own rows, shape (3, K).
    """

    observed: Integers
    given: Floats

    @classmethod
    def of(cls, probability: Floats, label: Integers, times: Integers | None = None) -> "GivenSums":
        """Return those of rows that count once, or so many times."""
        classes, times = probability.shape[1], np.ones(label.size, np.int64) if times is None else times
        own = np.bincount(label, times * probability[np.arange(label.size), label], classes)
        observed = np.zeros(classes, np.int64)
        np.add.at(observed, label, times)
        return cls(observed, np.array((times @ probability, times @ np.square(probability), own)))

    def joined(self, later: "GivenSums") -> "GivenSums":
        return GivenSums(self.observed + later.observed, self.given + later.given)


@dataclass(slots=True)
class Findings:
    """What reading has found out about the values of a file, or of a part of it.

    Args:
        faults: What was wrong, by kind and place of the column among the score columns; 0 for every
            other column.
        labels: The first different labels, at most one more than `MOST_LABELS`, in order of appearance;
            kept only where they may be needed for a message.
        dropped: Rows left out because a value was missing, on request.
        missing: What was wrong with them, by kind and place as for `faults`.
        strange: Rows with a value that the fit of a map by segments had not seen, by column.
        clipped: Scores moved to 0 or 1, on request.
        groups: The first different groups, at most `MOST_GROUPS`.
        normalised: Rows of several classes divided by the sum of their probabilities, on request.
        tied: Rows where several classes are the most probable.
        elsewhere: Rows that predict another class than the one that is looked at.
        alike: The first `MOST_ALIKE` texts that differ from a value of a condition in capitals alone.
        unselected: Rows left out by a condition or a draw.
        unopened: Files that were not opened, as a condition leaves out all of their rows by their path.
        weightless: Rows used whose weight is 0.
        pooled_rows: Rows of groups that a fit has not seen, which took the map of all rows, on request.
        pooled: The first of these groups, at most `MOST_POOLED`.
        numbers: For each column of numbers that tells rows or groups apart, the first file where it does.
        texts: For each such column of text the first file where it is.
        renamed: Such columns of types whose values had other names in the first version of states.
        respelled: For each such column a text that is a number written otherwise than its name, and its file.
        others: The first different labels that count as 0 beside `--positive`, at most one more than
            `MOST_LABELS`, in order of appearance.
        signed: Whether some scores have the sign of a percentage.
        bare: Scores of at most 1 that were read as percentages and have no such sign.
        soft: Rows used whose label is a number between 0 and 1, and not the positive one.
        without: What there is to say of each file of which no label is the positive one.
        scores: Where the scores of a file lie, by place among the score columns; only where there are several
            files, and rows do not count for more or less.
        by_class: What the rows of a file give each of several classes, likewise; None for nothing.
        files: How many files have so many rows that something may be said of each.
        unlike: What there is to say of the scores of single files, and the first of these and how many.
        sums: What rows of several classes that are read as logits sum to; None where there are none.
        hard_scores: Whether every score beside labels that are neither 0 nor 1 is 0 or 1, as labels are.
        phrases: Scores in words that stand for no number, the first `MOST_PHRASES`, by place among the score
            columns and by phrase.
        counted_classes: Whether labels of several classes with names were numbers, read as places from 0.
        of_first_class: Rows whose label is the first of several classes that are called 0, 1, 2, ...
        right: Of such rows, those whose most probable class is their label.
        one_before: Those whose most probable class is the one before their label.
    """

    faults: dict[tuple[FaultKind, int], Fault] = field(default_factory=dict)
    labels: dict[str, None] = field(default_factory=dict)
    rows: int = 0
    dropped: int = 0
    missing: dict[tuple[FaultKind, int], Fault] = field(default_factory=dict)
    strange: Counter[str] = field(default_factory=Counter)
    clipped: int = 0
    positive_rows: int = 0
    counted: float = 0.0
    groups: dict[str, None] = field(default_factory=dict)
    normalised: int = 0
    tied: int = 0
    elsewhere: int = 0
    alike: dict[str, None] = field(default_factory=dict)
    unselected: int = 0
    unopened: int = 0
    weightless: int = 0
    pooled_rows: int = 0
    pooled: dict[str, None] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    renamed: set[str] = field(default_factory=set)
    respelled: dict[str, tuple[str, str]] = field(default_factory=dict)
    others: dict[str, None] = field(default_factory=dict)
    signed: bool = False
    bare: int = 0
    soft: int = 0
    without: list[str] = field(default_factory=list)
    scores: dict[int, ScoreSums] = field(default_factory=dict)
    by_class: GivenSums | None = None
    files: int = 0
    unlike: dict[str, tuple[str, int]] = field(default_factory=dict)
    sums: RowSums | None = None
    hard_scores: bool = True
    counted_classes: bool = False
    of_first_class: int = 0
    right: int = 0
    one_before: int = 0
    phrases: dict[tuple[int, str], Fault] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether the rows are of no use, and only what is wrong with them matters."""
        return bool(self.faults) or self.counted >= UNCOUNTABLE

    def note(self, kind: FaultKind, fault: Fault, *, column: int = 0, allowed: bool = False) -> None:
        """Add a fault after those noted; or, where rows may have it, what is missing there."""
        _join(self.missing if allowed else self.faults, (kind, column), fault)

    def note_phrase(self, place: int, fault: Fault) -> None:
        """Add a score in words that stand for no number; those beyond the first are counted together."""
        if (place, fault.value) not in self.phrases and len(self.phrases) >= MOST_PHRASES:
            fault = replace(fault, value=OTHERS)
        _join(self.phrases, (place, fault.value), fault)

    def note_first(self, what: Listed, names: Iterable[str]) -> None:
        """Add names in order of appearance, as long as they are few."""
        found: dict[str, None] = getattr(self, what)
        for name in names:
            if len(found) >= _FIRST[what]:
                return
            found.setdefault(name)

    def note_spelling(self, column: str, spelling: Spelling, *, shown: str) -> None:
        if spelling.numbers:
            self.numbers.setdefault(column, shown)
        if spelling.renamed:
            self.renamed.add(column)
        if spelling.text:
            self.texts.setdefault(column, shown)
        if spelling.respelled is not None:
            self.respelled.setdefault(column, (spelling.respelled, shown))

    def note_sums(self, sums: RowSums) -> None:
        self.sums = sums if self.sums is None else self.sums.joined(sums)

    def note_scores(self, place: int, scores: ScoreSums) -> None:
        earlier = self.scores.get(place)
        self.scores[place] = scores if earlier is None else earlier.joined(scores)

    def note_classes(self, sums: GivenSums) -> None:
        self.by_class = sums if self.by_class is None else self.by_class.joined(sums)

    def note_unlike(self, said: str, shown: str, *, files: int = 1) -> None:
        """Add that something is to be said of some files, after those noted so far."""
        first, earlier = self.unlike.get(said, (shown, 0))
        self.unlike[said] = first, earlier + files

    def kinds_of(self, identity: Iterable[str]) -> frozenset[IdKind]:
        """Return what the values of the columns that tell rows apart are written as."""
        found = (
            (IdKind.NUMBERS, self.numbers),
            (IdKind.TEXT, self.texts),
            (IdKind.RESPELLED, self.respelled),
        )
        return frozenset(kind for kind, columns in found if not set(columns).isdisjoint(identity))

    def add(self, later: "Findings") -> None:
        for name in _COUNTS:
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for key, fault in later.faults.items():
            _join(self.faults, key, fault)
        for key, fault in later.missing.items():
            _join(self.missing, key, fault)
        for (place, _), fault in later.phrases.items():
            self.note_phrase(place, fault)
        for what in _FIRST:
            self.note_first(what, getattr(later, what))
        self.strange += later.strange
        self.without += later.without
        self.numbers = later.numbers | self.numbers
        self.texts = later.texts | self.texts
        self.respelled = later.respelled | self.respelled
        self.renamed |= later.renamed
        self.signed |= later.signed
        self.hard_scores &= later.hard_scores
        self.counted_classes |= later.counted_classes
        for place, scores in later.scores.items():
            self.note_scores(place, scores)
        if later.by_class is not None:
            self.note_classes(later.by_class)
        for said, (shown, files) in later.unlike.items():
            self.note_unlike(said, shown, files=files)
        if later.sums is not None:
            self.note_sums(later.sums)


_COUNTS = tuple(one.name for one in fields(Findings) if type(one.default) in (int, float))


def _join(faults: dict[Key, Fault], key: Key, later: Fault) -> None:
    """Add a fault that comes after the one that is there."""
    faults[key] = faults[key].joined(later) if key in faults else later


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Which rows of a batch are left, and where they stand in the file.

    Args:
        before: How many rows of the file come before the batch.
        kept: Positions in the batch of the rows that are left; None for all.
    """

    before: int
    kept: Integers | None = None

    def row(self, position: int) -> int:
        """Return the row of the file, counted from 1 and without the header."""
        return self.before + 1 + (position if self.kept is None else int(self.kept[position]))

    def numbers(self, count: int) -> Integers:
        """Return the row of the file of each of the `count` rows that are left, counted from 0."""
        return self.before + (np.arange(count) if self.kept is None else self.kept)

    def some(self, which: Indices) -> "Places":
        return Places(self.before, which if self.kept is None else self.kept[which])

    def select(self, column: npt.NDArray[Number]) -> npt.NDArray[Number]:
        """Return what is left of a column of the batch."""
        return column if self.kept is None else column[self.kept]

    @classmethod
    def without(cls, missing: Booleans | None, *, before: int) -> "Places":
        return cls(before, None if missing is None else np.flatnonzero(~missing))
