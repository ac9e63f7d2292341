"""What the page of `measure` says of several classes: all together, then one by one, the worst first."""

import math

from calibcli.names import MeasureName
from calibcli.render.blocks import Block, Line, Tone, paragraph
from calibcli.render.pages.groups import left_out_words, shown_of, slice_grids, slice_notes, worst_words
from calibcli.render.words import count
from calibcli.reports.classes import ClassesReport, ViewSummary
from calibcli.reports.measure import MeasureReport
from calibcli.view_names import ViewName

MOST_ROWS = 10
_FEW = "There are many classes: each is measured by a few measures; --metric asks for others."


def class_blocks(report: MeasureReport, classes: ClassesReport, *, verbose: bool) -> tuple[Block, ...]:
    """
    Return a table of the classes for each view.

    Args:
        report: What was found.

        classes: What of it is about several classes.

        verbose: Whether to list every class, however many there are.
    """
    return tuple(
        block for view in classes.views for block in _view_blocks(report, classes, view, verbose=verbose)
    )


def _view_blocks(
    report: MeasureReport, classes: ClassesReport, view: ViewSummary, *, verbose: bool
) -> tuple[Block, ...]:
    title = [Line(title_of(view.view), Tone.TITLE)]
    if view.left_out:
        title.append(Line(f"note: {_left_out(view)}", Tone.NOTE))
    if not view.measured:
        return (paragraph(*title),)
    parts = sorted(((key, report.slices[key]) for key in view.measured), key=_goodness)
    shown = shown_of(parts[0][1])
    listed = parts if verbose else parts[:MOST_ROWS]
    named = [(key.partition("=")[2], part) for key, part in listed]
    notes = _notes(report, classes, view, hidden=len(parts) - len(listed))
    return (paragraph(*title), *slice_grids("class", named, shown, notes=notes))


def title_of(view: ViewName) -> str:
    """Return the heading of a view."""
    match view:
        case ViewName.ONE_VS_REST:
            return "Each class against the rest, the worst first"
        case ViewName.TOP_LABEL:
            return "Rows by the class they predict, the worst first"
        case ViewName.CONFIDENCE:
            return "All rows by the largest probability"


def _goodness(one: tuple[str, MeasureReport]) -> tuple[bool, float, float]:
    """Return what sorts the worst first: by the lower bound of ECE, then by its value."""
    measures = one[1].measures
    found = next(
        (each for each in measures if each.name is MeasureName.ECE), measures[0] if measures else None
    )
    if found is None or math.isnan(found.value):
        return True, 0.0, 0.0
    lower = None if found.interval is None else found.interval.lower
    return False, 0.0 if lower is None else -lower, -found.value


def _notes(report: MeasureReport, classes: ClassesReport, view: ViewSummary, *, hidden: int) -> list[str]:
    notes = []
    if hidden:
        notes.append(f"{count(hidden)} more {'class' if hidden == 1 else 'classes'} not shown; -v lists all.")
    parts = [report.slices[key] for key in view.measured]
    notes += slice_notes("classes", parts, report, view.confidence)
    if view.worst is not None and len(view.measured) > 1:
        notes.append(worst_words(view.worst))
    table = report.slices[view.measured[0]].table
    if table.kind == "grid":
        notes.append(
            "The distinct scores of all classes did not fit in memory: rounding moves one by at most "
            f"{table.resolution:.2g}; --exact avoids it."
        )
    if classes.few:
        notes.append(_FEW)
    return notes


def _left_out(view: ViewSummary) -> str:
    never = sum(rows == 0 for rows in view.left_out.values())
    few = {key: rows for key, rows in view.left_out.items() if rows}
    parts = [left_out_words(few, view.least_rows, one="class", many="classes")] if few else []
    if never:
        parts.append(f"{count(never)} {'class is' if never == 1 else 'classes are'} never predicted")
    return "; ".join(parts)
