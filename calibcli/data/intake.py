"""Record batches to rows that a table can take: every check on values is made or called here."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from calibcli.data import arrays
from calibcli.data.arrays import Column, Decoded
from calibcli.data.columns import ResolvedColumns
from calibcli.data.fault_words import not_numbers, problem_of
from calibcli.data.faults import MOST_LABELS, Fault, FaultKind, Findings, Places
from calibcli.data.fields import (
    Labels,
    can_be_labels,
    check_weights,
    labels_of,
    on_scale,
    probabilities,
    unlabelled,
)
from calibcli.data.groups import (
    Groups,
    Members,
    Parts,
    RowKeys,
    SegmentColumns,
    can_be_groups,
    crossed,
    groups_of,
    mixed_of,
    placed_members,
    selected,
)
from calibcli.data.row_ids import Fingerprints, Identities, identities_of
from calibcli.errors import InputProblem
from calibcli.names import OnMissing, OnRange, WeightMeaning
from calibcli.stats.table import Booleans, Floats, Indices, Integers, Weighing
from calibcli.stats.table.levels import Mixed
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from calibcli.data.class_intake import ClassRows

_FROM_THE_FIRST = Places(0)
# Of a column, where values are missing.
Gap = tuple[FaultKind, int, Booleans | None]
_ABSENT = frozenset(kind for kind in FaultKind if kind.name.startswith("MISSING"))


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a batch that count.

    Args:
        others: Probabilities of further score columns, each of shape (n,).
        parts: Which part of the rows each belongs to, or None.
        cluster: Shape (n,), equal for rows that depend on each other, or None.
        classes: What stands behind score and label where there are several classes, or None.
        identity: Shape (n,), different for different rows, or None.
        before: The same rows as they were before a map of several classes, or None where there is none.
        members: What a map looks at beside the score, or None.
        on: The values of each column that makes segments.
        gaps: Whether scores are NaN where a row has none, while it has another.
    """

    score: Floats
    label: Booleans
    counts: Integers | None = None
    weight: Floats | None = None
    others: tuple[Floats, ...] = ()
    group: Groups | None = None
    places: Places = _FROM_THE_FIRST
    parts: Parts | None = None
    cluster: Integers | None = None
    classes: "ClassRows | None" = None
    identity: Fingerprints | None = None
    before: "Before | None" = None
    members: Members | None = None
    on: tuple[Mixed, ...] = ()
    gaps: bool = False

    def seen(self, place: int, *, where: int | None = None) -> "Rows":
        """Return the rows by the score column at a place; NaN where the column at `where` has no score."""
        found = self if place == 0 else replace(self, score=self.others[place - 1])
        if where is None:
            return found
        return replace(found, score=np.where(np.isnan(self.seen(where).score), np.nan, found.score))

    @property
    def weighing(self) -> Weighing:
        """What rows count for."""
        return Weighing(self.counts, self.weight)

    def kept(self, which: Indices) -> "Rows":
        """Return some of the rows, with the first score column alone."""
        counts, weight = self.weighing.of(which)
        places = self.places.some(which)
        return Rows(self.score[which], self.label[which], counts, weight, places=places)


@dataclass(frozen=True, slots=True, eq=False)
class Before:
    """Rows of several classes before their map; `view` has them as they would have been seen."""

    view: Rows
    confidence: Rows
    given: "ClassRows"
    changed: "ClassRows"


