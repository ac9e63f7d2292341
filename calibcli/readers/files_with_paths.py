"""What a file gives: the columns that stand in it, and those that the directories of its path stand for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from calibcli.errors import InputProblem
from calibcli.names import DataFormat
from calibcli.options.rows import Columns
from calibcli.readers import reader_of
from calibcli.readers.classes_guessed import asking_for, guessed_classes
from calibcli.readers.columns import ChosenColumns, resolve
from calibcli.readers.columns_again import same_again
from calibcli.readers.decode import Column, value_type
from calibcli.readers.fragments import Fragment
from calibcli.readers.groups import can_be_groups, groups_of
from calibcli.readers.names_of_columns import NAME_THE_SCORE, folded


def columns_of(
    fragment: Fragment, columns: Columns, *, first: ChosenColumns | None = None, labelled: bool = True
) -> ChosenColumns:
    """
    Find the columns of a file.

    Args:
        fragment: The file, or a part of it.

        columns: What the user said.

        first: The columns of the first file, which are to be found again; None for the first one.

        labelled: Whether a label is read at all.

    Raises:
        InputProblem: If a column is neither in the file nor in its path.

        UsageProblem: If one column is to be two things.
    """
    header = reader_of(fragment.format).header(fragment)
    try:
        return _of_all_keys(fragment, header, columns, first=first, labelled=labelled)
    except InputProblem as problem:
        unsaid = columns.score is None and columns.several is None and labelled
        probs = guessed_classes(fragment, header) if unsaid and problem.hint == NAME_THE_SCORE else ()
        if probs:
            problem.hint = f"{NAME_THE_SCORE}, or several classes with {asking_for(probs)}"
        raise


def _of_all_keys(
    fragment: Fragment,
    header: tuple[str, ...],
    columns: Columns,
    *,
    first: ChosenColumns | None,
    labelled: bool,
) -> ChosenColumns:
    try:
        return _found(fragment, header, columns, first=first, labelled=labelled)
    except InputProblem:
        if fragment.format is not DataFormat.JSONL:
            raise
        from calibcli.readers.jsonl import every_key

        # The key may be in later rows than those that were looked at.
        return _found(fragment, every_key(fragment), columns, first=first, labelled=labelled)


def batches_of(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """
    Stream the chosen columns of a fragment, with those that its path stands for.

    Raises:
        InputProblem: If a value in the file is not the one in the path.
    """
    batches = reader_of(fragment.format).batches(fragment, chosen)
    if not fragment.partitions:
        return batches
    stored = {folded(name): name for name in chosen.stored}
    twice = [(stored[folded(name)], value) for name, value in fragment.partitions if folded(name) in stored]
    return _with_path(batches, fragment, chosen, twice=twice)


def with_path(batch: pa.RecordBatch, chosen: ChosenColumns, *, shown: str) -> pa.RecordBatch:
    """
    Return rows of a file with the columns that its path stands for.

    Raises:
        InputProblem: If such a column should be numbers, and is not.
    """
    if not chosen.from_path:
        return batch
    columns = list(batch.columns)
    for name, value in chosen.from_path:
        column = _repeated(value, batch.num_rows)
        as_numbers = name in (*chosen.scores, chosen.weight)
        columns.append(_as_numbers(column, name, shown) if as_numbers else column)
    names = [*batch.schema.names, *(name for name, _ in chosen.from_path)]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _found(
    fragment: Fragment,
    header: tuple[str, ...],
    columns: Columns,
    *,
    first: ChosenColumns | None,
    labelled: bool,
) -> ChosenColumns:
    own = {folded(name) for name in header}
    outside = {name: value for name, value in fragment.partitions if folded(name) not in own}
    if first is None:
        found = resolve(columns, header, path=fragment.shown, labelled=labelled, outside=tuple(outside))
    else:
        found = same_again(first, header, path=fragment.shown, outside=tuple(outside))
    asked = tuple((name, value) for name, value in outside.items() if name in found.names)
    for name, value in asked:
        other = next((one for column, one in fragment.partitions if column == name and one != value), value)
        if other != value:
            msg = (
                f"{fragment.shown}: the path says that column {name!r} is {other!r}, and that it is {value!r}"
            )
            raise InputProblem(msg, "rename one of the two folders, or name the files from a folder below")
    return replace(found, from_path=asked) if asked else found


def _with_path(
    batches: Iterator[pa.RecordBatch],
    fragment: Fragment,
    chosen: ChosenColumns,
    *,
    twice: Sequence[tuple[str, str | None]],
) -> Iterator[pa.RecordBatch]:
    rows = fragment.first_row
    for batch in batches:
        for name, value in twice:
            _refuse_other(batch.column(name), value, name=name, shown=fragment.shown, rows=rows)
        rows += batch.num_rows
        yield with_path(batch, chosen, shown=fragment.shown)


def _refuse_other(column: Column, value: str | None, *, name: str, shown: str, rows: int) -> None:
    """Refuse a column of the file that is not what the path says, read as the column's type."""
    from calibcli.readers.compared import equal_to

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
    """Return a column of one value, or of none."""
    if value is None:
        return cast("Column", pa.nulls(rows, pa.string()))
    content = value.encode("utf-8", "surrogateescape")
    ends = np.array([0, len(content)], np.int32)
    one = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(ends.data), pa.py_buffer(content)])
    zeros = np.zeros(rows, np.int32)
    place = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(zeros.data)])
    return cast("Column", pa.DictionaryArray.from_arrays(cast("Any", place), cast("Any", one)))


def _as_numbers(column: Column, name: str, shown: str) -> Column:
    try:
        plain = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        return cast("Column", plain.cast(pa.float64()))
    except pa.ArrowInvalid as error:
        msg = f"{shown}: the path holds column {name!r}, and its value is not a number"
        raise InputProblem(msg, "is it the right column?") from error
