"""What a report says of groups of rows, and of clusters of dependent ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from calibcli.codec import AnyNumber, Between, Chance, Declared, Size
from calibcli.names import MeasureName


@dataclass(frozen=True, slots=True)
class WorstGroup(Declared):
    """
    The group that stands out by a measure.

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


@dataclass(frozen=True, slots=True)
class ClusterSummary(Declared):
    """The clusters of dependent rows."""

    column: Annotated[str, "The column whose equal values make one."]
    count: Annotated[int, "How many there are."]
    effective: Annotated[float, Between(0.0), "How many of equal weight would vary as much."]