class Intake:
    """Takes the batches of a fragment in order, and keeps count of what is wrong with them."""

    def __init__(self, resolved: ResolvedColumns, *, shown: str, first_row: int = 0) -> None:
        self.findings = Findings()
        self._resolved = resolved
        self.shown = shown
        self._before = first_row
        self._requested: Booleans | None = None

    def rows_of(self, batch: pa.RecordBatch) -> Rows | None:
        """None once something was wrong with a batch, since from then on only how much of it matters."""
        self._ask(batch)
        scores, gaps = self._scores(batch)
        labels, weight, keys = self._labels(batch), self._weights(batch), self._row_keys(batch)
        in_pairs = self._resolved.requested.on_missing is OnMissing.PAIRWISE
        if in_pairs:
            lacking, gaps = [gap for _, _, gap in gaps], _without_any(gaps)
        gaps.append((FaultKind.MISSING_LABEL, 0, labels.missing))
        gaps.append((FaultKind.MISSING_WEIGHT, 0, None if weight is None else weight.missing))
        requested, findings = self._resolved.requested, self.findings
        drop, labelled = requested.on_missing is not OnMissing.ERROR, self._resolved.label is not None
        places = self._kept([*gaps, *keys.gaps(drop=drop, labelled=labelled)])
        self._check_labels(labels, places)
        if findings.hard_scores and (FaultKind.NOT_BINARY, 0) in findings.faults:
            findings.hard_scores = bool(np.isin(places.select(scores[0]), (0.0, 1.0)).all())
        probability = self._probabilities(scores, places)
        if in_pairs:
            probability = [
                one if gap is None else np.where(places.select(gap), np.nan, one)
                for one, gap in zip(probability, lacking, strict=True)
            ]
        weights = None if weight is None else places.select(weight.values)
        whole_counts = self._resolved.weights_are is WeightMeaning.FREQUENCY
        if weights is not None:
            check_weights(weights, whole=whole_counts, findings=findings, places=places)
        if weights is not None and not weights.all():
            # What counts for nothing is no row: its score is no value of the score, its group no group.
            some = np.flatnonzero(weights)
            places, weights = places.some(some), weights[some]
            probability = [one[some] for one in probability]
        members = placed_members(keys.member, column=requested.member, findings=findings, places=places)
        whole = self._whole(probability, labels, places)
        whole = replace(whole, places=places, members=members, gaps=in_pairs)
        if weights is None or not whole_counts:
            whole = replace(whole, weight=weights)
        elif not findings.refused:
            whole = replace(whole, counts=weights.astype(np.int64))
        self._advance(batch.num_rows)
        if findings.refused:
            return None
        rows = self._in_view(whole)
        findings.positive_rows += int(np.count_nonzero(rows.label))
        return self._placed(rows, keys)

    def scores_of(self, column: Column) -> tuple[Floats, Places]:
        """Return the probabilities of a score column, and which rows have one."""
        score = self._score(column, self._resolved.score, 0)
        gaps: list[Gap] = [(FaultKind.MISSING_SCORE, 0, score.missing)]
        return self._of_every_row([score.values], gaps, rows=len(column))

    def _of_every_row(
        self, scores: Sequence[Floats], gaps: Sequence[Gap], *, rows: int
    ) -> tuple[Floats, Places]:
        """Return the probabilities of the first score, and which rows have one; no label is needed."""
        absent = np.zeros(rows, np.bool_)
        for _, _, gap in gaps:
            absent |= False if gap is None else gap
        further = self._without_probability(scores[0])
        places = self._kept([*gaps, *((kind, at, gap & ~absent) for kind, at, gap in further)])
        probability = self._probabilities(scores, places)
        self._advance(rows)
        problem = problem_of(self.findings, self._resolved, shown=self.shown, partly=True)
        if problem is not None:
            raise problem
        return probability[0], places

    def _without_probability(self, values: Floats) -> list[tuple[FaultKind, int, Booleans]]:
        """Return which rows have a score that gets no probability, on request."""
        requested = self._resolved.requested
        if requested.on_range is not OnRange.NULL:
            return []
        scores = on_scale(values, requested.read_as)
        return [(FaultKind.OUTSIDE, 0, (scores < 0.0) | (scores > 1.0))]

    def _scores(self, batch: pa.RecordBatch) -> tuple[list[Floats], list[Gap]]:
        columns = [
            self._score(batch.column(name), name, place) for place, name in enumerate(self._resolved.scores)
        ]
        gaps = [(FaultKind.MISSING_SCORE, place, one.missing) for place, one in enumerate(columns)]
        if self._resolved.requested.on_missing is not OnMissing.PAIRWISE:
            return [one.values for one in columns], gaps
        # 0 is a score on every scale, and is taken for none: a row without this score may have another.
        filled = [
            one.values if one.missing is None else np.where(one.missing, 0.0, one.values) for one in columns
        ]
        return filled, gaps

    def _probabilities(self, scores: Sequence[Floats], places: Places) -> list[Floats]:
        """Return the probabilities of the rows that are left; what is wrong with them is noted."""
        requested, findings = self._resolved.requested, self.findings
        return [
            probabilities(places.select(one), requested, findings=findings, places=places, column=place)
            for place, one in enumerate(scores)
        ]

    def _whole(self, probability: Sequence[Floats], labels: Labels, places: Places) -> Rows:
        return Rows(probability[0], places.select(labels.positive), others=tuple(probability[1:]))

    def _in_view(self, whole: Rows) -> Rows:
        return whole

    @property
    def column(self) -> str:
        """What messages call the score column."""
        return self._resolved.shown_score

    def _advance(self, rows: int) -> None:
        self.findings.rows += rows
        self._before += rows

    def _ask(self, batch: pa.RecordBatch) -> None:
        """Find out which rows of a batch are asked for."""
        rows = self._resolved.rows
        if rows.chooses:
            alike: dict[str, None] = {}
            self._requested = rows.of(
                batch, first_row=self._before, shown=self.shown, decimal=self._resolved.decimal, alike=alike
            )
            self.findings.note_first("alike", alike)
        if self._requested is not None:
            self.findings.unselected += batch.num_rows - int(np.count_nonzero(self._requested))

    def _numbers(self, column: Column, name: str) -> Decoded:
        kind = arrays.value_type(column.type)
        if not (arrays.is_number(kind) or pa.types.is_null(kind)):
            raise not_numbers(column, name, self._resolved, shown=self.shown)
        return arrays.floats(column)

    def _score(self, column: Column, name: str, place: int) -> Decoded:
        """Return the numbers of a score column, whose words may be some."""
        requested = self._resolved.requested
        if not requested.takes_texts or not arrays.is_text(arrays.value_type(column.type)):
            return self._numbers(column, name)
        from calibcli.data.score_words import worded_scores

        found = worded_scores(column, self._resolved)
        self.findings.signed |= found.signed
        if found.bare is not None:
            bare = found.bare if self._requested is None else found.bare & self._requested
            self.findings.bare += int(np.count_nonzero(bare))
        unknown = found.unknown
        if unknown is None:
            return found.scores
        counted = unknown if self._requested is None else unknown & self._requested
        self._note_phrases(found.code, np.flatnonzero(counted), found.texts, place)
        if requested.on_missing is OnMissing.ERROR:
            return found.scores
        missing = unknown if found.scores.missing is None else unknown | found.scores.missing
        return Decoded(np.where(missing, np.nan, found.scores.values), missing)

    def _note_phrases(self, code: Integers, rows: Integers, texts: Sequence[str], place: int) -> None:
        """Note scores in words that stand for no number, phrase by phrase."""
        from calibcli.data.score_words import folded_phrase

        found = zip(*np.unique(code[rows], return_index=True, return_counts=True), strict=True)
        for phrase, first, count in sorted(found, key=lambda one: int(one[1])):
            fault = Fault(
                int(count), Places(self._before).row(int(rows[first])), repr(folded_phrase(texts[phrase]))
            )
            self.findings.note_phrase(place, fault)
            if self._resolved.requested.on_missing is OnMissing.ERROR:
                self.findings.note(FaultKind.NO_SCORE, fault, column=place)

    def _labels(self, batch: pa.RecordBatch) -> Labels:
        if self._resolved.label is None:
            return unlabelled(batch.num_rows)
        column = self._label_column(batch, "labels are 0 and 1, true and false, or text with --positive")
        return labels_of(column, self._resolved.requested.positive)

    def _label_column(self, batch: pa.RecordBatch, hint: str) -> Column:
        name = str(self._resolved.label)
        column = batch.column(name)
        kind = arrays.value_type(column.type)
        if not can_be_labels(kind):
            msg = f"{self.shown}, column {name!r}: it holds {kind}, not labels"
            raise InputProblem(msg, hint)
        return column

    def _weights(self, batch: pa.RecordBatch) -> Decoded | None:
        name = self._resolved.weight
        return None if name is None else self._numbers(batch.column(name), name)

    def _row_keys(self, batch: pa.RecordBatch) -> RowKeys:
        resolved = self._resolved
        return RowKeys(
            None if resolved.group is None else self._groups(batch, resolved.group, "--group"),
            None if resolved.cluster is None else self._groups(batch, resolved.cluster, "--cluster"),
            tuple(self._groups(batch, name, "--by") for name in resolved.by),
            self._identities(batch),
            self._members(batch),
            tuple(self._mixed(batch, name) for name in resolved.on),
        )

    def _members(self, batch: pa.RecordBatch) -> Members | None:
        names, member = self._resolved.members, self._resolved.requested.member
        if not names:
            return None
        if isinstance(member, SegmentColumns):
            return tuple(self._mixed(batch, name) for name in names)
        return self._groups(batch, names[0], "--by")

    def _groups(self, batch: pa.RecordBatch, name: str, option: str) -> Groups:
        groups = groups_of(self._telling(batch.column(name), name, what="groups", option=option))
        self.findings.note_spelling(name, groups.spelling, shown=self.shown)
        return groups

    def _mixed(self, batch: pa.RecordBatch, name: str) -> Mixed:
        column = self._telling(batch.column(name), name, what="segments", option="--on")
        return mixed_of(column, decimal=self._resolved.decimal)

    def _identities(self, batch: pa.RecordBatch) -> Identities | None:
        found: Identities | None = None
        for name in self._resolved.identity:
            one = identities_of(self._telling(batch.column(name), name, what="rows", option="--id"))
            self.findings.note_spelling(name, one.spelling, shown=self.shown)
            found = one if found is None else found.beside(one)
        return found

    def _telling(self, column: Column, name: str, *, what: str, option: str) -> Column:
        """Return a column whose type can tell groups or rows apart."""
        kind = arrays.value_type(column.type)
        if not can_be_groups(kind):
            msg = f"{self.shown}, column {name!r}: it holds {kind}, which does not tell {what} apart"
            raise InputProblem(msg, f"name a column of text, whole numbers or dates with {option}")
        return column

    def _placed(self, rows: Rows, keys: RowKeys) -> Rows:
        group = None if keys.group is None else keys.group.selected(rows.places)
        if group is not None:
            self.findings.note_first("groups", group.names())
        by = [one.filled().selected(rows.places) for one in keys.by]
        cluster = None if keys.cluster is None else keys.cluster.selected(rows.places).keys()
        identity = None if keys.identity is None else rows.places.select(keys.identity.values)
        parts = crossed(by) if by else None
        on = tuple(selected(one, rows.places) for one in keys.on)
        return replace(rows, group=group, parts=parts, cluster=cluster, identity=identity, on=on)

    def _kept(self, gaps: Sequence[Gap]) -> Places:
        """Return the rows without gaps, and count the others as asked."""
        requested = self._requested
        within = (
            (kind, at, gap if gap is None or requested is None else gap & requested) for kind, at, gap in gaps
        )
        found = [(kind, place, gap) for kind, place, gap in within if gap is not None and gap.any()]
        if not found:
            return Places.without(None if requested is None else ~requested, before=self._before)
        refused = self._resolved.requested.on_missing is OnMissing.ERROR
        for kind, place, gap in found:
            fault = Fault(int(np.count_nonzero(gap)), Places(self._before).row(int(np.argmax(gap))))
            # Scores that are there are gaps on request alone.
            self.findings.note(kind, fault, column=place, allowed=not refused or kind not in _ABSENT)
        missing = reduce(np.logical_or, [gap for _, _, gap in found])
        self.findings.dropped += int(np.count_nonzero(missing))
        if requested is not None:
            missing = missing | ~requested
        return Places.without(missing, before=self._before)

    def _check_labels(self, labels: Labels, places: Places) -> None:
        """Note labels that are neither 0 nor 1; collect different labels where a message may list them."""
        positive = places.select(labels.positive)
        self._note_labels(FaultKind.RESPELLED, labels, labels.respelled, places)
        if labels.between is not None:
            self.findings.soft += int(np.count_nonzero(places.select(labels.between)))
        strange = self._note_labels(FaultKind.NOT_BINARY, labels, labels.strange, places)
        chosen = self._resolved.requested.positive is not None
        if chosen and len(self.findings.others) <= MOST_LABELS:
            self.findings.note_first("others", labels.distinct(places.some(np.flatnonzero(~positive))))
        unseen = chosen and not positive.any()
        if strange or len(self.findings.labels) < 2 or unseen:
            self.findings.note_first("labels", labels.distinct(places))

    def _note_labels(self, kind: FaultKind, labels: Labels, which: Booleans | None, places: Places) -> bool:
        """Note labels that are not what they should be; return whether there are some."""
        found = None if which is None else places.select(which)
        if found is None or not found.any():
            return False
        row = places.row(int(np.argmax(found)))
        text = repr(labels.text(row - 1 - self._before))
        self.findings.note(kind, Fault(int(np.count_nonzero(found)), row, text))
        return True


