"""What `drift` hands back."""

from typing import Annotated, ClassVar, Literal

from calibcli.codec import ABSENT, HIDDEN, LATELY, AnyNumber, Chance, Declared, Fraction
from calibcli.reports.input import InputSummary, KeptReport, Notes
from calibcli.values import dataclass

SCHEMA = "calibcli.drift/2"


@dataclass(frozen=True, slots=True)
class DriftLevel(Declared):
    """Rows that agree in a column: one value, or numbers between two quantiles of the old rows."""

    where: Annotated[str, "The level as a condition."]
    old: Annotated[int, "Old rows in it."]
    new: Annotated[int, "New rows in it."]
    old_share: Fraction
    new_share: Fraction
    psi: Annotated[
        AnyNumber,
        "What it adds: (new share - old share) ln(new share / old share), an empty side as half a row.",
    ]

    # What is compared: the value, or the condition on numbers.
    name: Annotated[str, HIDDEN] = ""

    @property
    def one_sided(self) -> bool:
        """Whether it is empty on one side alone."""
        return (self.old == 0) != (self.new == 0)


@dataclass(frozen=True, slots=True)
class DriftColumn(Declared):
    """A column whose values are compared."""

    name: str
    kind: Annotated[str, "`values`, or `quantiles` of the old rows."]
    psi: Annotated[AnyNumber, "Population stability index: the sum over the levels."]
    by_chance: Annotated[AnyNumber, "Where nothing has shifted no column is above its own with `confidence`."]
    p_value: Annotated[float, "Of such an index, or a larger one, where nothing has shifted."]
    p_joint: Annotated[float, "The same, for all columns at once (Holm)."]
    shifted: Annotated[bool, "Whether a shift is shown, for all columns at once."]
    method: Annotated[str, "How the law was found."]
    levels: tuple[DriftLevel, ...]
    at_most: Annotated[
        bool,
        ABSENT,
        "Whether the p-value is the least that so many draws can give, and may be any smaller one.",
    ] = False


@dataclass(frozen=True, slots=True)
class Compared(Declared):
    """The groups of one file that are compared."""

    column: Annotated[str, "The column whose values make them; each is one of `columns` but the first."]
    base: Annotated[str, "The first group, which the others are compared with."]


@dataclass(frozen=True, slots=True)
class DriftGate(Declared):
    """What --max-psi found."""

    max_psi: Annotated[float, "The largest PSI that passes where a shift is shown."]
    failed_by: Annotated[tuple[str, ...], "Columns of which a shift is shown whose PSI is above that."]
    status: Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class DriftReport(KeptReport):
    """Whether the score and other columns have shifted from old to new rows."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "drift"
    old: Annotated[InputSummary, "The rows that others are compared with."]
    new: Annotated[InputSummary, "The rows that may have shifted."]
    confidence: Annotated[
        Chance, "One less the probability that anything is called shifted where nothing is."
    ]
    columns: Annotated[tuple[DriftColumn, ...], "The score first, then others as they were named."]
    seed: Annotated[int, "Seed of draws."]
    notes: Notes = ()
    by: Annotated[
        Compared | None, ABSENT, "How groups of one file are compared; absent where old and new rows are."
    ] = None

    max_psi: Annotated[float | None, HIDDEN] = None

    @property
    def gate(self) -> Annotated[DriftGate | None, LATELY, "Null without --max-psi."]:
        limit = self.max_psi
        if limit is None:
            return None
        failed_by = tuple(one.name for one in self.shifted if one.psi > limit)
        return DriftGate(limit, failed_by, "fail" if failed_by else "pass")

    @property
    def shifted(self) -> tuple[DriftColumn, ...]:
        return tuple(one for one in self.columns if one.shifted)
