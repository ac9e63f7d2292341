"""Rows that Python holds already, under a name that may stand wherever an input is named."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

HeldColumn: TypeAlias = "pa.Array[Any] | pa.ChunkedArray[Any]"


class InMemory(StrEnum):
    """The format of rows that Python holds already: none that a file could have, or a user name."""

    ROWS = "rows"

    @property
    def is_text(self) -> bool:
        """No text, with an encoding."""
        return False

    @property
    def is_csv(self) -> bool:
        """No fields between separators."""
        return False


class HeldRows(str):
    """
    The name of rows in memory, which carries them; a copy is the name alone.

    Args:
        name: What messages and reports call them.

        rows: How many there are.

        columns: What gives each column by its name; called whenever it is read.
    """

    __slots__ = ("columns", "rows")

    rows: int
    columns: Mapping[str, Callable[[], HeldColumn]]

    def __new__(cls, name: str, *, rows: int, columns: Mapping[str, Callable[[], HeldColumn]]) -> Self:
        """Return the name with its rows."""
        made = super().__new__(cls, name)
        made.rows = rows
        made.columns = columns
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)
