"""A claim about a measure of several classes together, judged by the ends of its interval."""

from dataclasses import replace

from calibcli.gate_names import Bound
from calibcli.measures.classes import ClassViews, class_measure
from calibcli.measures.estimate import ClassEstimate
from calibcli.names import VerdictName
from calibcli.options.rules import ClassRule
from calibcli.verdicts.claim import Claim, Ground, Verdict
from calibcli.verdicts.measured import Ends, ends_of, verdict_by_ends, verdict_by_value, why_none, why_open
from calibcli.verdicts.outcome import (
    by_bounds,
    claim_of,
    fewer_rows,
    levels,
    refuse_weights,
    too_few,
)


def class_rule(views: ClassViews, rule: ClassRule, *, ground: Ground) -> Verdict:
    """
    Judge a measure by its interval of coverage 1 - 2 delta, each end of which is a bound at 1 - delta.

    Every interval of a measure of several classes leaves half of its error probability to each end. One that
    holds at every number of rows needs no rows of the rarer kind, right or wrong; one that holds for many
    rows needs ten.

    Args:
        views: The rows, over bins that no label had a say in.

        rule: The measure and its limit.

        ground: The confidence, and how few rows conclude nothing.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, approximately where the
        interval is approximate. A rule on the value compares the estimate.

    Raises:
        UsageProblem: If rows carry importance weights and the rule speaks of bounds.
    """
    claim = claim_of(rule, ground, measure=rule.subject.value)
    if rule.bound is Bound.VALUE:
        estimate = class_measure(rule.subject, replace(views, confidence=ground.confidence))
        few = fewer_rows(views.rows, least=ground.least_rows)
        return verdict_by_value(claim, estimate, few=few, rows=views.rows)
    refuse_weights(views.whole)
    at_lower, at_upper = levels(rule, ground)
    estimate = _measured(views, rule, delta=at_upper)
    ends = ends_of(estimate)
    if at_lower != at_upper:
        ends = replace(ends, lower=ends_of(_measured(views, rule, delta=at_lower)).lower)
    said = _outcome(views, claim, ground, ends=ends, estimate=estimate)
    return verdict_by_ends(claim, estimate, ends, said=said, rows=views.rows)


def _measured(views: ClassViews, rule: ClassRule, *, delta: float) -> ClassEstimate:
    return class_measure(rule.subject, replace(views, confidence=1.0 - 2.0 * delta))


def _outcome(
    views: ClassViews, claim: Claim, ground: Ground, *, ends: Ends, estimate: ClassEstimate
) -> tuple[VerdictName, str | None]:
    """Return the verdict, and the reason where it is not the bounds."""
    few = fewer_rows(views.rows, least=ground.least_rows)
    few = few if few is not None or ends.finite_sample else too_few(views.whole, ground)
    if few is not None:
        return VerdictName.INCONCLUSIVE, few
    if ends.lower is None and ends.upper is None:
        return VerdictName.INCONCLUSIVE, why_none(estimate)
    outcome = by_bounds(claim, lower=ends.lower, upper=ends.upper)
    return outcome, why_open(estimate, claim, ends) if outcome is VerdictName.INCONCLUSIVE else None
