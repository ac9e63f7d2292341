"""Is smECE at most eps? One bandwidth is looked at, eps itself, and the mean residual; delta on each side."""

import math

import numpy as np

from calibcli.names import MeasureName, Target
from calibcli.options.rules import Rule
from calibcli.stats.bounds.proportion import hoeffding_deviation
from calibcli.stats.gates.claim import ONE_LOOK, Bounds, Claim, Ground, RowsNeeded, Verdict
from calibcli.stats.gates.rows_needed import first_rows, price_of_bets, promise
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS
from calibcli.stats.measures.bias import BY_MEAN_OR_NOISE, error_shares, least_by_mean, least_error
from calibcli.stats.measures.if_calibrated import mean_spread
from calibcli.stats.measures.smooth_ece import (
    BY_BETS,
    in_few_places,
    noise_of_norm,
    norm_may_stray,
    stakes_for,
    upper_bound,
)
from calibcli.stats.table import kernel
from calibcli.stats.table.grid import Table, open_variance, residuals


class SmeceGrowth:
    """The bounds that more rows with these scores would have, looked at with the limit as the bandwidth.

    Bets of a pass take the mean of f (1 - f) for `expected`, where there is one.
    """

    def __init__(self, table: Table, *, limit: float, expected: float | None = None) -> None:
        self._limit, self._rows, self._expected = limit, table.total_rows, expected
        self._bandwidth = max(limit, kernel.LEAST_BANDWIDTH)
        self._table, self._mean = table, abs(float(residuals(table).sum())) / self._rows
        variance = open_variance(table)
        self._variance = float(variance.sum()) / self._rows
        held = kernel.in_cells(table.score, variance)
        series = kernel.cosine_series_of_cells(held)
        spread = mean_spread(series, held, bandwidth=self._bandwidth) / math.sqrt(self._rows)
        # What noise alone has on average.
        self._noise = math.sqrt(2.0 / math.pi) * spread / math.sqrt(self._rows)
        self._strays = noise_of_norm(in_few_places(table), self._bandwidth) * math.sqrt(self._rows)

    def margin(self, *, delta: float) -> float:
        """Return by how much the limit is to exceed the norm of calibrated labels for the bets to pass it."""
        stakes = stakes_for(self._rows, self._expected, delta=delta)
        return price_of_bets(stakes, self._rows, self._variance, level=math.log(1.0 / delta))

    def rows_to_fail(self, *, error: float, mean: float, delta: float) -> int:
        """Return the rows at which a lower bound, by norm or mean residual, rises to the limit."""
        of_mean, of_norm = error_shares(delta, signs=self._table.distinct)

        def evidence(digits: float) -> float:
            rows = 10.0**digits
            strays = self._strays / math.sqrt(rows) + hoeffding_deviation(rows, of_norm or of_mean)
            return error - strays - self._limit

        by_norm = first_rows(evidence)
        if mean <= self._limit:
            return by_norm
        # The interval of the mean narrows as the root of the rows.
        short = (self._mean - least_by_mean(self._table, delta=of_mean)) / (mean - self._limit)
        return min(by_norm, math.ceil(self._rows * short**2))

    def mean(self) -> float:
        """Return the size of the mean residual without noise, which adds up as squares do."""
        return math.sqrt(max(0.0, self._mean**2 - self._variance / self._rows))

    def error(self, series: kernel.CosineSeries) -> float:
        """Return the norm at the bandwidth of the limit without noise, which adds up as squares do."""
        return math.sqrt(max(0.0, float(series.l1_norm(self._bandwidth)) ** 2 - self._noise**2))


def smece_rows_needed(
    table: Table, series: kernel.CosineSeries, rule: Rule, claim: Claim, *, ground: Ground
) -> RowsNeeded:
    """Extrapolate from smoothed residuals, less their noise: for a fail by a formula, which is a guess."""
    from calibcli.stats.gates.plan import as_likely_as_not, population_like, shifted

    if claim.limit < kernel.LEAST_BANDWIDTH:
        return RowsNeeded(None, None, 0, within_noise=True)
    growth = SmeceGrowth(table, limit=claim.limit, expected=ground.variance)
    mean = growth.mean()
    error, low = max(growth.error(series), mean), float(residuals(table).sum()) > 0.0
    calibrated = population_like(table, bins=ground.bins, measure=MeasureName.SMECE)
    return promise(
        claim,
        error,
        width=2.0 * growth.margin(delta=ground.delta),
        rows=table.total_rows,
        best=as_likely_as_not(rule, ground, calibrated),
        ground=ground,
        to_pass=lambda: as_likely_as_not(
            rule, ground, shifted(calibrated, MeasureName.SMECE, error, low=low)
        ),
        to_fail=lambda: growth.rows_to_fail(error=error, mean=mean, delta=ground.fail_delta),
    )


_ASSUMPTIONS = (
    INDEPENDENT_ROWS,
    HELD_OUT,
    "the upper bound speaks of the population, the lower one of these scores with labels drawn anew",
    ONE_LOOK,
)


def smece_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge "smECE <= eps": for the population where it passes, for these scores where it fails.

    Since the smoothed norm does not increase with the bandwidth, smECE <= eps says that the norm at the
    bandwidth eps, which is fixed before a row is seen, is at most eps. Nor is it ever below the size of the
    mean residual, which takes far fewer rows to see; that bound has three quarters of the error.
    """
    claim = ground.claim_of(rule, measure="smece")
    series = kernel.residual_series(table)
    value = 0.0 if not np.any(series.coefficients) else kernel.fixpoint(series)
    if 0.0 < value <= kernel.LEAST_BANDWIDTH:
        value = min(value, float(series.l1_norm(kernel.LEAST_BANDWIDTH)))
    lower = upper = None
    if table.total_rows >= 2:
        at_lower, at_upper = ground.levels(rule)
        upper = min(1.0, upper_bound(table, series, delta=at_upper, variance=ground.variance))
        lower = least_error(
            table,
            lambda delta: lower_bound_at(table, series, bandwidth=rule.limit, delta=delta),
            delta=at_lower,
        )
    found = Bounds(
        value,
        lower,
        upper,
        f"upper: {BY_BETS}; lower: {BY_MEAN_OR_NOISE} at the bandwidth of the limit",
        Target.MIXED,
        _ASSUMPTIONS,
        needed=lambda claim: smece_rows_needed(table, series, rule, claim, ground=ground),
    )
    return found.verdict(table, claim, ground)


def lower_bound_at(table: Table, series: kernel.CosineSeries, *, bandwidth: float, delta: float) -> float:
    """Return a lower bound of smECE at these scores that exceeds a bandwidth iff the norm there shows as
    much.

    With N(s) the norm at that bandwidth s and c = b + sqrt(ln(1/delta) / (2 n)), b what noise adds at most,
    N(s) - c is a lower bound of the true norm at s. Where it is at most s, it is one of smECE, which is at
    least the lesser of s and the true norm there. Else the bound is the bandwidth t > s with N(t) - c = t.
    It exceeds a smECE of theta >= s only if N(theta) - c > theta, which is the true norm at theta: since
    noise adds less at wider bandwidths, that takes N to stray at theta, which is fixed. It exceeds one of
    theta < s only if N strays at s.
    """
    at = max(bandwidth, kernel.LEAST_BANDWIDTH)
    strays = norm_may_stray(table, at, delta=delta)
    here = float(series.l1_norm(at)) - strays
    if here <= at:
        return max(0.0, here)
    return max(math.nextafter(at, 1.0), kernel.fixpoint(series, added=-strays))
