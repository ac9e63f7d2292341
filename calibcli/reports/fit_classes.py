"""What `fit` hands back of several classes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from calibcli.reports.input import InputSummary
from calibcli.reports.page_names import PageName
from calibcli.reports.plain import number
from calibcli.view_names import ClassMethod


@dataclass(frozen=True, slots=True)
class ClassFitReport:
    """
    The summary of a fit of several classes.

    Args:
        input: What was read.

        method: The method fitted.

        inner: The method of the maps it is made of, or None.

        output: Where the artifact was written, or None for standard output.

        classes: What the classes are called.

        rows: Fit rows.

        loss_before: Mean log loss of the rows as they were.

        loss_after: The same once recalibrated; on the fit rows, so optimistic.

        accuracy_before: Share of rows whose most probable class was right.

        accuracy_after: The same once recalibrated.

        changed: Rows whose most probable class is another one than before.

        keeps_prediction: Whether no row whatever can change its most probable class.

        notes: Sentences the user of the artifact should read.
    """

    page: ClassVar[Literal[PageName.FIT_CLASSES]] = PageName.FIT_CLASSES
    input: InputSummary
    method: ClassMethod
    inner: str | None
    output: str | None
    classes: tuple[str, ...]
    rows: int
    loss_before: float
    loss_after: float
    accuracy_before: float
    accuracy_after: float
    changed: int
    keeps_prediction: bool
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "input": self.input.to_dict(),
            "method": self.method.value,
            "inner": self.inner,
            "output": self.output,
            "classes": list(self.classes),
            "rows": self.rows,
            "loss_before": number(self.loss_before),
            "loss_after": number(self.loss_after),
            "accuracy_before": self.accuracy_before,
            "accuracy_after": self.accuracy_after,
            "changed": self.changed,
            "keeps_prediction": self.keeps_prediction,
            "notes": list(self.notes),
        }
