"""Files written with more columns: what `apply` adds, which columns go along, and in which format."""

import os
import re
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from calibcli.ahead import Progress, made_ahead
from calibcli.commands.predicting import Added, Predictor, refuse_names
from calibcli.data.arrays import column_of
from calibcli.data.columns import Header, ResolvedColumns, fitting_pattern, listing
from calibcli.data.formats import compression_of, data_suffix, format_of, promise_of
from calibcli.data.objects import is_object
from calibcli.data.outputs import is_terminal, new_file
from calibcli.data.readers import Fragment, kept_bytes, reader_of, unchanged
from calibcli.data.records import Block
from calibcli.data.writers import ROOMIER, Output, compressed, copy_errors, writer_of
from calibcli.errors import InputProblem, OutputProblem, UsageProblem, any_of
from calibcli.names import STDOUT, DataFormat
from calibcli.options.fitting import KEEP_ALL, KEEP_NONE
from calibcli.options.rows import names_of
from calibcli.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class AddedColumns:
    """What is written where.

    Args:
        predictor: Makes the new columns of rows on the way, checks the rows, and counts them.
        resolved: The columns that the new ones are made of, and which others are read.
        kept: The other columns that go along; None for all.
        stream: Whether Arrow goes to where nobody can look up the end of a file.
    """

    fragment: Fragment
    kind: DataFormat
    predictor: Predictor
    resolved: ResolvedColumns
    kept: Collection[str] | None = None
    stream: bool = False

    @property
    def fields(self) -> tuple["pa.Field[Any]", ...]:
        return self.predictor.fields

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @property
    def width(self) -> int:
        """How many numbers a row of the output holds, where it holds many."""
        classes = len(self.resolved.classes)
        return 2 * classes + len(self.fields) if classes else 1

    @property
    def converts(self) -> bool:
        """Whether rows are written anew, as in another format, and not copied with what else is there."""
        return self.fragment.format is not self.kind or self.kind not in _COPIES

    def stays(self, name: str) -> bool:
        return self.kept is None or name in self.kept

    @property
    def encoding(self) -> str:
        return self.fragment.encoding or "utf-8" if kept_bytes(self.fragment) else "utf-8"

    @property
    def ahead(self) -> bool:
        """Whether reading may run ahead of writing: not of what comes as it likes."""
        return not self.fragment.streams


_PATTERN = re.compile(r"[*?\[]")


def kept_columns(keep: str, header: Sequence[str], *, path: str) -> tuple[str, ...] | None:
    """Return the columns that go along, in the order of the file; None for all."""
    if keep == KEEP_ALL:
        return None
    if keep == KEEP_NONE:
        return ()
    found: set[str] = set()
    there = set(header)
    for one in names_of(keep) or ():
        if not one:
            msg = f"--keep {keep!r} names a column without a name"
            raise UsageProblem(msg, "write all, none, or names and patterns parted by commas")
        found |= {one} if one in there else _fitting(one, header, path=path)
    return tuple(name for name in header if name in found)


def _fitting(one: str, header: Sequence[str], *, path: str) -> set[str]:
    if not _PATTERN.search(one):
        return {Header(header, path).named(one)}
    found = set(fitting_pattern(one, header, option="--keep"))
    if not found:
        msg = f"{path}: no column fits --keep {one!r}; the columns are {listing(header)}"
        raise InputProblem(msg, "quote the pattern so that the shell leaves it alone: --keep 'x_*'")
    return found


# Of more columns less rows are put together.
_MANY = 64

_WRITTEN = [kind for kind in DataFormat if kind.is_written]


