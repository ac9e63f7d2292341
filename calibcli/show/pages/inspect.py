"""The page of `inspect`: what a file is, what it holds and what to type next."""

from operator import attrgetter

from calibcli.reports.maps import InspectReport
from calibcli.show.blocks import Block, Line, Listing, Page, Tone, grid_of, paragraph
from calibcli.show.words import plural, quoted

# A table takes much longer to lay out than to read; those that have a role are always among them.
_MOST_LISTED = 1_000


def inspect_page(report: InspectReport, *, verbose: bool) -> Page:  # noqa: ARG001 - as every page
    title = f"{quoted(report.path)}  {report.kind}" if report.path else report.kind
    blocks: list[Block] = [paragraph(Line(title, Tone.TITLE))]
    if report.facts:
        blocks.append(Listing(report.facts))
    if report.columns:
        shown = [one for k, one in enumerate(report.columns) if k < _MOST_LISTED or one.role]
        more = len(report.columns) - len(shown)
        notes = (Line(f"{plural(more, 'more column')}; --json lists all."),) if more else ()
        names = {"column": "name", "type": "kind", "taken for": "role"}
        blocks.append(grid_of(shown, {title: attrgetter(name) for title, name in names.items()}, notes))
    if report.suggestion is not None:
        blocks.append(Listing((("next", report.suggestion),)))
    return tuple(blocks)
