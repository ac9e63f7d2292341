"""What `verify` hands back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from calibcli.gate_names import Inconclusive
from calibcli.names import VerdictName
from calibcli.reports.input import InputSummary
from calibcli.reports.measure import SCHEMA, TableSummary
from calibcli.reports.page_names import PageName
from calibcli.reports.plain import number
from calibcli.verdicts.claim import BOUNDS, Claim, Evidence, RowsNeeded, Verdict
from calibcli.version import __version__


@dataclass(frozen=True, slots=True)
class GroupVerdicts:
    """
    Verdicts on the rows of one group.

    Args:
        table: The table of its rows.

        verdicts: One per rule, keyed by the rule's id.
    """

    table: TableSummary
    verdicts: dict[str, Verdict]


@dataclass(frozen=True, slots=True)
class StateSummary:
    """
    What a gate that keeps a state has counted.

    Args:
        path: The state file.

        batches: How many batches it holds now.

        rows: How many rows it holds now.

        new_rows: How many of them this call brought.

        known: Batches of this call that were counted before and so are not counted again.

        known_rows: Rows of this call that were counted before, by their ids or in such batches.
    """

    path: str
    batches: int
    rows: int
    new_rows: int
    known: tuple[str, ...] = ()
    known_rows: int = 0


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

        by: Columns that tell groups apart.

        groups: The verdicts on each group that was judged, by key such as "country=US".

        left_out: Rows of each group that had too few.

        state: What was counted, for a gate that keeps a state.

        least_group_rows: How many rows of a group are enough to judge it, or None where every group was.
    """

    page: ClassVar[Literal[PageName.VERIFY]] = PageName.VERIFY
    input: InputSummary
    table: TableSummary
    artifact: str | None
    verdicts: dict[str, Verdict]
    policy: Inconclusive
    notes: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    groups: dict[str, GroupVerdicts] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    state: StateSummary | None = None
    least_group_rows: int | None = None

    @property
    def every_verdict(self) -> tuple[tuple[str, str, Verdict], ...]:
        """Group (empty for all rows), rule and verdict of everything judged."""
        whole = [("", key, verdict) for key, verdict in self.verdicts.items()]
        parts = [
            (group, key, verdict)
            for group, one in self.groups.items()
            for key, verdict in one.verdicts.items()
        ]
        return (*whole, *parts)

    @property
    def rules(self) -> tuple[str, ...]:
        """The ids of the rules: those of the whole, and those that every group was judged by."""
        first = next(iter(self.groups.values()), None)
        return tuple(dict.fromkeys((*self.verdicts, *(() if first is None else first.verdicts))))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that are judged together: all with a confidence, in all groups."""
        return tuple(verdict.claim for _, _, verdict in self.every_verdict if verdict.claim.bound in BOUNDS)

    @property
    def outcome(self) -> VerdictName:
        """Fail if any rule fails in any group, pass if all pass, inconclusive otherwise."""
        return outcome_of_all(verdict for _, _, verdict in self.every_verdict)

    def to_dict(self) -> dict[str, object]:
        """Return the report as plain values, in the shape of `calibcli schema report`."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "calibcli", "version": __version__},
            **self._body(self.table, self.verdicts, outcome=self.outcome),
            "slices": {
                key: self._body(one.table, one.verdicts, outcome=outcome_of_all(one.verdicts.values()))
                for key, one in self.groups.items()
            },
            "notes": list(self.notes),
            **self._where_asked(),
        }

    def _body(
        self, table: TableSummary, verdicts: Mapping[str, Verdict], *, outcome: VerdictName
    ) -> dict[str, object]:
        """Return what the report and each of its slices have in common."""
        return {
            "input": self.input.to_dict(),
            "artifact": self.artifact,
            "table": table.to_dict(),
            "measures": {},
            "tests": {},
            "curve": None,
            "rules": {key: verdict_to_dict(one) for key, one in verdicts.items()},
            "verdict": {"status": outcome.value, "inconclusive_counts_as": self.policy.value},
            "slices": {},
            "notes": [],
        }

    def _where_asked(self) -> dict[str, object]:
        """Return what only some reports have."""
        found: dict[str, object] = {}
        if self.by:
            found["judged_groups"] = {
                "columns": list(self.by),
                "judged": list(self.groups),
                "left_out": dict(self.left_out),
                "least_rows": self.least_group_rows,
                "claims": len(self.claims),
            }
        if self.state is not None:
            found["state"] = {
                "path": self.state.path,
                "batches": self.state.batches,
                "rows": self.state.rows,
                "new_rows": self.state.new_rows,
                "known": list(self.state.known),
                "known_rows": self.state.known_rows,
            }
        return found


def outcome_of_all(verdicts: Iterable[Verdict]) -> VerdictName:
    """Return fail if any verdict is one, pass if all are, inconclusive otherwise."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if VerdictName.FAIL in outcomes:
        return VerdictName.FAIL
    return VerdictName.PASS if outcomes == {VerdictName.PASS} else VerdictName.INCONCLUSIVE


def verdict_to_dict(verdict: Verdict) -> dict[str, object]:
    """Return a verdict with its evidence as plain values; bounds that do not exist are null."""
    claim = verdict.claim
    return {
        "expr": claim.expression,
        "measure": claim.measure,
        "bound": claim.bound.value,
        "relation": claim.relation.value,
        "limit": claim.limit,
        "status": verdict.outcome.value,
        "value": number(verdict.value),
        "lower": number(verdict.lower),
        "upper": number(verdict.upper),
        "fixed_design_upper": number(verdict.fixed_design_upper),
        "confidence": claim.confidence,
        "fail_confidence": claim.confidence_of_fail,
        "sides": 1,
        "method": verdict.method,
        "target": None if verdict.target is None else verdict.target.value,
        "finite_sample": verdict.finite_sample,
        "partition": verdict.partition,
        "any_time": verdict.any_time,
        "rows": verdict.rows,
        "rows_needed": None if verdict.needed is None else _needed(verdict.needed),
        "evidence": None if verdict.evidence is None else _evidence(verdict.evidence),
        "reason": verdict.reason,
        "void": verdict.void,
        "unseen_share": number(verdict.unseen_share),
        "assumptions": list(verdict.assumptions),
    }


def _evidence(evidence: Evidence) -> dict[str, object]:
    return {
        "log_pass": number(evidence.log_pass),
        "log_fail": number(evidence.log_fail),
        "threshold": evidence.threshold,
        "passed_at": evidence.passed_at,
        "failed_at": evidence.failed_at,
        "looks": evidence.looks,
    }


def _needed(needed: RowsNeeded) -> dict[str, object]:
    return {
        "to_pass": needed.to_pass,
        "to_fail": needed.to_fail,
        "at_best": needed.at_best,
        "within_noise": needed.within_noise,
    }
