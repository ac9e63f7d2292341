"""Is the calibration error, or the distance to calibration, at most eps? Bets on both answers, delta each."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from calibcli.names import Binning, MeasureName, Target
from calibcli.options.rules import Rule
from calibcli.stats.bounds.betting import stakes_of_gate, stakes_of_rows
from calibcli.stats.bounds.proportion import deviation_of_a_mean
from calibcli.stats.gates.claim import ONE_LOOK, Bounds, Claim, Ground, RowsNeeded, Verdict
from calibcli.stats.gates.rows_needed import first_rows, price_of_bets, promise, rows_needed
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS
from calibcli.stats.measures.bias import error_shares
from calibcli.stats.measures.binned import grouped_residuals, mean_size
from calibcli.stats.measures.distance import (
    ONE_POPULATION,
    dictionary,
    distance,
    finer_bins,
    number_of_bins,
)
from calibcli.stats.table.bins import ATOMS, Bins, binned, equal_width_edges, looks_discrete
from calibcli.stats.table.grid import Table, open_variance, residuals


def ece_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge "ECE <= eps" for the population, over a partition fixed before the rows were seen.

    Over the distinct outputs of a discrete recalibrator this is the calibration error itself; over bins of
    a continuous score it is the binned ECE, since the unbinned ECE of a continuous score cannot be
    bounded from above by any number of rows.
    """
    claim = ground.claim_of(rule, measure="ece" if ground.bins is ATOMS else "binned_ece")
    rows, variance = table.total_rows, ground.variance
    sums = binned(table, ground.bins)
    residuals = grouped_residuals(table, sums)
    at_lower, at_upper = ground.levels(rule)
    upper = residuals.upper_bound(stakes_of_gate(rows, variance, delta=at_upper), delta=at_upper)
    lower = residuals.lower_bound(stakes_of_gate(rows, variance, delta=at_lower), delta=at_lower)
    value = sums.ece
    any_time = variance is None
    found = Bounds(
        value,
        lower,
        upper,
        "betting, any time" if any_time else "betting, one look",
        Target.POPULATION,
        _assumptions(ground, any_time=any_time),
        ground.bins.described,
        needed=lambda claim: rows_needed(table, sums, claim, ground=ground, width=upper - lower),
        any_time=any_time,
        fixed_design_upper=min(1.0, value + deviation_of_a_mean(rows, at_upper)),
    )
    return found.verdict(table, claim, ground)


def _assumptions(ground: Ground, *, any_time: bool) -> tuple[str, ...]:
    bins = ground.bins
    independent = "rows are independent draws from the population that the verdict is about"
    if bins.binning is Binning.ATOMS:
        what = "the score has few values, so each is measured by itself, without bins"
    else:
        what = f"{bins.described}, fixed in advance"
    same = "bins" if ground.claims == 1 else "bins, rules and groups"
    looks = f"you may check again as rows arrive, with these same {same}" if any_time else ONE_LOOK
    return independent, HELD_OUT, what, looks


# As a power of ten.
_MOST_ROWS = 12.0


class DceGrowth:
    """The bounds that more rows with these scores would have."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._variance = float(open_variance(table).sum()) / table.total_rows
        self._few = looks_discrete(table)

    def error(self, value: float) -> float:
        """Return an estimate from these rows without its noise, which adds up with errors as squares do."""
        count = number_of_bins(self._table.total_rows)
        sizes = [_over_bins(self._table, one) for one in (count, finer_bins(count))]
        rated, moved = min([*sizes, (self._over_scores(), 0.0)] if self._few else sizes, key=sum)
        return math.sqrt(max(0.0, (value - moved) ** 2 - rated**2))

    def _over_scores(self) -> float:
        """Return the estimate that calibrated labels have on average over each of few scores by itself."""
        spread = np.sqrt(open_variance(self._table))
        return float(mean_size(np.zeros_like(spread), spread).sum()) / self._table.total_rows

    def price(self, rows: float, *, level: float, delta: float) -> float:
        """Return how far a bound lies beyond its mean, where the evidence must reach a level."""
        stakes = stakes_of_rows(math.ceil(rows), delta=delta)
        return price_of_bets(stakes, rows, self._variance, level=level)

    def rows_to_fail(self, limit: float, *, delta: float) -> int | None:
        """Return the rows at which either lower bound rises to a limit; None if neither does."""
        needed = []
        for (size, divisor), part in zip(self._levers(), error_shares(delta, signs=2), strict=True):
            level, beyond = math.log(2.0 / part), size - divisor * limit
            if beyond > 0.0:
                price = partial(self.price, level=level, delta=part)
                needed.append(first_rows(partial(_left, beyond, price), most=_MOST_ROWS))
        return min(needed, default=None)

    def _levers(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the means that can refute the claim, less their noise, and what divides each."""
        table, rows = self._table, float(self._table.total_rows)
        residual = residuals(table)
        tilt = 2.0 * table.score - 1.0
        # Noise adds to a mean as squares do: of a size far from 0 it takes next to nothing.
        sizes = (abs(float(one.sum())) / rows for one in (residual, residual * tilt))
        level, tilted = (math.sqrt(max(0.0, size**2 - self._variance / rows)) for size in sizes)
        return (level, 1.0), (tilted, 3.0)


