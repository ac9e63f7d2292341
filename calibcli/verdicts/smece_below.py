"""Is smECE at most eps? One bandwidth is looked at, eps itself, and the mean residual; delta on each side."""

import math
from dataclasses import dataclass

import numpy as np

from calibcli.bounds.proportion import hoeffding_deviation
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.measures.least_error import BY_MEAN_OR_NOISE, least_error
from calibcli.measures.smooth_ece import BY_BETS, noise_of_norm, upper_bound
from calibcli.measures.smooth_scales import gathered
from calibcli.names import Target
from calibcli.options.rules import Rule
from calibcli.table.grid import Table
from calibcli.table.kernel import LEAST_BANDWIDTH, MESH, CosineSeries, fixpoint, residual_series
from calibcli.verdicts.claim import Ground, Verdict
from calibcli.verdicts.outcome import ONE_LOOK, claim_of, levels, outcome_of, refuse_weights, wants_rows
from calibcli.verdicts.smece_rows import smece_rows_needed

_ASSUMPTIONS = (
    INDEPENDENT_ROWS,
    HELD_OUT,
    "the upper bound speaks of the population, the lower one of these scores with labels drawn anew",
    ONE_LOOK,
)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """
    What is known of smECE.

    Args:
        value: The estimate.

        lower: Lower bound.

        upper: Upper bound.
    """

    value: float
    lower: float | None
    upper: float | None


def smece_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Judge "smECE <= eps": for the population where it passes, for these scores where it fails.

    Since the smoothed norm does not increase with the bandwidth, smECE <= eps says that the norm at the
    bandwidth eps, which is fixed before a row is seen, is at most eps. Nor is it ever below the size of the
    mean residual, which takes far fewer rows to see; that bound has three quarters of the error.

    Args:
        table: The rows to judge by.

        rule: The limit.

        ground: The confidence, settled in advance.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, at any number of rows.

    Raises:
        UsageProblem: If the rows carry importance weights, for which no bound holds.

    References:
        Blasiok & Nakkiran (2023), Definition 5; the bounds are proved in `docs/methods.md`.
    """
    refuse_weights(table)
    claim = claim_of(rule, ground, measure="smece")
    series = residual_series(table)
    found = _bounds(table, series, rule=rule, ground=ground)
    outcome, reason = outcome_of(table, claim, ground, lower=found.lower, upper=found.upper)
    needed = None
    if wants_rows(claim, ground, outcome=outcome, reason=reason):
        needed = smece_rows_needed(table, series, claim, ground=ground)
    return Verdict(
        claim=claim,
        outcome=outcome,
        value=found.value,
        lower=found.lower,
        upper=found.upper,
        method=f"upper: {BY_BETS}; lower: {BY_MEAN_OR_NOISE} at the bandwidth of the limit",
        target=Target.MIXED,
        partition="",
        any_time=False,
        assumptions=_ASSUMPTIONS,
        rows=table.total_rows,
        needed=needed,
        reason=reason,
    )


def _bounds(table: Table, series: CosineSeries, *, rule: Rule, ground: Ground) -> _Bounds:
    value = 0.0 if not np.any(series.coefficients) else fixpoint(series)
    if 0.0 < value <= LEAST_BANDWIDTH:
        value = min(value, float(series.l1_norm(LEAST_BANDWIDTH)))
    if table.total_rows < 2:
        return _Bounds(value, None, None)
    at_lower, at_upper = levels(rule, ground)
    upper = min(1.0, upper_bound(table, series, delta=at_upper, variance=ground.variance))
    lower = least_error(
        table,
        lambda delta: lower_bound_at(table, series, bandwidth=rule.limit, delta=delta),
        delta=at_lower,
    )
    return _Bounds(value, lower, upper)


def lower_bound_at(table: Table, series: CosineSeries, *, bandwidth: float, delta: float) -> float:
    """
    Return a lower bound of smECE at these scores that exceeds a bandwidth iff the norm there shows as much.

    With N(s) the norm at that bandwidth s and c = b + sqrt(ln(1/delta) / (2 n)), b what noise adds at most,
    N(s) - c is a lower bound of the true norm at s. Where it is at most s, it is one of smECE, which is at
    least the lesser of s and the true norm there. Else the bound is the bandwidth t > s with N(t) - c = t.
    It exceeds a smECE of theta >= s only if N(theta) - c > theta, which is the true norm at theta: since
    noise adds less at wider bandwidths, that takes N to stray at theta, which is fixed. It exceeds one of
    theta < s only if N strays at s.

    Args:
        table: The rows, unweighted.

        series: The table's residual series.

        bandwidth: s, fixed in advance; the least that is resolved is taken for smaller ones.

        delta: Error probability.
    """
    at = max(bandwidth, LEAST_BANDWIDTH)
    strays = norm_may_stray(table, at, delta=delta)
    here = float(series.l1_norm(at)) - strays
    if here <= at:
        return max(0.0, here)
    return max(math.nextafter(at, 1.0), fixpoint(series, added=-strays))


def norm_may_stray(table: Table, bandwidth: float, *, delta: float) -> float:
    """Return how far above the true one the norm at a bandwidth is, but with a probability of delta."""
    placed = gathered(table, table.score) if table.distinct > MESH else table
    return noise_of_norm(placed, bandwidth) + hoeffding_deviation(table.total_rows, delta)
