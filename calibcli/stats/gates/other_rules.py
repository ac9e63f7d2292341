"""Claims about any measure with an interval, several classes together, and numbers as they are."""

import math
from collections.abc import Callable
from typing import TypeVar

from calibcli.errors import UsageProblem
from calibcli.names import (
    DEFAULT_BINS,
    DEFAULT_SEED,
    MORE_DRAWS,
    Binning,
    Bound,
    ClassMeasure,
    MeasureName,
    Target,
    TestName,
    VerdictName,
)
from calibcli.options.numerals import in_full
from calibcli.options.rules import Rule
from calibcli.stats.bounds import Interval, stated, why_none
from calibcli.stats.bounds.proportion import hoeffding_deviation
from calibcli.stats.gates.claim import (
    BY_P_VALUE,
    NO_CONFIDENCE,
    ONE_LOOK,
    Bounds,
    Claim,
    Ground,
    Verdict,
    fewer_rows,
)
from calibcli.stats.measures import (
    HOEFFDING,
    INDEPENDENT_ROWS,
    NOT_BY_LABELS,
    ClassEstimate,
    Estimate,
    effective_rows,
    measure_named,
    scores,
)
from calibcli.stats.measures.bias import population_bounds
from calibcli.stats.measures.classes import ClassViews, class_measure
from calibcli.stats.measures.if_calibrated import CalibratedDraws, Settings
from calibcli.stats.measures.tests import JEFFREYS, calibration_tests
from calibcli.stats.numerics import normal_quantile
from calibcli.stats.table.bins import Bins, binned, bins_of
from calibcli.stats.table.grid import Table
from calibcli.values import replace

E = TypeVar("E", Estimate, ClassEstimate)
APPROXIMATE = "each bound holds only approximately, and better with more rows"
_NO_INTERVAL = "no interval: "
_SETTLED = "one row with a score of 0 or 1 and the other label decides it"


def measured(name: MeasureName, table: Table, bins: Bins, *, confidence: float) -> Estimate:
    """Measure a table, nothing being drawn for a null reference."""
    edges = bins.edges
    count = DEFAULT_BINS if edges is None else edges.size - 1
    settings = Settings(
        bins=binned(table, bins),
        equal_mass=bins_of(Binning.EQUAL_MASS, count, table=table),
        confidence=confidence,
        calibrated=None,
    )
    return measure_named(name, table, settings=settings)


def why_unbounded(estimate: Estimate | ClassEstimate) -> str:
    """Return why these rows give no interval, or no value."""
    if reasons := why_none(estimate.assumptions):
        return reasons[0].removeprefix(_NO_INTERVAL)
    return (
        "it is undefined for these rows" if math.isnan(estimate.value) else "these rows give no bound of it"
    )


def ends_of(estimate: Estimate | ClassEstimate) -> Bounds:
    """Return the ends of an interval as bounds, each by itself."""
    value, interval = estimate.value, estimate.interval
    lower, upper, method, target, proven = None, None, "none", None, False
    if interval is not None:
        lower, upper = stated(interval.lower), stated(interval.upper)
        method, target, proven = interval.method, interval.target, interval.finite_sample
    elif math.isinf(value) and estimate.name not in _OF_A_FIT:
        # A mean that is infinite in a sample is infinite in the population.
        lower, upper = (value, None) if value > 0.0 else (None, value)
        method, target, proven = _SETTLED, Target.POPULATION, True
    assumptions = (*estimate.assumptions, *(() if proven else (APPROXIMATE,)), ONE_LOOK)
    return Bounds(
        value, lower, upper, method, target, assumptions, _partition(estimate), finite_sample=proven
    )


# Coefficients are infinite where the labels of these rows are parted, which says little of other rows.
_OF_A_FIT = (MeasureName.CITL_LOGIT, MeasureName.COX_INTERCEPT, MeasureName.COX_SLOPE)


def _partition(estimate: Estimate | ClassEstimate) -> str:
    """Return the bins that an estimate speaks of, in words; empty where it needs none."""
    return str(estimate.details.get("partition", ""))


def why_open(estimate: Estimate | ClassEstimate, claim: Claim, ends: Bounds) -> str | None:
    """Return why bounds settle nothing where that is neither the estimate nor its standard error, or None.

    A mean loss that looks small enough stays open for what may not have been seen yet, or for want of an end.
    """
    details = estimate.details
    if "standard_error" not in details:
        return one_ended(ends)
    skill = estimate.name in (MeasureName.BRIER_SKILL, MeasureName.LOG_LOSS_SKILL)
    kept = estimate.value - claim.limit if skill else claim.limit - estimate.value
    delta = 1.0 - claim.confidence
    if kept <= normal_quantile(1.0 - delta) * float(details["standard_error"]):
        return one_ended(ends)
    costly, largest = float(details["costly_rows"]), float(details["largest_loss"])
    return scores.unseen_words(costly, estimate.rows, largest=largest, delta=delta)


