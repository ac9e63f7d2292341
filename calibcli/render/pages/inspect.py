"""The page of `inspect`: what a file is, what it holds and what to type next."""

from calibcli.render.blocks import Block, Column, Grid, Line, Listing, Page, Tone, paragraph
from calibcli.render.words import quoted
from calibcli.reports.inspect import InspectReport


def inspect_page(report: InspectReport) -> Page:
    """Return facts, then columns, then the suggestion."""
    title = f"{quoted(report.path)}  {report.kind}" if report.path else report.kind
    blocks: list[Block] = [paragraph(Line(title, Tone.TITLE))]
    if report.facts:
        blocks.append(Listing(report.facts))
    if report.columns:
        columns = (Column("column"), Column("type"), Column("taken for"))
        rows = tuple((one.name, one.kind, one.role) for one in report.columns)
        blocks.append(Grid(columns, rows))
    if report.suggestion is not None:
        blocks.append(Listing((("next", report.suggestion),)))
    return tuple(blocks)
