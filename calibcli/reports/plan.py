"""What `plan` hands back."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from calibcli.names import VerdictName
from calibcli.reports.input import InputSummary
from calibcli.reports.page_names import PageName
from calibcli.version import __version__

if TYPE_CHECKING:
    # What is only named need not be loaded by those who look into a report.
    from calibcli.verdicts.plan import Plan

SCHEMA = "calibcli.plan/2"


@dataclass(frozen=True, slots=True)
class PlanReport:
    """
    How many labelled rows a gate will take.

    Args:
        measure: What the rule bounds: "ece", "binned_ece", "l2", "linf", "smece" or "dce".

        limit: The limit eps.

        error: The true error that is assumed.

        wanted: The verdict that is right under it, and is planned for.

        power: Probability with which it is to come.

        confidence: 1 - delta of the gate.

        any_time: Whether the gate is asked again and again as rows come in.

        method: How the gate's bounds are found.

        partition: The bins, in words; empty where the measure has none.

        values: How many values of the score the population has, after gathering.

        least_rows: Rows below which the gate concludes nothing.

        scores_from: Where the distribution of scores was taken from, in words.

        found: What simulation found.

        artifact: Path of the recalibrator, or None.

        input: What was read to see how scores fall, or None.

        seed: Seed of the simulation.

        assumptions: Sentences under which the rows are enough.

        notes: Sentences the reader should not miss.
    """

    page: ClassVar[Literal[PageName.PLAN]] = PageName.PLAN
    measure: str
    limit: float
    error: float
    wanted: VerdictName
    power: float
    confidence: float
    any_time: bool
    method: str
    partition: str
    values: int
    least_rows: int
    scores_from: str
    found: "Plan"
    artifact: str | None
    input: InputSummary | None
    seed: int
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON, in the shape of `calibcli schema plan`."""
        found = self.found
        return {
            "schema": SCHEMA,
            "tool": {"name": "calibcli", "version": __version__},
            "measure": self.measure,
            "limit": self.limit,
            "error": self.error,
            "pattern": found.population.words,
            "wanted": self.wanted.value,
            "power": self.power,
            "confidence": self.confidence,
            "any_time": self.any_time,
            "method": self.method,
            "partition": self.partition,
            "values": self.values,
            "least_rows": self.least_rows,
            "rows": found.rows,
            "reached": found.reached,
            "simulations": found.times,
            "rows_for_half": found.half,
            "rows_by_theorem_12_4": found.by_theorem,
            "rows_between_looks": found.step,
            "scores_from": self.scores_from,
            "artifact": self.artifact,
            "input": None if self.input is None else self.input.to_dict(),
            "seed": self.seed,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
        }
