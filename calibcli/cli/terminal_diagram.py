"""`plot --terminal`: a diagram in letters, on standard output."""

import shutil
from typing import TYPE_CHECKING

from calibcli.cli.output import screen_for, write
from calibcli.errors import UsageProblem
from calibcli.names import ColorWhen
from calibcli.outputs import STDOUT
from calibcli.picture_names import AxisScale, PlotKind

if TYPE_CHECKING:
    from calibcli.tasks.pictures.diagram import Diagram

_WIDTH = 80
_INSTEAD = "draw it into a file with -o, or leave out --kind"


def refuse_kind(kind: PlotKind | None) -> None:
    """
    Refuse a diagram that has no form in letters, before anything is read.

    Raises:
        UsageProblem: If it is none of the reliability diagrams.
    """
    if kind not in (None, PlotKind.SMOOTH, PlotKind.BINNED):
        msg = f"--terminal draws a reliability diagram, and --kind {kind} is another"
        raise UsageProblem(msg, _INSTEAD)


def show(diagram: "Diagram", *, title: str | None, scale: AxisScale, color: ColorWhen) -> None:
    """
    Write a reliability diagram to standard output, as wide as the terminal, or 80 columns without one.

    Args:
        diagram: What was computed.

        title: Instead of files and column, or None.

        scale: How both axes are laid out.

        color: When to use colour.

    Raises:
        UsageProblem: If it is another diagram.
    """
    from calibcli.curves.reliability import ReliabilityCurve
    from calibcli.render.reliability import Said, reliability_text

    drawn = diagram.drawn
    if not isinstance(drawn.picture, ReliabilityCurve):
        msg = "--terminal draws one reliability diagram, and this is another"
        raise UsageProblem(msg, "name one score, or draw it into a file with -o")
    screen = screen_for(STDOUT, color=color)
    text = reliability_text(
        drawn.picture,
        Said(title or diagram.title, drawn.caption, drawn.foot),
        width=shutil.get_terminal_size((_WIDTH, 0)).columns,
        color=screen.color,
        unicode=screen.unicode,
        scale=scale,
    )
    write(text, STDOUT)
