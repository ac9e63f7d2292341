"""Rows to recalibrated columns by a map of any kind, whatever holds the rows."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from calibcli.commands.gathering import with_counted
from calibcli.commands.scale_checks import ScaleCheck, class_scale_notes
from calibcli.commands.through_maps import ClassMap, as_fitted, map_columns
from calibcli.data.arrays import column_of, is_list_of_numbers, list_column, list_like, text_column
from calibcli.data.class_intake import ClassIntake
from calibcli.data.columns import Header, ResolvedColumns, columns_of_classes, resolve
from calibcli.data.fault_words import gap_words, phrase_words, refuse_no_number, strange_words
from calibcli.data.faults import Places
from calibcli.data.fragments import columns_of, with_path
from calibcli.data.groups import selected
from calibcli.data.intake import Intake, known_groups, known_values
from calibcli.data.readers import Fragment, reader_of
from calibcli.data.writers.csv import quoted
from calibcli.documents.artifact import (
    AnyArtifact,
    Artifact,
    ClassArtifact,
    GroupArtifact,
    OneMap,
    OneScore,
    SegmentArtifact,
)
from calibcli.errors import IdleOption, UsageProblem
from calibcli.names import NEW_COLUMN, EndsOf, OnMissing, OnSum, OnUnseen, OutputSum
from calibcli.options.fitting import AS_IT_COMES, Shape
from calibcli.options.numerals import folded, plural
from calibcli.options.rows import AS_FOUND, Columns, InputFormat, SeveralClasses
from calibcli.reports.maps import ClassesApplied
from calibcli.stats.recalibrators import Recalibrator
from calibcli.stats.recalibrators.logits import Identity, check_prior, shifted
from calibcli.stats.recalibrators.segments import SegmentMap
from calibcli.stats.table import Floats, Integers
from calibcli.values import dataclass, replace

_UNCHANGED = Identity()

Added = Sequence["Floats | pa.Array[Any]"]


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """What is done with every file, or with a frame.

    Args:
        artifact: The path of the artifact, for messages.
        columns: What is to be done with values; its `several` names the columns of classes, or is None to
            find those whose names end in the classes of the fit.
        on_sum: What becomes of a row whose probabilities do not sum to one, where columns are to be found.
        name: What the new column is called, or the names of several begin with.
        prior: Base rate of the rows, or None for that of the fit rows.
    """

    artifact: str
    loaded: AnyArtifact
    columns: Columns = Columns()
    on_sum: OnSum = OnSum.ERROR
    name: str = NEW_COLUMN
    prior: float | None = None
    input_format: InputFormat = AS_FOUND
    shape: Shape = AS_IT_COMES

    def predictor(self, fragment: Fragment) -> "Predictor":
        """Find the columns of a file or frame, and return what makes the new ones of them."""
        loaded, columns = self.loaded, self.columns
        if isinstance(loaded, ClassArtifact):
            resolved = classes_chosen(loaded, columns, fragment, on_sum=self.on_sum)
            change = ClassMap(loaded, self.artifact)
            return ClassPredictor(change, resolved, fragment, name=self.name, checked=columns.scale is None)
        checked = columns.scale is None
        columns = replace(as_fitted(columns, loaded), member=map_columns(loaded, columns.on_unseen))
        resolved = _score_resolved(columns, fragment)
        return ScorePredictor(
            loaded, resolved, shown=fragment.shown, name=self.name, prior=self.prior, checked=checked
        )


def _score_resolved(columns: Columns, fragment: Fragment) -> ResolvedColumns:
    """Find the columns in a file, and that of groups also in its path."""
    members = {folded(name) for name in (() if columns.member is None else columns.member.names)}
    outside = tuple(one for one in fragment.partitions if folded(one[0]) in members)
    return columns_of(replace(fragment, partitions=outside), replace(columns, labelled=False))


class Predictor(ABC):
    """From the columns of some rows to the new columns; rows must come in the order of the file.

    Args:
        intake: Checks the rows on the way, and counts them.
        prior: Base rate that probabilities are shifted to, from the `fitted_rate`, or None.
        delimiter: What separates fields where rows are spliced into a text file, and words are quoted for.
        without_score: Rows that get null on request: without a score, or with one that gets no probability.
    """

    intake: Intake
    fields: tuple["pa.Field[Any]", ...]
    lowest: float | None = None
    highest: float | None = None
    prior: float | None = None
    fitted_rate: float | None = None
    delimiter: str | None = None
    without_score: int = 0

    def __init__(self, resolved: ResolvedColumns) -> None:
        on_missing = resolved.requested.on_missing
        if on_missing in (OnMissing.DROP, OnMissing.PAIRWISE):
            msg = f"--on-missing {on_missing.value} leaves rows out, and apply writes every row"
            raise UsageProblem(msg, "pass --on-missing null for rows without a score")
        self.resolved = resolved

    @abstractmethod
    def __call__(self, batch: pa.RecordBatch) -> Added:
        """Return the new columns of some rows."""

    def _of_all(self, columns: Added, places: Places, *, rows: int) -> Added:
        """Return columns of rows that have a score with null for the others."""
        if places.kept is None or places.kept.size == rows:
            return columns
        self.without_score += rows - places.kept.size
        at = np.full(rows, -1)
        at[places.kept] = np.arange(places.kept.size)
        taken = pa.array(at, mask=at < 0)
        return tuple(column_of(one).take(taken) for one in columns)

    @property
    def gaps(self) -> tuple[str, ...]:
        """What keeps rows from having a probability, by column."""
        return gap_words(self.intake.findings, self.resolved) if self.without_score else ()

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What must be said of the rows that were read, which may be refused now."""

    @property
    def ends_notes(self) -> tuple[str, ...]:
        """Where ends do not bracket what stands beside them."""
        return ()

    @property
    def applied(self) -> ClassesApplied | None:
        """What became of several classes, or None for one score."""
        return None


