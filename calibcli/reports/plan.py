"""What `plan` hands back."""

from typing import Annotated, ClassVar

from calibcli.codec import Among, Fraction
from calibcli.names import VerdictName
from calibcli.reports.input import InputSummary, KeptReport, Notes
from calibcli.values import dataclass

SCHEMA = "calibcli.plan/2"


@dataclass(frozen=True, slots=True)
class PlanReport(KeptReport):
    """How many labelled rows a gate will take."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "plan"
    measure: Annotated[
        str,
        Among(("ece", "binned_ece", "l2", "linf", "smece", "dce", "segment_bias")),
        "What the rule bounds.",
    ]
    limit: Annotated[Fraction, "The limit."]
    error: Annotated[Fraction, "The true error that is reckoned with."]
    wanted: Annotated[
        VerdictName,
        Among((VerdictName.PASS, VerdictName.FAIL)),
        "The verdict that is right under it, and is planned for.",
    ]
    power: Annotated[Fraction, "Probability with which it is to come."]
    confidence: Annotated[Fraction, "1 - delta of the gate."]
    any_time: Annotated[bool, "Whether the gate is asked again and again as rows come in."]
    method: Annotated[str, "How the gate's bounds are found."]
    partition: Annotated[str, "The bins it judges by, in words; empty where the measure has none."]
    values: Annotated[int, "How many values of the score were simulated."]
    least_rows: Annotated[int, "Rows below which the gate concludes nothing."]
    scores_from: Annotated[str, "Where the distribution of scores was taken from."]
    pattern: Annotated[str, "How labels go with scores under that error."]
    rows: Annotated[int | None, "Labelled rows to collect; null for more than a billion."]
    reached: Annotated[Fraction | None, "Share of simulated gates that gave the verdict there."]
    simulations: Annotated[int, "How many were simulated there."]
    rows_for_half: Annotated[
        int | None,
        "The fewest rows at which half of the gates or more give the verdict; found less closely than rows.",
    ]
    rows_by_theorem_12_4: Annotated[
        int | None, "Rows with the same power by Theorem 12.4; null where it does not speak of the measure."
    ]
    rows_between_looks: Annotated[int | None, "For a gate that is asked again."]
    artifact: Annotated[str | None, "Path of the recalibrator that the gate applies, or null."]
    input: Annotated[InputSummary | None, "What was read to see how scores fall, or null."]
    seed: Annotated[int, "Seed of the simulation."]
    assumptions: Annotated[tuple[str, ...], "Sentences under which the rows are enough."]
    notes: Notes = ()


def give_or_take(share: float, times: int) -> float:
    """Return how far the share of so many simulated gates may be from the probability (95 %)."""
    # Of what all gates did, or none, a share of 3 in so many may do otherwise.
    off: float = max(2.0 * (share * (1.0 - share) / times) ** 0.5, 3.0 / times)
    return off
