"""Reports in the markup of others: GitHub's Markdown, HTML, and LaTeX for a paper."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from operator import attrgetter

from calibcli.names import ReportFormat
from calibcli.show.blocks import Bar, Block, Column, Grid, Line, Listing, Page, Paragraph, Tone, in_parts
from calibcli.show.words import NONE, VALID, as_in_papers, printable
from calibcli.values import dataclass, replace

_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
# An underscore inside a word, as in ece_equal_mass, means nothing to GitHub.
_MARKUP = re.compile(r"[\\`*\[\]|~]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
_LINE_START = re.compile(r"^(\d*)([#+\-=.)])")
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "`": r"\textasciigrave{}",
        **{letter: rf"\{letter}" for letter in "#$%&_{}"},
    }
)
# Two of them would be a dash or a quotation mark; a cell that begins so, the length of a space or a star.
_JOINED = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|^(?=[\[*])")
_SIGN = re.compile(r"(?<![\w.)\]])-(?=\d)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_SLUG = re.compile(r"[^a-z0-9]+")
# The columns whose cells are measures or tests.
_OF_NAMES = {"measure", "test"}
# Between columns of a paper, and what a sentence is folded to, in letters; the least share of a page for one.
_GAP, _LEAST_FOLDED, _LEAST_SHARE = 2, 40, 0.2
Texts = list[list[str]]
_TONES = {Tone.TITLE, Tone.PASS, Tone.FAIL, Tone.INCONCLUSIVE}


def escaped(text: str) -> str:
    """Return text that GitHub shows letter for letter, in a table cell too."""
    return _MARKUP.sub(lambda one: "\\" + one.group(), printable(text).translate(_HTML))


def in_html(text: str) -> str:
    """Return text that a browser shows letter for letter, between tags and in an attribute."""
    return printable(text).translate(_HTML).replace('"', "&quot;")


def in_latex(text: str) -> str:
    """Return text that LaTeX sets letter for letter; a number keeps its sign as a minus."""
    return _SIGN.sub(r"\\ensuremath{-}", _JOINED.sub("{}", printable(text).translate(_LATEX)))


def _as_references(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _as_symbols(text: str) -> str:
    return _NOT_ASCII.sub(lambda one: rf"\symbol{{{ord(one.group())}}}", text)


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a markup writes around escaped text.

    Args:
        escaped: Text as the markup shows it letter for letter.
        in_ascii: What is written where only ASCII can be.
        start: What else a line must not begin with, and what is written in its place.
        strong: Around a title or a verdict.
        between: Between the cells of a row.
        head: Around the title of a column.
        cells: Around a cell, and around one of a column whose cells end together.
        ends: The mark of a column, and that of one whose cells end together.
        rule: Between the marks of columns.
        caption: Around what a table shows, where it says so, and around what it is referred to by.
        noted: Around what is said of how the files were read, which is no part of a paper.
        together: Whether an interval stands in the cell of its number, so that tables fit a page.
        small: What is set before a table that would be wider than a page, and from how many letters on.
        most: How many letters a page is wide then; of a wider table parts stand below each other.
        sentence: The mark of a last column whose sentences are folded, given its share of the page.
        grid: A table, or a part of one.
        below: Between the parts of a table.
        items: Around the items of a listing.
        page: Around everything.
        paper: Whether tables carry what a reader of a paper needs below them.
    """

    escaped: Callable[[str], str]
    in_ascii: Callable[[str], str] = _as_references
    start: tuple[re.Pattern[str], str] = (re.compile(r"(?!)"), "")
    line: str = "{}"
    strong: str = "{}"
    between: str = ""
    head: str = "{}"
    cells: tuple[str, str] = ("{}", "{}")
    row: str = "{}"
    ends: tuple[str, str] = ("", "")
    rule: str = ""
    caption: str = ""
    noted: str = ""
    together: bool = False
    small: tuple[str, int] = ("", 0)
    most: int | None = None
    sentence: str = ""
    grid: str = ""
    below: str = ""
    note: str = "{}"
    table: str = ""
    item: str = ""
    items: str = "{}"
    title: str = "{}"
    page: str = "{}\n"
    paper: bool = True


