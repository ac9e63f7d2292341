"""What `fit` hands back."""

from dataclasses import dataclass

from calibcli.names import RecalibratorName
from calibcli.recalibrators.selection import Selection
from calibcli.reports.input import InputSummary
from calibcli.reports.plain import number


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

        selection: How the method was chosen, or None where the user named it.
    """

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
    selection: Selection | None = None

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
            "selection": None if self.selection is None else self.selection.to_dict(),
        }
