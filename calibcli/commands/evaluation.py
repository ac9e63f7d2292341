"""The rows that are evaluated: read once, raw and through an artifact side by side."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calibcli.commands.gathering import RAW, Gathered
from calibcli.commands.reading import read_tables
from calibcli.commands.right_scale import class_table_notes, read_notes, table_scale_notes
from calibcli.data.column_names import listing
from calibcli.data.extras import NOTHING, Beside
from calibcli.data.groups import MemberColumn, OfMembers
from calibcli.data.tally import AtPlaces, Transform, Transforms, Unchanged
from calibcli.documents.artifact import ClassArtifact, GroupArtifact
from calibcli.errors import IdleOption, InputProblem, UsageProblem
from calibcli.names import OnUnseen
from calibcli.options.rows import Columns, Reading, SeveralClasses
from calibcli.stats.recalibrators.classes.interface import Ends, ends_of
from calibcli.stats.recalibrators.interface import values_of
from calibcli.stats.table.again import Rows
from calibcli.stats.table.grid import Table, digest
from calibcli.stats.table.score_table import Floats, Integers
from calibcli.values import dataclass

if TYPE_CHECKING:
    from calibcli.documents.artifact import Artifact
    from calibcli.stats.recalibrators.interface import Recalibrator

RECALIBRATED = "recalibrated"

FIT_ROWS = "these are the rows that the artifact was fitted on: the numbers flatter it"

_CONFIDENCE = "raw confidence"


@dataclass(frozen=True, slots=True)
class Judged:
    """
    The table that is judged, and what was known about it beforehand.

    Args:
        artifact: The recalibrator applied while reading, or None.
        table: The recalibrated table, or the raw one where there is no artifact.
        again: The rows of that table once more, where that was asked for.
        classes: The map of several classes applied while reading, or None.
        outputs: Every value that the recalibrated score can have, ascending; None where there are too many.
        members: The maps of groups applied while reading, or None.
    """

    gathered: Gathered
    artifact: "Artifact | None"
    table: Table
    again: Rows | None = None
    notes: tuple[str, ...] = ()
    classes: "ClassArtifact | None" = None
    outputs: tuple[float, ...] | None = None
    members: "GroupArtifact | None" = None

    @property
    def recalibrated(self) -> bool:
        """Whether a map was applied while reading."""
        return not (self.artifact is None and self.classes is None and self.members is None)

    @property
    def fitted_rows(self) -> bool:
        """Whether these are the very rows that the artifact was fitted on."""
        tables = self.gathered.tables
        if self.classes is not None:
            return digest(tables[_CONFIDENCE]) == self.classes.fit.table_digest
        one = self.artifact if self.members is None else self.members.pooled
        return one is not None and digest(tables[RAW]) == one.fit.table_digest

    @property
    def fit_notes(self) -> tuple[str, ...]:
        """What must be said of rows that the artifact was fitted on."""
        return (FIT_ROWS,) if self.fitted_rows else ()


def read_judged(
    inputs: Sequence[str],
    columns: Columns,
    *,
    artifact: str | None,
    reading: Reading,
    twice: bool = False,
    beside: Beside = NOTHING,
) -> Judged:
    """Read the rows, recalibrated while they are read if an artifact is given."""
    if artifact is None:
        _refuse_unseen(columns)
        scores: Transforms = {RAW: None, **dict.fromkeys(beside.columns)}
        gathered = read_tables(
            inputs, columns, reading=reading, transforms=scores, beside=beside, twice=twice
        )
        notes = read_notes(gathered, columns.read_as)
        return Judged(gathered, None, gathered.tables[RAW], gathered.again, notes)
    if columns.several is not None:
        return _read_classes(
            inputs, columns, columns.several, artifact=artifact, reading=reading, beside=beside
        )
    from calibcli.documents.artifact import GroupArtifact, read_one_or_members

    loaded = read_one_or_members(artifact)
    grouped = loaded if isinstance(loaded, GroupArtifact) else None
    one = loaded.pooled if isinstance(loaded, GroupArtifact) else loaded
    said = columns.scale is not None
    columns = as_fitted(columns, one)
    if grouped is None:
        _refuse_unseen(columns)
    else:
        columns = replace(columns, member=member_column(grouped, columns.on_unseen))
    transforms: Transforms = {
        RAW: None,
        RECALIBRATED: as_transform(one.recalibrator) if grouped is None else of_members(grouped),
        **dict.fromkeys(beside.columns),
    }
    gathered = read_tables(
        inputs, columns, reading=reading, transforms=transforms, beside=beside, twice=twice
    )
    outputs = values_of(one.recalibrator.bins) if grouped is None else outputs_of_members(grouped)
    refuse_applied_twice(gathered, outputs, artifact)
    table = gathered.tables[RECALIBRATED]
    notes = () if said else table_scale_notes(gathered, one)
    notes = (*loaded.doubts, *notes)
    return Judged(gathered, None if grouped else one, table, notes=notes, outputs=outputs, members=grouped)


def _refuse_unseen(columns: Columns) -> None:
    """Refuse to be told about groups where no map has members."""
    if columns.on_unseen is not OnUnseen.ERROR:
        msg = f"--unseen {columns.on_unseen.value} speaks of groups, and no map for each group is applied"
        raise IdleOption(msg, "leave it out, or apply what `calibcli fit --by` wrote", options=("unseen",))


def _read_classes(
    inputs: Sequence[str],
    columns: Columns,
    several: SeveralClasses,
    *,
    artifact: str,
    reading: Reading,
    beside: Beside,
) -> Judged:
    """Read rows of several classes, recalibrated before they are seen as scores of a yes or no."""
    from calibcli.documents.artifact import read_class_artifact
    from calibcli.stats.recalibrators.classes.family import outputs_of

    loaded = read_class_artifact(artifact)
    said = columns.scale is not None
    columns = replace(
        columns,
        scale=columns.scale or loaded.scale,
        several=replace(several, change=ClassMap(loaded, artifact)),
    )
    transforms: Transforms = {
        RAW: Unchanged.VIEW,
        _CONFIDENCE: Unchanged.CONFIDENCE,
        RECALIBRATED: None,
        **dict.fromkeys(beside.columns),
    }
    # Rows may be others in the view of the raw probabilities, whose clusters are not theirs.
    beside = replace(beside, clustered=tuple(key for key in beside.clustered if key != RAW))
    gathered = read_tables(inputs, columns, reading=reading, transforms=transforms, beside=beside)
    outputs = outputs_of(loaded.recalibrator, loaded.classes, view=several.view, one_class=several.one_class)
    refuse_applied_twice(gathered, outputs, artifact)
    notes = () if said else class_table_notes(gathered, _CONFIDENCE, loaded)
    notes = (*loaded.doubts, *notes)
    table = gathered.tables[RECALIBRATED]
    return Judged(gathered, None, table, classes=loaded, outputs=outputs, notes=notes)


def as_transform(recalibrator: "Recalibrator") -> Transform | AtPlaces:
    """Return a recalibrator as the map that rows go through: with the noise of `apply`, where it has some."""
    from calibcli.stats.recalibrators.interface import randomised

    noisy = randomised(recalibrator)
    return recalibrator.predict if noisy is None else AtPlaces(noisy.predict_at)


def as_fitted(columns: Columns, artifact: "Artifact") -> Columns:
    """Read the columns as the fit did where the user does not say otherwise."""
    return replace(
        columns, scale=columns.scale or artifact.scale, positive=columns.positive or artifact.positive
    )


def refuse_applied_twice(gathered: Gathered, outputs: tuple[float, ...] | None, path: str) -> None:
    """Refuse raw scores that are all outputs of the discrete recalibrator that is to be applied to them."""
    raw = gathered.tables[RAW]
    if outputs is None or raw.kind != "exact" or raw.distinct == 0:
        return
    values = np.array(outputs)
    if np.isin(raw.score, values).all() and raw.total_rows > 1:
        msg = f"every value of column {gathered.input.score!r} is an output of {path}: already applied?"
        raise UsageProblem(msg, "name the raw score column, or leave out --artifact")


def member_column(artifact: GroupArtifact, on_unseen: OnUnseen) -> MemberColumn:
    """Return the column of groups, and what is known of it."""
    return MemberColumn(artifact.by, artifact.known, on_unseen is OnUnseen.POOLED)


def of_members(artifact: GroupArtifact) -> OfMembers:
    """Return the map of rows: that of their group, or that of all rows."""
    maps = {key: one.recalibrator.predict for key, one in artifact.members.items()}
    return OfMembers(maps, artifact.pooled.recalibrator.predict)


def outputs_of_members(artifact: GroupArtifact) -> tuple[float, ...] | None:
    """Return every value that a score can have afterwards, ascending; None where there are too many."""
    values: set[float] = set()
    for one in (artifact.pooled, *artifact.members.values()):
        own = values_of(one.recalibrator.bins)
        if own is None:
            return None
        values.update(own)
    return tuple(sorted(values))


@dataclass(frozen=True, slots=True)
class ClassMap:
    """The map of an artifact."""

    artifact: ClassArtifact
    path: str

    def __call__(self, probability: Floats, classes: tuple[str, ...]) -> Floats:
        """Return recalibrated rows."""
        order = self.order_of(classes)
        if order is None:
            return self.artifact.recalibrator.predict(probability)
        result = np.empty_like(probability)
        result[:, order] = self.artifact.recalibrator.predict(probability[:, order])
        return result

    def ends(self, probability: Floats, after: Floats, classes: tuple[str, ...]) -> Ends | None:
        """Return the ends of recalibrated probabilities, or None where the method has none."""
        order = self.order_of(classes)
        if order is None:
            return ends_of(self.artifact.recalibrator, probability, after)
        found = ends_of(self.artifact.recalibrator, probability[:, order], after[:, order])
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
