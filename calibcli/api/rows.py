"""What a call was given, arrays or a frame or paths, as the inputs and columns that the tasks take."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from calibcli.api.choices import chosen, listed, maybe_chosen
from calibcli.api.frames import collected, is_frame
from calibcli.api.holding import Holding, class_names, is_rows_of_classes, names_of
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import DEFAULT_SEED, OnMissing, OnRange, Scale, WeightMeaning
from calibcli.options.rows import Columns, RowsAsked, SeveralClasses
from calibcli.selection_names import OnUnseen
from calibcli.view_names import OnSum, ViewName

if TYPE_CHECKING:
    from calibcli.api.columns import Values

    Names: TypeAlias = str | Sequence[str]
    Column: TypeAlias = str | Values
    Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
    # A frame is whatever has columns with names: no type of pandas or polars is needed to say so.
    Rows: TypeAlias = Paths | Values | Mapping[str, Values] | object
    Groups: TypeAlias = Names | Values | Mapping[str, Values] | object

_PROBS = "probs"
_NOT_IN_NAMES = frozenset(",*?[")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """
    What a call said of its rows.

    Args:
        rows: Paths, a frame, scores of shape (n,), or probabilities of shape (n, K); None for no rows.

        labels: Labels of shape (n,) beside arrays, or None.

        score: Names of the score columns of a frame or of files.

        label: Name of the label column of these.

        probs: Columns of several classes: names, a pattern, or one column of lists.

        classes: What the classes are called.

        view: How rows of several classes are seen.

        one_class: The one class that is looked at.

        on_sum: What becomes of rows that do not sum to one.

        weight: Weights, or the name of their column.

        weights_are: What weights mean.

        positive: The label that counts as 1.

        scale: What the scores are.

        on_missing: What becomes of rows without a value.

        on_range: What becomes of scores outside [0, 1].

        by: What makes groups: names of columns, values, or values by name.

        cluster: What rows that depend on each other share, or the name of that column.

        group: What rows that stay together share, or the name of that column.

        row_id: What tells rows apart, or the name of that column.

        unseen: What becomes of rows of groups that an artifact by groups has not seen.

        where: Conditions that rows satisfy.

        limit: Only the first so many rows, or None.

        sample: Only so many rows by lot, or None.

        seed: Of that lot.
    """

    rows: object
    labels: object = None
    score: "Names | None" = None
    label: str | None = None
    probs: "Names | None" = None
    classes: "Names | None" = None
    view: str = ViewName.CONFIDENCE
    one_class: str | None = None
    on_sum: str = OnSum.ERROR
    weight: object = None
    weights_are: str | None = None
    positive: object = None
    scale: str | None = None
    on_missing: str = OnMissing.ERROR
    on_range: str = OnRange.ERROR
    by: object = None
    cluster: object = None
    group: object = None
    row_id: object = None
    unseen: str = OnUnseen.ERROR
    where: "Names | None" = None
    limit: int | None = None
    sample: int | None = None
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        # A lazy frame is worked out once, however often its columns are looked at.
        object.__setattr__(self, "rows", collected(self.rows))

    def taken(self) -> "Taken":
        """
        Return the inputs with their columns.

        Raises:
            UsageProblem: If something is missing, is not understood, or has another length than the rest.
        """
        holding = Holding(names_are_columns=True)
        scores, probs, classes = listed(self.score), probs_of(self.probs), names_of(self.classes)
        inputs = () if self.rows is None else paths_of(self.rows)
        if inputs is None and self._is_frame_with_names():
            holding.take_frame(self.rows)
        elif inputs is None:
            self._refuse_names()
            holding.names_are_columns = False
            if is_rows_of_classes(self.rows):
                probs, classes = holding.take_matrix(self.rows, _PROBS), classes or class_names(self.rows)
            else:
                scores = tuple(filter(None, [holding.named(self.rows, "score")]))
        columns = Columns(
            score=scores[0] if scores else None,
            label=self._label(holding, in_memory=inputs is None),
            weight=holding.named(self.weight, "weight"),
            weights_are=maybe_chosen(WeightMeaning, self.weights_are, "weights_are"),
            positive=_text(self.positive),
            scale=maybe_chosen(Scale, self.scale, "scale"),
            on_missing=chosen(OnMissing, self.on_missing, "on_missing"),
            on_range=chosen(OnRange, self.on_range, "on_range"),
            others=scores[1:],
            group=holding.named(self.group, "group"),
            by=holding.all_named(self.by, "by"),
            cluster=holding.named(self.cluster, "cluster"),
            several=self._several(probs, classes),
            identity=holding.named(self.row_id, "row_id"),
            rows=RowsAsked.of(self.where, self.limit, self.sample, self.seed),
            on_unseen=chosen(OnUnseen, self.unseen, "unseen"),
        )
        if inputs is not None and holding.columns:
            msg = f"an array for {next(iter(holding.columns))}, and files for the rows"
            raise UsageProblem(msg, "name a column of the files")
        return Taken((holding.held(),) if inputs is None else inputs, columns, in_memory=inputs is None)

    def _is_frame_with_names(self) -> bool:
        """Whether the rows are a frame of scores and more, and not of probabilities beside labels."""
        alone = self.labels is None or self.score is not None or self.probs is not None
        return alone and is_frame(self.rows)

    def _refuse_names(self) -> None:
        for keyword, name in (("score", self.score), ("label", self.label), (_PROBS, self.probs)):
            if name is not None:
                msg = f"{keyword}={name!r} names a column, and arrays have none"
                raise UsageProblem(msg, "pass scores and labels, or a frame and names of its columns")
        if self.labels is None:
            msg = "scores without labels"
            raise UsageProblem(
                msg, "pass the labels after the scores, or a frame with score=... and label=..."
            )

    def _label(self, holding: Holding, *, in_memory: bool) -> str | None:
        if self.labels is None:
            return self.label
        if self.label is not None:
            msg = f"labels are given twice: as values, and as column {self.label!r}"
            raise UsageProblem(msg, "leave out one of them")
        if isinstance(self.labels, str) or not in_memory:
            msg = "labels are values that stand beside arrays"
            raise UsageProblem(msg, "name a column with label=...")
        return holding.named(self.labels, "label")

    def _several(self, probs: str | None, classes: tuple[str, ...] | None) -> SeveralClasses | None:
        view, on_sum = chosen(ViewName, self.view, "view"), chosen(OnSum, self.on_sum, "on_sum")
        if probs is not None:
            return SeveralClasses(probs, classes, on_sum, view, self.one_class)
        if (classes, on_sum, view, self.one_class) != (None, OnSum.ERROR, ViewName.CONFIDENCE, None):
            msg = "--classes, --class, --view and --on-sum speak of several classes, and there is one score"
            options = ("classes", "class", "view", "on-sum")
            raise IdleOption(msg, "pass probabilities of shape (rows, classes), or --probs", options=options)
        return None


@dataclass(frozen=True, slots=True)
class Taken:
    """
    The rows of a call as a task takes them.

    Args:
        inputs: Paths, or the one name of rows in memory.

        columns: Which column is which.

        in_memory: Whether nothing is read from files.
    """

    inputs: tuple[str, ...]
    columns: Columns
    in_memory: bool


def paths_of(rows: object) -> tuple[str, ...] | None:
    """Return the paths that rows are, or None where they are anything else."""
    many = rows if isinstance(rows, list | tuple) else (rows,)
    paths = [one for one in many if isinstance(one, str | os.PathLike)]
    return tuple(os.fspath(one) for one in paths) if paths and len(paths) == len(many) else None


def probs_of(names: "Names | None") -> str | None:
    """Return the columns of several classes as the command line names them."""
    if names is None or isinstance(names, str):
        return names
    strange = next((name for name in names if _NOT_IN_NAMES & set(name)), None)
    if strange is not None and len(names) > 1:
        msg = f"column {strange!r} of probs has a character that patterns and lists are made of"
        raise UsageProblem(msg, "rename it, or pass probabilities of shape (rows, classes) and classes=[...]")
    return ",".join(names)


def _text(positive: object) -> str | None:
    """Return the positive label as the text that labels are compared with."""
    if positive is None:
        return None
    return str(positive).lower() if isinstance(positive, bool | np.bool_) else str(positive)
