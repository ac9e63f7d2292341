"""What was read, as every report states it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InputSummary:
    """
    The input of a report: rows in = rows used + rows dropped, always.

    Args:
        files: The files as the user named them; "-" is standard input.

        score: Name of the score column.

        label: Name of the label column, or None where no label was read.

        weight: Name of the weight column, or None.

        rows: Rows used.

        dropped: Rows left out because a value was missing, on request (`--on-missing drop`).

        clipped: Scores moved to 0 or 1, on request (`--on-range clip`).

        notes: Sentences about choices made for the user, such as a guessed column.
    """

    files: tuple[str, ...]
    score: str
    label: str | None
    weight: str | None
    rows: int
    dropped: int
    clipped: int
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "files": list(self.files),
            "score": self.score,
            "label": self.label,
            "weight": self.weight,
            "rows": self.rows,
            "dropped": self.dropped,
            "clipped": self.clipped,
            "notes": list(self.notes),
        }
