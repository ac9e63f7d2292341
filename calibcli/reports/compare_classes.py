"""What `compare` says of several classes: measures of all together, and every class by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from calibcli.codec import HIDDEN, By, Declared, Key
from calibcli.measures.paired import Compared
from calibcli.reports.comparison import Comparison
from calibcli.view_names import ViewName


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
        """The names of the measures."""
        return tuple(one.name for one in self.comparisons)
