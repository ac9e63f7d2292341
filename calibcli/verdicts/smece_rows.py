"""How many rows would decide a claim about smECE, by its bounds at the bandwidth of the limit."""

import math

import numpy as np

from calibcli.bounds.proportion import hoeffding_deviation
from calibcli.measures.least_error import error_shares, least_by_mean
from calibcli.measures.null_smece import mean_spread
from calibcli.measures.smooth_ece import noise_of_norm, stakes_for
from calibcli.measures.smooth_scales import gathered
from calibcli.table.grid import Table
from calibcli.table.kernel import LEAST_BANDWIDTH, MESH, CosineSeries, cosine_series_of_cells
from calibcli.table.residuals import residuals
from calibcli.table.score_table import Floats
from calibcli.verdicts.claim import Claim, Ground, RowsNeeded
from calibcli.verdicts.rows_needed import at_best, first_rows, mean_size_of_noise, promise


class SmeceGrowth:
    """
    The bounds that more rows with these scores would have.

    Args:
        table: The rows.

        limit: The limit, which is also the bandwidth that is looked at.

        expected: What the bets of a pass take the mean of f (1 - f) for, or None.
    """

    def __init__(self, table: Table, *, limit: float, expected: float | None = None) -> None:
        self.limit, rows = limit, table.total_rows
        self._table, self._expected = table, expected
        self._bandwidth = max(limit, LEAST_BANDWIDTH)
        variance = table.weight * table.score * (1.0 - table.score)
        cell = np.minimum((table.score * MESH).astype(np.int64), MESH - 1)
        held: Floats = np.bincount(cell, weights=variance, minlength=MESH).astype(np.float64)
        series = cosine_series_of_cells(held)
        self._spread = mean_spread(series, held, bandwidth=self._bandwidth) / math.sqrt(rows)
        self._variance = float(variance.sum()) / rows
        placed = gathered(table, table.score) if table.distinct > MESH else table
        self._strays = noise_of_norm(placed, self._bandwidth) * math.sqrt(rows)

    def noise(self, rows: float, *, power: float = 0.5) -> float:
        """Return the norm that noise alone has at a number of rows, exceeded with probability 1 - power."""
        return mean_size_of_noise(self._spread, self._variance, power=power) / math.sqrt(rows)

    def margin(self, rows: float, *, delta: float) -> float:
        """Return by how much the limit is to exceed the norm of calibrated labels for the bets to pass it."""
        stakes = stakes_for(math.ceil(rows), self._expected, delta=delta)
        return min(
            ((math.log(1.0 / delta) - math.log(share)) / rows + 0.5 * size**2 * self._variance) / size
            for size, share in zip(stakes.sizes, stakes.shares, strict=True)
        )

    def rows_to_pass(self, *, error: float, delta: float, power: float = 0.5) -> int:
        """
        Return the rows at which the upper bound comes down to the limit.

        Args:
            error: The true norm at the bandwidth of the limit, below the limit.

            delta: Error probability.

            power: Probability with which so many rows are to be enough.
        """

        def evidence(digits: float) -> float:
            rows = 10.0**digits
            return self.limit - error - self.noise(rows, power=power) - self.margin(rows, delta=delta)

        return first_rows(evidence)

    def rows_to_fail(self, *, error: float, mean: float, delta: float) -> int:
        """
        Return the rows at which either lower bound rises to the limit.

        Args:
            error: The true norm at the bandwidth of the limit.

            mean: The size of the true mean residual; either is above the limit.

            delta: Error probability.
        """
        of_mean, of_norm = error_shares(delta, signs=self._table.distinct)

        def evidence(digits: float) -> float:
            rows = 10.0**digits
            strays = self._strays / math.sqrt(rows) + hoeffding_deviation(rows, of_norm or of_mean)
            return error - strays - self.limit

        by_norm = first_rows(evidence)
        if mean <= self.limit:
            return by_norm
        # The interval of the mean narrows as the root of the rows.
        rows, found = (
            self._table.total_rows,
            abs(float(residuals(self._table).sum())) / self._table.total_rows,
        )
        short = (found - least_by_mean(self._table, delta=of_mean)) / (mean - self.limit)
        return min(by_norm, math.ceil(rows * short**2))

    def mean(self, rows: float) -> float:
        """Return the size of the mean residual without noise, which adds up as squares do."""
        found = float(residuals(self._table).sum()) / rows
        return math.sqrt(max(0.0, found**2 - self._variance / rows))

    def error(self, series: CosineSeries, rows: float) -> float:
        """Return the norm at the bandwidth of the limit without noise, which adds up as squares do."""
        return math.sqrt(max(0.0, float(series.l1_norm(self._bandwidth)) ** 2 - self.noise(rows) ** 2))


def smece_rows_needed(table: Table, series: CosineSeries, claim: Claim, *, ground: Ground) -> RowsNeeded:
    """
    Extrapolate from the smoothed residuals, less their noise, to the rows that would decide.

    Args:
        table: The rows.

        series: The table's residual series.

        claim: The limit.

        ground: The error probabilities, and how few rows conclude nothing.

    Returns:
        Approximate: about a tenth off for a calibrated score, a guess elsewhere.
    """
    if claim.limit <= 0.0:
        return RowsNeeded(None, None, 0, within_noise=True)
    growth = SmeceGrowth(table, limit=claim.limit, expected=ground.variance)
    rows = float(table.total_rows)
    mean = growth.mean(rows)
    error = max(growth.error(series, rows), mean)
    return promise(
        claim.limit - error,
        width=2.0 * growth.margin(rows, delta=ground.delta),
        rows=table.total_rows,
        at_best=at_best(growth.rows_to_pass(error=0.0, delta=ground.delta), ground),
        to_pass=lambda: growth.rows_to_pass(error=error, delta=ground.delta),
        to_fail=lambda: growth.rows_to_fail(error=error, mean=mean, delta=ground.fail_delta),
    )
