"""What was read, as every report states it."""

from dataclasses import dataclass

from calibcli.view_names import ViewName


@dataclass(frozen=True, slots=True)
class ClassesRead:
    """
    How rows of several classes were seen as rows of one score.

    Args:
        count: How many classes there are.

        view: How they were seen.

        one_class: The class that was looked at, or None.

        tied: Rows in which several classes are the most probable; the first counts.

        normalised: Rows divided by the sum of their probabilities, on request (`--on-sum normalise`).

        elsewhere: Rows left out because they predict another class than the one that was looked at.
    """

    count: int
    view: ViewName
    one_class: str | None
    tied: int
    normalised: int
    elsewhere: int

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        return {
            "count": self.count,
            "view": self.view.value,
            "class": self.one_class,
            "tied": self.tied,
            "normalised": self.normalised,
            "elsewhere": self.elsewhere,
        }


@dataclass(frozen=True, slots=True)
class InputSummary:
    """
    The input of a report: rows in = rows used + rows dropped + rows of other classes, always.

    Args:
        files: The files as the user named them; "-" is standard input.

        score: Name of the score column.

        label: Name of the label column, or None where no label was read.

        weight: Name of the weight column, or None.

        rows: Rows used.

        dropped: Rows left out because a value was missing, on request (`--on-missing drop`).

        clipped: Scores moved to 0 or 1, on request (`--on-range clip`).

        notes: Sentences about choices made for the user, such as a guessed column.

        classes: How several classes were seen, or None where there is one score.
    """

    files: tuple[str, ...]
    score: str
    label: str | None
    weight: str | None
    rows: int
    dropped: int
    clipped: int
    notes: tuple[str, ...] = ()
    classes: ClassesRead | None = None

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON."""
        found: dict[str, object] = {
            "files": list(self.files),
            "score": self.score,
            "label": self.label,
            "weight": self.weight,
            "rows": self.rows,
            "dropped": self.dropped,
            "clipped": self.clipped,
            "notes": list(self.notes),
        }
        if self.classes is not None:
            found["classes"] = self.classes.to_dict()
        return found
