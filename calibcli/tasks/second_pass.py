"""The input read once more: rows one by one, for fits and partitions that cells of a grid cannot settle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from calibcli.engines.interface import Engine
from calibcli.errors import CalibcliError, InputProblem
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.decode import Booleans
from calibcli.readers.files import shown_path
from calibcli.readers.fragments import Fragment
from calibcli.readers.intake import Rows
from calibcli.readers.members import OfMembers
from calibcli.readers.pieces import Piece, pieces_of
from calibcli.readers.tally import AtPlaces, Transform, changed, intake_of, taken
from calibcli.readers.unchanged import unchanged
from calibcli.table.cells import CODES, cell_of
from calibcli.table.rows import RowWork
from calibcli.table.score_table import Floats, Integers, ScoreTable, merge_all

Result = TypeVar("Result")
# Rows looked up at once: they fit the processor's cache.
_CHUNK = 1 << 16
# Rows sorted at once: one sort beats merging the tables of fragments.
_SORTED = 1 << 24


@dataclass(frozen=True, slots=True)
class _Pass(Generic[Result]):
    """What is made of the batches of one fragment, the same for all; a problem is returned, not raised."""

    change: Transform | AtPlaces | OfMembers | None
    made: Callable[[Iterator[Rows]], Result]

    def __call__(self, piece: Piece) -> tuple[int, Result] | CalibcliError:
        try:
            return self._of(piece.fragment, piece.columns)
        except CalibcliError as problem:
            return problem

    def _of(self, fragment: Fragment, columns: ChosenColumns) -> tuple[int, Result]:
        intake = intake_of(columns, shown=fragment.shown, first_row=fragment.first_row)
        # What is wrong with values was found by the first pass.
        found = (rows for rows in taken(fragment, intake, columns) if rows is not None)
        result = self.made(replace(rows, score=changed(rows, self.change)) for rows in found)
        return intake.findings.rows, result


@dataclass(frozen=True, slots=True)
class SecondPass:
    """
    Passes over rows that were gathered before; see `calibcli.table.rows.Rows`.

    Args:
        fragments: The input, none of them a stream that can be read only once.

        chosen: For each file its columns.

        engine: Where fragments are read.

        rows: How many rows the first pass read, dropped ones included.

        change: The map that scores go through first; None for none.
    """

    fragments: Sequence[Fragment]
    chosen: Mapping[str, ChosenColumns]
    engine: Engine
    rows: int
    change: Transform | AtPlaces | OfMembers | None = None

    def summed(self, work: RowWork) -> Integers:
        """Return the sum of what the work makes of every batch of rows."""
        total: Integers = np.zeros(1, np.int64)
        for part in self._over(_Summed(work)):
            total = total + part
        return total

    def in_cells(self, codes: Integers) -> ScoreTable:
        """Return the exact table of the rows in some cells of the grid."""
        tables: list[ScoreTable] = []
        held: list[_Some] = []
        for some in self._over(_Within(codes)):
            held.append(some)
            if sum(part.score.size for part in held) >= _SORTED:
                tables.append(_table_of(held))
                held = []
        return merge_all([*tables, *([_table_of(held)] if held else [])])

    def in_order(self) -> tuple[Floats, Booleans]:
        """Return score and label of every row in the order of the input, repeated by its frequency."""
        parts = list(self._over(_listed))
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _over(self, made: Callable[[Iterator[Rows]], Result]) -> Iterator[Result]:
        """Yield what each fragment gives, in order."""
        rows = 0
        pieces = pieces_of(self.fragments, self.chosen)
        with unchanged(self.fragments):
            for found in self.engine.map(_Pass(self.change, made), pieces):
                if isinstance(found, CalibcliError):
                    raise found
                rows += found[0]
                yield found[1]
            if rows != self.rows:
                raise changed_meanwhile(self.fragments[0], self.rows, rows)


def changed_meanwhile(fragment: Fragment, first: int, then: int) -> InputProblem:
    """Return the error for an input that had so many rows first, and then another number."""
    msg = f"{shown_path(fragment.path)} changed while it was read: {first:,} rows at first, then {then:,}"
    return InputProblem(msg, "run again when nothing writes to it")


@dataclass(frozen=True, slots=True)
class _Summed:
    work: RowWork

    def __call__(self, batches: Iterator[Rows]) -> Integers:
        total: Integers = np.zeros(1, np.int64)
        for rows in batches:
            total = total + self.work(rows.score, rows.label, rows.counts)
        return total


def _listed(batches: Iterator[Rows]) -> tuple[Floats, Booleans]:
    scores, labels = [np.zeros(0)], [np.zeros(0, np.bool_)]
    for rows in batches:
        times = 1 if rows.counts is None else rows.counts
        scores.append(np.repeat(rows.score, times))
        labels.append(np.repeat(rows.label, times))
    return np.concatenate(scores), np.concatenate(labels)


@dataclass(frozen=True, slots=True, eq=False)
class _Some:
    """Some rows of a fragment, with their frequencies or None."""

    score: Floats
    label: Booleans
    counts: Integers | None


@dataclass(frozen=True, slots=True, eq=False)
class _Within:
    codes: Integers

    def __call__(self, batches: Iterator[Rows]) -> _Some:
        wanted = np.zeros(CODES, np.bool_)
        wanted[self.codes] = True
        scores, labels, counts = [np.zeros(0)], [np.zeros(0, np.bool_)], [np.zeros(0, np.int64)]
        counted = False
        for rows in batches:
            counted = counted or rows.counts is not None
            for start in range(0, rows.score.size, _CHUNK):
                kept = np.flatnonzero(wanted[cell_of(rows.score[start : start + _CHUNK])]) + start
                scores.append(rows.score[kept])
                labels.append(rows.label[kept])
                if rows.counts is not None:
                    counts.append(rows.counts[kept])
        return _Some(
            np.concatenate(scores), np.concatenate(labels), np.concatenate(counts) if counted else None
        )


def _table_of(parts: Sequence[_Some]) -> ScoreTable:
    counts = [part.counts for part in parts if part.counts is not None]
    return ScoreTable.from_rows(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.label for part in parts]),
        counts=np.concatenate(counts) if counts else None,
    )