def _over_bins(table: Table, count: int) -> tuple[float, float]:
    """Return the mean distances of calibrated rates from midpoints, and of scores from midpoints."""
    sums = binned(table, Bins(Binning.EQUAL_WIDTH, equal_width_edges(count)))
    middle = (np.arange(count) + 0.5) / count
    rated = mean_size(sums.score_sum - sums.weight * middle, np.sqrt(sums.variance))
    moved = table.weight * np.abs(table.score - np.repeat(middle, np.diff(sums.starts)))
    return float(rated.sum()) / sums.total, float(moved.sum()) / sums.total


def _left(beyond: float, price: Callable[[float], float], digits: float) -> float:
    return beyond - price(10.0**digits)


def dce_rows_needed(
    table: Table, rule: Rule, claim: Claim, *, ground: Ground, value: float, width: float
) -> RowsNeeded:
    """Extrapolate from the estimate, less that of calibrated labels; for a fail it is a guess."""
    from calibcli.stats.gates.plan import as_likely_as_not, population_like, shifted

    if claim.limit <= 0.0:
        return RowsNeeded(None, None, 0, within_noise=True)
    growth = DceGrowth(table)
    error, low = growth.error(value), float(residuals(table).sum()) > 0.0
    # Few values are drawn as they are.
    bins = ATOMS if looks_discrete(table) else Bins(Binning.EQUAL_WIDTH, equal_width_edges(1))
    calibrated = population_like(table, bins=bins, measure=MeasureName.DCE)
    return promise(
        claim,
        error,
        width=width,
        rows=table.total_rows,
        best=as_likely_as_not(rule, ground, calibrated),
        ground=ground,
        to_pass=lambda: as_likely_as_not(rule, ground, shifted(calibrated, MeasureName.DCE, error, low=low)),
        to_fail=lambda: growth.rows_to_fail(claim.limit, delta=ground.fail_delta),
    )


def dce_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge "distance to calibration <= eps" for the population.

    A pass bounds the upper distance, to the nearest calibrated function of the score, and with it every other
    form; a fail shows the lower distance, the least of all forms, to be beyond the limit.
    """
    claim = ground.claim_of(rule, measure="dce")
    at_lower, at_upper = ground.levels(rule)
    found = distance(table, confidence=1.0 - 2.0 * at_upper)
    upper = None if found.interval is None else found.interval.upper
    level, tilt = dictionary(table, delta=at_lower)
    lower = max(level, tilt / 3.0)
    needed = partial(dce_rows_needed, table, rule, ground=ground, value=found.value)
    bounds = Bounds(
        found.value,
        lower,
        upper,
        "betting on rows, one look",
        Target.POPULATION,
        (
            INDEPENDENT_ROWS,
            ONE_POPULATION,
            HELD_OUT,
            "a pass bounds the upper distance, so every form of it; a fail is about the lower one",
            "the value is an upper estimate of the distance",
            ONE_LOOK,
        ),
        f"{found.details['bins']} equal-width bins, by the number of rows",
        needed=None if upper is None else partial(needed, width=2.0 * (upper - found.value)),
    )
    return bounds.verdict(table, claim, ground)
