"""What `compare` hands back of more than two scores, or of scores beside a reference."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from calibcli.codec import ABSENT, HIDDEN, AnyNumber, By, Declared, Key
from calibcli.names import ComparisonName
from calibcli.reports.input import InputSummary, KeptReport, Notes
from calibcli.reports.measure import ClusterSummary
from calibcli.stats.measures import ClassEstimate, Estimate
from calibcli.stats.measures.differences import Compared, Difference, Skill
from calibcli.values import dataclass

PAIRWISE = "--on-missing pairwise"


@dataclass(frozen=True, slots=True)
class Contrast(Declared):
    """Two scores by one measure, on the rows that both have."""

    first: Annotated[str, "Name of the score that the other is compared with."]
    second: Annotated[str, "Name of the other."]
    rows: Annotated[int, "How many rows both have."]
    difference: Annotated[Difference, "Second less first."]

    @property
    def verdict(self) -> Annotated[ComparisonName, "How the second stands to the first."]:
        return self.difference.verdict


@dataclass(frozen=True, slots=True)
class Standing(Declared):
    """One score by one measure."""

    name: Annotated[str, "What the score is called."]
    rows: Annotated[int, "How many rows have it."]
    estimate: Annotated[Estimate | ClassEstimate, "Over those rows, with an interval of its own."]
    contrast: Annotated[
        Contrast | None, "The score less the one that all are compared with; null for that one."
    ] = None
    skill: Annotated[
        Skill | None,
        "Share saved of the loss of the reference on the rows of both; null without a reference, for itself, "
        "and where no row has both.",
    ] = None


@dataclass(frozen=True, slots=True)
class Ranking(Declared):
    """All scores by one measure, the best first: by its value, or where rows differ by the rows of both."""

    name: Annotated[Compared, HIDDEN]
    against: Annotated[str, "The score that all others are compared with: the reference, or the best."]
    standings: tuple[Standing, ...]
    pairs: Annotated[
        tuple[Contrast, ...] | None, ABSENT, "Every pair; absent unless they were asked for."
    ] = None

    def names_the_best(self) -> bool:
        """Whether the score that others are held against shares rows with each, and is not as bad as all."""
        others = [one.contrast for one in self.standings if one.contrast is not None]
        shared = all(one.rows > 0 and one.verdict is not ComparisonName.BETTER for one in others)
        return shared and any(one.difference.value is not None for one in others)

    @property
    def not_judged(self) -> tuple[str, ...]:
        """The scores that share rows with that one, and of whose difference there is no interval."""
        others = [(one.name, one.contrast) for one in self.standings if one.contrast is not None]
        return tuple(name for name, one in others if one.rows and not one.difference.judged)

    def of_verdict(self, verdict: ComparisonName | None) -> tuple[str, ...]:
        """Return the scores that stand so to the one that all are held against; None: no row of both."""
        others = [(one.name, one.contrast) for one in self.standings if one.contrast is not None]
        return tuple(name for name, one in others if (one.verdict if one.rows else None) is verdict)


@dataclass(frozen=True, slots=True)
class WorseThan(Declared):
    """What --fail-if-worse found."""

    measures: tuple[Compared, ...]
    worse: Annotated[tuple[str, ...], "Scores that are shown to be worse than the reference by one of them."]


@dataclass(frozen=True, slots=True)
class GroupBoard(Declared):
    """Several scores on the rows of one group."""

    name: Annotated[str, "Value of the column."]
    rows: Annotated[int, "How many rows it has."]
    each: Annotated[
        float, Key("difference_confidence"), "Of each difference, so that those of all groups hold at once."
    ]
    rankings: Annotated[tuple[Ranking, ...], Key("measures"), By()]


@dataclass(frozen=True, slots=True)
class GroupBoards(Declared):
    """Several scores in each group of rows, whose differences hold all at once."""

    column: Annotated[str, "The column whose values make groups."]
    confidence: Annotated[
        float, "Of the intervals of each group, at which those of all groups hold (Bonferroni)."
    ]
    boards: Annotated[tuple[GroupBoard, ...], "In order."]
    left_out: Annotated[Mapping[str, int], "Rows of each group that has too few to be compared."]
    least_rows: Annotated[int, "How many rows are enough."]


SCHEMA = "calibcli.leaderboard/2"


@dataclass(frozen=True, slots=True)
class LeaderboardReport(KeptReport):
    """Several scores on the same rows, or several models on the same questions."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "leaderboard"
    input: Annotated[InputSummary, "What was read."]
    models: Annotated[str | None, "Column that names the models in rows, or null where scores are columns."]
    reference: Annotated[str | None, "The score that was named to hold the others against, or null."]
    confidence: Annotated[float, "Of all differences of one measure together, and of each other interval."]
    each: Annotated[
        float, Key("difference_confidence"), "Of each difference, so that all hold at once (Bonferroni)."
    ]
    family: Annotated[int, "How many differences of a measure hold at once."]
    rankings: Annotated[tuple[Ranking, ...], Key("measures"), By()]
    positive: Annotated[
        AnyNumber | None, "Share of rows with label 1; null where rows have labels of their own."
    ]
    gate: Annotated[tuple[Compared, ...] | None, HIDDEN] = None
    notes: Notes = ()
    clusters: Annotated[
        ClusterSummary | None, ABSENT, "The clusters of dependent rows; absent where rows are independent."
    ] = None

    groups: Annotated[
        GroupBoards | None, ABSENT, "The same in each group of rows; absent where none were asked for."
    ] = None

    @property
    def found(self) -> Annotated[WorseThan | None, Key("gate"), "Null without --fail-if-worse."]:
        return None if self.gate is None else WorseThan(self.gate, self.worse_by)

    @property
    def worse_by(self) -> tuple[str, ...]:
        gated = (one for one in self.rankings if one.name in (self.gate or ()))
        return tuple(dict.fromkeys(name for one in gated for name in one.of_verdict(ComparisonName.WORSE)))
