"""Add the recalibrated probability to every row of a file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from calibcli.artifacts.store import read_artifact
from calibcli.errors import UsageProblem
from calibcli.names import DataFormat
from calibcli.outputs import new_file
from calibcli.readers import reader_of
from calibcli.readers.columns import ChosenColumns, Columns, resolve
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.readers.intake import Intake
from calibcli.reports.apply import ApplyReport
from calibcli.suffixes import compression_of, format_of
from calibcli.table.score_table import Floats
from calibcli.tasks.added_columns import AddedColumns, added_columns, fitted_rate
from calibcli.tasks.destination import check_output
from calibcli.writers.compressed import compressed
from calibcli.writers.errors import copy_errors

if TYPE_CHECKING:
    import pyarrow as pa


def apply_file(
    artifact: str,
    inputs: Sequence[str],
    *,
    output: str,
    columns: Columns | None = None,
    name: str = "calibrated",
    prior: float | None = None,
    input_format: DataFormat | None = None,
    force: bool = False,
) -> ApplyReport:
    """
    Apply an artifact to a file; other columns stay as they are, and no label is needed.

    Args:
        artifact: Path of the artifact.

        inputs: One file, or "-" for standard input.

        output: Where to write, "-" for standard output. The suffixes `.csv`, `.tsv` and `.parquet` decide
            the format; other names keep that of the input.

        columns: Which column is the raw score, and what is to be done with its values; the scale is that of
            the fit. None to find the one with a usual name.

        name: Name of the new column; the ends of a probability, where there are some, are `NAME_lower` and
            `NAME_upper`.

        prior: Base rate of the population that the rows are from, or None for that of the fit rows. Assumes
            that scores given the label are distributed as in the fit rows.

        input_format: The format of the input, or None to look.

        force: Whether an existing output may be replaced.

    Raises:
        UsageProblem: If there are several inputs, a new column has the name of another, or the base rate is
            impossible or that of the fit rows unknown.

        OutputProblem: If the output exists or cannot be written.

        InputProblem: If something is wrong with the input; then there is no output.
    """
    if len(inputs) != 1:
        msg = f"{len(inputs)} inputs for one output"
        raise UsageProblem(msg, "apply them one by one")
    check_output(output, force=force, inputs=inputs, artifact=artifact)
    loaded = read_artifact(artifact)
    columns = replace(columns or Columns(), scale=loaded.scale)
    fragment = only_file(inputs[0], input_format)
    added = added_columns(loaded, name=name, prior=prior)
    report = apply_map(added, fragment, columns=columns, output=output)
    return report if prior is None else replace(report, prior=prior, fitted_rate=fitted_rate(loaded))


def apply_map(added: AddedColumns, fragment: Fragment, *, columns: Columns, output: str) -> ApplyReport:
    """
    Apply a map to a file.

    Args:
        added: What each row gets.

        fragment: The file as one fragment.

        columns: Which column is the score, and what is to be done with its values.

        output: Where to write.

    Raises:
        UsageProblem: If a new column has the name of another, or the output's name cannot be meant.
    """
    header = reader_of(fragment.format).header(fragment)
    chosen = resolve(columns, header, path=fragment.shown, labelled=False)
    for name in added.names:
        if not name.strip():
            msg = "the new column has no name"
            raise UsageProblem(msg, "--name takes a word, such as calibrated")
        if name in header:
            msg = f"{fragment.shown} has a column {name!r} already"
            raise UsageProblem(msg, "--name gives the new column another name")
    kind = format_of(output) or fragment.format
    _refuse_wrapped(output, kind)
    predictor = Predictor(added, Intake(chosen, shown=fragment.shown))
    with new_file(output) as raw, compressed(raw, output) as target, copy_errors(fragment.shown):
        job = Job(fragment, chosen, kind, added.names)
        rows = _write(job, target, predictor)
    name, *ends = added.names
    return ApplyReport(
        files=(fragment.path,),
        score=chosen.score,
        output=output,
        column=name,
        rows=rows,
        clipped=predictor.intake.findings.clipped,
        lowest=predictor.lowest,
        highest=predictor.highest,
        notes=(*chosen.notes, *_text_note(job)),
        ends=tuple(ends),
    )


@dataclass(frozen=True, slots=True)
class Job:
    """
    What is written where.

    Args:
        fragment: The input.

        chosen: Its score column.

        kind: Format of the output.

        names: Names of the new columns.
    """

    fragment: Fragment
    chosen: ChosenColumns
    kind: DataFormat
    names: tuple[str, ...]


class Predictor:
    """
    From a score column to the new columns, remembering the range of the probabilities.

    Args:
        added: What each row gets.

        intake: Checks the scores.
    """

    def __init__(self, added: AddedColumns, intake: Intake) -> None:
        self.intake = intake
        self.lowest: float | None = None
        self.highest: float | None = None
        self._values = added.values

    def __call__(self, column: "pa.Array[Any]") -> tuple[Floats, ...]:
        """Return the new values of every row; columns must come in the order of the file."""
        before = self.intake.findings.rows
        values = self._values(self.intake.scores_of(column), before)
        point = values[0]
        if point.size:
            lowest, highest = float(point.min()), float(point.max())
            self.lowest = lowest if self.lowest is None else min(self.lowest, lowest)
            self.highest = highest if self.highest is None else max(self.highest, highest)
        return values


def only_file(path: str, input_format: DataFormat | None) -> Fragment:
    """Return the one file of an input as one fragment."""
    fragments = list_fragments([path], input_format=input_format)
    if len({fragment.path for fragment in fragments}) > 1:
        msg = f"{path} holds several files"
        raise UsageProblem(msg, "apply them one by one")
    return replace(fragments[0], row_groups=None)


def _refuse_wrapped(output: str, kind: DataFormat) -> None:
    """Refuse Parquet within another compression, which no reader takes."""
    if kind is DataFormat.PARQUET and compression_of(output) is not None:
        msg = f"{output}: Parquet is compressed inside, and cannot be read from within another compression"
        raise UsageProblem(msg, f"name it {PurePath(output).with_suffix('').with_suffix('.parquet')}")


def _text_note(job: Job) -> tuple[str, ...]:
    """Say what became of the types of columns that had none."""
    if job.kind is not DataFormat.PARQUET or job.fragment.format is DataFormat.PARQUET:
        return ()
    *others, last = (repr(name) for name in (job.chosen.score, *job.names))
    return (f"columns other than {', '.join(others)} and {last} were written as text",)


def _write(job: Job, target: BinaryIO, predictor: Predictor) -> int:
    """Write the rows with the new columns; return how many."""
    if job.fragment.format is not job.kind:
        return _convert(job, target, predictor)
    if job.kind is DataFormat.PARQUET:
        from calibcli.writers.parquet import copy_with_columns

        return copy_with_columns(
            job.fragment.location,
            target,
            score=job.chosen.score,
            names=job.names,
            predicted=predictor,
            shown=job.fragment.shown,
        )
    return _splice(job, target, predictor)


def _splice(job: Job, target: BinaryIO, predictor: Predictor) -> int:
    """Add fields to every line of a text file."""
    from calibcli.readers.csv import layout, scores_of_block, text_of
    from calibcli.writers.splice import NewColumns, splice

    within = layout(job.fragment)

    def predicted(block: bytes) -> tuple[Floats, ...]:
        before = predictor.intake.findings.rows
        return predictor(scores_of_block(block, job.chosen, within=within, rows_before=before))

    columns = NewColumns(job.names, within.delimiter, blank=len(within.names) == 1, shown=within.shown)
    live = job.fragment.streams

    def write(chunk: memoryview | bytes) -> None:
        target.write(chunk)
        if live:
            target.flush()

    with text_of(job.fragment, within) as read:
        return splice(read, write, columns=columns, predicted=predicted)


def _convert(job: Job, target: BinaryIO, predictor: Predictor) -> int:
    """Write another format than the input's."""
    import pyarrow as pa

    from calibcli.writers.arrow import float_column, with_fields

    batches = reader_of(job.fragment.format).batches_of_all(job.fragment, job.chosen)
    schema = with_fields(reader_of(job.fragment.format).schema(job.fragment, job.chosen), job.names)

    def widened() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            added = [float_column(values) for values in predictor(batch.column(job.chosen.score))]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=schema)

    if job.kind is DataFormat.PARQUET:
        from calibcli.writers import parquet

        return parquet.write_batches(widened(), target, schema=schema)
    from calibcli.writers import csv

    delimiter = "\t" if job.kind is DataFormat.TSV else ","
    return csv.write_batches(widened(), target, schema=schema, delimiter=delimiter)