def one_ended(ends: Bounds) -> str | None:
    """Return which bound is missing, or None where both are there."""
    if ends.lower is None:
        return "these rows give no lower bound, and the upper one does not decide"
    return "these rows give no upper bound, and the lower one does not decide" if ends.upper is None else None


def verdict_by_ends(
    claim: Claim, estimate: Estimate | ClassEstimate, ends: Bounds, *, few: str | None, rows: int
) -> Verdict:
    """Return a verdict by bounds, or none for the reason that few rows give."""
    outcome, reason = claim.by_bounds(lower=ends.lower, upper=ends.upper), few
    if reason is None and ends.lower is None and ends.upper is None:
        reason = why_unbounded(estimate)
    if reason is not None:
        outcome = VerdictName.INCONCLUSIVE
    elif outcome is VerdictName.INCONCLUSIVE:
        reason = why_open(estimate, claim, ends)
    return ends.said(claim, outcome, reason, rows=rows)


def _both_ends(bounds: Callable[[float], E], rule: Rule, ground: Ground) -> tuple[E, Bounds]:
    """Return an estimate with its bounds, each of its own error probability."""
    at_lower, at_upper = ground.levels(rule)
    if rule.subject in _BY_LOWER_END:
        at_lower /= 2.0
    estimate = bounds(at_upper)
    ends = ends_of(estimate)
    if at_lower != at_upper:
        ends = replace(ends, lower=ends_of(bounds(at_lower)).lower)
    return estimate, ends


def verdict_by_value(
    claim: Claim, estimate: Estimate | ClassEstimate, *, few: str | None, rows: int
) -> Verdict:
    """Return a verdict by an estimate as it is, without confidence."""
    outcome, reason = claim.compared(estimate.value, few=few, undefined=why_unbounded(estimate))
    method, bins = "estimate alone, no confidence", _partition(estimate)
    found = Bounds(estimate.value, None, None, method, None, (NO_CONFIDENCE,), bins, finite_sample=False)
    return found.said(claim, outcome, reason, rows=rows)


# r (1 - r) and the entropy of r fall on both sides of r = 1/2, so both ends of the interval of r stand behind
# each end of theirs, which together fail with the probability of the whole.
_ENDS_TOGETHER = (
    MeasureName.BRIER_UNCERTAINTY,
    MeasureName.BRIER_UNCERTAINTY_CORRECTED,
    MeasureName.BRIER_UNC,
    MeasureName.LOG_LOSS_UNC,
)

# What misses by the lower end alone, but for large errors: that fails with the probability of the whole.
_BY_LOWER_END = (
    MeasureName.BRIER_RELIABILITY_CORRECTED,
    ClassMeasure.MARGINAL_L2,
    ClassMeasure.TOP_LABEL_L2,
)

# Verdicts on coefficients were wrong in at most 6 % at the limit where so many rows carry the noise.
LEAST_CARRY = 10.0


