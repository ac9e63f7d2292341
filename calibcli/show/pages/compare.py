"""The page of `compare`: both values, their difference, and whether the rows tell the two apart."""

import math
from collections.abc import Callable
from operator import itemgetter

from calibcli.names import ComparisonName
from calibcli.options.numerals import percent, plural
from calibcli.reports.compare import (
    ClassComparison,
    ClassesComparison,
    CompareReport,
    Comparison,
    Side,
    ViewComparison,
)
from calibcli.show import pages, words
from calibcli.show.blocks import (
    Block,
    Cells,
    Column,
    Grid,
    Item,
    Line,
    Listing,
    Page,
    Paragraph,
    Tone,
    grid_of,
    paragraph,
)
from calibcli.show.pages.measure import MOST_ROWS, title_of


def compare_page(report: CompareReport, *, verbose: bool) -> Page:
    """Return the page of a comparison; `verbose` adds a sentence and the assumptions of every line."""
    first, second, there = report.first.table.rows, report.second.table.rows, " on the second side"
    top = paragraph(
        pages.source_line(report.input),
        *pages.table_lines(report.first.table),
        *(() if first == second else (f"{plural(second, 'row')}{there}",)),
        *pages.view_lines(report.input),
        f"first:  {_side(report.first)}, the baseline",
        f"second: {_side(report.second)}",
        Line(f"{words.INDEPENDENT}{_or_clusters(report)}.", Tone.FAINT),
        *pages.repair_lines(report.input, side="" if first == second else there),
        *pages.note_lines(report.notes),
    )
    meanings = (_meanings(report),) if verbose else ()
    gate = () if report.gate is None else (_gate(report),)
    classes = report.classes
    tables = [_differences(report, report.comparisons)] if report.comparisons else []
    together: tuple[Block, ...] = ()
    each: tuple[Block, ...] = ()
    if classes is not None:
        each = class_blocks(report, classes, verbose=verbose)
    if classes is not None and classes.comparisons:
        title = paragraph(Line("All classes together", Tone.TITLE))
        together = (title, _differences(report, classes.comparisons))
    return (
        *gate,
        pages.answer_paragraph(report),
        top,
        *tables,
        *together,
        *_both(report, verbose=verbose),
        *each,
        *meanings,
    )


def _or_clusters(report: CompareReport) -> str:
    """Return how to say that rows are not independent, where that can be said."""
    plain = report.second.artifact is None and report.input.classes is None
    return "; --cluster COL names those that depend on each other" if plain else ""


def _side(side: Side) -> str:
    if side.artifact is None:
        return f"column {words.quoted(side.score)}"
    return f"column {words.quoted(side.score)} recalibrated by {words.quoted(side.artifact)}"


def _differences(report: CompareReport, comparisons: tuple[Comparison, ...]) -> Grid:
    undecided = any(one.difference.undecided for one in comparisons)
    better = words.better_when(one.name for one in comparisons)
    direction = f"Difference: second less first; {better} the second is better."
    both = words.from_both(one.difference for one in comparisons)
    notes = (direction, *both, *((words.UNDECIDED,) if undecided else ()))
    first, second = words.quoted(report.first.name), words.quoted(report.second.name)
    return grid_of(
        comparisons,
        _cells(report, report.confidence, lambda one: one),
        notes,
        caption=f"{second} less {first}",
    )


def _cells(report: CompareReport, confidence: float, of: Callable[[Item], Comparison]) -> Cells[Item]:
    return {
        "measure": lambda one: of(one).name.value,
        "first": lambda one: words.four(of(one).first.value),
        "second": lambda one: words.four(of(one).second.value),
        "difference": lambda one: words.four(of(one).difference.value),
        f"{percent(confidence)} interval": lambda one: words.interval_words(of(one).difference.interval),
        "verdict": lambda one: verdict_words(of(one), report),
    }


def verdict_words(one: Comparison, report: CompareReport) -> str:
    """Return who is better in a sentence, or why that is not said."""
    verdict = words.standing(one.difference)
    if one.difference.verdict is not ComparisonName.NOT_TOLD_APART:
        verdict = f"{words.quoted(report.second.name)} is {verdict}"
    return ": ".join(filter(None, (verdict, "; ".join(one.difference.reasons))))


def _both(report: CompareReport, *, verbose: bool) -> tuple[Block, ...]:
    """Return the interval of each side, and what that of the difference is worth, or how it was found."""
    cells: Cells[Comparison] = {
        "measure": lambda one: one.name.value,
        "first interval": lambda one: words.interval_words(one.first.interval),
        "second interval": lambda one: words.interval_words(one.second.interval),
        "how" if verbose else words.VALID: lambda one: _how(one, verbose=verbose),
    }
    every = report.every_comparison
    return (grid_of(every, cells, spare=(words.VALID,), caption="Intervals of both"),) if every else ()


