"""Report to page: which facts are said, in which order and in which words."""

from importlib import import_module
from typing import TYPE_CHECKING

from calibcli.show.blocks import Page

if TYPE_CHECKING:
    from calibcli.show import Report


def page_of(report: "Report", *, verbose: bool) -> Page:
    """Return the page of a report; `verbose` adds plain English and assumptions."""
    # Start-up pays for the page of one kind of report: `NAME_page` in the module of its command.
    name = report.page
    module = import_module(f"calibcli.show.pages.{name.partition('_')[0]}")
    page: Page = getattr(module, f"{name}_page")(report, verbose=verbose)
    return page
