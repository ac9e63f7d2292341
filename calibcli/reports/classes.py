"""What a report says of several classes: measures of all together, and which slices are views of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from calibcli.codec import HIDDEN, By, Chance, Declared, Key, Size
from calibcli.measures.estimate import ClassEstimate
from calibcli.reports.groups import WorstGroup
from calibcli.view_names import ClassMeasure, ViewName


@dataclass(frozen=True, slots=True)
class ViewSummary(Declared):
    """The classes as one view shows them."""

    view: Annotated[ViewName, HIDDEN]
    measured: Annotated[tuple[str, ...], "Keys of their slices, in the order of the classes."]
    left_out: Annotated[Mapping[str, int], "Rows of each class that has too few to be measured."]
    least_rows: Annotated[int, "How many rows are enough."]
    confidence: Annotated[
        Chance,
        "Of each class's intervals, so that those of one measure hold for all classes at once (Bonferroni).",
    ]
    worst: Annotated[WorstGroup | None, "The class that stands out; null where ece was not measured."]


@dataclass(frozen=True, slots=True)
class ClassesReport(Declared):
    """Several classes."""

    names: Annotated[tuple[str, ...], Size(2), "What they are called, in the order of their columns."]
    measures: Annotated[tuple[ClassEstimate, ...], HIDDEN]
    views: Annotated[
        tuple[ViewSummary, ...],
        By("view"),
        "The views that are among the slices: `class=NAME` is one class against the rest, `top-label=NAME` "
        "the rows that predict it.",
    ]
    few: Annotated[
        bool,
        Key("few_measures"),
        "Whether slices were measured by a few measures only, because there are many classes.",
    ]

    @property
    def measure_names(
        self,
    ) -> Annotated[
        tuple[ClassMeasure, ...],
        Key("measures"),
        "Names of the measures, among those of the report, that speak of all classes together.",
    ]:
        """The names of the measures."""
        return tuple(one.name for one in self.measures)

    @property
    def measured(self) -> frozenset[str]:
        """The keys of all slices that are views of classes."""
        return frozenset(key for view in self.views for key in view.measured)
