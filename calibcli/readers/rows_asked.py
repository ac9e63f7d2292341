"""Which rows of a file are read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calibcli.options.conditions import Condition
from calibcli.options.rows import RowsAsked
from calibcli.readers.lots import Lots
from calibcli.readers.names_of_columns import named

if TYPE_CHECKING:
    import pyarrow as pa

    from calibcli.readers.decode import Booleans


@dataclass(frozen=True, slots=True)
class RowsChosen:
    """
    Which rows of a file are read.

    Args:
        conditions: What they must satisfy, by the names of the file.

        until: How many rows there are up to the last that counts; None for the end of the file.

        lots: By which rows are drawn, or None.
    """

    conditions: tuple[Condition, ...] = ()
    until: int | None = None
    lots: Lots | None = None

    @property
    def chooses(self) -> bool:
        """Whether rows are looked at one by one."""
        return bool(self.conditions) or self.lots is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the conditions."""
        return tuple(dict.fromkeys(one.column for one in self.conditions))

    def of(self, batch: "pa.RecordBatch", *, first_row: int, shown: str) -> "Booleans | None":
        """
        Return which rows of a batch are read, shape (n,); None for all.

        Args:
            batch: The rows.

            first_row: How many rows of the file come before.

            shown: The file's name in messages.

        Raises:
            InputProblem: If a column cannot be compared with what a condition says.
        """
        drawn = None if self.lots is None else self.lots.taken(first_row, batch.num_rows)
        if not self.conditions:
            return drawn
        from calibcli.readers.compared import satisfied

        found = satisfied(batch, self.conditions, first_row=first_row, shown=shown)
        return found if drawn is None else found & drawn

    def first_of(self, batches: "Iterator[pa.RecordBatch]", first_row: int) -> "Iterator[pa.RecordBatch]":
        """Return batches up to the last row that counts, where `first_row` of the file come before."""
        return batches if self.until is None else _first_rows(batches, self.until - first_row)


EVERY_ROW = RowsChosen()


def rows_chosen(rows: RowsAsked, header: Sequence[str], *, path: str) -> RowsChosen:
    """
    Return the conditions on rows by the names of a file.

    Raises:
        InputProblem: If a column is not there.
    """
    if not rows.where:
        return EVERY_ROW
    return RowsChosen(tuple(replace(one, column=named(one.column, header, path=path)) for one in rows.where))


def _first_rows(batches: "Iterator[pa.RecordBatch]", count: int) -> "Iterator[pa.RecordBatch]":
    for batch in batches:
        if batch.num_rows >= count:
            yield batch.slice(0, count)
            return
        count -= batch.num_rows
        yield batch
