"""How many labelled rows would decide a claim, by letting the very bets grow on rows like these."""

import math
from collections.abc import Callable

import numpy as np

from calibcli.names import MeasureName
from calibcli.stats.bounds import betting
from calibcli.stats.gates.claim import Claim, Ground, RowsNeeded
from calibcli.stats.numerics import Floats, crossing
from calibcli.stats.table.bins import BinnedTable
from calibcli.stats.table.grid import Table

_MOST_ROWS = 18.0  # as a power of ten

# Of which the rows are found as `plan` finds them, by simulated gates, and by no formula.
BY_SIMULATION = frozenset({MeasureName.L2, MeasureName.LINF, MeasureName.SMECE, MeasureName.DCE})

# Noise at neighbouring scores adds up in smECE and in the distance to calibration, which also counts how far
# scores move and bets on few values one by one: many stay many.
_MANY_VALUES = 4_096


def fresh_scores(table: Table) -> tuple[Floats, Floats]:
    """Return scores, ascending, as those of other rows would fall, and the rows each stands for.

    Evenly between rows of neighbouring scores, and as often one score as rows have it: no score of a few
    rows comes back. Half of the values go by the variance of labels: few scores may make most of the noise.
    """
    last = np.cumsum(table.rows) - 0.5
    rank = np.column_stack((last - table.rows + 1.0, last)).ravel()
    variance = table.rows * table.score * (1.0 - table.score)
    parts = [one / one.sum() for one in (table.rows, variance) if one.any()]
    gathered = np.append(0.0, np.cumsum(np.mean(parts, axis=0)))
    ends = np.interp(
        np.linspace(0.0, gathered[-1], _MANY_VALUES + 1), gathered, np.append(0.0, np.cumsum(table.rows))
    )
    at = np.interp(0.5 * (ends[1:] + ends[:-1]), rank, np.repeat(table.score, 2))
    score, place = np.unique(at, return_inverse=True)
    return score, np.bincount(place, np.diff(ends)).astype(np.float64)


class Growth:
    """The evidence that bets would gather on more rows with these scores.

    Labels are taken to follow the scores, and the limit to be nearer by the estimated error; noise costs a
    pass what it costs on average. Bets without a `variance` hold at any time.
    """

    def __init__(self, table: Table, sums: BinnedTable, *, delta: float, variance: float | None) -> None:
        weight, score = table.weight, table.score
        self._expected = betting.GroupedResiduals(
            score, positive=weight * score, negative=weight * (1.0 - score), starts=np.array([0, score.size])
        )
        some = sums.occupied
        self._bins = int(np.count_nonzero(some))
        self._roots = float(np.sqrt(sums.variance[some] / sums.total).sum())
        self._delta, self._variance = delta, variance

    def rows_to_pass(self, room: float) -> int:
        """Return the rows at which "at least the limit" is refuted.

        The size of the noise in a bin, sqrt(n_k v_k) |Z|, has mean sqrt(2 n_k v_k / pi).
        """
        noise = math.sqrt(2.0 / math.pi) * self._roots

        def evidence(digits: float) -> float:
            rows = 10.0**digits
            cost = noise * math.sqrt(rows)
            stakes = self._stakes(rows)
            slopes, won = betting.against_more(stakes, room)
            growth = np.log1p(won) + self._per_row(slopes)
            terms = np.log(stakes.shares) + rows * growth - slopes * cost
            return betting.log_sum(terms.tolist()) - math.log(1.0 / self._delta)

        return first_rows(evidence)

    def rows_to_fail(self, excess: float, *, one_sign: float = 0.0) -> int:
        """Return the rows at which "at most the limit" is refuted.

        Args:
            excess: How far the error is above it.
            one_sign: How far the size of the mean residual is, the error of signs that are all alike.
        """
        alone = self._rows_to_fail(excess, cost=(self._bins + 1.0) * math.log(2.0))
        return min(alone, self._rows_to_fail(one_sign, cost=2.0 * math.log(2.0))) if one_sign > 0.0 else alone

    def _rows_to_fail(self, excess: float, *, cost: float) -> int:
        """Return the rows at which bets by the right signs, which cost so much evidence, refute."""
        gain = 0.0 if self._variance is None else math.log(2.0)

        def evidence(digits: float) -> float:
            rows = 10.0**digits
            stakes = self._stakes(rows)
            bets = np.minimum(stakes.sizes, 0.475)
            growth = np.log1p(bets * excess) + self._per_row(bets / (1.0 + bets * excess))
            terms = np.log(stakes.shares) + rows * growth - cost + gain
            return betting.log_sum(terms.tolist()) - math.log(1.0 / self._delta)

        return first_rows(evidence)

    def _per_row(self, slopes: Floats) -> Floats:
        """Return the mean of log(1 + slope r) for calibrated labels, over both signs."""
        both = self._expected.log_products(slopes) + self._expected.log_products(-slopes)
        return np.asarray(0.5 * both.sum(axis=-1) / self._expected.rows)

    def _stakes(self, rows: float) -> betting.Stakes:
        return betting.stakes_of_gate(rows, self._variance, delta=self._delta)


