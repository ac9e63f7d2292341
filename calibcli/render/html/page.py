"""What an HTML page is made of, as its template takes it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from calibcli.names import VerdictName
from calibcli.render.blocks import Block, Grid, Listing, Paragraph, Tone


@dataclass(frozen=True, slots=True)
class Point:
    """
    A value that can be pointed at.

    Args:
        x: In the view box of its picture.

        y: Likewise.

        words: What stands there.
    """

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Illustration:
    """
    A picture with everything that is said of it.

    Args:
        ident: What its ids start with.

        title: What kind of picture it is, for whom.

        explanation: How to read it, in a sentence.

        caption: The number that it shows, then what it rests on.

        small_print: What is drawn and under which assumptions.

        drawing: SVG of this program, without text from outside.

        box: Its view box.

        points: Values that can be pointed at.

        columns: Names of the values.

        values: Rows of them.

        wide: Whether it takes the width of the page.
    """

    ident: str
    title: str
    explanation: str
    caption: tuple[str, ...]
    small_print: str
    drawing: str
    box: tuple[float, float, float, float]
    points: tuple[Point, ...] = ()
    columns: tuple[str, ...] = ()
    values: tuple[tuple[str, ...], ...] = ()
    wide: bool = False

    @property
    def description(self) -> str:
        """The numbers of the picture for somebody who does not see it."""
        return " ".join(_sentence(one) for one in (*self.caption, self.explanation, self.small_print) if one)


@dataclass(frozen=True, slots=True)
class Captioned:
    """
    A table and what it is called.

    Args:
        caption: Its name.

        grid: The table.
    """

    caption: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class Section:
    """
    A part of the page.

    Args:
        ident: Its place in the page.

        title: Its heading.

        blocks: What it says.

        pictures: What it shows.

        folded: Listings that are opened one by one.
    """

    ident: str
    title: str
    blocks: tuple[Block, ...] = ()
    pictures: tuple[Illustration, ...] = ()
    folded: tuple[Listing, ...] = ()

    @property
    def parts(self) -> tuple[Paragraph | Captioned | Listing, ...]:
        """The blocks, each table with the heading above it as its name."""
        return tuple(_captioned(self.blocks, self.title))


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """
    The whole page.

    Args:
        title: Its heading.

        date: A date to print, as the user wrote it; None for none.

        outcome: The verdict over all rules, or None where none was given.

        top: What was read.

        sections: In order.

        command: What makes this page again.

        version: Of this program.
    """

    title: str
    date: str | None
    outcome: VerdictName | None
    top: Paragraph
    sections: tuple[Section, ...]
    command: str
    version: str


def _captioned(blocks: Sequence[Block], title: str) -> Iterator[Paragraph | Captioned | Listing]:
    heading = title
    for block in blocks:
        match block:
            case Paragraph():
                titles = [line.text for line in block.lines if line.tone is Tone.TITLE]
                heading = titles[-1] if titles else heading
                yield block
            case Grid():
                first, *rest = (column.title for column in block.columns)
                yield Captioned(f"{heading}, by {first}: {', '.join(rest)}", block)
            case Listing():
                yield block


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
