"""Pictures of segments: as points over their rows, and as cells of two columns."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np

from calibcli.commands.cutting import refuse_segments, segments_in
from calibcli.commands.pictures.diagram import Diagram, Drawn, PlotRequest, diagram_of_rows, rows_line
from calibcli.commands.reading import read_evaluation
from calibcli.commands.segments import segments_report
from calibcli.data.tally import TWICE
from calibcli.errors import EmptyTable, IdleOption, UsageProblem
from calibcli.names import PlotKind
from calibcli.options.numerals import agreeing, percent, plural
from calibcli.options.segmenting import SegmentOptions
from calibcli.reports.segments import Segment, SegmentColumn, SegmentsReport
from calibcli.show.answers import misjudged, segment_name, untested_words
from calibcli.stats.curves.reliability import refuse_empty
from calibcli.stats.curves.segments import SegmentCells, SegmentPoints

# So many are named below the picture, by their numbers in it.
_MOST_NAMED = 8


def segments_diagram(request: PlotRequest) -> Diagram:
    heat, columns, requested = request.kind is PlotKind.HEATMAP, request.columns, request.segments
    request.refuse_document("segments are")
    if heat and len(columns.on) != 2:
        msg = f"--kind heatmap lays two columns against each other, and --on names {len(columns.on)}"
        raise UsageProblem(msg, "name two, such as --on country,device, or pass --kind segments")
    if heat and requested.cut.depth < 2:
        msg = (
            f"--depth {requested.cut.depth} crosses no columns, and --kind heatmap draws two that are crossed"
        )
        raise IdleOption(msg, "leave it out, or pass --kind segments", options=("depth",))
    refuse_segments(request, requested.cut)
    evaluation = read_evaluation(request, TWICE)
    refuse_empty(evaluation.table)
    cut = segments_in(evaluation, request, requested.cut)
    options = SegmentOptions(requested.cut, requested.least_rows, request.options.confidence)
    report = segments_report(evaluation, cut, options)
    if not report.tested:
        msg = f"no segment has {requested.least_rows:,} rows that can be tested"
        raise EmptyTable(msg, "pass a smaller --min-segment-rows")
    drawn = cells_drawn(report) if heat else points_drawn(report)
    source = evaluation.input
    notes = (*source.notes, *report.notes)
    return diagram_of_rows(drawn, source, notes, through=evaluation.through)


def segment_pictures(report: SegmentsReport | None) -> Iterator[tuple[PlotKind, Drawn]]:
    """Yield the pictures of segments, where there are some: cells only of two columns."""
    if report is None or not report.tested:
        return
    yield PlotKind.SEGMENTS, points_drawn(report)
    if len(report.columns) == 2 and report.depth == 2:
        yield PlotKind.HEATMAP, cells_drawn(report)


def points_drawn(report: SegmentsReport) -> Drawn:
    """Return every tested segment as a point, those listed named."""
    tested = [one for one in report.segments if one.not_tested is None]
    shown = [place for place, one in enumerate(tested) if one.is_listed][:_MOST_NAMED]
    ends = [one.bias_interval for one in tested]
    picture = SegmentPoints(
        np.array([one.rows for one in tested]),
        np.array([one.bias for one in tested]),
        np.array([np.nan if one is None else one.lower for one in ends]),
        np.array([np.nan if one is None else one.upper for one in ends]),
        np.array([one.stands_out for one in tested], np.bool_),
        tuple(segment_name(one) for one in tested),
        tuple(shown),
        report.confidence,
    )
    named = (f"{number}: {_described(tested[place])}." for number, place in enumerate(shown, start=1))
    return Drawn(picture, _caption(report), (*named, *_not_named(report, len(shown)), *_untested(report)))


def cells_drawn(report: SegmentsReport) -> Drawn:
    first, second = report.columns
    # The column of more levels goes down, where there is room for their names.
    down, across = (first, second) if len(first.levels) >= len(second.levels) else (second, first)
    known = {frozenset(one.where): one for one in report.segments}
    shape = len(down.levels) + 1, len(across.levels) + 1
    rows, bias, lower, upper = (np.full(shape, fill) for fill in (0.0, np.nan, np.nan, np.nan))
    stands_out = np.zeros(shape, np.bool_)
    for place in product(range(shape[0]), range(shape[1])):
        words = (column.levels[at : at + 1] for column, at in zip((down, across), place, strict=True))
        one = known.get(frozenset(word for some in words for word in some))
        if one is None:
            continue
        rows[place], bias[place], stands_out[place] = one.rows, one.bias, one.stands_out
        if one.bias_interval is not None:
            lower[place], upper[place] = one.bias_interval.lower, one.bias_interval.upper
    picture = SegmentCells(
        across.name, down.name, _short(across), _short(down), rows, bias, lower, upper, stands_out,
        report.confidence,
    )  # fmt: skip
    return Drawn(picture, _caption(report), _untested(report))


def _caption(report: SegmentsReport) -> tuple[str, str]:
    standing = sum(one.stands_out for one in report.segments)
    tested = plural(report.tested, "segment")
    does = f"{standing:,} {agreeing(standing, 'stands')}" if standing else "none stands"
    said = f"Of {tested}, {does} out ({percent(report.confidence)} for all at once)"
    return said, rows_line(report.table.rows, report.table.positive)


def _described(one: Segment) -> str:
    rows = f"{segment_name(one)} ({one.rows:,} rows)"
    ends, part = one.bias_interval, one.wrong_for
    if ends is None or ends.lower <= 0.0 <= ends.upper:
        if part is None:
            return f"{rows}, though perhaps not on average"
        return f"{rows}, where scores {misjudged(part)} by {abs(part.gap):.3g}"
    way = "high" if ends.lower > 0.0 else "low"
    least, most = sorted((abs(ends.lower), abs(ends.upper)))
    return f"{rows}, too {way} by {least:.3g} to {most:.3g}"


def _not_named(report: SegmentsReport, named: int) -> tuple[str, ...]:
    """Return how many more stand out than have a number, and why."""
    listed = sum(one.is_listed for one in report.segments)
    hidden = sum(one.stands_out for one in report.segments) - listed
    more = (
        (listed - named, "more stands out by itself", "more stand out by themselves"),
        (hidden, "stands out as far as a larger one does", "stand out as far as a larger one does"),
    )
    return tuple(f"{many:,} {one if many == 1 else several}." for many, one, several in more if many)


def _untested(report: SegmentsReport) -> tuple[str, ...]:
    reasons = Counter(one.not_tested for one in report.untested)
    return tuple(f"{untested_words(many, reason)}." for reason, many in reasons.items())


def _short(column: SegmentColumn) -> tuple[str, ...]:
    """Return levels without the name of their column, which stands at the axis."""
    name = re.escape(column.name)

    def short(word: str) -> str:
        between = re.fullmatch(rf"(\S+) < {name} <= (\S+)", word)
        if between is not None:
            return f"{between[1]}–{between[2]}"
        rest = re.sub(rf"^{name} (= )?", "", word)
        return rest.replace("<=", "≤").replace(">=", "≥")

    return tuple(map(short, column.levels))
