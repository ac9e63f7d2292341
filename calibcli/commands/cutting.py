"""Rows cut into segments by the values of some columns, in a second pass over the input."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from calibcli.commands.gathering import Gathered, SecondPass
from calibcli.commands.through_maps import row_map
from calibcli.data.columns import alike_notes
from calibcli.documents.artifact import ClassArtifact
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import WeightMeaning
from calibcli.options.numerals import without_thousands
from calibcli.options.rows import Columns, RowRequest
from calibcli.options.segmenting import MOST_VALUES, Cutting
from calibcli.show.words import listed, rounded_words
from calibcli.stats.measures.segments import (
    ANY,
    Counts,
    Crossed,
    Entries,
    Segments,
    entries_of,
    segments_of,
    settles_labels,
)
from calibcli.stats.recalibrators.segments import SegmentColumn
from calibcli.stats.table.grid import Table
from calibcli.stats.table.levels import Levels
from calibcli.values import dataclass, replace

# More would be no list that anybody reads, and pay dearly for being many.
MOST_SEGMENTS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The segments of some rows; scores are kept to cells where `is_grid`."""

    found: Segments
    entries: Crossed
    levels: tuple[Levels, ...]
    is_grid: bool
    notes: tuple[str, ...]

    def where(self, level: Sequence[int]) -> tuple[str, ...]:
        return tuple(one.words[at] for one, at in zip(self.levels, level, strict=True) if at != ANY)

    def names(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.where(level) for level in self.found.level.tolist())


def refuse_segments(rows: RowRequest, cutting: Cutting) -> None:
    """Refuse what segments cannot be found for, before anything is read."""
    columns = rows.columns
    if not columns.on:
        msg = "segments without --on, the columns whose values make them"
        raise UsageProblem(msg, "name some, such as --on country,device")
    if columns.weight is not None and columns.weights_are is not WeightMeaning.FREQUENCY:
        msg = "segments need counts of rows, and importance weights are not counts"
        raise UsageProblem(msg, "pass --weights-are frequency for repeated rows, or leave out --weight")
    if columns.several is not None and rows.artifact is not None:
        msg = "segments of several classes are found without an artifact"
        raise UsageProblem(msg, "write the recalibrated rows with `calibcli apply` first")
    cutting.kinds(columns.on)


def cut_columns(
    gathered: Gathered, columns: Columns, cutting: Cutting, *, intervals: int = 4
) -> tuple[Levels, ...]:
    kinds = cutting.kinds(columns.on)
    levels = tuple(
        values.levels(most=cutting.most_values, categorical=kinds[place], intervals=intervals)
        for place, values in sorted(gathered.extras.values.items())
    )
    if math.prod(len(one.words) + 2 for one in levels) >= 1 << 62:
        msg = f"--on names {len(columns.on):,} columns of too many values to cross"
        raise UsageProblem(msg, "name fewer, or pass a smaller --max-values")
    return levels


def segments_in(evaluation: Gathered, rows: RowRequest, cutting: Cutting) -> Cut:
    """Return the segments of rows that were read for it, so that they can be read twice."""
    columns = rows.columns
    levels = cut_columns(evaluation, columns, cutting)
    again, limit = rows_again(evaluation), rows.reading.limit
    crossed = again.crossed(levels, depth=cutting.depth, limit=limit)
    entries = entries_of(crossed, [len(one.words) for one in levels])
    found = segments_of(entries, depth=cutting.depth)
    if found.size > MOST_SEGMENTS:
        msg = f"--on {','.join(columns.on)} makes {found.size:,} segments"
        raise UsageProblem(msg, f"at most {MOST_SEGMENTS:,}: lower --depth or --max-values, or name fewer")
    kept_to = None if isinstance(entries, Entries) else entries.cells.cells
    told = found.level != ANY
    values = [told[:, place] & (told.sum(axis=1) == 1) for place in range(len(levels))]
    outcomes = {
        one.name: (found.rows[inside], found.positive[inside])
        for one, inside in zip(levels, values, strict=True)
    }
    notes = (*other_notes(levels, cutting), *spelling_notes(levels), *outcome_notes(outcomes))
    if kept_to is not None:
        cells, what = f"about {kept_to:,} cells", "scores within segments"
        notes = (rounded_words(cells, what=what, exact="counts and sums of residuals"), *notes)
    return Cut(found, entries, levels, kept_to is not None, notes)


def spelling_notes(columns: Iterable[Levels | SegmentColumn]) -> tuple[str, ...]:
    """Return which values of columns may be one value that is written in several ways."""
    return tuple(note for one in columns for note in alike_notes(one.name, one.texts))


def rows_again(evaluation: Gathered) -> SecondPass:
    """Return the rows that are judged once more, through the map that is judged."""
    again, loaded = evaluation.again, evaluation.artifact
    if again is None:
        msg = "these rows can be read only once"
        raise InputProblem(msg, "write them to a file first")
    if loaded is not None and not isinstance(loaded, ClassArtifact):
        again = replace(again, change=row_map(loaded))
    return again


# So many values are named, as in a list of columns.
_FEW = 5


def other_notes(levels: Sequence[Levels], cutting: Cutting) -> tuple[str, ...]:
    """Say which values of a column are one segment, `(other)`, as it holds more than have segments."""
    notes = []
    for one in (level for level in levels if level.other >= 0):
        rest = f"but the {cutting.most_values} most frequent values"
        more = "a larger --max-values tells more of them apart"
        if one.rare is not None and cutting.most_values + len(one.rare) <= MOST_VALUES:
            shown = [*map(repr, one.rare[:_FEW])]
            shown += [f"{len(one.rare) - _FEW:,} more"] if len(one.rare) > _FEW else []
            rest = f"{rest}: {listed(shown)}"
            more = f"--max-values {cutting.most_values + len(one.rare)} tells them apart"
        parted = next((text for text in one.texts if without_thousands(text) != text), None)
        if parted is not None:
            more = f"{more}; {parted!r} is taken for text: export thousands without commas"
        notes.append(f"{one.words[one.other]} is all {rest}; {more}")
    return tuple(notes)


_OUTCOME = (
    "column {!r} settles the label: all rows of a value have the same one. If it is the outcome in other "
    "words, or is known only after it, leave it out of {}"
)


def outcome_notes(columns: Mapping[str, tuple[Counts, Counts]], *, option: str = "--on") -> tuple[str, ...]:
    """Say which columns settle the label, by the rows of each of their values and those with label 1."""
    return tuple(_OUTCOME.format(name, option) for name, counts in columns.items() if settles_labels(*counts))


def outcome_of_groups(columns: Sequence[str], tables: Iterable[Table]) -> tuple[str, ...]:
    """Say that a column of groups settles the label."""
    counts = np.array([(one.total_rows, one.total_positive_rows) for one in tables]).reshape(-1, 2)
    rows, ones = counts.T
    return outcome_notes({columns[0]: (rows, ones)}, option="--by") if len(columns) == 1 else ()