class ScorePredictor(Predictor):
    """From a score, and its group where each has a map of its own, to the new columns, and their range.

    Args:
        prior: Base rate of the rows, or None for that of the fit rows.
        checked: Whether to ask if the scores are on the scale of the fit.
    """

    def __init__(
        self,
        loaded: OneScore,
        resolved: ResolvedColumns,
        *,
        shown: str,
        name: str = NEW_COLUMN,
        prior: float | None = None,
        checked: bool = True,
    ) -> None:
        pooled = loaded.of_all_rows
        if prior is not None:
            check_prior(prior)
        super().__init__(resolved)
        self.intake = Intake(resolved, shown=shown)
        self.prior = prior
        self.fitted_rate = None if prior is None else fitted_rate(pooled)
        self._segments = loaded.recalibrator if isinstance(loaded, SegmentArtifact) else None
        self._map = loaded.of_all_rows.recalibrator if not isinstance(loaded, SegmentArtifact) else _UNCHANGED
        members = loaded.members if isinstance(loaded, GroupArtifact) else {}
        self._members = {key: one.recalibrator for key, one in members.items()}
        self._check = ScaleCheck(pooled) if checked else None
        self._sure = 0
        ends = ("", "_lower", "_upper") if self._map.brackets else ("",)
        self.fields = tuple(pa.field(f"{name}{end}", pa.float64()) for end in ends)

    def __call__(self, batch: pa.RecordBatch) -> Added:
        scores, places = self.intake.scores_of(batch.column(self.resolved.score))
        if self._check is not None:
            self._check.add(scores)
        if self._segments is not None:
            columns = self._of_segments(self._segments, batch, scores, places)
        elif self.resolved.member is None:
            columns = self._columns(self._map, scores, places.numbers(scores.size))
        else:
            columns = self._of_groups(
                with_path(batch, self.resolved, shown=self.intake.shown), scores, places
            )
        if scores.size:
            lowest, highest = float(columns[0].min()), float(columns[0].max())
            self.lowest = lowest if self.lowest is None else min(self.lowest, lowest)
            self.highest = highest if self.highest is None else max(self.highest, highest)
        if self.prior is not None:
            self._sure += int(np.count_nonzero((columns[0] == 0.0) | (columns[0] == 1.0)))
        return self._of_all(columns, places, rows=batch.num_rows)

    @property
    def notes(self) -> tuple[str, ...]:
        findings = self.intake.findings
        refuse_no_number(findings, self.resolved, without=self.without_score, shown=self.intake.shown)
        found = () if self._check is None else self._check.notes(self.intake)
        if self._sure:
            found = (*found, f"{plural(self._sure, 'row')} got 0 or 1, which another base rate does not move")
        return (*found, *strange_words(findings), *phrase_words(findings, self.resolved))

    def _columns(self, recalibrator: Recalibrator, scores: Floats, numbers: Integers) -> tuple[Floats, ...]:
        """Return the columns of scores, each of the row of the file with its number."""
        ends = recalibrator.ends(scores) if recalibrator.brackets else ()
        columns = (recalibrator.predict_at(scores, numbers), *ends)
        if self.prior is None or self.fitted_rate is None:
            return columns
        return tuple(shifted(one, fitted=self.fitted_rate, prior=self.prior) for one in columns)

    def _of_groups(self, batch: pa.RecordBatch, scores: Floats, places: Places) -> tuple[Floats, ...]:
        groups = known_groups(batch, self.resolved, self.intake.findings, shown=self.intake.shown)
        groups, numbers = groups.selected(places), places.numbers(scores.size)
        columns = tuple(np.array(one) for one in self._columns(self._map, scores, numbers))
        for code, text in enumerate(groups.text):
            which = np.flatnonzero(groups.code == code) if text in self._members else ()
            if len(which):
                own = self._columns(self._members[text], scores[which], numbers[which])
                for column, mine in zip(columns, own, strict=True):
                    column[which] = mine
        return columns

    def _of_segments(
        self, segments: SegmentMap, batch: pa.RecordBatch, scores: Floats, places: Places
    ) -> tuple[Floats, ...]:
        """Return the column by the values of each row, and count those that the fit had not seen."""
        rows = with_path(batch, self.resolved, shown=self.intake.shown)
        values = [selected(one, places) for one in known_values(rows, self.resolved, shown=self.intake.shown)]
        levels = segments.places_of(values)
        self.intake.findings.strange.update(segments.strange_in(values, levels))
        return (segments.predict_at(scores, levels),)


