"""What a report says of groups of rows, and of clusters of dependent ones."""

from collections.abc import Mapping
from dataclasses import dataclass

from calibcli.names import MeasureName
from calibcli.reports.plain import number


@dataclass(frozen=True, slots=True)
class WorstGroup:
    """
    The group that stands out by a measure.

    The largest of many estimates is above what the same group would show in fresh rows; the largest lower
    bound is not, as all bounds hold together.

    Args:
        measure: The measure.

        by_estimate: Key of the group with the largest estimate.

        estimate: That estimate.

        by_lower: Key of the group with the largest lower bound, or None where no bound is above 0.

        lower: That bound, or None where there are no bounds.
    """

    measure: MeasureName
    by_estimate: str
    estimate: float
    by_lower: str | None
    lower: float | None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "measure": self.measure.value,
            "by_estimate": self.by_estimate,
            "estimate": number(self.estimate),
            "by_lower": self.by_lower,
            "lower": number(self.lower),
        }


@dataclass(frozen=True, slots=True)
class GroupsSummary:
    """
    The groups that rows fall into.

    Args:
        columns: The columns whose values make them.

        measured: Keys of the groups among the slices, in the order of their values.

        left_out: Rows of each group that has too few to be measured, by key.

        least_rows: How many are enough.

        confidence: Of the intervals of each group, so that those of one measure hold together.

        worst: The group that stands out, or None where ECE was not measured or no group was.
    """

    columns: tuple[str, ...]
    measured: tuple[str, ...]
    left_out: Mapping[str, int]
    least_rows: int
    confidence: float
    worst: WorstGroup | None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "columns": list(self.columns),
            "measured": list(self.measured),
            "left_out": dict(self.left_out),
            "least_rows": self.least_rows,
            "confidence": self.confidence,
            "worst": None if self.worst is None else self.worst.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """
    The clusters of dependent rows.

    Args:
        column: The column whose equal values make one.

        count: How many there are.

        effective: How many of equal weight would vary as much.
    """

    column: str
    count: int
    effective: float

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {"column": self.column, "count": self.count, "effective": self.effective}
