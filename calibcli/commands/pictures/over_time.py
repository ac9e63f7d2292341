"""Pictures over time: of a gate that is asked again, look by look, and of groups in their order."""

import math
from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from calibcli.commands.measure import measure_files
from calibcli.commands.pictures import diagram
from calibcli.documents.state import read_state
from calibcli.errors import InputProblem, UsageProblem
from calibcli.names import GroupOrder, MeasureName, VerdictName
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.options.numerals import by_name, has_own_order, in_full, in_order, is_over_time, percent, plural
from calibcli.reports.measure import MeasureReport
from calibcli.show.words import capital, field_name
from calibcli.stats.bounds import Interval
from calibcli.stats.curves.monitor import MonitorCurve, Starts
from calibcli.stats.curves.segments import TrendCurve
from calibcli.stats.gates.claim import Verdict
from calibcli.stats.gates.state import GateState, Look, measure_word, verdict_on_file
from calibcli.stats.measures import Estimate
from calibcli.values import replace


def monitor_diagram(request: diagram.PlotRequest) -> diagram.Diagram:
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
    drawn = diagram.Drawn(monitor_curve(state, verdict), _caption(state, verdict), (evaluation,))
    return diagram.Diagram(drawn, f"{path}, score column: {state.terms.score}", state.notes)


def monitor_curve(state: GateState, verdict: Verdict) -> MonitorCurve:
    """Return the looks of a state as points.

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
    rows = diagram.rows_line(state.rows, state.sums.total_positive)
    counted = f"{rows}, in {plural(len(state.batches), 'batch')}"
    told = () if verdict.reason is None else (f"{capital(verdict.reason)}.",)
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


def trend_diagram(request: diagram.PlotRequest) -> diagram.Diagram:
    columns = request.columns
    request.refuse_document("a trend is")
    if len(columns.by) != 1:
        msg = f"--kind trend shows the groups of one column, and --by names {len(columns.by)}"
        raise UsageProblem(msg, "name the one that has an order, such as --by month")
    report = measure_files(request, options=bias_alone(request.options))
    drawn, notes = trend_drawn(report, request.options.sort), diagram.notes_of(report)
    return diagram.diagram_of_rows(drawn, report.input, notes, through=report.artifact)


def bias_alone(options: MeasureOptions) -> MeasureOptions:
    metrics = Metrics((MeasureName.BIAS,), (), selected=True)
    return replace(options, metrics=metrics, complete=False, drawn=False, beside_raw=False, thresholds=())


def shows_trend(report: MeasureReport) -> bool:
    """Whether rows fall into groups of one column, all of whose values are moments or periods."""
    groups = report.groups
    if groups is None or len(groups.columns) != 1 or len(groups.measured) < 2:
        return False
    column = groups.columns[0]
    return is_over_time([key.removeprefix(f"{column}=") for key in groups.measured])


_ORDERED = {
    GroupOrder.NAME: "by name, numbers in them by size",
    GroupOrder.TIME: "in the order of time",
    GroupOrder.ROWS: "by their number of rows, the most first",
    GroupOrder.SCORE: "by their mean score",
    GroupOrder.WORST: "with the largest bias first",
}


def _in_order(
    named: Mapping[str, str], report: MeasureReport, order: GroupOrder | None
) -> tuple[list[str], GroupOrder]:
    """Return the keys of groups in the order asked for, or else their own: time, size, or the mean score."""
    names = list(named)
    if order is None and is_over_time(names):
        return [named[name] for name in in_order(names)], GroupOrder.TIME
    if order is None and has_own_order(names):
        return [named[name] for name in by_name(names)], GroupOrder.NAME
    if order is None:
        return sorted(named.values(), key=lambda key: _mean_score(report.slices[key])), GroupOrder.SCORE
    if order is GroupOrder.WORST:
        return sorted(named.values(), key=lambda key: -abs(_bias(report.slices[key]).value)), order
    return list(named.values()), order


def trend_drawn(report: MeasureReport, order: GroupOrder | None = None) -> diagram.Drawn:
    if report.groups is None or not report.groups.measured:
        raise diagram.no_group(0 if report.groups is None else report.groups.least_rows)
    column, confidence = report.groups.columns[0], report.confidence
    named = {key.removeprefix(f"{column}="): key for key in report.groups.measured}
    keys, order = _in_order(named, report, order)
    groups = [report.slices[key] for key in keys]
    bias = [_bias(one) for one in groups]
    ends = [_ends(one.interval) for one in bias]
    curve = TrendCurve(
        column,
        tuple(key.removeprefix(f"{column}=") for key in keys),
        np.array([_mean_score(one) for one in groups]),
        np.array([one.value for one in bias]),
        np.array([low for low, _ in ends]),
        np.array([high for _, high in ends]),
        confidence,
        joined=order is GroupOrder.TIME or has_own_order(list(named)),
    )
    few = report.groups.left_out
    left_out = f"{len(few):,} of fewer than {report.groups.least_rows:,} rows left out." if few else ""
    foot = f"Groups stand {_ORDERED[order]}. {left_out}"
    return diagram.Drawn(curve, _trend_caption(curve, report), (foot.strip(),))


def _bias(report: MeasureReport) -> Estimate:
    (found,) = report.measures
    return found


def _mean_score(report: MeasureReport) -> float:
    """Return the mean score that the bias is of; bins hold no importance weights."""
    return float(_bias(report).details["mean_score"])


def _ends(interval: Interval | None) -> tuple[float, float]:
    if interval is None or interval.lower is None or interval.upper is None:
        return np.nan, np.nan
    return interval.lower, interval.upper


# Columns whose values are called by the column's own name.
_COUNTED = ("day", "grade", "month", "quarter", "rating", "week", "year")


def _values_of(curve: TrendCurve) -> str:
    many = "s" * (len(curve.names) != 1)
    word = curve.column.casefold()
    return f"{word}{many}" if word in _COUNTED else f"value{many} of {curve.column}"


def _trend_caption(curve: TrendCurve, report: MeasureReport) -> tuple[str, ...]:
    low, high = (int(np.count_nonzero(one)) for one in (curve.too_low, curve.too_high))
    shown = [f"too {word} in {many:,}" for many, word in ((low, "low"), (high, "high")) if many]
    groups = f"{len(curve.names):,} {_values_of(curve)}"
    said = f"Scores are {' and '.join(shown)} of {groups}" if shown else f"No error is shown in {groups}"
    sure = f"{percent(curve.confidence)} for all at once"
    return f"{said} ({sure})", diagram.rows_line(report.table.rows, report.table.positive)
