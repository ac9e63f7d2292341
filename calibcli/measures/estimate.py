"""What a measure and a test return: a number with its interval, its method and its assumptions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from calibcli.bounds.interval import Interval
from calibcli.names import MeasureName, TestName
from calibcli.view_names import ClassMeasure

INDEPENDENT_ROWS = "rows are independent"
HELD_OUT = "no row was used to train the model, the recalibrator or the bins"
NO_WEIGHTED_INTERVAL = "no interval: importance weights leave only bounds that this measure does not have"


@dataclass(frozen=True, slots=True)
class Estimate:
    """
    The value of a measure.

    Args:
        name: Which measure.

        value: The estimate; may be inf.

        interval: Its confidence bounds, or None with the reason among the assumptions.

        null: What the value would be on average for perfectly calibrated labels at these scores.

        assumptions: Sentences under which value and interval mean what they say.

        rows: Number of rows.

        details: Further numbers and words, such as the bandwidth or the partition.

        null_range: Where nine in ten such values would lie (5 to 95 %), or None where that is not known.
    """

    name: MeasureName
    value: float
    interval: Interval | None
    null: float | None
    assumptions: tuple[str, ...]
    rows: int
    details: Mapping[str, float | int | str] = field(default_factory=dict)
    null_range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ClassEstimate:
    """
    The value of a measure of several classes together.

    Args:
        name: Which measure.

        value: The estimate; may be inf.

        interval: Its confidence bounds, or None with the reason among the assumptions.

        null: What the value would be on average for perfectly calibrated labels at these scores.

        assumptions: Sentences under which value and interval mean what they say.

        rows: Number of rows.

        details: Further numbers and words.

        null_range: As of `Estimate`.
    """

    name: ClassMeasure
    value: float
    interval: Interval | None
    null: float | None
    assumptions: tuple[str, ...]
    rows: int
    details: Mapping[str, float | int | str] = field(default_factory=dict)
    null_range: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class TestResult:
    """
    The outcome of a test of the hypothesis that every label is Bernoulli with its score.

    Args:
        name: Which test.

        statistic: Its value, or None where it is undefined.

        p_value: Probability of a statistic at least as large under the hypothesis, or None.

        p_method: How the p-value was found.

        p_asymptotic: The p-value of the limit law, or None where there is none.

        assumptions: Sentences under which the p-value means what it says.
    """

    __test__ = False  # not a test class, whatever pytest thinks of the name

    name: TestName
    statistic: float | None
    p_value: float | None
    p_method: str
    p_asymptotic: float | None
    assumptions: tuple[str, ...]
