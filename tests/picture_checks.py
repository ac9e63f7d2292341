"""What every picture must be: no text over other text, over the axes of another, or off the page."""

import io
from collections.abc import Iterator
from itertools import combinations

from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from calibcli.show.figures import save


def content(figure: Figure, picture_format: str) -> bytes:
    """Save to memory."""
    target = io.BytesIO()
    save(figure, target, picture_format)
    return target.getvalue()


def texts_of(figure: Figure) -> Iterator[Text]:
    """Return every text that is seen: of the page, of keys, of axes and their numbers."""
    yield from figure.texts
    for key in figure.legends:
        yield from key.get_texts()
    for axes in figure.axes:
        yield from axes.texts
        for axis in (axes.xaxis, axes.yaxis):
            yield axis.label
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if low <= tick.get_loc() <= high:
                    yield from (one for one in (tick.label1, tick.label2) if one.get_visible())


def clashes(figure: Figure) -> list[str]:
    """Return texts that lie over each other or off the page, in words; lays the figure out first."""
    figure.draw_without_rendering()
    boxes: list[tuple[str, Bbox]] = [
        (text.get_text(), text.get_window_extent())
        for text in texts_of(figure)
        if text.get_visible() and text.get_text().strip()
    ]
    page = figure.bbox.padded(1.0)
    found = [
        f"{name!r} leaves the page"
        for name, box in boxes
        if not (page.contains(box.x0, box.y0) and page.contains(box.x1, box.y1))
    ]
    for (name, box), (other, below) in combinations(boxes, 2):
        both = Bbox.intersection(box, below)
        if both is not None and both.width > 1.0 and both.height > 2.0:
            found.append(f"{name!r} lies over {other!r}")
    return found
