"""What `compare` says of several classes: measures of all together, and every class by itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from calibcli.reports.comparison import Comparison
from calibcli.view_names import ViewName


@dataclass(frozen=True, slots=True)
class ClassComparison:
    """
    One class on both sides.

    Args:
        first_rows: Its rows on the first side.

        second_rows: Its rows on the second side.

        comparisons: One per measure.
    """

    first_rows: int
    second_rows: int
    comparisons: tuple[Comparison, ...]

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "first_rows": self.first_rows,
            "second_rows": self.second_rows,
            "measures": {one.name.value: one.to_dict() for one in self.comparisons},
        }


@dataclass(frozen=True, slots=True)
class ViewComparison:
    """
    The classes as one view shows them.

    Args:
        view: The view.

        classes: Each class that was compared, by key, in the order of the classes.

        left_out: The fewer rows of each class that has too few on a side, by key.

        least_rows: How many are enough.

        confidence: Of the intervals of each class, so that those of one measure hold together.
    """

    view: ViewName
    classes: Mapping[str, ClassComparison]
    left_out: Mapping[str, int]
    least_rows: int
    confidence: float

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "classes": {key: one.to_dict() for key, one in self.classes.items()},
            "left_out": dict(self.left_out),
            "least_rows": self.least_rows,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, slots=True)
class ClassesComparison:
    """
    Several classes on both sides.

    Args:
        names: What they are called, in the order of their columns.

        changed: Rows whose predicted class is another on the second side.

        comparisons: Measures of all classes together.

        views: The views whose classes were compared one by one.

        gated: Whether a gate looks at every class in place of the largest probability.

        few: Whether classes were compared by a few measures only, because there are many.
    """

    names: tuple[str, ...]
    changed: int
    comparisons: tuple[Comparison, ...]
    views: tuple[ViewComparison, ...]
    gated: bool
    few: bool

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON; the measures stand among those of the report."""
        return {
            "names": list(self.names),
            "changed": self.changed,
            "measures": [one.name.value for one in self.comparisons],
            "views": {one.view.value: one.to_dict() for one in self.views},
            "few_measures": self.few,
        }
