"""The page of `apply` of several classes: where the rows went and what became of their predictions."""

from calibcli.render.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.render.pages.header import clipped_lines, file_words, note_lines
from calibcli.render.words import count, listed, plural, quoted
from calibcli.reports.apply_classes import ClassApplyReport

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
    title = paragraph(Line(f"added {_column_words(report.columns)}, written to {where}", Tone.TITLE))
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


def _column_words(columns: tuple[str, ...]) -> str:
    names = [quoted(name) for name in columns]
    if len(names) <= _MOST_COLUMNS:
        return f"columns {listed(names)}"
    return f"{count(len(names))} columns, {', '.join(names[:2])} ... {listed(names[-2:])}"
