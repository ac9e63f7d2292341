"""What is gathered beside the confidence of several classes: a table for each, and their joint sums."""

from dataclasses import dataclass
from typing import Self

from calibcli.readers.intake import Rows
from calibcli.table.class_sums import ClassSums
from calibcli.table.class_tables import RunningClasses
from calibcli.table.sliced import RunningSlices


@dataclass(frozen=True, slots=True)
class ClassAside:
    """
    Tables of the views of several classes, under construction.

    Args:
        classes: What they are called.

        top: The confidence of the rows that predict each class.

        rest: The probability of each class in all rows, against the rest.

        sums: Joint sums.
    """

    classes: tuple[str, ...]
    top: RunningSlices
    rest: RunningClasses
    sums: ClassSums

    @classmethod
    def start(cls, classes: tuple[str, ...], *, limit: int | None) -> Self:
        """Return nothing yet; each row has one score in the one view, and one for each class in the other."""
        return cls(classes, RunningSlices(limit), RunningClasses(classes, limit), ClassSums(len(classes)))

    def add(self, rows: Rows) -> None:
        """Add rows of several classes."""
        if rows.classes is None:
            return
        seen, counts, weight = rows.classes, rows.counts, rows.weight
        self.top.add_rows(
            seen.confidence,
            seen.correct,
            names=[(name,) for name in self.classes],
            code=seen.predicted,
            counts=counts,
            weight=weight,
        )
        self.rest.add_rows(seen.probability, seen.label, counts=counts, weight=weight)
        self.sums.add_rows(seen.probability, seen.label, seen.predicted, counts=counts, weight=weight)

    def merge(self, later: Self) -> None:
        """Add the rows of a later part."""
        self.top.add(later.top)
        self.rest.add(later.rest)
        self.sums.merge(later.sums)
