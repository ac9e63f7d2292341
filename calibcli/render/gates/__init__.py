"""What a gate tells machines that watch it: the one step from a kind of report to its renderer."""

from typing import TYPE_CHECKING, Protocol, assert_never

from calibcli.gate_names import GateFormat
from calibcli.names import ReportFormat
from calibcli.reports.settings import Setting

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
    """
    Return the renderer of a report for continuous integration or monitoring.

    Args:
        name: The kind of report; that of GitHub makes the annotations, its other parts are functions.

        unicode: Whether the output can carry letters outside ASCII, where the format leaves it open.

        settings: What a file or a variable has set, which every report states.
    """
    match name:
        case GateFormat.JUNIT:
            from calibcli.render.gates.junit import JunitRenderer

            return JunitRenderer(settings)
        case GateFormat.GITHUB:
            from calibcli.render.gates.github import AnnotationRenderer

            return AnnotationRenderer(settings)
        case GateFormat.OPENMETRICS:
            from calibcli.render.gates.openmetrics import OpenMetricsRenderer

            return OpenMetricsRenderer(settings)
        case GateFormat.MARKDOWN:
            from calibcli.render import renderer_named

            return renderer_named(ReportFormat.MARKDOWN, unicode=unicode, settings=settings)
        case GateFormat.JSON:
            from calibcli.render import renderer_named

            return renderer_named(ReportFormat.JSON, settings=settings)
        case _:
            assert_never(name)
