"""A file written with more columns: what the two kinds of `apply` have in common."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import BinaryIO

import pyarrow as pa

from calibcli.names import DataFormat
from calibcli.objects import is_object
from calibcli.options.maps import KEEP_ALL, KEEP_NONE
from calibcli.outputs import STDOUT, new_file
from calibcli.progress import Advance
from calibcli.readers import reader_of
from calibcli.readers.unchanged import unchanged
from calibcli.records import Block
from calibcli.suffixes import compression_of, data_suffix
from calibcli.tasks.converted import convert, refuse_types
from calibcli.tasks.destination import Destination
from calibcli.tasks.kept import kept_columns, whole_header
from calibcli.tasks.widening import Added, Widening, refuse_names
from calibcli.writers.compressed import compressed
from calibcli.writers.errors import copy_errors

# Text is read in blocks of so many bytes, for the bar.
_BLOCK = 1 << 21
_STREAM_SUFFIX = ".arrows"


def prepared(job: Widening, keep: str) -> Widening:
    """
    Return a job that knows which other columns go along, refused where the output cannot hold them.

    Args:
        job: The job.

        keep: Which other columns go along.

    Raises:
        UsageProblem: If a new column has the name of another.

        InputProblem: If there is no such column, or the output cannot hold its type.
    """
    fragment = job.fragment
    # All keys of JSON Lines take a pass over the file, which lines that stay lines can do without.
    every = job.converts or keep not in (KEEP_ALL, KEEP_NONE)
    header = whole_header(fragment) if every else reader_of(fragment.format).header(fragment)
    kept = kept_columns(keep, header, path=fragment.shown)
    stay = header if kept is None else kept
    refuse_names(job.names, stay, shown=fragment.shown)
    needed = {*stay, *job.chosen.needed}
    carried = tuple(name for name in header if name in needed)
    chosen = replace(job.chosen, carried=None if kept is None else carried)
    job = replace(job, kept=None if kept is None else frozenset(kept), chosen=chosen)
    if job.converts:
        refuse_types(job)
    return job


def write_widened(job: Widening, to: Destination) -> tuple[int, tuple[str, ...]]:
    """
    Write the rows with the new columns; return how many, and what is to be said of them.

    Raises:
        OutputProblem: If the output cannot be written.

        InputProblem: If something is wrong with the input; then there is no output.
    """
    with (
        to.progress(_parts(job)) as advance,
        new_file(to.path) as raw,
        compressed(raw, to.path) as target,
        copy_errors(job.fragment.shown),
        unchanged([job.fragment]),
    ):
        # What the notes refuse has no output.
        return _write(job, target, to.path, advance), job.notes()


def as_stream(output: str) -> bool:
    """Whether Arrow goes to an output as a stream: where nobody can look up the end of a file."""
    return output == STDOUT or data_suffix(output) == _STREAM_SUFFIX or compression_of(output) is not None


def _parts(job: Widening) -> int:
    """Return how many parts the work has as far as that is known, and else one, which only moves."""
    fragment = job.fragment
    if fragment.pipe is not None or job.converts or fragment.compression is not None:
        return 1
    if fragment.format is DataFormat.PARQUET:
        from calibcli.readers.parquet import row_group_rows

        return max(1, len(row_group_rows(fragment)))
    if not fragment.format.is_text or is_object(fragment.location):
        return 1
    return 1 + os.path.getsize(fragment.location) // _BLOCK  # noqa: PTH202 - as it is opened


def _write(job: Widening, target: BinaryIO, output: str, advance: Advance) -> int:
    if job.converts:
        return convert(job, target, stream=as_stream(output), advance=advance)
    match job.kind:
        case DataFormat.PARQUET:
            return _row_groups(job, target, advance)
        case DataFormat.ARROW:
            return _batches(job, target, stream=as_stream(output), advance=advance)
        case DataFormat.JSONL:
            return _lines(job, target, advance)
        case _:
            return _splice(job, target, advance)


def _row_groups(job: Widening, target: BinaryIO, advance: Advance) -> int:
    from calibcli.writers.parquet import NewFields, copy_with_fields

    new = NewFields(job.fields, job.made, job.chosen.score, job.width, job.kept, job.chosen.needed)
    return copy_with_fields(job.fragment.location, target, new=new, shown=job.fragment.shown, advance=advance)


def _batches(job: Widening, target: BinaryIO, *, stream: bool, advance: Advance) -> int:
    """Add columns to the record batches of Arrow."""
    from calibcli.readers.arrow import stored
    from calibcli.readers.arrow_codec import codec_of
    from calibcli.writers.arrow_ipc import copy_with_fields, opened_sink

    codec = codec_of(job.fragment)
    with stored(job.fragment, job.chosen.carried) as found:
        stay = [field for field in found.schema if job.stays(field.name)]
        schema = pa.schema([*stay, *job.fields]).with_metadata(found.schema.metadata)
        with opened_sink(target, schema, stream=stream, codec=codec, footer=found.footer) as sink:
            return copy_with_fields(
                found.batches, sink, schema=schema, made=job.made, ahead=job.ahead, advance=advance
            )


def _lines(job: Widening, target: BinaryIO, advance: Advance) -> int:
    """Add keys to every line of JSON."""
    from calibcli.readers.jsonl import blocks_and_batches
    from calibcli.writers.json_splice import Lines, NewKeys, splice_keys

    def lines() -> Iterator[Lines]:
        for content, batch in blocks_and_batches(job.fragment, job.chosen):
            yield Lines(content, () if batch is None else job.made(batch))

    keys = NewKeys(job.names, job.fragment.shown, job.encoding, job.kept)
    return splice_keys(lines(), _writing(job, target), keys=keys, ahead=job.ahead, advance=advance)


def _splice(job: Widening, target: BinaryIO, advance: Advance) -> int:
    """Add fields to every line of a text file."""
    from calibcli.readers.csv import NUMBER, WORD, blocks_of, layout, rows_of, text_of
    from calibcli.writers.splice import NewColumns, splice

    within = layout(job.fragment)

    scores = job.chosen.scores
    types = dict.fromkeys(scores, NUMBER) | dict.fromkeys(job.chosen.needed[len(scores) :], WORD)

    def predicted(block: Block) -> Added:
        before = job.intake.findings.rows
        return job.made(rows_of(block, job.chosen, within=within, types=types, rows_before=before))

    names, kept = within.names, None if job.kept is None else set(job.kept)
    columns = NewColumns(
        job.names,
        within.delimiter,
        shown=within.shown,
        encoding=job.encoding,
        kept=None if kept is None else tuple(place for place, name in enumerate(names) if job.stays(name)),
        fields=len(names),
        decimal=within.decimal,
    )
    with text_of(job.fragment, within) as read:
        write = _writing(job, target)
        cut = blocks_of(read, within)
        return splice(cut, write, columns=columns, predicted=predicted, ahead=job.ahead, advance=advance)


def _writing(job: Widening, target: BinaryIO) -> Callable[[memoryview | bytes], None]:
    """Return what writes, and lets a pipe have its rows at once where they come from one."""
    live = job.fragment.streams

    def write(chunk: memoryview | bytes) -> None:
        target.write(chunk)
        if live:
            target.flush()

    return write
