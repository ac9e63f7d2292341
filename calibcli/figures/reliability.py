"""Reliability diagrams: a page with the measured error on it, and files that are the same every time."""

import threading
from collections.abc import Sequence
from typing import Any, BinaryIO

import matplotlib as mpl
from matplotlib.figure import Figure

from calibcli.curves.reliability import ReliabilityCurve, SmoothCurve
from calibcli.errors import UsageProblem
from calibcli.figures.binned import binned_limits, binned_notes, draw_binned
from calibcli.figures.error_area import draw_diagonal
from calibcli.figures.limits import Limits, with_margin
from calibcli.figures.page import Page, dress, new_page, number_ticks
from calibcli.figures.smooth import draw_smooth, smooth_limits, smooth_notes
from calibcli.names import PlotKind

_PIXELS_PER_INCH = 150
# What only matplotlib's global settings can say; they are in force under the lock alone.
_SETTINGS: dict[Any, Any] = {
    "savefig.bbox": None,
    "svg.hashsalt": "calibcli",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "pdf.compression": 6,
}
_NO_TRACES: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_one_at_a_time = threading.Lock()


def reliability_figure(
    curve: ReliabilityCurve, *, title: str, caption: Sequence[str] = (), kind: PlotKind | None = None
) -> Figure:
    """
    Draw a reliability diagram.

    Args:
        curve: The points, with bins and, for the smooth kind, the curve without them.

        title: What was measured, such as file and column.

        caption: The measured error with its interval first, then further lines such as the number of rows.

        kind: Which diagram, or None for the one that the curve is meant for.

    Raises:
        UsageProblem: If a smooth diagram is asked of a curve that has bins only.
    """
    match kind or curve.kind:
        case PlotKind.SMOOTH:
            smooth = _smooth_of(curve)
            limits = smooth_limits(smooth)
            page = new_page(title, caption, foot=[*smooth_notes(smooth), limits.sentence])
            draw_smooth(page, smooth, limits=limits, confidence=curve.confidence)
            label = "density"
        case PlotKind.BINNED:
            limits = binned_limits(curve.binned)
            page = new_page(title, caption, foot=[*binned_notes(curve.binned), limits.sentence])
            draw_binned(page, curve.binned, limits=limits, confidence=curve.confidence)
            label = "rows"
    _finish(page, limits, rows_label=label)
    return page.figure


def save(figure: Figure, target: BinaryIO, picture_format: str) -> None:
    """
    Write a figure; the same figure gives the same bytes on one machine.

    Args:
        figure: What `reliability_figure` returned.

        target: A binary file.

        picture_format: One of `calibcli.figures.formats.FORMATS`.
    """
    metadata: dict[str, str | None] = {"Title": str(figure.get_label()), **_NO_TRACES[picture_format]}
    with _one_at_a_time, mpl.rc_context(_SETTINGS):
        figure.savefig(
            target,
            format=picture_format,
            dpi=_PIXELS_PER_INCH,
            facecolor="white",
            edgecolor="none",
            transparent=False,
            metadata=metadata,
        )


def _smooth_of(curve: ReliabilityCurve) -> SmoothCurve:
    if curve.smooth is None:
        msg = "there is no smooth curve to draw"
        raise UsageProblem(msg, "pass --kind binned")
    return curve.smooth


def _finish(page: Page, limits: Limits, *, rows_label: str) -> None:
    """Draw the diagonal, and dress both axes."""
    draw_diagonal(page.main)
    dress(page.main, x_label=None, y_label="observed rate of label 1")
    dress(page.rows, x_label="score (predicted probability)", y_label=rows_label)
    number_ticks(page.main)
    page.main.set_xlim(with_margin(limits.x))
    page.main.set_ylim(with_margin(limits.y))
