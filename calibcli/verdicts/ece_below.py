"""Is the calibration error at most eps? Betting on both answers, with delta on each side."""

import numpy as np

from calibcli.bounds.betting import Stakes, stakes_for_any_time, stakes_for_one_look
from calibcli.bounds.proportion import deviation_of_a_mean
from calibcli.errors import UsageProblem
from calibcli.measures.binned_ece import grouped_residuals
from calibcli.measures.estimate import HELD_OUT
from calibcli.names import DEFAULT_LEAST_ROWS, Binning, Target, VerdictName
from calibcli.table.bins import Bins, binned
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Claim, Verdict
from calibcli.verdicts.rows_needed import rows_needed

LEAST_RARER = 10


def ece_below(
    table: Table, claim: Claim, *, bins: Bins, variance: float | None, least_rows: int = DEFAULT_LEAST_ROWS
) -> Verdict:
    """
    Judge "ECE <= eps" for the population, over a partition fixed before the rows were seen.

    Over the distinct outputs of a discrete recalibrator this is the calibration error itself; over bins of
    a continuous score it is the binned ECE, since the unbinned ECE of a continuous score cannot be
    bounded from above by any number of rows.

    Args:
        table: The rows to judge by.

        claim: The limit and the confidence.

        bins: The partition: atoms, or equal width.

        variance: Mean of f (1 - f) on the rows an artifact was fitted on, which settles the bets for one
            look; None where there is no artifact, which makes the verdict valid at any time.

        least_rows: Below so many rows, or ten of the rarer label, nothing is concluded.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta.

    Raises:
        UsageProblem: If the rows carry importance weights, for which no bound holds.

    References:
        Waudby-Smith & Ramdas (2024), JRSS-B 86; the product over bins is proved in `docs/methods.md`.
    """
    if table.weighted:
        msg = "a gate has no valid bound for importance weights"
        raise UsageProblem(msg, "gate without --weight, or with --weights-are frequency if they count rows")
    delta = 1.0 - claim.confidence
    rows = table.total_rows
    any_time = variance is None
    stakes = stakes_for_any_time(delta=delta) if variance is None else _one_look(rows, variance, delta)
    sums = binned(table, bins)
    residuals = grouped_residuals(table, sums)
    upper = residuals.upper_bound(stakes, delta=delta)
    lower = residuals.lower_bound(stakes, delta=delta)
    value = float(np.abs(sums.residual).sum()) / sums.total
    outcome, reason = _outcome(table, claim, lower=lower, upper=upper, least_rows=least_rows)
    needed = None
    if outcome is VerdictName.INCONCLUSIVE and reason is None:
        needed = rows_needed(
            table, sums, claim, width=upper - lower, variance=variance, least_rows=least_rows
        )
    return Verdict(
        claim=claim,
        outcome=outcome,
        value=value,
        lower=lower,
        upper=upper,
        fixed_design_upper=min(1.0, value + deviation_of_a_mean(rows, delta)),
        method="betting, any time" if any_time else "betting, one look",
        target=Target.POPULATION,
        partition=bins.described,
        any_time=any_time,
        assumptions=_assumptions(bins, any_time=any_time),
        rows=rows,
        needed=needed,
        reason=reason,
    )


def _one_look(rows: int, variance: float, delta: float) -> Stakes:
    return stakes_for_one_look(max(rows, 1), variance, delta=delta)


def _outcome(
    table: Table, claim: Claim, *, lower: float, upper: float, least_rows: int
) -> tuple[VerdictName, str | None]:
    """Return the verdict and, where too few rows forbid one, the reason."""
    rows, ones = table.total_rows, table.total_positive_rows
    if rows < least_rows:
        counted = "1 row is" if rows == 1 else f"{rows:,} rows are"
        return VerdictName.INCONCLUSIVE, f"{counted} fewer than --min-rows {least_rows:,}"
    rarer = min(ones, rows - ones)
    if rarer < LEAST_RARER:
        label = 1 if ones <= rows - ones else 0
        counted = "1 row has" if rarer == 1 else f"{rarer:,} rows have"
        return VerdictName.INCONCLUSIVE, f"{counted} label {label}, fewer than {LEAST_RARER}"
    if upper <= claim.limit:
        return VerdictName.PASS, None
    if lower > claim.limit:
        return VerdictName.FAIL, None
    return VerdictName.INCONCLUSIVE, None


def _assumptions(bins: Bins, *, any_time: bool) -> tuple[str, ...]:
    independent = "rows are independent draws from the population the gate speaks of"
    if bins.binning is Binning.ATOMS:
        what = "the score takes few values, so this is its calibration error and not that of bins"
    else:
        what = (
            f"binned ECE over {bins.described}, fixed in advance; the unbinned ECE of a continuous score "
            "cannot be bounded"
        )
    looks = (
        "valid however often it is asked as rows come in, over these same bins"
        if any_time
        else "valid for one look; ask again only on fresh rows"
    )
    return independent, HELD_OUT, what, looks
