"""What `fit` hands back of several classes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibcli.codec import AnyNumber, Declared
from calibcli.reports.input import InputSummary
from calibcli.reports.page_names import PageName
from calibcli.view_names import ClassMethod


@dataclass(frozen=True, slots=True)
class ClassFitReport(Declared):
    """The summary of a fit of several classes."""

    page: ClassVar[Literal[PageName.FIT_CLASSES]] = PageName.FIT_CLASSES
    input: InputSummary
    method: ClassMethod
    inner: str | None
    output: str | None
    classes: tuple[str, ...]
    rows: int
    loss_before: AnyNumber
    loss_after: AnyNumber
    accuracy_before: float
    accuracy_after: float
    changed: int
    keeps_prediction: bool
    notes: tuple[str, ...]
