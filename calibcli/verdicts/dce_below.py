"""Is the distance to calibration at most eps? By betting on rows, delta on each side."""

from calibcli.measures.distance import ONE_POPULATION, dictionary, distance
from calibcli.measures.estimate import HELD_OUT, INDEPENDENT_ROWS
from calibcli.names import Target
from calibcli.options.rules import Rule
from calibcli.table.grid import Table
from calibcli.verdicts.claim import Ground, Verdict
from calibcli.verdicts.dce_rows import dce_rows_needed
from calibcli.verdicts.outcome import ONE_LOOK, claim_of, levels, outcome_of, refuse_weights, wants_rows


def dce_below(table: Table, rule: Rule, *, ground: Ground) -> Verdict:
    """
    Judge "distance to calibration <= eps" for the population.

    A pass bounds the upper distance, to the nearest calibrated function of the score, and with it every other
    form; a fail shows the lower distance, the least of all forms, to be beyond the limit.

    Args:
        table: The rows to judge by.

        rule: The limit.

        ground: The confidence, settled in advance.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, at any number of rows.
        Which bins the upper bound takes depends on the number of rows alone.

    Raises:
        UsageProblem: If the rows carry importance weights.

    References:
        Blasiok, Gopalan, Hu & Nakkiran (2023), STOC; the bounds are proved in `docs/methods.md`.
    """
    refuse_weights(table)
    claim = claim_of(rule, ground, measure="dce")
    at_lower, at_upper = levels(rule, ground)
    found = distance(table, confidence=1.0 - 2.0 * at_upper)
    upper = None if found.interval is None else found.interval.upper
    level, tilt = dictionary(table, delta=at_lower)
    lower = max(level, tilt / 3.0)
    outcome, reason = outcome_of(table, claim, ground, lower=lower, upper=upper)
    needed = None
    if upper is not None and wants_rows(claim, ground, outcome=outcome, reason=reason):
        needed = dce_rows_needed(table, claim, ground, value=found.value, upper=upper)
    bins = found.details["bins"]
    return Verdict(
        claim=claim,
        outcome=outcome,
        value=found.value,
        lower=lower,
        upper=upper,
        method="betting on rows, one look",
        target=Target.POPULATION,
        partition=f"{bins} equal-width bins, by the number of rows",
        any_time=False,
        assumptions=(
            INDEPENDENT_ROWS,
            ONE_POPULATION,
            HELD_OUT,
            "a pass bounds the upper distance and with it every form; a fail refutes the lower one",
            "the value is an upper estimate of the distance",
            ONE_LOOK,
        ),
        rows=table.total_rows,
        needed=needed,
        reason=reason,
    )
