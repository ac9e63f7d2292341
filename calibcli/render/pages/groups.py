"""What the page of `measure` says of groups of rows, of several scores, and of clusters."""

import math
from collections.abc import Mapping

from calibcli.measures.estimate import Estimate
from calibcli.measures.paired import Difference
from calibcli.names import ComparisonName, MeasureName
from calibcli.render.blocks import Block, Column, Grid, Line, Tone, paragraph
from calibcli.render.words import count, four, interval_words, listed, percent, plural, quoted, share
from calibcli.reports.groups import GroupsSummary, WorstGroup
from calibcli.reports.measure import MeasureReport

_SHOWN = (MeasureName.ECE, MeasureName.SMECE, MeasureName.BIAS, MeasureName.BRIER)
_WITHOUT_INTERVAL = (MeasureName.SMECE, MeasureName.BRIER)
_MOST_LISTED = 5
_UNDECIDED = '"Not told apart" means that these rows do not show which is better, not that both are equal.'
_NO_NUMBER = ("no interval", "no difference")


def cluster_lines(report: MeasureReport) -> list[Line]:
    """Return which rows depend on each other, if some do."""
    clusters = report.clusters
    if clusters is None:
        return []
    many = f"{plural(clusters.count, 'cluster')} of dependent rows by {quoted(clusters.column)}"
    return [Line(f"{many}, as good as {four(clusters.effective)} of equal weight")]


def group_blocks(report: MeasureReport, slices: dict[str, MeasureReport]) -> tuple[Block, ...]:
    """Return the groups of a score as one table, the largest error first."""
    groups = report.groups
    if groups is None:
        return ()
    parts = [(key, slices[key]) for key in groups.measured]
    by = f"Groups by {listed(quoted(column) for column in groups.columns)}"
    notes = tuple(Line(note, Tone.FAINT) for note in _notes(groups, report))
    left_out = (
        [Line(f"note: {left_out_words(groups.left_out, groups.least_rows)}", Tone.NOTE)]
        if groups.left_out
        else []
    )
    if not parts:
        return (paragraph(Line(by, Tone.TITLE), *left_out),)
    shown = shown_of(report)
    if shown:
        values = {key: _of(part, shown[0]).value for key, part in parts}
        parts.sort(key=lambda one: (math.isnan(values[one[0]]), -values[one[0]]))
    columns = slice_columns("group", shown, groups.confidence)
    rows = tuple((key, *slice_cells(part, shown)) for key, part in parts)
    return (paragraph(Line(by, Tone.TITLE), *left_out), Grid(columns, rows, notes))


def slice_columns(first: str, shown: tuple[MeasureName, ...], confidence: float) -> tuple[Column, ...]:
    """
    Return the columns of a table of slices.

    Args:
        first: What a slice is.

        shown: The measures that have a column.

        confidence: Of the intervals.
    """
    columns = [Column(first), Column("rows", numeric=True), Column("positive", numeric=True)]
    for name in shown:
        columns.append(Column(name.value))
        if _has_interval(name):
            columns.append(Column(f"{percent(confidence)} interval"))
    return tuple(columns)


def difference_blocks(report: MeasureReport) -> tuple[Block, ...]:
    """Return how each further score differs from the first."""
    return tuple(
        block for key, found in report.differences.items() for block in _difference(report, key, found)
    )


def _difference(report: MeasureReport, key: str, found: tuple[Difference, ...]) -> tuple[Block, ...]:
    other = quoted(report.slices[key].input.score)
    title = f"{other} less {quoted(report.input.score)}: below 0, {other} is better"
    interval = Column(f"{percent(report.confidence)} interval")
    columns = (Column("measure"), Column("difference"), interval, Column("verdict"))
    rows = tuple(
        (one.name.value, four(one.value), interval_words(one.interval), _verdict(one, other)) for one in found
    )
    undecided = any(one.verdict is ComparisonName.NOT_TOLD_APART for one in found)
    notes = (Line(_UNDECIDED, Tone.FAINT),) if undecided else ()
    return paragraph(Line(title, Tone.TITLE)), Grid(columns, rows, notes)


def _verdict(one: Difference, other: str) -> str:
    told = one.verdict is not ComparisonName.NOT_TOLD_APART
    reasons = [text for text in one.assumptions if text.startswith(_NO_NUMBER)]
    return "; ".join([f"{other} is {one.verdict.value}" if told else one.verdict.value, *reasons])


def shown_of(report: MeasureReport) -> tuple[MeasureName, ...]:
    """Return the measures of the table: the usual ones, or else the first that were asked for."""
    names = tuple(one.name for one in report.measures)
    return tuple(name for name in _SHOWN if name in names) or names[: len(_SHOWN)]


def _has_interval(name: MeasureName) -> bool:
    """Whether a column of the table has its interval beside it; a table of all would be too wide."""
    return name not in _WITHOUT_INTERVAL


def _of(part: MeasureReport, name: MeasureName) -> Estimate:
    return next(one for one in part.measures if one.name is name)


def slice_cells(part: MeasureReport, shown: tuple[MeasureName, ...]) -> tuple[str, ...]:
    """Return the cells of a slice after its name: rows, positives, measures and intervals."""
    cells = [count(part.table.rows), share(part.table.positive, part.table.rows)]
    for name in shown:
        estimate = _of(part, name)
        cells.append(four(estimate.value))
        if _has_interval(name):
            cells.append(interval_words(estimate.interval))
    return tuple(cells)


def _notes(groups: GroupsSummary, report: MeasureReport) -> list[str]:
    """Return what the intervals mean together, and which group stands out."""
    notes = []
    if groups.confidence != report.confidence:
        each, all_of = percent(groups.confidence), percent(report.confidence)
        notes.append(
            f"Each interval is at {each}, so that those of one measure hold for all groups at once with "
            f"{all_of} (Bonferroni). P-values of groups are not adjusted."
        )
    if groups.worst is not None and len(groups.measured) > 1:
        notes.append(worst_words(groups.worst))
    return notes


def worst_words(worst: WorstGroup) -> str:
    """Return which slice stands out, and why that is to be taken with care."""
    name = worst.measure.value
    first = f"Largest {name}: {worst.by_estimate} with {four(worst.estimate)}"
    bound = "" if worst.lower is None else "; no lower bound is above 0"
    if worst.by_lower is not None:
        bound = f"; largest lower bound: {worst.by_lower} with {four(worst.lower)}"
    noise = "small groups err more by noise alone, and the largest of several estimates tends to be too high"
    return f"{first}{bound}. Mind that {noise}."


def left_out_words(
    left_out: Mapping[str, int], least_rows: int, *, one: str = "group", many: str = "groups"
) -> str:
    """
    Return which slices are not measured, the largest first, and the option that says so.

    Args:
        left_out: Rows of each, by key.

        least_rows: How many would be enough.

        one: What a slice is.

        many: The same of several.
    """
    few = sorted(left_out.items(), key=lambda one: (-one[1], one[0]))
    listing = ", ".join(f"{key} ({count(rows)})" for key, rows in few[:_MOST_LISTED])
    more = f" and {count(len(few) - _MOST_LISTED)} more" if len(few) > _MOST_LISTED else ""
    return (
        f"{count(len(few))} {one if len(few) == 1 else many} of fewer than {plural(least_rows, 'row')} "
        f"(--min-group-rows) {'is' if len(few) == 1 else 'are'} not measured: {listing}{more}"
    )
