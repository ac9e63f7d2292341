"""Report to text: the one step from a format to its renderer."""

from typing import TYPE_CHECKING, Protocol, assert_never

from calibcli.names import ReportFormat
from calibcli.reports.input import Setting

if TYPE_CHECKING:
    from calibcli.reports.compare import CompareReport
    from calibcli.reports.compat import CompatReport
    from calibcli.reports.drift import DriftReport
    from calibcli.reports.leaderboard import LeaderboardReport
    from calibcli.reports.maps import ApplyReport, ClassFitReport, FitReport, FolderApplyReport, InspectReport
    from calibcli.reports.measure import MeasureReport
    from calibcli.reports.plan import PlanReport
    from calibcli.reports.segments import SegmentsReport
    from calibcli.reports.verify import VerifyReport

if TYPE_CHECKING:
    Report = (
        MeasureReport
        | VerifyReport
        | CompareReport
        | LeaderboardReport
        | CompatReport
        | FitReport
        | ClassFitReport
        | ApplyReport
        | FolderApplyReport
        | InspectReport
        | PlanReport
        | SegmentsReport
        | DriftReport
    )


class Renderer(Protocol):
    """A way to write reports."""

    def render(self, report: "Report") -> str:
        """Return the text of a report, ending in one newline."""
        ...


def renderer_named(
    name: ReportFormat,
    *,
    width: int | None = None,
    color: bool = False,
    verbose: bool = False,
    unicode: bool = True,
    settings: tuple[Setting, ...] = (),
) -> Renderer:
    """Return the renderer of a format."""
    match name:
        case ReportFormat.TABLE:
            from calibcli.show.terminal import TerminalRenderer

            return TerminalRenderer(width, color, verbose, unicode, settings)
        case ReportFormat.JSON:
            from calibcli.show.as_data import JsonRenderer

            return JsonRenderer(settings)
        case ReportFormat.JSON_LINES | ReportFormat.CSV:
            from calibcli.show.as_data import CsvRenderer, JsonLinesRenderer

            if name is ReportFormat.CSV:
                return CsvRenderer(unicode=unicode, settings=settings)
            return JsonLinesRenderer(settings)
        case ReportFormat.MARKDOWN | ReportFormat.HTML | ReportFormat.LATEX:
            from calibcli.show.markup import DIALECTS, MarkupRenderer

            return MarkupRenderer(verbose, unicode, settings, DIALECTS[name])
        case _:
            assert_never(name)
