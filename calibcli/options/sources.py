"""What a command reads: names of what is to be opened, or what Python holds already, under a name for messages."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from calibcli.values import dataclass

if TYPE_CHECKING:
    from calibcli.codec import Declared


@dataclass(frozen=True, slots=True, eq=False)
class RowsInMemory:
    """
    Rows of a frame or of arrays, which are read as a file of them would be.

    Args:
        columns: What gives each column by its name, as one of Arrow; called whenever it is read.
        nameless: Columns that were arrays, and are called by what they are.
    """

    name: str
    rows: int
    columns: Mapping[str, Callable[[], Any]]
    nameless: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class DocumentInMemory:
    """An artifact or a report that was made or loaded before."""

    name: str
    content: "Declared | dict[str, object]"

    def __str__(self) -> str:
        return self.name


DocumentSource: TypeAlias = str | DocumentInMemory
RowSource: TypeAlias = str | RowsInMemory | DocumentInMemory
"""A file, a directory, a pattern, an address, - for standard input; or what is in memory."""


def is_json(source: RowSource) -> TypeGuard[DocumentSource]:
    """Whether a source is a document by its name, or is one in memory."""
    return isinstance(source, DocumentInMemory) or (isinstance(source, str) and source.endswith(".json"))
