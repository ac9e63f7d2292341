"""The page a picture stands on: where text, key and axes go, so that none lies over another."""

import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate, takewhile
from typing import Any

from matplotlib import ft2font
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import FT2Font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from calibcli.show.figures.look import FONT, Look
from calibcli.stats.curves.limits import Limits
from calibcli.values import dataclass, replace

# Inches on a page of scale 1.
_HEADING = 0.24


# The name of an event takes so many letters of that of an axis.
_MOST_EVENT = 28


@dataclass(frozen=True, slots=True)
class Words:
    """The text of a picture.

    Args:
        title: Over a few lines where it is long, and of more shortened in the middle.
        caption: The first line is set larger: it is what the picture shows.
        foot: Small print: what is drawn and under which assumptions.
        event: What label 1 is called by who named it; empty where nobody did.
    """

    title: str
    caption: Sequence[str] = ()
    foot: Sequence[str] = ()
    event: str = ""

    def named(self, label: str) -> str:
        """Return a text with the event by its own name."""
        return label.replace("label 1", shortened(self.event, _MOST_EVENT)) if self.event else label


@dataclass(frozen=True, slots=True)
class Sheet:
    """How many panels there are, and of which shape.

    Args:
        strip: Whether each panel has a low one below it, for how many rows there are.
        headings: A line above each panel, in reading order; as many as there are panels, or none for one.
        square: Whether the aspect must be kept where a page's height is given.
        many: How many panels there are, where the caller writes their headings.
        above: Height that the caller needs for each of them, in inches on a page of scale 1.
    """

    columns: int = 1
    rows: int = 1
    aspect: float = 1.0
    strip: bool = True
    headings: tuple[str, ...] = ()
    square: bool = True
    many: int = 0
    above: float = 0.0

    @property
    def panels(self) -> int:
        """How many panels there are; the last row may be short."""
        return self.many or len(self.headings) or 1

    @property
    def heading(self) -> float:
        """Height above each panel, in inches on a page of scale 1."""
        return self.above or (_HEADING if self.headings else 0.0)


@dataclass(frozen=True, slots=True)
class Panel:
    """One diagram.

    Args:
        strip: Below them, where the scores lie; None where the sheet has none.
        first: Whether it is the leftmost, so that its y axis is named.
        last: Whether nothing stands below it, so that its x axis is named.
        limits: What axes of scores and rates show.
    """

    main: Axes
    strip: Axes | None
    first: bool
    last: bool
    look: Look
    limits: Limits


@dataclass(frozen=True, slots=True)
class Page:
    figure: Figure
    look: Look
    panels: tuple[Panel, ...]

    @property
    def main(self) -> Axes:
        return self.panels[0].main


# Letters are fitted to pixels, so they are measured as pictures of pixels have them.
_PIXELS_PER_INCH = 150.0

_UNITS_PER_PIXEL = 64.0

# Hinted as text is drawn. matplotlib 3.9 takes the number itself.
_AS_DRAWN: Any = ft2font.LoadFlags.DEFAULT if hasattr(ft2font, "LoadFlags") else 0


def printable(text: str) -> str:
    """Return a text that can be drawn: blanks for white space, escapes for what is unseen, else boxes."""
    return "".join(_drawable(letter) for letter in text)


@lru_cache(maxsize=4096)
def inches_of(text: str, size: float, *, weight: str = "normal") -> float:
    """Return how wide a line is drawn, in inches, in letters of a size in points."""
    font = _font(weight)
    font.set_size(size, _PIXELS_PER_INCH)
    with warnings.catch_warnings():
        # Letters that the font does not have are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph")
        font.set_text(text, 0.0, flags=_AS_DRAWN)
    return float(font.get_width_height()[0]) / _UNITS_PER_PIXEL / _PIXELS_PER_INCH


