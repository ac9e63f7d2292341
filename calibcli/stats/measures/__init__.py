"""Table to estimate: what is measured, with its interval, its method and its assumptions.

What a measure is of, why its interval holds and who found it stands in its entry in `calibcli/families/`,
which `measure --explain NAME` and docs/methods.md show; docstrings have the formula, and what is so in the
code alone.
"""

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Self

from calibcli.codec import HIDDEN, INLINE, LATELY, AnyNumber, Between, Declared, Fraction
from calibcli.families import loaded
from calibcli.names import ClassMeasure, MeasureName, TestName
from calibcli.stats.bounds import Interval
from calibcli.stats.bounds.proportion import hoeffding_deviation
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass, field, replace

if TYPE_CHECKING:
    from calibcli.stats.measures.if_calibrated import Measures, Settings

INDEPENDENT_ROWS = "rows are independent"

HELD_OUT = "no row was used to train the model, the recalibrator or the bins"

NO_WEIGHTED_INTERVAL = "no interval: importance weights leave only bounds that this measure does not have"

NOT_BY_LABELS = "the weights of rows must not depend on their labels"

# Of a test.
CERTAIN = "undefined: every score is 0 or 1"

HOEFFDING = "Hoeffding with what each label moves, by its weight"

Range = tuple[float, float]

# The value on average over calibrated scores, and its range; either is None where it is not known.
Reference = tuple[float | None, Range | None]

UNKNOWN: Reference = (None, None)

# What rounding leaves of a difference that is 0, beside what it is of.
DUST = 1e-12


@dataclass(frozen=True, slots=True)
class Estimated(Declared):
    """The value of a measure, with its two-sided interval."""

    name: Annotated[MeasureName | ClassMeasure, HIDDEN]
    value: Annotated[AnyNumber, "The estimate."]
    interval: Annotated[Interval | None, INLINE]
    null: Annotated[
        AnyNumber | None, "What the value would be on average if the scores were the true probabilities."
    ]
    assumptions: Annotated[tuple[str, ...], "Under which value and interval mean what they say."]
    rows: Annotated[int, HIDDEN]
    # Such as the bandwidth or the partition.
    details: Annotated[Mapping[str, float | int | str], "Further numbers and words."] = field(
        default_factory=dict
    )
    # Where nine in ten such values would lie (5 to 95 %), or None where that is not known.
    null_range: Annotated[Range | None, HIDDEN] = None

    @classmethod
    def of(
        cls,
        name: MeasureName | ClassMeasure,
        table: Table,
        value: float,
        interval: Interval | None = None,
        *,
        null: Reference = UNKNOWN,
        because: Iterable[str] = (HELD_OUT,),
        details: Mapping[str, float | int | str] | None = None,
    ) -> Self:
        """Return a measure of a table, whose rows are independent, because of what else is assumed."""
        assumptions = (INDEPENDENT_ROWS, *because)
        if table.weighted and interval is not None and interval.finite_sample:
            assumptions = (*assumptions, NOT_BY_LABELS)
        mean, ends = null
        if ends is not None and abs(ends[0]) < DUST * ends[1]:
            ends = 0.0, ends[1]
        return cls(name, value, interval, mean, assumptions, table.total_rows, details or {}, ends)

    @property
    def null_lower(
        self,
    ) -> Annotated[
        AnyNumber | None,
        LATELY,
        "Lower end of the range in which nine in ten calibrated scores would lie on these rows (5 %).",
    ]:
        return None if self.null_range is None else self.null_range[0]

    @property
    def null_upper(self) -> Annotated[AnyNumber | None, LATELY, "Upper end of that range (95 %)."]:
        return None if self.null_range is None else self.null_range[1]


@dataclass(frozen=True, slots=True)
class Estimate(Estimated):
    """The value of a measure of one score, with its two-sided interval."""

    name: Annotated[MeasureName, HIDDEN]

    @property
    def least_badness(self) -> float:
        """How bad a measure is at the better end of its interval; of one around the best value nothing."""
        facts, interval = self.name.facts, self.interval
        if interval is None or facts.best is None:
            return 0.0
        low, high = interval.ends
        return 0.0 if low <= facts.best <= high else min(facts.badness(low), facts.badness(high))

    @property
    def worst_first(self) -> tuple[bool, bool, float]:
        """What sorts the worst first: those their interval shows to be off, then others, by value."""
        return math.isnan(self.value), not self.least_badness, -self.name.facts.badness(self.value)


