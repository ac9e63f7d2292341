"""Reports for people, on a terminal or in a log."""

import math
import re
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len

from calibcli.show.blocks import Bar, Block, Grid, Line, Listing, Page, Paragraph, Screen, Tone, in_parts
from calibcli.show.words import in_ascii, listed, printable
from calibcli.values import dataclass, replace

if TYPE_CHECKING:
    from rich.console import Console

LEAST_WIDTH = 13

WIDTH = 41


@dataclass(frozen=True, slots=True)
class Marks:
    """The letters a bar is drawn with, one of them for rate and mean score in one place."""

    rate: str
    interval: str
    score: str
    both: str

    @property
    def legend(self) -> str:
        return (
            f"{self.rate} observed rate  {self.interval} its interval  {self.score} mean score  "
            f"{self.both} rate and score in one place"
        )


UNICODE = Marks("●", "─", "│", "◉")

ASCII = Marks("o", "-", "|", "@")


def drawn(bar: Bar, *, width: int, marks: Marks) -> str:
    """Return the bar of a bin, `width` letters from end to end of its axis, without trailing spaces."""
    letters = [" "] * width
    if not (math.isnan(bar.lower) or math.isnan(bar.upper)):
        for place in range(_place(bar.lower, width, bar.ticks), _place(bar.upper, width, bar.ticks) + 1):
            letters[place] = marks.interval
    score, rate = _place(bar.score, width, bar.ticks), _place(bar.rate, width, bar.ticks)
    letters[score] = marks.score
    letters[rate] = marks.both if rate == score else marks.rate
    return "".join(letters).rstrip()


def axis(width: int, ticks: tuple[float, ...] = ()) -> str:
    """Return the heading of the bars: 0, a half and 1 over their places, or the ticks of log-odds."""
    if not ticks:
        left = (width - 1) // 2 - 1
        return "0" + "0.5".center(3).rjust(left + 2) + "1".rjust(width - left - 3)
    heading = ""
    for tick in ticks:
        place, words = _place(tick, width, ticks), f"{tick:g}"
        start = min(place, width - len(words))
        if start > len(heading) or not heading:
            heading = heading.ljust(start) + words
    return heading


def _place(value: float, width: int, ticks: tuple[float, ...] = ()) -> int:
    if not ticks:
        return round(min(max(value, 0.0), 1.0) * (width - 1))
    low, high = _log_odds(ticks[0]), _log_odds(ticks[-1])
    within = min(max(value, ticks[0]), ticks[-1])
    return round((_log_odds(within) - low) / (high - low) * (width - 1))


def _log_odds(value: float) -> float:
    return math.log(value) - math.log1p(-value)


_BY_LOG_ODDS = "Bars are laid out by log-odds; a rate of 0 is at their left end."

_GAP = 2

_LEAST_FOLDED, _WIDEST_NAME = 24, 28

# Spaces, and colour switches between them, at the end of a line.
_TRAILING = re.compile(r"(?: |\x1b\[[\d;]*m)+$", re.MULTILINE)

_STYLES = {
    Tone.PLAIN: "",
    Tone.TITLE: "bold",
    Tone.FAINT: "dim",
    Tone.NOTE: "yellow",
    Tone.PASS: "bold green",
    Tone.FAIL: "bold red",
    Tone.INCONCLUSIVE: "bold yellow",
}


# A number, with what stands before its decimal point and what from there on.
_NUMBER = re.compile(r"(-?[\d,]+)((?:\.\d*)?(?:e[+-]\d+)?)")

_TO = " to "


