"""A rule about a number as it is: an estimate without its confidence, or the p-value of a test."""

import math

from calibcli.errors import UsageProblem
from calibcli.gate_names import Bound, Relation
from calibcli.measures.calibrated import DRAWS, draw_calibrated
from calibcli.measures.estimate import TestResult
from calibcli.measures.tests import calibration_tests
from calibcli.names import DEFAULT_SEED, MeasureName, Purpose, TestName, VerdictName
from calibcli.options.rules import Rule
from calibcli.table.bins import binned
from calibcli.table.grid import Table
from calibcli.table.streams import stream
from calibcli.verdicts.claim import Ground, Verdict
from calibcli.verdicts.measured import measured, verdict_by_value
from calibcli.verdicts.outcome import ONE_LOOK, claim_of, compared, refuse_weights, too_few

_NO_EVIDENCE = "not rejected, which is no evidence that the score is calibrated: few rows reject nothing"
_USES_BINS = (TestName.T, TestName.HOSMER_LEMESHOW)


def plain_rule(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Compare an estimate or a p-value with the limit.

    Args:
        table: The rows to judge by.

        rule: What is asked.

        ground: The partition and how few rows conclude nothing.

    Returns:
        Pass or fail as the number stands to the limit; inconclusive where it is undefined.

    Raises:
        UsageProblem: If the rule speaks of the p-value of a measure or the estimate of a test, or of the test
            of rows that carry importance weights.
    """
    subject = rule.subject
    if rule.bound is Bound.P_VALUE:
        if isinstance(subject, MeasureName):
            msg = f"{subject.value} is a measure, which has no p-value"
            tests = ", ".join(name.value for name in TestName)
            raise UsageProblem(msg, f"tests have one: {tests}")
        return _tested(table, rule, subject, ground=ground)
    if isinstance(subject, TestName):
        msg = f"{subject.value} is a test: its statistic says nothing without its p-value"
        raise UsageProblem(msg, f"write {subject.value}.p>=0.05 to fail where calibration is rejected at 5 %")
    return _estimated(table, rule, subject, ground=ground)


def _estimated(table: Table, rule: Rule, name: MeasureName, *, ground: Ground) -> Verdict:
    over_bins = name is MeasureName.ECE and ground.bins.edges is not None
    claim = claim_of(rule, ground, measure="binned_ece" if over_bins else name.value)
    estimate = measured(name, table, ground=ground, confidence=ground.confidence)
    return verdict_by_value(claim, estimate, few=too_few(table, ground), rows=table.total_rows)


def _tested(table: Table, rule: Rule, name: TestName, *, ground: Ground) -> Verdict:
    refuse_weights(table)
    claim = claim_of(rule, ground, measure=name.value)
    result = _test(table, name, ground=ground)
    p = math.nan if result.p_value is None else result.p_value
    undefined = "; ".join(result.assumptions) or "the test is undefined for these rows"
    few = too_few(table, ground) or _below_draws(p, rule, drawn=result.p_method.startswith("monte-carlo"))
    outcome, reason = compared(claim, p, few=few, undefined=undefined)
    words = (
        f"a calibrated score fails with probability {rule.limit:g}, whatever the confidence of other rules"
        if rule.relation is Relation.AT_LEAST
        else "the rule passes where calibration is rejected"
    )
    kept = (_NO_EVIDENCE,) if outcome is VerdictName.PASS and rule.relation is Relation.AT_LEAST else ()
    return Verdict(
        claim=claim,
        outcome=outcome,
        value=p,
        lower=None,
        upper=None,
        method=f"p-value: {result.p_method}",
        target=None,
        partition=ground.bins.described if name in _USES_BINS else "",
        any_time=False,
        assumptions=(*result.assumptions, words, *kept, ONE_LOOK),
        rows=table.total_rows,
        finite_sample=result.p_asymptotic is None or result.p_value != result.p_asymptotic,
        reason=reason,
    )


def _below_draws(p: float, rule: Rule, *, drawn: bool) -> str | None:
    """Return why the least p-value that draws can show does not settle a smaller limit, or None."""
    least = 1.0 / (DRAWS + 1)
    if not drawn or p > least or rule.limit >= least:
        return None
    return f"the p-value comes of {DRAWS} simulated draws, which show none below {least:g}"


def _test(table: Table, name: TestName, *, ground: Ground) -> TestResult:
    sums = binned(table, ground.bins)
    drawn = draw_calibrated(
        table,
        partitions=(sums,),
        generator=stream(DEFAULT_SEED, Purpose.MONTE_CARLO),
        smece_generator=stream(DEFAULT_SEED, Purpose.SMECE_NULL),
    )
    results, _ = calibration_tests((name,), table, bins=sums, calibrated=drawn)
    return results[0]