DIALECTS = {
    ReportFormat.MARKDOWN: Dialect(
        escaped,
        start=(_LINE_START, r"\1\\\2"),
        strong="**{}**",
        between=" | ",
        row="| {} |",
        ends=("---", "---:"),
        rule=" | ",
        note="\n\n{}",
        grid="{head}\n| {rule} |\n{body}",
        table="{grids}{notes}",
        item="- **{}**: {}",
        title="**{}**\n\n",
        paper=False,
    ),
    ReportFormat.HTML: Dialect(
        in_html,
        line="<p>{}</p>",
        strong="<p><strong>{}</strong></p>",
        head="<th>{}</th>",
        cells=("<td>{}</td>", '<td style="text-align: right">{}</td>'),
        row="<tr>{}</tr>",
        caption="<caption>{0}</caption>\n",
        note="\n<p><small>{}</small></p>",
        grid="<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>",
        table="<table>\n{caption}{grids}\n</table>{notes}",
        item="<dt>{}</dt><dd>{}</dd>",
        items="<dl>\n{}\n</dl>",
        title="<p><strong>{}</strong></p>\n",
        page='<!doctype html>\n<meta charset="utf-8">\n<title>calibcli</title>\n\n{}\n',
    ),
    ReportFormat.LATEX: Dialect(
        in_latex,
        in_ascii=_as_symbols,
        strong="\\textbf{{{}}}",
        between=" & ",
        row="{} \\\\",
        ends=("l", "r"),
        caption="\\caption{{{0}}}\n\\label{{tab:{1}}}\n",
        noted="% {}",
        together=True,
        small=("\\footnotesize\n", 80),
        note="\n\n\\smallskip\n{{\\footnotesize {}\\par}}",
        most=100,
        sentence="p{{{:.2f}\\linewidth}}",
        grid="\\begin{{tabular}}{{{rule}}}\n\\toprule\n{head}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}",
        below="\n\n\\medskip\n",
        table="\\begin{{table}}[htbp]\n\\centering\n{caption}{small}{grids}{notes}\n\\end{{table}}",
        item="\\item[{{{}}}] {}",
        items="\\begin{{description}}\n{}\n\\end{{description}}",
        title="\\textbf{{{}}}\n\n",
        page="% \\usepackage{{booktabs,textcomp}} \\usepackage[T1]{{fontenc}}\n\n{}\n",
    ),
}


