"""What a renderer does: text from a report, and nothing else."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    # A command has one kind of report, and need not pay for the others.
    from calibcli.reports.apply import ApplyReport
    from calibcli.reports.apply_classes import ClassApplyReport
    from calibcli.reports.apply_folder import FolderApplyReport
    from calibcli.reports.compare import CompareReport
    from calibcli.reports.compat import CompatReport
    from calibcli.reports.fit import FitReport
    from calibcli.reports.fit_classes import ClassFitReport
    from calibcli.reports.inspect import InspectReport
    from calibcli.reports.measure import MeasureReport
    from calibcli.reports.plan import PlanReport
    from calibcli.reports.verify import VerifyReport

    Report = (
        MeasureReport
        | VerifyReport
        | CompareReport
        | CompatReport
        | FitReport
        | ClassFitReport
        | ApplyReport
        | ClassApplyReport
        | FolderApplyReport
        | InspectReport
        | PlanReport
    )


class Renderer(Protocol):
    """A way to write reports."""

    def render(self, report: "Report") -> str:
        """Return the text of a report, ending in one newline."""
        ...
