"""The key of a picture: what its marks mean, in as many rows as the page needs."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from calibcli.figures.look import FONT, Look
from calibcli.figures.words import inches_of, printable

Entry = tuple[Line2D | Patch, str]

# In sizes of the letters.
_HANDLE, _PAD, _BETWEEN = 1.7, 0.5, 1.3


def key_rows(entries: Sequence[Entry], size: float, room: float) -> list[list[Entry]]:
    """
    Return the entries in rows.

    Args:
        entries: Each a mark and its name.

        size: Of the letters, in points.

        room: Width of a row, in inches.
    """
    rows: list[list[Entry]] = []
    used = 0.0
    for mark, name in entries:
        needed = inches_of(printable(name), size) + (_HANDLE + _PAD + _BETWEEN) * size / 72.0
        if not rows or used + needed > room:
            rows.append([])
            used = 0.0
        rows[-1].append((mark, name))
        used += needed
    return rows


def write_key(
    figure: Figure, row: Sequence[Entry], *, look: Look, size: float, place: tuple[float, float]
) -> None:
    """Write one row whose upper left corner is at a place in inches."""
    width, height = figure.get_size_inches()
    key = figure.legend(
        [mark for mark, _ in row],
        [printable(name) for _, name in row],
        loc="upper left",
        bbox_to_anchor=(place[0] / width, place[1] / height),
        ncols=len(row),
        frameon=False,
        prop=FontProperties(family=FONT, size=look.points(size)),
        labelcolor=look.palette.ink,
        borderpad=0.0,
        borderaxespad=0.0,
        handlelength=_HANDLE,
        handletextpad=_PAD,
        columnspacing=_BETWEEN,
    )
    for text in key.get_texts():
        text.set_parse_math(False)
    key.set_in_layout(False)
