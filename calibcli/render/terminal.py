"""Reports for people, on a terminal or in a log."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells

from calibcli.render.blocks import Bar, Block, Grid, Line, Listing, Page, Paragraph, Tone
from calibcli.render.diagram import ASCII, LEAST_WIDTH, UNICODE, WIDTH, Marks, axis, drawn
from calibcli.render.pages import page_of
from calibcli.render.pages.header import settings_page
from calibcli.render.words import in_ascii, printable
from calibcli.reports.settings import Setting

if TYPE_CHECKING:
    from calibcli.render.interface import Report

_GAP = 2
_LEAST_FOLDED = 24
_WORD = re.compile(r"\s*\S+\s*")
# As ANSI codes.
_BOLD = "1"
_STYLES = {
    Tone.PLAIN: "",
    Tone.TITLE: _BOLD,
    Tone.FAINT: "2",
    Tone.NOTE: "33",
    Tone.PASS: "1;32",
    Tone.FAIL: "1;31",
    Tone.INCONCLUSIVE: "1;33",
}


@dataclass(frozen=True, slots=True)
class TerminalRenderer:
    """
    Writes text that never loses a number: only sentences and the last column of a table are folded.

    Args:
        width: Letters in a line of the terminal, or None off a terminal, where nothing is folded.

        color: Whether to colour by ANSI codes.

        verbose: Whether to add plain English and assumptions.

        unicode: Whether letters outside ASCII may be written.

        settings: What a file or a variable has set.
    """

    width: int | None
    color: bool
    verbose: bool
    unicode: bool
    settings: tuple[Setting, ...] = ()

    def render(self, report: "Report") -> str:
        """Return the page of a report as text without trailing spaces."""
        return self.text((*page_of(report, verbose=self.verbose), *settings_page(self.settings)))

    def text(self, page: Page) -> str:
        """Return a page as text without trailing spaces."""
        return "\n".join(self._block(block) for block in page)

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
        parts = _folded(self._plain(line.text), self.width)
        return "".join(f"{styled(part, line.tone, color=self.color)}\n" for part in parts)

    def _grid(self, grid: Grid) -> str:
        fixed, last = grid.columns[:-1], grid.columns[-1]
        cells = [[self._plain(cell) for cell in row[:-1] if isinstance(cell, str)] for row in grid.rows]
        titles = [self._plain(column.title) for column in fixed]
        widths = [max(cell_len(row[k]) for row in (titles, *cells)) for k in range(len(fixed))]
        left = sum(widths) + _GAP * len(widths)
        room = None if self.width is None else self.width - left
        heading = self._heading(last.title, grid, room)
        places = list(zip(widths, (column.numeric for column in fixed), strict=True))
        text = self._row(titles, places, heading, room=room, bold=len(grid.columns))
        for row, texts in zip(grid.rows, cells, strict=True):
            text += self._row(texts, places, self._last(row[-1], room), room=room)
        return text

    def _listing(self, listing: Listing) -> str:
        words = [self._plain(word) for word, _ in listing.items]
        left = max(map(cell_len, words), default=0)
        room = None if self.width is None else self.width - left - _GAP
        return "".join(
            self._row([word], [(left, False)], self._plain(sentence), room=room, bold=1)
            for word, (_, sentence) in zip(words, listing.items, strict=True)
        )

    def _row(
        self,
        begin: Sequence[str],
        places: Sequence[tuple[int, bool]],
        end: str,
        *,
        room: int | None,
        bold: int = 0,
    ) -> str:
        """
        Return a row of a table.

        Args:
            begin: All cells but the last.

            places: For each of them how wide it is, and whether the text stands on its right.

            end: The last one, which is folded below itself.

            room: How wide it may be, or None for any width.

            bold: How many cells are bold.
        """
        parts = _folded(end, None if room is None else max(room, _LEAST_FOLDED))
        line, below = "", ""
        for place, (cell, (width, right)) in enumerate(zip(begin, places, strict=True)):
            text = cell.rstrip()
            blanks = " " * (width - cell_len(text))
            shown = self._strong(text, place < bold)
            line += (blanks + shown if right else shown + blanks) + " " * _GAP
            below += " " * (width + _GAP)
        lines = [
            f"{below if k else line}{self._strong(part, bold > len(begin))}" for k, part in enumerate(parts)
        ]
        return "".join(f"{one.rstrip()}\n" for one in lines)

    def _strong(self, text: str, bold: bool) -> str:  # noqa: FBT001 - one word
        return styled(text, Tone.TITLE, color=self.color) if bold else text

    def _heading(self, title: str, grid: Grid, room: int | None) -> str:
        return axis(_bar_width(room)) if _draws(grid) else self._plain(title)

    def _last(self, cell: str | Bar, room: int | None) -> str:
        if isinstance(cell, Bar):
            return drawn(cell, width=_bar_width(room), marks=self._marks)
        return self._plain(cell)

    def _legend(self, grid: Grid) -> tuple[Line, ...]:
        return (Line(self._marks.legend, Tone.FAINT),) if _draws(grid) else ()

    @property
    def _marks(self) -> Marks:
        return UNICODE if self.unicode else ASCII

    def _plain(self, text: str) -> str:
        text = printable(text)
        return text if self.unicode else in_ascii(text)


def styled(text: str, tone: Tone, *, color: bool) -> str:
    """Return text in the colour of a tone, where colour is wanted."""
    return f"\x1b[{_STYLES[tone]}m{text}\x1b[0m" if color and _STYLES[tone] and text else text


def _folded(text: str, width: int | None) -> list[str]:
    """Return the lines of a text without blanks at their ends, cut between words, or within too long ones."""
    if width is None or cell_len(text.rstrip()) <= width:
        return [text.rstrip()]
    lines, used = [""], 0
    for word in _WORD.findall(text):
        size = cell_len(word.rstrip())
        if size <= width - used:
            lines[-1] += word
            used += cell_len(word)
            continue
        parts = [word] if size <= width else chop_cells(word, width)
        lines += parts
        used = cell_len(parts[-1])
    return [line.rstrip() for line in (lines if lines[0] else lines[1:])]


def _draws(grid: Grid) -> bool:
    return any(isinstance(row[-1], Bar) for row in grid.rows)


def _bar_width(room: int | None) -> int:
    """Return an odd width, so that a half has a place of its own."""
    width = WIDTH if room is None else min(WIDTH, max(LEAST_WIDTH, room))
    return width - (width + 1) % 2
