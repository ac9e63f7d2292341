"""The page of `apply --out-dir`: where the rows of many files went."""

from calibcli.render.blocks import Line, Listing, Page, Tone, paragraph
from calibcli.render.pages.header import clipped_lines, note_lines, pooled_lines
from calibcli.render.words import count, listed, quoted
from calibcli.reports.apply_folder import FolderApplyReport

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
