"""Reports for pull requests, job summaries and notebooks: GitHub's Markdown."""

import re
from typing import TYPE_CHECKING

from calibcli.reports.input import Setting
from calibcli.show.blocks import Bar, Block, Grid, Line, Listing, Page, Paragraph, Tone
from calibcli.show.pages import page_of
from calibcli.show.pages.header import settings_page
from calibcli.show.words import printable
from calibcli.values import dataclass

if TYPE_CHECKING:
    from calibcli.show import Report

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# An underscore inside a word, as in ece_equal_mass, means nothing to GitHub.
_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_LINE_START = re.compile(r"^(\d*)([#+\-=.)])")
_TONES = {Tone.TITLE, Tone.PASS, Tone.FAIL, Tone.INCONCLUSIVE}


@dataclass(frozen=True, slots=True)
class MarkdownRenderer:
    """
    Writes headings, tables and lists; what a name holds is never read as markup.

    Args:
        verbose: Whether to add plain English and assumptions.
        unicode: Whether letters outside ASCII may be written; else they become character references.
    """

    verbose: bool
    unicode: bool
    settings: tuple[Setting, ...] = ()

    def render(self, report: "Report") -> str:
        """Return the page of a report in Markdown."""
        return self.text((*page_of(report, verbose=self.verbose), *settings_page(self.settings)))

    def text(self, page: Page) -> str:
        """Return a page in Markdown."""
        text = "\n\n".join(_block(block) for block in page) + "\n"
        return text if self.unicode else text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def escaped(text: str) -> str:
    """Return text that GitHub shows letter for letter, in a table cell too."""
    return _MARKUP.sub(lambda one: "\\" + one.group(), printable(text).translate(_HTML))


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return "\n\n".join(_line(line) for line in block.lines)
        case Grid():
            notes = [_line(line) for line in block.notes]
            return "\n\n".join([_table(block), *notes])
        case Listing():
            title = [f"**{escaped(block.title)}**\n"] if block.title else []
            items = [f"- **{escaped(word)}**: {escaped(sentence)}" for word, sentence in block.items]
            return "\n".join([*title, *items])


def _line(line: Line) -> str:
    text = escaped(line.text)
    if line.tone in _TONES:
        return f"**{text}**"
    return _LINE_START.sub(r"\1\\\2", text)


def _table(grid: Grid) -> str:
    """Return a table; bars stay on the terminal, the numbers beside them say the same."""
    kept = [k for k, _ in enumerate(grid.columns) if not any(isinstance(row[k], Bar) for row in grid.rows)]
    rule = ["---:" if grid.columns[k].numeric else "---" for k in kept]
    rows = [[escaped(cell) for cell in (row[k] for k in kept) if isinstance(cell, str)] for row in grid.rows]
    return "\n".join(
        f"| {' | '.join(cells)} |" for cells in [[escaped(grid.columns[k].title) for k in kept], rule, *rows]
    )
