"""Report to page: which facts are said, in which order and in which words."""

from typing import TYPE_CHECKING, assert_never

from calibcli.render.blocks import Page
from calibcli.reports.measure import MeasureReport

if TYPE_CHECKING:
    from calibcli.render.interface import Report
    from calibcli.reports.apply import ApplyReport
    from calibcli.reports.apply_classes import ClassApplyReport
    from calibcli.reports.apply_folder import FolderApplyReport
    from calibcli.reports.compare import CompareReport
    from calibcli.reports.compat import CompatReport
    from calibcli.reports.fit_classes import ClassFitReport
    from calibcli.reports.inspect import InspectReport
    from calibcli.reports.plan import PlanReport


def page_of(report: "Report", *, verbose: bool) -> Page:
    """Return the page of a report; `verbose` adds plain English and assumptions."""
    # One after the other, so that start-up pays for no report that comes after its own.
    if isinstance(report, MeasureReport):
        from calibcli.render.pages.measure import measure_page

        return measure_page(report, verbose=verbose)
    from calibcli.reports.verify import VerifyReport

    if isinstance(report, VerifyReport):
        from calibcli.render.pages.verify import verify_page

        return verify_page(report, verbose=verbose)
    from calibcli.reports.fit import FitReport

    if isinstance(report, FitReport):
        from calibcli.render.pages.fit import fit_page

        return fit_page(report)
    return _rarer_page(report, verbose=verbose)


def _rarer_page(  # noqa: PLR0911 - one return a report
    report: (
        "CompareReport | CompatReport | ClassFitReport | ApplyReport | ClassApplyReport | "
        "FolderApplyReport | InspectReport | PlanReport"
    ),
    *,
    verbose: bool,
) -> Page:
    """Return the page of a report whose command is asked less often, so that start-up does not pay for it."""
    from calibcli.render.pages.apply import apply_page
    from calibcli.render.pages.apply_classes import apply_classes_page
    from calibcli.render.pages.apply_folder import apply_folder_page
    from calibcli.render.pages.compare import compare_page
    from calibcli.render.pages.compat import compat_page
    from calibcli.render.pages.fit_classes import fit_classes_page
    from calibcli.render.pages.inspect import inspect_page
    from calibcli.render.pages.plan import plan_page
    from calibcli.reports.apply import ApplyReport
    from calibcli.reports.apply_classes import ClassApplyReport
    from calibcli.reports.apply_folder import FolderApplyReport
    from calibcli.reports.compare import CompareReport
    from calibcli.reports.compat import CompatReport
    from calibcli.reports.fit_classes import ClassFitReport
    from calibcli.reports.inspect import InspectReport
    from calibcli.reports.plan import PlanReport

    match report:
        case CompareReport():
            return compare_page(report, verbose=verbose)
        case CompatReport():
            return compat_page(report)
        case ClassFitReport():
            return fit_classes_page(report)
        case ApplyReport():
            return apply_page(report)
        case ClassApplyReport():
            return apply_classes_page(report)
        case FolderApplyReport():
            return apply_folder_page(report)
        case InspectReport():
            return inspect_page(report)
        case PlanReport():
            return plan_page(report, verbose=verbose)
        case _:
            assert_never(report)
