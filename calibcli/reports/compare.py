"""What `compare` hands back."""

from dataclasses import dataclass

from calibcli.measures.estimate import Estimate
from calibcli.measures.paired import Difference
from calibcli.names import ComparisonName, MeasureName
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import TableSummary, difference_to_dict, estimate_to_dict
from calibcli.version import __version__

SCHEMA = "calibcli.compare/1"


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
class Comparison:
    """
    One measure of both.

    Args:
        first: Of the baseline.

        second: Of the other.

        difference: Second less first.
    """

    first: Estimate
    second: Estimate
    difference: Difference

    @property
    def name(self) -> MeasureName:
        """The measure."""
        return self.difference.name

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "first": estimate_to_dict(self.first),
            "second": estimate_to_dict(self.second),
            "difference": difference_to_dict(self.difference),
            "verdict": self.difference.verdict.value,
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
    """

    input: InputSummary
    first: Side
    second: Side
    confidence: float
    comparisons: tuple[Comparison, ...]
    gate: tuple[MeasureName, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def worse_by(self) -> tuple[MeasureName, ...]:
        """The gated measures by which the second is shown to be worse."""
        return tuple(
            one.name
            for one in self.comparisons
            if one.name in (self.gate or ()) and one.difference.verdict is ComparisonName.WORSE
        )

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, in the shape of `calibcli schema compare`."""
        gate = None
        if self.gate is not None:
            worse = [name.value for name in self.worse_by]
            gate = {
                "measures": [name.value for name in self.gate],
                "worse_by": worse,
                "status": "fail" if worse else "pass",
            }
        return {
            "schema": SCHEMA,
            "tool": {"name": "calibcli", "version": __version__},
            "input": self.input.to_dict(),
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "confidence": self.confidence,
            "measures": {one.name.value: one.to_dict() for one in self.comparisons},
            "gate": gate,
            "notes": list(self.notes),
        }
