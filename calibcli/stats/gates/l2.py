"""Is the l2 error of a few-valued score at most eps? Bounds that hold for any rows, delta on each side."""

import math

import numpy as np

from calibcli.names import Target
from calibcli.options.rules import Rule
from calibcli.stats.bounds.proportion import hoeffding_deviation, unseen_share
from calibcli.stats.gates.claim import (
    ONE_LOOK,
    Bounds,
    Claim,
    Ground,
    RowsNeeded,
    Verdict,
    claim_of,
    levels,
    refuse_many_values,
    refuse_weights,
    verdict_by_bounds,
)
from calibcli.stats.gates.linf import linf_rows_needed, of_seen
from calibcli.stats.gates.rows_needed import at_best, first_rows, promise
from calibcli.stats.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.stats.measures.l2 import (
    counted,
    l2_squared_plug_in,
    lower_bound,
    one_score,
    pairs_in,
    t_statistic,
    upper_bound,
)
from calibcli.stats.numerics import Floats, normal_quantile
from calibcli.stats.table.bins import BinnedTable, binned
from calibcli.stats.table.grid import Table

# Where the bets of `calibcli.stats.bounds.chernoff` lie times the mean of v (1 - v), and times the largest.
_UPPER_BETS = np.geomspace(0.01, 1.5, 24)

_LOWER_BETS = np.geomspace(0.01, 0.45, 16)

_MOST_ROWS = 10**18


class L2Growth:
    """The bounds that more rows with these scores would have."""

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
        """Return the rows at which the upper bound comes down to a limit."""
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
        claim.limit,
        error,
        width=ends[1] - ends[0],
        rows=table.total_rows,
        at_best=at_best(best, ground),
        to_pass=lambda: growth.rows_to_pass(claim.limit, error=error, delta=delta, wider=wider),
        to_fail=lambda: growth.rows_to_fail(claim.limit, error=error, delta=ground.fail_delta),
    )


_ASSUMPTIONS = (
    INDEPENDENT_ROWS,
    HELD_OUT,
    "the score has few values, so each is measured by itself, without bins",
    "each value counts by its share of these very rows",
    ONE_LOOK,
)


def l2_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Judge "l2 error <= eps" for these scores, each distinct score by itself.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, at any number of rows.

    References:
        `calibcli.stats.bounds.chernoff`; for a single value Clopper & Pearson (1934), above a hundred
        values, and where no value has two rows, Hoeffding (1963).
    """
    refuse_weights(table)
    refuse_many_values(table, ground, words="l2")
    claim = claim_of(rule, ground, measure="l2")
    at_lower, at_upper = levels(rule, ground)
    sums = binned(table, ground.bins)
    upper, above = _upper(table, sums, delta=at_upper)
    lower, below = lower_bound(table, sums, delta=at_lower)
    share = unseen_share(sums.rows[sums.occupied], delta=ground.delta) if ground.outputs is None else None
    rows_needed = linf_rows_needed if one_score(table) else l2_rows_needed
    found = Bounds(
        math.sqrt(max(t_statistic(sums), 0.0)) if pairs_in(sums).any() else math.nan,
        lower,
        upper,
        above if above == below else f"upper: {above}; lower: {below}",
        Target.FIXED_DESIGN,
        _ASSUMPTIONS,
        ground.bins.described,
        needed=lambda claim: rows_needed(table, sums, claim, ground=ground, ends=(lower, upper)),
    )
    return of_seen(verdict_by_bounds(table, claim, ground, found), sums, share)


def _upper(table: Table, sums: BinnedTable, *, delta: float) -> tuple[float, str]:
    """
    Return an upper bound and its method; which one is taken depends on rows and scores alone.

    Hoeffding's: with u along the true errors, sum p_k u_k^2 = 1, the l2 error is the mean of u_k times label
    less score; the plug-in is at least its estimate, which a label moves by u_k / n.
    """
    found = upper_bound(table, sums, delta=delta)
    if found is not None:
        return found
    margin = hoeffding_deviation(table.total_rows, delta)
    return min(1.0, math.sqrt(l2_squared_plug_in(sums)) + margin), "Hoeffding"
