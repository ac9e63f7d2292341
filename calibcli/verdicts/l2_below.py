"""Is the l2 error of a few-valued score at most eps? Bounds that hold for any rows, delta on each side."""

import math

import numpy as np

from calibcli.bounds.proportion import hoeffding_deviation
from calibcli.bounds.unseen import unseen_share
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.measures.l2 import l2_squared_plug_in, pairs_in, t_statistic
from calibcli.measures.l2_bounds import lower_bound, one_score, upper_bound
from calibcli.names import Target, VerdictName
from calibcli.options.rules import Rule
from calibcli.table.bins import BinnedTable, binned
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Ground, Verdict
from calibcli.verdicts.l2_rows import l2_rows_needed
from calibcli.verdicts.linf_below import of_seen
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

_ASSUMPTIONS = (
    INDEPENDENT_ROWS,
    HELD_OUT,
    "the score takes few values, so this is its l2 error and not that of bins",
    "each value counts by its share of these very rows",
    ONE_LOOK,
)


def l2_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Judge "l2 error <= eps" for these scores, each distinct score by itself.

    Args:
        table: The rows to judge by.

        rule: The limit.

        ground: The partition and the confidence, settled in advance.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, at any number of rows.

    Raises:
        UsageProblem: If scores are not judged one by one, or rows carry importance weights.

    References:
        `calibcli.bounds.chernoff`; for a single value Clopper & Pearson (1934), above a hundred values, and
        where no value has two rows, Hoeffding (1963).
    """
    refuse_weights(table)
    refuse_many_values(table, ground, words="l2")
    claim = claim_of(rule, ground, measure="l2")
    at_lower, at_upper = levels(rule, ground)
    sums = binned(table, ground.bins)
    upper, above = _upper(table, sums, delta=at_upper)
    lower, below = lower_bound(table, sums, delta=at_lower)
    outcome, reason = outcome_of(table, claim, ground, lower=lower, upper=upper)
    share = unseen_share(sums.rows[sums.occupied], delta=ground.delta) if ground.outputs is None else None
    if share is not None and outcome is VerdictName.PASS:
        reason = of_seen(int(np.count_nonzero(sums.occupied)), share, claim)
    needed = None
    if wants_rows(claim, ground, outcome=outcome, reason=reason):
        rows_needed = linf_rows_needed if one_score(table) else l2_rows_needed
        needed = rows_needed(table, sums, claim, ground=ground, ends=(lower, upper))
    defined = bool(pairs_in(sums).any())
    return Verdict(
        claim=claim,
        outcome=outcome,
        value=math.sqrt(max(t_statistic(sums), 0.0)) if defined else math.nan,
        lower=lower,
        upper=upper,
        method=above if above == below else f"upper: {above}; lower: {below}",
        target=Target.FIXED_DESIGN,
        partition=ground.bins.described,
        any_time=False,
        assumptions=_ASSUMPTIONS,
        rows=table.total_rows,
        needed=needed,
        reason=reason,
        unseen_share=share,
    )


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
