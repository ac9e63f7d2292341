"""From what was asked of a diagram to a figure, in a file as well where one is named."""

import io
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure

from calibcli.figures.drawing import figure_of
from calibcli.figures.formats import picture_format
from calibcli.figures.look import look_of
from calibcli.figures.saving import save
from calibcli.figures.sheet import Words
from calibcli.outputs import new_file, refuse_existing
from calibcli.picture_names import AxisScale, FigureSize, Theme
from calibcli.tasks.pictures.asked import refuse_axis
from calibcli.tasks.pictures.diagram import PlotRequest
from calibcli.tasks.plot import diagram_of


@dataclass(frozen=True, slots=True)
class PictureAsk:
    """
    How a picture is to look, and where it goes.

    Args:
        path: A file to write, or None.

        size: What it is to fit.

        theme: Its ground.

        axis: How axes of scores are laid out.

        title: Its title, or None for the default.

        force: Whether an existing file may be replaced.
    """

    path: str | None
    size: FigureSize
    theme: Theme
    axis: AxisScale
    title: str | None
    force: bool


def drawn_figure(request: PlotRequest, ask: PictureAsk) -> Figure:
    """
    Return a diagram as a figure.

    Args:
        request: What was asked of the diagram.

        ask: How it is to look.

    Raises:
        CalibcliError: For rows that cannot be drawn, or a file that cannot be written.
    """
    refuse_axis(request.kind, ask.axis)
    if ask.path is not None:
        picture_format(ask.path)
        refuse_existing(ask.path, force=ask.force, inputs=[one for one in request.inputs if type(one) is str])
    diagram = diagram_of(request)
    words = Words(ask.title or diagram.title, diagram.drawn.caption, diagram.drawn.foot)
    figure = figure_of(diagram.drawn.picture, words, look=look_of(ask.size, ask.theme), scale=ask.axis)
    if ask.path is not None:
        with new_file(ask.path) as file:
            save(figure, file, picture_format(ask.path))
    # A notebook asks a figure that pyplot does not know for this.
    vars(figure)["_repr_png_"] = partial(_png, figure)
    return figure


def _png(figure: Figure) -> bytes:
    content = io.BytesIO()
    save(figure, content, "png")
    return content.getvalue()
