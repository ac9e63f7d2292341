"""What `measure` hands back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from calibcli.bounds.interval import Interval
from calibcli.curves.reliability import ReliabilityCurve
from calibcli.measures.estimate import ClassEstimate, Estimate, TestResult
from calibcli.measures.paired import Difference
from calibcli.measures.tests import CombinedTest
from calibcli.reports.classes import ClassesReport
from calibcli.reports.groups import ClusterSummary, GroupsSummary
from calibcli.reports.input import InputSummary
from calibcli.reports.page_names import PageName
from calibcli.reports.plain import number
from calibcli.version import __version__

SCHEMA = "calibcli.report/2"


@dataclass(frozen=True, slots=True)
class TableSummary:
    """
    The table that every number of a report was computed from.

    Args:
        kind: "exact"; "grid" where distinct scores did not fit in memory; "cells" in the state of a gate.

        rows: Number of rows.

        positive: How many have label 1.

        distinct: Distinct scores, or occupied cells of the grid.

        resolution: Largest change of a score by rounding to the grid; 0 for an exact table.

        digest: Fingerprint of the table, or None where it was not asked for.

        discrete: Whether the score takes so few values that each is measured by itself.

        weighted: Whether rows carry importance weights.
    """

    kind: str
    rows: int
    positive: int
    distinct: int
    resolution: float
    digest: str | None
    discrete: bool
    weighted: bool

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "kind": self.kind,
            "rows": self.rows,
            "positive": self.positive,
            "distinct": self.distinct,
            "resolution": self.resolution,
            "digest": self.digest,
            "discrete": self.discrete,
            "weighted": self.weighted,
        }


@dataclass(frozen=True, slots=True)
class MeasureReport:
    """
    Measures, tests and curve of one score column.

    Args:
        input: What was read.

        table: What it was gathered into.

        artifact: Path of the recalibrator that was applied first, or None.

        confidence: Coverage asked of every interval.

        measures: In the order asked for.

        tests: In the order of the vocabulary; empty where none was asked for.

        combined: The tests in one p-value, or None where none was asked for.

        curve: The reliability curve.

        slices: Reports of other columns of the same rows, and of groups of rows, by key such as `score=raw`
            and `country=US`.

        notes: Sentences the reader should not miss.

        groups: Which slices are groups of these rows, and which of them is worst; None without groups.

        differences: For the key of each further score how its measures differ from those of this one.

        clusters: The clusters of dependent rows, or None where rows are independent.

        classes: Several classes together and by themselves; None where there is one score, or one class is
            looked at.

        chosen: Whether somebody asked for these measures and tests, so that tables leave none out.
    """

    page: ClassVar[Literal[PageName.MEASURE]] = PageName.MEASURE
    input: InputSummary
    table: TableSummary
    artifact: str | None
    confidence: float
    measures: tuple[Estimate, ...]
    tests: tuple[TestResult, ...]
    combined: CombinedTest | None
    curve: ReliabilityCurve
    slices: Mapping[str, "MeasureReport"] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    groups: GroupsSummary | None = None
    differences: Mapping[str, tuple[Difference, ...]] = field(default_factory=dict)
    clusters: ClusterSummary | None = None
    classes: ClassesReport | None = None
    chosen: bool = False

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, in the shape of `calibcli schema report`."""
        return {"schema": SCHEMA, "tool": {"name": "calibcli", "version": __version__}, **self.body()}

    def body(self) -> dict[str, object]:
        """Return what the report and each of its slices have in common."""
        return {
            "input": self.input.to_dict(),
            "artifact": self.artifact,
            "table": self.table.to_dict(),
            "measures": self._measures(),
            "tests": _tests_to_dict(self.tests, self.combined),
            "curve": self.curve.to_dict(),
            "rules": {},
            "verdict": None,
            "slices": {key: report.body() for key, report in self.slices.items()},
            "notes": list(self.notes),
            **self._where_asked(),
        }

    def _measures(self) -> dict[str, object]:
        """Return the measures, those of several classes last."""
        of_classes = () if self.classes is None else self.classes.measures
        found = {one.name.value: estimate_to_dict(one) for one in self.measures}
        return {**found, **{one.name.value: estimate_to_dict(one) for one in of_classes}}

    def _where_asked(self) -> dict[str, object]:
        """Return what only some reports have."""
        found: dict[str, object] = {}
        if self.groups is not None:
            found["groups"] = self.groups.to_dict()
        if self.differences:
            found["differences"] = {
                key: {
                    one.name.value: {**difference_to_dict(one), "verdict": one.verdict.value} for one in many
                }
                for key, many in self.differences.items()
            }
        if self.clusters is not None:
            found["clusters"] = self.clusters.to_dict()
        if self.classes is not None:
            found["classes"] = self.classes.to_dict()
        return found


def difference_to_dict(difference: Difference) -> dict[str, object]:
    """Return how two scores differ as plain values; bounds that do not exist are null."""
    return {
        "value": number(difference.value),
        **_interval_to_dict(difference.interval),
        "assumptions": list(difference.assumptions),
    }


def estimate_to_dict(estimate: Estimate | ClassEstimate) -> dict[str, object]:
    """Return one measure as plain values; bounds that do not exist are null."""
    return {
        "value": number(estimate.value),
        **_interval_to_dict(estimate.interval),
        "null": number(estimate.null),
        "null_lower": None if estimate.null_range is None else number(estimate.null_range[0]),
        "null_upper": None if estimate.null_range is None else number(estimate.null_range[1]),
        "assumptions": list(estimate.assumptions),
        "details": {
            key: number(value) if isinstance(value, float) else value
            for key, value in estimate.details.items()
        },
    }


def _tests_to_dict(tests: tuple[TestResult, ...], combined: CombinedTest | None) -> dict[str, object]:
    members: dict[str, object] = {
        one.name.value: {
            "statistic": number(one.statistic),
            "p_value": one.p_value,
            "p_method": one.p_method,
            "p_asymptotic": one.p_asymptotic,
            "assumptions": list(one.assumptions),
        }
        for one in tests
    }
    if combined is not None:
        members["combined"] = {
            "p_value": combined.p_value,
            "p_method": "bonferroni",
            "of": [name.value for name in combined.tests],
        }
    return members


def _interval_to_dict(interval: Interval | None) -> dict[str, object]:
    """Return what is said of an interval as plain values, all null without one."""
    return {
        "lower": None if interval is None else number(interval.lower),
        "upper": None if interval is None else number(interval.upper),
        "confidence": None if interval is None else interval.confidence,
        "sides": None if interval is None else 2,
        "method": None if interval is None else interval.method,
        "target": None if interval is None else interval.target.value,
        "finite_sample": None if interval is None else interval.finite_sample,
    }
