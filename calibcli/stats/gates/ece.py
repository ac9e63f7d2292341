"""Is the calibration error at most eps? Betting on both answers, with delta on each side."""

import numpy as np

from calibcli.names import Binning, Target
from calibcli.options.rules import Rule
from calibcli.stats.bounds.betting import stakes_of_gate
from calibcli.stats.bounds.proportion import deviation_of_a_mean
from calibcli.stats.gates.claim import (
    ONE_LOOK,
    Bounds,
    Ground,
    Verdict,
    claim_of,
    levels,
    refuse_weights,
    verdict_by_bounds,
)
from calibcli.stats.gates.rows_needed import rows_needed
from calibcli.stats.measures.binned import grouped_residuals
from calibcli.stats.measures.estimate import HELD_OUT
from calibcli.stats.table.bins import ATOMS, binned
from calibcli.stats.table.grid import Table


def ece_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Judge "ECE <= eps" for the population, over a partition fixed before the rows were seen.

    Over the distinct outputs of a discrete recalibrator this is the calibration error itself; over bins of
    a continuous score it is the binned ECE, since the unbinned ECE of a continuous score cannot be
    bounded from above by any number of rows.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta.

    References:
        Waudby-Smith & Ramdas (2024), JRSS-B 86; the product over bins is proved in `docs/methods.md`.
    """
    refuse_weights(table)
    claim = claim_of(rule, ground, measure="ece" if ground.bins is ATOMS else "binned_ece")
    rows, variance = table.total_rows, ground.variance
    sums = binned(table, ground.bins)
    residuals = grouped_residuals(table, sums)
    at_lower, at_upper = levels(rule, ground)
    upper = residuals.upper_bound(stakes_of_gate(rows, variance, delta=at_upper), delta=at_upper)
    lower = residuals.lower_bound(stakes_of_gate(rows, variance, delta=at_lower), delta=at_lower)
    value = float(np.abs(sums.residual).sum()) / sums.total
    any_time = variance is None
    found = Bounds(
        value,
        lower,
        upper,
        "betting, any time" if any_time else "betting, one look",
        Target.POPULATION,
        _assumptions(ground, any_time=any_time),
        ground.bins.described,
        needed=lambda claim: rows_needed(table, sums, claim, ground=ground, width=upper - lower),
        any_time=any_time,
        fixed_design_upper=min(1.0, value + deviation_of_a_mean(rows, at_upper)),
    )
    return verdict_by_bounds(table, claim, ground, found)


def _assumptions(ground: Ground, *, any_time: bool) -> tuple[str, ...]:
    bins = ground.bins
    independent = "rows are independent draws from the population that the verdict is about"
    if bins.binning is Binning.ATOMS:
        what = "the score has few values, so each is measured by itself, without bins"
    else:
        what = f"{bins.described}, fixed in advance"
    same = "bins" if ground.claims == 1 else "bins, rules and groups"
    looks = f"you may check again as rows arrive, with these same {same}" if any_time else ONE_LOOK
    return independent, HELD_OUT, what, looks
