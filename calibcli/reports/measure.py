"""What `measure` hands back."""

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Self

from calibcli.codec import (
    ABSENT,
    ANY_NUMBER,
    HIDDEN,
    INLINE,
    PART,
    Among,
    AnyNumber,
    Between,
    By,
    Chance,
    Declared,
    Fraction,
    Key,
    Node,
    Size,
)
from calibcli.names import ClassMeasure, ComparisonName, GroupOrder, MeasureName, TestName, ViewName
from calibcli.reports.input import ArtifactPath, InputSummary, KeptReport, Notes, readable_keys
from calibcli.stats.curves.net_benefit import NetBenefit
from calibcli.stats.curves.reliability import ReliabilityCurve
from calibcli.stats.measures import ClassEstimate, Estimate, TestResult, TopError
from calibcli.stats.measures.differences import Difference
from calibcli.stats.measures.tests import CombinedTest
from calibcli.values import dataclass, field, replace

# How a note begins of a score that is the lower, the likelier label 1 is.
RANKS_WRONG = "the higher the score, the rarer label 1"


@dataclass(frozen=True, slots=True)
class WorstGroup(Declared):
    """The group that stands out by a measure.

    The largest of many estimates is above what the same group would show in fresh rows; the largest lower
    bound is not, as all bounds hold together.
    """

    measure: MeasureName
    by_estimate: Annotated[str, "Key of the group with the largest estimate, which tends to be too high."]
    estimate: AnyNumber
    by_lower: Annotated[
        str | None, "Key of the group with the largest lower bound; null where no bound is above 0."
    ]
    lower: Annotated[AnyNumber | None, "That bound; null where there are no bounds."]


