"""How many labelled rows would decide a claim, by letting the very bets grow on rows like these."""

import math
from collections.abc import Callable

import numpy as np

from calibcli.bounds.betting import (
    GroupedResiduals,
    Stakes,
    log_sum,
    stakes_for_any_time,
    stakes_for_one_look,
)
from calibcli.measures.binned_ece import mean_noise
from calibcli.table.bins import BinnedTable
from calibcli.table.crossing import crossing
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Claim, RowsNeeded

_MOST_ROWS = 18.0  # as a power of ten


class Growth:
    """
    The evidence that bets would gather on more rows with these scores.

    Labels are taken to follow the scores, and the limit to be nearer by the estimated error; noise in a bin
    costs a pass what it costs on average.

    Args:
        table: The rows.

        sums: The table over the partition.

        delta: Error probability.

        variance: What the bets for one look are set by; None for bets that hold at any time.
    """

    def __init__(self, table: Table, sums: BinnedTable, *, delta: float, variance: float | None) -> None:
        weight, score = table.weight, table.score
        self._expected = GroupedResiduals(
            score, positive=weight * score, negative=weight * (1.0 - score), starts=np.array([0, score.size])
        )
        some = sums.occupied
        self._bins = int(np.count_nonzero(some))
        self._roots = float(np.sqrt(sums.variance[some] / sums.total).sum())
        self._delta, self._variance = delta, variance

    def rows_to_pass(self, room: float) -> int:
        """Return the rows at which "at least the limit" is refuted, the limit `room` above the error."""

        def evidence(power: float) -> float:
            rows = 10.0**power
            cost = math.sqrt(2.0 / math.pi) * self._roots * math.sqrt(rows)
            terms = []
            for size, share in self._bets(rows):
                slope = size / (1.0 + size * room)
                growth = math.log1p(size * room) + self._per_row(slope)
                terms.append(math.log(share) + rows * growth - slope * cost)
            return log_sum(terms) - math.log(1.0 / self._delta)

        return _first(evidence)

    def rows_to_fail(self, excess: float) -> int:
        """Return the rows at which "at most the limit" is refuted, the error being `excess` above it."""

        def evidence(power: float) -> float:
            rows = 10.0**power
            terms = []
            for size, share in self._bets(rows):
                bet = min(size, 0.475)
                slope = bet / (1.0 + bet * excess)
                growth = math.log1p(bet * excess) + self._per_row(slope)
                terms.append(math.log(share) + rows * growth - self._bins * math.log(2.0))
            return log_sum(terms) - math.log(1.0 / self._delta)

        return _first(evidence)

    def _per_row(self, slope: float) -> float:
        """Return the mean of log(1 + slope r) for calibrated labels, over both signs."""
        both = self._expected.log_product(slope) + self._expected.log_product(-slope)
        return 0.5 * float(both.sum()) / self._expected.rows

    def _bets(self, rows: float) -> list[tuple[float, float]]:
        stakes = self._stakes(rows)
        return list(zip(stakes.sizes, stakes.shares, strict=True))

    def _stakes(self, rows: float) -> Stakes:
        if self._variance is None:
            return stakes_for_any_time(delta=self._delta)
        return stakes_for_one_look(rows, self._variance, delta=self._delta)


def rows_needed(
    table: Table, sums: BinnedTable, claim: Claim, *, width: float, variance: float | None, least_rows: int
) -> RowsNeeded:
    """
    Extrapolate from the noise-corrected estimate to the rows that would decide.

    Args:
        table: The rows.

        sums: The table over the partition.

        claim: The limit and the confidence.

        width: Width of the interval now.

        variance: What the bets for one look were set by; None for bets that hold at any time.

        least_rows: Below so many rows nothing is concluded.

    Returns:
        Approximate: about a tenth off where the truth is near zero, a guess elsewhere.
    """
    growth = Growth(table, sums, delta=1.0 - claim.confidence, variance=variance)
    value = float(np.abs(sums.residual).sum()) / sums.total
    room = claim.limit - max(0.0, value - mean_noise(table, sums))
    at_best = max(least_rows, growth.rows_to_pass(claim.limit)) if claim.limit > 0.0 else 0
    deciding = growth.rows_to_pass(room) if room > 0.0 else growth.rows_to_fail(-room)
    # Rows that were not enough are no promise, whatever the estimate says.
    if abs(room) < width / 2.0 or room == 0.0 or deciding <= table.total_rows:
        return RowsNeeded(None, None, at_best, within_noise=True)
    if room > 0.0:
        return RowsNeeded(deciding, None, at_best, within_noise=False)
    return RowsNeeded(None, deciding, at_best, within_noise=False)


def _first(evidence: Callable[[float], float]) -> int:
    """Return the rows, from the power of ten at which evidence becomes positive; 10^18 at most."""
    _, power = crossing(evidence, 0.0, _MOST_ROWS, within=1e-4)
    return math.ceil(float(10.0**power))
