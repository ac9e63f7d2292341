"""Report to text: the one step from a format to its renderer."""

from typing import assert_never

from calibcli.names import ReportFormat
from calibcli.render.interface import Renderer

__all__ = ["Renderer", "renderer_named"]


def renderer_named(
    name: ReportFormat,
    *,
    width: int | None = None,
    color: bool = False,
    verbose: bool = False,
    unicode: bool = True,
) -> Renderer:
    """
    Return the renderer of a format.

    Args:
        name: The format.

        width: Letters in a line where a terminal shows the text, or None for as many as it takes.

        color: Whether to colour by ANSI codes.

        verbose: Whether to add plain English and assumptions; JSON always holds them.

        unicode: Whether the output can carry letters outside ASCII; JSON never holds them.
    """
    match name:
        case ReportFormat.TABLE:
            from calibcli.render.terminal import TerminalRenderer

            return TerminalRenderer(width=width, color=color, verbose=verbose, unicode=unicode)
        case ReportFormat.JSON:
            from calibcli.render.as_json import JsonRenderer

            return JsonRenderer()
        case ReportFormat.JSON_LINES | ReportFormat.CSV:
            from calibcli.render.as_rows import CsvRenderer, JsonLinesRenderer

            return CsvRenderer(unicode=unicode) if name is ReportFormat.CSV else JsonLinesRenderer()
        case ReportFormat.MARKDOWN:
            from calibcli.render.markdown import MarkdownRenderer

            return MarkdownRenderer(verbose=verbose, unicode=unicode)
        case _:
            assert_never(name)
