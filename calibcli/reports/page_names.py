"""What kinds of reports there are: each carries its own, so that nobody need know the others to tell it."""

from enum import StrEnum


class PageName(StrEnum):
    """The page that shows a report."""

    MEASURE = "measure"
    VERIFY = "verify"
    COMPARE = "compare"
    COMPAT = "compat"
    FIT = "fit"
    FIT_CLASSES = "fit-classes"
    APPLY = "apply"
    APPLY_CLASSES = "apply-classes"
    APPLY_FOLDER = "apply-folder"
    INSPECT = "inspect"
    PLAN = "plan"
