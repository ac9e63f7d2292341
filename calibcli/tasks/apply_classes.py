"""Add the recalibrated probabilities of several classes to every row of a file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from calibcli.documents.class_artifact import ClassArtifact
from calibcli.errors import UsageProblem
from calibcli.names import DataFormat
from calibcli.options.rows import AS_FOUND, Columns, InputFormat, SeveralClasses, refuse_any_sum
from calibcli.readers import reader_of
from calibcli.readers.class_columns_again import columns_of_classes
from calibcli.readers.class_intake import ClassIntake
from calibcli.readers.class_matrix import is_list_of_numbers
from calibcli.readers.columns import ChosenColumns, resolve
from calibcli.readers.files import found_in
from calibcli.readers.fragments import Fragment
from calibcli.recalibrators.classes.ends import kind_of_ends
from calibcli.reports.apply_classes import ClassApplyReport
from calibcli.table.score_table import Floats
from calibcli.tasks.apply import only_file
from calibcli.tasks.apply_asked import ClassAsk
from calibcli.tasks.class_map import ClassMap
from calibcli.tasks.converted import conversion_notes, output_format
from calibcli.tasks.destination import Destination, check_output, destination_of
from calibcli.tasks.gather import with_counted
from calibcli.tasks.right_scale import class_scale_notes
from calibcli.tasks.widened import prepared, write_widened
from calibcli.tasks.widening import Widening, refuse_names
from calibcli.view_names import EndsOf, OutputSum
from calibcli.writers.arrow import list_column, list_like, text_column
from calibcli.writers.splice import quoted


def apply_class_file(
    loaded: ClassArtifact,
    inputs: Sequence[str],
    *,
    artifact: str,
    output: str | Destination,
    ask: ClassAsk,
    input_format: InputFormat = AS_FOUND,
    force: bool = False,
) -> ClassApplyReport:
    """
    Apply a map of several classes to a file; other columns stay as they are, and no label is needed.

    Each class gets a column `NAME_CLASS`, or all get one column `NAME` of lists where they came as such;
    `NAME_class` is the most probable class, and `NAME_confidence` its probability. Methods with ends add
    those of every class as `NAME_CLASS_lower` and `NAME_CLASS_upper`, or those of the most probable one as
    `NAME_confidence_lower` and `NAME_confidence_upper`.

    Args:
        loaded: The artifact.

        inputs: One file, or "-" for standard input.

        artifact: The path of the artifact, for messages.

        output: Where to write, as for one score.

        ask: The columns and their names.

        input_format: The format of the input, and how text is written.

        force: Whether an existing output may be replaced.

    Raises:
        UsageProblem: If there are several inputs, a new column has the name of another, or rows of any sum
            are to be taken.

        OutputProblem: If the output exists or cannot be written.

        InputProblem: If something is wrong with the input; then there is no output.
    """
    if len(inputs) != 1:
        msg = f"{len(inputs)} inputs for one output"
        raise UsageProblem(msg, "--out-dir gives each an output of its own")
    refuse_any_sum(ask.on_sum)
    to = destination_of(output)
    check_output(to.path, force=force, inputs=inputs, artifact=artifact)
    listed = found_in(inputs)
    fragment = only_file(listed, input_format)
    chosen = classes_chosen(loaded, ask, fragment)
    change = ClassMap(loaded, artifact)
    change.order_of(chosen.classes)
    kind = output_format(to, fragment)
    quotes, checked = _delimiter(kind, fragment), ask.columns.scale is None
    predictor = ClassPredictor(change, chosen, fragment, quotes=quotes, checked=checked)
    fields = fields_added(loaded, chosen, fragment, name=ask.name)
    refuse_names([ask.name], (), shown=fragment.shown)
    width = 2 * len(chosen.classes) + len(fields)
    job = Widening(
        fragment, chosen, kind, fields, predictor, predictor.intake, lambda: predictor.notes, width
    )
    job = prepared(job, to.shape.keep)
    rows, notes = write_widened(job, to)
    findings = predictor.intake.findings
    return ClassApplyReport(
        files=(fragment.path,),
        probs=chosen.shown_score,
        output=to.path,
        columns=job.names,
        method=loaded.recalibrator.name,
        classes=chosen.classes,
        rows=rows,
        changed=predictor.changed,
        tied=predictor.tied,
        keeps_prediction=loaded.recalibrator.keeps_prediction,
        clipped=findings.clipped,
        normalised=findings.normalised,
        notes=(
            *loaded.doubts,
            *listed.notes(made=[to.path]),
            *chosen.notes,
            *conversion_notes(job),
            *_ends_notes(loaded),
            *notes,
        ),
    )


class ClassPredictor:
    """
    From the columns of classes to the new columns, counting predictions that change.

    Args:
        change: The map.

        chosen: The columns.

        fragment: The file.

        quotes: What separates fields of a text file that rows are spliced into, and names of classes are
            quoted for; None for any other.

        checked: Whether to ask if the rows are on the scale of the fit.
    """

    def __init__(
        self,
        change: ClassMap,
        chosen: ChosenColumns,
        fragment: Fragment,
        *,
        quotes: str | None,
        checked: bool = True,
    ) -> None:
        self.intake = ClassIntake(chosen, shown=fragment.shown)
        self.changed = 0
        self.tied = 0
        self._highest = 0.0
        self._checked = checked
        self._change = change
        self._classes = chosen.classes
        self._texts = [one if quotes is None else quoted(one, quotes) for one in chosen.classes]
        self._list = _list_kind(chosen, fragment)

    def __call__(self, batch: pa.RecordBatch) -> tuple["Floats | pa.Array[Any]", ...]:
        """Return the new columns of some rows; they must come in the order of the file."""
        probability = self.intake.probabilities_of(batch)
        after = self._change(probability, self._classes)
        predicted = after.argmax(axis=1)
        before = probability.argmax(axis=1)
        top = probability[np.arange(before.size), before]
        self._highest = float(top.max(initial=self._highest))
        self.tied += int(np.count_nonzero((probability == top[:, None]).sum(axis=1) > 1))
        self.changed += int(np.count_nonzero(before != predicted))
        ends = self._change.ends(probability, after, self._classes)
        return (
            *self._columns(after),
            text_column(self._texts, predicted),
            after[np.arange(predicted.size), predicted],
            *(() if ends is None else _interleaved(ends.lower, ends.upper)),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """
        What must be said of the rows that were read.

        Raises:
            InputProblem: If they are on another scale than that of the fit.
        """
        if not self._checked:
            return ()
        findings, change = self.intake.findings, self._change
        return class_scale_notes(findings.sums, change.artifact, rows=findings.rows, highest=self._highest)

    def _columns(self, after: Floats) -> tuple["Floats | pa.Array[Any]", ...]:
        if self._list is not None:
            return (list_column(np.ascontiguousarray(after), self._list),)
        return tuple(np.ascontiguousarray(after.T))


def _interleaved(lower: Floats, upper: Floats) -> tuple[Floats, ...]:
    """Return lower and upper ends by turns, of each class or of one."""
    pairs = zip(np.atleast_2d(lower.T), np.atleast_2d(upper.T), strict=True)
    return tuple(np.ascontiguousarray(one) for pair in pairs for one in pair)


def classes_chosen(loaded: ClassArtifact, ask: ClassAsk, fragment: Fragment) -> ChosenColumns:
    """Return the columns named, or those that are found by the names of the classes."""
    header = reader_of(fragment.format).header(fragment)
    columns = replace(ask.columns, scale=ask.columns.scale or loaded.scale)
    if columns.several is not None:
        found = resolve(columns, header, path=fragment.shown, labelled=False)
        if found.probs is not None and found.probs.in_list and not found.classes:
            return replace(found, probs=replace(found.probs, classes=loaded.classes))
        return with_counted(found, fragment)
    lists = [
        field.name
        for field in (reader_of(fragment.format).schema(fragment, _no_columns(columns, header)))
        if is_list_of_numbers(field.type)
    ]
    columns = replace(columns, several=SeveralClasses("", on_sum=ask.on_sum))
    return columns_of_classes(loaded.classes, columns, header, lists=lists, path=fragment.shown)


def _no_columns(columns: Columns, header: Sequence[str]) -> ChosenColumns:
    return ChosenColumns(columns, header[0] if header else "", None)


def _list_kind(chosen: ChosenColumns, fragment: Fragment) -> pa.DataType | None:
    """Return the type of the new column of lists, or None where each class has a column."""
    if chosen.probs is None or not chosen.probs.in_list:
        return None
    schema = reader_of(fragment.format).schema(fragment, chosen)
    return list_like(schema.field(chosen.score).type, len(chosen.classes))


def fields_added(
    loaded: ClassArtifact, chosen: ChosenColumns, fragment: Fragment, *, name: str
) -> tuple["pa.Field[Any]", ...]:
    """Return the new columns."""
    number = pa.float64()
    kind = _list_kind(chosen, fragment)
    each = [f"{name}_{one}" for one in chosen.classes]
    own = [pa.field(one, number) for one in each] if kind is None else [pa.field(name, kind)]
    bracketed: list[str] = []
    match kind_of_ends(loaded.recalibrator):
        case EndsOf.CLASSES:
            bracketed = each
        case EndsOf.PREDICTED:
            bracketed = [f"{name}_confidence"]
        case None:
            pass
    ends = [pa.field(f"{one}_{end}", number) for one in bracketed for end in ("lower", "upper")]
    return (*own, pa.field(f"{name}_class", pa.string()), pa.field(f"{name}_confidence", number), *ends)


def _ends_notes(loaded: ClassArtifact) -> tuple[str, ...]:
    """Say where ends do not bracket what stands beside them."""
    if kind_of_ends(loaded.recalibrator) is not EndsOf.CLASSES:
        return ()
    if loaded.recalibrator.to_dict().get("output_sum") == OutputSum.FREE.value:
        return ()
    return ("ends are those of each class by itself, before rows were divided by their sums",)


def _delimiter(kind: DataFormat, fragment: Fragment) -> str | None:
    """Return what separates fields where rows are spliced, None where a writer quotes by itself."""
    if kind is not fragment.format or not kind.is_csv:
        return None
    return fragment.delimiter or ("\t" if kind is DataFormat.TSV else ",")
