"""The verdicts of a gate for machines that watch it."""

from typing import TYPE_CHECKING, Protocol, assert_never

from calibcli.names import GateFormat, ReportFormat
from calibcli.reports.input import Setting

if TYPE_CHECKING:
    from calibcli.reports.verify import VerifyReport

__all__ = ["GateRenderer", "gate_renderer_named"]


class GateRenderer(Protocol):
    """A way to write the report of a gate."""

    def render(self, report: "VerifyReport") -> str:
        """Return the text of a report, ending in one newline."""
        ...


def gate_renderer_named(
    name: GateFormat, *, unicode: bool = True, settings: tuple[Setting, ...] = ()
) -> GateRenderer:
    """Return the renderer of a report for continuous integration or monitoring."""
    match name:
        case GateFormat.JUNIT:
            from calibcli.show.ci.junit import JunitRenderer

            return JunitRenderer(settings)
        case GateFormat.GITHUB:
            from calibcli.show.ci.github import AnnotationRenderer

            return AnnotationRenderer(settings)
        case GateFormat.OPENMETRICS:
            from calibcli.show.ci.openmetrics import OpenMetricsRenderer

            return OpenMetricsRenderer(settings)
        case GateFormat.MARKDOWN:
            from calibcli.show import renderer_named

            return renderer_named(ReportFormat.MARKDOWN, unicode=unicode, settings=settings)
        case GateFormat.JSON:
            from calibcli.show import renderer_named

            return renderer_named(ReportFormat.JSON, settings=settings)
        case _:
            assert_never(name)