def wrapped(text: str, size: float, room: float, *, weight: str = "normal") -> list[str]:
    """Return the lines of a text that fit into a room in inches; a word that does not is cut."""
    lines: list[str] = []
    words = printable(text).split()
    while words:
        count = _words_fitting(words, size, room, weight=weight)
        if not count and (fits := _fitting(words[0], size, room, weight=weight)) < len(words[0]):
            lines.append(words[0][:fits])
            words[0] = words[0][fits:]
            continue
        lines.append(" ".join(words[: count or 1]))
        del words[: count or 1]
    return lines


def _words_fitting(words: Sequence[str], size: float, room: float, *, weight: str) -> int:
    """Return how many words fit into a line, perhaps none; a line is measured as seldom as can be."""

    def fit(count: int) -> bool:
        return inches_of(" ".join(words[:count]), size, weight=weight) <= room

    # Letters are about half as wide as they are high: the guess is off by a word or two.
    ends = accumulate(len(word) + 1 for word in words)
    count = max(1, sum(1 for _ in takewhile(lambda end: end * size / 144.0 <= room, ends)))
    if fit(count):
        while count < len(words) and fit(count + 1):
            count += 1
        return count
    return next((less for less in range(count - 1, 0, -1) if fit(less)), 0)


def fitted(text: str, size: float, room: float, *, weight: str = "normal") -> str:
    """Return as much of a text as fits into one line, cut in the middle."""
    shown = whole = printable(text)
    letters = len(whole)
    while letters > 1 and (width := inches_of(shown, size, weight=weight)) > room:
        letters = max(1, min(letters - 1, int(letters * room / width)))
        shown = shortened(whole, letters)
    return shown


# Letters that names share are shown so far beside what tells them apart, the first that has room.
_CONTEXTS = (16, 12, 8, 5, 3, 0)


def told_apart(names: Sequence[str], size: float, rooms: Sequence[float]) -> list[str]:
    """Return names fitted into rooms; where two would then read alike, without what all have in common."""
    shown = [fitted(name, size, room) for name, room in zip(names, rooms, strict=True)]
    if len(set(shown)) == len(set(names)):
        return shown
    head = _in_common(names)
    tail = _in_common([name[head:][::-1] for name in names])
    own = [*names]
    for context in _CONTEXTS:
        first, last = max(head - context, 0), max(tail - context, 0)
        own = [f"{'…' * (first > 0)}{name[first : len(name) - last]}{'…' * (last > 0)}" for name in names]
        if all(inches_of(printable(one), size) <= room for one, room in zip(own, rooms, strict=True)):
            break
    return [fitted(name, size, room) for name, room in zip(own, rooms, strict=True)]


def _in_common(names: Sequence[str]) -> int:
    """Return with how many letters all of some names begin."""
    letters = zip(*names, strict=False)
    return next((place for place, some in enumerate(letters) if len(set(some)) > 1), min(map(len, names)))


def shortened(text: str, letters: int) -> str:
    """Return a text cut in the middle, where paths and column names say least."""
    if len(text) <= letters:
        return text
    head = (letters - 1) // 2
    return f"{text[:head]}…{text[head + 1 - letters :]}"


@lru_cache(maxsize=4096)
def _drawable(letter: str) -> str:
    if letter.isspace():
        return " "
    if not letter.isprintable():
        return letter.encode("unicode_escape").decode("ascii")
    return letter if _font("normal").get_char_index(ord(letter)) else "□"


