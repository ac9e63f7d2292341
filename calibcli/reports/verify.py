"""What `verify` hands back."""

from dataclasses import dataclass

from calibcli.names import Inconclusive, VerdictName
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import SCHEMA, TableSummary
from calibcli.verdicts.claim import RowsNeeded, Verdict
from calibcli.version import __version__


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """
    Verdicts on every rule, and one for all of them.

    Args:
        input: What was read.

        table: The table of the judged score.

        artifact: Path of the recalibrator that was applied first, or None.

        verdicts: One per rule, keyed by the rule's id.

        policy: What an inconclusive gate counts as.

        notes: Sentences the reader should not miss.
    """

    input: InputSummary
    table: TableSummary
    artifact: str | None
    verdicts: dict[str, Verdict]
    policy: Inconclusive
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> VerdictName:
        """Fail if any rule fails, pass if all pass, inconclusive otherwise."""
        outcomes = {verdict.outcome for verdict in self.verdicts.values()}
        if VerdictName.FAIL in outcomes:
            return VerdictName.FAIL
        return VerdictName.PASS if outcomes == {VerdictName.PASS} else VerdictName.INCONCLUSIVE

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, in the shape of `calibcli schema report`."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "calibcli", "version": __version__},
            "input": self.input.to_dict(),
            "artifact": self.artifact,
            "table": self.table.to_dict(),
            "measures": {},
            "tests": {},
            "curve": None,
            "rules": {key: _rule(verdict) for key, verdict in self.verdicts.items()},
            "verdict": {"status": self.outcome.value, "inconclusive_counts_as": self.policy.value},
            "slices": {},
            "notes": list(self.notes),
        }


def _rule(verdict: Verdict) -> dict[str, object]:
    return {
        "expr": verdict.claim.expression,
        "measure": verdict.claim.measure,
        "limit": verdict.claim.limit,
        "status": verdict.outcome.value,
        "value": verdict.value,
        "lower": verdict.lower,
        "upper": verdict.upper,
        "fixed_design_upper": verdict.fixed_design_upper,
        "confidence": verdict.claim.confidence,
        "sides": 1,
        "method": verdict.method,
        "target": verdict.target.value,
        "partition": verdict.partition,
        "any_time": verdict.any_time,
        "rows": verdict.rows,
        "rows_needed": None if verdict.needed is None else _needed(verdict.needed),
        "reason": verdict.reason,
        "void": verdict.void,
        "assumptions": list(verdict.assumptions),
    }


def _needed(needed: RowsNeeded) -> dict[str, object]:
    return {
        "to_pass": needed.to_pass,
        "to_fail": needed.to_fail,
        "at_best": needed.at_best,
        "within_noise": needed.within_noise,
    }
