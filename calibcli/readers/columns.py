"""Which column is which: what the user asked for, and what a file's header makes of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import OnMissing, OnRange, Scale, WeightMeaning
from calibcli.readers.class_columns import ClassColumns, SeveralClasses, class_columns
from calibcli.readers.names_of_columns import folded, listing, named, separator_hint

SCORE_NAMES = ("score", "prob", "p", "probability", "y_prob", "proba", "prediction", "confidence")
LABEL_NAMES = ("label", "y", "target", "outcome", "correct")


@dataclass(frozen=True, slots=True)
class Columns:
    """
    What the user said about the columns.

    Args:
        score: Name of the score column, or None to find the one column with a usual name.

        label: Name of the label column, or None as above.

        weight: Name of the weight column, or None for rows that count once.

        weights_are: What a weight stands for; None means importance.

        positive: The label that counts as 1; None where labels are 0 and 1, or true and false.

        scale: What the scores are.

        on_missing: What becomes of a row without score, label or weight.

        on_range: What becomes of a score outside [0, 1].

        others: Names of further score columns of the same rows.

        group: Name of the column whose equal values keep rows together in cross-validation, or None.

        by: Names of the columns whose values, taken together, part the rows into groups.

        cluster: Name of the column whose equal values tell that rows depend on each other, or None.

        several: What was said of several classes, or None where there is one score.

        identity: Name of the column whose values tell rows apart, or None.

    Raises:
        UsageProblem: If weights mean something and there are none, or there are scores of both kinds.
    """

    score: str | None = None
    label: str | None = None
    weight: str | None = None
    weights_are: WeightMeaning | None = None
    positive: str | None = None
    scale: Scale = Scale.PROB
    on_missing: OnMissing = OnMissing.ERROR
    on_range: OnRange = OnRange.ERROR
    others: tuple[str, ...] = ()
    group: str | None = None
    by: tuple[str, ...] = ()
    cluster: str | None = None
    several: SeveralClasses | None = None
    identity: str | None = None

    def __post_init__(self) -> None:
        if self.weights_are is not None and self.weight is None:
            msg = f"--weights-are {self.weights_are} without weights"
            raise UsageProblem(msg, "name the weight column with --weight")
        if self.several is not None and (self.score is not None or self.others or self.positive is not None):
            msg = "--probs names the scores of several classes: --score and --positive are for two"
            raise UsageProblem(msg, "leave out one of them")


@dataclass(frozen=True, slots=True)
class ChosenColumns:
    """
    The columns of one file, by the names in its header.

    Args:
        asked: What the user said; the rules for values are there.

        score: Name of the score column.

        label: Name of the label column, or None where no label is read.

        weight: Name of the weight column, or None.

        notes: Sentences about columns that were guessed.

        others: Names of further score columns.

        group: Name of the group column, or None.

        by: Names of the columns that part the rows.

        cluster: Name of the cluster column, or None.

        probs: The columns of several classes, which are the score columns too; None where there is one score.

        identity: Name of the column that tells rows apart, or None.
    """

    asked: Columns
    score: str
    label: str | None
    weight: str | None = None
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    group: str | None = None
    by: tuple[str, ...] = ()
    cluster: str | None = None
    probs: ClassColumns | None = None
    identity: str | None = None

    @property
    def scores(self) -> tuple[str, ...]:
        """All score columns."""
        return (self.score, *self.others)

    @property
    def shown_score(self) -> str:
        """The score as reports name it."""
        return self.score if self.asked.several is None else self.asked.several.probs

    @property
    def classes(self) -> tuple[str, ...]:
        """What the classes are called; none where there is one score."""
        return () if self.probs is None else self.probs.classes

    @property
    def further(self) -> tuple[str, ...]:
        """The score columns that are scores of their own, beside the first."""
        return self.others if self.probs is None else ()

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        single = (self.label, self.weight, self.group, self.cluster, self.identity)
        return (*self.scores, *(name for name in single if name is not None), *self.by)

    @property
    def words(self) -> tuple[str, ...]:
        """The columns that are seen as text of few different values."""
        single = (self.label, self.group, self.cluster)
        return (*(name for name in single if name is not None), *self.by)

    @property
    def weights_are(self) -> WeightMeaning | None:
        """What a weight stands for, or None where there is none."""
        if self.weight is None:
            return None
        return self.asked.weights_are or WeightMeaning.IMPORTANCE


def resolve(columns: Columns, header: Sequence[str], *, path: str, labelled: bool = True) -> ChosenColumns:
    """
    Find the columns in a header.

    A name matches exactly, or else without regard to case and outer blanks if one column does so.

    Args:
        columns: What the user said.

        header: The names of the file's columns.

        path: The file, for messages.

        labelled: Whether a label is read at all; `apply` needs none.

    Raises:
        InputProblem: If a column is not there, the header repeats a name, or no single column has a
            usual name.

        UsageProblem: If one column is to be two things.
    """
    refuse_repeated(header, path=path)
    probs, others = None, columns.others
    if columns.several is None:
        score = _named_or_usual(columns.score, "score", header=header, path=path)
    else:
        probs = class_columns(columns.several, header, path=path)
        score, *rest = probs.names
        others = tuple(rest)
    label = weight = group = cluster = identity = None
    by: tuple[str, ...] = ()
    if labelled:
        label = _named_or_usual(columns.label, "label", header=header, path=path)
        weight = None if columns.weight is None else named(columns.weight, header, path=path)
        group = None if columns.group is None else named(columns.group, header, path=path)
        cluster = None if columns.cluster is None else named(columns.cluster, header, path=path)
        identity = None if columns.identity is None else named(columns.identity, header, path=path)
        others = tuple(named(name, header, path=path) for name in others)
        by = tuple(named(name, header, path=path) for name in columns.by)
    guesses = [("score", None if probs else score, columns.score), ("label", label, columns.label)]
    notes = [
        f"column {name!r} was taken as the {role}; --{role} names another"
        for role, name, asked in guesses
        if name is not None and asked is None
    ]
    chosen = ChosenColumns(
        columns, score, label, weight, tuple(notes), others, group, by, cluster, probs, identity
    )
    _refuse_two_roles(chosen)
    return chosen


def refuse_repeated(header: Sequence[str], *, path: str) -> None:
    """
    Refuse a header that has a name twice.

    Raises:
        InputProblem: If it has.
    """
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        msg = f"{path}: the header has {listing(repeated)} more than once"
        raise InputProblem(msg, "give every column a name of its own")


def same_again(chosen: ChosenColumns, header: Sequence[str], *, path: str) -> ChosenColumns:
    """Find in a further file the columns that were chosen in the first one, with nothing left to guess."""
    again = replace(
        chosen.asked,
        score=None if chosen.probs else chosen.score,
        label=chosen.label,
        weight=chosen.weight,
        others=() if chosen.probs else chosen.others,
        group=chosen.group,
        by=chosen.by,
        cluster=chosen.cluster,
        identity=chosen.identity,
    )
    found = resolve(again, header, path=path, labelled=chosen.label is not None)
    return found if chosen.probs is None else _in_order_of(chosen.probs, found, header, path=path)


def _in_order_of(
    first: ClassColumns, found: ChosenColumns, header: Sequence[str], *, path: str
) -> ChosenColumns:
    """Return the columns of the classes in the order of the first file, which must have the same ones."""
    names = tuple(named(name, header, path=path) for name in first.names)
    further = [] if found.probs is None else [name for name in found.probs.names if name not in names]
    if further:
        msg = f"{path}: {listing(further)} would be classes that the first file does not have"
        raise InputProblem(msg, "give all files the same classes, or list their columns with --probs a,b,c")
    probs = ClassColumns(names, first.classes)
    return replace(found, score=names[0], others=names[1:], probs=probs)


def _refuse_two_roles(chosen: ChosenColumns) -> None:
    """Refuse a column that is to be two things."""
    name, times = Counter(chosen.names).most_common(1)[0]
    if times == 1:
        return
    if chosen.scores.count(name) == times:
        msg = f"column {name!r} is named twice as the score"
        raise UsageProblem(msg, "--score takes two different columns")
    if chosen.by.count(name) == times:
        msg = f"column {name!r} is named twice with --by"
        raise UsageProblem(msg, "--by takes different columns")
    further = {"group": chosen.group, "--by": chosen.by, "cluster": chosen.cluster, "id": chosen.identity}
    roles = ["score", "label", "weight", *(role for role, column in further.items() if column)]
    msg = f"column {name!r} cannot be two of {', '.join(roles[:-1])} and {roles[-1]} at once"
    raise UsageProblem(msg, "name another column with --score, --label or --weight")


def _named_or_usual(
    asked: str | None, role: Literal["score", "label"], *, header: Sequence[str], path: str
) -> str:
    """Return the column asked for, or the only one with a usual name."""
    if asked is not None:
        return named(asked, header, path=path)
    usual = SCORE_NAMES if role == "score" else LABEL_NAMES
    candidates = [name for name in header if folded(name) in usual]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        msg = f"{path}: {listing(candidates)} could each be the {role} column"
    else:
        msg = f"{path}: no column looks like the {role}; the columns are {listing(header)}"
    raise InputProblem(msg, separator_hint(header) or f"name it with --{role}")
