"""What `measure` hands back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from calibcli.codec import ABSENT, HIDDEN, INLINE, PART, Among, By, Declared, Fraction, Key
from calibcli.curves.reliability import ReliabilityCurve
from calibcli.measures.estimate import ClassEstimate, Estimate, TestResult
from calibcli.measures.paired import Difference
from calibcli.measures.tests import CombinedTest
from calibcli.names import ComparisonName, MeasureName
from calibcli.reports.classes import ClassesReport
from calibcli.reports.groups import ClusterSummary, GroupsSummary
from calibcli.reports.input import InputSummary
from calibcli.reports.page_names import PageName
from calibcli.reports.plain import ArtifactPath, Kept, Notes
from calibcli.view_names import ClassMeasure

SCHEMA = "calibcli.report/2"


@dataclass(frozen=True, slots=True)
class TableSummary(Declared):
    """The table that every number of a report was computed from."""

    kind: Annotated[
        str,
        Among(("exact", "grid", "cells")),
        "grid where distinct scores did not fit in memory; cells in the state of a gate.",
    ]
    rows: int
    positive: Annotated[int, "Rows with label 1."]
    distinct: Annotated[int, "Distinct scores, or occupied cells of the grid."]
    resolution: Annotated[Fraction, "Largest change of a score by rounding; 0 for an exact table."]
    digest: Annotated[str | None, "Fingerprint of the table; null where it was not asked for."]
    discrete: Annotated[bool, "Whether each distinct score is measured by itself."]
    weighted: Annotated[bool, "Whether rows carry importance weights."]


@dataclass(frozen=True, slots=True)
class Told(Declared):
    """The further score less the first, and what that comes to; below 0 the further one is better."""

    difference: Annotated[Difference, INLINE]

    @property
    def verdict(self) -> Annotated[ComparisonName, "How the further score stands to the first."]:
        """Which way the interval lies of 0, if it does."""
        return self.difference.verdict


@dataclass(frozen=True, slots=True)
class MeasureReport(Kept):
    """Measures, tests and curve of one score column."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[Literal[PageName.MEASURE]] = PageName.MEASURE
    input: Annotated[
        InputSummary, "What was read: rows in are rows used, rows dropped and rows of other classes."
    ]
    table: Annotated[TableSummary, "What every number was computed from."]
    artifact: ArtifactPath
    # Coverage asked of every interval.
    confidence: Annotated[float, HIDDEN]
    measures: Annotated[tuple[Estimate, ...], HIDDEN]
    tests: Annotated[tuple[TestResult, ...], HIDDEN]
    combined: Annotated[CombinedTest | None, HIDDEN]
    curve: Annotated[ReliabilityCurve, "The reliability diagram."]
    slices: Annotated[
        Mapping[str, "MeasureReport"],
        PART,
        "Groups of rows, classes and further scores, in the same shape, by key such as "
        "`country=US/device=phone`, `score=b`, `score=b/country=US`, `class=cat` or `top-label=cat`.",
    ] = field(default_factory=dict)
    notes: Notes = ()
    groups: Annotated[
        GroupsSummary | None,
        ABSENT,
        "The groups of rows among the slices; absent where none were asked for.",
    ] = None
    differences: Annotated[Mapping[str, tuple[Difference, ...]], HIDDEN] = field(default_factory=dict)
    clusters: Annotated[
        ClusterSummary | None, ABSENT, "The clusters of dependent rows; absent where rows are independent."
    ] = None
    classes: Annotated[
        ClassesReport | None,
        ABSENT,
        "Several classes, together and one by one; absent where there is one score, or one class is looked "
        "at.",
    ] = None
    # Whether somebody asked for these measures and tests, so that tables leave none out.
    chosen: Annotated[bool, HIDDEN] = False

    @property
    def every_measure(
        self,
    ) -> Annotated[tuple[Estimate | ClassEstimate, ...], Key("measures"), By(), "By name."]:
        """The measures, those of several classes last."""
        return (*self.measures, *(() if self.classes is None else self.classes.measures))

    @property
    def every_test(
        self,
    ) -> Annotated[
        Mapping[str, TestResult | CombinedTest],
        Key("tests"),
        "By name, and combined in one p-value; empty where none was asked for.",
    ]:
        """The tests, and what they say together."""
        together = {} if self.combined is None else {"combined": self.combined}
        return {**{one.name.value: one for one in self.tests}, **together}

    @property
    def rules(self) -> Annotated[Mapping[str, object], "What `verify` was asked: nothing here."]:
        """None: nothing is judged."""
        return {}

    @property
    def verdict(self) -> Annotated[None, "One answer for all rules: none here."]:
        """None: nothing is judged."""
        return

    @property
    def told_differences(
        self,
    ) -> Annotated[
        Mapping[str, Mapping[MeasureName | ClassMeasure, Told]],
        Key("differences"),
        ABSENT,
        "How further scores differ from this one, by the key of their slice and by measure; absent for one "
        "score.",
    ]:
        """The differences with what they come to; None without any."""
        return {key: {one.name: Told(one) for one in many} for key, many in self.differences.items()}
