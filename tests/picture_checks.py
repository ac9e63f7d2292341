"""What every picture must be: no text over other text, over the axes of another, or off the page."""

import io
from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text

from calibcli.names import Binning
from calibcli.show.figures import save
from calibcli.stats.curves.reliability import BinnedCurve, binned_curve
from calibcli.stats.table import ScoreTable, Weighing
from calibcli.stats.table.bins import ATOMS, bins_of, looks_discrete


def rows_of(
    score: np.ndarray, chance: np.ndarray | float, *, counts: int | None = None, weighted: bool = False
) -> ScoreTable:
    """Draw labels with a fixed seed."""
    rng = np.random.default_rng(1)
    chance = np.broadcast_to(chance, score.shape)
    if counts is not None:
        return ScoreTable(score, np.full(score.size, counts), rng.binomial(counts, chance))
    weight = 1.0 + score if weighted else None
    return ScoreTable.from_rows(score, rng.random(score.size) < chance, Weighing(weight=weight))


def spread(rows: int, first: float = 0.0, last: float = 1.0) -> np.ndarray:
    """Evenly spread scores."""
    return np.linspace(first, last, rows)


# What tables a picture must bear.
SHAPES = {
    "fifty rows": rows_of(spread(50), spread(50) ** 1.5),
    "one row": rows_of(np.array([0.3]), 0.5),
    "rows at 0 only": rows_of(np.zeros(30), 0.0),
    "fifty million rows": rows_of(spread(101), 0.9 * spread(101), counts=500_000),
    "rare events": rows_of(spread(2_000, last=0.01), 2.0 * spread(2_000, last=0.01)),
    "ten scores": rows_of(np.repeat(np.arange(10) / 10, 40), np.repeat(np.arange(10) / 12, 40)),
    "saturated": rows_of(1.0 - spread(400) ** 8 / 50.0, 0.9),
    "one class only": rows_of(spread(60), 1.0),
    "weighted": rows_of(spread(80), spread(80), weighted=True),
    "one score": rows_of(np.full(100, 0.6), 0.5),
    "rare scores, frequent events": rows_of(spread(500, last=0.01), 0.4),
    "two clusters": rows_of(np.repeat([0.05, 0.95], 50), np.repeat([0.1, 0.8], 50)),
}


def in_bins(table: ScoreTable) -> BinnedCurve:
    """Return rates over fifteen bins, or at each value of few."""
    bins = ATOMS if looks_discrete(table) else bins_of(Binning.EQUAL_WIDTH, 15, table=table)
    return binned_curve(table, bins=bins)


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