def _how(one: Comparison, *, verbose: bool) -> str:
    """Return when the interval of the difference holds; `verbose` partitions and method as well."""
    sides = (one.first, one.second)
    parts = list(
        dict.fromkeys(str(side.details["partition"]) for side in sides if "partition" in side.details)
    )
    interval = one.difference.interval
    if interval is None:
        return "; ".join(parts)
    if not verbose:
        return words.valid_for(interval)
    sort = "finite-sample" if interval.finite_sample else "approximate"
    return "; ".join([*parts, interval.method, f"{interval.target.value}, {sort}"])


def _meanings(report: CompareReport) -> Listing:
    items = [
        (one.name.value, f"{one.name.meaning} Assumes: {'; '.join(one.difference.assumptions)}.")
        for one in report.every_comparison
    ]
    return Listing(tuple(items), "What they say")


def _gate(report: CompareReport) -> Paragraph:
    """Return what --fail-if-worse found, and how often it is wrong."""
    second = words.quoted(report.second.name)
    if report.worse_by:
        each = percent((1.0 - report.confidence) / 2.0)
        error = f"If it is no worse, each gated measure still fails with probability at most about {each}."
        worse = words.listed(words.field_name(name.value) for name in report.worse_by)
        line = f"FAIL  {second} is shown to be worse by {worse}{_where(report)}."
        return paragraph(Line(line, Tone.FAIL), error)
    gated = [one for _, one in report.gated]
    judged = words.listed(dict.fromkeys(words.field_name(one.name) for one in gated if not _blind(one)))
    blind = words.listed(dict.fromkeys(words.field_name(one.name) for one in gated if _blind(one)))
    by = f" by {judged}" if judged else ""
    without = [f"There is no interval for {blind}, so it is not part of this verdict."] if blind else []
    return paragraph(
        Line(f"PASS  {second} is not shown to be worse{by}.", Tone.PASS), *without, words.NO_PROOF
    )


def _where(report: CompareReport) -> str:
    """Return the classes in which the second is worse, where the gate looked at each."""
    keys = report.worse_classes
    if not keys:
        return ""
    return f" in {words.first_of([words.printable(key) for key in keys], pages.MOST_LISTED)}"


def _blind(one: Comparison) -> bool:
    """Whether nothing was there to judge by."""
    return one.difference.interval is None and one.difference.verdict is ComparisonName.NOT_TOLD_APART


_FEW = "There are many classes: each is compared by a few measures; --metric asks for others."


def class_blocks(report: CompareReport, classes: ClassesComparison, *, verbose: bool) -> tuple[Block, ...]:
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
    measures = len(parts[0][1].comparisons) if verbose or report.selected else 1
    cells: Cells[tuple[str, ClassComparison, Comparison]] = {
        "class": lambda one: one[0].partition("=")[2],
        Column("rows", numeric=True): lambda one: _rows(one[1]),
        **_cells(report, view.confidence, itemgetter(2)),
    }
    items = [(key, part, one) for key, part in listed_parts for one in part.comparisons[:measures]]
    notes = _notes(report, classes, view, hidden=len(parts) - len(listed_parts), verbose=verbose)
    return (paragraph(*title), grid_of(items, cells, notes))


def _rows(part: ClassComparison) -> str:
    first, second = words.count(part.first_rows), words.count(part.second_rows)
    return first if first == second else f"{first}, {second}"


def _badness(one: tuple[str, ClassComparison]) -> tuple[bool, float, float]:
    """Return what sorts the worst second side first: by the lower bound of its difference, then its value."""
    difference = one[1].comparisons[0].difference
    value = difference.value
    if value is None or math.isnan(value):
        return True, 0.0, 0.0
    lower, upper = (value, value) if difference.interval is None else difference.interval.ends
    if difference.name.facts.more_is_better:
        return False, upper, value
    return False, -(lower if math.isfinite(lower) else value), -value


def _notes(
    report: CompareReport, classes: ClassesComparison, view: ViewComparison, *, hidden: int, verbose: bool
) -> list[str]:
    notes = []
    names = [one.name.value for one in next(iter(view.classes.values())).comparisons]
    left_out = [] if verbose or report.selected else names[1:]
    if not verbose and (hidden or left_out):
        more = [plural(hidden, "more class")] if hidden else []
        notes.append(f"-v shows {words.listed([*more, *left_out])}, too.")
    if view.confidence != report.confidence:
        notes.append(words.at_once(view.confidence, "classes", report.confidence))
    if classes.few:
        notes.append(_FEW)
    return notes


def _left_out(view: ViewComparison) -> str:
    few = [f"{key.partition('=')[2]} ({words.count(rows)})" for key, rows in view.left_out.items()]
    many, shown = plural(len(few), "class", "has"), words.first_of(few, pages.MOST_LISTED)
    return f"{many} fewer than {words.count(view.least_rows)} rows on a side: {shown}"
