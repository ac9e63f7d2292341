"""What `inspect` hands back."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibcli.reports.page_names import PageName


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """
    One column of a data file.

    Args:
        name: Its name.

        kind: Its type, in the file format's words.

        role: "score", "label", "weight", "probs" or "" - what calibcli would take it for unasked.
    """

    name: str
    kind: str
    role: str


@dataclass(frozen=True, slots=True)
class InspectReport:
    """
    What is in a file.

    Args:
        path: The file.

        kind: "artifact", "report", "comparison", "csv", "tsv" or "parquet".

        facts: Pairs of a word and what is to be said under it, in order.

        columns: Columns of a data file, else empty.

        suggestion: A command that would make sense next, or None.
    """

    page: ClassVar[Literal[PageName.INSPECT]] = PageName.INSPECT
    path: str
    kind: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[ColumnSummary, ...]
    suggestion: str | None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "facts": dict(self.facts),
            "columns": [{"name": c.name, "kind": c.kind, "role": c.role} for c in self.columns],
            "suggestion": self.suggestion,
        }
