"""Maps that rows go through while they are read: of one score, of groups, and of several classes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibcli.commands.gathering import CONFIDENCE, RAW, RECALIBRATED
from calibcli.data.columns import listing
from calibcli.data.groups import MemberColumn, OfMembers, OfSegments, SegmentColumns
from calibcli.data.tally import AtPlaces, RowMap, Transform, Transforms, Unchanged
from calibcli.documents.artifact import (
    AnyArtifact,
    Artifact,
    ClassArtifact,
    GroupArtifact,
    OneScore,
    SegmentArtifact,
)
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import RANKED, OnUnseen, ViewName
from calibcli.options.rows import Columns, MapColumns, SeveralClasses
from calibcli.stats.recalibrators import Recalibrator, values_of
from calibcli.stats.recalibrators.classes import ProbabilityEnds
from calibcli.stats.table import Floats, Integers
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.stats.measures.differences import PairedSums


def through(loaded: AnyArtifact, columns: Columns, path: str) -> tuple[Columns, Transforms]:
    """Return columns as the fit read them, and what becomes of their rows."""
    if not isinstance(loaded, GroupArtifact):
        columns.refuse_unseen()
    if isinstance(loaded, ClassArtifact):
        several, change = columns.several, ClassMap(loaded, path)
        several = None if several is None else replace(several, change=change, mapped=True)
        columns = replace(as_fitted(columns, loaded), several=several)
        return columns, {RAW: Unchanged.VIEW, CONFIDENCE: Unchanged.CONFIDENCE, RECALIBRATED: None}
    columns = as_fitted(columns, loaded)
    columns = replace(columns, member=map_columns(loaded, columns.on_unseen))
    return columns, {RAW: None, RECALIBRATED: row_map(loaded)}


def outputs_through(loaded: AnyArtifact, several: SeveralClasses | None) -> tuple[float, ...] | None:
    """Return every value that a score can have after a map, ascending; None where there are too many."""
    if isinstance(loaded, ClassArtifact):
        view = ViewName.CONFIDENCE if several is None else several.view
        one_class = None if several is None else several.one_class
        place = None if one_class is None else loaded.classes.index(one_class)
        return loaded.recalibrator.outputs(view, place)
    if isinstance(loaded, SegmentArtifact):
        return None
    maps = [loaded.of_all_rows, *(loaded.members.values() if isinstance(loaded, GroupArtifact) else ())]
    own = [values_of(one.recalibrator.bins) for one in maps]
    if any(one is None for one in own):
        return None
    return tuple(sorted({value for one in own for value in one or ()}))


def as_transform(recalibrator: Recalibrator) -> Transform | AtPlaces:
    """Return a recalibrator as the map that rows go through: with the noise of `apply`, where it has some."""
    return AtPlaces(recalibrator.predict_at) if recalibrator.drawn else recalibrator.predict


def note_reach(
    paired: "PairedSums", recalibrators: Sequence[Recalibrator], raw: Table, *, sides: tuple[Table, Table]
) -> None:
    """Note how far apart two maps, or a score and its map, can be in a row, unless maps have noise.

    Args:
        sides: The tables of both, by which rows are ranked.
    """
    from calibcli.stats.measures.differences import influences_of, reach_of_maps

    maps = [as_transform(one) for one in recalibrators]
    plain = [one for one in maps if not isinstance(one, AtPlaces)]
    if len(plain) < len(maps) or not raw.total_rows:
        return
    corners = np.concatenate([one.corners for one in recalibrators])
    first = plain[0] if len(plain) > 1 else np.asarray
    ranked = influences_of([name for name in RANKED if name in paired.names], *sides)
    paired.reaches(reach_of_maps(first, plain[-1], raw.score, corners=corners, ranked=ranked))


def as_fitted(columns: Columns, artifact: AnyArtifact) -> Columns:
    """Read the columns as the fit did where the user does not say otherwise."""
    one = artifact.of_all_rows
    columns = replace(columns, scale=columns.scale or one.scale)
    if isinstance(one, ClassArtifact):
        return replace(columns, fitted_classes=one.columns or ())
    phrases = None if one.score_map is None else tuple(one.score_map.items())
    # Labels 1 and 2 may well be the 0 and 1 of the fit, but 0 is not its 1.
    given = one.positive or ("1" if columns.positive == "0" else None)
    return replace(
        columns,
        positive=columns.positive or one.positive,
        positive_of_fit=columns.positive is None or columns.positive_of_fit,
        given_by_map=given if columns.positive not in {None, given} else columns.given_by_map,
        score_map=columns.score_map or phrases,
        fitted=None if one.columns is None else one.columns[0],
    )


def refuse_applied_twice(raw: Table, outputs: tuple[float, ...] | None, *, column: str, path: str) -> None:
    """Refuse raw scores that are all outputs of the discrete recalibrator that is to be applied to them."""
    if outputs is None or raw.kind != "exact" or raw.distinct == 0:
        return
    if np.isin(raw.score, np.array(outputs)).all() and raw.total_rows > 1:
        msg = f"every value of column {column!r} is an output of {path}: already applied?"
        raise UsageProblem(msg, "name the raw score column, or leave out --artifact")


def map_columns(artifact: OneScore, on_unseen: OnUnseen) -> MapColumns | None:
    """Return the columns that a map looks at beside the score, and what is known of them; None for none."""
    match artifact:
        case Artifact():
            return None
        case GroupArtifact():
            return MemberColumn(artifact.by, artifact.known, on_unseen is OnUnseen.POOLED)
        case SegmentArtifact():
            return SegmentColumns(artifact.names, artifact.recalibrator.strange_in)


def row_map(artifact: OneScore) -> RowMap:
    """Return the map of rows: of all alike, of their group, or of their segments."""
    match artifact:
        case Artifact():
            return as_transform(artifact.recalibrator)
        case GroupArtifact():
            maps = {key: one.recalibrator.predict for key, one in artifact.members.items()}
            return OfMembers(maps, artifact.pooled.recalibrator.predict)
        case SegmentArtifact():
            return OfSegments(artifact.recalibrator.predict)


@dataclass(frozen=True, slots=True)
class ClassMap:
    artifact: ClassArtifact
    path: str

    def __call__(self, probability: Floats, classes: tuple[str, ...]) -> Floats:
        order = self.order_of(classes)
        if order is None:
            return self.artifact.recalibrator.predict(probability)
        result = np.empty_like(probability)
        result[:, order] = self.artifact.recalibrator.predict(probability[:, order])
        return result

    def ends(self, probability: Floats, after: Floats, classes: tuple[str, ...]) -> ProbabilityEnds | None:
        order = self.order_of(classes)
        if order is None:
            return self.artifact.recalibrator.ends(probability, after)
        found = self.artifact.recalibrator.ends(probability[:, order], after[:, order])
        return None if found is None else found.in_order(order)

    def order_of(self, classes: tuple[str, ...]) -> Integers | None:
        """Return for each class of the fit its place among some classes; None where the order is the same."""
        own = self.artifact.classes
        if classes == own:
            return None
        missing = [name for name in own if name not in classes]
        strange = [name for name in classes if name not in own]
        if missing or strange:
            parts = [f"lack {listing(missing)}"] if missing else []
            parts += [f"have {listing(strange)}, which it does not know"] if strange else []
            msg = f"{self.path} was fitted to {len(own):,} classes: the rows {' and '.join(parts)}"
            raise InputProblem(msg, "--classes a,b,c names the classes in the order of their columns")
        return np.array([classes.index(name) for name in own], np.int64)
