"""Report to text: the one step from a format to its renderer."""

from typing import TYPE_CHECKING, ClassVar, Protocol

from calibcli.names import ReportFormat
from calibcli.reports.input import Setting
from calibcli.show.blocks import IN_FILE, Screen

if TYPE_CHECKING:
    from calibcli.show.markup import MarkupRenderer
    from calibcli.show.terminal import TerminalRenderer


class Report(Protocol):
    """What a command hands back: which page it has, and what it is as a document."""

    page: ClassVar[str]

    def to_dict(self) -> dict[str, object]:
        """Return the document, as plain values."""


def text_of(
    report: Report,
    kind: ReportFormat,
    screen: Screen = IN_FILE,
    *,
    verbose: bool = False,
    settings: tuple[Setting, ...] = (),
) -> str:
    """Return the text of a report in a format, ending in one newline."""
    match kind:
        case ReportFormat.JSON:
            from calibcli.show.as_data import json_of

            return json_of(report, settings)
        case ReportFormat.JSON_LINES:
            from calibcli.show.as_data import json_lines_of

            return json_lines_of(report, settings)
        case ReportFormat.CSV:
            from calibcli.show.as_data import csv_of

            return csv_of(report, settings, unicode=screen.unicode)
        case _:
            from calibcli.show.pages import page_of, settings_page

            page = (*page_of(report, verbose=verbose), *settings_page(settings))
            return writer_of(kind, screen, verbose=verbose).text(page)


def writer_of(
    kind: ReportFormat, screen: Screen = IN_FILE, *, verbose: bool = False
) -> "TerminalRenderer | MarkupRenderer":
    """Return what writes pages for people in a format."""
    if kind is ReportFormat.TABLE:
        from calibcli.show.terminal import TerminalRenderer

        return TerminalRenderer(screen, verbose)
    from calibcli.show.markup import DIALECTS, MarkupRenderer

    return MarkupRenderer(screen.unicode, DIALECTS[kind])