class ClassPredictor(Predictor):
    """From the columns of classes to the new columns, counting predictions that change.

    Each class gets a column `NAME_CLASS`, or all get one column `NAME` of lists where they came as such;
    `NAME_class` is the most probable class, and `NAME_confidence` its probability. Methods with ends add
    those of every class as `NAME_CLASS_lower` and `NAME_CLASS_upper`, or those of the most probable one as
    `NAME_confidence_lower` and `NAME_confidence_upper`.

    Args:
        checked: Whether to ask if the rows are on the scale of the fit.
    """

    def __init__(
        self,
        change: ClassMap,
        resolved: ResolvedColumns,
        fragment: Fragment,
        *,
        name: str = NEW_COLUMN,
        checked: bool,
    ) -> None:
        change.order_of(resolved.classes)
        super().__init__(resolved)
        self._rows = self.intake = ClassIntake(resolved, shown=fragment.shown)
        self._changed = 0
        self._tied = 0
        self._highest = 0.0
        self._checked = checked
        self._change = change
        self._list = _list_kind(resolved, fragment)
        self.fields = self._fields(name)

    def __call__(self, batch: pa.RecordBatch) -> Added:
        probability, after, places = self.recalibrated(batch)
        predicted = after.argmax(axis=1)
        before = probability.argmax(axis=1)
        top = probability[np.arange(before.size), before]
        self._tied += int(np.count_nonzero((probability == top[:, None]).sum(axis=1) > 1))
        self._changed += int(np.count_nonzero(before != predicted))
        ends = self._change.ends(probability, after, self.resolved.classes)
        mark = self.delimiter
        names = [one if mark is None else quoted(one, mark) for one in self.resolved.classes]
        added = (
            *self._columns(after),
            text_column(names, predicted),
            after[np.arange(predicted.size), predicted],
            *(() if ends is None else _interleaved(ends.lower, ends.upper)),
        )
        return self._of_all(added, places, rows=batch.num_rows)

    def recalibrated(self, batch: pa.RecordBatch) -> tuple[Floats, Floats, Places]:
        """Return probabilities before and after the map, shape (n, K) each, and of which rows they are."""
        probability, places = self._rows.probabilities_of(batch)
        self._highest = float(probability.max(initial=self._highest))
        return probability, self._change(probability, self.resolved.classes), places

    @property
    def notes(self) -> tuple[str, ...]:
        findings, change = self.intake.findings, self._change
        refuse_no_number(findings, self.resolved, without=self.without_score, shown=self.intake.shown)
        texts = tuple(phrase_words(findings, self.resolved))
        if not self._checked:
            return texts
        rows, highest = findings.rows, self._highest
        return (*class_scale_notes(findings.sums, change.artifact, rows=rows, highest=highest), *texts)

    @property
    def ends_notes(self) -> tuple[str, ...]:
        recalibrator = self._change.artifact.recalibrator
        free = recalibrator.to_dict().get("output_sum") == OutputSum.FREE.value
        if free or recalibrator.ends_of is not EndsOf.CLASSES:
            return ()
        return ("ends are those of each class by itself, before rows were divided by their sums",)

    @property
    def applied(self) -> ClassesApplied:
        recalibrator = self._change.artifact.recalibrator
        return ClassesApplied(
            recalibrator.name,
            self.resolved.classes,
            self._changed,
            self._tied,
            recalibrator.keeps_prediction,
            self.intake.findings.normalised,
        )

    def _fields(self, name: str) -> tuple["pa.Field[Any]", ...]:
        number = pa.float64()
        each = [f"{name}_{one}" for one in self.resolved.classes]
        own = [pa.field(one, number) for one in each] if self._list is None else [pa.field(name, self._list)]
        ends = {EndsOf.CLASSES: each, EndsOf.PREDICTED: [f"{name}_confidence"], None: []}
        bracketed = ends[self._change.artifact.recalibrator.ends_of]
        return (
            *own,
            pa.field(f"{name}_class", pa.string()),
            pa.field(f"{name}_confidence", number),
            *(pa.field(f"{one}_{end}", number) for one in bracketed for end in ("lower", "upper")),
        )

    def _columns(self, after: Floats) -> tuple["Floats | pa.Array[Any]", ...]:
        if self._list is not None:
            return (list_column(np.ascontiguousarray(after), self._list),)
        return tuple(np.ascontiguousarray(after.T))


