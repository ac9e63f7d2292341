"""What `segments` hands back."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from calibcli.codec import ABSENT, HIDDEN, PART, AnyNumber, Declared, Fraction
from calibcli.reports.input import ArtifactPath, InputSummary, KeptReport, Notes
from calibcli.reports.measure import TableSummary
from calibcli.values import dataclass, field

SCHEMA = "calibcli.segments/2"


@dataclass(frozen=True, slots=True)
class Found(Declared):
    """One number over all segments."""

    value: Annotated[AnyNumber | None, "Null where no segment was tested."]
    method: Annotated[str, "How it was found."]


@dataclass(frozen=True, slots=True)
class SegmentColumn(Declared):
    """A column whose values make segments."""

    name: str
    kind: Annotated[str, "`categories`, or `numbers` cut at their quartiles."]
    levels: Annotated[tuple[str, ...], "Each level as a condition."]


@dataclass(frozen=True, slots=True)
class Ends(Declared):
    """An interval that holds for all tested segments at once."""

    lower: AnyNumber
    upper: AnyNumber


@dataclass(frozen=True, slots=True)
class WrongFor(Declared):
    """The scores in which the cumulative residuals of a segment rise or fall most."""

    lower: Fraction
    upper: Fraction
    rows: int
    gap: Annotated[AnyNumber, "Mean score less observed rate of these rows."]


@dataclass(frozen=True, slots=True)
class Segment(Declared):
    """Rows that agree in the levels of some columns."""

    where: Annotated[tuple[str, ...], "The conditions; none for all rows."]
    rows: int
    positive: Annotated[int, "Rows with label 1."]
    mean_score: Fraction
    observed_rate: Fraction
    bias: Annotated[AnyNumber, "Mean score less observed rate: above 0 where scores are too high."]
    sigma: Annotated[AnyNumber, "Range of the cumulative residuals, by the root of the sum of f (1 - f)."]
    not_tested: Annotated[str | None, "Why it is not tested; null where it is."]
    p_value: Annotated[AnyNumber | None, "Of the range, for all tested segments at once; null if not tested."]
    bias_interval: Annotated[Ends | None, "Of the bias, for all tested segments at once."]
    smallest_detectable: Annotated[
        AnyNumber | None, "Bias that is found in such a segment with probability 0.8."
    ]
    stands_out: Annotated[bool, "Whether it is shown to be miscalibrated, for all tested segments at once."]
    explained_by: Annotated[
        tuple[str, ...] | None,
        "The conditions of a larger segment from which its error is not told apart, if it stands out and "
        "there is one; null otherwise.",
    ]
    because_of: Annotated[
        tuple[str, ...] | None,
        ABSENT,
        "The conditions of a part, listed too, without which the rest is not shown to be miscalibrated; of "
        "the first segments of the list only.",
    ] = None
    wrong_for: Annotated[WrongFor | None, ABSENT, "Of the first segments of the list only."] = None

    @property
    def observed_by_expected(
        self,
    ) -> Annotated[AnyNumber | None, "O/E ratio: observed rate by mean score; null where the latter is 0."]:
        return self.observed_rate / self.mean_score if self.mean_score else None

    @property
    def ratio_interval(self) -> Annotated[Ends | None, "Of the O/E ratio, where that of the bias is known."]:
        ends, score = self.bias_interval, self.mean_score
        if ends is None or not score:
            return None
        return Ends((score - ends.upper) / score, (score - ends.lower) / score)

    @property
    def is_listed(self) -> bool:
        """Whether it stands out by more than a larger segment explains."""
        return self.stands_out and self.explained_by is None


@dataclass(frozen=True, slots=True)
class SegmentsReport(KeptReport):
    """Where the scores are wrong, of all segments that some columns make."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "segments"
    input: Annotated[InputSummary, "What was read."]
    table: Annotated[TableSummary, "All rows."]
    artifact: ArtifactPath
    confidence: Annotated[float, "Of all statements together."]
    columns: tuple[SegmentColumn, ...]
    depth: Annotated[int, "Intersections of up to so many columns."]
    least_rows: Annotated[int, "Segments of fewer rows are not tested."]
    least_spread: Annotated[float, "Segments whose sum of f (1 - f) is smaller are not tested."]
    mce: Annotated[
        Found, "Multicalibration error: the largest `sigma`, on the scale of the residuals of all rows."
    ]
    mce_sigma: Annotated[Found, "The largest `sigma` of the tested segments."]
    mce_p: Annotated[Found, "The smallest joint p-value."]
    tested: Annotated[int, "How many segments are tested."]
    segments: Annotated[
        tuple[Segment, ...], "Those that stand out first, then the tested and the others, by `sigma`."
    ]
    notes: Notes = ()
    slices: Annotated[
        Mapping[str, "SegmentsReport"],
        PART,
        ABSENT,
        "Further scores, each by itself and in the same shape, by key such as `score=b`; absent without any.",
    ] = field(default_factory=dict)
    grid: Annotated[bool, HIDDEN] = False

    @property
    def shown(self) -> tuple[Segment, ...]:
        """The segments whose error goes beyond that of any larger one, worst first."""
        return tuple(one for one in self.segments if one.is_listed)

    @property
    def roots(self) -> tuple[Segment, ...]:
        """Those of them that are wrong for more than one of their parts."""
        return tuple(one for one in self.shown if one.because_of is None)

    @property
    def untested(self) -> tuple[Segment, ...]:
        return tuple(one for one in self.segments if one.not_tested is not None)