def rows_needed(table: Table, sums: BinnedTable, claim: Claim, *, ground: Ground, width: float) -> RowsNeeded:
    """Extrapolate from the estimate less noise: a tenth off with a truth near 0, a guess elsewhere."""
    growth = Growth(table, sums, delta=ground.delta, variance=ground.variance)
    failing = Growth(table, sums, delta=ground.fail_delta, variance=ground.variance)
    value = sums.ece
    error = value * share_beyond_noise(sums)
    room = claim.limit - error
    spread = float(sums.variance.sum()) / sums.total**2
    mean = math.sqrt(max(0.0, (float(sums.residual.sum()) / sums.total) ** 2 - spread))
    best = growth.rows_to_pass(claim.limit) if claim.limit > 0.0 else 0
    return promise(
        claim,
        error,
        width=width,
        rows=table.total_rows,
        best=best,
        ground=ground,
        to_pass=lambda: growth.rows_to_pass(room),
        to_fail=lambda: failing.rows_to_fail(-room, one_sign=mean - claim.limit),
    )


def share_beyond_noise(sums: BinnedTable) -> float:
    """Return the share of a binned ECE that is error, the rest being what labels add by chance.

    Errors in proportion to the gaps seen, of which calibrated labels around them make the gaps seen on
    average: E|m + sd Z| = sd sqrt(2 / pi) exp(-t^2 / 2) + m erf(t / sqrt(2)), t = m / sd.
    """
    some = sums.variance > 0.0
    gap, sd = np.abs(sums.residual[some]), np.sqrt(sums.variance[some])
    erf = np.vectorize(math.erf, otypes=[float])

    def lacking(share: float) -> float:
        t = share * gap / sd
        seen = sd * (math.sqrt(2.0 / math.pi) * np.exp(-0.5 * t * t) + t * erf(t / math.sqrt(2.0)))
        return float((seen - gap).sum())

    return crossing(lacking, 0.0, 1.0, within=1e-6)[0]


def promise(
    claim: Claim,
    error: float,
    *,
    ground: Ground,
    width: float,
    rows: int,
    best: int,
    to_pass: Callable[[], int],
    to_fail: Callable[[], int | None],
) -> RowsNeeded:
    """Promise rows where the estimate can be told from the limit, and no fewer than were not enough.

    Args:
        error: The estimate less its noise.
        width: Width of the interval now.
        best: Rows for a pass if the score were perfectly calibrated, 0 if no number does.
        to_pass: Rows for a pass, wanted where there is room.
        to_fail: Rows for a fail, wanted where there is none; None if the bound cannot show it.
    """
    room, at_best = claim.limit - error, max(ground.least_rows, best) if best else 0
    if room == 0.0 or abs(room) < width / 2.0:
        return RowsNeeded(None, None, at_best, within_noise=True)
    deciding = to_pass() if room > 0.0 else to_fail()
    # Rows that were not enough are no promise, whatever the estimate says.
    if deciding is not None and deciding <= rows:
        return RowsNeeded(None, None, at_best, within_noise=True)
    if room > 0.0:
        return RowsNeeded(deciding, None, at_best, within_noise=False, error=error)
    return RowsNeeded(None, deciding, at_best, within_noise=False, error=error)


def first_rows(evidence: Callable[[float], float], *, most: float = _MOST_ROWS) -> int:
    """Return the rows, from the power of ten at which evidence becomes positive."""
    _, digits = crossing(evidence, 0.0, most, within=1e-3)
    return math.ceil(float(10.0**digits))


def price_of_bets(stakes: betting.Stakes, rows: float, variance: float, *, level: float) -> float:
    """Return how far a bound lies beyond the mean it speaks of.

    A bet of size l gains l times that less l^2 V / 2 in each row, and must reach the level.
    """
    return min(
        ((level - math.log(share)) / rows + 0.5 * size**2 * variance) / size
        for size, share in zip(stakes.sizes, stakes.shares, strict=True)
    )
