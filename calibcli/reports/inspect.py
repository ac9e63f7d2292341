"""What `inspect` hands back."""

from typing import Annotated, ClassVar

from calibcli.codec import HIDDEN, Declared, Key
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class ColumnSummary(Declared):
    """
    One column of a data file.

    Args:
        kind: Its type, in the file format's words.
        role: "score", "label", "weight", "probs" or "" - what calibcli would take it for unasked.
    """

    name: str
    kind: str
    role: str


@dataclass(frozen=True, slots=True)
class InspectReport(Declared):
    """
    What is in a file.

    Args:
        kind: "artifact", "report", "comparison", "csv", "tsv" or "parquet".
        facts: Pairs of a word and what is to be said under it, in order.
        columns: Columns of a data file, else empty.
        suggestion: A command that would make sense next, or None.
    """

    page: ClassVar[str] = "inspect"
    path: str
    kind: str
    facts: Annotated[tuple[tuple[str, str], ...], HIDDEN]
    columns: tuple[ColumnSummary, ...]
    suggestion: str | None

    @property
    def by_word(self) -> Annotated[dict[str, str], Key("facts")]:
        """What is to be said, by its word."""
        return dict(self.facts)