def output_format(path: str, requested: DataFormat | None, fragment: Fragment) -> DataFormat:
    """What was asked for, what its name promises, or else the format of the input."""
    promised = format_of(path)
    if requested is not None and promised not in (None, requested):
        msg = f"{path} is the name of {promised.value if promised else ''}, and --to says {requested.value}"
        raise UsageProblem(msg, "leave out --to, or name the output otherwise")
    kind = requested or promised or fragment.format
    # Rows of JSON Lines are read from files of that name as well.
    other = None if promised is not None or kind is DataFormat.JSONL else promise_of(path)
    if other is not None:
        msg = f"{path} is the name of {other}, and rows are written as {kind.value}"
        raise UsageProblem(msg, f"name it {any_of(*(one.facts.suffixes[0] for one in _WRITTEN))}")
    if not isinstance(kind, DataFormat) or kind not in _WRITTEN:
        msg = f"{kind.value} is read, not written"
        raise UsageProblem(msg, f"pass --to {any_of(*_WRITTEN)}")
    if kind.facts.seeks and compression_of(path) is not None:
        word = f"{kind.value.capitalize()} is compressed inside"
        msg = f"{path}: {word}, and cannot be read from within another compression"
        name = PurePath(path).with_suffix("").with_suffix(kind.facts.suffixes[0])
        raise UsageProblem(msg, f"name it {name}")
    if path == STDOUT and not kind.is_text and sys.stdout is not None and is_terminal(sys.stdout):
        msg = f"{kind.value} is not text, and standard output is a terminal"
        raise OutputProblem(msg, "name a file with -o, send it through a pipe, or pass --to csv")
    return kind


def refuse_types(job: AddedColumns) -> None:
    """Refuse columns that the output has no values for."""
    fits = writer_of(job.kind).fits
    if fits is None:
        return
    for field in (*_staying(job, _schema(job)), *job.fields):
        if not fits(field.type):
            msg = f"{job.fragment.shown}, column {field.name!r}: {job.kind.value} cannot hold {field.type}"
            raise InputProblem(msg, ROOMIER)


def _converted(job: AddedColumns, target: BinaryIO) -> Iterator[int]:
    """Write the rows in another format than the input's."""
    whole = _schema(job)
    schema = pa.schema([*_staying(job, whole), *job.fields]).with_metadata(whole.metadata)
    width = max(job.width, len(schema) if len(schema) > _MANY else 1)
    out = Output(job.kind, target, schema, job.fragment.shown, width=width, stream=job.stream)
    batches = reader_of(job.fragment).batches_of_all(job.resolved)
    made = (_with_added_columns(job, batch, schema) for batch in batches)
    return writer_of(job.kind).write_batches(made_ahead(made, job.ahead), out)


def conversion_notes(job: AddedColumns) -> tuple[str, ...]:
    """Say in a sentence what another format or encoding changes; nothing where both stay."""
    return (*_format_notes(job), *_encoding_notes(job), *_type_notes(job))


def _encoding_notes(job: AddedColumns) -> tuple[str, ...]:
    encoding = job.fragment.encoding
    if encoding is None or not job.kind.is_text or (kept_bytes(job.fragment) and not job.converts):
        return ()
    return (f"written as UTF-8; the input was {encoding.upper()}",)


def _type_notes(job: AddedColumns) -> tuple[str, ...]:
    """Say which columns of Parquet have lost the meaning of their values, which pyarrow reads without it."""
    if job.fragment.format is not DataFormat.PARQUET or job.kind.is_text:
        return ()
    from calibcli.data.readers.parquet import types_lost

    stay = [field.name for field in _staying(job, _schema(job))]
    lost = types_lost(job.fragment.location, stay).items()
    listed = ", ".join(f"{name!r} ({kind})" for name, kind in lost)
    said = f"values stay, but not their types in Parquet, which pyarrow does not write: {listed}"
    return (said,) if lost else ()


def _format_notes(job: AddedColumns) -> tuple[str, ...]:
    read, kind = job.fragment.format, job.kind
    if not job.converts or (job.kept is not None and not job.kept):
        return ()
    if read in (DataFormat.CSV, DataFormat.TSV):
        return _text_notes(job)
    if kind.is_csv:
        return ("CSV keeps no column types: missing values are empty fields, and text is in quotes",)
    if read is DataFormat.JSONL:
        return ("numbers may be spelled otherwise, and objects were written as the text of their JSON",)
    if kind is DataFormat.JSONL:
        return (
            "JSON has dates and times as text, and numbers that it cannot hold (NaN, infinite ones) as null",
        )
    return (f"types stay; rows are cut into parts and compressed anew, as is usual in {kind.value}",)


