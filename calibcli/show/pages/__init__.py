"""Report to page: which facts are said, in which order and in which words."""

from typing import TYPE_CHECKING, assert_never

from calibcli.reports.input import PageName
from calibcli.show.blocks import Page

if TYPE_CHECKING:
    from calibcli.reports.apply import ApplyReport, ClassApplyReport, FolderApplyReport
    from calibcli.show import Report


def page_of(report: "Report", *, verbose: bool) -> Page:  # noqa: PLR0911 - one return a report
    """Return the page of a report; `verbose` adds plain English and assumptions."""
    # Each import where it is needed: start-up pays for one kind of report.
    match report.page:
        case PageName.MEASURE:
            from calibcli.show.pages.measure import measure_page

            return measure_page(report, verbose=verbose)
        case PageName.VERIFY:
            from calibcli.show.pages.verify import verify_page

            return verify_page(report, verbose=verbose)
        case PageName.COMPARE:
            from calibcli.show.pages.compare import compare_page

            return compare_page(report, verbose=verbose)
        case PageName.COMPAT:
            from calibcli.show.pages.compat import compat_page

            return compat_page(report)
        case PageName.FIT:
            from calibcli.show.pages.fit import fit_page

            return fit_page(report)
        case PageName.FIT_CLASSES:
            from calibcli.show.pages.fit import fit_classes_page

            return fit_classes_page(report)
        case PageName.APPLY | PageName.APPLY_CLASSES | PageName.APPLY_FOLDER:
            return _applied_page(report)
        case PageName.INSPECT:
            from calibcli.show.pages.inspect import inspect_page

            return inspect_page(report)
        case PageName.PLAN:
            from calibcli.show.pages.plan import plan_page

            return plan_page(report, verbose=verbose)
        case _:
            assert_never(report)


def _applied_page(report: "ApplyReport | ClassApplyReport | FolderApplyReport") -> Page:
    """Return the page of what was applied."""
    match report.page:
        case PageName.APPLY:
            from calibcli.show.pages.apply import apply_page

            return apply_page(report)
        case PageName.APPLY_CLASSES:
            from calibcli.show.pages.apply import apply_classes_page

            return apply_classes_page(report)
        case PageName.APPLY_FOLDER:
            from calibcli.show.pages.apply import apply_folder_page

            return apply_folder_page(report)
        case _:
            assert_never(report)
