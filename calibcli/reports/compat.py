"""What `measure --compat` hands back."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibcli.measures.compat.peer import Part
from calibcli.names import CompatTool, MeasureName, TestName
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import TableSummary
from calibcli.reports.page_names import PageName
from calibcli.reports.plain import number
from calibcli.version import __version__

SCHEMA = "calibcli.compat/2"
# Numbers this close, of the larger one, differ by rounding only.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class OurNumber:
    """
    What answers the same question here.

    Args:
        name: The measure or test.

        part: Which of its numbers.

        value: The number; None where there is none.

        partition: The bins it speaks of, or None.
    """

    name: MeasureName | TestName
    part: Part
    value: float | None
    partition: str | None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "name": self.name.value,
            "part": self.part.value,
            "value": number(self.value),
            "partition": self.partition,
        }


@dataclass(frozen=True, slots=True)
class CompatNumber:
    """
    A number as another tool gives it, beside ours.

    Args:
        name: What the tool calls it.

        value: The number; None where the tool gives none.

        ours: What answers the same question here, or None where nothing does.

        why: In one line, why the two differ where they do.
    """

    name: str
    value: float | None
    ours: OurNumber | None
    why: str

    @property
    def same(self) -> bool:
        """Whether both are there and differ by rounding only."""
        ours = None if self.ours is None else self.ours.value
        if self.value is None or ours is None:
            return False
        return self.value == ours or abs(self.value - ours) <= _ROUNDING * max(1.0, abs(ours))

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "value": number(self.value),
            "ours": None if self.ours is None else self.ours.to_dict(),
            "same": self.same,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class CompatReport:
    """
    The numbers of another tool.

    Args:
        input: What was read.

        table: What it was gathered into.

        artifact: Path of the recalibrator that was applied first, or None.

        peer: The tool.

        package: Its name in the package index.

        version: The version whose behaviour this is.

        numbers: In the order in which they are shown.

        notes: Sentences the reader should not miss.
    """

    page: ClassVar[Literal[PageName.COMPAT]] = PageName.COMPAT
    input: InputSummary
    table: TableSummary
    artifact: str | None
    peer: CompatTool
    package: str
    version: str
    numbers: tuple[CompatNumber, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, in the shape of `calibcli schema compat`."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "calibcli", "version": __version__},
            "input": self.input.to_dict(),
            "artifact": self.artifact,
            "table": self.table.to_dict(),
            "peer": {"name": self.peer.value, "package": self.package, "version": self.version},
            "numbers": {one.name: one.to_dict() for one in self.numbers},
            "notes": list(self.notes),
        }