@dataclass(frozen=True, slots=True)
class GroupsSummary(Declared):
    """The groups that rows fall into."""

    columns: Annotated[tuple[str, ...], Size(1), "The columns whose values make them."]
    measured: Annotated[tuple[str, ...], "Keys of their slices."]
    left_out: Annotated[Mapping[str, int], "Rows of each group that has too few to be measured."]
    least_rows: Annotated[int, "How many rows are enough."]
    confidence: Annotated[
        Chance,
        "Of each group's intervals, so that those of one measure hold for all groups at once (Bonferroni).",
    ]
    worst: Annotated[WorstGroup | None, "The group that stands out; null where ece was not measured."]
    adjusted: Annotated[
        Mapping[str, Mapping[str, Fraction | None]] | None,
        ABSENT,
        "By test and group, p-values that hold for all groups at once (Holm); absent without tests.",
    ] = None
    order: Annotated[GroupOrder, HIDDEN] = GroupOrder.WORST

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return it with groups of other names."""
        worst = self.worst
        if worst is not None:
            lower = None if worst.by_lower is None else names[worst.by_lower]
            worst = replace(worst, by_estimate=names[worst.by_estimate], by_lower=lower)
        adjusted = {
            test: {names[key]: one for key, one in found.items()}
            for test, found in (self.adjusted or {}).items()
        }
        return replace(
            self,
            measured=tuple(names[key] for key in self.measured),
            left_out={names[key]: rows for key, rows in self.left_out.items()},
            worst=worst,
            adjusted=None if self.adjusted is None else adjusted,
        )


@dataclass(frozen=True, slots=True)
class ClusterSummary(Declared):
    """The clusters of dependent rows."""

    column: Annotated[str, "The column whose equal values make one."]
    count: Annotated[int, "How many there are."]
    effective: Annotated[float, Between(0.0), "How many of equal weight would vary as much."]


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
    at_least: Annotated[
        Mapping[str, AnyNumber] | None,
        ABSENT,
        "Lower bounds of the binned ECE by key, the larger of that of its interval and one by betting, which "
        "all hold at once with the confidence asked for. Of one class against the rest; absent with weights, "
        "bins made of the rows, or many classes.",
    ] = None


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
    top: Annotated[
        tuple[TopError, ...],
        ABSENT,
        "The errors of the k largest probabilities of a row together, for k = 1 to that of `--top`; absent "
        "without it.",
    ] = ()

    @property
    def measure_names(
        self,
    ) -> Annotated[
        tuple[ClassMeasure, ...],
        Key("measures"),
        "Names of the measures, among those of the report, that speak of all classes together.",
    ]:
        return tuple(one.name for one in self.measures)

    @property
    def measured(self) -> frozenset[str]:
        """The keys of all slices that are views of classes."""
        return frozenset(key for view in self.views for key in view.measured)


SCHEMA = "calibcli.report/2"

# What a table of groups or classes shows where nobody says which measures, and of which no interval.
IN_TABLES = (MeasureName.ECE, MeasureName.SMECE, MeasureName.BIAS, MeasureName.BRIER)
VALUES_ALONE = (MeasureName.SMECE, MeasureName.BRIER)
# More further scores than these are a line each, unless somebody wants every detail.
MOST_SCORES_IN_FULL = 5


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
    # Rows of score 0 and label 1, or of score 1 and label 0.
    contradicting: Annotated[int, HIDDEN] = 0


@dataclass(frozen=True, slots=True)
class Told(Declared):
    """The further score less the first, and what that comes to; below 0 the further one is better."""

    difference: Annotated[Difference, INLINE]

    @property
    def verdict(self) -> Annotated[ComparisonName, "How the further score stands to the first."]:
        return self.difference.verdict


@dataclass(frozen=True, slots=True)
class MeasureReport(KeptReport):
    """Measures, tests and curve of one score column."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "measure"
    input: Annotated[
        InputSummary, "What was read: rows in are rows used, rows dropped and rows of other classes."
    ]
    table: Annotated[TableSummary, "What every number was computed from."]
    artifact: ArtifactPath
    # Requested coverage of every interval.
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
    net_benefit: Annotated[
        tuple[NetBenefit, ...],
        ABSENT,
        "What acting on the score is worth at the thresholds of `--threshold`; absent without any.",
    ] = ()
    # Whether somebody asked for these measures and tests, so that tables leave none out.
    selected: Annotated[bool, HIDDEN] = False

    def readable(self) -> Self:
        every: tuple[MeasureReport, ...] = (self, *self.slices.values())
        parts = [one.groups for one in every if one.groups is not None]
        keys = [key for one in parts for key in (*one.measured, *one.left_out)]
        names = readable_keys(keys, parts[0].columns) if parts else {}
        return self.renamed(names) if names else self

    def renamed(self, names: Mapping[str, str]) -> Self:
        groups = None if self.groups is None else self.groups.renamed(names)
        slices = {names.get(key, key): part.renamed(names) for key, part in self.slices.items()}
        return replace(self, groups=groups, slices=slices)

    def estimate(self, name: MeasureName) -> Estimate:
        return next(one for one in self.measures if one.name is name)

    @property
    def shown(self) -> tuple[MeasureName | TestName, ...]:
        """What a table of slices has columns for: all that somebody asked for, else the usual measures."""
        names = tuple(one.name for one in self.measures)
        if self.selected:
            return (*names, *(one.name for one in self.tests))
        return tuple(name for name in IN_TABLES if name in names)

    @property
    def ranking(self) -> tuple[list[MeasureName], MeasureName | None]:
        """The measures of such a table, none where it begins with a test, and by which of them groups are put
        the worst first.
        """
        shown = self.shown
        measured = [name for name in shown if isinstance(name, MeasureName)]
        measured = measured if measured[:1] == [*shown[:1]] else []
        return measured, next((name for name in measured if name.facts.best is not None), None)

    @property
    def mean_score(self) -> float:
        bins = self.curve.binned
        return float(bins.rows @ bins.score) / float(bins.rows.sum())

    @property
    def every_measure(
        self,
    ) -> Annotated[tuple[Estimate | ClassEstimate, ...], Key("measures"), By(), "By name."]:
        return (*self.measures, *(() if self.classes is None else self.classes.measures))

    @property
    def every_test(
        self,
    ) -> Annotated[
        Mapping[str, TestResult | CombinedTest],
        Key("tests"),
        "By name, and combined in one p-value; empty where none was asked for.",
    ]:
        together = {} if self.combined is None else {"combined": self.combined}
        return {**{one.name.value: one for one in self.tests}, **together}

    @property
    def in_groups(self) -> frozenset[str]:
        """The keys of all slices that are groups of rows."""
        views = [self, *self.slices.values()]
        return frozenset(key for view in views if view.groups is not None for key in view.groups.measured)

    @property
    def further_scores(self) -> "dict[str, MeasureReport]":
        """The reports of further scores over all rows, by the key of their slice."""
        groups = self.in_groups
        return {
            key: part
            for key, part in self.slices.items()
            if part.input.score != self.input.score and key not in groups
        }

    @property
    def rules(self) -> Annotated[Mapping[str, object], "What `verify` was asked: nothing here."]:
        return {}

    @property
    def verdict(self) -> Annotated[None, "One answer for all rules: none here."]:
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
        return {key: {one.name: Told(one) for one in many} for key, many in self.differences.items()}


