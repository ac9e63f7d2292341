"""What the page of `measure` says of groups of rows, of several scores, and of clusters."""

import math
from collections.abc import Mapping, Sequence

from calibcli.measures.estimate import Estimate
from calibcli.measures.paired import Difference
from calibcli.names import ComparisonName, MeasureName, TestName
from calibcli.render.blocks import Block, Column, Grid, Line, Tone, paragraph
from calibcli.render.words import count, four, interval_words, listed, p_words, percent, plural, quoted, share
from calibcli.reports.groups import WorstGroup
from calibcli.reports.measure import MeasureReport

_SHOWN = (MeasureName.ECE, MeasureName.SMECE, MeasureName.BIAS, MeasureName.BRIER)
_WITHOUT_INTERVAL = (MeasureName.SMECE, MeasureName.BRIER)
_MOST_LISTED = 5
# What stands beside the names of slices is so wide at most; further columns make a table of their own.
_WIDEST = 84
Shown = MeasureName | TestName
_UNDECIDED = '"Not told apart" means that these rows do not show which is better, not that both are equal.'


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
    left_out = (
        [Line(f"note: {left_out_words(groups.left_out, groups.least_rows)}", Tone.NOTE)]
        if groups.left_out
        else []
    )
    if not parts:
        return (paragraph(Line(by, Tone.TITLE), *left_out),)
    shown = shown_of(report)
    if shown and isinstance(shown[0], MeasureName):
        values = {key: _estimate(part, shown[0]).value for key, part in parts}
        parts.sort(key=lambda one: (math.isnan(values[one[0]]), -values[one[0]]))
    title = paragraph(Line(by, Tone.TITLE), *left_out)
    notes = slice_notes("groups", [part for _, part in parts], report, groups.confidence)
    if groups.worst is not None and len(groups.measured) > 1:
        notes.append(worst_words(groups.worst))
    return (title, *slice_grids("group", parts, shown, notes=notes))


def shown_of(report: MeasureReport) -> tuple[Shown, ...]:
    """Return what a table of slices has columns for: all that somebody asked for, else the usual measures."""
    names = tuple(one.name for one in report.measures)
    if report.chosen:
        return (*names, *(one.name for one in report.tests))
    return tuple(name for name in _SHOWN if name in names)


def slice_grids(
    first: str,
    parts: Sequence[tuple[str, MeasureReport]],
    shown: tuple[Shown, ...],
    *,
    notes: Sequence[str],
) -> tuple[Grid, ...]:
    """
    Return slices as a table, or as several below each other where it would be too wide.

    Args:
        first: What a slice is.

        parts: What a slice is called, and its report.

        shown: The measures and tests that have columns.

        notes: What stands below the last table.
    """
    fixed = (Column(first), Column("rows", numeric=True), Column("positive", numeric=True))
    named = [
        (name, count(part.table.rows), share(part.table.positive, part.table.rows)) for name, part in parts
    ]
    tables: list[list[tuple[str, list[str]]]] = [[]]
    for name in shown:
        columns = _columns_of(name, [part for _, part in parts])
        if tables[-1] and _width(tables[-1]) + _width(columns) > _WIDEST:
            tables.append([])
        tables[-1] += columns
    return tuple(
        Grid(
            (*fixed, *(Column(title) for title, _ in table)),
            tuple((*names, *(cells[place] for _, cells in table)) for place, names in enumerate(named)),
            tuple(Line(note, Tone.FAINT) for note in notes) if table is tables[-1] else (),
        )
        for table in tables
    )


def _width(columns: Sequence[tuple[str, list[str]]]) -> int:
    return sum(2 + max(map(len, (title, *cells))) for title, cells in columns)


def _columns_of(name: Shown, parts: Sequence[MeasureReport]) -> list[tuple[str, list[str]]]:
    """Return the columns of a measure or test over slices, each with its title and cells."""
    if isinstance(name, TestName):
        tests = [next(one for one in part.tests if one.name is name) for part in parts]
        return [(f"{name.value} p-value", [p_words(one.p_value, one.p_method) for one in tests])]
    estimates = [_estimate(part, name) for part in parts]
    values = (name.value, [four(one.value) for one in estimates])
    if not _has_interval(name, parts):
        return [values]
    level = next(one.interval.confidence for one in estimates if one.interval is not None)
    return [values, (f"{percent(level)} interval", [interval_words(one.interval) for one in estimates])]


def _has_interval(name: MeasureName, parts: Sequence[MeasureReport]) -> bool:
    """Whether a measure has a column of intervals: where there are some; of a few only if asked for."""
    wanted = name not in _WITHOUT_INTERVAL or any(part.chosen for part in parts)
    return wanted and any(_estimate(part, name).interval is not None for part in parts)


def _estimate(part: MeasureReport, name: MeasureName) -> Estimate:
    return next(one for one in part.measures if one.name is name)


def slice_notes(
    what: str, parts: Sequence[MeasureReport], whole: MeasureReport, confidence: float
) -> list[str]:
    """
    Return what intervals and p-values of slices mean together, as far as there are any.

    Args:
        what: What the slices are.

        parts: Their reports, at least one.

        whole: The report of all rows.

        confidence: Of the intervals of a slice.
    """
    notes = []
    shown = shown_of(parts[0])
    names = [name for name in shown if isinstance(name, MeasureName)]
    if confidence != whole.confidence and any(_has_interval(name, parts) for name in names):
        notes.append(
            f"Each interval is at {percent(confidence)}, so that those of one measure hold for all {what} at "
            f"once with {percent(whole.confidence)} (Bonferroni)."
        )
    if len(parts) > 1 and any(one.p_value is not None for part in parts for one in part.tests):
        many = max(1, round((1.0 - whole.confidence) / (1.0 - confidence)))
        together = f": times {count(many)} they hold for all at once (Bonferroni)"
        in_table = any(isinstance(name, TestName) for name in shown)
        notes.append(f"P-values of {what} are not adjusted{together if in_table else ''}.")
    return [" ".join(notes)] if notes else []


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
    notes = [Line(_UNDECIDED, Tone.FAINT)] if undecided else []
    compared = {one.name for one in found}
    names = (*(one.name for one in report.measures), *(one.name for one in report.tests))
    others = [name.value for name in names if name not in compared]
    if report.chosen and others:
        notes.append(Line(f"Shown for each score, and not compared: {listed(others)}.", Tone.FAINT))
    return paragraph(Line(title, Tone.TITLE)), Grid(columns, rows, tuple(notes))


def _verdict(one: Difference, other: str) -> str:
    told = one.verdict is not ComparisonName.NOT_TOLD_APART
    return "; ".join([f"{other} is {one.verdict.value}" if told else one.verdict.value, *one.reasons])


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
