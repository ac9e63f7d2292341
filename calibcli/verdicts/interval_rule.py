"""A claim about any measure that has a confidence interval: each end by itself, with delta on each side."""

from dataclasses import replace

from calibcli.errors import UsageProblem
from calibcli.families import WITHOUT_INTERVAL
from calibcli.measures.bias import population_bounds
from calibcli.measures.estimate import Estimate
from calibcli.names import MeasureName, TestName, VerdictName
from calibcli.options.rules import Rule
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Claim, Ground, Verdict
from calibcli.verdicts.measured import ends_of, measured, verdict_by_ends, why_none, why_open
from calibcli.verdicts.outcome import by_bounds, claim_of, levels, outcome_of, refuse_weights

# r (1 - r) and the entropy of r fall on both sides of r = 1/2, so both ends of the interval of r stand behind
# each end of theirs, which together fail with the probability of the whole.
_ENDS_TOGETHER = (
    MeasureName.BRIER_UNCERTAINTY,
    MeasureName.BRIER_UNCERTAINTY_CORRECTED,
    MeasureName.BRIER_UNC,
    MeasureName.LOG_LOSS_UNC,
)

# Verdicts on coefficients were wrong in at most 6 % at the limit where so many rows carry the noise.
LEAST_CARRY = 10.0


def interval_rule(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Judge a measure by its interval of coverage 1 - 2 delta, each end of which is a bound at 1 - delta.

    Args:
        table: The rows to judge by.

        rule: The measure and its limit.

        ground: The partition and the confidence, settled in advance.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, approximately where the
        interval is approximate.

    Raises:
        UsageProblem: If the measure never has an interval, the rule speaks of bounds of a test, or rows carry
            importance weights.
    """
    name = _with_interval(rule)
    refuse_weights(table)
    claim = claim_of(rule, ground, measure=name.value)
    at_lower, at_upper = levels(rule, ground)
    estimate = measured(name, table, ground=ground, confidence=_coverage(name, at_upper))
    ends = ends_of(estimate)
    if at_lower != at_upper:
        other = measured(name, table, ground=ground, confidence=_coverage(name, at_lower))
        ends = replace(ends, lower=ends_of(other).lower)
    outcome, reason = outcome_of(table, claim, ground, lower=ends.lower, upper=ends.upper)
    if reason is None:
        reason = _few_carry(estimate)
        outcome = outcome if reason is None else VerdictName.INCONCLUSIVE
    if reason is None and name is MeasureName.BIAS and outcome is not VerdictName.INCONCLUSIVE:
        reason = _of_other_rows(table, rule, ground, claim=claim, outcome=outcome)
        outcome = outcome if reason is None else VerdictName.INCONCLUSIVE
    if reason is None and ends.lower is None and ends.upper is None:
        outcome, reason = VerdictName.INCONCLUSIVE, why_none(estimate)
    elif reason is None and outcome is VerdictName.INCONCLUSIVE:
        reason = why_open(estimate, claim, ends)
    said = outcome, reason
    return verdict_by_ends(claim, estimate, ends, said=said, rows=table.total_rows)


def _with_interval(rule: Rule) -> MeasureName:
    """
    Return the measure that a rule bounds.

    Raises:
        UsageProblem: If nothing bounds it.
    """
    name = rule.subject
    if isinstance(name, TestName):
        msg = f"{name.value} is a test, which has a p-value and no bounds"
        raise UsageProblem(msg, f"write {name.value}.p>=0.05 to fail where calibration is rejected at 5 %")
    if name in WITHOUT_INTERVAL:
        msg = f"{name.value} has no confidence interval, so no bound of it can be gated"
        raise UsageProblem(msg, f"gate on the estimate alone, without confidence: {name.value}.value")
    return name


def _of_other_rows(
    table: Table, rule: Rule, ground: Ground, *, claim: Claim, outcome: VerdictName
) -> str | None:
    """Return why bounds that settle the bias of these scores do not settle the population's, or None."""
    at_lower, at_upper = levels(rule, ground)
    lower, upper = population_bounds(table, lower=at_lower, upper=at_upper)
    if by_bounds(claim, lower=lower, upper=upper) is outcome:
        return None
    return (
        "the bounds settle it for these very scores, but not for the population, whose mean score may be "
        f"another: there it is {lower:.4g} to {upper:.4g}, approximately"
    )


def _few_carry(estimate: Estimate) -> str | None:
    """Return why so few rows settle how uncertain a coefficient is that no verdict rests on it, or None."""
    carried = float(estimate.details.get("carried_by", LEAST_CARRY))
    if carried >= LEAST_CARRY:
        return None
    return (
        f"its uncertainty rests on the labels of about {max(carried, 1.0):.0f} rows whose scores say "
        f"otherwise, fewer than {LEAST_CARRY:g}"
    )


def _coverage(name: MeasureName, delta: float) -> float:
    """Return the two-sided coverage at which one end fails with probability delta."""
    return 1.0 - delta if name in _ENDS_TOGETHER else 1.0 - 2.0 * delta
