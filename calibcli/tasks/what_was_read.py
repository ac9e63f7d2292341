"""What a reading found, in the words of reports: the input's summary, and that nothing is left of it."""

import shlex
from collections.abc import Sequence

from calibcli.errors import EmptyTable
from calibcli.names import WeightMeaning
from calibcli.options.rows import RowsAsked
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fault_words import SOFT, soft_words
from calibcli.readers.faults import Findings
from calibcli.readers.files import shown_path
from calibcli.reports.input import ClassesRead, InputSummary, SelectedRows, pooled_words, weightless_words

_LISTED = 10


def nothing_left(files: Sequence[str], chosen: ChosenColumns, findings: Findings) -> EmptyTable:
    """Return the error for an input of which no row counts."""
    shown = ", ".join(shown_path(file) for file in files[:3]) + (", ..." if len(files) > 3 else "")
    if findings.rows == 0:
        return EmptyTable(f"{shown}: there are no rows")
    asked = findings.rows - findings.unselected
    conditions = chosen.asked.rows.where
    if asked == 0 and conditions:
        where = " and ".join(repr(one.text) for one in conditions)
        msg = f"{shown}: none of {findings.rows:,} rows satisfies {where}"
        return EmptyTable(msg, "values are compared as they stand in the file, upper and lower case too")
    if findings.dropped == asked:
        return EmptyTable(f"{shown}: none of {asked:,} rows has every value")
    if findings.dropped + findings.elsewhere == asked:
        return EmptyTable(f"{shown}: none of {asked:,} rows predicts the class asked for")
    return EmptyTable(f"{shown}: every weight is 0")


def summary_of_input(
    files: Sequence[str], chosen: ChosenColumns, findings: Findings, *, notes: Sequence[str] = ()
) -> InputSummary:
    """Return what was read, as every report states it."""
    notes = [*notes, *chosen.notes]
    if chosen.weights_are is WeightMeaning.IMPORTANCE and chosen.asked.weights_are is None:
        notes.append("weights were taken as importance weights; --weights-are frequency for repeated rows")
    # Notes of several parts stand side by side, each of the same words once.
    shown = shown_path(files[0]) + (f" and {len(files) - 1:,} more" if len(files) > 1 else "")
    if findings.weightless:
        notes.append(f"{shown}: {weightless_words(findings.weightless)}")
    if findings.pooled_rows:
        notes.append(f"{shown}: {pooled_words(findings.pooled_rows, findings.pooled)}")
    if findings.soft:
        asked = f"--positive {shlex.quote(str(chosen.asked.positive))}"
        notes.append(f"{shown}, column {chosen.label!r}: {soft_words(findings.soft)} by {asked}; {SOFT}")
    if findings.counted_classes:
        named = [f"{place} = {name}" for place, name in enumerate(chosen.classes[:_LISTED])]
        more = [] if len(chosen.classes) <= _LISTED else ["..."]
        listed = ", ".join([*named, *more])
        notes.append(f"labels are numbers, read as places from 0: {listed}; --classes names them otherwise")
    return InputSummary(
        files=tuple(str(file) for file in files),
        score=chosen.shown_score,
        label=chosen.label,
        weight=chosen.weight,
        rows=findings.rows - findings.dropped - findings.elsewhere - findings.unselected,
        dropped=findings.dropped,
        clipped=findings.clipped,
        notes=tuple(notes),
        classes=_classes_read(chosen, findings),
        selected=_selected(chosen.asked.rows, findings),
    )


def _selected(rows: RowsAsked, findings: Findings) -> SelectedRows | None:
    """Return how rows were selected, or None where all of them were read."""
    if not rows.options:
        return None
    seed = None if rows.sample is None else rows.seed
    return SelectedRows(
        tuple(one.text for one in rows.where), rows.limit, rows.sample, seed, findings.unselected
    )


def selection_notes(source: InputSummary) -> tuple[str, ...]:
    """Return what an artifact must say of rows that were selected, or nothing."""
    return () if source.selected is None else (f"fitted on selected rows only: {source.selected.options()}",)


def _classes_read(chosen: ChosenColumns, findings: Findings) -> ClassesRead | None:
    """Return how several classes were seen, or None where there is one score."""
    several = chosen.asked.several
    if several is None:
        return None
    return ClassesRead(
        len(chosen.classes),
        several.view,
        several.one_class,
        findings.tied,
        findings.normalised,
        findings.elsewhere,
    )