def _without_any(gaps: Sequence[Gap]) -> list[Gap]:
    """Return where rows have no score at all, as gaps of each score."""
    found = [gap for _, _, gap in gaps if gap is not None]
    if len(found) < len(gaps):
        return []
    nowhere = reduce(np.logical_and, found)
    return [(kind, place, nowhere) for kind, place, _ in gaps]


def known_values(batch: pa.RecordBatch, resolved: ResolvedColumns, *, shown: str) -> tuple[Mixed, ...]:
    return tuple(
        mixed_of(_known(batch, name, shown=shown), decimal=resolved.decimal) for name in resolved.members
    )


def _known(batch: pa.RecordBatch, name: str, *, shown: str) -> Column:
    column = arrays.checked_batch(batch.select([name]), shown=shown).column(name)
    kind = arrays.value_type(column.type)
    if not can_be_groups(kind):
        msg = f"{shown}, column {name!r}: it holds {kind}, which does not tell groups apart"
        raise InputProblem(msg, "the map was fitted to groups of text, whole numbers or dates")
    return column


def known_groups(
    batch: pa.RecordBatch, resolved: ResolvedColumns, findings: Findings, *, shown: str
) -> Groups:
    groups = groups_of(_known(batch, resolved.members[0], shown=shown)).filled()
    before = Places(findings.rows - batch.num_rows)
    placed_members(groups, column=resolved.requested.member, findings=findings, places=before)
    problem = problem_of(findings, resolved, shown=shown, partly=True)
    if problem is not None:
        raise problem
    return groups
