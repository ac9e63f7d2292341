"""From what was computed to the figure that shows it, which its kind names."""

from importlib import import_module

from matplotlib.figure import Figure

from calibcli.names import AxisScale
from calibcli.show.figures.look import Look, look_of
from calibcli.show.figures.page import Words
from calibcli.stats.curves import Picture


def figure_of(
    picture: Picture, words: Words, *, look: Look | None = None, scale: AxisScale = AxisScale.LINEAR
) -> Figure:
    """Draw a picture."""
    facts = picture.kind.facts
    module, _, name = facts.figure.partition(".")
    draw = getattr(import_module(f"calibcli.show.figures.{module}"), name)
    by_scale = {"scale": scale} if facts.logit else {}
    found: Figure = draw(picture, words, look=look or look_of(), **by_scale)
    return found
