"""What a report says of several classes: measures of all together, and which slices are views of each."""

from collections.abc import Mapping
from dataclasses import dataclass

from calibcli.measures.estimate import ClassEstimate
from calibcli.reports.groups import WorstGroup
from calibcli.view_names import ViewName


@dataclass(frozen=True, slots=True)
class ViewSummary:
    """
    The classes as one view shows them.

    Args:
        view: The view.

        measured: Keys of the classes among the slices, in the order of the classes.

        left_out: Rows of each class that has too few to be measured, by key.

        least_rows: How many are enough.

        confidence: Of the intervals of each class, so that those of one measure hold together.

        worst: The class that stands out, or None where ECE was not measured or no class was.
    """

    view: ViewName
    measured: tuple[str, ...]
    left_out: Mapping[str, int]
    least_rows: int
    confidence: float
    worst: WorstGroup | None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "measured": list(self.measured),
            "left_out": dict(self.left_out),
            "least_rows": self.least_rows,
            "confidence": self.confidence,
            "worst": None if self.worst is None else self.worst.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class ClassesReport:
    """
    Several classes.

    Args:
        names: What they are called, in the order of their columns.

        measures: Measures of all of them together, in the order asked for.

        views: The views whose slices were measured.

        few: Whether slices were measured by a few measures only, because there are many classes.
    """

    names: tuple[str, ...]
    measures: tuple[ClassEstimate, ...]
    views: tuple[ViewSummary, ...]
    few: bool

    @property
    def measured(self) -> frozenset[str]:
        """The keys of all slices that are views of classes."""
        return frozenset(key for view in self.views for key in view.measured)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the measures stand among those of the report."""
        return {
            "names": list(self.names),
            "measures": [one.name.value for one in self.measures],
            "views": {one.view.value: one.to_dict() for one in self.views},
            "few_measures": self.few,
        }