def _interleaved(lower: Floats, upper: Floats) -> tuple[Floats, ...]:
    """Return lower and upper ends by turns, of each class or of one."""
    pairs = zip(np.atleast_2d(lower.T), np.atleast_2d(upper.T), strict=True)
    return tuple(np.ascontiguousarray(one) for pair in pairs for one in pair)


def classes_chosen(
    loaded: ClassArtifact, columns: Columns, fragment: Fragment, *, on_sum: OnSum
) -> ResolvedColumns:
    """Return the columns named, or those that are found by the names of the classes."""
    reader = reader_of(fragment)
    header = Header(reader.header(), fragment.shown)
    columns = replace(columns, scale=columns.scale or loaded.scale, labelled=False)
    if columns.several is not None:
        columns = replace(columns, several=replace(columns.several, mapped=True))
        found = resolve(replace(columns, fitted_classes=loaded.columns or ()), header)
        if found.probs is not None and found.probs.in_list and not found.classes:
            return replace(found, probs=replace(found.probs, classes=loaded.classes))
        return with_counted(found, fragment)
    every = reader.schema(ResolvedColumns(columns, header.names[0] if header.names else "", None))
    lists = [field.name for field in every if is_list_of_numbers(field.type)]
    columns = replace(columns, several=SeveralClasses("", on_sum=on_sum, mapped=True))
    return columns_of_classes(loaded.classes, columns, header, lists=lists, fitted=loaded.columns)


def _list_kind(resolved: ResolvedColumns, fragment: Fragment) -> pa.DataType | None:
    """Return the type of the new column of lists, or None where each class has a column."""
    if resolved.probs is None or not resolved.probs.in_list:
        return None
    schema = reader_of(fragment).schema(resolved)
    return list_like(schema.field(resolved.score).type, len(resolved.classes))


def refuse_classes_alone(classes: object) -> None:
    """Refuse names of classes where no columns are named: those that are found are called by the fit."""
    if classes is not None:
        msg = "--classes names the classes of the columns of --probs, and --probs names none"
        raise IdleOption(msg, "name them, such as --probs 'p_*', or leave it out", options=("classes",))


def refuse_names(names: Sequence[str], header: Sequence[str], *, shown: str) -> None:
    seen = set(header)
    for name in names:
        if not name.strip():
            msg = "the new column has no name"
            raise UsageProblem(msg, "--name takes a word, such as calibrated")
        if name in seen:
            where = f"{shown} has a column" if name in header else "two new columns would be called"
            msg = f"{where} {name!r}{' already' if name in header else ''}"
            raise UsageProblem(msg, "--name gives the new column another name")
        seen.add(name)


def refuse_strange_to_map(
    loaded: AnyArtifact,
    *,
    prior: float | None,
    by: object = None,
    unseen: str = OnUnseen.ERROR,
    **of_classes: object,
) -> None:
    """Refuse what is said of classes, of groups or of the rate in all rows, where a map has none."""
    said = next((name for name, one in of_classes.items() if one not in (None, OnSum.ERROR)), None)
    if said is not None and not isinstance(loaded, ClassArtifact):
        option = said.replace("_", "-")
        msg = f"--{option} is for several classes, and the map was fitted to one score"
        raise IdleOption(msg, "leave it out, or fit a map of classes with --probs", options=(option,))
    said = "by" if by is not None else "unseen" if unseen != OnUnseen.ERROR else None
    if said is not None and not isinstance(loaded, GroupArtifact):
        msg = f"--{said} speaks of groups, and there is one map for all rows"
        raise IdleOption(msg, "leave it out, or fit a map of each group with --by", options=(said,))
    if prior is not None and not isinstance(loaded, Artifact):
        what = "to several classes" if isinstance(loaded, ClassArtifact) else "by groups or segments"
        msg = f"--prior is the base rate of one label in all rows, and the map was fitted {what}"
        raise UsageProblem(msg, "leave it out, or fit again on rows of the population meant")


def fitted_rate(loaded: OneMap) -> float:
    """Return the share of label 1 in the fit rows."""
    rate = loaded.fit.base_rate
    if rate is None or not 0.0 < rate < 1.0:
        msg = "the artifact does not say the base rate of its fit rows, which --prior replaces"
        raise UsageProblem(msg, "fit it again with this calibcli")
    return rate
