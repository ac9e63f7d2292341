"""From what was asked of a diagram to a figure, in a file as well where one is named."""

import io
from functools import partial

from matplotlib.figure import Figure

from calibcli.figures.drawing import figure_of
from calibcli.figures.formats import picture_format
from calibcli.figures.look import look_of
from calibcli.figures.saving import save
from calibcli.figures.sheet import Words
from calibcli.options.pictures import PictureOptions
from calibcli.outputs import new_file, refuse_existing
from calibcli.tasks.pictures.asked import refuse_axis
from calibcli.tasks.pictures.diagram import PlotRequest
from calibcli.tasks.plot import diagram_of


def drawn_figure(request: PlotRequest, look: PictureOptions, path: str | None, *, force: bool) -> Figure:
    """
    Return a diagram as a figure, and write it where a path is named.

    Raises:
        CalibcliError: For rows that cannot be drawn, or a file that cannot be written.
    """
    refuse_axis(request.kind, look.axis)
    if path is not None:
        picture_format(path)
        refuse_existing(path, force=force, inputs=[one for one in request.inputs if type(one) is str])
    diagram = diagram_of(request)
    words = Words(look.title or diagram.title, diagram.drawn.caption, diagram.drawn.foot)
    figure = figure_of(diagram.drawn.picture, words, look=look_of(look.size, look.theme), scale=look.axis)
    if path is not None:
        with new_file(path) as file:
            save(figure, file, picture_format(path))
    # A notebook asks a figure that pyplot does not know for this.
    vars(figure)["_repr_png_"] = partial(_png, figure)
    return figure


def _png(figure: Figure) -> bytes:
    content = io.BytesIO()
    save(figure, content, "png")
    return content.getvalue()
