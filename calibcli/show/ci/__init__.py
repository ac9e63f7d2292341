"""The verdicts of a gate for machines that watch it."""

from typing import TYPE_CHECKING, assert_never

from calibcli.names import GateFormat, ReportFormat
from calibcli.reports.input import Setting
from calibcli.show import text_of

if TYPE_CHECKING:
    from calibcli.reports.verify import VerifyReport


def gate_text_of(
    report: "VerifyReport", kind: GateFormat, *, unicode: bool = True, settings: tuple[Setting, ...] = ()
) -> str:
    """Return the text of a report for continuous integration or monitoring, ending in one newline."""
    match kind:
        case GateFormat.JUNIT:
            from calibcli.show.ci.junit import document_of

            return document_of(report, settings)
        case GateFormat.GITHUB:
            from calibcli.show.ci.github import annotations_of

            return annotations_of(report, settings)
        case GateFormat.OPENMETRICS:
            from calibcli.show.ci.openmetrics import metrics_of

            return metrics_of(report, settings)
        case GateFormat.MARKDOWN | GateFormat.JSON:
            return text_of(report, ReportFormat(kind.value), unicode=unicode, settings=settings)
        case _:
            assert_never(kind)
