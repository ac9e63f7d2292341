"""The page a diagram stands on: sizes in inches, colours, and text that cannot be misread as a formula."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator

FONT = "DejaVu Sans"
# Colours of Okabe & Ito, told apart by colour-blind readers and in grey.
INK = "#1a1a1a"
FAINT = "#6b6b6b"
LINE = "#b5b5b5"
TOO_LOW = "#56B4E9"
TOO_HIGH = "#E69F00"
ROWS = "#8d9db0"

WIDTH = 6.0
_LEFT, _SIDE = 0.80, 5.0
_PANEL, _GAP, _AXIS_TEXT = 0.78, 0.10, 0.54
_TITLE, _HEADLINE, _LINE, _KEY, _FOOT, _EDGE = 0.25, 0.25, 0.19, 0.28, 0.145, 0.12
_LINE_LETTERS, _FOOT_LETTERS = 92, 104


@dataclass(frozen=True, slots=True)
class Page:
    """
    A figure with its two axes.

    Args:
        figure: The figure.

        main: Observed rate against score.

        rows: Below it, where the scores lie.
    """

    figure: Figure
    main: Axes
    rows: Axes


def new_page(title: str, caption: Sequence[str], *, foot: Sequence[str]) -> Page:
    """
    Lay out a page with all its text outside the axes.

    Args:
        title: Shortened in the middle where it is too long.

        caption: The first line is set larger: it is what the picture shows.

        foot: Small print, wrapped.
    """
    head = [part for line in caption for part in textwrap.wrap(_printable(line), _LINE_LETTERS) or [""]]
    small = [part for line in foot for part in textwrap.wrap(_printable(line), _FOOT_LETTERS)]
    below = _EDGE + _FOOT * len(small) + _AXIS_TEXT + _PANEL + _GAP
    above = _KEY + _LINE * max(len(head) - 1, 0) + _HEADLINE * bool(head) + _TITLE + _EDGE
    height = below + _SIDE + above
    figure = Figure(figsize=(WIDTH, height), dpi=150, facecolor="white")
    figure.set_layout_engine("none")
    figure.set_label(_printable(title))
    y = height - _EDGE
    _write_title(figure, _printable(title), y)
    y -= _TITLE
    for index, line in enumerate(head):
        size, colour = (10.0, INK) if index == 0 else (8.5, FAINT)
        write(figure, (_EDGE, y), line, size=size, colour=colour)
        y -= _HEADLINE if index == 0 else _LINE
    for index, line in enumerate(reversed(small)):
        write(figure, (_EDGE, _EDGE + _FOOT * (index + 1)), line, size=7.0, colour=FAINT)
    main = figure.add_axes((_LEFT / WIDTH, below / height, _SIDE / WIDTH, _SIDE / height))
    bottom = below - _GAP - _PANEL
    rows = figure.add_axes((_LEFT / WIDTH, bottom / height, _SIDE / WIDTH, _PANEL / height), sharex=main)
    return Page(figure, main, rows)


def write(
    figure: Figure,
    place: tuple[float, float],
    text: str,
    *,
    size: float,
    colour: str = INK,
    weight: str = "normal",
) -> Text:
    """Write a line of text whose upper left corner is at a place in inches; dollar signs are kept."""
    width, height = figure.get_size_inches()
    return figure.text(
        place[0] / width,
        place[1] / height,
        text,
        family=FONT,
        fontsize=size,
        color=colour,
        fontweight=weight,
        va="top",
        ha="left",
        parse_math=False,
        usetex=False,
    )


def _write_title(figure: Figure, title: str, y: float) -> None:
    """Write as much of a title as fits in one line."""
    text = write(figure, (_EDGE, y), title, size=11.5, weight="bold")
    room = (WIDTH - 2.0 * _EDGE) * figure.dpi
    letters = len(title)
    while letters > 1 and (width := text.get_window_extent().width) > room:
        letters = max(1, min(letters - 1, int(letters * room / width)))
        text.set_text(shortened(title, letters))


def dress(axes: Axes, *, x_label: str | None, y_label: str) -> None:
    """Give axes the house's spines, ticks and labels, whatever the user's matplotlibrc says."""
    axes.set_facecolor("white")
    axes.grid(visible=False)
    axes.minorticks_off()
    for side, spine in axes.spines.items():
        spine.set(visible=side in {"left", "bottom"}, color=FAINT, linewidth=0.7)
    axes.tick_params(
        which="both",
        direction="out",
        length=3.0,
        width=0.7,
        color=FAINT,
        labelcolor=INK,
        labelsize=8.5,
        labelfontfamily=FONT,
        top=False,
        right=False,
        labelbottom=x_label is not None,
    )
    for axis, label in ((axes.xaxis, x_label), (axes.yaxis, y_label)):
        axis.set_label_text(label or "", family=FONT, fontsize=9.5, color=INK, parse_math=False)
    axes.yaxis.set_label_coords(-0.115, 0.5)


def number_ticks(axes: Axes) -> None:
    """Put at most six round numbers on both axes, written without offset or exponent where possible."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{round(value, 12) + 0.0:.6g}"))


def small_font(size: float) -> FontProperties:
    """Return the house's font at a size."""
    return FontProperties(family=FONT, size=size)


def shortened(text: str, letters: int) -> str:
    """Return a text cut in the middle, where paths and column names say least."""
    if len(text) <= letters:
        return text
    head = (letters - 1) // 2
    return f"{text[:head]}…{text[head + 1 - letters :]}"


def _printable(text: str) -> str:
    """Replace what the font cannot draw by a box, and white space by blanks."""
    font = get_font(findfont(FontProperties(family=FONT)))
    blank = "".join(" " if letter.isspace() else letter for letter in text)
    return "".join(letter if font.get_char_index(ord(letter)) else "□" for letter in blank)
