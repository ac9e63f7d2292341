"""The page of `compare`: both values, their difference, and whether the rows tell the two apart."""

from calibcli.measures.paired import Difference
from calibcli.names import ComparisonName
from calibcli.render.blocks import Column, Grid, Line, Listing, Page, Paragraph, Tone, paragraph
from calibcli.render.pages.header import note_lines, repair_lines, source_line, table_lines
from calibcli.render.phrases import meaning_of_measure
from calibcli.render.words import four, interval_words, listed, percent, quoted
from calibcli.reports.compare import CompareReport, Comparison, Side

_DIRECTION = "Difference: second less first; below 0 the second is better."
_UNDECIDED = '"Not told apart" means that these rows do not show which is better, not that both are equal.'
_NO_PROOF = "Not shown to be worse is not shown to be no worse: few rows show little."
_NO_NUMBER = ("no interval", "no difference")


def compare_page(report: CompareReport, *, verbose: bool) -> Page:
    """Return the page of a comparison; `verbose` adds a sentence and the assumptions of every line."""
    top = paragraph(
        Line(source_line(report.input), Tone.TITLE),
        *table_lines(report.first.table),
        f"first:  {_side(report.first)}, the baseline",
        f"second: {_side(report.second)}",
        *repair_lines(report.input),
        *note_lines(report.notes),
    )
    meanings = (_meanings(report),) if verbose else ()
    gate = () if report.gate is None else (_gate(report),)
    return (top, _differences(report), _both(report), *meanings, *gate)


def _side(side: Side) -> str:
    """Return what a side is."""
    if side.artifact is None:
        return f"column {quoted(side.score)}"
    return f"column {quoted(side.score)} recalibrated by {quoted(side.artifact)}"


def _differences(report: CompareReport) -> Grid:
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
            _verdict(one, report),
        )
        for one in report.comparisons
    )
    undecided = any(one.difference.verdict is ComparisonName.NOT_TOLD_APART for one in report.comparisons)
    notes = (_DIRECTION, *((_UNDECIDED,) if undecided else ()))
    return Grid(columns, rows, tuple(Line(text, Tone.FAINT) for text in notes))


def _verdict(one: Comparison, report: CompareReport) -> str:
    """Return who is better in a sentence, or why that is not said."""
    match one.difference.verdict:
        case ComparisonName.BETTER | ComparisonName.WORSE:
            verdict = f"{quoted(report.second.name)} is {one.difference.verdict.value}"
        case ComparisonName.NOT_TOLD_APART:
            verdict = one.difference.verdict.value
    reason = _reason(one.difference)
    return verdict + (f": {reason}" if reason else "")


def _reason(difference: Difference) -> str:
    return "; ".join(text for text in difference.assumptions if text.startswith(_NO_NUMBER))


def _both(report: CompareReport) -> Grid:
    """Return the interval of each side, and how that of the difference was found."""
    columns = (Column("measure"), Column("first interval"), Column("second interval"), Column("how"))
    rows = tuple(
        (
            one.name.value,
            interval_words(one.first.interval),
            interval_words(one.second.interval),
            _how(one),
        )
        for one in report.comparisons
    )
    return Grid(columns, rows)


def _how(one: Comparison) -> str:
    """Return partitions, and method and target of the difference."""
    sides = (one.first, one.second)
    parts = list(
        dict.fromkeys(str(side.details["partition"]) for side in sides if "partition" in side.details)
    )
    interval = one.difference.interval
    if interval is None:
        return "; ".join(parts)
    sort = "finite-sample" if interval.finite_sample else "asymptotic"
    return "; ".join([*parts, interval.method, f"{interval.target.value}, {sort}"])


def _meanings(report: CompareReport) -> Listing:
    items = [
        (
            one.name.value,
            f"{meaning_of_measure(one.name)} Assumes: {'; '.join(one.difference.assumptions)}.",
        )
        for one in report.comparisons
    ]
    return Listing(tuple(items), "What they say")


def _gate(report: CompareReport) -> Paragraph:
    """Return what --fail-if-worse found, and how often it is wrong."""
    second = quoted(report.second.name)
    if report.worse_by:
        each = percent((1.0 - report.confidence) / 2.0)
        error = f"If it is no worse, each gated measure says otherwise with probability at most about {each}."
        worse = listed(name.value for name in report.worse_by)
        return paragraph(Line(f"FAIL  {second} is shown to be worse by {worse}.", Tone.FAIL), error)
    gated = [one for one in report.comparisons if one.name in (report.gate or ())]
    judged = listed(one.name.value for one in gated if not _blind(one))
    blind = listed(one.name.value for one in gated if _blind(one))
    by = f" by {judged}" if judged else ""
    without = [f"There is no interval to judge {blind} by."] if blind else []
    return paragraph(Line(f"PASS  {second} is not shown to be worse{by}.", Tone.PASS), *without, _NO_PROOF)


def _blind(one: Comparison) -> bool:
    """Whether nothing was there to judge by."""
    return one.difference.interval is None and one.difference.verdict is ComparisonName.NOT_TOLD_APART
