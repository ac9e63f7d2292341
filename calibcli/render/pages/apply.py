"""The page of `apply`: where the rows went and what was added to them."""

from calibcli.render.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.render.pages.header import clipped_lines, file_words, note_lines, pooled_lines
from calibcli.render.words import between, count, four, listed, quoted
from calibcli.reports.apply import ApplyReport


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
