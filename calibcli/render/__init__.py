"""Report to text: the one step from a format to its renderer."""

from typing import assert_never

from calibcli.names import ReportFormat
from calibcli.render.interface import Renderer
from calibcli.reports.settings import Setting

__all__ = ["Renderer", "renderer_named"]


def renderer_named(
    name: ReportFormat,
    *,
    width: int | None = None,
    color: bool = False,
    verbose: bool = False,
    unicode: bool = True,
    settings: tuple[Setting, ...] = (),
) -> Renderer:
    """
    Return the renderer of a format.

    Args:
        name: The format.

        width: Letters in a line where a terminal shows the text, or None for as many as it takes.

        color: Whether to colour by ANSI codes.

        verbose: Whether to add plain English and assumptions; JSON always holds them.

        unicode: Whether the output can carry letters outside ASCII; JSON never holds them.

        settings: What a file or a variable has set, which every report states.
    """
    match name:
        case ReportFormat.TABLE:
            from calibcli.render.terminal import TerminalRenderer

            return TerminalRenderer(width, color, verbose, unicode, settings)
        case ReportFormat.JSON:
            from calibcli.render.as_json import JsonRenderer

            return JsonRenderer(settings)
        case ReportFormat.JSON_LINES | ReportFormat.CSV:
            from calibcli.render.as_rows import CsvRenderer, JsonLinesRenderer

            if name is ReportFormat.CSV:
                return CsvRenderer(unicode=unicode, settings=settings)
            return JsonLinesRenderer(settings)
        case ReportFormat.MARKDOWN:
            from calibcli.render.markdown import MarkdownRenderer

            return MarkdownRenderer(verbose, unicode, settings)
        case _:
            assert_never(name)
