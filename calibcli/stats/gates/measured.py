"""What `measure` says of a table, over the partition of a gate."""

import math

from calibcli.names import DEFAULT_BINS, Binning, MeasureName, Target, VerdictName
from calibcli.stats.bounds.interval import stated
from calibcli.stats.gates.claim import NO_CONFIDENCE, ONE_LOOK, Claim, Ground, Verdict, compared
from calibcli.stats.measures.estimate import ClassEstimate, Estimate
from calibcli.stats.measures.family import measure_named
from calibcli.stats.measures.if_calibrated import Settings
from calibcli.stats.measures.scores import unseen_words
from calibcli.stats.numerics import normal_quantile
from calibcli.stats.table.bins import binned, bins_of
from calibcli.stats.table.grid import Table
from calibcli.values import dataclass

APPROXIMATE = "each bound holds with its confidence only approximately, the better the more rows"
_NO_INTERVAL = "no interval: "
_SETTLED = "one row that was certain and wrong settles it"


@dataclass(frozen=True, slots=True)
class Ends:
    """
    One-sided bounds.

    Args:
        target: What they bound; None where nothing is bounded.
        finite_sample: Whether they hold at every number of rows.
    """

    lower: float | None
    upper: float | None
    method: str
    target: Target | None
    finite_sample: bool


def measured(name: MeasureName, table: Table, *, ground: Ground, confidence: float) -> Estimate:
    """Measure a table, nothing being drawn for a null reference."""
    edges = ground.bins.edges
    count = DEFAULT_BINS if edges is None else edges.size - 1
    settings = Settings(
        bins=binned(table, ground.bins),
        equal_mass=binned(table, bins_of(Binning.EQUAL_MASS, count, table=table)),
        confidence=confidence,
        calibrated=None,
    )
    return measure_named(name, table, settings=settings)


def partition_of(estimate: Estimate | ClassEstimate) -> str:
    """Return the bins that an estimate speaks of, in words; empty where it needs none."""
    return str(estimate.details.get("partition", ""))


def why_none(estimate: Estimate | ClassEstimate) -> str:
    """Return why these rows give no interval, or no value."""
    reasons = [one.removeprefix(_NO_INTERVAL) for one in estimate.assumptions if one.startswith(_NO_INTERVAL)]
    return reasons[0] if reasons else "it is undefined for these rows"


def ends_of(estimate: Estimate | ClassEstimate) -> Ends:
    """Return the ends of an interval as bounds, each by itself."""
    interval = estimate.interval
    if interval is not None:
        lower, upper = stated(interval.lower), stated(interval.upper)
        return Ends(lower, upper, interval.method, interval.target, interval.finite_sample)
    if math.isinf(estimate.value):
        # What is infinite once in a sample is infinite in the population.
        lower, upper = (estimate.value, None) if estimate.value > 0.0 else (None, estimate.value)
        return Ends(lower, upper, _SETTLED, Target.POPULATION, finite_sample=True)
    return Ends(None, None, "none", None, finite_sample=False)


def why_open(estimate: Estimate | ClassEstimate, claim: Claim, ends: Ends) -> str | None:
    """
    Return why bounds settle nothing where that is neither the estimate nor its standard error, or None.

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
    return unseen_words(costly, estimate.rows, largest=largest, delta=delta)


def one_ended(ends: Ends) -> str | None:
    """Return which bound is missing, or None where both are there."""
    if ends.lower is None:
        return "these rows give no lower bound, and the upper one does not settle it"
    return (
        "these rows give no upper bound, and the lower one does not settle it" if ends.upper is None else None
    )


def verdict_by_ends(
    claim: Claim,
    estimate: Estimate | ClassEstimate,
    ends: Ends,
    *,
    said: tuple[VerdictName, str | None],
    rows: int,
) -> Verdict:
    """Return a verdict with the bounds that it rests on."""
    approximate = () if ends.finite_sample else (APPROXIMATE,)
    return Verdict(
        claim=claim,
        outcome=said[0],
        value=estimate.value,
        lower=ends.lower,
        upper=ends.upper,
        method=ends.method,
        target=ends.target,
        partition=partition_of(estimate),
        any_time=False,
        assumptions=(*estimate.assumptions, *approximate, ONE_LOOK),
        rows=rows,
        finite_sample=ends.finite_sample,
        reason=said[1],
    )


def verdict_by_value(
    claim: Claim, estimate: Estimate | ClassEstimate, *, few: str | None, rows: int
) -> Verdict:
    """Return a verdict by an estimate as it is, without confidence."""
    outcome, reason = compared(claim, estimate.value, few=few, undefined=why_none(estimate))
    return Verdict(
        claim=claim,
        outcome=outcome,
        value=estimate.value,
        lower=None,
        upper=None,
        method="estimate alone, no confidence",
        target=None,
        partition=partition_of(estimate),
        any_time=False,
        assumptions=(NO_CONFIDENCE,),
        rows=rows,
        finite_sample=False,
        reason=reason,
    )
