"""A result as a notebook shows it: its page as HTML."""

import math
from html import escape

from calibcli.show.blocks import Bar, Block, Column, Grid, Line, Listing, Page, Paragraph, Tone
from calibcli.show.words import four, printable

# Colours that can be read on white and on black; everything else is that of the notebook, fainter.
_TONES = {
    Tone.PLAIN: "",
    Tone.TITLE: "font-weight:600",
    Tone.FAINT: "opacity:.7",
    Tone.NOTE: "color:#b26a00",
    Tone.PASS: "color:#1a8f4c;font-weight:600",
    Tone.FAIL: "color:#d6453d;font-weight:600",
    Tone.INCONCLUSIVE: "color:#b26a00;font-weight:600",
}

_OUTSIDE = "color:inherit;font-size:13px;line-height:1.45;max-width:72em;overflow-x:auto"

_TABLE = "border-collapse:collapse;margin:.3em 0;font-size:inherit;color:inherit;background:transparent"

_CELL = (
    "padding:2px 12px 2px 0;border:0;border-bottom:1px solid rgba(128,128,128,.3);vertical-align:top;"
    "color:inherit;background:transparent;font-variant-numeric:tabular-nums"
)

_WIDTH, _EDGE = 240, 6

_LEGEND = "Filled: observed rate, with its interval; open circle: mean score; from 0 to 1."


def html_of_page(page: Page) -> str:
    """Return a page as HTML that is nothing but text, tables and small drawings.

    Whatever a name or a value holds is shown as text: markup in it does nothing.
    """
    blocks = "".join(f'<div style="margin:0 0 .7em">{_block(one)}</div>' for one in page)
    return f'<div class="calibcli" style="{_OUTSIDE}">{blocks}</div>'


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return "".join(map(_notebook_line, block.lines))
        case Grid():
            drawn = any(isinstance(row[-1], Bar) for row in block.rows)
            legend = (Line(_LEGEND, Tone.FAINT),) if drawn else ()
            return _table(block) + "".join(map(_notebook_line, (*legend, *block.notes)))
        case Listing():
            title = f'<div style="{_TONES[Tone.TITLE]}">{_text(block.title)}</div>' if block.title else ""
            items = "".join(f"<div><b>{_text(word)}</b> {_text(rest)}</div>" for word, rest in block.items)
            return title + items


def _notebook_line(line: Line) -> str:
    style = _TONES[line.tone]
    return f'<div style="{style}">{_text(line.text)}</div>' if style else f"<div>{_text(line.text)}</div>"


def _table(grid: Grid) -> str:
    head = "".join(
        f'<th style="{_CELL};{_side(column)};font-weight:600;white-space:nowrap">{_text(column.title)}</th>'
        for column in grid.columns
    )
    rows = "".join(f"<tr>{_row(grid, row)}</tr>" for row in grid.rows)
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _row(grid: Grid, row: tuple[str | Bar, ...]) -> str:
    """Return the cells of a row; only the last may be broken into lines."""
    last = len(row) - 1
    folds = ["" if place == last else ";white-space:nowrap" for place in range(len(row))]
    return "".join(
        f'<td style="{_CELL};{_side(column)}{fold}">{_cell(cell)}</td>'
        for column, cell, fold in zip(grid.columns, row, folds, strict=True)
    )


def _side(column: Column) -> str:
    # Jupyter aligns everything to the right where nothing is said.
    return f"text-align:{'right' if column.numeric else 'left'}"


def _cell(cell: str | Bar) -> str:
    return _drawn(cell) if isinstance(cell, Bar) else _text(cell)


def _drawn(bar: Bar) -> str:
    """Return a bin on an axis from 0 to 1: its rate with the interval, its mean score as a circle."""
    score, rate = map(_at, (bar.score, bar.rate))
    parts = [f'<line x1="{_EDGE}" x2="{_WIDTH - _EDGE}" y1="8" y2="8" stroke="currentColor" opacity=".25"/>']
    if not (math.isnan(bar.lower) or math.isnan(bar.upper)):
        low, high = map(_at, (bar.lower, bar.upper))
        parts.append(f'<line x1="{low}" x2="{high}" y1="8" y2="8" stroke="#3b82c4" stroke-width="3"/>')
    parts.append(f'<circle cx="{rate}" cy="8" r="4" fill="#3b82c4"/>')
    parts.append(f'<circle cx="{score}" cy="8" r="4" fill="none" stroke="currentColor" stroke-width="1.5"/>')
    words = f"mean score {four(bar.score)}, observed rate {four(bar.rate)}"
    drawing = "".join(parts)
    return (
        f'<svg width="{_WIDTH}" height="16" viewBox="0 0 {_WIDTH} 16" role="img" aria-label="{_text(words)}">'
        f"<title>{_text(words)}</title>{drawing}</svg>"
    )


def _at(share: float) -> float:
    return round(_EDGE + (_WIDTH - 2 * _EDGE) * share, 1)


def _text(text: str) -> str:
    return escape(printable(text), quote=True)
