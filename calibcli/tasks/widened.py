"""A file with more columns: what the two kinds of `apply` have in common."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, BinaryIO

import pyarrow as pa

from calibcli.errors import UsageProblem
from calibcli.names import DataFormat
from calibcli.outputs import new_file
from calibcli.readers import reader_of
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment
from calibcli.readers.intake import Intake
from calibcli.suffixes import compression_of, format_of
from calibcli.table.score_table import Floats
from calibcli.writers.arrow import column_of
from calibcli.writers.compressed import compressed
from calibcli.writers.errors import copy_errors

Added = Sequence["Floats | pa.Array[Any]"]


@dataclass(frozen=True, slots=True)
class Widening:
    """
    What is written where.

    Args:
        fragment: The input as one fragment.

        chosen: The columns that the new ones are made of.

        kind: Format of the output.

        fields: The new columns.

        made: From the chosen columns of some rows to the new ones; called in the order of the file.

        intake: Checks the rows on the way, and counts them.

        width: How many numbers a row of the output holds, where it holds many.
    """

    fragment: Fragment
    chosen: ChosenColumns
    kind: DataFormat
    fields: tuple["pa.Field[Any]", ...]
    made: Callable[[pa.RecordBatch], Added]
    intake: Intake
    width: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the new columns."""
        return tuple(field.name for field in self.fields)


def refuse_names(names: Sequence[str], header: Sequence[str], *, shown: str) -> None:
    """
    Refuse new columns without a name, or with that of another.

    Args:
        names: The new columns.

        header: The columns that are there.

        shown: The file's name in messages.

    Raises:
        UsageProblem: If there is one.
    """
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


def output_format(output: str, fragment: Fragment) -> DataFormat:
    """
    Return the format of an output: what its name promises, or else that of the input.

    Raises:
        UsageProblem: If it would be Parquet within another compression, which no reader takes.
    """
    kind = format_of(output) or fragment.format
    if kind is DataFormat.PARQUET and compression_of(output) is not None:
        msg = f"{output}: Parquet is compressed inside, and cannot be read from within another compression"
        raise UsageProblem(msg, f"name it {PurePath(output).with_suffix('').with_suffix('.parquet')}")
    return kind


def write_widened(job: Widening, output: str) -> int:
    """
    Write the rows with the new columns; return how many.

    Raises:
        OutputProblem: If the output cannot be written.

        InputProblem: If something is wrong with the input; then there is no output.
    """
    with (
        new_file(output) as raw,
        compressed(raw, output) as target,
        copy_errors(job.fragment.shown),
    ):
        return _write(job, target)


def text_note(job: Widening) -> tuple[str, ...]:
    """Say what became of the types of columns that had none."""
    if job.kind is not DataFormat.PARQUET or job.fragment.format is DataFormat.PARQUET:
        return ()
    if job.chosen.probs is not None:
        return ("columns other than those of the classes and the new ones were written as text",)
    *others, last = (repr(name) for name in (job.chosen.score, *job.names))
    return (f"columns other than {', '.join(others)} and {last} were written as text",)


def _write(job: Widening, target: BinaryIO) -> int:
    if job.fragment.format is not job.kind:
        return _convert(job, target)
    if job.kind is DataFormat.PARQUET:
        from calibcli.writers.parquet import copy_with_fields

        return copy_with_fields(
            job.fragment.location,
            target,
            like=job.chosen.score,
            fields=job.fields,
            made=job.made,
            shown=job.fragment.shown,
            width=job.width,
        )
    return _splice(job, target)


def _splice(job: Widening, target: BinaryIO) -> int:
    """Add fields to every line of a text file."""
    from calibcli.readers.csv import layout, numbers_of_block, text_of
    from calibcli.writers.splice import NewColumns, splice

    within = layout(job.fragment)

    def predicted(block: bytes) -> Added:
        before = job.intake.findings.rows
        return job.made(numbers_of_block(block, job.chosen.scores, within=within, rows_before=before))

    columns = NewColumns(job.names, within.delimiter, blank=len(within.names) == 1, shown=within.shown)
    live = job.fragment.streams

    def write(chunk: memoryview | bytes) -> None:
        target.write(chunk)
        if live:
            target.flush()

    with text_of(job.fragment, within) as read:
        return splice(read, write, columns=columns, predicted=predicted)


def _convert(job: Widening, target: BinaryIO) -> int:
    """Write another format than the input's."""
    batches = reader_of(job.fragment.format).batches_of_all(job.fragment, job.chosen)
    schema = reader_of(job.fragment.format).schema(job.fragment, job.chosen)
    for field in job.fields:
        schema = schema.append(field)

    def widened() -> Iterator[pa.RecordBatch]:
        for batch in batches:
            added = [column_of(values) for values in job.made(batch)]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=schema)

    if job.kind is DataFormat.PARQUET:
        from calibcli.writers import parquet

        return parquet.write_batches(widened(), target, schema=schema, width=job.width)
    from calibcli.writers import csv

    delimiter = "\t" if job.kind is DataFormat.TSV else ","
    return csv.write_batches(widened(), target, schema=schema, delimiter=delimiter)
