"""Which column is which: what the user asked for, and what a file's header makes of it."""

import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import OnMissing, OnRange, Scale, WeightMeaning

SCORE_NAMES = ("score", "prob", "p", "probability", "y_prob", "proba", "prediction", "confidence")
LABEL_NAMES = ("label", "y", "target", "outcome", "correct")
_LISTED = 20


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

    Raises:
        UsageProblem: If weights mean something and there are none.
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

    def __post_init__(self) -> None:
        if self.weights_are is not None and self.weight is None:
            msg = f"--weights-are {self.weights_are} without weights"
            raise UsageProblem(msg, "name the weight column with --weight")


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

    @property
    def scores(self) -> tuple[str, ...]:
        """All score columns."""
        return (self.score, *self.others)

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        single = (self.label, self.weight, self.group, self.cluster)
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
    repeated = [name for name, times in Counter(header).items() if times > 1]
    if repeated:
        msg = f"{path}: the header has {_listing(repeated)} more than once"
        raise InputProblem(msg, "give every column a name of its own")
    score = _named_or_usual(columns.score, "score", header=header, path=path)
    label = weight = group = cluster = None
    others: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    if labelled:
        label = _named_or_usual(columns.label, "label", header=header, path=path)
        weight = None if columns.weight is None else _named(columns.weight, header, path=path)
        group = None if columns.group is None else _named(columns.group, header, path=path)
        cluster = None if columns.cluster is None else _named(columns.cluster, header, path=path)
        others = tuple(_named(name, header, path=path) for name in columns.others)
        by = tuple(_named(name, header, path=path) for name in columns.by)
    guesses = [("score", score, columns.score), ("label", label, columns.label)]
    notes = [
        f"column {name!r} was taken as the {role}; --{role} names another"
        for role, name, asked in guesses
        if name is not None and asked is None
    ]
    chosen = ChosenColumns(columns, score, label, weight, tuple(notes), others, group, by, cluster)
    _refuse_two_roles(chosen)
    return chosen


def same_again(chosen: ChosenColumns, header: Sequence[str], *, path: str) -> ChosenColumns:
    """Find in a further file the columns that were chosen in the first one, with nothing left to guess."""
    again = replace(
        chosen.asked,
        score=chosen.score,
        label=chosen.label,
        weight=chosen.weight,
        others=chosen.others,
        group=chosen.group,
        by=chosen.by,
        cluster=chosen.cluster,
    )
    return resolve(again, header, path=path, labelled=chosen.label is not None)


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
    further = {"group": chosen.group, "--by": chosen.by, "cluster": chosen.cluster}
    roles = ["score", "label", "weight", *(role for role, column in further.items() if column)]
    msg = f"column {name!r} cannot be two of {', '.join(roles[:-1])} and {roles[-1]} at once"
    raise UsageProblem(msg, "name another column with --score, --label or --weight")


def _named_or_usual(
    asked: str | None, role: Literal["score", "label"], *, header: Sequence[str], path: str
) -> str:
    """Return the column asked for, or the only one with a usual name."""
    if asked is not None:
        return _named(asked, header, path=path)
    usual = SCORE_NAMES if role == "score" else LABEL_NAMES
    candidates = [name for name in header if _folded(name) in usual]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        msg = f"{path}: {_listing(candidates)} could each be the {role} column"
    else:
        msg = f"{path}: no column looks like the {role}; the columns are {_listing(header)}"
    raise InputProblem(msg, _separator_hint(header) or f"name it with --{role}")


def _named(name: str, header: Sequence[str], *, path: str) -> str:
    if name in header:
        return name
    alike = [column for column in header if _folded(column) == _folded(name)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        msg = f"{path}: {name!r} could be any of {_listing(alike)}"
        raise InputProblem(msg, "spell it as the file does")
    msg = f"{path}: there is no column {name!r}; the columns are {_listing(header)}"
    folded = {_folded(column): column for column in header}
    close = difflib.get_close_matches(_folded(name), folded, n=1)
    hint = f"did you mean {folded[close[0]]!r}?" if close else None
    raise InputProblem(msg, _separator_hint(header) or hint)


def _separator_hint(header: Sequence[str]) -> str | None:
    """Say that fields seem to be separated by something else, when the whole header is one name."""
    if len(header) == 1 and ";" in header[0]:
        return "the file separates its fields by ';': convert it to commas or tabs first"
    if len(header) == 1 and "\t" in header[0]:
        return "the file separates its fields by tabs: write path:tsv or pass --input-format tsv"
    return None


def _folded(name: str) -> str:
    return name.strip().casefold()


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"
