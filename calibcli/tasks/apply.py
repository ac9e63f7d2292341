"""Add the recalibrated probability to every row of a file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from calibcli.artifacts.store import read_artifact
from calibcli.errors import UsageProblem
from calibcli.names import DataFormat, OnRange
from calibcli.outputs import new_file
from calibcli.readers import reader_of
from calibcli.readers.columns import ChosenColumns, Columns, resolve
from calibcli.readers.fragments import Fragment, list_fragments
from calibcli.readers.intake import Intake
from calibcli.reports.apply import ApplyReport
from calibcli.suffixes import compression_of, format_of
from calibcli.table.score_table import Floats
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
    score: str | None = None,
    name: str = "calibrated",
    on_range: OnRange = OnRange.ERROR,
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

        score: Name of the raw score column, or None to find the one with a usual name.

        name: Name of the new column.

        on_range: What becomes of a score outside its range.

        input_format: The format of the input, or None to look.

        force: Whether an existing output may be replaced.

    Raises:
        UsageProblem: If there are several inputs, or the new column has the name of another.

        OutputProblem: If the output exists or cannot be written.

        InputProblem: If something is wrong with the input; then there is no output.
    """
    if len(inputs) != 1:
        msg = f"{len(inputs)} inputs for one output"
        raise UsageProblem(msg, "apply them one by one")
    check_output(output, force=force, inputs=inputs, artifact=artifact)
    loaded = read_artifact(artifact)
    columns = Columns(score=score, scale=loaded.scale, on_range=on_range)
    fragment = only_file(inputs[0], input_format)
    return apply_map(loaded.recalibrator.predict, fragment, columns=columns, output=output, name=name)


def apply_map(
    predict: Callable[[Floats], Floats], fragment: Fragment, *, columns: Columns, output: str, name: str
) -> ApplyReport:
    """
    Apply a map to a file.

    Args:
        predict: From probabilities to probabilities.

        fragment: The file as one fragment.

        columns: Which column is the score, and what is to be done with its values.

        output: Where to write.

        name: Name of the new column.

    Raises:
        UsageProblem: If the new column has the name of another, or the output's name cannot be meant.
    """
    header = reader_of(fragment.format).header(fragment)
    chosen = resolve(columns, header, path=fragment.shown, labelled=False)
    if name in header:
        msg = f"{fragment.shown} has a column {name!r} already"
        raise UsageProblem(msg, "--name gives the new column another name")
    kind = format_of(output) or fragment.format
    _refuse_wrapped(output, kind)
    predictor = Predictor(predict, Intake(chosen, shown=fragment.shown))
    with new_file(output) as raw, compressed(raw, output) as target, copy_errors(fragment.shown):
        job = Job(fragment, chosen, kind, name)
        rows = _write(job, target, predictor)
    notes = chosen.notes
    if kind is DataFormat.PARQUET and fragment.format is not DataFormat.PARQUET:
        notes = (*notes, f"columns other than {chosen.score!r} and {name!r} were written as text")
    return ApplyReport(
        files=(fragment.path,),
        score=chosen.score,
        output=output,
        column=name,
        rows=rows,
        clipped=predictor.intake.findings.clipped,
        lowest=predictor.lowest,
        highest=predictor.highest,
        notes=notes,
    )


@dataclass(frozen=True, slots=True)
class Job:
    """
    What is written where.

    Args:
        fragment: The input.

        chosen: Its score column.

        kind: Format of the output.

        name: Name of the new column.
    """

    fragment: Fragment
    chosen: ChosenColumns
    kind: DataFormat
    name: str


class Predictor:
    """
    From a score column to the new column, remembering the range of what it gave.

    Args:
        predict: From probabilities to probabilities.

        intake: Checks the scores.
    """

    def __init__(self, predict: Callable[[Floats], Floats], intake: Intake) -> None:
        self.intake = intake
        self.lowest: float | None = None
        self.highest: float | None = None
        self._predict = predict

    def __call__(self, column: "pa.Array[Any]") -> Floats:
        """Return the new value of every row."""
        values = self._predict(self.intake.scores_of(column))
        if values.size:
            lowest, highest = float(values.min()), float(values.max())
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


def _write(job: Job, target: BinaryIO, predictor: Predictor) -> int:
    """Write the rows with the new column; return how many."""
    if job.fragment.format is not job.kind:
        return _convert(job, target, predictor)
    if job.kind is DataFormat.PARQUET:
        from calibcli.writers.parquet import copy_with_column

        return copy_with_column(
            job.fragment.location,
            target,
            score=job.chosen.score,
            name=job.name,
            predicted=predictor,
            shown=job.fragment.shown,
        )
    return _splice(job, target, predictor)


def _splice(job: Job, target: BinaryIO, predictor: Predictor) -> int:
    """Add a field to every line of a text file."""
    from calibcli.readers.csv import layout, scores_of_block, text_of
    from calibcli.writers.splice import NewColumn, splice

    within = layout(job.fragment)

    def predicted(block: bytes) -> Floats:
        before = predictor.intake.findings.rows
        return predictor(scores_of_block(block, job.chosen, within=within, rows_before=before))

    column = NewColumn(job.name, within.delimiter, blank=len(within.names) == 1, shown=within.shown)
    live = job.fragment.streams

    def write(chunk: memoryview | bytes) -> None:
        target.write(chunk)
        if live:
            target.flush()

    with text_of(job.fragment, within) as read:
        return splice(read, write, column=column, predicted=predicted)


def _convert(job: Job, target: BinaryIO, predictor: Predictor) -> int:
    """Write another format than the input's."""
    import pyarrow as pa

    from calibcli.writers.arrow import float_column

    batches = reader_of(job.fragment.format).batches_of_all(job.fragment, job.chosen)
    schema = (
        reader_of(job.fragment.format)
        .schema(job.fragment, job.chosen)
        .append(pa.field(job.name, pa.float64()))
    )

    def widened() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            added = float_column(predictor(batch.column(job.chosen.score)))
            yield pa.RecordBatch.from_arrays([*batch.columns, added], schema=schema)

    if job.kind is DataFormat.PARQUET:
        from calibcli.writers import parquet

        return parquet.write_batches(widened(), target, schema=schema)
    from calibcli.writers import csv

    delimiter = "\t" if job.kind is DataFormat.TSV else ","
    return csv.write_batches(widened(), target, schema=schema, delimiter=delimiter)
