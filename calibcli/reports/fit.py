"""What `fit` hands back."""

from typing import Annotated, ClassVar

from calibcli.codec import ABSENT, HIDDEN, AnyNumber, By, Declared, Key
from calibcli.names import ClassMethod, FitMethod, RecalibratorName
from calibcli.reports.input import InputSummary
from calibcli.stats.recalibrators.segments import SegmentMap
from calibcli.stats.recalibrators.selection import Selection
from calibcli.values import dataclass


@dataclass(frozen=True, slots=True)
class GroupFit(Declared):
    """One group of a fit."""

    key: Annotated[str, HIDDEN]
    rows: int
    # Of the raw scores of its rows and after the map of its own; None where it shares the map of all rows.
    loss_before: AnyNumber | None = None
    loss_after: AnyNumber | None = None
    # Why it shares the map of all rows, or None.
    reason: Annotated[str | None, Key("shares")] = None
    method: RecalibratorName | None = None


@dataclass(frozen=True, slots=True)
class FitReport(Declared):
    """The summary of a fit."""

    page: ClassVar[str] = "fit"
    input: InputSummary
    method: FitMethod
    output: str | None
    rows: int
    positive: int
    loss: str
    # Mean losses on the fit rows, the second so optimistic.
    loss_before: AnyNumber
    loss_after: AnyNumber
    outputs: int | None
    notes: tuple[str, ...]
    answer: str | None = None
    selection: Selection | None = None
    by: str | None = None
    groups: Annotated[tuple[GroupFit, ...], By("key")] = ()
    segments: Annotated[SegmentMap | None, ABSENT] = None


@dataclass(frozen=True, slots=True)
class ClassFitReport(Declared):
    """The summary of a fit of several classes."""

    page: ClassVar[str] = "fit_classes"
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
