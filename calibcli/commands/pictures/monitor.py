"""The picture of a gate that is asked again: its evidence and its estimate over all looks."""

import math
from itertools import accumulate

import numpy as np

from calibcli.commands.pictures.diagram import Diagram, Drawn, PlotRequest, rows_line
from calibcli.documents.state import read_state
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import VerdictName
from calibcli.options.numerals import in_full, percent
from calibcli.show.words import field_name
from calibcli.stats.curves.monitor import MonitorCurve, Starts
from calibcli.stats.gates.claim import Verdict
from calibcli.stats.gates.state import GateState, Look, measure_word, verdict_on_file


def monitor_diagram(request: PlotRequest) -> Diagram:
    """Return the picture of a gate's state."""
    if len(request.inputs) != 1 or request.inputs[0] == "-":
        msg = f"--kind monitor draws the state of one gate, not {len(request.inputs)} inputs"
        if len(request.inputs) == 1:
            msg = "--kind monitor draws the state of a gate, which is a file"
        raise UsageProblem(msg, "name the file that `calibcli verify --state` wrote")
    path = str(request.inputs[0])
    state = read_state(path)
    request.refuse_idle(what="the state of a gate")
    if state is None:
        msg = f"{path}: there is no such file"
        raise InputProblem(msg, "name the file that `calibcli verify --state` wrote")
    if not state.batches:
        msg = f"{path}: nothing was counted yet"
        raise InputProblem(msg, "count rows with `calibcli verify --state`")
    verdict = verdict_on_file(state)
    evaluation = f"Judged over {state.terms.partition.described}."
    drawn = Drawn(monitor_curve(state, verdict), _caption(state, verdict), (evaluation,))
    return Diagram(drawn, f"{path}, score column: {state.terms.score}", state.notes)


def monitor_curve(state: GateState, verdict: Verdict) -> MonitorCurve:
    """
    Return the looks of a state as points.

    The last is what the rows say now, computed anew; those before it are as the state keeps them. A merged
    state keeps none of the looks at its shards, which were no looks at the rows together.
    """
    kept = [batch.look for batch in state.batches[:-1] if batch.look is not None]
    now = state.look()
    looks = [*kept, Look(now.rows, now.value, now.log_pass, now.log_fail, verdict.lower, verdict.upper)]
    terms = state.terms
    seen = [batch.own for batch in state.batches[:-1] if batch.look is not None]
    # A merged state has no order: the error of its last batch is not what the last look saw.
    own = [*seen, state.batches[-1].own if state.looks == len(state.batches) else None]
    return MonitorCurve(
        rows=np.array([look.rows for look in looks]),
        value=np.array([look.value for look in looks]),
        lower=_numbers([look.lower for look in looks]),
        upper=_numbers([look.upper for look in looks]),
        log_pass=_numbers([look.log_pass for look in looks]),
        log_fail=np.array([look.log_fail for look in looks]),
        threshold=terms.threshold,
        confidence=terms.confidence,
        limit=terms.limit,
        measure=_measure(state),
        passed_at=state.passed_at,
        failed_at=state.failed_at,
        since_first=state.looks == len(state.batches),
        starts=_starts(state) if terms.alarm else None,
        own=_numbers([None if one is None else one.value for one in own]),
        stands_out=np.array([one is not None and one.stands_out for one in own]),
    )


def _measure(state: GateState) -> str:
    return field_name(measure_word(state.terms.measure, state.terms.partition))


def _starts(state: GateState) -> Starts:
    """Return what the bets of an alarm have made, in the order of the batches that they began with."""
    before = list(accumulate((batch.rows for batch in state.batches), initial=0))
    found = sorted(state.starts, key=lambda start: start.first)
    rows = np.array([before[start.first - 1] for start in found])
    log = np.array([start.log_wealth for start in found])
    if state.failed_at is None:
        return Starts(rows, log)
    change = state.change
    ends = before[change.earliest - 1], before[change.latest]
    return Starts(rows, log, ends, before[change.batch - 1])


def _numbers(values: list[float | None]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([math.nan if value is None else value for value in values])


def _caption(state: GateState, verdict: Verdict) -> tuple[str, ...]:
    """Return the verdict with the estimate and its bounds first, then what it rests on."""
    batches = len(state.batches)
    rows = rows_line(state.rows, state.sums.total_positive)
    counted = f"{rows}, in {batches:,} {'batch' if batches == 1 else 'batches'}"
    told = () if verdict.reason is None else (f"{verdict.reason[:1].upper()}{verdict.reason[1:]}.",)
    measured = f"{_measure(state)} {verdict.value:.4f}"
    if state.terms.alarm:
        if verdict.outcome is not VerdictName.FAIL:
            return (f"no alarm: {measured} over all rows", *told, counted)
        above = f"{_measure(state)} above {in_full(state.terms.limit or 0.0)}"
        return (f"ALARM since {state.change.named}: {above}", *told, f"{counted}; {measured} over all")
    limit = state.terms.limit or 0.0
    upper = 1.0 if verdict.upper is None else verdict.upper
    bounds = f"from {verdict.lower or 0.0:.4f} to {upper:.4f}"
    each = f"each bound at {percent(state.terms.confidence)}, at any time"
    outcome = f"{verdict.outcome.value.upper()} at limit {in_full(limit)}"
    return (f"{outcome}: {measured}, {bounds}", f"{counted}; {each}", *told)
