"""Is the l2 error of a few-valued score at most eps? Bounds that hold for any rows, delta on each side."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from calibcli.names import Target, VerdictName
from calibcli.options.numerals import rough_percent
from calibcli.options.rules import Rule
from calibcli.stats.bounds.proportion import clopper_pearson, hoeffding_deviation, rate_bounds, unseen_share
from calibcli.stats.gates.claim import ONE_LOOK, Bounds, Claim, Ground, RowsNeeded, Verdict
from calibcli.stats.gates.rows_needed import first_rows, promise
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS, l2
from calibcli.stats.measures.binned import each_of, farthest
from calibcli.stats.numerics import Floats, normal_quantile
from calibcli.stats.table.bins import BinnedTable, binned
from calibcli.stats.table.grid import Table

# Beyond so many rows, as a power of ten, the bounds are too close together to be computed.
_MOST_DIGITS = 13.0

# In powers of ten: a hundredth of the rows.
_WITHIN = 0.005

_MOST_STEPS = 12


class LinfGrowth:
    """The bounds that more rows with these scores would have."""

    def __init__(self, sums: BinnedTable) -> None:
        some = sums.occupied
        self._share = sums.weight[some] / sums.total
        self._score = np.clip(sums.score_sum[some] / sums.weight[some], 0.0, 1.0)

    def rows_to_pass(self, limit: float, *, errors: Floats, delta: float) -> int:
        """Return the rows at which every rate is shown to lie within a limit of its score."""
        z = self._reach
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
        noise = self._reach**2 * self._score * (1.0 - self._score) / sums.weight[some]
        return np.asarray(np.sign(gap) * np.sqrt(np.maximum(gap**2 - noise, 0.0)))

    @property
    def _reach(self) -> float:
        """How many deviations all rates stay within, on both sides, half of the time."""
        return normal_quantile(0.5 + 0.5 * 0.5 ** (1.0 / self._share.size))

    def _rows(self, digits: float) -> Floats:
        return np.asarray(np.maximum(np.rint(10.0**digits * self._share), 1.0))


def linf_rows_needed(
    table: Table, sums: BinnedTable, claim: Claim, *, ground: Ground, ends: tuple[float, float]
) -> RowsNeeded:
    """Extrapolate from the rates, less their noise, to the rows that would decide; approximate: a tenth or
    two off for a calibrated score, a guess elsewhere.
    """
    growth = LinfGrowth(sums)
    errors = growth.corrected(sums)
    calibrated = np.zeros_like(errors)
    best = growth.rows_to_pass(claim.limit, errors=calibrated, delta=ground.delta) if claim.limit > 0.0 else 0
    return promise(
        claim,
        float(np.abs(errors).max()),
        width=ends[1] - ends[0],
        rows=table.total_rows,
        best=best,
        ground=ground,
        to_pass=lambda: growth.rows_to_pass(claim.limit, errors=errors, delta=ground.delta),
        to_fail=lambda: growth.rows_to_fail(claim.limit, errors=errors, delta=ground.fail_delta),
    )


def _rows_until(bound: Callable[[float], float], limit: float, *, error: float) -> int:
    """Return the rows at which a bound, which nears the error as one over
    the root of the rows, is at a limit.
    """
    room = math.log10(abs(limit - error))
    digits = min(_MOST_DIGITS, -2.0 * room)
    for _ in range(_MOST_STEPS):
        apart = abs(bound(digits) - error)
        step = 2.0 * (math.log10(max(apart, 1e-12)) - room)
        digits = min(max(digits + step, 0.0), _MOST_DIGITS)
        if abs(step) < _WITHIN:
            break
    return math.ceil(float(10.0**digits))


_EVERY_OUTPUT = "every output of the recalibrator is tested, however rare"

_SEEN_VALUES = "of the values of the score seen here"

_MOST_OF_A_VALUE = 1 << 40


def linf_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge "|rate - score| <= eps for every value of the score".

    The worst value is a fixed one, so bounds that each hold with 1 - delta all pass together
    (intersection-union); any of them may fail, so the lower bounds share delta (Sidak).

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, at any number of rows.
        There is no upper bound where an output of the recalibrator has no rows.

    References:
        Clopper & Pearson (1934), Biometrika 26; Berger (1982), Technometrics 24.
    """
    ground.refuse_many_values(table, words="l-infinity")
    claim = ground.claim_of(rule, measure="linf")
    at_lower, at_upper = ground.levels(rule)
    sums = binned(table, ground.bins)
    some = sums.occupied
    share = unseen_share(sums.rows[some], delta=ground.delta) if ground.outputs is None else None
    lower = float(farthest(sums, delta=each_of(int(some.sum()), at_lower) / 2.0)[0].max())
    unseen = _unseen(table, ground.outputs)
    upper = None if unseen else float(farthest(sums, delta=at_upper)[1].max())
    found = Bounds(
        float(np.abs(sums.residual[some] / sums.weight[some]).max()),
        lower,
        upper,
        "upper: Clopper-Pearson, intersection-union; lower: Clopper-Pearson, Sidak",
        Target.FIXED_DESIGN if ground.outputs is None else Target.POPULATION,
        (INDEPENDENT_ROWS, HELD_OUT, _SEEN_VALUES if ground.outputs is None else _EVERY_OUTPUT, ONE_LOOK),
        ground.bins.described,
        needed=None
        if upper is None
        else lambda claim: linf_rows_needed(table, sums, claim, ground=ground, ends=(lower, upper)),
    )
    verdict = found.verdict(table, claim, ground)
    if unseen and verdict.reason is None and verdict.outcome is VerdictName.INCONCLUSIVE:
        verdict = replace(verdict, reason=unseen)
    if verdict.needed is not None:
        verdict = replace(verdict, reason=_thin_value(sums, claim, delta=at_upper))
    return of_seen(verdict, sums, share)


