"""A rule about calibration, the claim it makes, and what the rows say of it."""

from dataclasses import dataclass

from calibcli.gate_names import Bound, Relation
from calibcli.names import DEFAULT_LEAST_ROWS, Target, VerdictName
from calibcli.table.bins import Bins

# The ends of an interval, which hold with a confidence; the estimate itself and a p-value have none.
BOUNDS = (Bound.LOWER, Bound.UPPER)


@dataclass(frozen=True, slots=True)
class Ground:
    """
    What is settled before a label is looked at.

    Args:
        bins: The partition: the distinct scores by themselves, or bins fixed in advance.

        variance: Mean of f (1 - f) on the rows an artifact was fitted on, which settles the bets for one
            look; None where there is no artifact, which makes verdicts by betting valid at any time.

        outputs: The distinct outputs of a discrete recalibrator, ascending; None for any other score.

        least_rows: Below so many rows, or ten of the rarer label, nothing is concluded.

        confidence: 1 - delta: a pass that is wrong has a probability of at most delta.

        claims: How many claims are judged together. All must pass, so each may pass at delta; any may fail,
            so each fails at delta / claims only (intersection-union against Bonferroni).

        rows_wanted: Whether an open verdict says how many rows would decide, which takes time.
    """

    bins: Bins
    variance: float | None = None
    outputs: tuple[float, ...] | None = None
    least_rows: int = DEFAULT_LEAST_ROWS
    confidence: float = 0.95
    claims: int = 1
    rows_wanted: bool = True

    @property
    def delta(self) -> float:
        """Largest probability of a pass that is wrong."""
        return 1.0 - self.confidence

    @property
    def fail_delta(self) -> float:
        """Largest probability of a fail of this one claim that is wrong."""
        return self.delta / self.claims


@dataclass(frozen=True, slots=True)
class Claim:
    """
    What is judged.

    Args:
        measure: Name of the measure or test: "ece" where each value of the score is judged by itself,
            "binned_ece" where bins of a continuous score are.

        bound: Which number of it the rule names.

        relation: At most, or at least.

        limit: The tolerance eps: the claim is "measure <= limit", or ">=".

        confidence: 1 - delta of a pass.

        fail_confidence: 1 - delta of a fail, higher where several claims are judged together.
    """

    measure: str
    limit: float
    confidence: float
    bound: Bound = Bound.UPPER
    relation: Relation = Relation.AT_MOST
    fail_confidence: float | None = None

    @property
    def expression(self) -> str:
        """The claim in one line; no bound is named where it is the one that must keep to the limit."""
        plain = self.bound in BOUNDS and not self.only_not_refuted
        end = "" if plain else f".{self.bound.value}"
        return f"{self.measure}{end} {self.relation.value} {self.limit:g}"

    @property
    def only_not_refuted(self) -> bool:
        """Whether it is enough that the contrary is not shown, as in `ece.lower<=0.02`."""
        return (self.bound, self.relation) in (
            (Bound.LOWER, Relation.AT_MOST),
            (Bound.UPPER, Relation.AT_LEAST),
        )

    @property
    def words(self) -> str:
        """The measure as sentences name it."""
        return self.measure.replace("_", " ")

    @property
    def confidence_of_fail(self) -> float:
        """The confidence with which a fail is right."""
        return self.confidence if self.fail_confidence is None else self.fail_confidence


@dataclass(frozen=True, slots=True)
class RowsNeeded:
    """
    How many labelled rows would decide the claim, if the truth is what it looks like now.

    Args:
        to_pass: Rows for a pass, or None where the estimate, less its noise, is above the limit.

        to_fail: Rows for a fail, or None where the estimate, less its noise, is below the limit.

        at_best: Rows for a pass if the score were perfectly calibrated.

        within_noise: Whether the estimate cannot be told from the limit, so that no number of rows is
            promised.
    """

    to_pass: int | None
    to_fail: int | None
    at_best: int
    within_noise: bool


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    What the bets of a gate that may be asked again have gathered.

    Args:
        log_pass: Log of the e-value against "the error is at least the limit", now; None in an alarm, which
            nothing can pass for good.

        log_fail: Log of the e-value against "the error is at most the limit", now.

        threshold: log(1 / delta), which either must reach once.

        passed_at: Rows counted when the first was reached, or None.

        failed_at: Rows counted when the second was reached, or None.

        looks: How often the gate was asked after new rows.
    """

    log_pass: float | None
    log_fail: float
    threshold: float
    passed_at: int | None
    failed_at: int | None
    looks: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """
    The answer to a claim with its evidence.

    Args:
        claim: What was asked.

        outcome: Pass if the bound that speaks for the claim is on its side of the limit, fail if the other
            is beyond it.

        value: The estimate.

        lower: Lower bound, one-sided; None where there is none.

        upper: Upper bound, one-sided; None where there is none.

        method: How the bounds were found.

        target: What they bound; None where nothing is bounded.

        partition: The bins, in words; empty where the measure has none.

        any_time: Whether the verdict holds however often it is asked for.

        assumptions: Sentences under which it means what it says.

        rows: Number of rows judged.

        finite_sample: Whether the bounds hold at every number of rows, or only approximately for many.

        fixed_design_upper: An upper bound for these very scores, for information; None where there is none.

        needed: Rows that would decide, where the outcome is inconclusive.

        reason: Why nothing was concluded, where that is not the bounds.

        void: Why the bounds say nothing of new rows, where the user insisted on them all the same.

        evidence: The bets of a gate that keeps a state, or None.

        unseen_share: The most that values of the score which no row here has may hold of later rows, where
            the claim is of the values seen; otherwise None.
    """

    claim: Claim
    outcome: VerdictName
    value: float
    lower: float | None
    upper: float | None
    method: str
    target: Target | None
    partition: str
    any_time: bool
    assumptions: tuple[str, ...]
    rows: int
    finite_sample: bool = True
    fixed_design_upper: float | None = None
    needed: RowsNeeded | None = None
    reason: str | None = None
    void: str | None = None
    evidence: Evidence | None = None
    unseen_share: float | None = None
