"""What `compare` hands back."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibcli.measures.paired import Compared
from calibcli.reports.compare_classes import ClassesComparison
from calibcli.reports.comparison import Comparison
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import TableSummary
from calibcli.reports.page_names import PageName
from calibcli.version import __version__

SCHEMA = "calibcli.compare/2"


@dataclass(frozen=True, slots=True)
class Side:
    """
    One of the two that are compared.

    Args:
        name: What it is called: its column, or its artifact.

        score: The score column.

        artifact: Path of the recalibrator that was applied to it, or None.

        table: The rows by what it says of them.
    """

    name: str
    score: str
    artifact: str | None
    table: TableSummary

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "name": self.name,
            "score": self.score,
            "artifact": self.artifact,
            "table": self.table.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class CompareReport:
    """
    Two scores, or one score through two maps, on the same rows.

    Args:
        input: What was read; its score is the baseline's.

        first: The baseline.

        second: The other.

        confidence: Coverage asked of every interval.

        comparisons: One per measure, in the order asked for.

        gate: The measures that decide whether the second is worse, or None where no gate was asked for.

        notes: Sentences the reader should not miss.

        classes: Several classes together and one by one; None where there is one score, or one class is
            looked at.

        chosen: Whether somebody asked for these measures, so that tables leave none out.
    """

    page: ClassVar[Literal[PageName.COMPARE]] = PageName.COMPARE
    input: InputSummary
    first: Side
    second: Side
    confidence: float
    comparisons: tuple[Comparison, ...]
    gate: tuple[Compared, ...] | None = None
    notes: tuple[str, ...] = ()
    classes: ClassesComparison | None = None
    chosen: bool = False

    @property
    def gated(self) -> tuple[tuple[str, Comparison], ...]:
        """What the gate looks at, each with the key of its class, empty for all rows together."""
        classes, whole = self.classes, self.comparisons
        joint = () if classes is None else classes.comparisons
        each = classes is not None and classes.gated
        found = [("", one) for one in (*(() if each else whole), *joint)]
        if classes is not None and each:
            found += [
                (key, one)
                for view in classes.views
                for key, part in view.classes.items()
                for one in part.comparisons
            ]
        return tuple((key, one) for key, one in found if one.name in (self.gate or ()))

    @property
    def worse_by(self) -> tuple[Compared, ...]:
        """The gated measures by which the second is shown to be worse, over all rows or in some class."""
        return tuple(dict.fromkeys(one.name for _, one in self.gated if one.is_worse))

    @property
    def worse_classes(self) -> tuple[str, ...]:
        """The keys of the classes in which the gate shows the second to be worse."""
        return tuple(dict.fromkeys(key for key, one in self.gated if key and one.is_worse))

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, in the shape of `calibcli schema compare`."""
        gate: dict[str, object] | None = None
        if self.gate is not None:
            worse = [name.value for name in self.worse_by]
            gate = {
                "measures": [name.value for name in self.gate],
                "worse_by": worse,
                "status": "fail" if worse else "pass",
            }
            if self.classes is not None and self.classes.gated:
                gate["worse_classes"] = list(self.worse_classes)
        joint = () if self.classes is None else self.classes.comparisons
        return {
            "schema": SCHEMA,
            "tool": {"name": "calibcli", "version": __version__},
            "input": self.input.to_dict(),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "confidence": self.confidence,
            "measures": {one.name.value: one.to_dict() for one in (*self.comparisons, *joint)},
            "gate": gate,
            "notes": list(self.notes),
            **({} if self.classes is None else {"classes": self.classes.to_dict()}),
        }
