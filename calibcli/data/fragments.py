"""The input cut into numbered fragments, in an order that no number of workers changes, with columns.

A Parquet file gives runs of row groups; a file of any other format is one fragment. A fragment with the
columns of its file and of its path is a piece: what one item of work needs to know of the input.
"""

import csv
import io
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import or_
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa

from calibcli.data.arrays import Column, floats, is_number, numbers, texts, value_type
from calibcli.data.columns import (
    NAME_THE_LABEL,
    NAME_THE_SCORE,
    Header,
    ResolvedColumns,
    classes_of_apply,
    fitting_scores,
    is_score_pattern,
    resolve,
    same_again,
)
from calibcli.data.files import (
    Found,
    InMemory,
    InputFile,
    found_in,
    is_read_once,
    read_errors,
    shown_path,
    stamp_of,
)
from calibcli.data.formats import MAGIC_BYTES, compression_in, format_of, keeps_ascii, kind_of
from calibcli.data.groups import can_be_groups, groups_of
from calibcli.data.objects import content_of, is_object
from calibcli.data.outputs import bytes_from
from calibcli.data.pipes import STDIN, Pipe, hand_on, handed_on
from calibcli.data.readers import Fragment, opened_bytes, partitions_of, reader_of
from calibcli.errors import CalibcliError, IdleOption, InputProblem
from calibcli.families.formats import STREAM
from calibcli.names import LFS_POINTER, DataFormat, Sign
from calibcli.options.conditions import Condition
from calibcli.options.numerals import folded, reads_as_number, without_thousands
from calibcli.options.rows import AS_FOUND, Columns, InputFormat, RowSource
from calibcli.values import dataclass, replace

# A fragment of a Parquet file has at least so many rows, unless it is the last of its file.
FRAGMENT_ROWS = 2_000_000

# After so many files that cannot be read no further ones are tried.
MOST_REFUSED = 10
_MOST_HINTS = 3


def list_fragments(
    inputs: Sequence[RowSource] | Found, *, input_format: InputFormat = AS_FOUND
) -> list[Fragment]:
    found = inputs if isinstance(inputs, Found) else found_in(inputs)
    fragments: list[Fragment] = []
    refused: list[CalibcliError] = []
    index = 0
    for file in found.files:
        if file.path in found.unopened:
            # Counted as a fragment, so that what is drawn for the others is the same.
            index += 1
            continue
        try:
            for part in _parts(_whole(file, input_format)):
                fragments.append(replace(part, index=index))
                index += 1
        except InputProblem as problem:
            refused.append(problem)
            if len(refused) == MOST_REFUSED:
                break
    if refused:
        raise all_refused(refused)
    if not found.unopened:
        _refuse_unused(input_format, fragments)
    return fragments


def all_refused(refused: Sequence[CalibcliError]) -> CalibcliError:
    """Return the first of some problems with files, with what the others say."""
    first, *others = refused
    if others:
        more = " or more" if len(refused) == MOST_REFUSED else ""
        hints = dict.fromkeys(one.hint for one in refused if one.hint is not None)
        first.message = (
            f"{len(refused)}{more} files cannot be used: {'; '.join(one.message for one in refused)}"
        )
        first.hint = "; ".join(list(hints)[:_MOST_HINTS]) or None
    return first


def found_for(
    inputs: Sequence[RowSource], columns: Columns, *, input_format: InputFormat = AS_FOUND
) -> Found:
    """Return the files of the inputs, and which are not opened: their paths say that no row is asked for.

    Where files hold such a column themselves, the rows decide; the first file tells whether they do. It is
    opened even if all are ruled out, so that a column that is lacking is named.
    """
    found = found_in(inputs)
    where = columns.rows.where
    paths = {file.path: partitions_of(file.path) for file in found.files if where and file.rows is None}
    ruled_out = {one: _ruled_out(paths, one, decimal=input_format.decimal or ".") for one in where}
    some = frozenset[str]().union(*(one.paths for one in ruled_out.values()))
    files = sorted(found.files, key=lambda file: file.path in some) if some else ()
    first = next((file for file in files if file.path in paths and not is_read_once(file.path)), None)
    if first is None:
        return found
    own = {folded(name) for name in reader_of(_whole(first, input_format)).header()}
    # A weight is a number, and no text, wherever it stands.
    own |= set() if columns.weight is None else {folded(columns.weight)}
    decided = [one for condition, one in ruled_out.items() if folded(condition.column) not in own]
    unopened = frozenset[str]().union(*(one.paths for one in decided))
    unopened -= {first.path} if len(unopened) == len(found.files) else set()
    return replace(found, unopened=unopened, alike=tuple(text for one in decided for text in one.alike))


