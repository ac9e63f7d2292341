"""Scores to recalibrated probabilities: checked and mapped piece by piece, so that little is held."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.api.alike import rows_like, values_like
from calibcli.api.choices import chosen, maybe_chosen
from calibcli.api.columns import column_of, is_matrix, lists_of, matrix_of
from calibcli.api.frames import FRAME, columns_of_frame, is_frame, settled
from calibcli.api.group_maps import groups_given
from calibcli.api.indexes import refuse_misaligned
from calibcli.api.spoken import warn_of
from calibcli.documents.artifact import Artifact
from calibcli.documents.class_artifact import ClassArtifact
from calibcli.documents.group_artifact import GroupArtifact
from calibcli.errors import UsageProblem
from calibcli.names import OnRange, Scale
from calibcli.options.rows import Columns, SeveralClasses, names_of, refuse_any_sum
from calibcli.readers.class_columns import ClassColumns
from calibcli.readers.class_columns_again import columns_of_classes
from calibcli.readers.class_intake import ClassIntake
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import batch_rows
from calibcli.readers.held import piece_of
from calibcli.readers.in_memory import HeldColumn
from calibcli.readers.intake import Intake
from calibcli.selection_names import OnUnseen
from calibcli.tasks.added_columns import added_columns, group_columns
from calibcli.tasks.apply import Predictor
from calibcli.tasks.class_map import ClassMap
from calibcli.tasks.group_map import member_column
from calibcli.tasks.right_scale import ScaleCheck, class_scale_notes
from calibcli.view_names import OnSum

Array = npt.NDArray[np.float64]
SCORES = "scores"
_PROBS = "probs"
_BY = "by"
_SCALE = "scale"


def predicted_scores(
    artifact: Artifact,
    scores: Any,  # noqa: ANN401 - an array of any make
    *,
    prior: float | None,
    on_range: str,
    scale: str | None,
) -> Any:  # noqa: ANN401
    """Return a probability for each score, of the make of the scores."""
    return values_like(scores, _mapped(artifact, scores, prior=prior, on_range=on_range, scale=scale)[0])


def ends_of_scores(
    artifact: Artifact,
    scores: Any,  # noqa: ANN401 - an array of any make
    *,
    prior: float | None,
    on_range: str,
    scale: str | None,
) -> tuple[Array, Array] | None:
    """Return the ends of each probability, None where the method has none."""
    _, *ends = _mapped(artifact, scores, prior=prior, on_range=on_range, scale=scale)
    return (ends[0], ends[1]) if ends else None


def predicted_rows(
    artifact: ClassArtifact,
    rows: Any,  # noqa: ANN401 - of any make
    *,
    name: str,
    classes: str | Sequence[str] | None,
    on_range: str,
    on_sum: str,
    scale: str | None,
) -> Any:  # noqa: ANN401
    """Return recalibrated rows of probabilities, of the make of those given."""
    sums = chosen(OnSum, on_sum, "on_sum")
    refuse_any_sum(sums)
    asked = Columns(
        scale=maybe_chosen(Scale, scale, _SCALE) or artifact.scale,
        on_range=chosen(OnRange, on_range, "on_range"),
        several=SeveralClasses(_PROBS, on_sum=sums),
    )
    change = ClassMap(artifact, name)
    if is_frame(rows):
        frame = settled(rows)
        columns = columns_of_frame(frame)
        found = columns_of_classes(artifact.classes, asked, tuple(columns), lists=(), path=FRAME)
        values = _rows_mapped(
            {one: columns[one]() for one in found.names}, found, change, checked=scale is None
        )
        return rows_like(frame, values, names=found.names)
    if not (is_matrix(rows) or isinstance(rows, pa.Array | pa.ChunkedArray)):
        msg = f"one score, and {name} was fitted to {len(artifact.classes):,} classes"
        raise UsageProblem(msg, f"pass probabilities of shape (rows, {len(artifact.classes)})")
    lists = rows if isinstance(rows, pa.Array | pa.ChunkedArray) else lists_of(matrix_of(rows, what=_PROBS))
    known = names_of(classes) or artifact.classes
    change.order_of(known)
    found = ChosenColumns(asked, _PROBS, None, probs=ClassColumns((_PROBS,), known))
    values = _rows_mapped({_PROBS: lists}, found, change, checked=scale is None)
    return rows_like(rows, values, names=known)


def predicted_by_groups(
    artifact: GroupArtifact,
    scores: Any,  # noqa: ANN401 - an array of any make
    *,
    by: object,
    unseen: str,
    on_range: str,
    scale: str | None = None,
    shown: str = SCORES,
    names: tuple[str, str] = (SCORES, _BY),
) -> tuple[Array, ...]:
    """
    Return a probability for each score by the map of its group, and its ends, shape (n,) each.

    Messages call the rows `shown`, and the columns of scores and groups by their `names`.
    """
    column = _one_column(scores)
    refuse_misaligned({SCORES: scores, _BY: by})
    groups = groups_given(by, artifact, rows=len(column))
    asked = Columns(
        scale=maybe_chosen(Scale, scale, _SCALE) or artifact.pooled.scale,
        on_range=chosen(OnRange, on_range, "on_range"),
        member=member_column(artifact, chosen(OnUnseen, unseen, "unseen")),
    )
    score, group = names
    found = ChosenColumns(asked, score, None, member=group)
    added = group_columns(artifact, name="calibrated")
    check = ScaleCheck(artifact.pooled) if scale is None else None
    predictor = Predictor(added, Intake(found, shown=shown), check=check)

    def part(first: int, size: int) -> tuple[Array, ...]:
        pieces = [piece_of(one, first, size) for one in (column, groups)]
        return predictor.of(pa.RecordBatch.from_arrays(pieces, names=list(names)), found)

    return _piece_by_piece(part, predictor, len(column), len(added.names))


def _piece_by_piece(
    part: Callable[[int, int], tuple[Array, ...]], predictor: Predictor, rows: int, count: int
) -> tuple[Array, ...]:
    """Return whole columns from those of pieces, and give what must be said of them as warnings."""
    found = tuple(np.empty(rows) for _ in range(count))
    size = batch_rows(1)
    for first in range(0, rows, size):
        for whole, piece in zip(found, part(first, size), strict=True):
            whole[first : first + piece.size] = piece
    warn_of(predictor.notes)
    return found


def _one_column(scores: Any) -> HeldColumn:  # noqa: ANN401
    if is_matrix(scores) or is_frame(scores):
        msg = "several columns, and the map was fitted to one score"
        raise UsageProblem(msg, "pass that column; `calibcli.apply` takes a frame and --score")
    return column_of(scores, what=SCORES)


def _mapped(
    artifact: Artifact,
    scores: Any,  # noqa: ANN401 - an array of any make
    *,
    prior: float | None,
    on_range: str,
    scale: str | None,
) -> tuple[Array, ...]:
    """Return the probabilities of scores, and their ends where there are some, shape (n,) each."""
    column = _one_column(scores)
    read_as = maybe_chosen(Scale, scale, _SCALE) or artifact.scale
    asked = Columns(scale=read_as, on_range=chosen(OnRange, on_range, "on_range"))
    added = added_columns(artifact, name="calibrated", prior=prior)
    check = ScaleCheck(artifact) if scale is None else None
    predictor = Predictor(added, Intake(ChosenColumns(asked, SCORES, None), shown=SCORES), check=check)

    def part(first: int, size: int) -> tuple[Array, ...]:
        return predictor(piece_of(column, first, size))

    return _piece_by_piece(part, predictor, len(column), len(added.names))


def _rows_mapped(
    columns: dict[str, HeldColumn], found: ChosenColumns, change: ClassMap, *, checked: bool
) -> Array:
    intake = ClassIntake(found, shown=FRAME if found.others else _PROBS)
    rows = len(next(iter(columns.values())))
    values = np.empty((rows, len(found.classes)))
    size, highest = batch_rows(len(found.classes)), 0.0
    for first in range(0, rows, size):
        pieces = [piece_of(one, first, size) for one in columns.values()]
        batch = pa.RecordBatch.from_arrays(pieces, names=list(columns))
        probability = intake.probabilities_of(batch)
        highest = float(probability.max(initial=highest))
        values[first : first + size] = change(probability, found.classes)
    if checked:
        sums = intake.findings.sums
        warn_of(class_scale_notes(sums, change.artifact, rows=rows, highest=highest))
    return values
