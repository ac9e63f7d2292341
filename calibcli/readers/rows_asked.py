"""Which rows of the input are asked for, and which of a file that makes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calibcli.errors import UsageProblem
from calibcli.names import DEFAULT_SEED
from calibcli.readers.conditions import Condition, condition_of
from calibcli.readers.lots import Lots
from calibcli.readers.names_of_columns import named

if TYPE_CHECKING:
    import pyarrow as pa

    from calibcli.readers.decode import Booleans


@dataclass(frozen=True, slots=True)
class RowsAsked:
    """
    What the user said about which rows are read.

    Args:
        where: What rows must satisfy, all of it.

        limit: Only the first so many of them, or None.

        sample: Only so many of them, drawn without replacement, or None.

        seed: Of the draw.

    Raises:
        UsageProblem: If both a limit and a sample are asked for.
    """

    where: tuple[Condition, ...] = ()
    limit: int | None = None
    sample: int | None = None
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if self.limit is not None and self.sample is not None:
            msg = f"--limit {self.limit} takes the first rows, --sample {self.sample} any"
            raise UsageProblem(msg, "leave out one of them")

    @property
    def counted(self) -> bool:
        """Whether rows must be counted before it is known which are meant."""
        return self.limit is not None or self.sample is not None

    @property
    def options(self) -> tuple[str, ...]:
        """The options that were given, without dashes."""
        given = {"where": self.where, "limit": self.limit, "sample": self.sample}
        return tuple(name for name, value in given.items() if value)

    def in_file(self, header: Sequence[str], *, path: str) -> "RowsChosen":
        """
        Return the conditions by the names of a file.

        Args:
            header: Its columns.

            path: The file, for messages.

        Raises:
            InputProblem: If a column is not there.
        """
        if not self.where:
            return EVERY_ROW
        return RowsChosen(
            tuple(replace(one, column=named(one.column, header, path=path)) for one in self.where)
        )


ALL_ROWS = RowsAsked()


def rows_asked(where: Sequence[str], *, limit: int | None, sample: int | None, seed: int) -> RowsAsked:
    """
    Return what was said about which rows are read.

    Args:
        where: Conditions as they were written.

        limit: The first so many rows, or None.

        sample: So many rows by lot, or None.

        seed: Of the draw; nothing else depends on it.

    Raises:
        UsageProblem: If a condition is none, or rows are asked for in two ways.
    """
    drawn = DEFAULT_SEED if sample is None else seed
    return RowsAsked(tuple(condition_of(text) for text in where), limit, sample, drawn)


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


def _first_rows(batches: "Iterator[pa.RecordBatch]", count: int) -> "Iterator[pa.RecordBatch]":
    for batch in batches:
        if batch.num_rows >= count:
            yield batch.slice(0, count)
            return
        count -= batch.num_rows
        yield batch