@dataclass(frozen=True, slots=True)
class _RuledOut:
    """Paths of which no row satisfies a condition, and values there that differ from it in capitals alone."""

    paths: frozenset[str]
    alike: tuple[str, ...]


def _ruled_out(
    paths: Mapping[str, tuple[tuple[str, str | None], ...]], condition: Condition, *, decimal: str
) -> _RuledOut:
    from calibcli.data.selection import unsatisfied

    column = folded(condition.column)
    told = {path: [value for name, value in found if folded(name) == column] for path, found in paths.items()}
    # A path that says two things of a column is refused once it is opened.
    values = {path: found[0] for path, found in told.items() if len(found) == 1}
    different = [value for value in dict.fromkeys(values.values()) if value is not None]
    out, alike = unsatisfied(_texts_of(different), condition, decimal=decimal)
    never = {None, *(value for value, is_out in zip(different, out.tolist(), strict=True) if is_out)}
    return _RuledOut(frozenset(path for path, value in values.items() if value in never), tuple(alike))


def looked_at(
    inputs: Sequence[RowSource], columns: Columns, *, input_format: InputFormat = AS_FOUND
) -> Fragment:
    """Return the first fragment, to look at its header: whoever reads the rows gets all that a pipe gives."""
    first = found_for(inputs, columns, input_format=input_format).opened[0]
    fragment = next(_parts(_whole(first, input_format)))
    if fragment.pipe is not None:
        hand_on(fragment.path, fragment.pipe)
    return fragment


def _refuse_unused(requested: InputFormat, fragments: Sequence[Fragment]) -> None:
    """Refuse what was said of text where no file is text."""
    shown, found = fragments[0].shown, fragments[0].format.value
    for option, value in (("delimiter", requested.delimiter), ("decimal", requested.decimal)):
        if value is not None and not any(one.format.is_csv for one in fragments):
            msg = f"--{option} is for CSV, and {shown} is {found}"
            raise IdleOption(msg, "leave it out", options=(option,))
    if requested.encoding is not None and not any(one.format.is_text for one in fragments):
        msg = f"--encoding is for text, and {shown} is {found}"
        raise IdleOption(msg, "leave it out", options=("encoding",))


# What stands in a clone in place of a large file.
_POINTER = LFS_POINTER.encode()

# Enough of a compressed file for its first block.
_PACKED = 1 << 20


def _whole(file: InputFile, input_format: InputFormat) -> Fragment:
    """Return a file as one fragment."""
    path = file.path
    requested = input_format if file.forced is None else replace(input_format, format=file.forced)
    if file.rows is not None:
        return Fragment(0, path, InMemory.ROWS, rows=file.rows)
    shown = shown_path(path)
    with read_errors(path):
        # Before the first byte is looked at.
        stamp = stamp_of(path)
        pipe = _pipe(path)
        head = _head(path, MAGIC_BYTES) if pipe is None else pipe.head(MAGIC_BYTES)
    if not head:
        msg = f"{shown} is empty"
        raise InputProblem(msg, "leave it out, or write it anew: even a table without rows has a header")
    if head == _POINTER[:MAGIC_BYTES] and pipe is None and _head(path, len(_POINTER)) == _POINTER:
        msg = f"{shown} is a pointer of Git LFS, and not the file itself"
        raise InputProblem(msg, "fetch it: git lfs pull")
    inside = _inside(head, path, pipe)
    kind, compression = kind_of(head, shown, requested=requested, inside=inside)
    text = requested if kind.is_text else AS_FOUND
    whole = Fragment(
        0,
        path,
        kind,
        compression,
        pipe=pipe,
        folder=_folder(path),
        delimiter=text.delimiter if kind.is_csv else None,
        encoding=text.encoding,
        decimal=text.decimal if kind.is_csv else None,
        partitions=partitions_of(path),
        stamp=stamp,
    )
    if pipe is not None and not _can_stream(whole, head):
        pipe.spooled()
    return whole


