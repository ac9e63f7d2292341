"""A frame with recalibrated probabilities in new columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa

from calibcli.api.choices import chosen, maybe_chosen
from calibcli.api.frames import FRAME, columns_of_frame, rows_of_frame, settled, widened
from calibcli.api.predicting import predicted_by_groups
from calibcli.api.recalibrator import Recalibrator
from calibcli.api.rows import probs_of
from calibcli.api.spoken import warn_of
from calibcli.documents.artifact import Artifact
from calibcli.documents.class_artifact import ClassArtifact
from calibcli.documents.group_artifact import GroupArtifact
from calibcli.errors import UsageProblem
from calibcli.names import OnRange, Scale
from calibcli.options.rows import Columns, SeveralClasses, names_of, refuse_any_sum
from calibcli.readers import held
from calibcli.readers.columns import ChosenColumns, resolve
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.readers.in_memory import HeldRows
from calibcli.readers.intake import Intake
from calibcli.readers.names_of_columns import named
from calibcli.selection_names import OnUnseen
from calibcli.tasks.added_columns import added_columns, group_columns
from calibcli.tasks.apply import Predictor
from calibcli.tasks.apply_asked import ClassAsk
from calibcli.tasks.apply_classes import ClassPredictor, classes_chosen, fields_added
from calibcli.tasks.class_map import ClassMap
from calibcli.tasks.right_scale import ScaleCheck
from calibcli.tasks.widening import refuse_names
from calibcli.view_names import OnSum


@dataclass(frozen=True, slots=True)
class FrameAsk:
    """
    What is asked of a frame.

    Args:
        score: Score column, or None for the one with a usual name.

        name: What new columns are called, or begin with.

        prior: Base rate of the rows, or None for that of the fit rows.

        probs: Columns of several classes, or None for those whose names end in the classes of the fit.

        classes: Their names, or None.

        on_sum: What becomes of rows that do not sum to one.

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
    """
    Return a frame of the same make with the new columns.

    Args:
        recalibrator: The map.

        rows: The frame, which stays as it is.

        ask: What is asked of it.

    Raises:
        UsageProblem: If something is asked that does not fit the map, or a new column has the name of
        another.

        InputProblem: If something is wrong with a column.
    """
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
    header = held.header(fragment)
    found = resolve(columns, header, path=FRAME, labelled=False)
    added = added_columns(artifact, name=ask.name, prior=ask.prior)
    refuse_names(added.names, header, shown=FRAME)
    check = ScaleCheck(artifact) if ask.scale is None else None
    predictor = Predictor(added, Intake(found, shown=FRAME), check=check)
    parts = [predictor(batch.column(found.score)) for batch in held.batches(fragment, found)]
    warn_of(predictor.notes)
    return _joined(added.names, parts)


def _of_groups(artifact: GroupArtifact, fragment: Fragment, ask: FrameAsk) -> dict[str, Any]:
    if (ask.probs, ask.classes, ask.on_sum, ask.prior) != (None, None, OnSum.ERROR, None):
        msg = "--probs, --classes, --on-sum and --prior are not for a map that was fitted by groups"
        raise UsageProblem(msg, "name the score column with --score")
    header = held.header(fragment)
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
    refuse_names(names, held.header(fragment), shown=FRAME)
    predictor = ClassPredictor(change, found, fragment, quotes=None, checked=ask.scale is None)
    parts = [predictor(batch) for batch in held.batches(fragment, found)]
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
