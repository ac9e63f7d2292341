"""The picture of groups in their order: how far predicted rates are from observed ones, month by month."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from calibcli.commands.measure import measure_files
from calibcli.commands.pictures.diagram import Diagram, Drawn, PlotRequest, diagram_of_rows, rows_line
from calibcli.errors import EmptyTable, UsageProblem
from calibcli.names import GroupOrder, MeasureName
from calibcli.options.measuring import MeasureOptions, Metrics
from calibcli.options.numerals import by_name, has_own_order, in_order, is_over_time
from calibcli.reports.measure import MeasureReport
from calibcli.stats.bounds import Interval
from calibcli.stats.curves.segments import TrendCurve


def trend_diagram(request: PlotRequest) -> Diagram:
    """Measure the bias of every group."""
    columns = request.columns
    if request.document is not None:
        msg = f"{request.document}: a trend is drawn from the rows"
        raise UsageProblem(msg, "name the files that the report was measured on")
    if len(columns.by) != 1:
        msg = f"--kind trend shows the groups of one column, and --by names {len(columns.by)}"
        raise UsageProblem(msg, "name the one that has an order, such as --by month")
    report = measure_files(request, options=bias_alone(request.options))
    notes = (*report.input.notes, *report.notes)
    return diagram_of_rows(
        trend_drawn(report, request.options.sort), report.input, notes, through=report.artifact
    )


def bias_alone(options: MeasureOptions) -> MeasureOptions:
    """Return options that measure what is drawn, and nothing else."""
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
        return sorted(named.values(), key=lambda key: report.slices[key].mean_score), GroupOrder.SCORE
    if order is GroupOrder.WORST:
        return sorted(named.values(), key=lambda key: -abs(_bias(report.slices[key])[0])), order
    return list(named.values()), order


def trend_drawn(report: MeasureReport, order: GroupOrder | None = None) -> Drawn:
    """Return the bias of every group that was measured, in order."""
    if report.groups is None or not report.groups.measured:
        least = 0 if report.groups is None else report.groups.least_rows
        msg = f"no group has {least:,} rows"
        raise EmptyTable(msg, "pass a smaller --min-group-rows")
    column, confidence = report.groups.columns[0], report.confidence
    named = {key.removeprefix(f"{column}="): key for key in report.groups.measured}
    keys, order = _in_order(named, report, order)
    groups = [report.slices[key] for key in keys]
    bias = [_bias(one) for one in groups]
    ends = [_ends(one) for _, one in bias]
    curve = TrendCurve(
        column,
        tuple(key.removeprefix(f"{column}=") for key in keys),
        np.array([one.mean_score for one in groups]),
        np.array([value for value, _ in bias]),
        np.array([low for low, _ in ends]),
        np.array([high for _, high in ends]),
        confidence,
        joined=order is GroupOrder.TIME or has_own_order(list(named)),
    )
    few = report.groups.left_out
    left_out = f"{len(few):,} of fewer than {report.groups.least_rows:,} rows left out." if few else ""
    foot = f"Groups stand {_ORDERED[order]}. {left_out}"
    return Drawn(curve, _caption(curve, report), (foot.strip(),))


def _bias(report: MeasureReport) -> tuple[float, Interval | None]:
    """Return the bias of a group with its interval."""
    (found,) = report.measures
    return found.value, found.interval


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


def _caption(curve: TrendCurve, report: MeasureReport) -> tuple[str, ...]:
    low, high = (int(np.count_nonzero(one)) for one in (curve.too_low, curve.too_high))
    shown = [f"too {word} in {many:,}" for many, word in ((low, "low"), (high, "high")) if many]
    groups = f"{len(curve.names):,} {_values_of(curve)}"
    said = f"Scores are {' and '.join(shown)} of {groups}" if shown else f"No error is shown in {groups}"
    sure = f"{100.0 * curve.confidence:.4g} % for all at once"
    return f"{said} ({sure})", rows_line(report.table.rows, report.table.positive)
