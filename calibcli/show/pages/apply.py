"""The page of `apply`: where the rows went and what was added to them."""

from collections.abc import Sequence

from calibcli.reports.input import pooled_words
from calibcli.reports.maps import ApplyReport, ClassesApplied, FolderApplyReport
from calibcli.show.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.show.pages import clipped_lines, file_words, note_lines
from calibcli.show.words import between, count, four, listed, plural, quoted

# Of so many columns and files it is said why rows have no probability.
_MOST_GAPS = 20
# More new columns than these are not all named.
_MOST_NAMES = 6


def apply_page(report: ApplyReport, *, verbose: bool) -> Page:  # noqa: ARG001 - as every page
    where = "standard output" if report.output == "-" else quoted(report.output)
    classes = report.classes
    what, of = ("score", "") if classes is None else ("probs", f" of {count(len(classes.names))} classes")
    facts = [
        ("from", f"{file_words(report.files)}  {what}={quoted(report.score)}"),
        ("rows", f"{count(report.rows)}{of}, as many as were read"),
    ]
    if report.lowest is not None and report.highest is not None:
        facts.append(("values", between(report.lowest, report.highest)))
    if report.prior is not None:
        rates = f"from {four(report.fitted_rate)} in the fit rows to {four(report.prior)}"
        facts.append(
            ("base rate", f"{rates}; assumes that the scores of each label are distributed as there")
        )
    if classes is not None:
        facts.append(("prediction", _prediction(classes)))
    repairs = [] if classes is None else _repairs(classes)
    title = f"added {_column_words(report.columns)}, written to {where}"
    return _page(title, facts, report, report.gaps, repairs)


def _page(
    title: str,
    facts: Sequence[tuple[str, str]],
    report: ApplyReport | FolderApplyReport,
    gaps: Sequence[str],
    repairs: Sequence[Line] = (),
) -> Page:
    pooled = (pooled_words(report.pooled_rows, report.pooled_groups),) if report.pooled_rows else ()
    notes = [
        *_without_probability(report.without_score, gaps),
        *clipped_lines(report.clipped),
        *note_lines(pooled),
        *repairs,
        *note_lines(report.notes),
    ]
    top = paragraph(Line(title, Tone.TITLE))
    return (top, Listing(tuple(facts)), *([paragraph(*notes)] if notes else []))


def _without_probability(rows: int, gaps: Sequence[str]) -> list[Line]:
    if not rows:
        return []
    said = f"{plural(rows, 'row')} got no probability, as requested:"
    return [Line(said, Tone.NOTE), *(Line(f"  {one}", Tone.NOTE) for one in gaps)]


def _gaps_by_file(report: FolderApplyReport) -> list[str]:
    """Return what keeps rows from having a probability, file by file."""
    found = [f"{quoted(part.files[0])}, {gap}" for part in report.parts for gap in part.gaps]
    more = len(found) - _MOST_GAPS
    return [*found[:_MOST_GAPS], *([f"and {plural(more, 'more column')} of files"] if more > 0 else [])]


def _column_words(columns: tuple[str, ...]) -> str:
    names = [quoted(name) for name in columns]
    if len(names) <= _MOST_NAMES:
        return f"column{'s' * (len(names) != 1)} {listed(names)}"
    return f"{count(len(names))} columns, {', '.join(names[:2])} ... {listed(names[-2:])}"


def _prediction(classes: ClassesApplied) -> str:
    if classes.keeps_prediction:
        return f"the same as before: {classes.method.value} keeps the predicted class of every row"
    has = "has" if classes.changed == 1 else "have"
    return f"{plural(classes.changed, 'row')} {has} another predicted class"


def _repairs(classes: ClassesApplied) -> list[Line]:
    lines = []
    if classes.normalised:
        rows = f"{plural(classes.normalised, 'row')} divided by the sum of its probabilities"
        lines.append(Line(f"{rows} (--on-sum normalise).", Tone.NOTE))
    if classes.tied:
        rows = plural(classes.tied, "row")
        lines.append(Line(f"In {rows} several classes were the most probable; the first counts.", Tone.NOTE))
    return lines


def apply_folder_page(report: FolderApplyReport, *, verbose: bool) -> Page:  # noqa: ARG001 - as every page
    names = [quoted(name) for name in report.columns]
    columns = listed(names) if len(names) <= _MOST_NAMES else f"{count(len(names))} columns"
    facts = [("rows", f"{count(report.rows)}, as many as were read")] if report.parts else []
    if report.skipped:
        facts.append(("skipped", f"{count(len(report.skipped))} whose outputs were there already"))
    below = f"below {quoted(report.folder)}"
    files = plural(len(report.parts), "file")
    title = f"added {columns} to {files}, written {below}" if report.parts else f"nothing left to do {below}"
    return _page(title, facts, report, _gaps_by_file(report))
