"""Is the error of every value of the score at most eps? Exact bounds for each rate, delta on each side."""

import numpy as np

from calibcli.bounds.proportion import rate_bounds
from calibcli.bounds.unseen import unseen_share
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.measures.linf import each_of, farthest
from calibcli.names import Target, VerdictName
from calibcli.options.rules import Rule
from calibcli.table.bins import BinnedTable, binned
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Claim, Ground, Verdict
from calibcli.verdicts.linf_rows import linf_rows_needed
from calibcli.verdicts.outcome import (
    ONE_LOOK,
    claim_of,
    levels,
    outcome_of,
    refuse_many_values,
    refuse_weights,
    wants_rows,
)

_EVERY_OUTPUT = "every output of the recalibrator is judged, however rare"
_SEEN_VALUES = "of the values of the score seen here"
_MOST_OF_A_VALUE = 1 << 40


def linf_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Judge "|rate - score| <= eps for every value of the score".

    The worst value is a fixed one, so bounds that each hold with 1 - delta all pass together
    (intersection-union); any of them may fail, so the lower bounds share delta (Sidak).

    Args:
        table: The rows to judge by.

        rule: The limit.

        ground: The partition, the outputs of a recalibrator and the confidence, settled in advance.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, at any number of rows.
        There is no upper bound where an output of the recalibrator has no rows.

    Raises:
        UsageProblem: If scores are not judged one by one, or rows carry importance weights.

    References:
        Clopper & Pearson (1934), Biometrika 26; Berger (1982), Technometrics 24.
    """
    refuse_weights(table)
    refuse_many_values(table, ground, words="l-infinity")
    claim = claim_of(rule, ground, measure="linf")
    at_lower, at_upper = levels(rule, ground)
    sums = binned(table, ground.bins)
    some = sums.occupied
    share = unseen_share(sums.rows[some], delta=ground.delta) if ground.outputs is None else None
    lower = float(farthest(sums, delta=each_of(int(some.sum()), at_lower) / 2.0)[0].max())
    unseen = _unseen(table, ground.outputs)
    upper = None if unseen else float(farthest(sums, delta=at_upper)[1].max())
    outcome, reason = outcome_of(table, claim, ground, lower=lower, upper=upper)
    if unseen and reason is None and outcome is VerdictName.INCONCLUSIVE:
        reason = unseen
    needed = None
    if upper is not None and wants_rows(claim, ground, outcome=outcome, reason=reason):
        needed = linf_rows_needed(table, sums, claim, ground=ground, ends=(lower, upper))
        reason = _thin_value(sums, claim, delta=at_upper)
    if share is not None and outcome is VerdictName.PASS:
        reason = of_seen(int(some.sum()), share, claim)
    return Verdict(
        claim=claim,
        outcome=outcome,
        value=float(np.abs(sums.residual[some] / sums.weight[some]).max()),
        lower=lower,
        upper=upper,
        method="upper: Clopper-Pearson, intersection-union; lower: Clopper-Pearson, Sidak",
        target=Target.FIXED_DESIGN if ground.outputs is None else Target.POPULATION,
        partition=ground.bins.described,
        any_time=False,
        assumptions=(
            INDEPENDENT_ROWS,
            HELD_OUT,
            _SEEN_VALUES if ground.outputs is None else _EVERY_OUTPUT,
            ONE_LOOK,
        ),
        rows=table.total_rows,
        needed=needed,
        reason=reason,
        unseen_share=share,
    )


def of_seen(values: int, share: float, claim: Claim) -> str:
    """Return what the verdict speaks of, and how many rows may be of something else."""
    kinds = "the 1 value" if values == 1 else f"the {values:,} values"
    return (
        f"this speaks of {kinds} of the score seen here: others may err by more, and hold up to "
        f"{100.0 * share:.2g} % of future rows ({100.0 * claim.confidence:.6g} % confidence)"
    )


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
    return f"the value {score:.4g} has {have}, and takes about {enough:,} even if it is right"


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
