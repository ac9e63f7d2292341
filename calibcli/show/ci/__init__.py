"""The verdicts of a gate one by one, under names that no two share and that nothing can misread."""

import math
from collections.abc import Iterable
from enum import Enum

from calibcli.errors import CalibcliError
from calibcli.names import Bound, Inconclusive, Relation, VerdictName
from calibcli.reports.verify import VerifyReport
from calibcli.show.words import printable, verdict_word
from calibcli.stats.gates.claim import Verdict
from calibcli.values import dataclass

ALL = "all"
NOTHING_JUDGED = "every group has too few rows to be tested, so nothing is concluded"


class Light(Enum):
    """What a dashboard shows of a verdict: never green where the exit code is not 0.

    Args:
        level: Of its annotation on GitHub: an error wherever the exit code is not 0.
        tag: The element of JUnit XML that shows it; None where the test case alone does.
    """

    GREEN = ("notice", None)
    GREY = ("warning", "skipped")
    UNDECIDED = ("error", "error")
    RED = ("error", "failure")

    def __init__(self, level: str, tag: str | None) -> None:
        self.level, self.tag = level, tag


@dataclass(frozen=True, slots=True)
class Case:
    """One rule, judged by the rows of one group or by all.

    Args:
        group: Name of the group, "all" for all rows.
        name: The claim, with the name of the rule where another rule makes the same claim.
        light: What is shown of it under the policy of the gate.
    """

    group: str
    rule: str
    name: str
    verdict: Verdict
    light: Light


def cases_of(report: VerifyReport) -> tuple[Case, ...]:
    """Return every verdict with names that can be printed and told apart, in the order of the report."""
    groups = group_names(report)
    rules = told_apart(dict.fromkeys(key for _, key, _ in report.every_verdict))
    cases, taken = [], set[tuple[str, str]]()
    for group, key, verdict in report.every_verdict:
        name = verdict.claim.expression
        if (group, name) in taken:
            name = f"{name} ({rules[key]})"
        taken.add((group, name))
        light = light_of(verdict.outcome, report.policy)
        cases.append(Case(groups[group], rules[key], name, verdict, light))
    return tuple(cases)


def numbers_of(verdict: Verdict) -> dict[str, float | None]:
    """Return what was found, by name: the bounds and the estimate, or the p-value in place of one."""
    end = Bound.P_VALUE if verdict.claim.bound is Bound.P_VALUE else Bound.VALUE
    return {end.value: verdict.value, Bound.LOWER.value: verdict.lower, Bound.UPPER.value: verdict.upper}


def group_names(report: VerifyReport) -> dict[str, str]:
    """Return what every group is called, those that were left out too; the empty key is all rows."""
    return {"": ALL, **told_apart([*report.groups, *report.left_out], taken=[ALL])}


def told_apart(names: Iterable[str], *, taken: Iterable[str] = ()) -> dict[str, str]:
    """Return each name as it can be printed, numbered where two would then look the same."""
    shown: dict[str, str] = {}
    used = set(taken)
    for name in names:
        text, number = printable(name), 1
        while text in used:
            number += 1
            text = f"{printable(name)} #{number}"
        used.add(text)
        shown[name] = text
    return shown


def light_of(outcome: VerdictName, policy: Inconclusive) -> Light:
    """Return how a verdict looks under a policy: grey only where the gate lets it through undecided."""
    if outcome is VerdictName.INCONCLUSIVE:
        return {Inconclusive.PASS: Light.GREY, Inconclusive.FAIL: Light.RED}.get(policy, Light.UNDECIDED)
    return Light.GREEN if outcome is VerdictName.PASS else Light.RED


def worst_first(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases with fails first, then what is undecided, each by how far it is beyond its limit."""
    return tuple(sorted(cases, key=lambda case: badness(case.verdict)))


def badness(verdict: Verdict) -> tuple[int, bool, float]:
    """Return what verdicts are ordered by, the worst first: the outcome, then how far beyond the limit.

    What was not tested at all, as too few rows were there, comes after what was tested and stayed open.
    """
    ranks = {VerdictName.FAIL: 0, VerdictName.INCONCLUSIVE: 1, VerdictName.PASS: 2}
    untested = verdict.outcome is VerdictName.INCONCLUSIVE and verdict.reason is not None
    return ranks[verdict.outcome], untested, -_excess(verdict)


def error_lines(problem: CalibcliError) -> list[str]:
    """Return why a gate never came to a verdict, and what to do."""
    hint = [f"hint: {printable(problem.hint)}"] if problem.hint else []
    return [printable(problem.message), *hint]


def gate_word(report: VerifyReport) -> str:
    """Return the verdict of the whole gate in capitals; that of an alarm is no pass."""
    every = report.every_verdict
    return verdict_word(every[0][2]) if len(every) == 1 else report.outcome.value.upper()


def _excess(verdict: Verdict) -> float:
    """Return how far a verdict is beyond its limit, in units of the limit, by the bound that refutes it."""
    claim = verdict.claim
    at_most = claim.relation is Relation.AT_MOST
    bound = verdict.lower if at_most else verdict.upper
    plain = claim.bound in (Bound.VALUE, Bound.P_VALUE) or verdict.outcome is not VerdictName.FAIL
    known = verdict.value if plain or bound is None else bound
    beyond = known - claim.limit if at_most else claim.limit - known
    excess = beyond / (abs(claim.limit) or 1.0)
    return -math.inf if math.isnan(excess) else excess
