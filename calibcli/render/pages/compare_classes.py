"""What the page of `compare` says of every class by itself, the worst first."""

import math

from calibcli.render.blocks import Block, Column, Grid, Line, Tone, paragraph
from calibcli.render.pages.classes import MOST_ROWS, title_of
from calibcli.render.pages.compare import verdict_words
from calibcli.render.words import count, four, interval_words, listed, percent
from calibcli.reports.compare import CompareReport
from calibcli.reports.compare_classes import ClassComparison, ClassesComparison, ViewComparison
from calibcli.reports.comparison import Comparison

_FEW = "There are many classes: each is compared by a few measures; --metric asks for others."
_MOST_LISTED = 5


def class_blocks(report: CompareReport, classes: ClassesComparison, *, verbose: bool) -> tuple[Block, ...]:
    """
    Return a table of the classes for each view.

    Args:
        report: What was found.

        classes: The classes.

        verbose: Whether to list every class by every measure; else the worst, by the first measure unless
            somebody asked for these.
    """
    return tuple(
        block for view in classes.views for block in _view_blocks(report, classes, view, verbose=verbose)
    )


def _view_blocks(
    report: CompareReport, classes: ClassesComparison, view: ViewComparison, *, verbose: bool
) -> tuple[Block, ...]:
    title = [Line(title_of(view.view), Tone.TITLE)]
    if view.left_out:
        title.append(Line(f"note: {_left_out(view)}", Tone.NOTE))
    if not view.classes:
        return (paragraph(*title),)
    parts = sorted(view.classes.items(), key=_badness)
    listed_parts = parts if verbose else parts[:MOST_ROWS]
    measures = len(parts[0][1].comparisons) if verbose or report.chosen else 1
    columns = (
        Column("class"),
        Column("rows", numeric=True),
        Column("measure"),
        Column("first"),
        Column("second"),
        Column("difference"),
        Column(f"{percent(view.confidence)} interval"),
        Column("verdict"),
    )
    rows = tuple(
        _cells(key, part, part.comparisons[place], report)
        for key, part in listed_parts
        for place in range(measures)
    )
    notes = _notes(report, classes, view, hidden=len(parts) - len(listed_parts), verbose=verbose)
    return (paragraph(*title), Grid(columns, rows, tuple(Line(note, Tone.FAINT) for note in notes)))


def _cells(key: str, part: ClassComparison, one: Comparison, report: CompareReport) -> tuple[str, ...]:
    first, second = count(part.first_rows), count(part.second_rows)
    return (
        key.partition("=")[2],
        first if first == second else f"{first}, {second}",
        one.name.value,
        four(one.first.value),
        four(one.second.value),
        four(one.difference.value),
        interval_words(one.difference.interval),
        verdict_words(one, report),
    )


def _badness(one: tuple[str, ClassComparison]) -> tuple[bool, float, float]:
    """Return what sorts the worst second side first: by the lower bound of its difference, then its value."""
    difference = one[1].comparisons[0].difference
    value = difference.value
    if value is None or math.isnan(value):
        return True, 0.0, 0.0
    lower = None if difference.interval is None else difference.interval.lower
    return False, -value if lower is None else -lower, -value


def _notes(
    report: CompareReport, classes: ClassesComparison, view: ViewComparison, *, hidden: int, verbose: bool
) -> list[str]:
    notes = []
    names = [one.name.value for one in next(iter(view.classes.values())).comparisons]
    left_out = [] if verbose or report.chosen else names[1:]
    if not verbose and (hidden or left_out):
        more = [f"{count(hidden)} more {'class' if hidden == 1 else 'classes'}"] if hidden else []
        notes.append(f"-v shows {listed([*more, *left_out])}, too.")
    if view.confidence != report.confidence:
        notes.append(
            f"Each interval is at {percent(view.confidence)}, so that those of one measure hold for all "
            f"classes at once with {percent(report.confidence)} (Bonferroni)."
        )
    if classes.few:
        notes.append(_FEW)
    return notes


def _left_out(view: ViewComparison) -> str:
    keys = list(view.left_out)
    more = f" and {count(len(keys) - _MOST_LISTED)} more" if len(keys) > _MOST_LISTED else ""
    shown = ", ".join(f"{key.partition('=')[2]} ({count(view.left_out[key])})" for key in keys[:_MOST_LISTED])
    many = "class has" if len(keys) == 1 else "classes have"
    return f"{count(len(keys))} {many} fewer than {count(view.least_rows)} rows on a side: {shown}{more}"
