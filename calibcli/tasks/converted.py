"""Rows in another format than that of the input: which, what it can hold, and what it changes."""

import sys
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, BinaryIO, assert_never

import pyarrow as pa

from calibcli.ahead import made_ahead
from calibcli.errors import InputProblem, OutputProblem, UsageProblem
from calibcli.names import DataFormat
from calibcli.outputs import STDOUT
from calibcli.progress import Advance
from calibcli.readers import reader_of
from calibcli.readers.fragments import Fragment
from calibcli.readers.text import kept_bytes
from calibcli.streams import is_terminal
from calibcli.suffixes import compression_of, format_of, promise_of
from calibcli.tasks.destination import Destination
from calibcli.tasks.widening import Widening
from calibcli.writers.arrow import column_of

# Of more columns less rows are put together.
_MANY = 64


def output_format(to: Destination, fragment: Fragment) -> DataFormat:
    """
    Return the format of an output: what was asked for, what its name promises, or else that of the input.

    Raises:
        UsageProblem: If it is not written, its name promises another one, or it would be Parquet within
            another compression, which no reader takes.

        OutputProblem: If it is not text, and goes to a terminal.
    """
    promised = format_of(to.path)
    asked = to.shape.to
    if asked is not None and promised not in (None, asked):
        msg = f"{to.path} is the name of {promised.value if promised else ''}, and --to says {asked.value}"
        raise UsageProblem(msg, "leave out --to, or name the output otherwise")
    kind = asked or promised or fragment.format
    # Rows of JSON Lines are read from files of that name as well.
    other = None if promised is not None or kind is DataFormat.JSONL else promise_of(to.path)
    if other is not None:
        msg = f"{to.path} is the name of {other}, and rows are written as {kind.value}"
        raise UsageProblem(msg, "name it .csv, .tsv, .jsonl, .parquet or .arrow")
    if not isinstance(kind, DataFormat) or kind is DataFormat.NPZ:
        msg = f"{kind.value} is read, not written"
        raise UsageProblem(msg, "pass --to csv, tsv, jsonl, parquet or arrow")
    if kind is DataFormat.PARQUET and compression_of(to.path) is not None:
        msg = f"{to.path}: Parquet is compressed inside, and cannot be read from within another compression"
        raise UsageProblem(msg, f"name it {PurePath(to.path).with_suffix('').with_suffix('.parquet')}")
    if to.path == STDOUT and not kind.is_text and sys.stdout is not None and is_terminal(sys.stdout):
        msg = f"{kind.value} is not text, and standard output is a terminal"
        raise OutputProblem(msg, "name a file with -o, send it through a pipe, or pass --to csv")
    return kind


def refuse_types(job: Widening) -> None:
    """
    Refuse columns that the output has no values for.

    Raises:
        InputProblem: If there is one.
    """
    if job.kind is DataFormat.JSONL:
        from calibcli.writers.json_text import has_json as fits
    elif job.kind.is_csv:
        from calibcli.writers.csv import fits_csv as fits
    else:
        return
    for field in (*_staying(job, _schema(job)), *job.fields):
        if not fits(field.type):
            msg = f"{job.fragment.shown}, column {field.name!r}: {job.kind.value} cannot hold {field.type}"
            raise InputProblem(msg, "parquet and arrow hold any type, and --keep names what goes along")


def convert(job: Widening, target: BinaryIO, *, stream: bool, advance: Advance) -> int:
    """
    Write the rows in another format than the input's; return how many.

    Args:
        job: What is written.

        target: The file to write.

        stream: Whether Arrow is written as a stream.

        advance: Told how many rows each part had.
    """
    whole = _schema(job)
    schema = pa.schema([*_staying(job, whole), *job.fields]).with_metadata(whole.metadata)
    found = _widened(job, schema)
    batches = made_ahead(found) if job.ahead else found
    match job.kind:
        case DataFormat.PARQUET:
            from calibcli.writers import parquet

            width = max(job.width, len(schema) if len(schema) > _MANY else 1)
            return parquet.write_batches(batches, target, schema=schema, width=width, advance=advance)
        case DataFormat.ARROW:
            from calibcli.writers.arrow_ipc import opened_sink, write_batches

            with opened_sink(target, schema, stream=stream) as sink:
                return write_batches(batches, sink, advance=advance)
        case DataFormat.JSONL:
            from calibcli.writers import jsonl

            return jsonl.write_batches(batches, target, schema=schema, advance=advance)
        case DataFormat.CSV | DataFormat.TSV:
            from calibcli.writers import csv

            mark = "\t" if job.kind is DataFormat.TSV else ","
            return csv.write_batches(batches, target, schema=schema, delimiter=mark, advance=advance)
        case DataFormat.NPZ:
            msg = f"{job.kind.value} is not written"
            raise UsageProblem(msg)
        case _:
            assert_never(job.kind)


def conversion_notes(job: Widening) -> tuple[str, ...]:
    """Say in a sentence what another format or encoding changes; nothing where both stay."""
    return (*_format_notes(job), *_encoding_notes(job))


def _encoding_notes(job: Widening) -> tuple[str, ...]:
    """Say that text is of another encoding than it was."""
    encoding = job.fragment.encoding
    if encoding is None or not job.kind.is_text or (kept_bytes(job.fragment) and not job.converts):
        return ()
    return (f"written as UTF-8; the input was {encoding.upper()}",)


def _format_notes(job: Widening) -> tuple[str, ...]:
    """Say in a sentence what another format changes; nothing where the format stays."""
    read, kind = job.fragment.format, job.kind
    if not job.converts or (job.kept is not None and not job.kept):
        return ()
    if read in (DataFormat.CSV, DataFormat.TSV):
        return _text_notes(job)
    if kind.is_csv:
        return ("types were left behind: missing values are empty fields, and text is in quotes",)
    if read is DataFormat.JSONL:
        return ("numbers may be spelled otherwise, and objects were written as the text of their JSON",)
    if kind is DataFormat.JSONL:
        return ("dates and times were written as text, and numbers that JSON has not (NaN) as null",)
    return (f"types stay; rows are cut into parts and compressed anew, as is usual in {kind.value}",)


def _text_notes(job: Widening) -> tuple[str, ...]:
    """Say what became of columns that had no types."""
    if job.kind.is_csv:
        return ("fields hold the same text, in quotes",)
    if job.chosen.probs is not None:
        return ("columns other than those of the classes and the new ones were written as text",)
    *others, last = (repr(name) for name in (job.chosen.score, *job.names))
    return (f"columns other than {', '.join(others)} and {last} were written as text",)


def _widened(job: Widening, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    stay = schema.names[: len(schema) - len(job.fields)]
    for batch in reader_of(job.fragment.format).batches_of_all(job.fragment, job.chosen):
        added = [column_of(values) for values in job.made(batch)]
        yield pa.RecordBatch.from_arrays([*(batch.column(name) for name in stay), *added], schema=schema)


def _staying(job: Widening, whole: pa.Schema) -> "list[pa.Field[Any]]":
    return [field for field in whole if job.stays(field.name)]


def _schema(job: Widening) -> pa.Schema:
    return reader_of(job.fragment.format).schema(job.fragment, job.chosen)
