"""Is the l2 error of a few-valued score at most eps? Bounds that hold for any rows, delta on each side."""

import math
from functools import partial

import numpy as np

from calibcli.names import MeasureName, Target, VerdictName
from calibcli.options.numerals import agreeing, plural, rough_percent
from calibcli.options.rules import Rule
from calibcli.stats.bounds.proportion import hoeffding_deviation, rate_bounds, unseen_share
from calibcli.stats.gates.claim import ONE_LOOK, Bounds, Claim, Ground, RowsNeeded, Verdict
from calibcli.stats.gates.rows_needed import promise
from calibcli.stats.measures import HELD_OUT, INDEPENDENT_ROWS, l2
from calibcli.stats.measures.binned import each_of, farthest
from calibcli.stats.numerics import Floats, normal_quantile
from calibcli.stats.table.bins import BinnedTable, binned
from calibcli.stats.table.grid import Table
from calibcli.values import replace


def few_rows_needed(
    table: Table,
    rule: Rule,
    claim: Claim,
    *,
    ground: Ground,
    width: float,
    errors: Floats,
    error: float,
) -> RowsNeeded:
    """Extrapolate by the simulation of `plan`; `errors`, of values without noise, come to `error`."""
    from calibcli.stats.gates.plan import as_likely_as_not, population_like

    calibrated = population_like(table, bins=ground.bins, measure=MeasureName(rule.subject))
    wrong = replace(calibrated, rate=np.clip(calibrated.score + errors, 0.0, 1.0))
    best = as_likely_as_not(rule, ground, calibrated) if claim.limit > 0.0 else 0
    return promise(
        claim,
        error,
        width=width,
        rows=table.total_rows,
        best=best,
        ground=ground,
        to_pass=lambda: as_likely_as_not(rule, ground, wrong) if errors.any() else best,
        to_fail=lambda: as_likely_as_not(rule, ground, wrong, wanted=VerdictName.FAIL),
    )


def _beyond_noise(sums: BinnedTable) -> Floats:
    """Return rates less scores, without what the largest of so much noise is wont to be: the deviations that
    all rates stay within, on both sides, half of the time.
    """
    some = sums.occupied
    weight = sums.weight[some]
    gap, score = sums.residual[some] / weight, np.clip(sums.score_sum[some] / weight, 0.0, 1.0)
    reach = normal_quantile(0.5 + 0.5 * 0.5 ** (1.0 / weight.size))
    noise = reach**2 * score * (1.0 - score) / weight
    return np.asarray(np.sign(gap) * np.sqrt(np.maximum(gap**2 - noise, 0.0)))


_EVERY_OUTPUT = "every output of the recalibrator is tested, however rare"

_SEEN_VALUES = "of the values of the score seen here"

_MOST_OF_A_VALUE = 1 << 40


def linf_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge "|rate - score| <= eps for every value of the score".

    The worst value is a fixed one, so bounds that each hold with 1 - delta all pass together
    (intersection-union, Berger 1982); any of them may fail, so the lower bounds share delta (Sidak). There is
    no upper bound where an output of the recalibrator has no rows.
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
    errors = _beyond_noise(sums)
    error = float(np.abs(errors).max())
    needed = partial(few_rows_needed, table, rule, ground=ground, errors=errors, error=error)
    found = Bounds(
        float(np.abs(sums.residual[some] / sums.weight[some]).max()),
        lower,
        upper,
        "upper: Clopper-Pearson, intersection-union; lower: Clopper-Pearson, Sidak",
        Target.FIXED_DESIGN if ground.outputs is None else Target.POPULATION,
        (INDEPENDENT_ROWS, HELD_OUT, _SEEN_VALUES if ground.outputs is None else _EVERY_OUTPUT, ONE_LOOK),
        ground.bins.described,
        needed=None if upper is None else partial(needed, width=upper - lower),
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
    return f"the value {score:.4g} has {plural(rows, 'row')} and needs about {enough:,}, even if it is right"


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
    have = agreeing(missing.size, "has")
    return f"{missing.size} of the {len(outputs)} outputs of the recalibrator {have} no rows ({named}{more})"


_ASSUMPTIONS = (
    INDEPENDENT_ROWS,
    HELD_OUT,
    "the score has few values, so each is measured by itself, without bins",
    "each value counts by its share of these very rows",
    ONE_LOOK,
)


def l2_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """Judge "l2 error <= eps" for these scores, each distinct score by itself."""
    ground.refuse_many_values(table, words="l2")
    claim = ground.claim_of(rule, measure="l2")
    at_lower, at_upper = ground.levels(rule)
    sums = binned(table, ground.bins)
    upper, above = _upper(table, sums, delta=at_upper)
    lower, below = l2.lower_bound(table, sums, delta=at_lower)
    share = unseen_share(sums.rows[sums.occupied], delta=ground.delta) if ground.outputs is None else None
    t, biased = l2.t_statistic(sums), l2.l2_squared_plug_in(sums)
    kept = math.sqrt(t / biased) if t > 0.0 else 0.0
    gap, error = sums.residual[sums.occupied] / sums.weight[sums.occupied], kept * math.sqrt(biased)
    needed = partial(few_rows_needed, table, rule, ground=ground, errors=kept * gap, error=error)
    found = Bounds(
        math.sqrt(max(l2.t_statistic(sums), 0.0)) if l2.pairs_in(sums).any() else math.nan,
        lower,
        upper,
        above if above == below else f"upper: {above}; lower: {below}",
        Target.FIXED_DESIGN,
        _ASSUMPTIONS,
        ground.bins.described,
        needed=partial(needed, width=upper - lower),
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
