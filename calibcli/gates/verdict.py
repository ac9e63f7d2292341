"""What a state says: one of three answers, with the evidence gathered so far."""

from calibcli.gate_names import Bound
from calibcli.gates.cells import Partition, table_of
from calibcli.gates.state import GateState, Look, Terms
from calibcli.measures.estimate import HELD_OUT
from calibcli.names import DEFAULT_LEAST_ROWS, Binning, MeasureName, Target, VerdictName
from calibcli.table.bins import ATOMS, Bins, binned, equal_width_edges
from calibcli.verdicts.claim import Claim, Evidence, Ground, RowsNeeded, Verdict
from calibcli.verdicts.rows_needed import rows_needed

NO_ALARM = "no alarm so far, which is no proof of calibration"
TWO_POPULATIONS = (
    "the evidence was once enough for a pass and once for a fail, so the rows cannot be of one population"
)
_EARLY = "no alarm is no proof of it"
_INDEPENDENT = (
    "rows are independent draws from the population the gate speaks of, in whatever batches they come"
)
# Of a digest so much tells batches apart.
_SHORT = 24
_KEPT = "a fail stands, and a pass while the estimate is at most the limit"
_FROZEN = "limit, partition and bets were settled before the first row and stay as they are"


def verdict_of(state: GateState, *, least_rows: int = DEFAULT_LEAST_ROWS) -> Verdict:
    """
    Judge by what a state holds.

    A fail that the evidence was once enough for stands, whatever comes later; a pass stands only while the
    estimate over all rows is at most the limit. That is one more condition on a pass, so that passes can only
    be rarer and none is wrong with more probability than before. Bounds speak of all rows counted by now, and
    where they no longer show what was shown, the reason says so.

    Args:
        state: What was counted; not empty.

        least_rows: Below so many rows, or ten of the rarer label, nothing is concluded.

    Returns:
        Pass, fail or inconclusive; each wrong verdict has probability at most delta, however often one
        looks. An alarm fails, or passes with the words that this proves nothing.
    """
    look = state.look()
    return _said(state.latched(look, least_rows=least_rows), look, least_rows=least_rows)


def verdict_on_file(state: GateState) -> Verdict:
    """Return what a state says as it stands: nothing is concluded now that was not when it was written."""
    return _said(state, state.look(), least_rows=1)


def _said(state: GateState, look: Look, *, least_rows: int) -> Verdict:
    return _alarm(state, look) if state.terms.alarm else _gate(state, look, least_rows=least_rows)


def measure_word(measure: MeasureName, partition: Partition) -> str:
    """Return the name of a measure in reports: "ece" only where each value is judged by itself."""
    return measure.value if partition.outputs or measure is MeasureName.DCE else "binned_ece"


def _gate(state: GateState, look: Look, *, least_rows: int) -> Verdict:
    terms = state.terms
    delta = 1.0 - terms.confidence
    outcome, reason = _outcome(state, look, least_rows=least_rows)
    bets = state.bets
    lower = bets.lower_bound(terms.stakes, delta=delta)
    upper = bets.upper_bound(terms.stakes, delta=delta)
    needed = None
    if outcome is VerdictName.INCONCLUSIVE and reason is None and terms.measure is MeasureName.ECE:
        needed = _needed(state, least_rows, width=upper - lower)
    return Verdict(
        claim=_claim(terms),
        outcome=outcome,
        value=look.value,
        lower=lower,
        upper=upper,
        method="betting, any time",
        target=Target.POPULATION,
        partition=terms.partition.described,
        any_time=True,
        assumptions=_assumptions(state),
        rows=look.rows,
        needed=needed,
        reason=reason,
        evidence=_evidence(state, look),
    )


