"""Rows of several classes as often as a fit asks for them: from memory where they fit, else from files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment
from calibcli.readers.intake import Rows
from calibcli.readers.tally import intake_of, taken
from calibcli.table.class_rows_again import ClassBlock
from calibcli.tasks.gather import Gathered
from calibcli.tasks.second_pass import changed_meanwhile

_BYTES = 8


@dataclass(slots=True)
class ClassSource:
    """
    The rows of an input that can be read again.

    Args:
        fragments: The input.

        chosen: For every file its columns.

        rows: How many rows the first pass read, dropped ones included.

        memory: What may be kept, in bytes.

        workers: How many blocks may be worked on at a time.
    """

    fragments: Sequence[Fragment]
    chosen: Mapping[str, ChosenColumns]
    rows: int
    memory: int
    workers: int = 1
    _kept: list[ClassBlock] = field(default_factory=list)

    @property
    def classes(self) -> tuple[str, ...]:
        """What the classes are called."""
        return self.chosen[self.fragments[0].path].classes

    @property
    def in_memory(self) -> bool:
        """
        Whether a fit may keep what it makes of the rows.

        That is allowed twice the memory of a table, since another pass over the files costs far more.
        """
        return self._size <= 2 * self.memory

    @property
    def _size(self) -> int:
        return _BYTES * self.rows * len(self.classes)

    def blocks(self) -> Iterator[ClassBlock]:
        """
        Yield all rows, in the order of the input.

        Raises:
            InputProblem: If they are not as many as the first time.
        """
        if self._kept:
            yield from self._kept
            return
        kept: list[ClassBlock] = []
        keeps = 3 * self._size <= self.memory
        seen = 0
        for fragment in self.fragments:
            columns = self.chosen[fragment.path]
            intake = intake_of(columns, shown=fragment.shown, first_row=fragment.first_row)
            for rows in taken(fragment, intake, columns):
                block = None if rows is None else _block(rows)
                if block is None:
                    continue
                if keeps:
                    kept.append(block)
                yield block
            seen += intake.findings.rows
        if seen != self.rows:
            raise changed_meanwhile(self.fragments[0], self.rows, seen)
        self._kept = kept


def _block(rows: Rows) -> ClassBlock | None:
    if rows.classes is None or not rows.classes.label.size:
        return None
    return ClassBlock(rows.classes.probability, rows.classes.label, rows.weight, rows.counts)


def source_of(gathered: Gathered, *, memory: int, workers: int = 1) -> ClassSource:
    """
    Return the rows that were gathered once more.

    Args:
        gathered: What was read, by a reading that may be repeated.

        memory: What may be kept, in bytes.

        workers: How many blocks may be worked on at a time.
    """
    again = gathered.again
    if again is None:
        msg = "these rows were not gathered to be read again"
        raise TypeError(msg)
    return ClassSource(again.fragments, again.chosen, again.rows, memory, workers)