@dataclass(frozen=True, slots=True)
class MarkupRenderer:
    """Writes headings, tables and lists; what a name holds is never read as markup."""

    unicode: bool
    dialect: Dialect

    def text(self, page: Page) -> str:
        blocks, heading, labels = [], "", Counter[str]()
        for block in page:
            heading = _heading(block, heading)
            blocks.append(self._block(block, heading, labels))
        text = self.dialect.page.format("\n\n".join(blocks))
        return text if self.unicode else self.dialect.in_ascii(text)

    def _block(self, block: Block, heading: str, labels: Counter[str]) -> str:
        to = self.dialect
        match block:
            case Paragraph():
                return "\n\n".join(map(self.line, block.lines))
            case Grid():
                return self._table(block, heading, labels)
            case Listing():
                title = to.title.format(to.escaped(block.title)) if block.title else ""
                items = (to.item.format(*map(to.escaped, item)) for item in block.items)
                return title + to.items.format("\n".join(items))

    def line(self, line: Line) -> str:
        """Return a line, escaped at its start too."""
        text = self.dialect.escaped(line.text)
        if line.tone is Tone.NOTE and self.dialect.noted:
            return self.dialect.noted.format(text)
        if line.tone in _TONES:
            return self.dialect.strong.format(text)
        start, instead = self.dialect.start
        return self.dialect.line.format(start.sub(instead, text))

    def _table(self, grid: Grid, heading: str, labels: Counter[str]) -> str:
        """Return a table; bars stay on the terminal, the numbers beside them say the same."""
        to = self.dialect
        told = to.paper and bool(grid.paper)
        kept = [
            k
            for k, column in enumerate(grid.columns)
            if not any(isinstance(row[k], Bar) for row in grid.rows) and not (told and column.title == VALID)
        ]
        columns = [grid.columns[k] for k in kept]
        rows = [[str(row[k]) for k in kept] for row in grid.rows]
        if to.together:
            columns, rows = _together(columns, rows)
        caption = grid.caption or heading
        small, most = to.small
        label = _SLUG.sub("-", caption.partition(":")[0].lower()).strip("-")
        labels[label] += 1
        label += f"-{labels[label]}" if labels[label] > 1 else ""
        sizes = _sizes(columns, rows)
        parts = [list(range(len(columns)))]
        if to.most is not None:
            # Sentences in the last column may be folded.
            least = [*sizes[:-1], min(sizes[-1], _LEAST_FOLDED)]
            parts = in_parts(columns, least, parts[0], width=to.most, gap=_GAP)
        return to.table.format(
            caption=to.caption.format(to.escaped(caption), label) if caption else "",
            small=small if small and sum(size + _GAP for size in sizes) > most else "",
            grids=to.below.join(self._part(columns, rows, sizes, part) for part in parts),
            notes="".join(to.note.format(self._note(one)) for one in (grid.paper if told else grid.notes)),
        )

    def _part(self, columns: Sequence[Column], rows: Texts, sizes: Sequence[int], part: Sequence[int]) -> str:
        """Return some columns of a table; where these are too wide, the last one is folded."""
        to = self.dialect
        marks = [to.ends[columns[place].numeric] for place in part]
        wide = sum(sizes[place] + _GAP for place in part)
        if to.most is not None and wide - _GAP > to.most:
            room = 0.9 * to.most - (wide - sizes[part[-1]])
            marks[-1] = to.sentence.format(max(room / to.most, _LEAST_SHARE))
        said = _in_words if to.paper else attrgetter("title")
        titles = (to.head.format(to.escaped(said(columns[place]))) for place in part)
        return to.grid.format(
            rule=to.rule.join(marks),
            head=to.row.format(to.between.join(titles)),
            body="\n".join(
                to.row.format(
                    to.between.join(
                        to.cells[columns[place].numeric].format(
                            to.escaped(self._cell(row[place], columns[place]))
                        )
                        for place in part
                    )
                )
                for row in rows
            ),
        )

    def _cell(self, text: str, column: Column) -> str:
        """Return a cell: papers have measures and tests by name."""
        named = self.dialect.paper and column.title in _OF_NAMES and not column.own
        return as_in_papers(text) if named else text

    def _note(self, line: Line) -> str:
        return self.line(line) if not self.dialect.paper else self.dialect.escaped(line.text)


def _together(columns: list[Column], rows: Texts) -> tuple[list[Column], Texts]:
    """Return columns and rows with intervals in brackets behind their numbers, as the titles say."""
    merged: list[Column] = []
    cells: Texts = [[] for _ in rows]
    for place, column in enumerate(columns):
        beside = column.beside and place > 0
        if beside:
            merged[-1] = replace(
                merged[-1],
                title=f"{_in_words(merged[-1])} ({column.title.removesuffix(' interval')} CI)",
            )
        else:
            merged.append(column)
        for row, found in zip(rows, cells, strict=True):
            if not beside:
                found.append(row[place])
            elif row[place] not in ("", NONE):
                found[-1] += f" ({' '.join(row[place].split())})"
    return merged, cells


def _sizes(columns: list[Column], rows: Texts) -> list[int]:
    every = [[_in_words(one) for one in columns], *rows]
    return [max(map(len, cells)) for cells in zip(*every, strict=True)]


def _in_words(column: Column) -> str:
    """Return a title with the measure or test that it begins with by name."""
    return column.title if column.own else as_in_papers(column.title)


def _heading(block: Block, before: str) -> str:
    """Return the title of what follows: that of a paragraph which has one, else the one before."""
    lines = block.lines[:1] if isinstance(block, Paragraph) else ()
    return next((line.text for line in lines if line.tone is Tone.TITLE), before)
