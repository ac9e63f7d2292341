"""The page of `compare`: both values, their difference, and whether the rows tell the two apart."""

from calibcli.names import ComparisonName
from calibcli.render.blocks import Block, Column, Grid, Line, Listing, Page, Paragraph, Tone, paragraph
from calibcli.render.pages.header import note_lines, repair_lines, source_line, table_lines, view_lines
from calibcli.render.phrases import meaning_of_compared
from calibcli.render.words import count, four, interval_words, listed, percent, plural, printable, quoted
from calibcli.reports.compare import CompareReport, Side
from calibcli.reports.comparison import Comparison
from calibcli.view_names import ClassMeasure

_DIRECTION = "Difference: second less first; below 0 the second is better."
_UNDECIDED = '"Not told apart" means that these rows do not show which is better, not that both are equal.'
_NO_PROOF = "Not shown to be worse is not shown to be no worse: few rows show little."
_MOST_LISTED = 5


def compare_page(report: CompareReport, *, verbose: bool) -> Page:
    """Return the page of a comparison; `verbose` adds a sentence and the assumptions of every line."""
    top = paragraph(
        Line(source_line(report.input), Tone.TITLE),
        *table_lines(report.first.table),
        *_second_rows(report),
        *view_lines(report.input),
        f"first:  {_side(report.first)}, the baseline",
        f"second: {_side(report.second)}",
        *repair_lines(report.input),
        *note_lines(report.notes),
    )
    meanings = (_meanings(report),) if verbose else ()
    gate = () if report.gate is None else (_gate(report),)
    tables = (
        *(_differences(report, report.comparisons) if report.comparisons else ()),
        *_together(report),
    )
    return (top, *tables, *_both(report), *_one_by_one(report, verbose=verbose), *meanings, *gate)


def _side(side: Side) -> str:
    """Return what a side is."""
    if side.artifact is None:
        return f"column {quoted(side.score)}"
    return f"column {quoted(side.score)} recalibrated by {quoted(side.artifact)}"


def _second_rows(report: CompareReport) -> list[str]:
    """Say how many rows the second side has where they are not as many."""
    first, second = report.first.table.rows, report.second.table.rows
    return [] if first == second else [f"{plural(second, 'row')} on the second side"]


def _together(report: CompareReport) -> tuple[Block, ...]:
    classes = report.classes
    if classes is None or not classes.comparisons:
        return ()
    title = paragraph(Line("All classes together", Tone.TITLE))
    return (title, *_differences(report, classes.comparisons))


def _one_by_one(report: CompareReport, *, verbose: bool) -> tuple[Block, ...]:
    if report.classes is None:
        return ()
    from calibcli.render.pages.compare_classes import class_blocks

    return class_blocks(report, report.classes, verbose=verbose)


def _differences(report: CompareReport, comparisons: tuple[Comparison, ...]) -> tuple[Block, ...]:
    columns = (
        Column("measure"),
        Column("first"),
        Column("second"),
        Column("difference"),
        Column(f"{percent(report.confidence)} interval"),
        Column("verdict"),
    )
    rows = tuple(
        (
            one.name.value,
            four(one.first.value),
            four(one.second.value),
            four(one.difference.value),
            interval_words(one.difference.interval),
            verdict_words(one, report),
        )
        for one in comparisons
    )
    undecided = any(one.difference.verdict is ComparisonName.NOT_TOLD_APART for one in comparisons)
    direction = _DIRECTION
    if any(one.name is ClassMeasure.ACCURACY for one in comparisons):
        direction = _DIRECTION.replace(".", "; for accuracy above 0.")
    notes = (direction, *((_UNDECIDED,) if undecided else ()))
    return (Grid(columns, rows, tuple(Line(text, Tone.FAINT) for text in notes)),)


def verdict_words(one: Comparison, report: CompareReport) -> str:
    """Return who is better in a sentence, or why that is not said."""
    match one.difference.verdict:
        case ComparisonName.BETTER | ComparisonName.WORSE:
            verdict = f"{quoted(report.second.name)} is {one.difference.verdict.value}"
        case ComparisonName.NOT_TOLD_APART:
            verdict = one.difference.verdict.value
    reason = "; ".join(one.difference.reasons)
    return verdict + (f": {reason}" if reason else "")


def _both(report: CompareReport) -> tuple[Block, ...]:
    """Return the interval of each side, and how that of the difference was found."""
    columns = (Column("measure"), Column("first interval"), Column("second interval"), Column("how"))
    rows = tuple(
        (
            one.name.value,
            interval_words(one.first.interval),
            interval_words(one.second.interval),
            _how(one),
        )
        for one in _all(report)
    )
    return (Grid(columns, rows),) if rows else ()


def _all(report: CompareReport) -> tuple[Comparison, ...]:
    return (*report.comparisons, *(() if report.classes is None else report.classes.comparisons))


def _how(one: Comparison) -> str:
    """Return partitions, and method and target of the difference."""
    sides = (one.first, one.second)
    parts = list(
        dict.fromkeys(str(side.details["partition"]) for side in sides if "partition" in side.details)
    )
    interval = one.difference.interval
    if interval is None:
        return "; ".join(parts)
    sort = "finite-sample" if interval.finite_sample else "approximate"
    return "; ".join([*parts, interval.method, f"{interval.target.value}, {sort}"])


def _meanings(report: CompareReport) -> Listing:
    items = [
        (
            one.name.value,
            f"{meaning_of_compared(one.name)} Assumes: {'; '.join(one.difference.assumptions)}.",
        )
        for one in _all(report)
    ]
    return Listing(tuple(items), "What they say")


def _gate(report: CompareReport) -> Paragraph:
    """Return what --fail-if-worse found, and how often it is wrong."""
    second = quoted(report.second.name)
    if report.worse_by:
        each = percent((1.0 - report.confidence) / 2.0)
        error = f"If it is no worse, each gated measure says otherwise with probability at most about {each}."
        worse = listed(name.value for name in report.worse_by)
        line = f"FAIL  {second} is shown to be worse by {worse}{_where(report)}."
        return paragraph(Line(line, Tone.FAIL), error)
    gated = [one for _, one in report.gated]
    judged = listed(dict.fromkeys(one.name.value for one in gated if not _blind(one)))
    blind = listed(dict.fromkeys(one.name.value for one in gated if _blind(one)))
    by = f" by {judged}" if judged else ""
    without = [f"There is no interval to judge {blind} by."] if blind else []
    return paragraph(Line(f"PASS  {second} is not shown to be worse{by}.", Tone.PASS), *without, _NO_PROOF)


def _where(report: CompareReport) -> str:
    """Return the classes in which the second is worse, where the gate looked at each."""
    keys = report.worse_classes
    if not keys:
        return ""
    more = f" and {count(len(keys) - _MOST_LISTED)} more" if len(keys) > _MOST_LISTED else ""
    shown = ", ".join(printable(key) for key in keys[:_MOST_LISTED])
    return f" in {shown}{more}"


def _blind(one: Comparison) -> bool:
    """Whether nothing was there to judge by."""
    return one.difference.interval is None and one.difference.verdict is ComparisonName.NOT_TOLD_APART
