"""The page of `measure --compat`: another tool's numbers beside ours, and why they differ."""

import math

from calibcli.reports.compat import CompatNumber, CompatReport, OurNumber
from calibcli.show.blocks import Cells, Column, Line, Page, Tone, grid_of, paragraph
from calibcli.show.pages import artifact_lines, note_lines, repair_lines, source_line, table_lines
from calibcli.show.words import NONE
from calibcli.stats.measures.compat import Part

_OURS = "Ours are what `measure` prints: --bins and --binning change them, never theirs."


def compat_page(report: CompatReport) -> Page:
    tool = report.peer.value
    top = paragraph(
        Line(source_line(report.input), Tone.TITLE),
        *table_lines(report.table),
        *artifact_lines(report.artifact),
        *repair_lines(report.input),
        f"theirs: what {report.package} {report.version} gives by default, computed here without it",
        *note_lines(report.notes),
    )
    cells: Cells[CompatNumber] = {
        tool: lambda one: one.name,
        Column("theirs", numeric=True): lambda one: _digits(one.value),
        Column("ours", numeric=True): lambda one: "" if one.ours is None else _digits(one.ours.value),
        "by": lambda one: "" if one.ours is None else _called(one.ours),
        "why": _why,
    }
    return (top, grid_of(report.numbers, cells, (_OURS,)))


def _why(one: CompatNumber) -> str:
    bins = f"; here {one.ours.partition}" if one.ours is not None and one.ours.partition is not None else ""
    same = "no difference in these rows: " if one.same else ""
    return f"{same}{one.why}{bins}"


def _called(ours: OurNumber) -> str:
    return ours.name.value if ours.part is Part.VALUE else f"{ours.name.value} {ours.part.value}"


def _digits(value: float | None) -> str:
    """Return six significant digits: enough to find the number in another tool's output."""
    return NONE if value is None or math.isnan(value) else f"{value:.6g}"