def aligned(cells: Sequence[str]) -> list[str]:
    """Return cells whose decimal points stand below each other, in ranges too; words stay as they are."""
    found = [[_NUMBER.fullmatch(part) for part in cell.split(_TO, 1)] for cell in cells]
    numbers = [[one.groups() for one in parts if one] for parts in found]
    ranges = [parts for parts, matches in zip(numbers, found, strict=True) if all(matches)]
    if not any("." in rest for parts in ranges for _, rest in parts):
        return list(cells)
    # The widest part before each point and behind it, of the first numbers and of the second ones.
    sizes = [
        [max((len(parts[k][end]) for parts in ranges if len(parts) > k), default=0) for end in range(2)]
        for k in range(2)
    ]
    return [
        _TO.join(
            f"{whole:>{w}}{rest:<{r}}" for (whole, rest), (w, r) in zip(parts, sizes, strict=False)
        ).rstrip()
        if all(matches)
        else cell
        for cell, parts, matches in zip(cells, numbers, found, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class TerminalRenderer:
    """Writes text that never loses a number: only sentences and the last column of a table are folded."""

    screen: Screen
    verbose: bool = False

    def text(self, page: Page) -> str:
        """Return a page as text without trailing spaces."""
        text = "\n".join(self._block(block) for block in page)
        return _TRAILING.sub(lambda end: end.group().replace(" ", ""), text)

    def _block(self, block: Block) -> str:
        match block:
            case Paragraph():
                return "".join(self._line(line) for line in block.lines)
            case Grid():
                notes = (*self._legend(block), *block.notes)
                return self._grid(block) + "".join(self._line(line) for line in notes)
            case Listing():
                title = self._line(Line(block.title, Tone.TITLE)) if block.title else ""
                return title + self._listing(block)

    def _line(self, line: Line) -> str:
        parts = folded(self._plain(line.text), self.screen.width)
        return "".join(f"{styled(part, line.tone, color=self.screen.color)}\n" for part in parts)

    def _grid(self, grid: Grid) -> str:
        columns = tuple(replace(column, title=self._plain(column.title)) for column in grid.columns)
        cells = (self._aligned(column) for column in zip(*grid.rows, strict=True))
        plain = replace(grid, columns=columns, rows=tuple(zip(*cells, strict=True)))
        plain = self._with_folded_names(plain)
        parts = self._fitting(plain)
        shown = {column.title for part in parts for column in part.columns}
        spared = [one.title for one in plain.columns if one.title not in shown and not one.told]
        said = f"Left out for the width of this terminal: {listed(spared)}; -v shows all."
        tables = "\n".join(map(self._table, parts))
        return tables + (self._line(Line(said, Tone.FAINT)) if spared else "")

    def _with_folded_names(self, grid: Grid) -> Grid:
        """Return a table whose names take half of a line at most: a long one would widen every row."""
        if self.screen.width is None:
            return grid
        most = max(_WIDEST_NAME, self.screen.width // 2)
        named = [place == 0 or column.key for place, column in enumerate(grid.columns)]
        rows: list[tuple[str | Bar, ...]] = []
        for row in grid.rows:
            cells: list[Sequence[str | Bar]] = [
                folded(cell, most) if name and isinstance(cell, str) else (cell,)
                for cell, name in zip(row, named, strict=True)
            ]
            rows += zip_longest(*cells, fillvalue="")
        return replace(grid, rows=tuple(rows))

    def _aligned(self, column: Sequence[str | Bar]) -> Sequence[str | Bar]:
        texts = [self._plain(cell) for cell in column if isinstance(cell, str)]
        return aligned(texts) if len(texts) == len(column) else column

    def _fitting(self, grid: Grid) -> list[Grid]:
        """Return a table that fits: without what can be spared unless all was asked for, then in parts."""
        width = self.screen.width
        if width is None:
            return [grid]
        sizes = [
            max(cell_len(cell) if isinstance(cell, str) else LEAST_WIDTH for cell in cells)
            for cells in zip([one.title for one in grid.columns], *grid.rows, strict=True)
        ]
        last = grid.columns[-1].title
        if (self.verbose or last not in grid.spare) and any(
            " " in row[-1] for row in grid.rows if isinstance(row[-1], str)
        ):
            # A sentence may be folded, and asks for no more than the least that one is folded to.
            sizes[-1] = min(sizes[-1], max(_LEAST_FOLDED, cell_len(last)))

        places = list(range(len(sizes)))
        if sum(sizes) + _GAP * (len(sizes) - 1) > width:
            places = [place for place in places if not grid.columns[place].told]
        for title in () if self.verbose else grid.spare:
            if sum(sizes[place] + _GAP for place in places) - _GAP > width:
                places = [place for place in places if grid.columns[place].title != title]
        return [grid.only(part) for part in in_parts(grid.columns, sizes, places, width=width, gap=_GAP)]

    def _table(self, grid: Grid) -> str:
        fixed, last = grid.columns[:-1], grid.columns[-1]
        cells = [[cell for cell in row[:-1] if isinstance(cell, str)] for row in grid.rows]
        widths = [
            max(cell_len(text) for text in (column.title, *(row[k] for row in cells)))
            for k, column in enumerate(fixed)
        ]
        sizes = [(width, column.numeric) for width, column in zip(widths, fixed, strict=True)]
        left = sum(widths) + _GAP * len(widths)
        room = None if self.screen.width is None else self.screen.width - left
        foldable = None if room is None else max(room, _LEAST_FOLDED)
        titles = _padded([column.title for column in fixed], sizes)
        heading = folded(self._heading(last.title, grid, room), foldable)
        lines = _row(list(map(self._bold, titles)), list(map(self._bold, heading)), left=left)
        for row, texts in zip(grid.rows, cells, strict=True):
            *tones, tone = (
                dict(column.tones).get(str(cell), Tone.PLAIN)
                for column, cell in zip(grid.columns, row, strict=True)
            )
            padded = _padded(texts, sizes)
            first = [styled(*one, color=self.screen.color) for one in zip(padded, tones, strict=True)]
            rest = folded(self._last(row[-1], room), foldable)
            lines += _row(first, [styled(one, tone, color=self.screen.color) for one in rest], left=left)
        return "".join(lines)

    def _listing(self, listing: Listing) -> str:
        words = [self._plain(word) for word, _ in listing.items]
        width = max(map(cell_len, words), default=0)
        left = width + _GAP
        room = None if self.screen.width is None else max(self.screen.width - left, _LEAST_FOLDED)
        lines: list[str] = []
        for word, (_, sentence) in zip(words, listing.items, strict=True):
            name = map(self._bold, _padded([word], [(width, False)]))
            lines += _row(list(name), folded(self._plain(sentence), room), left=left)
        return "".join(lines)

    def _bold(self, text: str) -> str:
        return styled(text, Tone.TITLE, color=self.screen.color)

    def _heading(self, title: str, grid: Grid, room: int | None) -> str:
        bars = [row[-1] for row in grid.rows if isinstance(row[-1], Bar)]
        return axis(_bar_width(room), bars[0].ticks) if bars else title

    def _last(self, cell: str | Bar, room: int | None) -> str:
        if isinstance(cell, Bar):
            return drawn(cell, width=_bar_width(room), marks=self._marks)
        return cell

    def _legend(self, grid: Grid) -> tuple[Line, ...]:
        bars = [row[-1] for row in grid.rows if isinstance(row[-1], Bar)]
        by_log_odds = [Line(_BY_LOG_ODDS, Tone.FAINT)] if bars and bars[0].ticks else []
        return (Line(self._marks.legend, Tone.FAINT), *by_log_odds) if bars else ()

    @property
    def _marks(self) -> Marks:
        return UNICODE if self.screen.unicode else ASCII

    def _plain(self, text: str) -> str:
        text = printable(text)
        return text if self.screen.unicode else in_ascii(text)


def folded(text: str, width: int | None) -> Sequence[str]:
    """Return a text in lines of at most so many letters, broken between words where that can be."""
    if width is None or cell_len(text) <= width:
        return (text,)
    from rich.text import Text

    return [line.plain for line in Text(text).wrap(_console(), width, overflow="fold")]


@cache
def _console() -> "Console":
    from rich.console import Console

    return Console(
        width=80, color_system=None, force_terminal=False, force_jupyter=False, legacy_windows=False
    )


def _padded(cells: Sequence[str], sizes: Sequence[tuple[int, bool]]) -> list[str]:
    """Return cells as wide as their columns, numbers to the right."""
    spaces = [" " * (width - cell_len(cell)) for cell, (width, _) in zip(cells, sizes, strict=True)]
    return [
        space + cell if numeric else cell + space
        for cell, space, (_, numeric) in zip(cells, spaces, sizes, strict=True)
    ]


def _row(fixed: Sequence[str], last: Sequence[str], *, left: int) -> list[str]:
    """Return a row of a table as lines: one for each line of its last cell, which begins at a place."""
    first = "".join(cell + " " * _GAP for cell in fixed)
    return [f"{first}{last[0]}\n", *(f"{' ' * left}{part}\n" for part in last[1:])]


def styled(text: str, tone: Tone, *, color: bool) -> str:
    if not color or not _STYLES[tone]:
        return text
    from rich.color import ColorSystem
    from rich.style import Style

    return Style.parse(_STYLES[tone]).render(text, color_system=ColorSystem.STANDARD)


def _bar_width(room: int | None) -> int:
    """Return an odd width, so that a half has a place of its own."""
    width = WIDTH if room is None else min(WIDTH, max(LEAST_WIDTH, room))
    return width - (width + 1) % 2
