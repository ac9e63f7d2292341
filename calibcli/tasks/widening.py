"""What `apply` writes: columns that stay, and new ones."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from calibcli.errors import UsageProblem
from calibcli.names import DataFormat
from calibcli.readers.columns import ChosenColumns
from calibcli.readers.fragments import Fragment
from calibcli.readers.intake import Intake
from calibcli.readers.text import kept_bytes
from calibcli.table.score_table import Floats

Added = Sequence["Floats | pa.Array[Any]"]


@dataclass(frozen=True, slots=True)
class Widening:
    """
    What is written where.

    Args:
        fragment: The input as one fragment.

        chosen: The columns that the new ones are made of.

        kind: Format of the output.

        fields: The new columns.

        made: From the chosen columns of some rows to the new ones; called in the order of the file.

        intake: Checks the rows on the way, and counts them.

        notes: What is to be said of the rows once all were read; it may refuse them.

        width: How many numbers a row of the output holds, where it holds many.

        kept: The other columns that go along; None for all.
    """

    fragment: Fragment
    chosen: ChosenColumns
    kind: DataFormat
    fields: tuple["pa.Field[Any]", ...]
    made: Callable[[pa.RecordBatch], Added]
    intake: Intake
    notes: Callable[[], tuple[str, ...]]
    width: int = 1
    kept: Collection[str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the new columns."""
        return tuple(field.name for field in self.fields)

    @property
    def converts(self) -> bool:
        """Whether the output is of another format."""
        return self.fragment.format is not self.kind

    def stays(self, name: str) -> bool:
        """Whether a column of the input goes along."""
        return self.kept is None or name in self.kept

    @property
    def encoding(self) -> str:
        """How the text that is written to is encoded."""
        return self.fragment.encoding or "utf-8" if kept_bytes(self.fragment) else "utf-8"

    @property
    def ahead(self) -> bool:
        """Whether reading may run ahead of writing: not of what comes as it likes."""
        return not self.fragment.streams


def refuse_names(names: Sequence[str], header: Sequence[str], *, shown: str) -> None:
    """
    Refuse new columns without a name, or with that of another.

    Args:
        names: The new columns.

        header: The columns that are there.

        shown: The file's name in messages.

    Raises:
        UsageProblem: If there is one.
    """
    seen = set(header)
    for name in names:
        if not name.strip():
            msg = "the new column has no name"
            raise UsageProblem(msg, "--name takes a word, such as calibrated")
        if name in seen:
            where = f"{shown} has a column" if name in header else "two new columns would be called"
            msg = f"{where} {name!r}{' already' if name in header else ''}"
            raise UsageProblem(msg, "--name gives the new column another name")
        seen.add(name)
