"""The page of `fit`: what was fitted, on what, and what it did."""

from calibcli.render.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.render.pages.header import loss_words, note_lines, repair_lines, source_line
from calibcli.render.words import count, plural, quoted, share
from calibcli.reports.fit import FitReport


def fit_page(report: FitReport) -> Page:
    """Return the summary of a fit."""
    where = "standard output" if report.output is None else quoted(report.output)
    positive = f"{count(report.positive)} positive ({share(report.positive, report.rows)})"
    outputs = "a continuum" if report.outputs is None else plural(report.outputs, "distinct value")
    facts = (
        ("from", source_line(report.input)),
        ("rows", f"{count(report.rows)}, {positive}"),
        ("loss", loss_words(report.loss, report.loss_before, report.loss_after)),
        ("outputs", outputs),
    )
    notes = [*repair_lines(report.input), *note_lines(report.notes)]
    title = paragraph(Line(f"fitted {report.method.value}, written to {where}", Tone.TITLE))
    return (title, Listing(facts), *([paragraph(*notes)] if notes else []))