def interval_rule(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge a measure by its interval of coverage 1 - 2 delta, each end of which is a bound at 1 - delta."""
    name = MeasureName(rule.subject)
    if not name.facts.interval:
        msg = f"{name.value} has no confidence interval, so no bound of it can be gated"
        raise UsageProblem(msg, f"gate on the estimate alone, without confidence: {name.value}.value")
    if table.weighted and name in _BY_VALUE:
        ground.refuse_many_values(table, words=_BY_VALUE[name])
    claim = ground.claim_of(rule, measure=_named(name, ground))
    # The error probabilities of the ends of an interval in units of that of a bound.
    ends = 1.0 if name in _ENDS_TOGETHER else 2.0
    estimate, found = _both_ends(
        lambda delta: bounded(name, table, ground.bins, confidence=1.0 - ends * delta), rule, ground
    )
    few = ground.too_few(table) or _few_carry(estimate)
    if few is None and name in (MeasureName.BIAS, MeasureName.OE) and not table.weighted:
        few = _of_other_rows(table, rule, ground, claim=claim, ends=found)
    return verdict_by_ends(claim, estimate, found, few=few, rows=table.total_rows)


def _named(name: MeasureName, ground: Ground) -> str:
    return "binned_ece" if name is MeasureName.ECE and ground.bins.edges is not None else name.value


# Errors value by value, of which no number of rows bounds that of a score with many.
_BY_VALUE = {MeasureName.LINF: "l-infinity", MeasureName.L2: "l2"}

_LOSSES = {
    MeasureName.BRIER: scores.squared_error,
    MeasureName.LOG_LOSS: scores.log_error,
    MeasureName.SPHERICAL: scores.spherical_error,
}


def bounded(name: MeasureName, table: Table, bins: Bins, *, confidence: float) -> Estimate:
    """Measure a table by bounds for a gate: with importance weights by such as hold for any.

    A mean loss is then a sum of independent terms, each of which takes one of two values at its score and
    weight: Hoeffding's bound for these, at these very scores. That of a score of 0 or 1 may be infinite.
    """
    estimate = measured(name, table, bins, confidence=confidence)
    if not table.weighted:
        return estimate
    if name in _LOSSES:
        moved = scores.range_of_mean(table, scores.losses_of(table, _LOSSES[name]))
        return with_margin(estimate, moved, confidence=confidence)
    return _weighted(estimate)


def with_margin(estimate: E, moved: float, *, confidence: float) -> E:
    """Return a mean with Hoeffding's bounds for these scores and weights; `moved` is range_of_mean."""
    value = estimate.value
    margin = moved * hoeffding_deviation(1.0, (1.0 - confidence) / 2.0)
    interval: Interval | None = None
    why: tuple[str, ...] = (INDEPENDENT_ROWS, NOT_BY_LABELS)
    if not math.isfinite(value):
        why = estimate.assumptions
    elif not math.isfinite(margin):
        why = (
            *why,
            f"{_NO_INTERVAL}there are scores of exactly 0 or 1, of which the log loss may be infinite",
        )
    else:
        most = min(value + margin, estimate.name.facts.most)
        interval = Interval(
            max(0.0, value - margin), most, confidence, HOEFFDING, Target.FIXED_DESIGN, finite_sample=True
        )
    return replace(estimate, interval=interval, assumptions=why, details={})


def _weighted(estimate: E) -> E:
    """Return an estimate over importance weights if its bounds hold for any, at every number of rows."""
    if estimate.interval is None or not estimate.interval.finite_sample:
        msg = f"a gate on {estimate.name.value} has no valid bound for importance weights: {_OPEN}"
        raise UsageProblem(msg, _JUDGED)
    return estimate


_OPEN = "its interval holds for many rows only, or there is none"

_JUDGED = """\
gate on ece, dce, smece, bias, brier or log_loss; pass --weights-are frequency if weights count rows"""


def _of_other_rows(table: Table, rule: Rule, ground: Ground, *, claim: Claim, ends: Bounds) -> str | None:
    """Return why bounds that settle bias or O/E of these scores do not settle the population's, or None."""
    outcome = claim.by_bounds(lower=ends.lower, upper=ends.upper)
    if outcome is VerdictName.INCONCLUSIVE:
        return None
    at_lower, at_upper = ground.levels(rule)
    claimed, factor = claim, 1.0
    if rule.subject is MeasureName.OE:
        # O/E is above a limit where the mean of label - limit * score is above 0.
        claimed, factor = replace(claim, limit=0.0), claim.limit
    lower, upper = population_bounds(table, lower=at_lower, upper=at_upper, factor=factor)
    if claimed.by_bounds(lower=lower, upper=upper) is outcome:
        return None
    why = "the bounds decide for these very scores, but not for the population, whose mean score may differ"
    return why if claimed is not claim else f"{why}: there it is {lower:.4g} to {upper:.4g}, approximately"


def _few_carry(estimate: Estimate) -> str | None:
    """Return why so few rows carry the noise of a coefficient that no verdict rests on it, or None."""
    carried = float(estimate.details.get("carried_by", LEAST_CARRY))
    if carried >= LEAST_CARRY:
        return None
    rows = f"{max(carried, 1.0):.0f} rows with surprising labels"
    return f"its noise is that of only about {rows}, fewer than {LEAST_CARRY:g}"


def class_rule(views: ClassViews, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge a measure by its interval of coverage 1 - 2 delta, each end of which is a bound at 1 - delta.

    Every interval of a measure of several classes leaves half of its error probability to each end, over bins
    that no label had a say in. One that holds at every number of rows needs no rows of the rarer kind, right
    or wrong; one that holds for many rows needs ten.
    """
    claim = ground.claim_of(rule, measure=rule.subject.value)
    if rule.bound is Bound.VALUE:
        estimate = _measured(views, rule, confidence=ground.confidence)
        few = fewer_rows(views.rows, least=ground.least_rows)
        return verdict_by_value(claim, estimate, few=few, rows=views.rows)
    estimate, ends = _both_ends(
        lambda delta: _bounded(views, rule, confidence=1.0 - 2.0 * delta), rule, ground
    )
    few = fewer_rows(views.rows, least=ground.least_rows)
    if few is None and not ends.finite_sample:
        few = ground.too_few(views.whole)
    return verdict_by_ends(claim, estimate, ends, few=few, rows=views.rows)


def _measured(views: ClassViews, rule: Rule, *, confidence: float) -> ClassEstimate:
    return class_measure(ClassMeasure(rule.subject), replace(views, confidence=confidence))


def _bounded(views: ClassViews, rule: Rule, *, confidence: float) -> ClassEstimate:
    """Return a measure by bounds for a gate; with importance weights the most that any label could move."""
    estimate = _measured(views, rule, confidence=confidence)
    if not views.whole.weighted:
        return _with_rows_alone(estimate)
    ranges = {
        ClassMeasure.ACCURACY: 1.0,
        **{name: losses.worst for name, losses in views.joint.losses.items()},
    }
    if estimate.name not in ranges:
        return _weighted(estimate)
    moved = ranges[estimate.name] / math.sqrt(effective_rows(views.whole))
    return with_margin(estimate, moved, confidence=confidence)


def _with_rows_alone(estimate: ClassEstimate) -> ClassEstimate:
    """Let rows alone in their bin, of which an l2 error knows nothing, be as wrong as their scores allow."""
    hidden, interval = float(estimate.details.get("alone_at_most", 0.0)), estimate.interval
    if interval is None or hidden == 0.0:
        return estimate
    upper = min(1.0, math.hypot(interval.ends[1], math.sqrt(hidden)))
    why = "above, rows alone in their bin may be as wrong as their scores allow"
    return replace(
        estimate, interval=replace(interval, upper=upper), assumptions=(*estimate.assumptions, why)
    )


_NO_EVIDENCE = "not rejected, which does not show that the score is calibrated: few rows reject little"

_USES_BINS = (TestName.T, TestName.HOSMER_LEMESHOW)


def plain_rule(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Compare an estimate or a p-value with the limit; inconclusive where the number is undefined."""
    if rule.bound is Bound.P_VALUE:
        return _tested(table, rule, TestName(rule.subject), ground=ground)
    name = MeasureName(rule.subject)
    claim = ground.claim_of(rule, measure=_named(name, ground))
    estimate = measured(name, table, ground.bins, confidence=ground.confidence)
    return verdict_by_value(claim, estimate, few=ground.too_few(table), rows=table.total_rows)


def _tested(table: Table, rule: Rule, name: TestName, *, ground: Ground) -> Verdict:
    if table.weighted:
        msg = "a gate has no valid bound for importance weights"
        raise UsageProblem(msg, "leave out --weight, or pass --weights-are frequency if weights count rows")
    claim = ground.claim_of(rule, measure=name.value)
    sums = binned(table, ground.bins)
    drawn = CalibratedDraws.of(table, sums, seed=DEFAULT_SEED)
    ((result,), _) = calibration_tests((name,), table, bins=sums, calibrated=drawn, level=rule.limit)
    p = math.nan if result.p_value is None else result.p_value
    undefined = "; ".join(result.assumptions) or "the test is undefined for these rows"
    few, least = ground.too_few(table), 1.0 / (MORE_DRAWS + 1)
    if few is None and result.p_method.startswith("monte-carlo") and p <= least and rule.limit <= least:
        few = f"the p-value comes from {MORE_DRAWS:,} simulated draws and cannot be below {least:g}"
    outcome, reason = claim.compared(p, few=few, undefined=undefined)
    exact = result.p_method != JEFFREYS and (
        result.p_asymptotic is None or result.p_value != result.p_asymptotic
    )
    level = f"{in_full(rule.limit)} at most" if exact else f"about {in_full(rule.limit)}"
    words = f"a calibrated score fails with a probability of {level}, whatever the confidence of other rules"
    kept = (_NO_EVIDENCE,) if outcome is VerdictName.PASS else ()
    found = Bounds(
        p,
        None,
        None,
        f"{BY_P_VALUE}{result.p_method}",
        None,
        (*result.assumptions, words, *kept, ONE_LOOK),
        ground.bins.described if name in _USES_BINS else "",
        finite_sample=exact,
    )
    return found.said(claim, outcome, reason, rows=table.total_rows)