def of_seen(verdict: Verdict, sums: BinnedTable, share: float | None) -> Verdict:
    """Return a verdict with what it speaks of, and how many rows may be of something else."""
    verdict = replace(verdict, unseen_share=share)
    if share is None or verdict.outcome is not VerdictName.PASS:
        return verdict
    values = int(np.count_nonzero(sums.occupied))
    kinds = "the 1 value" if values == 1 else f"the {values:,} values"
    reason = (
        f"this covers {kinds} of the score seen here; others may be off by more, and make up at most "
        f"{rough_percent(share)} of future rows ({100.0 * verdict.claim.confidence:.6g} % confidence)"
    )
    return replace(verdict, reason=reason)


def _thin_value(sums: BinnedTable, claim: Claim, *, delta: float) -> str | None:
    """Return which value has too few rows for the limit even if its rate is the score, or None."""
    some = sums.occupied
    most = farthest(sums, delta=delta)[1]
    worst = int(most.argmax())
    rows, score = int(sums.rows[some][worst]), float((sums.score_sum[some] / sums.weight[some])[worst])
    enough = rows
    while enough < _MOST_OF_A_VALUE and _reach(score, enough, delta=delta) > claim.limit:
        enough *= 2
    if enough == rows:
        return None
    low = enough // 2
    while enough - low > max(1, enough // 100):
        middle = (low + enough) // 2
        low, enough = (middle, enough) if _reach(score, middle, delta=delta) > claim.limit else (low, middle)
    have = "1 row" if rows == 1 else f"{rows:,} rows"
    return f"the value {score:.4g} has {have} and needs about {enough:,}, even if it is right"


def _reach(score: float, rows: int, *, delta: float) -> float:
    """Return how far the bounds of a rate reach from the score where rows show just that rate."""
    low, high = rate_bounds(np.array([rows * score]), np.array([float(rows)]), delta_each_side=delta)
    return max(float(high[0]) - score, score - float(low[0]))


def _unseen(table: Table, outputs: tuple[float, ...] | None) -> str | None:
    """Return which outputs of a recalibrator no row has, or None."""
    if outputs is None:
        return None
    missing = np.setdiff1d(np.array(outputs), table.score[table.rows > 0])
    if not missing.size:
        return None
    named = ", ".join(f"{one:.4g}" for one in missing[:3].tolist())
    more = ", ..." if missing.size > 3 else ""
    have = "has" if missing.size == 1 else "have"
    return f"{missing.size} of the {len(outputs)} outputs of the recalibrator {have} no rows ({named}{more})"


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
        self._by_chernoff = l2.counted(table, sums) is not None

    def energy(self, statistic: float, *, delta: float) -> float:
        """Return the upper bound of sum n_k e_k^2 where sum G_k is `statistic`."""
        most = float(self._each.max())
        bets: Floats = _UPPER_BETS / max(self._mean, 1e-300)
        cost = bets[:, None] * self._each - 0.5 * np.log1p(2.0 * bets[:, None] * self._each)
        level = math.log(1.0 / delta) + bets * statistic + cost.sum(axis=1)
        energy: Floats = (1.0 + 2.0 * bets * most) / bets * level
        return max(0.0, float(energy.min()))

    def rows_to_pass(self, limit: float, *, error: float, delta: float, wider: float = 1.0) -> int:
        def evidence(digits: float) -> float:
            rows: float = 10.0**digits
            statistic = rows * error**2
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
    """Extrapolate from the debiased estimate to the rows that would decide; approximate: about a tenth off
    for a calibrated score, a guess elsewhere.
    """
    growth, delta, t = L2Growth(table, sums), ground.delta, l2.t_statistic(sums)
    limiting = growth.energy(sums.total * t, delta=delta)
    wider = max(1.0, sums.total * ends[1] ** 2 / limiting) if limiting > 0.0 else 1.0
    # So wide a bound is cut at 1, or counts rows alone with their value as wrong.
    wider = min(wider, 2.0)
    error = math.sqrt(max(t, 0.0))
    best = growth.rows_to_pass(claim.limit, error=0.0, delta=delta, wider=wider) if claim.limit > 0.0 else 0
    return promise(
        claim,
        error,
        width=ends[1] - ends[0],
        rows=table.total_rows,
        best=best,
        ground=ground,
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
    """Judge "l2 error <= eps" for these scores, each distinct score by itself.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, at any number of rows.

    References:
        `calibcli.stats.bounds.chernoff`; for a single value Clopper & Pearson (1934), above a hundred
        values, and where no value has two rows, Hoeffding (1963).
    """
    ground.refuse_many_values(table, words="l2")
    claim = ground.claim_of(rule, measure="l2")
    at_lower, at_upper = ground.levels(rule)
    sums = binned(table, ground.bins)
    upper, above = _upper(table, sums, delta=at_upper)
    lower, below = l2.lower_bound(table, sums, delta=at_lower)
    share = unseen_share(sums.rows[sums.occupied], delta=ground.delta) if ground.outputs is None else None
    rows_needed = linf_rows_needed if l2.one_score(table) else l2_rows_needed
    found = Bounds(
        math.sqrt(max(l2.t_statistic(sums), 0.0)) if l2.pairs_in(sums).any() else math.nan,
        lower,
        upper,
        above if above == below else f"upper: {above}; lower: {below}",
        Target.FIXED_DESIGN,
        _ASSUMPTIONS,
        ground.bins.described,
        needed=lambda claim: rows_needed(table, sums, claim, ground=ground, ends=(lower, upper)),
    )
    return of_seen(found.verdict(table, claim, ground), sums, share)


def _upper(table: Table, sums: BinnedTable, *, delta: float) -> tuple[float, str]:
    """Return an upper bound and its method; which one is taken depends on rows and scores alone.

    Hoeffding's: with u along the true errors, sum p_k u_k^2 = 1, the l2 error is the mean of u_k times label
    less score; the plug-in is at least its estimate, which a label moves by u_k / n.
    """
    found = l2.upper_bound(table, sums, delta=delta)
    if found is not None:
        return found
    margin = hoeffding_deviation(table.total_rows, delta)
    return min(1.0, math.sqrt(l2.l2_squared_plug_in(sums)) + margin), "Hoeffding"
