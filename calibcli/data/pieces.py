"""
A fragment with the columns of its file and of its path: what one piece
of work needs to know of the input.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from calibcli.data.arrays import Column, numbers, texts, value_type
from calibcli.data.column_names import NAME_THE_SCORE, folded
from calibcli.data.columns import ChosenColumns, resolve, same_again
from calibcli.data.fragment import Fragment
from calibcli.data.groups import can_be_groups, groups_of
from calibcli.data.readers import reader_of
from calibcli.errors import InputProblem
from calibcli.options.rows import Columns
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """
    An item of work.

    What is sent to a worker elsewhere is as much as the piece, however many files there are.
    """

    fragment: Fragment
    columns: ChosenColumns


def pieces_of(fragments: Sequence[Fragment], chosen: Mapping[str, ChosenColumns]) -> list[Piece]:
    """Return each fragment with the columns of its file."""
    return [Piece(fragment, chosen[fragment.path]) for fragment in fragments]


# How types are written whose rows may hold several numbers.
_LIST = re.compile(r"list|struct|extension|, \d+\)")

# What names of columns of several classes usually begin with.
_STARTS = ("p_", "prob_", "proba_", "probs_", "probability_")


def guessed_classes(fragment: Fragment, header: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that seem to hold probabilities of classes: one of lists, or some named alike."""
    reader = reader_of(fragment.format)
    types = dict(reader.kinds(fragment))
    lists = tuple(
        name for name in header if _LIST.search(types.get(name, "")) and reader.list_length(fragment, name)
    )
    if lists:
        return lists[:1]
    alike = (tuple(name for name in header if name.startswith(start)) for start in _STARTS)
    return next((names for names in alike if len(names) > 1), ())


def asking_for(probs: tuple[str, ...]) -> str:
    """Return the option that names columns of several classes."""
    start = next((one for one in _STARTS if len(probs) > 1 and probs[0].startswith(one)), None)
    return f"--probs {shlex.quote(probs[0] if start is None else f'{start}*')}"


def columns_of(
    fragment: Fragment, columns: Columns, *, first: ChosenColumns | None = None, labelled: bool = True
) -> ChosenColumns:
    """Find the columns of a file."""
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
        # The key may be in later rows than those that were looked at.
        every = reader_of(fragment.format).whole_header(fragment)
        if every == header:
            raise
        return _found(fragment, every, columns, first=first, labelled=labelled)


def batches_of(fragment: Fragment, chosen: ChosenColumns) -> Iterator[pa.RecordBatch]:
    """Stream the chosen columns of a fragment, with those that its path stands for."""
    batches = reader_of(fragment.format).batches(fragment, chosen)
    if not fragment.partitions:
        return batches
    stored = {folded(name): name for name in chosen.stored}
    twice = [(stored[folded(name)], value) for name, value in fragment.partitions if folded(name) in stored]
    return _with_path(batches, fragment, chosen, twice=twice)


def with_path(batch: pa.RecordBatch, chosen: ChosenColumns, *, shown: str) -> pa.RecordBatch:
    """Return rows of a file with the columns that its path stands for."""
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
    """Return a column of one value, or of none."""
    if value is None:
        return cast("Column", pa.nulls(rows, pa.string()))
    one = texts([value.encode("utf-8", "surrogateescape")], pa.string())
    place = numbers(np.zeros(rows, np.int32), pa.int32())
    return cast("Column", pa.DictionaryArray.from_arrays(cast("Any", place), cast("Any", one)))


def _as_numbers(column: Column, name: str, shown: str) -> Column:
    try:
        plain = column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
        return cast("Column", plain.cast(pa.float64()))
    except pa.ArrowInvalid as error:
        msg = f"{shown}: the path holds column {name!r}, and its value is not a number"
        raise InputProblem(msg, "is it the right column?") from error
