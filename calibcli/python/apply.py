"""calibcli.apply"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import numpy as np
import pyarrow as pa

from calibcli.commands.added_columns import added_columns, group_columns, refuse_names
from calibcli.commands.apply import ClassAsk, ClassPredictor, Predictor, classes_chosen, fields_added
from calibcli.commands.evaluation import ClassMap
from calibcli.commands.right_scale import ScaleCheck
from calibcli.data.column_names import named
from calibcli.data.columns import ChosenColumns, resolve
from calibcli.data.files import HeldRows
from calibcli.data.fragment import Fragment
from calibcli.data.fragments import list_fragments
from calibcli.data.intake import Intake
from calibcli.data.readers import in_memory as held
from calibcli.documents.artifact import Artifact, ClassArtifact, GroupArtifact
from calibcli.errors import UsageProblem
from calibcli.names import OnRange, OnSum, OnUnseen, Scale
from calibcli.options.rows import Columns, SeveralClasses, names_of, refuse_any_sum
from calibcli.python.frames import FRAME, columns_of_frame, rows_of_frame, settled, widened
from calibcli.python.problems import reads_documents, warn_of
from calibcli.python.recalibrator import Recalibrator, predicted_by_groups, recalibrator_of
from calibcli.python.rows import chosen, maybe_chosen, paths_of, probs_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibcli.python.rows import Column, Names

Make = TypeVar("Make")


@overload
def apply(
    artifact: Recalibrator | str | os.PathLike[str],
    rows: "npt.NDArray[np.generic] | Sequence[float] | Sequence[Sequence[float]]",
    *,
    score: str | None = None,
    name: str = "calibrated",
    prior: float | None = None,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    by: "Column | None" = None,
    unseen: str = OnUnseen.ERROR,
    on_sum: str = OnSum.ERROR,
    on_range: str = OnRange.ERROR,
    allow_edited: bool = ...,
    scale: str | None = None,
) -> "npt.NDArray[np.float64]": ...


@overload
def apply(
    artifact: Recalibrator | str | os.PathLike[str],
    rows: Make,
    *,
    score: str | None = None,
    name: str = "calibrated",
    prior: float | None = None,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    by: "Column | None" = None,
    unseen: str = OnUnseen.ERROR,
    on_sum: str = OnSum.ERROR,
    on_range: str = OnRange.ERROR,
    allow_edited: bool = ...,
    scale: str | None = None,
) -> Make: ...


@reads_documents
def apply(
    artifact: Recalibrator | str | os.PathLike[str],
    rows: Any,
    *,
    score: str | None = None,
    name: str = "calibrated",
    prior: float | None = None,
    probs: "Names | None" = None,
    classes: "Names | None" = None,
    by: "Column | None" = None,
    unseen: str = OnUnseen.ERROR,
    on_sum: str = OnSum.ERROR,
    on_range: str = OnRange.ERROR,
    allow_edited: bool = False,  # noqa: ARG001 - heard by `reads_documents`
    scale: str | None = None,
) -> Any:
    """
    Recalibrate: scores to probabilities, or a frame to the same frame with the probability in a new column.

    No label is needed. The values are those of `calibcli apply`, bit for bit.

    Args:
        artifact: A `Recalibrator`, or the path of one.
        rows: Scores, shape (n,); probabilities of several classes, shape (n, K); or a frame of pandas, polars
            or Arrow, a mapping of names to arrays, or anything with `__arrow_c_stream__`.
        score: Score column of a frame; else the one with a usual name.
        name: Name of the new column; the ends of Venn-Abers are `NAME_lower` and `NAME_upper`. Of several
            classes each gets `NAME_CLASS`, or all one column `NAME` of lists where they came as such;
            `NAME_class` is the most probable class and `NAME_confidence` its probability.
        prior: Base rate of these rows, where it is not that of the fit rows: assumes that scores given the
            label are distributed as there (label shift).
        probs: Columns of the classes in a frame; else those whose names end in the classes of the fit.
        classes: Their names, where the columns do not say them.
        by: The groups of a map that was fitted by groups: an array beside scores, a column of a frame; else
            the column that the fit named.
        unseen: Groups that the fit has not seen: "error", or "pooled" for the map of all rows.
        on_sum: Rows that do not sum to 1: "error" or "normalise".
        on_range: Scores outside [0, 1]: "error" or "clip".
        allow_edited: Whether documents that were edited after they were written are read all the same, with a
            note.
        scale: What the scores are: "prob", "logit" or "logprob"; else what the map was fitted to, and scores
            whose spread says that they are on another scale are refused.

    Returns:
        Of the make of `rows`: an array for arrays, a Series for a Series, a frame for a frame, which itself
        stays as it is; a `pyarrow.Table` for other frames of Arrow.

    Raises:
        InputProblem: If a score is missing or out of range, or a column is not there.
        UsageProblem: If a new column has the name of another, or files are given: `calibcli apply` writes
        those.
    """
    from calibcli.python.frames import collected, is_frame

    recalibrator, rows = recalibrator_of(artifact), collected(rows)
    if paths_of(rows) is not None:
        msg = "apply takes rows in memory, not files"
        raise UsageProblem(msg, "read them first, or run: calibcli apply cal.json preds.csv -o repaired.csv")
    if is_frame(rows):
        if by is not None and not isinstance(by, str):
            msg = "by is an array, and the rows are a frame"
            raise UsageProblem(msg, "name a column of the frame")
        ask = FrameAsk(score, name, prior, probs, classes, on_sum, on_range, by, unseen, scale)
        return widened_frame(recalibrator, rows, ask)
    for keyword, value in (("score", score), ("probs", probs), ("by", by if isinstance(by, str) else None)):
        if value is not None:
            msg = f"{keyword}={value!r} names a column, and arrays have none"
            raise UsageProblem(msg, "leave it out, or pass a frame")
    return recalibrator.predict(
        rows,
        prior=prior,
        classes=classes,
        by=by,
        unseen=unseen,
        on_range=on_range,
        on_sum=on_sum,
        scale=scale,
    )


@dataclass(frozen=True, slots=True)
class FrameAsk:
    """
    What is asked of a frame.

    Args:
        score: Score column, or None for the one with a usual name.
        name: What new columns are called, or begin with.
        prior: Base rate of the rows, or None for that of the fit rows.
        probs: Columns of several classes, or None for those whose names end in the classes of the fit.
        on_range: What becomes of scores outside [0, 1].
        by: Column of the groups, or None for that of the fit.
        unseen: What becomes of rows of groups that the fit has not seen.
        scale: What the scores are, or None for what the map was fitted to.
    """

    score: str | None
    name: str
    prior: float | None
    probs: str | Sequence[str] | None
    classes: str | Sequence[str] | None
    on_sum: str
    on_range: str
    by: str | None = None
    unseen: str = OnUnseen.ERROR
    scale: str | None = None

    @property
    def read_as(self) -> Scale | None:
        """The scale that was said."""
        return maybe_chosen(Scale, self.scale, "scale")


def widened_frame(recalibrator: Recalibrator, rows: Any, ask: FrameAsk) -> Any:  # noqa: ANN401 - of any make
    """Return a frame of the same make with the new columns."""
    frame = settled(rows)
    name = HeldRows(FRAME, rows=rows_of_frame(frame), columns=columns_of_frame(frame))
    (whole, *_) = list_fragments([name])
    fragment = Fragment(0, name, whole.format)
    if isinstance(recalibrator.artifact, Artifact):
        added = _of_score(recalibrator.artifact, fragment, ask)
    elif isinstance(recalibrator.artifact, GroupArtifact):
        added = _of_groups(recalibrator.artifact, fragment, ask)
    else:
        added = _of_classes(recalibrator.artifact, fragment, ask, path=recalibrator.name)
    return widened(frame, added)


def _of_score(artifact: Artifact, fragment: Fragment, ask: FrameAsk) -> dict[str, Any]:
    if (ask.probs, ask.classes, ask.on_sum) != (None, None, OnSum.ERROR):
        msg = "--probs, --classes and --on-sum speak of several classes, and the map was fitted to one score"
        raise UsageProblem(msg, "name the score column with --score")
    scale = ask.read_as or artifact.scale
    columns = Columns(score=ask.score, scale=scale, on_range=chosen(OnRange, ask.on_range, "on_range"))
    header = held.READER.header(fragment)
    found = resolve(columns, header, path=FRAME, labelled=False)
    added = added_columns(artifact, name=ask.name, prior=ask.prior)
    refuse_names(added.names, header, shown=FRAME)
    check = ScaleCheck(artifact) if ask.scale is None else None
    predictor = Predictor(added, Intake(found, shown=FRAME), check=check)
    parts = [predictor(batch.column(found.score)) for batch in held.READER.batches(fragment, found)]
    warn_of(predictor.notes)
    return _joined(added.names, parts)


def _of_groups(artifact: GroupArtifact, fragment: Fragment, ask: FrameAsk) -> dict[str, Any]:
    if (ask.probs, ask.classes, ask.on_sum, ask.prior) != (None, None, OnSum.ERROR, None):
        msg = "--probs, --classes, --on-sum and --prior are not for a map that was fitted by groups"
        raise UsageProblem(msg, "name the score column with --score")
    header = held.READER.header(fragment)
    found = resolve(Columns(score=ask.score), header, path=FRAME, labelled=False)
    names = group_columns(artifact, name=ask.name).names
    refuse_names(names, header, shown=FRAME)
    given = cast("HeldRows", fragment.path).columns
    group = named(ask.by or artifact.by, header, path=FRAME)
    if group == found.score:
        msg = f"column {group!r} cannot be both score and group"
        raise UsageProblem(msg, "name another column with --score or --by")
    values = predicted_by_groups(
        artifact,
        given[found.score](),
        by=given[group](),
        unseen=ask.unseen,
        on_range=ask.on_range,
        scale=ask.scale,
        shown=FRAME,
        names=(found.score, group),
    )
    return dict(zip(names, values, strict=True))


def _of_classes(artifact: ClassArtifact, fragment: Fragment, ask: FrameAsk, *, path: str) -> dict[str, Any]:
    if ask.score is not None or ask.prior is not None:
        msg = f"--score and --prior are for one score, and {path} was fitted to several classes"
        raise UsageProblem(msg, "name the columns of the classes with --probs")
    sums, probs = chosen(OnSum, ask.on_sum, "on_sum"), probs_of(ask.probs)
    refuse_any_sum(sums)
    several = None if probs is None else SeveralClasses(probs, names_of(ask.classes), sums)
    on_range = chosen(OnRange, ask.on_range, "on_range")
    columns = Columns(scale=ask.read_as, on_range=on_range, several=several)
    found: ChosenColumns = classes_chosen(artifact, ClassAsk(columns, sums, ask.name), fragment)
    change = ClassMap(artifact, path)
    change.order_of(found.classes)
    fields = fields_added(artifact, found, fragment, name=ask.name)
    names = [field.name for field in fields]
    refuse_names(names, held.READER.header(fragment), shown=FRAME)
    predictor = ClassPredictor(change, found, fragment, quotes=None, checked=ask.scale is None)
    parts = [predictor(batch) for batch in held.READER.batches(fragment, found)]
    warn_of(predictor.notes)
    return _joined(names, parts)


def _joined(names: Sequence[str], parts: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return whole columns from those of batches, by name."""
    whole: dict[str, Any] = {}
    for place, name in enumerate(names):
        pieces = [part[place] for part in parts]
        if pieces and isinstance(pieces[0], pa.Array):
            whole[name] = pa.chunked_array(pieces)
        else:
            whole[name] = np.concatenate(pieces) if pieces else np.empty(0)
    return whole