def _can_stream(whole: Fragment, head: bytes) -> bool:
    """Whether what comes through a pipe can be read once, from its beginning, and its header looked at."""
    if whole.compression is not None or not keeps_ascii(whole.encoding):
        return False
    return whole.format.is_text or (whole.format is DataFormat.ARROW and head.startswith(STREAM))


def _folder(path: str) -> str:
    """Return the directory that a path counts from; none where it names a place by itself."""
    there = path == STDIN or is_object(path) or os.path.isabs(path)  # noqa: PTH117 - asked for every file
    return "" if there else os.getcwd()  # noqa: PTH109


def _pipe(path: str) -> Pipe | None:
    """Return the stream behind a path that can be read only once."""
    if path == STDIN:
        if sys.stdin is None:
            msg = "standard input is closed"
            raise InputProblem(msg, "name a file, or pipe one in")
        stream = bytes_from(sys.stdin)
        return handed_on(path, stream) or Pipe(stream)
    if not is_read_once(path):
        return None
    return handed_on(path) or Pipe(Path(path).open("rb"), owned=True)


def _head(path: str, size: int) -> bytes:
    if is_object(path):
        return content_of(path, size)
    with Path(path).open("rb") as file:
        return file.read(size)


def _inside(head: bytes, path: str, pipe: Pipe | None) -> bytes | None:
    """Return how what is compressed begins, where no name says what it is; None of anything else."""
    compression = compression_in(head)
    if compression is None or format_of(path) is not None:
        return None
    with read_errors(path):
        packed = _head(path, _PACKED) if pipe is None else pipe.head(_PACKED)
    with (
        suppress(OSError, ValueError),
        pa.CompressedInputStream(pa.BufferReader(packed), compression.value) as file,
    ):
        return bytes(file.read(MAGIC_BYTES))
    # What cannot be unpacked is refused by its reader.
    return None


def _parts(whole: Fragment) -> Iterator[Fragment]:
    """Cut a Parquet file, and rows in memory as if they stood in one, into runs of row groups."""
    before = rows = 0
    run: list[int] = []
    sizes = reader_of(whole).row_group_rows()
    for group, size in enumerate(sizes):
        run.append(group)
        rows += size
        if rows >= FRAGMENT_ROWS or group == len(sizes) - 1:
            yield replace(whole, row_groups=tuple(run), first_row=before)
            before, rows, run = before + rows, 0, []
    if not sizes:
        yield whole


@dataclass(frozen=True, slots=True)
class Piece:
    """An item of work: all that a worker elsewhere is sent, however many files there are."""

    fragment: Fragment
    columns: ResolvedColumns


def pieces_of(fragments: Sequence[Fragment], resolved: Mapping[str, ResolvedColumns]) -> list[Piece]:
    return [Piece(fragment, resolved[fragment.path]) for fragment in fragments]


# How types are written whose rows may hold several numbers.
_LIST = r"list\w*<|struct|extension|, \d+\)"

# What names of columns of several classes usually begin with.
_STARTS = ("p_", "prob_", "proba_", "probs_", "probability_", "logit_", "logits_", "logprob_")


