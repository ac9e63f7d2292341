"""calibcli.apply"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

import numpy as np

from calibcli.commands.predicting import (
    ApplyRequest,
    refuse_classes_alone,
    refuse_names,
    refuse_strange_to_map,
)
from calibcli.data.columns import Header
from calibcli.data.readers.in_memory import MemoryReader
from calibcli.documents.artifact import ClassArtifact, GroupArtifact
from calibcli.errors import UsageProblem
from calibcli.names import NEW_COLUMN, OnMissing, OnRange, OnSum, OnUnseen
from calibcli.options.rows import SeveralClasses, names_of
from calibcli.python.frames import (
    FRAME,
    columns_of_frame,
    is_frame,
    rows_of_frame,
    settled,
    with_added_columns,
)
from calibcli.python.problems import reads_documents, warn_of
from calibcli.python.recalibrator import (
    Recalibrator,
    asked_of,
    columns_added,
    recalibrator_of,
    rows_in_memory,
    typed,
)
from calibcli.python.rows import chosen, names_given, paths_of, probs_of, refuse_strange, text_of
from calibcli.values import replace

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibcli.python.rows import Classes, Column, Names

Make = TypeVar("Make")


if TYPE_CHECKING:

    class Asked(TypedDict, total=False):
        """What `apply` may be asked beside a map and rows."""

        score: str | None
        name: str
        prior: float | None
        probs: Names | None
        classes: Classes | None
        by: Column | None
        unseen: str
        on_sum: str
        on_missing: str
        on_range: str
        allow_edited: bool
        scale: str | None


@overload
def apply(
    artifact: Recalibrator | str | os.PathLike[str],
    rows: "npt.NDArray[np.generic] | Sequence[float] | Sequence[Sequence[float]]",
    **asked: "Unpack[Asked]",
) -> "npt.NDArray[np.float64]": ...


@overload
def apply(artifact: Recalibrator | str | os.PathLike[str], rows: Make, **asked: "Unpack[Asked]") -> Make: ...


@reads_documents
def apply(
    artifact: Recalibrator | str | os.PathLike[str],
    rows: Any,
    *,
    score: str | None = None,
    name: str = NEW_COLUMN,
    prior: float | None = None,
    probs: "Names | None" = None,
    classes: "Classes | None" = None,
    by: "Column | None" = None,
    unseen: str = OnUnseen.ERROR,
    on_sum: str = OnSum.ERROR,
    on_missing: str = OnMissing.ERROR,
    on_range: str = OnRange.ERROR,
    allow_edited: bool = False,  # noqa: ARG001 - heard by `reads_documents`
    scale: str | None = None,
) -> Any:
    """Recalibrate: scores to probabilities, or a frame to the same frame with the probability in a new
    column.

    No label is needed. The values are those of `calibcli apply`, bit for bit.

    Args:
        artifact: A `Recalibrator`, or the path of one.
        rows: Scores, shape (n,); probabilities of several classes, shape (n, K); or a frame of pandas, polars
            or Arrow, a mapping of names to arrays, or anything with `__arrow_c_stream__`.
        score: Score column of a frame; else that of the fit, or the one with a usual name.
        name: Name of the new column; the ends of Venn-Abers are `NAME_lower` and `NAME_upper`. Of several
            classes each gets `NAME_CLASS`, or all one column `NAME` of lists where they came as such;
            `NAME_class` is the most probable class and `NAME_confidence` its probability.
        prior: Base rate of these rows, where it is not that of the fit rows: assumes that scores given the
            label are distributed as there (label shift).
        probs: Columns of the classes in a frame; else those of the fit, or whose names end in its classes.
        classes: Their names, where the columns do not say them.
        by: The groups of a map that was fitted by groups: an array beside scores, a column of a frame; else
            the column that the fit named.
        unseen: Groups that the fit has not seen: "error", or "pooled" for the map of all rows.
        on_sum: Rows that do not sum to 1: "error", "normalise", or "null" for no probability.
        on_missing: Rows whose score is missing or no number: "error", or "null" for no probability either.
        on_range: Scores outside [0, 1]: "error", "clip", or "null" for no probability.
        allow_edited: Whether documents that were edited after they were written are read all the same, with a
            note.
        scale: What the scores are: "prob", "logit", "logprob" or "percent"; else what the map was fitted to,
            and scores whose spread says that they are on another scale are refused.

    Returns:
        Of the make of `rows`: an array for arrays, a Series for a Series, a frame for a frame, which itself
        stays as it is; a `pyarrow.Table` for other frames of Arrow.

    Raises:
        InputProblem: If a score is missing or out of range, or a column is not there.
        UsageProblem: If a new column has the name of another, or files are given: `calibcli apply` writes
            those.
    """
    recalibrator, rows = recalibrator_of(artifact), settled(rows)
    name, (prior, called) = text_of(name, "name"), typed(prior, classes)
    columns = None if probs is None else names_given(probs, "probs")
    if paths_of(rows) is not None:
        msg = "apply takes rows in memory, not files"
        raise UsageProblem(msg, "read them first, or run: calibcli apply cal.json preds.csv -o repaired.csv")
    if is_frame(rows):
        if by is not None and not isinstance(by, str):
            msg = "by is an array, and the rows are a frame"
            raise UsageProblem(msg, "name a column of the frame")
        requested = asked_of(scale, on_range, unseen, on_missing, score=score)
        sums = chosen(OnSum, on_sum, "on_sum")
        idle = {"probs": columns, "classes": called, "on_sum": sums}
        refuse_strange_to_map(recalibrator.artifact, prior=prior, by=by, unseen=unseen, **idle)
        request = ApplyRequest(recalibrator.name, recalibrator.artifact, requested, sums, name, prior)
        return _frame_with_added_columns(request, rows, (columns, called), by)
    refuse_strange(rows)
    member, new = by if isinstance(by, str) else None, None if name == NEW_COLUMN else name
    for keyword, value in (("score", score), ("probs", probs), ("by", member), ("name", new)):
        if value is not None:
            msg = f"{keyword}={value!r} names a column, and arrays have none"
            raise UsageProblem(msg, "leave it out, or pass a frame")
    return recalibrator.predict(
        rows,
        prior=prior,
        classes=classes,
        by=by,
        unseen=unseen,
        on_missing=on_missing,
        on_range=on_range,
        on_sum=on_sum,
        scale=scale,
    )


def _frame_with_added_columns(
    request: ApplyRequest,
    rows: Any,  # noqa: ANN401 - of any make
    classes: "tuple[str | Sequence[str] | None, str | Sequence[str] | None]",
    by: str | None,
) -> Any:  # noqa: ANN401
    fragment = rows_in_memory(FRAME, rows_of_frame(rows), columns_of_frame(rows))
    header, loaded = MemoryReader(fragment).header(), request.loaded
    if isinstance(loaded, ClassArtifact):
        if request.columns.score is not None:
            msg = f"--score names one score, and {request.artifact} was fitted to several classes"
            raise UsageProblem(msg, "name the columns of the classes with --probs")
        probs = probs_of(classes[0])
        if probs is None:
            refuse_classes_alone(classes[1])
        else:
            several = SeveralClasses(probs, names_of(classes[1]), request.on_sum)
            request = replace(request, columns=replace(request.columns, several=several))
    elif isinstance(loaded, GroupArtifact):
        loaded = replace(loaded, by=Header(header, FRAME).named(loaded.by if by is None else by))
        request = replace(request, loaded=loaded)
    predictor = request.predictor(fragment)
    refuse_names([field.name for field in predictor.fields], header, shown=FRAME)
    if predictor.resolved.member == predictor.resolved.score:
        msg = f"column {predictor.resolved.score!r} cannot be both score and group"
        raise UsageProblem(msg, "name another column with --score or --by")
    warn_of(predictor.resolved.other_than_fitted)
    return with_added_columns(rows, columns_added(predictor, fragment))
