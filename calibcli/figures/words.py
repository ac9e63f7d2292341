"""Text as wide as it is drawn: measured, wrapped, shortened, and with nothing that a font cannot draw."""

from functools import cache
from typing import Any

from matplotlib import ft2font
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import FT2Font

from calibcli.figures.look import FONT

# Letters are fitted to pixels, so they are measured as pictures of pixels have them.
_PIXELS_PER_INCH = 150.0
_UNITS_PER_PIXEL = 64.0
# Hinted as text is drawn. matplotlib 3.9 takes the number itself.
_AS_DRAWN: Any = ft2font.LoadFlags.DEFAULT if hasattr(ft2font, "LoadFlags") else 0


def printable(text: str) -> str:
    """Return a text that can be drawn: blanks for white space, escapes for what is unseen, else boxes."""
    return "".join(_drawable(letter) for letter in text)


def inches_of(text: str, size: float, *, weight: str = "normal") -> float:
    """Return how wide a line is drawn, in inches, in letters of a size in points."""
    font = _font(weight)
    font.set_size(size, _PIXELS_PER_INCH)
    font.set_text(text, 0.0, flags=_AS_DRAWN)
    return float(font.get_width_height()[0]) / _UNITS_PER_PIXEL / _PIXELS_PER_INCH


def wrapped(text: str, size: float, room: float) -> list[str]:
    """Return the lines of a text that fit into a room in inches; a word that does not is cut."""
    lines: list[str] = []
    line = ""
    for word in printable(text).split():
        rest = word
        longer = f"{line} {rest}" if line else rest
        if inches_of(longer, size) <= room:
            line = longer
            continue
        if line:
            lines.append(line)
        while (fits := _fitting(rest, size, room)) < len(rest):
            lines.append(rest[:fits])
            rest = rest[fits:]
        line = rest
    return [*lines, line] if line else lines


def fitted(text: str, size: float, room: float, *, weight: str = "normal") -> str:
    """Return as much of a text as fits into one line, cut in the middle."""
    shown = whole = printable(text)
    letters = len(whole)
    while letters > 1 and (width := inches_of(shown, size, weight=weight)) > room:
        letters = max(1, min(letters - 1, int(letters * room / width)))
        shown = shortened(whole, letters)
    return shown


def shortened(text: str, letters: int) -> str:
    """Return a text cut in the middle, where paths and column names say least."""
    if len(text) <= letters:
        return text
    head = (letters - 1) // 2
    return f"{text[:head]}…{text[head + 1 - letters :]}"


def _drawable(letter: str) -> str:
    if letter.isspace():
        return " "
    if not letter.isprintable():
        return letter.encode("unicode_escape").decode("ascii")
    return letter if _font("normal").get_char_index(ord(letter)) else "□"


def _fitting(text: str, size: float, room: float) -> int:
    """Return how many letters fit, at least one."""
    letters = len(text)
    while letters > 1 and (width := inches_of(text[:letters], size)) > room:
        letters = max(1, min(letters - 1, int(letters * room / width)))
    return letters


@cache
def _path(weight: str) -> str:
    return str(findfont(FontProperties(family=FONT, weight=weight)))


def _font(weight: str) -> FT2Font:
    return get_font(_path(weight))
