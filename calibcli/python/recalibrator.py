"""A fitted map as a value: it predicts, saves itself, and stands wherever the path of an artifact may."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.commands.added_columns import added_columns, group_columns
from calibcli.commands.apply import Predictor
from calibcli.commands.evaluation import ClassMap, member_column
from calibcli.commands.right_scale import ScaleCheck, class_scale_notes
from calibcli.data.class_columns import ClassColumns
from calibcli.data.class_intake import ClassIntake
from calibcli.data.columns import ChosenColumns, columns_of_classes
from calibcli.data.files import HeldColumn
from calibcli.data.fragment import batch_rows
from calibcli.data.intake import Intake
from calibcli.data.readers.in_memory import piece_of
from calibcli.documents.artifact import (
    Artifact,
    ClassArtifact,
    GroupArtifact,
    HeldArtifact,
    HeldDocument,
    artifact_text,
    group_artifact_text,
    read_any_map,
)
from calibcli.documents.sealed import MOST_BYTES, parse, sealed
from calibcli.errors import UsageProblem
from calibcli.names import OnRange, OnSum, OnUnseen, Scale
from calibcli.options.rows import Columns, SeveralClasses, names_of, refuse_any_sum
from calibcli.python.frames import (
    FRAME,
    column_of,
    columns_of_frame,
    is_frame,
    is_matrix,
    lists_of,
    matrix_of,
    refuse_misaligned,
    rows_like,
    settled,
    values_like,
)
from calibcli.python.problems import in_python, warn_of
from calibcli.python.results import Shown
from calibcli.python.rows import chosen, maybe_chosen

if TYPE_CHECKING:
    from calibcli.python.frames import Values
    from calibcli.reports.fit import ClassFitReport, FitReport
    from calibcli.show.blocks import Page


def group_artifact_of_text(text: str) -> GroupArtifact:
    """Return the artifact that `fit --by` gave the text of."""
    return parse(text.encode(), most=MOST_BYTES).built(GroupArtifact.from_dict)[0]


def groups_given(values: object, artifact: GroupArtifact, *, rows: int) -> HeldColumn:
    """Return the group of each score as a column."""
    if values is None:
        msg = f"the map was fitted by groups of {artifact.by!r}, and none are given"
        raise UsageProblem(msg, "pass the group of each score with by=[...]")
    column = column_of(values, what="by")
    if len(column) != rows:
        msg = f"by has {len(column):,} values for {rows:,} scores"
        raise UsageProblem(msg, "give every score its group")
    return column


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


if TYPE_CHECKING:
    FittedReport: TypeAlias = FitReport | ClassFitReport

Make = TypeVar("Make")


@dataclass(frozen=True, slots=True, repr=False)
class Recalibrator(Shown):
    """
    A fitted map, as `fit` and `load` return it.

    Args:
        artifact: The map with the record of its fit, as the file holds it.
        name: What reports call it: its path where it has one.
        report: What `fit` found; None for one that was loaded.
    """

    artifact: Artifact | ClassArtifact | GroupArtifact
    name: str
    report: "FittedReport | None" = None

    @property
    def method(self) -> str:
        """The method that was fitted."""
        one = self.artifact.pooled if isinstance(self.artifact, GroupArtifact) else self.artifact
        return one.recalibrator.name.value

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The classes in the order of the fit; None for one score."""
        return self.artifact.classes if isinstance(self.artifact, ClassArtifact) else None

    @property
    def by(self) -> str | None:
        """What the groups with maps of their own are called; None where all rows share one map."""
        return self.artifact.by if isinstance(self.artifact, GroupArtifact) else None

    @overload
    def predict(
        self,
        scores: "npt.NDArray[np.generic] | Sequence[float] | Sequence[Sequence[float]]",
        *,
        prior: float | None = None,
        classes: "str | Sequence[str] | None" = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        on_sum: str = OnSum.ERROR,
        scale: str | None = None,
    ) -> "Array": ...

    @overload
    def predict(
        self,
        scores: Make,
        *,
        prior: float | None = None,
        classes: "str | Sequence[str] | None" = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        on_sum: str = OnSum.ERROR,
        scale: str | None = None,
    ) -> Make: ...

    @in_python()
    def predict(
        self,
        scores: Any,
        *,
        prior: float | None = None,
        classes: "str | Sequence[str] | None" = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        on_sum: str = OnSum.ERROR,
        scale: str | None = None,
    ) -> Any:
        """
        Return recalibrated probabilities, one for each score: the same bits as `calibcli apply`.

        Args:
            scores: Scores on the scale of the fit, shape (n,); for several classes probabilities of shape (n,
                K), or a frame whose columns end in the names of the classes.
            prior: Base rate of the population that the scores are from, where it is not that of the fit rows;
                assumes that scores given the label are distributed as in the fit rows (label shift; Saerens,
                Latinne and Decaestecker 2002). For one score.
            classes: What the columns of an array stand for, where their order is not that of the fit.
            by: The group of each score, shape (n,), where the map was fitted by groups.
            unseen: Groups that the fit has not seen: "error", or "pooled" for the map of all rows.
            on_range: Scores outside [0, 1]: "error" or "clip".
            on_sum: Rows of several classes that do not sum to 1: "error" or "normalise".
            scale: What the scores are: "prob", "logit" or "logprob"; else what the map was fitted to, and
                scores whose spread says that they are on another scale are refused.

        Returns:
            Shape (n,) or (n, K), in [0, 1], of the make of what was given: an array for an array or a list, a
            Series with the same index and name for a Series, a frame of the same columns for a frame.

        Raises:
            InputProblem: If a score is missing or out of range, with how many and the first.
            UsageProblem: If the map is one of several classes and one score was given, or the other way
            about.
        """
        held = self.artifact
        self._refuse_idle(prior=prior, classes=classes, by=by, unseen=unseen, on_sum=on_sum)
        if isinstance(held, Artifact):
            return predicted_scores(held, scores, prior=prior, on_range=on_range, scale=scale)
        if isinstance(held, GroupArtifact):
            found = predicted_by_groups(held, scores, by=by, unseen=unseen, on_range=on_range, scale=scale)
            return values_like(scores, found[0])
        return predicted_rows(
            held,
            scores,
            name=self.name,
            classes=classes,
            on_range=on_range,
            on_sum=on_sum,
            scale=scale,
        )

    def _refuse_idle(
        self, *, prior: float | None, classes: object, by: object, unseen: str, on_sum: str
    ) -> None:
        """Refuse what the map has no use for."""
        held = self.artifact
        if not isinstance(held, ClassArtifact) and (classes is not None or on_sum != OnSum.ERROR):
            msg = "--classes and --on-sum speak of several classes, and the map was fitted to one score"
            raise UsageProblem(msg, "leave them out")
        if prior is not None and not isinstance(held, Artifact):
            what = "to several classes" if isinstance(held, ClassArtifact) else "by groups"
            msg = f"--prior is the base rate of one label in all rows, and the map was fitted {what}"
            raise UsageProblem(msg, "leave it out, or fit again on rows of the population meant")
        if by is not None and not isinstance(held, GroupArtifact):
            msg = "--by names groups, and the map was fitted to all rows together"
            raise UsageProblem(msg, "leave it out, or fit with --by")
        if unseen != OnUnseen.ERROR and not isinstance(held, GroupArtifact):
            msg = "--unseen speaks of groups, and the map was fitted to all rows together"
            raise UsageProblem(msg, "leave it out, or fit with --by")

    @in_python()
    def ends(
        self,
        scores: "Values",
        *,
        prior: float | None = None,
        by: "Values | None" = None,
        unseen: str = OnUnseen.ERROR,
        on_range: str = OnRange.ERROR,
        scale: str | None = None,
    ) -> "tuple[Array, Array]":
        """
        Return the two ends that bracket each probability; Venn-Abers has them (Vovk and Petej 2014).

        One of the two is perfectly calibrated if rows are exchangeable with those of the fit; which of them
        is not known.

        Args:
            scores: Scores on the scale of the fit, shape (n,).
            prior: As for `predict`, as are `by`, `unseen` and `on_range`.
            by: The group of each score.
            unseen: Groups that the fit has not seen.
            on_range: Scores outside [0, 1].
            scale: As for `predict`.

        Returns:
            Lower and upper ends, shape (n,) each.

        Raises:
            UsageProblem: If the method has no ends.
        """
        held, found = self.artifact, None
        self._refuse_idle(prior=prior, classes=None, by=by, unseen=unseen, on_sum=OnSum.ERROR)
        if isinstance(held, Artifact):
            found = ends_of_scores(held, scores, prior=prior, on_range=on_range, scale=scale)
        elif isinstance(held, GroupArtifact):
            _, *both = predicted_by_groups(held, scores, by=by, unseen=unseen, on_range=on_range, scale=scale)
            found = (both[0], both[1]) if both else None
        if found is None:
            msg = f"{self.method} gives one probability, without ends"
            raise UsageProblem(msg, "fit with --method venn-abers")
        return found

    @in_python()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """
        Write the artifact: the JSON that `calibcli fit -o` writes, byte for byte.

        Args:
            path: Where to; the file appears whole or not at all.
            force: Whether an existing file may be replaced.

        Raises:
            OutputProblem: If the file exists or cannot be written.
        """
        from calibcli.data.outputs import refuse_existing, write_file

        refuse_existing(os.fspath(path), force=force)
        write_file(os.fspath(path), self.to_json().encode())

    def to_dict(self) -> dict[str, object]:
        """Return the artifact as plain values, as `calibcli schema artifact` describes it."""
        return sealed(self.artifact.to_dict())

    def to_json(self) -> str:
        """Return the text of the artifact."""
        if isinstance(self.artifact, GroupArtifact):
            return group_artifact_text(self.artifact)
        return artifact_text(self.artifact)

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the map."""
        from dataclasses import replace

        from calibcli.commands.inspect import artifact_report
        from calibcli.show.pages import page_of

        return page_of(replace(artifact_report(held_artifact(self)), suggestion=None), verbose=verbose)


ArtifactLike: TypeAlias = Recalibrator | str | os.PathLike[str]


def held_artifact(recalibrator: Recalibrator) -> HeldArtifact | HeldDocument:
    """Return the name of a recalibrator that stands where the path of an artifact may."""
    if isinstance(recalibrator.artifact, GroupArtifact):
        return HeldDocument(recalibrator.name, document=recalibrator.to_dict())
    return HeldArtifact(recalibrator.name, artifact=recalibrator.artifact)


def artifact_name(artifact: ArtifactLike | None) -> str | None:
    """Return a recalibrator, or the path of one, as tasks take it."""
    if artifact is None:
        return None
    return held_artifact(artifact) if isinstance(artifact, Recalibrator) else os.fspath(artifact)


def recalibrator_of(artifact: ArtifactLike) -> Recalibrator:
    """Return a recalibrator as it is, and one that a path leads to."""
    if isinstance(artifact, Recalibrator):
        return artifact
    path = os.fspath(artifact)
    found = read_any_map(path)
    warn_of(found.doubts)
    return Recalibrator(found, path)