def _text_notes(job: AddedColumns) -> tuple[str, ...]:
    if job.kind.is_csv:
        return ("fields hold the same text, in quotes",)
    if job.resolved.probs is not None:
        return ("columns other than those of the classes and the new ones were written as text",)
    *others, last = (repr(name) for name in (job.resolved.score, *job.names))
    return (f"columns other than {', '.join(others)} and {last} were written as text",)


def _with_added_columns(job: AddedColumns, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    added = [column_of(values) for values in job.predictor(_as_read(batch, job))]
    stay = schema.names[: len(schema) - len(added)]
    kept = [_as_typed(batch.column(name), schema.field(name).type, job) for name in stay]
    return pa.RecordBatch.from_arrays([*kept, *added], schema=schema)


def _as_read(batch: pa.RecordBatch, job: AddedColumns) -> pa.RecordBatch:
    """Return rows with columns of the map as a fit reads them: text of CSV may stand for a missing value."""
    if not job.fragment.format.is_csv:
        return batch
    from calibcli.data.readers.csv import with_gaps

    for place, name in enumerate(batch.schema.names):
        if name in job.resolved.members:
            batch = batch.set_column(place, name, with_gaps(batch.column(name)))
    return batch


def _as_typed(column: "pa.Array[Any]", kind: pa.DataType, job: AddedColumns) -> "pa.Array[Any]":
    """Return a column, the numbers of scores that were read as texts, whose texts are null."""
    if column.type == kind or not pa.types.is_dictionary(column.type):
        return column
    from calibcli.data.score_words import worded_scores

    found = worded_scores(column, job.resolved)
    gone = np.isnan(found.scores.values)
    return pa.array(found.scores.values, kind, mask=gone if found.unknown is None else found.unknown | gone)


def _staying(job: AddedColumns, whole: pa.Schema) -> "list[pa.Field[Any]]":
    return [field for field in whole if job.stays(field.name)]


def _schema(job: AddedColumns) -> pa.Schema:
    return reader_of(job.fragment).schema(job.resolved)


# Text is read in blocks of so many bytes, for the bar.
_BLOCK = 1 << 21

_STREAM_SUFFIX = ".arrows"


def prepared(job: AddedColumns, keep: str) -> AddedColumns:
    """Return a job that knows which other columns go along, refused where the output cannot hold them."""
    fragment = job.fragment
    # All keys of JSON Lines take a pass over the file, which lines that stay lines can do without.
    every = job.converts or keep not in (KEEP_ALL, KEEP_NONE)
    reader = reader_of(fragment)
    header = reader.whole_header() if every else reader.header()
    kept = kept_columns(keep, header, path=fragment.shown)
    stay = header if kept is None else kept
    refuse_names(job.names, stay, shown=fragment.shown)
    needed = {*stay, *job.resolved.needed}
    carried = tuple(name for name in header if name in needed)
    resolved = replace(job.resolved, carried=None if kept is None else carried)
    job = replace(job, kept=None if kept is None else frozenset(kept), resolved=resolved)
    if job.converts:
        refuse_types(job)
    return job


def write_with_added_columns(
    job: AddedColumns, path: str, *, progress: Progress
) -> tuple[int, tuple[str, ...]]:
    """Write the rows with the new columns; return how many, and what is to be said of them."""
    # Arrow goes as a stream to where nobody can look up the end of a file.
    stream = path == STDOUT or data_suffix(path) == _STREAM_SUFFIX or compression_of(path) is not None
    job = replace(job, stream=stream)
    with (
        progress(_parts(job)) as advance,
        new_file(path) as raw,
        compressed(raw, path) as target,
        copy_errors(job.fragment.shown),
        unchanged([job.fragment]),
    ):
        rows = 0
        with closing(_written(job, target)) as parts:
            for count in parts:
                rows += count
                advance(count)
        # What the notes refuse has no output.
        return rows, job.predictor.notes


def _parts(job: AddedColumns) -> int:
    """Return how many parts the work has as far as that is known, and else one, which only moves."""
    fragment = job.fragment
    if fragment.pipe is not None or job.converts or fragment.compression is not None:
        return 1
    if fragment.format is DataFormat.PARQUET:
        return max(1, len(reader_of(fragment).row_group_rows()))
    if not fragment.format.is_text or is_object(fragment.location):
        return 1
    return 1 + os.path.getsize(fragment.location) // _BLOCK  # noqa: PTH202 - as it is opened


def _written(job: AddedColumns, target: BinaryIO) -> Generator[int, None, None]:
    """Write the rows, and yield how many have been written since the last time."""
    yield from (_converted if job.converts else _COPIES[job.kind])(job, target)


def _row_groups(job: AddedColumns, target: BinaryIO) -> Iterator[int]:
    from calibcli.data.writers.parquet import NewFields, copy_with_fields

    new = NewFields(job.fields, job.predictor, job.resolved.score, job.width, job.kept, job.resolved.needed)
    return copy_with_fields(job.fragment.location, target, new=new, shown=job.fragment.shown)


def _batches(job: AddedColumns, target: BinaryIO) -> Iterator[int]:
    """Add columns to the record batches of Arrow."""
    from calibcli.data.readers.arrow import ArrowReader
    from calibcli.data.writers.arrow_ipc import grown, opened_sink

    reader = ArrowReader(job.fragment)
    codec = reader.codec()
    with reader.contents(job.resolved.carried) as found:
        stay = [field for field in found.schema if job.stays(field.name)]
        schema = pa.schema([*stay, *job.fields]).with_metadata(found.schema.metadata)
        made = ((_with_added_columns(job, batch, schema), said) for batch, said in found.batches)
        with opened_sink(target, schema, stream=job.stream, codec=codec, footer=found.footer) as sink:
            known: dict[str, Any] = {}
            for batch, said in made_ahead(made, job.ahead):
                sink.write_batch(batch if job.stream else grown(batch, known), custom_metadata=said)
                yield batch.num_rows


def _lines(job: AddedColumns, target: BinaryIO) -> Iterator[int]:
    """Add keys to every line of JSON."""
    from calibcli.data.readers.jsonl import JsonReader
    from calibcli.data.writers.jsonl import NewKeys, splice_keys

    lines = (
        (content, () if batch is None else job.predictor(batch))
        for content, batch in JsonReader(job.fragment).blocks_and_batches(job.resolved)
    )
    keys = NewKeys(job.names, job.fragment.shown, job.encoding, job.kept)
    return splice_keys(made_ahead(lines, job.ahead), _writing(job, target), keys=keys)


def _splice(job: AddedColumns, target: BinaryIO) -> Iterator[int]:
    """Add fields to every line of a text file."""
    from calibcli.data.readers.csv import NUMBER, WORD, CsvReader, Parser, blocks_of
    from calibcli.data.writers.csv import NewColumns, splice

    reader = CsvReader(job.fragment)
    scores = job.resolved.scores
    within = reader.layout(job.resolved.own_scores)
    types = dict.fromkeys(scores, WORD if job.resolved.requested.in_words else NUMBER) | dict.fromkeys(
        job.resolved.needed[len(scores) :], WORD
    )

    parser = Parser(within, job.resolved, types)

    def predicted(block: Block) -> Added:
        return job.predictor(parser.rows_of(block, job.predictor.intake.findings.rows))

    names = within.names
    stay = tuple(place for place, name in enumerate(names) if job.stays(name))
    columns = NewColumns(
        job.names,
        within.delimiter,
        shown=within.shown,
        encoding=job.encoding,
        kept=None if job.kept is None else stay,
        fields=len(names),
        decimal=within.decimal,
    )
    with reader.text(within) as read:
        write = _writing(job, target)
        cut = blocks_of(read, within)
        yield from splice(cut, write, columns=columns, predicted=predicted, ahead=job.ahead)


def _writing(job: AddedColumns, target: BinaryIO) -> Callable[[memoryview | bytes], None]:
    """Return what writes, and lets a pipe have its rows at once where they come from one."""
    live = job.fragment.streams

    def write(chunk: memoryview | bytes) -> None:
        target.write(chunk)
        if live:
            target.flush()

    return write


# Formats whose rows are copied with what else a file holds; rows of others are written anew.
_COPIES = {
    DataFormat.CSV: _splice,
    DataFormat.TSV: _splice,
    DataFormat.JSONL: _lines,
    DataFormat.PARQUET: _row_groups,
    DataFormat.ARROW: _batches,
}
