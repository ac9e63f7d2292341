"""A claim about calibration, and what the rows say of it."""

from dataclasses import dataclass

from calibcli.names import Target, VerdictName


@dataclass(frozen=True, slots=True)
class Claim:
    """
    What a gate asks.

    Args:
        measure: Name of the measure: "ece" where each value of the score is judged by itself, "binned_ece"
            where bins of a continuous score are.

        limit: The tolerance eps: the claim is "measure <= limit".

        confidence: 1 - delta, where delta is the probability of either wrong verdict.
    """

    measure: str
    limit: float
    confidence: float

    @property
    def expression(self) -> str:
        """The claim in one line."""
        return f"{self.measure} <= {self.limit:g}"

    @property
    def words(self) -> str:
        """The measure as sentences name it."""
        return self.measure.replace("_", " ")


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
class Verdict:
    """
    The answer to a claim with its evidence.

    Args:
        claim: What was asked.

        outcome: Pass if `upper` is at most the limit, fail if `lower` is above it.

        value: The plug-in estimate.

        lower: Lower bound, one-sided at delta.

        upper: Upper bound, one-sided at delta.

        fixed_design_upper: The upper bound for these very scores (plug-in plus d*), for information.

        method: How the bounds were found.

        target: What they bound.

        partition: The bins, in words.

        any_time: Whether the verdict holds however often it is asked for.

        assumptions: Sentences under which it means what it says.

        rows: Number of rows judged.

        needed: Rows that would decide, where the outcome is inconclusive.

        reason: Why nothing was concluded, where that is not the bounds.

        void: Why the bounds say nothing of new rows, where the user insisted on them all the same.
    """

    claim: Claim
    outcome: VerdictName
    value: float
    lower: float
    upper: float
    fixed_design_upper: float
    method: str
    target: Target
    partition: str
    any_time: bool
    assumptions: tuple[str, ...]
    rows: int
    needed: RowsNeeded | None = None
    reason: str | None = None
    void: str | None = None
