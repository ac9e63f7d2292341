"""How many rows would decide a claim about the worst value of a score, by the very bounds on more rows."""

import math
from collections.abc import Callable

import numpy as np

from calibcli.bounds.proportion import clopper_pearson
from calibcli.bounds.special import Floats, normal_quantile
from calibcli.measures.linf import each_of
from calibcli.table.bins import BinnedTable
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Claim, Ground, RowsNeeded
from calibcli.verdicts.rows_needed import at_best, promise

# Beyond so many rows, as a power of ten, the bounds are too close together to be computed.
_MOST_ROWS = 13.0
# In powers of ten: a hundredth of the rows.
_WITHIN = 0.005
_MOST_STEPS = 12


class LinfGrowth:
    """
    The bounds that more rows with these scores would have.

    Args:
        sums: The table over its distinct scores.
    """

    def __init__(self, sums: BinnedTable) -> None:
        some = sums.occupied
        self._share = sums.weight[some] / sums.total
        self._score = np.clip(sums.score_sum[some] / sums.weight[some], 0.0, 1.0)

    def rows_to_pass(self, limit: float, *, errors: Floats, delta: float, power: float = 0.5) -> int:
        """
        Return the rows at which every rate is shown to lie within a limit of its score.

        Args:
            limit: The limit, above every error.

            errors: True rate less score of every value that has rows, shape (n_values,).

            delta: Error probability.

            power: Probability with which so many rows are to be enough.
        """
        z = self._reach(power)
        rate = np.clip(self._score + errors, 0.0, 1.0)

        def upper(digits: float) -> float:
            rows = self._rows(digits)
            spread = z * np.sqrt(rows * rate * (1.0 - rate))
            most = np.clip(np.rint(rows * rate + spread), 0.0, rows)
            least = np.clip(np.rint(rows * rate - spread), 0.0, rows)
            high = clopper_pearson(most, rows, delta_each_side=delta)[1]
            low = clopper_pearson(least, rows, delta_each_side=delta)[0]
            return float(np.maximum(high - self._score, self._score - low).max())

        return _rows_until(upper, limit, error=float(np.abs(errors).max()))

    def rows_to_fail(self, limit: float, *, errors: Floats, delta: float) -> int:
        """Return the rows at which half of the time some rate is shown to lie beyond a limit."""
        each = each_of(self._share.size, delta) / 2.0
        rate = np.clip(self._score + errors, 0.0, 1.0)

        def lower(digits: float) -> float:
            rows = self._rows(digits)
            low, high = clopper_pearson(np.rint(rows * rate), rows, delta_each_side=each)
            return float(np.maximum(low - self._score, self._score - high).max())

        return _rows_until(lower, limit, error=float(np.abs(errors).max()))

    def corrected(self, sums: BinnedTable) -> Floats:
        """Return rates less scores, without what the largest of so much noise is wont to be."""
        some = sums.occupied
        gap = sums.residual[some] / sums.weight[some]
        noise = self._reach(0.5) ** 2 * self._score * (1.0 - self._score) / sums.weight[some]
        return np.asarray(np.sign(gap) * np.sqrt(np.maximum(gap**2 - noise, 0.0)))

    def _reach(self, power: float) -> float:
        """Return how many deviations all rates stay within, on both sides, with a probability."""
        return normal_quantile(0.5 + 0.5 * power ** (1.0 / self._share.size))

    def _rows(self, digits: float) -> Floats:
        return np.asarray(np.maximum(np.rint(10.0**digits * self._share), 1.0))


def linf_rows_needed(
    table: Table, sums: BinnedTable, claim: Claim, *, ground: Ground, ends: tuple[float, float]
) -> RowsNeeded:
    """
    Extrapolate from the rates, less their noise, to the rows that would decide.

    Args:
        table: The rows.

        sums: The table over its distinct scores.

        claim: The limit.

        ground: The error probabilities, and how few rows conclude nothing.

        ends: The lower and the upper bound now.

    Returns:
        Approximate: a tenth or two off for a calibrated score, a guess elsewhere.
    """
    growth = LinfGrowth(sums)
    errors = growth.corrected(sums)
    calibrated = np.zeros_like(errors)
    best = growth.rows_to_pass(claim.limit, errors=calibrated, delta=ground.delta) if claim.limit > 0.0 else 0
    return promise(
        claim.limit - float(np.abs(errors).max()),
        width=ends[1] - ends[0],
        rows=table.total_rows,
        at_best=at_best(best, ground),
        to_pass=lambda: growth.rows_to_pass(claim.limit, errors=errors, delta=ground.delta),
        to_fail=lambda: growth.rows_to_fail(claim.limit, errors=errors, delta=ground.fail_delta),
    )


def _rows_until(bound: Callable[[float], float], limit: float, *, error: float) -> int:
    """
    Return the rows at which a bound, which nears the error as one over the root of the rows, is at a limit.

    Args:
        bound: Of the power of ten.

        limit: The limit.

        error: The error.
    """
    room = math.log10(abs(limit - error))
    digits = min(_MOST_ROWS, -2.0 * room)
    for _ in range(_MOST_STEPS):
        apart = abs(bound(digits) - error)
        step = 2.0 * (math.log10(max(apart, 1e-12)) - room)
        digits = min(max(digits + step, 0.0), _MOST_ROWS)
        if abs(step) < _WITHIN:
            break
    return math.ceil(float(10.0**digits))
