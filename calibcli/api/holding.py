"""Rows in memory under construction: columns from a frame, and arrays that join them under a name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from calibcli.api.columns import column_of, is_matrix, lists_of, matrix_of
from calibcli.api.frames import FRAME, columns_of_frame, is_frame, rows_of_frame, settled
from calibcli.api.indexes import index_of, refuse_misaligned
from calibcli.errors import UsageProblem
from calibcli.readers.in_memory import HeldColumn, HeldRows

ARRAYS = "arrays"


@dataclass(slots=True)
class Holding:
    """
    Columns by name, all of one length.

    Args:
        names_are_columns: Whether a text names a column, as it does beside a frame or files.

        name: What messages call the rows.

        rows: How many there are; None before the first column.

        columns: What gives each column.

        first: The first rows that may have an index, by what they are.
    """

    names_are_columns: bool = True
    name: str = ARRAYS
    rows: int | None = None
    columns: dict[str, Callable[[], HeldColumn]] = field(default_factory=dict)
    first: dict[str, object] = field(default_factory=dict)

    def take_frame(self, frame: object) -> None:
        """Take all columns of a frame; those that are never read cost nothing."""
        held = settled(frame)
        self._align(held, FRAME)
        self.name, self.rows, self.columns = FRAME, rows_of_frame(held), columns_of_frame(held)

    def take_matrix(self, rows: object, what: str) -> str:
        """Take rows of several probabilities as a column of lists, and return its name."""
        frame = settled(rows) if is_frame(rows) else None
        self._align(frame, what)
        return self.join(
            lists_of(matrix_of(rows if frame is None else _side_by_side(frame), what=what)), what
        )

    def named(self, values: object, role: str) -> str | None:
        """
        Return the name of the column that values are in, or that a text names.

        Args:
            values: An array, the name of a column, or None.

            role: What the values are.

        Raises:
            UsageProblem: If a column is named and there are none with names, or the array has another length.
        """
        if values is None:
            return None
        if isinstance(values, str):
            self._refuse_name(values, role)
            return values
        self._align(values, role)
        return self.join(column_of(values, what=role), _own_name(values) or role)

    def all_named(self, values: object, role: str) -> tuple[str, ...]:
        """Return the names of the columns that values are in: names, one array, or arrays by name."""
        if values is None:
            return ()
        if isinstance(values, Mapping) or is_frame(values):
            held = settled(values)
            rows_of_frame(held)
            self._align(held, role)
            return tuple(self.join(column(), name) for name, column in columns_of_frame(held).items())
        named = isinstance(values, list | tuple) and all(isinstance(one, str) for one in values)
        if named and self.names_are_columns:
            return tuple(values)  # type: ignore[arg-type]
        return tuple(filter(None, [self.named(values, role)]))

    def join(self, column: HeldColumn, name: str) -> str:
        """Add a column under a name that is free, and return the name."""
        while name in self.columns:
            name += "_"
        if self.rows is None:
            self.rows = len(column)
        elif len(column) != self.rows:
            msg = f"{name} has {len(column):,} values for {self.rows:,} rows"
            raise UsageProblem(msg, "give every row a value in each")
        self.columns[name] = partial(_same, column)
        return name

    def held(self) -> HeldRows:
        """Return the rows under their name."""
        return HeldRows(self.name, rows=self.rows or 0, columns=self.columns)

    def _align(self, values: object, what: str) -> None:
        """Hold rows against the first that have an index."""
        if isinstance(values, Mapping):
            values = next(iter(values.values()), None)
        if index_of(values) is not None:
            self.first = self.first or {what: values}
            refuse_misaligned({**self.first, what: values} if what not in self.first else self.first)

    def _refuse_name(self, name: str, role: str) -> None:
        if not self.names_are_columns:
            msg = f"{role}={name!r} names a column, and arrays have none"
            raise UsageProblem(msg, f"pass the values themselves: {role}=array")


def is_rows_of_classes(rows: object) -> bool:
    """Whether these are probabilities of several classes, shape (n, K)."""
    return is_frame(rows) or is_matrix(rows)


def class_names(rows: object) -> tuple[str, ...] | None:
    """Return the names of the columns of a frame of probabilities, None where they have none."""
    return tuple(columns_of_frame(settled(rows))) if is_frame(rows) else None


def _side_by_side(frame: object) -> object:
    import numpy as np

    from calibcli.readers.decode import floats

    columns = []
    for column in columns_of_frame(frame).values():
        found = column()
        whole = found if not hasattr(found, "combine_chunks") else found.combine_chunks()
        decoded = floats(whole)
        columns.append(
            decoded.values if decoded.missing is None else np.where(decoded.missing, np.nan, decoded.values)
        )
    return np.stack(columns, axis=1)


def _own_name(values: object) -> str | None:
    name = getattr(values, "name", None)
    return name if isinstance(name, str) and name.strip() else None


def _same(column: HeldColumn) -> HeldColumn:
    return column
