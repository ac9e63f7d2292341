"""What `plan` hands back."""

from typing import TYPE_CHECKING, Annotated, ClassVar

from calibcli.codec import HIDDEN, Among, Fraction
from calibcli.names import VerdictName
from calibcli.reports.input import InputSummary, Kept, Notes
from calibcli.values import dataclass

if TYPE_CHECKING:
    # What is only named need not be loaded by those who look into a report.
    from calibcli.stats.gates.plan import Plan

SCHEMA = "calibcli.plan/2"


@dataclass(frozen=True, slots=True)
class PlanReport(Kept):
    """How many labelled rows a gate will take."""

    SCHEMA: ClassVar = SCHEMA

    page: ClassVar[str] = "plan"
    measure: Annotated[
        str, Among(("ece", "binned_ece", "l2", "linf", "smece", "dce")), "What the rule bounds."
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
    found: Annotated["Plan", HIDDEN]
    artifact: Annotated[str | None, "Path of the recalibrator that the gate applies, or null."]
    input: Annotated[InputSummary | None, "What was read to see how scores fall, or null."]
    seed: Annotated[int, "Seed of the simulation."]
    assumptions: Annotated[tuple[str, ...], "Sentences under which the rows are enough."]
    notes: Notes = ()

    @property
    def pattern(self) -> Annotated[str, "How labels go with scores under that error."]:
        """The pattern of errors that takes most rows."""
        return self.found.population.words

    @property
    def rows(self) -> Annotated[int | None, "Labelled rows to collect; null for more than a billion."]:
        """Rows at which the verdict comes with the power asked for."""
        return self.found.rows

    @property
    def reached(
        self,
    ) -> Annotated[Fraction | None, "Share of simulated gates that gave the verdict there."]:
        """The power found."""
        return self.found.reached

    @property
    def simulations(self) -> Annotated[int, "How many were simulated there."]:
        """Simulated gates."""
        return self.found.times

    @property
    def rows_for_half(
        self,
    ) -> Annotated[int | None, "Rows at which every second gate gives the verdict."]:
        """Rows for a power of one half."""
        return self.found.half

    @property
    def rows_by_theorem_12_4(
        self,
    ) -> Annotated[
        int | None,
        "Rows with the same power by Theorem 12.4; null where it does not speak of the measure.",
    ]:
        """Rows by theory."""
        return self.found.by_theorem

    @property
    def rows_between_looks(self) -> Annotated[int | None, "For a gate that is asked again."]:
        """Rows between two looks."""
        return self.found.step
