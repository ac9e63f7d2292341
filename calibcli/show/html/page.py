"""What an HTML page is made of, as its template takes it."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from calibcli.errors import UsageProblem
from calibcli.names import VerdictName
from calibcli.show.blocks import Bar, Block, Grid, Listing, Paragraph, Tone
from calibcli.show.words import printable
from calibcli.values import dataclass

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class Point:
    """
    A value that can be pointed at.

    Args:
        x: In the view box of its picture.
    """

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Illustration:
    """
    A picture with everything that is said of it.

    Args:
        title: What kind of picture it is, for whom.
        explanation: How to read it, in a sentence.
        caption: The number that it shows, then what it rests on.
        small_print: What is drawn and under which assumptions.
        drawing: SVG of this program, without text from outside.
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
    """A table and what it is called."""

    caption: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class Section:
    """
    A part of the page.

    Args:
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
        date: A date to print, as the user wrote it; None for none.
        outcome: The verdict over all rules, or None where none was given.
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


_ENGINE = "jinja2"


def require_templates() -> None:
    """Refuse to begin without the template engine."""
    if find_spec(_ENGINE) is None:
        msg = f"an HTML report needs {_ENGINE}, which is not installed"
        raise UsageProblem(msg, "pip install '.[report]'")


def html_of(page: HtmlPage) -> str:
    """Return a page as one self-contained HTML document: the same page gives the same text."""
    from markupsafe import Markup

    style, script = (_source(name) for name in ("report.css", "report.js"))
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    template = _environment().get_template("report.html")
    # The two files of this package are the only text of the page that is not escaped, but for drawings.
    text = template.render(page=page, style=Markup(style), script=Markup(script), policy=policy)  # noqa: S704
    return text if text.endswith("\n") else f"{text}\n"


def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["drawing"] = Markup
    environment.filters["shown_columns"] = _without_bars
    environment.filters["number"] = lambda value: f"{value:g}"
    environment.tests["captioned"] = lambda block: isinstance(block, Captioned)
    environment.tests["listing"] = lambda block: isinstance(block, Listing)
    environment.tests["prose"] = lambda block: isinstance(block, Paragraph)
    return environment


def _shown(value: object) -> object:
    """Return text with whatever could steer a reader's screen as an escape; markup of templates as it is."""
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return printable(value)
    return value


def _without_bars(grid: Grid) -> list[int]:
    """Return which columns are text: bars stand in the pictures."""
    return [k for k, _ in enumerate(grid.columns) if not any(isinstance(row[k], Bar) for row in grid.rows)]


def _source(name: str) -> str:
    text = (files("calibcli.show.html") / "templates" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _hash(text: str) -> str:
    """Return the hash by which a browser knows that a style or a script is ours."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
