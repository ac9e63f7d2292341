"""What `verify` returns: a verdict with its evidence, and never an exception for a gate that fails."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibcli.api.shown import Tabled
from calibcli.gate_names import Inconclusive
from calibcli.names import VerdictName
from calibcli.reports.verify import VerifyReport
from calibcli.verdicts.claim import Verdict

if TYPE_CHECKING:
    from calibcli.render.blocks import Page

_WHOLE = "all"


@dataclass(frozen=True, slots=True, repr=False)
class Verified(Tabled):
    """
    Verdicts on every rule, and one for all of them.

    It is true where the gate passed, so that `assert calibcli.verify(...)` is no trap; `.passed` says it in
    words.

    Args:
        report: What was judged, as every renderer of the command takes it.
    """

    report: VerifyReport

    @property
    def status(self) -> str:
        """What was found: "pass", "fail", or "inconclusive" where the rows cannot tell."""
        return self.report.outcome.value

    @property
    def passed(self) -> bool:
        """Whether the gate passed; an inconclusive one did where `inconclusive="pass"` was asked for."""
        outcome = self.report.outcome
        if outcome is VerdictName.INCONCLUSIVE:
            return self.report.policy is Inconclusive.PASS
        return outcome is VerdictName.PASS

    @property
    def rules(self) -> dict[str, Verdict]:
        """The verdict on each rule over all rows, by its id, with `outcome`, `value`, `lower`, `upper`."""
        return dict(self.report.verdicts)

    @property
    def groups(self) -> dict[str, dict[str, Verdict]]:
        """The same for each group that was judged, by its key."""
        return {key: dict(one.verdicts) for key, one in self.report.groups.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences that the reader should not miss."""
        return (*self.report.input.notes, *self.report.notes)

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, object]:
        """Return the document of `calibcli verify --json`, as `calibcli schema report` describes it."""
        from calibcli.documents.sealed import sealed

        return sealed(self.report.to_dict())

    def page(self, *, verbose: bool = False) -> "Page":
        """Return what is said of the verdicts."""
        from calibcli.render.pages.verify import verify_page

        return verify_page(self.report, verbose=verbose)

    def lines(self) -> list[Mapping[str, object]]:
        """Return a row for each rule over all rows, and in each group."""
        return [_line(group or _WHOLE, rule, one) for group, rule, one in self.report.every_verdict]


def _line(group: str, rule: str, verdict: Verdict) -> dict[str, object]:
    claim = verdict.claim
    return {
        "slice": group,
        "rule": rule,
        "claim": claim.expression,
        "outcome": verdict.outcome.value,
        "value": verdict.value,
        "lower": verdict.lower,
        "upper": verdict.upper,
        "limit": claim.limit,
        "confidence": claim.confidence,
        "method": verdict.method,
        "target": None if verdict.target is None else verdict.target.value,
        "rows": verdict.rows,
        "reason": verdict.reason,
        "assumptions": "; ".join(verdict.assumptions),
    }