def _fitting(text: str, size: float, room: float, *, weight: str) -> int:
    """Return how many letters fit, at least one; of names with marks between their parts, whole parts."""
    letters = len(text)
    while letters > 1 and (width := inches_of(text[:letters], size, weight=weight)) > room:
        letters = max(1, min(letters - 1, int(letters * room / width)))
    if letters == len(text):
        return letters
    return 1 + max(text.rfind(mark, 2 * letters // 3, letters) for mark in "_-./") or letters


@cache
def _path(weight: str) -> str:
    return str(findfont(FontProperties(family=FONT, weight=weight)))


def _font(weight: str) -> FT2Font:
    return get_font(_path(weight))


Entry = tuple[Line2D | Patch, str]

# In sizes of the letters.
_HANDLE, _PAD, _BETWEEN_ENTRIES = 1.7, 0.5, 1.3


Box = tuple[float, float, float, float]


def meets(box: Box, taken: Sequence[Box]) -> bool:
    """Return whether a box covers a part of others."""
    return any(box[0] < one[2] and one[0] < box[2] and box[1] < one[3] and one[1] < box[3] for one in taken)


# Inches on a page of scale 1.
_LEFT, _RIGHT, _EDGE = 0.80, 0.20, 0.12

_STRIP, _GAP, _AXIS_TEXT = 0.78, 0.10, 0.54

_TITLE, _HEADLINE, _LINE, _KEY, _FOOT = 0.25, 0.25, 0.19, 0.22, 0.145

_BETWEEN = 0.16

# Label of the lines of small print, for those who write them elsewhere.
SMALL_PRINT = "small print"

# Points on a page of scale 1.
TITLE, HEADLINE, LINE, KEY, FOOT, HEADING, LABEL, TICK, COUNT = 11.5, 10.0, 8.5, 7.5, 7.0, 8.5, 9.5, 8.5, 6.5

# Share of a slide's width for the text beside the picture, and sizes of the small print that are tried there.
_BESIDE = 0.34
_SMALLER = (1.0, 0.9, 0.8, 0.7, 0.6)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where panels go, in inches: left and lower end of the lowest row of panels, and a panel's size."""

    left: float
    bottom: float
    width: float
    height: float


def new_page(
    words: Words,
    notes: Sequence[str],
    look: Look,
    *,
    sheet: Sheet,
    key: Sequence[Entry],
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Page:
    """Lay out a page with all its text outside the axes; the small print begins with notes."""
    layout = _Layout(replace(words, foot=[*notes, *words.foot]), look, sheet, key)
    figure, frame = layout.beside() if look.beside else layout.stacked()
    panels = tuple(layout.panel(figure, frame, place, limits) for place in range(sheet.panels))
    return Page(figure, look, panels)


# A title that is longer than so many lines is shortened.
_MOST_OF_TITLE = 2.6

# Lines of a caption, each with its size, colour and height.
_Head = Sequence[tuple[str, float, str, float]]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where text, key and panels go, in inches."""

    words: Words
    look: Look
    sheet: Sheet
    key: Sequence[Entry]

    def stacked(self) -> tuple[Figure, _Frame]:
        """Put text above and below the panels; the height follows."""
        look, inch = self.look, self.look.inches
        room = look.width - 2.0 * inch(_EDGE)
        head, small, rows = self._head(room), self._small(room), self._key_rows(room)
        width = self._panel_width(look.width)
        height = width * self.sheet.aspect
        below = inch(_EDGE + _FOOT * len(small) + _AXIS_TEXT)
        panels = self.sheet.rows * height + self._between_rows
        above = inch(_EDGE + _TITLE * len(self._title) + _KEY * len(rows)) + sum(step for *_, step in head)
        total = below + panels + above
        figure = self._figure(total)
        y = self._write_head(figure, head, total - inch(_EDGE))
        self._write_key(figure, rows, (inch(_EDGE), y))
        self._write_small(figure, small, inch(_EDGE))
        return figure, _Frame(inch(_LEFT), below, width, height)

    def beside(self) -> tuple[Figure, _Frame]:
        """Put the title above, the panels at the left, and all other text at their right."""
        look, inch, columns = self.look, self.look.inches, self.sheet.columns
        total = look.height or look.width
        figure = self._figure(total)
        top = self._write_head(figure, [], total - inch(_EDGE)) - inch(0.1)
        frame = self._frame_beside(top)
        x = frame.left + columns * frame.width + inch(_RIGHT + 0.2 + (columns - 1) * _BETWEEN)
        room, y = look.width - x - inch(_EDGE), top
        for line, size, colour, step in self._head(room):
            write(figure, (x, y), line, size=size, colour=colour)
            y -= step
        rows, y = self._key_rows(room), y - inch(0.1)
        self._write_key(figure, rows, (x, y))
        y -= inch(_KEY * len(rows))
        # As large as there is room for below the key.
        every = ((part, self._small(room, part)) for part in _SMALLER)
        fits = (one for one in every if inch(_EDGE + one[0] * _FOOT * len(one[1])) <= y)
        part, small = next(fits, (_SMALLER[-1], self._small(room, _SMALLER[-1])))
        self._write_small(figure, small, x, part)
        return figure, frame

    def _frame_beside(self, top: float) -> _Frame:
        """Return where panels go that have a height to fill and a width to keep to."""
        look, sheet, between = self.look, self.sheet, self._between_rows
        below = look.inches(_EDGE + _AXIS_TEXT)
        width = self._panel_width((1.0 - _BESIDE) * look.width)
        height = (top - below - between) / sheet.rows
        if sheet.square:
            height = min(height, width * sheet.aspect)
            width = height / sheet.aspect
        spare = top - below - sheet.rows * height - between
        return _Frame(look.inches(_LEFT), below + 0.5 * spare, width, height)

    @property
    def _strip(self) -> float:
        """How high strips are, on a page of scale 1: those of small panels are lower."""
        return _STRIP * (1.0 / min(max(self.sheet.columns, 1), 2.5))

    @property
    def _between_rows(self) -> float:
        """The height of everything between and around rows of panels but the panels."""
        sheet = self.sheet
        strip = self._strip + _GAP if sheet.strip else 0.0
        return self.look.inches(sheet.rows * (strip + sheet.heading) + (sheet.rows - 1) * _BETWEEN)

    def _panel_width(self, room: float) -> float:
        columns = self.sheet.columns
        return (room - self.look.inches(_LEFT + _RIGHT + (columns - 1) * _BETWEEN)) / columns

    def panel(self, figure: Figure, frame: _Frame, place: int, limits: Limits) -> Panel:
        look, sheet, inch = self.look, self.sheet, self.look.inches
        row, column = divmod(place, sheet.columns)
        strip, gap = (inch(self._strip), inch(_GAP)) if sheet.strip else (0.0, 0.0)
        heading = inch(sheet.heading)
        pitch = frame.height + strip + gap + heading + inch(_BETWEEN)
        x = frame.left + column * (frame.width + inch(_BETWEEN))
        bottom = frame.bottom + (sheet.rows - 1 - row) * pitch
        main = _axes(figure, (x, bottom + strip + gap, frame.width, frame.height))
        low = _axes(figure, (x, bottom, frame.width, strip), beside=main) if sheet.strip else None
        if sheet.headings:
            top = bottom + strip + gap + frame.height + heading - inch(0.05)
            text = fitted(sheet.headings[place], look.points(HEADING), frame.width)
            write(figure, (x, top), text, size=look.points(HEADING), colour=look.palette.ink)
        return Panel(main, low, column == 0, place + sheet.columns >= sheet.panels, look, limits)

    def _figure(self, height: float) -> Figure:
        figure = Figure(figsize=(self.look.width, height), dpi=150, facecolor=self.look.palette.paper)
        figure.set_layout_engine("none")
        figure.set_label(printable(self.words.title))
        return figure

    @property
    def _title(self) -> list[str]:
        size, room = self.look.points(TITLE), self.look.width - 2.0 * self.look.inches(_EDGE)
        whole = fitted(self.words.title, size, _MOST_OF_TITLE * room, weight="bold")
        return wrapped(whole, size, room, weight="bold") or [""]

    def _head(self, room: float) -> _Head:
        look, lines = self.look, []
        for index, text in enumerate(self.words.caption):
            first = HEADLINE, look.palette.ink, _HEADLINE
            size, colour, step = first if index == 0 else (LINE, look.palette.faint, _LINE)
            parts = wrapped(self.words.named(text), look.points(size), room) or [""]
            lines += [(line, look.points(size), colour, look.inches(step)) for line in parts]
        return lines

    def _small(self, room: float, part: float = 1.0) -> list[str]:
        words, size = self.words, self.look.points(part * FOOT)
        return [line for part in words.foot for line in wrapped(words.named(part), size, room)]

    def _key_rows(self, room: float) -> list[list[Entry]]:
        size = self.look.points(KEY)
        rows: list[list[Entry]] = []
        used = 0.0
        for mark, name in self.key:
            needed = inches_of(printable(name), size) + (_HANDLE + _PAD + _BETWEEN_ENTRIES) * size / 72.0
            if not rows or used + needed > room:
                rows.append([])
                used = 0.0
            rows[-1].append((mark, name))
            used += needed
        return rows

    def _write_head(self, figure: Figure, head: _Head, y: float) -> float:
        """Write title and caption from a height downwards; return where they end."""
        look, x = self.look, self.look.inches(_EDGE)
        for line in self._title:
            write(figure, (x, y), line, size=look.points(TITLE), colour=look.palette.ink, weight="bold")
            y -= look.inches(_TITLE)
        for line, size, colour, step in head:
            write(figure, (x, y), line, size=size, colour=colour)
            y -= step
        return y

    def _write_key(self, figure: Figure, rows: list[list[Entry]], place: tuple[float, float]) -> None:
        """Write rows below each other, the upper left corner of the first at a place."""
        width, height = figure.get_size_inches()
        x, y = place
        for row in rows:
            key = figure.legend(
                [mark for mark, _ in row],
                [printable(name) for _, name in row],
                loc="upper left",
                bbox_to_anchor=(x / width, y / height),
                ncols=len(row),
                frameon=False,
                prop=FontProperties(family=FONT, size=self.look.points(KEY)),
                labelcolor=self.look.palette.ink,
                borderpad=0.0,
                borderaxespad=0.0,
                handlelength=_HANDLE,
                handletextpad=_PAD,
                columnspacing=_BETWEEN_ENTRIES,
            )
            for text in key.get_texts():
                text.set_parse_math(False)
            key.set_in_layout(False)
            y -= self.look.inches(_KEY)

    def _write_small(self, figure: Figure, small: list[str], x: float, part: float = 1.0) -> None:
        look = self.look
        for index, line in enumerate(reversed(small)):
            place = x, look.inches(_EDGE + part * _FOOT * (index + 1))
            text = write(figure, place, line, size=look.points(part * FOOT), colour=look.palette.faint)
            text.set_label(SMALL_PRINT)


def _axes(figure: Figure, box: Box, *, beside: Axes | None = None) -> Axes:
    """Add axes at a place in inches."""
    width, height = figure.get_size_inches()
    x, y, wide, high = box
    place = (x / width, y / height, wide / width, high / height)
    return figure.add_axes(place) if beside is None else figure.add_axes(place, sharex=beside)


def write(
    figure: Figure,
    place: tuple[float, float],
    text: str,
    *,
    size: float,
    colour: str,
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


def inches_wide(axes: Axes) -> float:
    left, _, right, _ = box_of(axes)
    return right - left


def inches_high(axes: Axes) -> float:
    _, lower, _, upper = box_of(axes)
    return upper - lower


def box_of(axes: Axes) -> Box:
    """Return where axes stand, in inches: left, lower, right and upper end."""
    figure = axes.get_figure()
    if not isinstance(figure, Figure):
        msg = "these axes stand on no figure"
        raise TypeError(msg)
    width, height = figure.get_size_inches()
    box = axes.get_position()
    return box.x0 * width, box.y0 * height, box.x1 * width, box.y1 * height
