"""A fitted map as a value: it predicts, saves itself, and stands wherever the path of an artifact may."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from calibcli.commands.predicting import (
    ClassPredictor,
    Predictor,
    ScorePredictor,
    refuse_strange_to_map,
)
from calibcli.commands.through_maps import ClassMap, as_fitted, map_columns
from calibcli.data.columns import ClassColumns, Header, ResolvedColumns, columns_of_classes
from calibcli.data.files import ArrowColumn, InMemory
from calibcli.data.readers import Fragment
from calibcli.data.readers.in_memory import MemoryReader
from calibcli.documents.artifact import (
    AnyArtifact,
    ClassArtifact,
    GroupArtifact,
    OneScore,
    SegmentArtifact,
    artifact_text,
    read_any_map,
)
from calibcli.documents.sealed import sealed
from calibcli.errors import UsageProblem
from calibcli.names import OnMissing, OnRange, OnSum, OnUnseen, Scale
from calibcli.options.rows import (
    Columns,
    DocumentInMemory,
    RowsInMemory,
    SeveralClasses,
    names_of,
)
from calibcli.python import frames
from calibcli.python.problems import in_python, warn_of
from calibcli.python.results import Shown
from calibcli.python.rows import chosen, names_given, number_of, path_of, text_of, truth_of
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.python.frames import Values
    from calibcli.python.rows import Classes
    from calibcli.reports.maps import ClassFitReport, FitReport
    from calibcli.show.blocks import Page


Array = npt.NDArray[np.float64]

SCORES = "scores"

_PROBS = "probs"

_BY = "by"


def rows_in_memory(name: str, rows: int, columns: Mapping[str, Callable[[], ArrowColumn]]) -> Fragment:
    """Return columns as the fragment that a file of them would be; messages call it by its name."""
    return Fragment(0, name, InMemory.ROWS, rows=RowsInMemory(name, rows, columns))


def columns_added(predictor: Predictor, fragment: Fragment) -> dict[str, Any]:
    """Return the new columns of rows in memory by name, and give what must be said of them as warnings."""
    reader, number = MemoryReader(fragment), pa.float64()
    rows = reader.row_count()
    numbers = {field.name: np.empty(rows) for field in predictor.fields if field.type == number or not rows}
    others: dict[str, list[Any]] = {field.name: [] for field in predictor.fields}
    first = 0
    for batch in reader.batches(predictor.resolved):
        for field, values in zip(predictor.fields, predictor(batch), strict=True):
            if field.name in numbers:
                numbers[field.name][first : first + batch.num_rows] = values
            else:
                others[field.name].append(values)
        first += batch.num_rows
    warn_of(predictor.notes)
    return {name: numbers[name] if name in numbers else pa.chunked_array(others[name]) for name in others}


def asked_of(
    scale: str | None, on_range: str, unseen: str, on_missing: str = OnMissing.ERROR, score: str | None = None
) -> Columns:
    return Columns(
        scale=None if scale is None else chosen(Scale, scale, "scale"),
        on_missing=chosen(OnMissing, on_missing, "on_missing"),
        on_range=chosen(OnRange, on_range, "on_range"),
        on_unseen=chosen(OnUnseen, unseen, "unseen"),
        score=None if score is None else text_of(score, "score"),
    )


def typed(prior: float | None, classes: "Classes | None") -> tuple[float | None, str | list[str] | None]:
    """Return a base rate as a number and classes as texts, and refuse what is neither."""
    return (
        None if prior is None else number_of(prior, "prior"),
        None if classes is None else names_given(classes, "classes"),
    )


def predicted_scores(
    artifact: OneScore,
    scores: Any,  # noqa: ANN401 - an array of any make
    requested: Columns,
    *,
    prior: float | None,
    by: object,
    on: object = None,
) -> list[Array]:
    """Return a probability for each score by its map, and its ends where there are some, shape (n,) each."""
    if frames.is_matrix(scores) or frames.is_frame(scores):
        msg = "several columns, and the map was fitted to one score"
        raise UsageProblem(msg, "pass that column; `calibcli.apply` takes a frame and --score")
    columns = {SCORES: frames.column_of(scores, what=SCORES)}
    members: tuple[str, ...] = ()
    if isinstance(artifact, GroupArtifact):
        frames.refuse_misaligned({SCORES: scores, _BY: by})
        columns[_BY] = _groups_given(by, artifact, rows=len(columns[SCORES]))
        members = (_BY,)
    elif isinstance(artifact, SegmentArtifact):
        found = _values_given(on, artifact, scores=scores, rows=len(columns[SCORES]))
        members = tuple(found)
        columns |= found
    fitted = replace(as_fitted(requested, artifact), member=map_columns(artifact, requested.on_unseen))
    chosen_columns = ResolvedColumns(fitted, SCORES, None, members=members)
    predictor = ScorePredictor(
        artifact, chosen_columns, shown=SCORES, prior=prior, checked=requested.scale is None
    )
    held_columns = {name: partial(frames.itself, one) for name, one in columns.items()}
    return list(columns_added(predictor, rows_in_memory(SCORES, len(columns[SCORES]), held_columns)).values())


def _groups_given(values: object, artifact: GroupArtifact, *, rows: int) -> ArrowColumn:
    if values is None:
        msg = f"the map was fitted by groups of {artifact.by!r}, and none are given"
        raise UsageProblem(msg, "pass the group of each score with by=[...]")
    column = frames.column_of(values, what="by")
    if len(column) != rows:
        msg = f"by has {len(column):,} values for {rows:,} scores"
        raise UsageProblem(msg, "give every score its group")
    return column


def _values_given(
    values: object, artifact: SegmentArtifact, *, scores: object, rows: int
) -> dict[str, ArrowColumn]:
    """Return the columns that a map looks at, under names that no score has."""
    held = frames.settled(values)
    if not frames.is_frame(held):
        msg = f"the map looks at {', '.join(artifact.names)} beside the score, and they are not given"
        raise UsageProblem(
            msg, "pass them as a frame or a mapping with on=, or a frame of all to calibcli.apply"
        )
    frames.refuse_misaligned({SCORES: scores, "on": held})
    if (count := frames.rows_of_frame(held)) != rows:
        msg = f"on has {count:,} rows for {rows:,} scores"
        raise UsageProblem(msg, "give every score its values")
    there = frames.columns_of_frame(held)
    header = Header(tuple(there), "on")
    return {f"on {name}": there[header.named(name)]() for name in artifact.names}


def predicted_rows(
    artifact: ClassArtifact,
    rows: Any,  # noqa: ANN401 - of any make
    requested: Columns,
    *,
    name: str,
    classes: str | Sequence[str] | None,
    on_sum: OnSum,
) -> Any:  # noqa: ANN401
    """Return recalibrated rows of probabilities, of the make of those given."""
    several = SeveralClasses(_PROBS, on_sum=on_sum, mapped=True)
    whole = replace(requested, scale=requested.scale or artifact.scale, several=several)
    change = ClassMap(artifact, name)
    rows = frames.settled(rows)
    if frames.is_frame(rows):
        if classes is not None:
            msg = "--classes names the columns of an array, and those of a frame have names"
            raise UsageProblem(msg, "leave it out, or pass `calibcli.apply` the frame and --probs as well")
        columns = frames.columns_of_frame(rows)
        found = columns_of_classes(
            artifact.classes, whole, Header(tuple(columns), frames.FRAME), lists=(), fitted=artifact.columns
        )
        fragment = rows_in_memory(frames.FRAME, frames.rows_of_frame(rows), columns)
        names = found.names
    elif (lists := frames.lists_given(rows, what=_PROBS)) is not None:
        names = names_of(classes) or artifact.classes
        found = ResolvedColumns(whole, _PROBS, None, probs=ClassColumns((_PROBS,), names))
        fragment = rows_in_memory(_PROBS, len(lists), {_PROBS: partial(frames.itself, lists)})
    else:
        msg = f"one score, and {name} was fitted to {len(artifact.classes):,} classes"
        raise UsageProblem(msg, f"pass probabilities of shape (rows, {len(artifact.classes)})")
    predictor = ClassPredictor(change, found, fragment, checked=requested.scale is None)
    reader = MemoryReader(fragment)
    values = np.full((reader.row_count(), len(found.classes)), np.nan)
    for batch in reader.batches(found):
        _, after, places = predictor.recalibrated(batch)
        values[places.numbers(len(after))] = after
    warn_of(predictor.notes)
    return frames.rows_like(rows, values, names=names)


if TYPE_CHECKING:
    FittedReport: TypeAlias = FitReport | ClassFitReport

    class Asked(TypedDict, total=False):
        """What `predict` may be asked beside the scores."""

        prior: float | None
        classes: Classes | None
        by: Values | None
        on: object
        unseen: str
        on_missing: str
        on_range: str
        on_sum: str
        scale: str | None


Make = TypeVar("Make")


@dataclass(frozen=True, slots=True, repr=False)
class Recalibrator(Shown):
    """A fitted map, as `fit` and `load` return it.

    Args:
        artifact: The map with the record of its fit, as the file holds it.
        name: What reports call it: its path where it has one.
        report: What `fit` found; None for one that was loaded.
    """

    artifact: AnyArtifact
    name: str
    report: "FittedReport | None" = None

    @property
    def method(self) -> str:
        """The method that was fitted."""
        return self.artifact.of_all_rows.recalibrator.name.value

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
        **asked: "Unpack[Asked]",
    ) -> "Array": ...

    @overload
    def predict(self, scores: Make, **asked: "Unpack[Asked]") -> Make: ...

    @in_python()
    def predict(
        self,
        scores: Any,
        *,
        prior: float | None = None,
        classes: "Classes | None" = None,
        by: "Values | None" = None,
        on: object = None,
        unseen: str = OnUnseen.ERROR,
        on_missing: str = OnMissing.ERROR,
        on_range: str = OnRange.ERROR,
        on_sum: str = OnSum.ERROR,
        scale: str | None = None,
    ) -> Any:
        """Return recalibrated probabilities, one for each score: the same bits as `calibcli apply`.

        Args:
            scores: Scores on the scale of the fit, shape (n,); for several classes probabilities of shape (n,
                K), or a frame whose columns end in the names of the classes.
            prior: Base rate of the population that the scores are from, where it is not that of the fit rows;
                assumes that scores given the label are distributed as in the fit rows (label shift; Saerens,
                Latinne and Decaestecker 2002). For one score.
            classes: What the columns of an array stand for, where their order is not that of the fit.
            by: The group of each score, shape (n,), where the map was fitted by groups.
            on: The columns that a map by segments looks at, a frame or a mapping of names to arrays.
            unseen: Groups that the fit has not seen: "error", or "pooled" for the map of all rows.
            on_missing: Rows whose score is missing or no number: "error", or "null" for no probability: NaN,
                or null in polars and Arrow.
            on_range: Scores outside [0, 1]: "error", "clip", or "null" for no probability.
            on_sum: Rows of several classes that do not sum to 1: "error", "normalise", or "null" for no
                probability.
            scale: What the scores are: "prob", "logit", "logprob" or "percent"; else what the map was fitted
                to, and scores whose spread says that they are on another scale are refused.

        Returns:
            Shape (n,) or (n, K), in [0, 1], of the make of what was given: an array for an array or a list, a
            Series with the same index and name for a Series, a frame of the same columns for a frame.

        Raises:
            InputProblem: If a score is missing or out of range, with how many and the first.
            UsageProblem: If the map is one of several classes and one score was given, or the other way
                about.
        """
        held = self.artifact
        prior, called = typed(prior, classes)
        refuse_strange_to_map(held, prior=prior, by=by, unseen=unseen, classes=called, on_sum=on_sum)
        if on is not None and not isinstance(held, SegmentArtifact):
            msg = "--on names columns that a map by segments looks at, and this one looks at none"
            raise UsageProblem(msg, "leave it out, or fit with --method segments")
        requested = asked_of(scale, on_range, unseen, on_missing)
        if isinstance(held, ClassArtifact):
            sums = chosen(OnSum, on_sum, "on_sum")
            return predicted_rows(held, scores, requested, name=self.name, classes=called, on_sum=sums)
        return frames.values_like(
            scores, predicted_scores(held, scores, requested, prior=prior, by=by, on=on)[0]
        )

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
        """Return the two ends that bracket each probability; Venn-Abers has them (Vovk and Petej 2014).

        That of the label that comes is perfectly calibrated, if rows are exchangeable with those of the fit,
        whichever labels these have; which of the two it is, is not known. Of several folds the ends are the
        lowest and the highest, and with `prior` they are moved: of those that is not so.

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
        held, ends = self.artifact, []
        prior, _ = typed(prior, None)
        refuse_strange_to_map(held, prior=prior, by=by, unseen=unseen)
        if not isinstance(held, ClassArtifact | SegmentArtifact):
            requested = asked_of(scale, on_range, unseen)
            _, *ends = predicted_scores(held, scores, requested, prior=prior, by=by)
        if not ends:
            msg = f"{self.method} gives one probability, without ends"
            raise UsageProblem(msg, "fit with --method venn-abers")
        return ends[0], ends[1]

    @in_python()
    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the artifact: the JSON that `calibcli fit -o` writes, byte for byte.

        Args:
            path: Where to; the file appears whole or not at all.
            force: Whether an existing file may be replaced.

        Raises:
            OutputProblem: If the file exists or cannot be written.
        """
        from calibcli.data.outputs import refuse_existing, write_file

        name = path_of(path, "path")
        refuse_existing(name, force=truth_of(force, "force"))
        write_file(name, self.to_json().encode())

    def to_dict(self) -> dict[str, object]:
        """Return the artifact as plain values, as `calibcli schema artifact` describes it."""
        return sealed(self.artifact.to_dict())

    def to_json(self) -> str:
        """Return the text of the artifact."""
        return artifact_text(self.artifact)

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the map."""
        from calibcli.commands.inspect import artifact_report
        from calibcli.show.pages import page_of

        return page_of(
            replace(artifact_report(DocumentInMemory(self.name, self.artifact)), suggestion=None),
            verbose=verbose,
        )


ArtifactLike: TypeAlias = Recalibrator | str | os.PathLike[str]

# What a keyword for these takes.
ARTIFACT = "what `fit` or `load` returned, or the path of an artifact"


def recalibrator_of(artifact: ArtifactLike) -> Recalibrator:
    """Return a recalibrator as it is, and one that a path leads to."""
    if isinstance(artifact, Recalibrator):
        return artifact
    path = path_of(artifact, "artifact", ARTIFACT)
    found = read_any_map(path)
    warn_of(found.doubts)
    return Recalibrator(found, path)