@dataclass(frozen=True, slots=True)
class ClassEstimate(Estimated):
    """The value of a measure of several classes together, with its two-sided interval."""

    name: Annotated[ClassMeasure, HIDDEN]


@dataclass(frozen=True, slots=True)
class TopError(Declared):
    """How far the k largest probabilities of a row are, as one vector, from how often each is right."""

    k: Annotated[int, Between(1), "How many of the largest probabilities are looked at together."]
    value: Annotated[AnyNumber, "The l2 error, the part due to chance taken off."]
    interval: Annotated[Interval | None, INLINE]
    t: Annotated[AnyNumber, "What it is the root of, which may be below 0."]
    plug_in: Annotated[float, "The same error with the part due to chance."]
    cells: Annotated[int, "Cells that hold rows: a bin for each of the k probabilities."]
    rows_alone: Annotated[int, "Rows alone in their cell, which do not count."]
    assumptions: Annotated[tuple[str, ...], "Under which value and interval mean what they say."]


@dataclass(frozen=True, slots=True)
class TestResult(Declared):
    """The outcome of a test of the hypothesis that every label is Bernoulli with its score."""

    __test__ = False  # not a test class, whatever pytest thinks of the name

    name: Annotated[TestName, HIDDEN]
    statistic: Annotated[AnyNumber | None, "Null where it is undefined."]
    p_value: Annotated[Fraction | None, "Probability of a statistic at least as large under the hypothesis."]
    p_method: Annotated[str, "How the p-value was found."]
    p_asymptotic: Annotated[Fraction | None, "The p-value of the limit law, where there is one."]
    assumptions: Annotated[tuple[str, ...], "Under which the p-value means what it says."]

    @classmethod
    def undefined(cls, name: TestName, why: str) -> Self:
        return cls(name, None, None, "undefined", None, (why,))


def on_line(estimate: Estimate, name: MeasureName, *, slope: float, offset: float) -> Estimate:
    """Return the measure that is slope times another, plus an offset; the slope is positive."""

    def moved(number: float) -> float:
        return offset + slope * number

    interval, within = estimate.interval, estimate.null_range
    if interval is not None:
        lower, upper = map(moved, interval.ends)
        interval = replace(interval, lower=lower, upper=upper)
    return replace(
        estimate,
        name=name,
        value=moved(estimate.value),
        interval=interval,
        null=None if estimate.null is None else moved(estimate.null),
        null_range=None if within is None else (moved(within[0]), moved(within[1])),
    )


def deviation(table: Table, *, delta: float) -> float:
    """Return how far the binned ECE, or a mean residual, strays from its mean on either side."""
    return hoeffding_deviation(effective_rows(table), delta)


def effective_rows(table: Table) -> float:
    """Return (sum w)^2 / sum w^2: the number of rows where every row counts once."""
    if not table.weighted:
        return float(table.total_rows)
    return float(table.weight.sum() ** 2 / table.weight_sq.sum())


def rate_of(table: Table) -> float:
    """Return the share of the weight that has label 1."""
    return float(table.positive.sum()) / float(table.weight.sum())


def measure_named(name: MeasureName, table: Table, *, settings: "Settings") -> Estimate:
    """Return the named measure, without a range where the scores leave less than one event open."""
    found = measures_of(name)[name](name, table, settings)
    if found.null_range is None or _is_open(table):
        return found
    return replace(found, null_range=None)


def measures_of(name: MeasureName) -> "Measures":
    """Return what the module of a measure computes."""
    found: Measures = loaded(f"stats.measures.{name.facts.home}.MEASURES")
    return found


def _is_open(table: Table) -> bool:
    """Whether the scores leave an event open, among as many rows as the weighted ones are worth.

    A range in which nine of ten calibrated scores lie says nothing where next to no label could surprise.
    """
    least = float(table.weight.sum()) / effective_rows(table) if table.weighted else 1.0
    for step in (max(1, table.score.size // 4096), 1):
        score = table.score[::step]
        if float(table.weight[::step] @ (score * (1.0 - score))) >= least:
            return True
    return False
