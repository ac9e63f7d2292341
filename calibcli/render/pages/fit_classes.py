"""The page of `fit` of several classes: what was fitted, on what, and what it did."""

from calibcli.render.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.render.pages.header import loss_words, note_lines, repair_lines, source_line
from calibcli.render.words import count, four, plural, quoted
from calibcli.reports.fit_classes import ClassFitReport


def fit_classes_page(report: ClassFitReport) -> Page:
    """Return the summary of a fit of several classes."""
    where = "standard output" if report.output is None else quoted(report.output)
    method = report.method.value if report.inner is None else f"{report.method.value} of {report.inner}"
    facts = (
        ("from", source_line(report.input)),
        ("rows", f"{count(report.rows)} of {count(len(report.classes))} classes"),
        ("loss", loss_words("log loss", report.loss_before, report.loss_after)),
        ("accuracy", f"{four(report.accuracy_before)} before, {four(report.accuracy_after)} after"),
        ("prediction", _prediction(report)),
    )
    notes = [*repair_lines(report.input), *note_lines(report.notes)]
    title = paragraph(Line(f"fitted {method}, written to {where}", Tone.TITLE))
    return (title, Listing(facts), *([paragraph(*notes)] if notes else []))


def _prediction(report: ClassFitReport) -> str:
    if report.keeps_prediction:
        return "no row can change its predicted class"
    rows = plural(report.changed, "fit row")
    return f"{rows} {'has' if report.changed == 1 else 'have'} another predicted class than before"
