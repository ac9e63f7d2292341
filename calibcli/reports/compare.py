"""What `compare` hands back."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from calibcli.codec import ABSENT, HIDDEN, By, Declared, Key
from calibcli.names import ComparisonName, ViewName
from calibcli.reports.input import InputSummary, KeptReport, Notes
from calibcli.reports.measure import TableSummary
from calibcli.stats.measures import ClassEstimate, Estimate
from calibcli.stats.measures.differences import Compared, Difference
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Comparison(Declared):
    """One measure of both."""

    first: Annotated[Estimate | ClassEstimate, "Of the baseline."]
    second: Annotated[Estimate | ClassEstimate, "Of the other."]
    difference: Annotated[Difference, "Second less first."]

    @property
    def verdict(self) -> Annotated[ComparisonName, "How the second stands to the first."]:
        return self.difference.verdict

    @property
    def name(self) -> Compared:
        return self.difference.name

    @property
    def is_worse(self) -> bool:
        return self.difference.verdict is ComparisonName.WORSE


@dataclass(frozen=True, slots=True)
class ClassComparison(Declared):
    """One class on both sides."""

    first_rows: Annotated[int, "Its rows on the first side."]
    second_rows: Annotated[int, "Its rows on the second side."]
    comparisons: Annotated[tuple[Comparison, ...], Key("measures"), By()]


@dataclass(frozen=True, slots=True)
class ViewComparison(Declared):
    """The classes as one view shows them."""

    view: Annotated[ViewName, HIDDEN]
    classes: Annotated[Mapping[str, ClassComparison], "By key, such as `class=cat` or `top-label=cat`."]
    left_out: Annotated[
        Mapping[str, int], "Rows, on the side with fewer, of each class that has too few to be compared."
    ]
    least_rows: Annotated[int, "How many are enough."]
    confidence: Annotated[
        float,
        "Of each class's intervals, so that those of one measure hold for all classes at once (Bonferroni).",
    ]


@dataclass(frozen=True, slots=True)
class ClassesComparison(Declared):
    """Several classes on both sides."""

    names: Annotated[tuple[str, ...], "What they are called, in the order of their columns."]
    changed: Annotated[int, "Rows whose predicted class is another on the second side."]
    comparisons: Annotated[tuple[Comparison, ...], HIDDEN]
    views: Annotated[
        tuple[ViewComparison, ...], By("view"), "The views whose classes were compared one by one."
    ]
    # Whether a gate looks at every class in place of the largest probability.
    gated: Annotated[bool, HIDDEN]
    few: Annotated[
        bool,
        Key("few_measures"),
        "Whether classes were compared by a few measures only, because there are many.",
    ]

    @property
    def measure_names(
        self,
    ) -> Annotated[
        tuple[Compared, ...],
        Key("measures"),
        "Which of the measures of the report speak of all classes together.",
    ]:
        return tuple(one.name for one in self.comparisons)


SCHEMA = "calibcli.compare/2"


@dataclass(frozen=True, slots=True)
class Side(Declared):
    """One of the two that are compared."""

    name: Annotated[str, "What it is called: its column, or its artifact."]
    score: Annotated[str, "Name of the score column."]
    artifact: Annotated[str | None, "Path of the recalibrator that was applied to it, or null."]
    table: Annotated[TableSummary, "The rows by what it says of them."]


@dataclass(frozen=True, slots=True)
class GateFound(Declared):
    """What --fail-if-worse found."""

    measures: tuple[Compared, ...]
    worse_by: Annotated[
        tuple[Compared, ...],
        "Measures whose interval lies above 0, or below it for accuracy; over all rows or, where the gate "
        "looks at every class, in some class.",
    ]
    status: Literal["pass", "fail"]
    worse_classes: Annotated[
        tuple[str, ...] | None,
        ABSENT,
        "Keys of the classes in which the second is worse; absent unless the gate looks at every class.",
    ] = None


@dataclass(frozen=True, slots=True)
class CompareReport(KeptReport):
    """Two scores, or one score through two maps, on the same rows."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "compare"
    input: Annotated[InputSummary, "What was read; its score is the baseline's."]
    first: Annotated[Side, "The baseline."]
    second: Side
    confidence: Annotated[float, "Requested coverage of every interval."]
    comparisons: Annotated[tuple[Comparison, ...], HIDDEN]
    # The measures that decide whether the second is worse, or None where no gate was asked for.
    gate: Annotated[tuple[Compared, ...] | None, HIDDEN] = None
    notes: Notes = ()
    classes: Annotated[
        ClassesComparison | None,
        ABSENT,
        "Several classes, together and one by one; absent where there is one score, or one class is looked "
        "at.",
    ] = None
    # Whether somebody asked for these measures, so that tables leave none out.
    selected: Annotated[bool, HIDDEN] = False

    @property
    def table(self) -> TableSummary:
        """The table of the baseline, or of the other side if its scores are rounded more."""
        return max(self.first.table, self.second.table, key=lambda one: one.resolution)

    @property
    def every_comparison(
        self,
    ) -> Annotated[
        tuple[Comparison, ...],
        Key("measures"),
        By(),
        "By name, those of several classes together last.",
    ]:
        return (*self.comparisons, *(() if self.classes is None else self.classes.comparisons))

    @property
    def found(self) -> Annotated[GateFound | None, Key("gate"), "Null without --fail-if-worse."]:
        if self.gate is None:
            return None
        each = self.classes is not None and self.classes.gated
        status: Literal["pass", "fail"] = "fail" if self.worse_by else "pass"
        return GateFound(self.gate, self.worse_by, status, self.worse_classes if each else None)

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
