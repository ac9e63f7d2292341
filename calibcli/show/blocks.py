"""What a page is made of: the same blocks become terminal text and Markdown."""

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import Any, TypeVar

from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class Screen:
    """How text may look where it goes: folded to `width` on a terminal only, in ASCII unless `unicode`."""

    width: int | None = None
    color: bool = False
    unicode: bool = True


IN_FILE = Screen()


class Tone(Enum):
    """What a line is, from which a renderer chooses its colour."""

    PLAIN = auto()
    TITLE = auto()
    FAINT = auto()
    NOTE = auto()
    PASS = auto()
    FAIL = auto()
    INCONCLUSIVE = auto()


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence or heading, in plain words: the renderer escapes what its format would read as more."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that stand together."""

    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bin of the text reliability diagram, drawn on an axis from 0 to 1, or by log-odds.

    Args:
        lower: Lower end of the rate's interval; NaN where there is none.
        ticks: Of an axis by log-odds, from its lower end to its upper one; empty where it runs from 0 to 1.
    """

    score: float
    rate: float
    lower: float
    upper: float
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a grid.

    Args:
        numeric: Whether its cells end together instead of starting together.
        beside: Whether it says more of the column before it, from which it is never parted.
        key: Whether it says which row this is, as the first column does.
        own: Whether its title is a user's word, which is kept beside a column of ours with that title.
        told: Whether a table above has it too, so that on a terminal too narrow it leaves first, and unsaid.
        tones: What some of its cells are, by their words, from which a terminal chooses their colour.
    """

    title: str
    numeric: bool = False
    beside: bool = False
    key: bool = False
    own: bool = False
    told: bool = False
    tones: tuple[tuple[str, Tone], ...] = ()


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. On a terminal too narrow for it columns are left out or stacked before its last one is folded.

    Args:
        rows: Cells of each row; a bar may only stand in the last column.
        notes: Lines that explain the table, below it.
        spare: Titles of columns that are left out first, in this order, on a terminal too narrow for all;
            what is still too wide is stacked, each part with the columns that say which row it is.
        caption: What a paper calls the table, else the title above it.
        paper: What stands below it in a paper in place of notes: rows, methods, what columns mean.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str | Bar, ...], ...]
    notes: tuple[Line, ...] = ()
    spare: tuple[str, ...] = ()
    caption: str = ""
    paper: tuple[Line, ...] = ()

    def only(self, places: Sequence[int]) -> "Grid":
        """Return the table with some of its columns, and nothing else."""
        columns = tuple(self.columns[place] for place in places)
        return Grid(columns, tuple(tuple(row[place] for place in places) for row in self.rows))


def in_parts(
    columns: Sequence[Column], sizes: Sequence[int], places: Sequence[int], *, width: int, gap: int
) -> list[list[int]]:
    """Return the places of columns in parts that fit; all have the columns that say which row it is."""

    def fits(part: Sequence[int]) -> bool:
        return sum(sizes[place] + gap for place in part) - gap <= width

    parts = [list(places)] if fits(places) else [list(places[:2])]
    for place in places[len(parts[0]) :]:
        if not fits([*parts[-1], place]):
            named = [parts[-1].pop()] if columns[place].beside else []
            keys = [one for one in places[1:] if one < place and columns[one].key]
            parts.append([*places[:1], *keys, *named])
        parts[-1].append(place)
    # What was parted from nothing but names leaves none of these by themselves.
    told = [part for part in parts if not all(one == places[0] or columns[one].key for one in part)]
    return told or parts


@dataclass(frozen=True, slots=True)
class Listing:
    """Words and what is to be said under them."""

    items: tuple[tuple[str, str], ...]
    title: str = ""


Block = Paragraph | Grid | Listing
Page = tuple[Block, ...]


Item = TypeVar("Item")
Cells = dict[Column | str, Callable[[Item], str | Bar]]
"""The columns of a table, each with what stands there of an item."""


def grid_of(
    items: Iterable[Item],
    cells: Cells[Item],
    notes: Iterable[Line | str] = (),
    **more: Any,  # noqa: ANN401 - the other fields
) -> Grid:
    """Return a table with a row for each item, by columns and what stands there; texts as notes are faint."""
    columns = tuple(Column(one) if isinstance(one, str) else one for one in cells)
    rows = tuple(tuple(cell(item) for cell in cells.values()) for item in items)
    faint = tuple(Line(one, Tone.FAINT) if isinstance(one, str) else one for one in notes)
    return Grid(columns, rows, faint, **more)


def paragraph(*lines: Line | str) -> Paragraph:
    """Return lines as a paragraph; a bare string is a plain line."""
    return Paragraph(tuple(Line(line) if isinstance(line, str) else line for line in lines))
