"""Page to HTML: the templates, and what keeps anything from outside text and nothing but text."""

import base64
import hashlib
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from calibcli.errors import UsageProblem
from calibcli.render.blocks import Bar, Grid, Listing, Paragraph
from calibcli.render.html.page import Captioned, HtmlPage
from calibcli.render.words import printable

if TYPE_CHECKING:
    from jinja2 import Environment

_ENGINE = "jinja2"


def require_templates() -> None:
    """
    Refuse to begin without the template engine.

    Raises:
        UsageProblem: If it is not installed.
    """
    if find_spec(_ENGINE) is None:
        msg = f"an HTML report needs {_ENGINE}, which is not installed"
        raise UsageProblem(msg, "pip install 'calibcli[report]'")


def html_of(page: HtmlPage) -> str:
    """
    Return a page as one self-contained HTML document: the same page gives the same text.

    Args:
        page: What it says.
    """
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
    text = (files("calibcli.render.html") / "templates" / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _hash(text: str) -> str:
    """Return the hash by which a browser knows that a style or a script is ours."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
