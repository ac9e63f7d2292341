"""The page of `apply`: where the rows went and what was added to them."""

from calibcli.reports.apply import ApplyReport, ClassApplyReport, FolderApplyReport
from calibcli.show.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.show.pages.header import clipped_lines, file_words, note_lines, pooled_lines
from calibcli.show.words import between, count, four, listed, plural, quoted


def apply_page(report: ApplyReport) -> Page:
    """Return the summary of an application."""
    where = "standard output" if report.output == "-" else quoted(report.output)
    facts = [
        ("from", f"{file_words(report.files)}  score={quoted(report.score)}"),
        ("rows", f"{count(report.rows)}, as many as were read"),
    ]
    if report.lowest is not None and report.highest is not None:
        facts.append(("values", between(report.lowest, report.highest)))
    if report.prior is not None:
        rates = f"from {four(report.fitted_rate)} in the fit rows to {four(report.prior)}"
        facts.append(("base rate", f"{rates}; scores given the label are taken to be distributed as there"))
    notes = [*clipped_lines(report.clipped), *pooled_lines(report), *note_lines(report.notes)]
    title = paragraph(Line(f"added {_column_words(report)}, written to {where}", Tone.TITLE))
    return (title, Listing(tuple(facts)), *([paragraph(*notes)] if notes else []))


def _column_words(report: ApplyReport) -> str:
    if not report.ends:
        return f"column {quoted(report.column)}"
    return f"columns {listed([quoted(name) for name in (report.column, *report.ends)])}"


_MOST_COLUMNS = 6


def apply_classes_page(report: ClassApplyReport) -> Page:
    """Return the summary of an application to several classes."""
    where = "standard output" if report.output == "-" else quoted(report.output)
    facts = [
        ("from", f"{file_words(report.files)}  probs={quoted(report.probs)}"),
        ("rows", f"{count(report.rows)} of {count(len(report.classes))} classes, as many as were read"),
        ("prediction", _prediction(report)),
    ]
    notes = [*clipped_lines(report.clipped), *_repairs(report), *note_lines(report.notes)]
    title = paragraph(Line(f"added {_class_column_words(report.columns)}, written to {where}", Tone.TITLE))
    return (title, Listing(tuple(facts)), *([paragraph(*notes)] if notes else []))


def _prediction(report: ClassApplyReport) -> str:
    if report.keeps_prediction:
        return f"the same as before: {report.method.value} keeps the predicted class of every row"
    return (
        f"{plural(report.changed, 'row')} {'has' if report.changed == 1 else 'have'} another predicted class"
    )


def _repairs(report: ClassApplyReport) -> list[Line]:
    lines = []
    if report.normalised:
        rows = f"{plural(report.normalised, 'row')} divided by the sum of its probabilities"
        lines.append(Line(f"{rows} (--on-sum normalise).", Tone.NOTE))
    if report.tied:
        rows = plural(report.tied, "row")
        lines.append(Line(f"In {rows} several classes were the most probable; the first counts.", Tone.NOTE))
    return lines


def _class_column_words(columns: tuple[str, ...]) -> str:
    names = [quoted(name) for name in columns]
    if len(names) <= _MOST_COLUMNS:
        return f"columns {listed(names)}"
    return f"{count(len(names))} columns, {', '.join(names[:2])} ... {listed(names[-2:])}"


_MOST_NAMES = 6


def apply_folder_page(report: FolderApplyReport) -> Page:
    """Return the summary of an application to many files."""
    files = f"{count(len(report.parts))} file{'s' * (len(report.parts) != 1)}"
    names = [quoted(name) for name in report.columns]
    columns = listed(names) if len(names) <= _MOST_NAMES else f"{count(len(names))} columns"
    facts = [("rows", f"{count(report.rows)}, as many as were read")] if report.parts else []
    if report.skipped:
        facts.append(("skipped", f"{count(len(report.skipped))} whose outputs were there already"))
    done = f"added {columns} to {files}" if report.parts else "nothing left to do"
    title = paragraph(Line(f"{done}, written below {quoted(report.folder)}", Tone.TITLE))
    notes = [*clipped_lines(report.clipped), *pooled_lines(report), *note_lines(report.notes)]
    return (title, Listing(tuple(facts)), *([paragraph(*notes)] if notes else []))
