"""What `measure --compat` hands back."""

from typing import Annotated, ClassVar

from calibcli.codec import HIDDEN, AnyNumber, By, Declared, In, Key
from calibcli.names import CompatTool, MeasureName, TestName
from calibcli.reports.input import ArtifactPath, InputSummary, KeptReport, Notes
from calibcli.reports.measure import TableSummary
from calibcli.stats.measures.compat import Part
from calibcli.values import dataclass

SCHEMA = "calibcli.compat/2"
# Numbers this close, of the larger one, differ by rounding only.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class OurNumber(Declared):
    """What answers the same question here."""

    name: MeasureName | TestName
    part: Annotated[Part, "Which of its numbers; the value of a test is its statistic."]
    value: Annotated[AnyNumber | None, "Null where there is none."]
    partition: Annotated[str | None, "The bins it speaks of, or null."]


@dataclass(frozen=True, slots=True)
class CompatNumber(Declared):
    """A number as another tool gives it, beside ours."""

    name: Annotated[str, HIDDEN]
    value: Annotated[AnyNumber | None, "Theirs; null where the tool gives none."]
    ours: Annotated[OurNumber | None, "What answers the same question here; null where nothing does."]
    why: Annotated[str, "Why the two differ where they do."]

    @property
    def same(self) -> Annotated[bool, "Whether the two differ by rounding only."]:
        ours = None if self.ours is None else self.ours.value
        if self.value is None or ours is None:
            return False
        return self.value == ours or abs(self.value - ours) <= _ROUNDING * max(1.0, abs(ours))


@dataclass(frozen=True, slots=True)
class CompatReport(KeptReport):
    """The numbers of another tool."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "compat"
    input: InputSummary
    table: TableSummary
    artifact: ArtifactPath
    peer: Annotated[CompatTool, In("peer"), Key("name"), "The other tool."]
    package: Annotated[str, In("peer"), "Its name in the package index."]
    version: Annotated[str, In("peer"), "The version whose behaviour this is."]
    numbers: Annotated[tuple[CompatNumber, ...], By(), "By what the tool calls them."]
    notes: Notes = ()
