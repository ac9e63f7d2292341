"""
How many rows would decide a claim about the l2 error, by the Chernoff bounds in the limit of many rows.

There G_k is V_k (X - 1) with V_k = v_k (1 - v_k) and X chi-squared with one degree of freedom, non-central by
n_k e_k^2 / V_k, so that ln E exp(-l G_k) = l V_k - ln(1 + 2 l V_k) / 2 - l n_k e_k^2 / (1 + 2 l V_k), and the
bounds of `calibcli.bounds.chernoff` have a formula for every bet l.
"""

import math

import numpy as np

from calibcli.bounds.special import Floats, normal_quantile
from calibcli.measures.l2 import t_statistic
from calibcli.measures.l2_bounds import counted
from calibcli.table.bins import BinnedTable
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Claim, Ground, RowsNeeded
from calibcli.verdicts.rows_needed import at_best, first_rows, promise

# Where the bets of `calibcli.bounds.chernoff` lie times the mean of v (1 - v), and times the largest.
_UPPER_BETS = np.geomspace(0.01, 1.5, 24)
_LOWER_BETS = np.geomspace(0.01, 0.45, 16)
_MOST_ROWS = 10**18


class L2Growth:
    """
    The bounds that more rows with these scores would have.

    Args:
        table: The rows.

        sums: The table over its distinct scores.
    """

    def __init__(self, table: Table, sums: BinnedTable) -> None:
        some = sums.occupied
        self._each = sums.variance[some] / sums.weight[some]
        self._mean = float(sums.variance.sum()) / sums.total
        self._by_chernoff = counted(table, sums) is not None

    def energy(self, statistic: float, *, delta: float) -> float:
        """Return the upper bound of sum n_k e_k^2 where sum G_k is `statistic`."""
        most = float(self._each.max())
        bets: Floats = _UPPER_BETS / max(self._mean, 1e-300)
        cost = bets[:, None] * self._each - 0.5 * np.log1p(2.0 * bets[:, None] * self._each)
        level = math.log(1.0 / delta) + bets * statistic + cost.sum(axis=1)
        energy: Floats = (1.0 + 2.0 * bets * most) / bets * level
        return max(0.0, float(energy.min()))

    def rows_to_pass(
        self, limit: float, *, error: float, delta: float, power: float = 0.5, wider: float = 1.0
    ) -> int:
        """
        Return the rows at which the upper bound comes down to a limit.

        Args:
            limit: The limit, above the error.

            error: The true l2 error.

            delta: Error probability of the bound.

            power: Probability with which so many rows are to be enough.

            wider: How much larger the bound of sum n_k e_k^2 is than in the limit of many rows.
        """
        z = normal_quantile(power)

        def evidence(digits: float) -> float:
            rows: float = 10.0**digits
            energy = rows * error**2
            statistic = energy + z * math.sqrt(2.0 * float((self._each**2).sum()) + 4.0 * self._mean * energy)
            if self._by_chernoff:
                return rows * limit**2 - wider * self.energy(statistic, delta=delta)
            plug_in = math.sqrt(max(0.0, (statistic + float(self._each.sum())) / rows))
            return limit - plug_in - math.sqrt(math.log(1.0 / delta) / (2.0 * rows))

        return first_rows(evidence)

    def rows_to_fail(self, limit: float, *, error: float, delta: float) -> int:
        """Return the rows at which the lower bound rises to a limit below the error."""
        left, bets = 1.0 - 2.0 * _LOWER_BETS, _LOWER_BETS / max(float(self._each.max()), 1e-300)
        spread = bets[:, None] * self._each
        cost: Floats = -(spread + 0.5 * np.log1p(-2.0 * spread)).sum(axis=1) + math.log(1.0 / delta)
        grows = left * error**2 - limit**2
        if not (grows > 0.0).any():
            return _MOST_ROWS
        rows = (left * cost / bets)[grows > 0.0] / grows[grows > 0.0]
        return min(_MOST_ROWS, math.ceil(float(rows.min())))


def l2_rows_needed(
    table: Table, sums: BinnedTable, claim: Claim, *, ground: Ground, ends: tuple[float, float]
) -> RowsNeeded:
    """
    Extrapolate from the debiased estimate to the rows that would decide.

    Args:
        table: The rows.

        sums: The table over its distinct scores.

        claim: The limit.

        ground: The error probabilities, and how few rows conclude nothing.

        ends: The lower and the upper bound now.

    Returns:
        Approximate: about a tenth off for a calibrated score, a guess elsewhere.
    """
    growth, delta, t = L2Growth(table, sums), ground.delta, t_statistic(sums)
    limiting = growth.energy(sums.total * t, delta=delta)
    wider = max(1.0, sums.total * ends[1] ** 2 / limiting) if limiting > 0.0 else 1.0
    # So wide a bound is cut at 1, or counts rows alone with their value as wrong.
    wider = min(wider, 2.0)
    error = math.sqrt(max(t, 0.0))
    best = growth.rows_to_pass(claim.limit, error=0.0, delta=delta, wider=wider) if claim.limit > 0.0 else 0
    return promise(
        claim.limit - error,
        width=ends[1] - ends[0],
        rows=table.total_rows,
        at_best=at_best(best, ground),
        to_pass=lambda: growth.rows_to_pass(claim.limit, error=error, delta=delta, wider=wider),
        to_fail=lambda: growth.rows_to_fail(claim.limit, error=error, delta=ground.fail_delta),
    )
