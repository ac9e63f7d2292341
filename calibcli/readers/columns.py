"""Which column is which: what the user asked for, and what a file's header makes of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from calibcli.errors import InputProblem
from calibcli.names import WeightMeaning
from calibcli.options.rows import Columns
from calibcli.readers.class_columns import ClassColumns, class_columns
from calibcli.readers.names_of_columns import named, named_or_usual, refuse_repeated
from calibcli.readers.roles import refuse_two_roles
from calibcli.readers.rows_asked import EVERY_ROW, RowsChosen, rows_chosen


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

        from_path: Columns that stand in the path of the file, each with its value or None.

        rows: Which rows are read.

        carried: Columns of the file that are read where all would be (`batches_of_all`); None for all.

        member: Name of the column that says which member of a map a row goes through, or None.
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
    from_path: tuple[tuple[str, str | None], ...] = ()
    rows: RowsChosen = EVERY_ROW
    carried: tuple[str, ...] | None = None
    member: str | None = None

    def carries(self, header: Iterable[str]) -> tuple[str, ...]:
        """Return those of a file's columns that are read where all would be."""
        return tuple(name for name in header if self.carried is None or name in self.carried)

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
    def roles(self) -> tuple[str, ...]:
        """The columns that are something, once for each thing that they are."""
        single = (self.label, self.weight, self.group, self.cluster, self.identity)
        return (*self.scores, *(name for name in single if name is not None), *self.by)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that `apply` makes new ones of."""
        own = self.member is not None and self.member not in dict(self.from_path)
        return (*self.scores, str(self.member)) if own else self.scores

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read."""
        return (*self.roles, *self._looked_at)

    @property
    def _looked_at(self) -> tuple[str, ...]:
        """The columns that conditions or the members of a map look at, and that are nothing else."""
        own = self.rows.columns if self.member is None else (*self.rows.columns, self.member)
        return tuple(name for name in dict.fromkeys(own) if name not in self.roles)

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns that are read and stand in the file."""
        if not self.from_path:
            return self.names
        outside = dict(self.from_path)
        return tuple(name for name in self.names if name not in outside)

    @property
    def words(self) -> tuple[str, ...]:
        """The columns that are seen as text of few different values."""
        single = (self.label, self.group, self.cluster)
        return (*(name for name in single if name is not None), *self.by, *self._looked_at)

    @property
    def telling(self) -> tuple[str, ...]:
        """The columns that tell rows or groups apart."""
        single = (self.group, self.cluster, self.identity, self.member)
        return tuple(dict.fromkeys((*(name for name in single if name is not None), *self.by)))

    @property
    def weights_are(self) -> WeightMeaning | None:
        """What a weight stands for, or None where there is none."""
        if self.weight is None:
            return None
        return self.asked.weights_are or WeightMeaning.IMPORTANCE


def resolve(
    columns: Columns,
    header: Sequence[str],
    *,
    path: str,
    labelled: bool = True,
    outside: Sequence[str] = (),
) -> ChosenColumns:
    """
    Find the columns in a header.

    A name matches exactly, or as the same letters in other code points, or else without regard to case and
    outer blanks, if one column does so.

    Args:
        columns: What the user said.

        header: The names of the file's columns.

        path: The file, for messages.

        labelled: Whether a label is read at all; `apply` needs none.

        outside: Further columns, which are taken where they are named and never guessed.

    Raises:
        InputProblem: If a column is not there, the header repeats a name, or no single column has a
            usual name.

        UsageProblem: If one column is to be two things.
    """
    refuse_repeated(header, path=path)
    wide = (*header, *outside)
    probs, others = None, columns.others
    if columns.several is None:
        score = named_or_usual(columns.score, "score", header=header, path=path)
    else:
        probs = class_columns(columns.several, header, path=path)
        score, *rest = probs.names
        others = tuple(rest)
    label = weight = group = cluster = identity = None
    by: tuple[str, ...] = ()
    if labelled:
        every = header if columns.label is None else wide
        label = named_or_usual(columns.label, "label", header=every, path=path)
        weight = None if columns.weight is None else named(columns.weight, wide, path=path)
        group = None if columns.group is None else named(columns.group, wide, path=path)
        cluster = None if columns.cluster is None else named(columns.cluster, wide, path=path)
        identity = None if columns.identity is None else named(columns.identity, wide, path=path)
        others = tuple(named(name, header, path=path) for name in others)
        by = tuple(named(name, wide, path=path) for name in columns.by)
    notes = _guesses(("score", None if probs else score, columns.score), ("label", label, columns.label))
    chosen = ChosenColumns(
        columns,
        score,
        label,
        weight,
        notes,
        others,
        group,
        by,
        cluster,
        probs,
        identity,
        rows=rows_chosen(columns.rows, wide, path=path) if labelled else EVERY_ROW,
        member=None if columns.member is None else _member_named(columns.member.name, wide, path=path),
    )
    refuse_two_roles(chosen)
    return chosen


def _member_named(name: str, header: Sequence[str], *, path: str) -> str:
    try:
        return named(name, header, path=path)
    except InputProblem as problem:
        fitted = f"the map was fitted by the column {name!r} (fit --by): rows need it too"
        raise InputProblem(problem.message, "; ".join(filter(None, (fitted, problem.hint)))) from None


def _guesses(*found: tuple[str, str | None, str | None]) -> tuple[str, ...]:
    """Return what is said of columns that were not asked for by name."""
    return tuple(
        f"column {name!r} was taken as the {role}; --{role} names another"
        for role, name, asked in found
        if name is not None and asked is None
    )