def _needed(state: GateState, least_rows: int, *, width: float) -> RowsNeeded:
    """Return the rows that would decide: those of a gate without a state, whose bets are nearly the same."""
    partition = state.terms.partition
    bins = ATOMS if partition.outputs else Bins(Binning.EQUAL_WIDTH, equal_width_edges(partition.bins))
    table = table_of(state.sums, partition)
    ground = Ground(bins, least_rows=least_rows, confidence=state.terms.confidence)
    return rows_needed(table, binned(table, bins), _claim(state.terms), ground=ground, width=width)


def _outcome(state: GateState, look: Look, *, least_rows: int) -> tuple[VerdictName, str | None]:
    passed, failed, level = state.passed_at, state.failed_at, state.terms.threshold
    if failed is not None:
        then = None if look.log_fail >= level else _shown_then(failed, look, "lower bound is not")
        both = None if passed is None else TWO_POPULATIONS
        return VerdictName.FAIL, "; ".join(one for one in (both, then) if one is not None) or None
    if passed is None:
        return VerdictName.INCONCLUSIVE, state.too_few(least_rows)
    if look.value > (state.terms.limit or 0.0):
        return VerdictName.INCONCLUSIVE, _no_longer(passed, look)
    shown = look.log_pass is not None and look.log_pass >= level
    return VerdictName.PASS, None if shown else _shown_then(passed, look, "upper bound is")


def _shown_then(then: int, look: Look, bound_is: str) -> str:
    """Return when a verdict was shown that the bounds over all rows no longer show."""
    return f"shown at {then:,} rows; over all {look.rows:,} rows the {bound_is} above the limit"


def _no_longer(passed: int, look: Look) -> str:
    return (
        f"it passed at {passed:,} rows, but over all {look.rows:,} rows the estimate is above the limit: "
        "they may not be of one population; --alarm watches for a change"
    )


def _alarm(state: GateState, look: Look) -> Verdict:
    terms = state.terms
    alarmed = state.failed_at is not None
    within = "calibrated" if terms.limit is None else f"calibrated within {terms.limit:g}"
    reason = NO_ALARM
    if alarmed:
        best = max(state.starts, key=lambda start: start.log_wealth)
        since = state.batches[best.first - 1].key[:_SHORT]
        reason = (
            f"not {within} any longer: shown after {state.failed_at:,} rows; "
            f"the evidence is strongest from batch {best.first} ({since}) on"
        )
    return Verdict(
        claim=_claim(terms),
        outcome=VerdictName.FAIL if alarmed else VerdictName.PASS,
        value=look.value,
        lower=None,
        upper=None,
        method="betting from every starting point, any time",
        target=Target.POPULATION,
        partition=terms.partition.described,
        any_time=True,
        assumptions=(f"what is doubted is that the score is {within}; {_EARLY}", *_assumptions(state)),
        rows=look.rows,
        reason=reason,
        evidence=_evidence(state, look),
    )


def _claim(terms: Terms) -> Claim:
    """Return the claim; that of an alarm is never shown, only not refuted."""
    bound = Bound.LOWER if terms.alarm else Bound.UPPER
    return Claim(measure_word(terms.measure, terms.partition), terms.limit or 0.0, terms.confidence, bound)


def _evidence(state: GateState, look: Look) -> Evidence:
    return Evidence(
        log_pass=look.log_pass,
        log_fail=look.log_fail,
        threshold=state.terms.threshold,
        passed_at=state.passed_at,
        failed_at=state.failed_at,
        looks=state.looks,
    )


def _assumptions(state: GateState) -> tuple[str, ...]:
    terms = state.terms
    if terms.measure is MeasureName.DCE:
        what = "the bounds hold for the lower and for the upper distance"
    elif terms.partition.outputs:
        what = "the score takes few values, so this is its calibration error and not that of bins"
    else:
        what = (
            f"binned ECE over {terms.partition.described}, fixed in advance; the unbinned ECE of a "
            "continuous score cannot be bounded"
        )
    kept = "an alarm stands" if terms.alarm else _KEPT
    looks = f"valid however often it is asked as rows come in; once shown, {kept}"
    return _INDEPENDENT, HELD_OUT, what, _FROZEN, looks
