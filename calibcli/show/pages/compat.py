"""The page of `measure --compat`: another tool's numbers beside ours, and why they differ."""

import math

from calibcli.reports.compat import CompatNumber, CompatReport, OurNumber
from calibcli.show.blocks import Column, Grid, Line, Page, Tone, paragraph
from calibcli.show.pages.header import artifact_lines, note_lines, repair_lines, source_line, table_lines
from calibcli.show.words import NONE
from calibcli.stats.measures.compat import Part

_OURS = "Ours are what `measure` prints: --bins and --binning change them, never theirs."


def compat_page(report: CompatReport, *, verbose: bool) -> Page:  # noqa: ARG001 - as every page
    """Return the page of a comparison with another tool."""
    tool = report.peer.value
    top = paragraph(
        Line(source_line(report.input), Tone.TITLE),
        *table_lines(report.table),
        *artifact_lines(report.artifact),
        *repair_lines(report.input),
        f"theirs: what {report.package} {report.version} gives by default, computed here without it",
        *note_lines(report.notes),
    )
    columns = (
        Column(tool),
        Column("theirs", numeric=True),
        Column("ours", numeric=True),
        Column("by"),
        Column("why"),
    )
    rows = tuple(_row(one) for one in report.numbers)
    return (top, Grid(columns, rows, (Line(_OURS, Tone.FAINT),)))


def _row(one: CompatNumber) -> tuple[str, ...]:
    ours = one.ours
    bins = f"; here {ours.partition}" if ours is not None and ours.partition is not None else ""
    same = "no difference in these rows: " if one.same else ""
    return (
        one.name,
        _digits(one.value),
        "" if ours is None else _digits(ours.value),
        "" if ours is None else _called(ours),
        f"{same}{one.why}{bins}",
    )


def _called(ours: OurNumber) -> str:
    return ours.name.value if ours.part is Part.VALUE else f"{ours.name.value} {ours.part.value}"


def _digits(value: float | None) -> str:
    """Return six significant digits: enough to find the number in another tool's output."""
    return NONE if value is None or math.isnan(value) else f"{value:.6g}"
