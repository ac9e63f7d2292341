"""What `fit` hands back."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibcli.names import RecalibratorName
from calibcli.recalibrators.selection import Selection
from calibcli.reports.input import InputSummary
from calibcli.reports.page_names import PageName
from calibcli.reports.plain import number


@dataclass(frozen=True, slots=True)
class GroupFit:
    """
    One group of a fit.

    Args:
        key: The group.

        rows: Its fit rows.

        loss_before: Mean loss of the raw scores of its rows, or None where it shares the map of all rows.

        loss_after: The same after the map of its own; on its fit rows, so optimistic.

        reason: Why it shares the map of all rows, or None.

        method: That of its own map, or None.
    """

    key: str
    rows: int
    loss_before: float | None = None
    loss_after: float | None = None
    reason: str | None = None
    method: RecalibratorName | None = None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "rows": self.rows,
            "loss_before": None if self.loss_before is None else number(self.loss_before),
            "loss_after": None if self.loss_after is None else number(self.loss_after),
            "shares": self.reason,
            "method": None if self.method is None else self.method.value,
        }


@dataclass(frozen=True, slots=True)
class FitReport:
    """
    The summary of a fit.

    Args:
        input: What was read.

        method: The method fitted.

        output: Where the artifact was written, or None for standard output.

        rows: Fit rows.

        positive: Fit rows with label 1.

        loss: Name of the loss that was compared.

        loss_before: Mean loss of the raw scores on the fit rows.

        loss_after: The same of the recalibrated scores; on the fit rows, so optimistic.

        outputs: Number of distinct outputs, or None where they are too many to tell.

        notes: Sentences the user of the artifact should read.

        answer: What came out where nothing was changed, in words; or None.

        selection: How the method was chosen, or None where the user named it.

        by: The column of groups, or None where one map was fitted to all rows.

        groups: Every group, in the order of their names.
    """

    page: ClassVar[Literal[PageName.FIT]] = PageName.FIT
    input: InputSummary
    method: RecalibratorName
    output: str | None
    rows: int
    positive: int
    loss: str
    loss_before: float
    loss_after: float
    outputs: int | None
    notes: tuple[str, ...]
    answer: str | None = None
    selection: Selection | None = None
    by: str | None = None
    groups: tuple[GroupFit, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "input": self.input.to_dict(),
            "method": self.method.value,
            "output": self.output,
            "rows": self.rows,
            "positive": self.positive,
            "loss": self.loss,
            "loss_before": number(self.loss_before),
            "loss_after": number(self.loss_after),
            "outputs": self.outputs,
            "notes": list(self.notes),
            "answer": self.answer,
            "selection": None if self.selection is None else self.selection.to_dict(),
            "by": self.by,
            "groups": {one.key: one.to_dict() for one in self.groups},
        }
