"""What every picture must be: no text over other text, over the axes of another, or off the page."""

import io
from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text

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
    seen = [text for text in texts_of(figure) if text.get_visible() and text.get_text().strip()]
    names = [repr(text.get_text()) for text in seen]
    box, page = np.array([text.get_window_extent().extents for text in seen]), figure.bbox.padded(1.0)
    first, last = box[:, :2], box[:, 2:]
    off = ((first < page.min) | (last > page.max)).any(axis=1)
    # Pixels that two boxes share, to the right and upwards.
    both = np.minimum(last[:, None], last) - np.maximum(first[:, None], first)
    over = np.argwhere(np.triu((both > (1.0, 2.0)).all(axis=2), 1))
    return [
        *(f"{names[one]} leaves the page" for one in np.flatnonzero(off)),
        *(f"{names[one]} lies over {names[other]}" for one, other in over),
    ]