FROM_MEASURE = "write one with `calibcli measure ... --json -o report.json`"


def report_in(root: Node) -> MeasureReport:
    """Return what a document of `measure` says beside tests and net benefit."""
    found = _part_in(root)
    groups = () if found.groups is None else found.groups.measured
    views = () if found.classes is None else found.classes.views
    for key in (*groups, *(key for view in views for key in view.measured), *found.differences):
        root.child("slices").child(key)
    return found


def _part_in(part: Node) -> MeasureReport:
    if part.child("curve").value is None:
        msg = "is null: this is not a report of `calibcli measure`"
        raise part.child("curve").problem(msg, FROM_MEASURE)
    there, every = part.members(), measures_in(part).values()
    curve, artifact = ReliabilityCurve.from_dict(there["curve"]), part.optional("artifact")
    return MeasureReport(
        input=InputSummary.from_dict(part.child("input")),
        table=TableSummary.from_dict(part.child("table")),
        artifact=None if artifact is None else artifact.text(),
        confidence=curve.confidence,
        measures=tuple(one for one in every if isinstance(one, Estimate)),
        tests=(),
        combined=None,
        curve=curve,
        slices={key: _part_in(one) for key, one in part.child("slices").members().items()},
        notes=part.child("notes").texts(),
        groups=GroupsSummary.from_dict(there["groups"]) if "groups" in there else None,
        differences={
            key: tuple(
                Told.from_dict(one.knowing(name=_named(name))).difference
                for name, one in many.members().items()
            )
            for key, many in (there["differences"].members() if "differences" in there else {}).items()
        },
        classes=_classes_in(there["classes"], every) if "classes" in there else None,
    )


def _classes_in(node: Node, measures: Iterable[Estimate | ClassEstimate]) -> ClassesReport:
    return ClassesReport(
        names=node.child("names").texts(),
        measures=tuple(one for one in measures if isinstance(one, ClassEstimate)),
        views=tuple(
            ViewSummary.from_dict(view.knowing(view=Node(name).choice(ViewName)))
            for name, view in node.child("views").members().items()
        ),
        few=node.child("few_measures").truth(),
    )


def measures_in(part: Node) -> dict[str, Estimate | ClassEstimate]:
    """Return every measure of a document, or of a slice of one, by its name."""
    return {name: measure_in(part, name) for name in part.child("measures").members()}


def measure_in(part: Node, name: str) -> Estimate | ClassEstimate:
    """Return a measure of a document, or of a slice of one, that has it."""
    node = part.child("measures").child(name)
    node = node.knowing(rows=part.child("table").child("rows").whole(), null_range=_null_range(node))
    known = _named(name)
    return (ClassEstimate if isinstance(known, ClassMeasure) else Estimate).from_dict(
        node.knowing(name=known)
    )


def _named(name: str) -> MeasureName | ClassMeasure:
    return ClassMeasure(name) if name in set(ClassMeasure) else Node(name).choice(MeasureName)


def _null_range(node: Node) -> tuple[float, float] | None:
    """Return the range if calibrated, which reports of earlier versions do not have."""
    ends = [node.members().get(end) for end in ("null_lower", "null_upper")]
    low, high = (None if end is None or end.value is None else ANY_NUMBER.read(end) for end in ends)
    return None if low is None or high is None else (low, high)
