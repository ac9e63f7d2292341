"""Bounds to one of three answers."""

import math

from calibcli.errors import UsageProblem
from calibcli.gate_names import Relation
from calibcli.names import VerdictName
from calibcli.options.rules import ClassRule, Rule
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Claim, Ground

LEAST_RARER = 10
NO_CONFIDENCE = "the estimate alone was compared with the limit: nothing is said of how far off it may be"
FEWER = "fewer than --min-rows"
ONE_LOOK = "valid for one look; ask again only on fresh rows"


def claim_of(rule: Rule | ClassRule, ground: Ground, *, measure: str) -> Claim:
    """Return the claim that a rule makes of a measure by its name in reports."""
    fail_confidence = None if ground.claims == 1 else 1.0 - ground.fail_delta
    return Claim(measure, rule.limit, ground.confidence, rule.bound, rule.relation, fail_confidence)


def refuse_weights(table: Table) -> None:
    """
    Refuse importance weights, for which no bound of a gate holds.

    Raises:
        UsageProblem: If rows carry them.
    """
    if table.weighted:
        msg = "a gate has no valid bound for importance weights"
        raise UsageProblem(msg, "gate without --weight, or with --weights-are frequency if they count rows")


def refuse_many_values(table: Table, ground: Ground, *, words: str) -> None:
    """
    Refuse an error of a score with many values, value by value: no number of rows bounds it from above.

    Rows whose scores are all different cannot be told from rows whose labels are settled by their scores, and
    of those the error is |label - score| itself.

    Args:
        table: The rows.

        ground: What was settled in advance.

        words: What the error is called.

    Raises:
        UsageProblem: Unless every distinct score is judged by itself.
    """
    if ground.bins.edges is None and table.kind == "exact":
        return
    missed = table.positive * (1.0 - table.score_of_positive)
    missed += (table.weight - table.positive) * table.score_of_negative
    least = float(missed.sum()) / float(table.weight.sum())
    msg = (
        f"no number of rows bounds the {words} error of a score with many values: by Theorem 12.5 a valid "
        f"upper bound is at least the mean of |label - score|, {least:.4g} here"
    )
    raise UsageProblem(msg, "gate on --max-ece, which is taken over bins, on --max-smece or on --max-dce")


def levels(rule: Rule | ClassRule, ground: Ground) -> tuple[float, float]:
    """
    Return the error probabilities of the lower and of the upper bound.

    The bound that can pass the claim has delta, the one that can fail it delta / claims.
    """
    if rule.relation is Relation.AT_MOST:
        return ground.fail_delta, ground.delta
    return ground.delta, ground.fail_delta


def outcome_of(
    table: Table, claim: Claim, ground: Ground, *, lower: float | None, upper: float | None
) -> tuple[VerdictName, str | None]:
    """
    Return the verdict and, where too few rows forbid one, the reason.

    Args:
        table: The rows.

        claim: What is asked.

        ground: What was settled in advance.

        lower: Lower bound that holds with the confidence of the side it decides.

        upper: Upper bound, likewise.
    """
    reason = too_few(table, ground)
    if reason is not None:
        return VerdictName.INCONCLUSIVE, reason
    return by_bounds(claim, lower=lower, upper=upper), None


def by_bounds(claim: Claim, *, lower: float | None, upper: float | None) -> VerdictName:
    """Return the verdict that bounds give, however few the rows are."""
    most = claim.relation is Relation.AT_MOST
    if most:
        held = upper is not None and upper <= claim.limit
        refuted = lower is not None and lower > claim.limit
    else:
        held = lower is not None and lower >= claim.limit
        refuted = upper is not None and upper < claim.limit
    if held or (claim.only_not_refuted and not refuted):
        return VerdictName.PASS
    return VerdictName.FAIL if refuted else VerdictName.INCONCLUSIVE


def compared(
    claim: Claim, value: float, *, few: str | None, undefined: str
) -> tuple[VerdictName, str | None]:
    """
    Return how a number stands to the limit, or why that is not said.

    Args:
        claim: The limit.

        value: The number; NaN where it is undefined.

        few: Why so few rows conclude nothing, or None.

        undefined: What is said of NaN.
    """
    reason = undefined if few is None and math.isnan(value) else few
    if reason is not None:
        return VerdictName.INCONCLUSIVE, reason
    kept = value <= claim.limit if claim.relation is Relation.AT_MOST else value >= claim.limit
    return (VerdictName.PASS if kept else VerdictName.FAIL), None


def wants_rows(claim: Claim, ground: Ground, *, outcome: VerdictName, reason: str | None) -> bool:
    """Whether to say how many rows would decide: nothing but the bounds left "at most" open."""
    left_open = outcome is VerdictName.INCONCLUSIVE and reason is None
    return left_open and ground.rows_wanted and claim.relation is Relation.AT_MOST


def too_few(table: Table, ground: Ground) -> str | None:
    """Return why so few rows are not judged, or None."""
    return too_few_counted(table.total_rows, table.total_positive_rows, least=ground.least_rows)


def fewer_rows(rows: int, *, least: int) -> str | None:
    """Return why so few rows are not judged, whatever their labels, or None."""
    if rows >= least:
        return None
    counted = "1 row is" if rows == 1 else f"{rows:,} rows are"
    return f"{counted} {FEWER} {least:,}"


def too_few_counted(rows: int, ones: int, *, least: int) -> str | None:
    """Return why so few rows, of which so many have label 1, are not judged, or None."""
    fewer = fewer_rows(rows, least=least)
    if fewer is not None:
        return fewer
    rarer = min(ones, rows - ones)
    if rarer < LEAST_RARER:
        label = 1 if ones <= rows - ones else 0
        counted = "1 row has" if rarer == 1 else f"{rarer:,} rows have"
        return f"{counted} label {label}, fewer than {LEAST_RARER}"
    return None