def guessed_classes(fragment: Fragment, header: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that seem to hold probabilities of classes: one of lists, or some named alike."""
    reader = reader_of(fragment)
    types = {name: kind for name, kind in reader.kinds() if re.search(_LIST, kind)}
    lists = tuple(name for name in header if name in types and reader.list_length(name))
    if lists:
        # Beside a list that `apply` wrote stands its most probable class.
        return next(((name,) for name in lists if f"{name}_class" in header), lists[:1])
    applied = classes_of_apply(header)
    if len(applied) > 1:
        return applied
    alike = (tuple(name for name in header if name.startswith(start)) for start in _STARTS)
    return next((names for names in alike if len(names) > 1), ())


# What a column of text is called whose values are numbers once --decimal is a comma.
DECIMAL_COMMA = "number with a decimal comma"
# So many lines of text are looked at for what they hold.
_LOOKED_AT = 1_000


def kinds_as_read(fragment: Fragment, header: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Return columns with their types, those of plain text with what their first values read as."""
    reader, path, plain = reader_of(fragment), Path(fragment.path), (DataFormat.CSV, DataFormat.TSV)
    if fragment.format not in plain or fragment.pipe is not None or not path.is_file():
        return reader.kinds()
    delimiter = fragment.delimiter or ("," if fragment.format is DataFormat.CSV else "\t")
    seen, told = [0] * len(header), partial(_reads_as, decimal=fragment.decimal)
    try:
        # Letters in another encoding change nothing of what numbers are.
        with (
            opened_bytes(fragment) as stored,
            io.TextIOWrapper(
                cast("IO[bytes]", stored), fragment.encoding or "utf-8-sig", errors="replace", newline=""
            ) as file,
        ):
            rows = csv.reader(islice(file, 1 + _LOOKED_AT), delimiter=delimiter)
            next(rows, None)
            # One row after the other: a file may have a million columns.
            for row in rows:
                if len(row) == len(header):
                    seen = list(map(or_, seen, map(told, row)))
    except (OSError, ValueError, LookupError, csv.Error):
        # Not what it seems: whoever reads the rows says so.
        return reader.kinds()
    words = {kinds: _word_of(kinds) for kinds in set(seen)}
    return tuple(zip(header, map(words.__getitem__, seen), strict=True))


# What a text reads as; of several texts all that they do.
_WHOLE, _NUMBER, _COMMA, _FLAG, _TEXT, _THOUSANDS = 1, 2, 4, 8, 16, 32


def _reads_as(text: str, *, decimal: str | None) -> int:
    """Return what a text reads as, 0 where it is missing."""
    told = text.strip()
    number = told.replace(decimal or ".", ".")
    if reads_as_number(number):
        return _WHOLE if number.removeprefix("-").isdecimal() else _NUMBER
    from calibcli.data.score_words import MISSING

    lowered = told.casefold()
    if lowered in MISSING:
        return 0
    if lowered in {"true", "false"}:
        return _FLAG
    # Whoever reads it as a number says how: to leave it out would be to compare without it.
    if decimal is not None or not reads_as_number(told.replace(",", ".")):
        return _TEXT
    return _COMMA if without_thousands(told) == told else _THOUSANDS


def _word_of(kinds: int) -> str:
    """Return what a column is called whose texts read as these."""
    numbers = _WHOLE | _NUMBER
    called = {"empty": 0, "whole number": _WHOLE, "true/false": _FLAG, "number": numbers}
    # A comma such as that of 1,024 stands before decimals where another one does.
    called |= {DECIMAL_COMMA: numbers | _COMMA | _THOUSANDS * bool(kinds & _COMMA)}
    return next((word for word, of_these in called.items() if not kinds & ~of_these), "text")


def with_fitting_scores(
    inputs: Sequence[RowSource], columns: Columns, *, input_format: InputFormat = AS_FOUND
) -> Columns:
    """Return columns with the scores of the first file that fit a pattern, of JSON those of every row.

    What comes through a pipe is kept for whoever reads it. Where rows are limited the rest is not read.
    """
    if not any(map(is_score_pattern, (columns.score, *columns.others))):
        return columns
    first = looked_at(inputs, columns, input_format=input_format)
    reader = reader_of(first)
    whole = reader.whole_kinds() if columns.rows.limit is None else ()
    own = dict(whole) | dict(kinds_as_read(first, reader.header()))
    if first.format.is_csv and set(own.values()) == {"text"}:
        # Nobody has looked: whoever reads the rows says what is no number.
        own = dict.fromkeys(own, "number")
    outside = tuple(name for name, _ in first.partitions)
    return fitting_scores(columns, own, Header(tuple(own), first.shown, outside))


# How the name of a column ends that is the probability of label 1.
_ONES = ("1", "yes", "true", "pos", "positive", "event")


def one_of_two(fragment: Fragment, probs: Sequence[str]) -> str | None:
    """Return which of two columns is the probability of label 1: the second, unless the first says so.

    Columns that are not those of two classes, since they do not sum to 1, are two scores, or two labels.
    """
    if len(probs) != 2 or fragment.pipe is not None or not _sum_to_one(fragment, probs):
        return None
    return next(_called_one(probs), probs[-1])


def are_named_otherwise(probs: Sequence[str]) -> bool:
    """Whether no name of several columns is that of label 1, so that labels of 0 and 1 are none of theirs."""
    return len(probs) > 1 and next(_called_one(probs), None) is None


def _called_one(probs: Sequence[str]) -> Iterator[str]:
    start = len(os.path.commonprefix(list(probs)))  # noqa: RUF071 - of letters, not of folders
    return (name for name in probs if folded(name[start:]) in _ONES)


def _sum_to_one(fragment: Fragment, probs: Sequence[str]) -> bool:
    """Whether the first rows of columns do, where none is missing."""
    from calibcli.data.class_intake import sums_off

    header = Header(probs, fragment.shown)
    found = resolve(Columns(probs[0], others=tuple(probs[1:]), labelled=False), header)
    with suppress(InputProblem):
        for batch in reader_of(fragment).batches(replace(found, decimal=fragment.decimal or ".")):
            stored = [batch.column(name) for name in probs]
            if not all(is_number(value_type(one.type)) for one in stored):
                return False
            columns, there = list(map(floats, stored)), np.ones(batch.num_rows, np.bool_)
            for one in columns:
                there &= True if one.missing is None else ~one.missing
            off, sums = sums_off(np.column_stack([one.values for one in columns])[there])
            return bool(sums.size) and not off.any()
    return False


def asking_for(probs: tuple[str, ...]) -> str:
    """Return the option that names columns of several classes."""
    start = os.path.commonprefix(probs)  # noqa: RUF071 - of letters, not of folders
    start = next((one for one in _STARTS if start.startswith(one)), start[: start.rfind("_") + 1])
    return f"--probs {shlex.quote(probs[0] if len(probs) == 1 or not start else f'{start}*')}"


def columns_of(
    fragment: Fragment, columns: Columns, *, first: ResolvedColumns | None = None
) -> ResolvedColumns:
    reader = reader_of(fragment)
    header = reader.header()
    found = partial(_found, fragment, columns, first=first)
    try:
        try:
            return found(header)
        except InputProblem:
            # The key may be in later rows than those that were looked at.
            every = reader.whole_header()
            if every == header:
                raise
            return found(every)
    except InputProblem as problem:
        unsaid = columns.score is None and problem.hint == NAME_THE_SCORE
        lacking = columns.score is not None and columns.score not in header and problem.hint is None
        requested = columns.several is None and columns.labelled and (unsaid or lacking)
        probs = guessed_classes(fragment, header) if requested else ()
        if (one := one_of_two(fragment, probs)) is not None:
            problem.hint = f"name {one!r} with --score: of two classes one probability is enough"
        elif probs:
            first_of = f"{NAME_THE_SCORE}, or " if unsaid else "name "
            problem.hint = f"{first_of}several classes with {asking_for(probs)}"
        elif problem.hint in {None, NAME_THE_SCORE, NAME_THE_LABEL} and (within := reader.rows_within()):
            problem.hint = f"if the rows stand within {within!r}, jq -c '.[] | .[]' FILE makes a line of each"
        elif first is not None and problem.hint is None:
            problem.hint = (
                "the first file has it: a pattern in quotes, such as 'preds/2024-*', names those that do"
            )
        raise


def batches_of(fragment: Fragment, resolved: ResolvedColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment, with those that its path stands for."""
    stored = {folded(name): name for name in resolved.stored}
    twice = [(stored[folded(name)], value) for name, value in fragment.partitions if folded(name) in stored]
    rows = fragment.first_row
    for batch in reader_of(fragment).batches(resolved):
        for name, value in twice:
            _refuse_other(batch.column(name), value, name=name, shown=fragment.shown, rows=rows)
        rows += batch.num_rows
        yield with_path(batch, resolved, shown=fragment.shown)


def with_path(batch: pa.RecordBatch, resolved: ResolvedColumns, *, shown: str) -> pa.RecordBatch:
    """Return rows of a file with the columns that its path stands for."""
    if not resolved.from_path:
        return batch
    columns = list(batch.columns)
    for name, value in resolved.from_path:
        column = _repeated(value, batch.num_rows)
        as_numbers = name in resolved.numbers
        columns.append(_as_numbers(column, name, shown) if as_numbers else column)
    names = [*batch.schema.names, *(name for name, _ in resolved.from_path)]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _found(
    fragment: Fragment,
    columns: Columns,
    header: tuple[str, ...],
    *,
    first: ResolvedColumns | None,
) -> ResolvedColumns:
    own = {folded(name) for name in header} if fragment.partitions else ()
    outside = {name: value for name, value in fragment.partitions if folded(name) not in own}
    whole = Header(header, fragment.shown, tuple(outside))
    found = same_again(first, whole) if first else resolve(columns, whole)
    _refuse_missing(fragment, (one for one in found.rows.conditions if one.column not in outside))
    requested = tuple((name, value) for name, value in outside.items() if name in found.names)
    for name, value in requested:
        other = next((one for column, one in fragment.partitions if column == name and one != value), value)
        if other != value:
            msg = (
                f"{fragment.shown}: the path says that column {name!r} is {other!r}, and that it is {value!r}"
            )
            raise InputProblem(msg, "rename one of the two folders, or name the files from a folder below")
    decimal = fragment.decimal or "."
    if requested or decimal != found.decimal:
        return replace(found, from_path=requested, decimal=decimal)
    return found


def _refuse_missing(fragment: Fragment, conditions: Iterable[Condition]) -> None:
    """Refuse a value that stands for a missing one and equals nothing: its rows would be left out unsaid."""
    named = [one for one in conditions if one.sign in (Sign.EQUAL, Sign.IN)]
    missing = {""}
    if named and fragment.format.is_csv:
        from calibcli.data.readers.csv import MISSING

        missing.update(MISSING)
    for text in (value.text.strip() for one in named for value in one.values):
        if text in missing:
            msg = f"{fragment.shown}: {text!r} in --where stands for a missing value, which equals nothing"
            way = "; in Parquet and JSON Lines it is a text" if text else ""
            raise InputProblem(msg, f"no condition selects rows without a value{way}")


def _refuse_other(column: Column, value: str | None, *, name: str, shown: str, rows: int) -> None:
    """Refuse a column of the file that is not what the path says, read as the column's type."""
    from calibcli.data.selection import equal_to

    if not can_be_groups(value_type(column.type)):
        return
    found = groups_of(column)
    lost = np.zeros(len(column), np.bool_) if found.missing is None else found.missing
    wrong = ~lost if value is None else lost | ~equal_to(column, value)
    if wrong.any():
        place = int(np.argmax(wrong))
        text = "missing" if lost[place] else repr(found.text[found.code[place]])
        said = "missing" if value is None else repr(value)
        msg = f"{shown}, column {name!r}: {text} at row {rows + place + 1:,}, and {said} in the path"
        raise InputProblem(msg, "the file and its path must agree on a column that both have")


def _repeated(value: str | None, rows: int) -> Column:
    if value is None:
        return cast("Column", pa.nulls(rows, pa.string()))
    one = _texts_of([value])
    place = numbers(np.zeros(rows, np.int32), pa.int32())
    return cast("Column", pa.DictionaryArray.from_arrays(cast("Any", place), cast("Any", one)))


def _texts_of(values: Sequence[str]) -> Column:
    return texts([one.encode() for one in values], pa.string())


def _as_numbers(column: Column, name: str, shown: str) -> Column:
    try:
        plain = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        return cast("Column", plain.cast(pa.float64()))
    except pa.ArrowInvalid as error:
        msg = f"{shown}: the path holds column {name!r}, and its value is not a number"
        raise InputProblem(msg, "is it the right column?") from error
